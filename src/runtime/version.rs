//! Versions: of the interface, and of this library.

use std::ffi::CString;

use crate::error::{Error, Result};

/// Major, minor, patch.
pub type Version = (i32, i32, i32);

/// The interface that our headers describe: `ACL_MAJOR_VERSION` and so on.
pub const INTERFACE: Version = (1, 17, 0);

/// The version of a package by its name.
pub fn of_package(name: &str) -> Result<Version> {
    match name {
        "runtime" => Ok(INTERFACE),
        "aclnn_modulate" => Ok(LIBRARY),
        _ => Err(Error::UnreadableFile(format!(
            "pkgName is {name}, which is not installed: expected aclnn_modulate or runtime"
        ))),
    }
}

/// As `aclsysGetVersionStr` shows it.
pub fn text((major, minor, patch): Version) -> CString {
    CString::new(format!("{major}.{minor}.{patch}")).unwrap_or_default()
}

/// As `aclsysGetVersionNum` shows it: a later version has a greater number.
pub fn number((major, minor, patch): Version) -> i32 {
    major * 10_000_000 + minor * 100_000 + patch * 1_000
}

const LIBRARY: Version = (
    decimal(env!("CARGO_PKG_VERSION_MAJOR")),
    decimal(env!("CARGO_PKG_VERSION_MINOR")),
    decimal(env!("CARGO_PKG_VERSION_PATCH")),
);

const fn decimal(text: &str) -> i32 {
    let (digits, mut value, mut index) = (text.as_bytes(), 0, 0);
    while index < digits.len() {
        value = value * 10 + (digits[index] - b'0') as i32;
        index += 1;
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_and_shown() {
        assert_eq!(format!("{}.{}.{}", LIBRARY.0, LIBRARY.1, LIBRARY.2), env!("CARGO_PKG_VERSION"));
        assert_eq!(text(INTERFACE).to_str(), Ok("1.17.0"));
        assert_eq!(number((8, 5, 2)), 80_502_000);
        assert!(of_package("opp").is_err());
    }
}
