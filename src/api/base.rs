//! Data types, the vendor's half-precision conversions, the device's name, the application's log lines.

use std::arch::{global_asm, naked_asm};
use std::ffi::{c_char, c_int};

use super::types::{aclDataType, aclFloat16, aclLogLevel};
use super::{guard, ptr};
use crate::runtime::{float16, log};
use crate::{config, dtype};

/// Tells the size of an element.
///
/// @param [in] dataType an aclDataType
/// @return bytes; 1 for the integers that are smaller than a byte, 8 for the fp6 and fp4 types; 0 for ACL_STRING,
///         ACL_DT_UNDEFINED and numbers that no type has
#[unsafe(no_mangle)]
pub extern "C" fn aclDataTypeSize(dataType: aclDataType) -> usize {
    guard::value("aclDataTypeSize", format_args!("dataType={dataType}"), 0, || Ok(dtype::size_of(dataType)))
}

/// Converts to half precision, rounding to nearest, ties to even. It saturates: what is too large, infinity and NaN become
/// the largest number, 65504 (negative for negative numbers, but not for NaN).
///
/// @param [in] value any value
/// @return the bits
#[unsafe(no_mangle)]
pub extern "C" fn aclFloatToFloat16(value: f32) -> aclFloat16 {
    log::debug(format_args!("aclFloatToFloat16(value={value})"));
    float16::from_f32(value)
}

/// Converts from half precision. The bits of infinity and NaN are read as numbers: 65536 and beyond.
///
/// @param [in] value bits of a half-precision number
/// @return its value
#[unsafe(no_mangle)]
pub extern "C" fn aclFloat16ToFloat(value: aclFloat16) -> f32 {
    log::debug(format_args!("aclFloat16ToFloat(value={value:#06x})"));
    float16::to_f32(value)
}

/// Tells the name of the device that this library stands in for: call sites choose code paths by it.
///
/// @return "Ascend910B1", or what the environment variable ACLCPU_SOC_NAME says. It lives as long as the process
#[unsafe(no_mangle)]
pub extern "C" fn aclrtGetSocName() -> *const c_char {
    guard::value("aclrtGetSocName", format_args!(""), c"Ascend910B1".as_ptr(), || Ok(config::soc_name().as_ptr()))
}

/// Writes a line of the application's to the log, if the log is on (ASCEND_GLOBAL_LOG_LEVEL) and the level is high enough.
///
/// It is defined here since a Rust library exports nothing that comes from C, and jumps to the variadic function in
/// `csrc/app_log.c` with all arguments where they are. The headers declare its real prototype by hand.
///
/// cbindgen:ignore
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub extern "C" fn aclAppLog() {
    #[cfg(target_arch = "x86_64")]
    naked_asm!("jmp {}", sym aclcpu_app_log_shim);
    #[cfg(target_arch = "aarch64")]
    naked_asm!("b {}", sym aclcpu_app_log_shim);
}

#[expect(unused_doc_comments, reason = "it is for cbindgen: the headers are not to declare this one")]
/// cbindgen:ignore
unsafe extern "C" {
    fn aclcpu_app_log_shim();
}

// What the C file calls back, under names that it can spell and nobody else can see: exported functions of Rust's would be
// exported from the library, too.
#[cfg(target_arch = "x86_64")]
macro_rules! hidden {
    ($name:literal, $function:path) => {
        global_asm!(
            ".pushsection .text",
            concat!(".globl ", $name),
            concat!(".hidden ", $name),
            concat!($name, ":"),
            "jmp {}",
            ".popsection",
            sym $function
        );
    };
}
#[cfg(target_arch = "aarch64")]
macro_rules! hidden {
    ($name:literal, $function:path) => {
        global_asm!(
            ".pushsection .text",
            concat!(".globl ", $name),
            concat!(".hidden ", $name),
            ".p2align 2",
            concat!($name, ":"),
            "b {}",
            ".popsection",
            sym $function
        );
    };
}
hidden!("aclcpu_app_log_wanted", app_log_wanted);
hidden!("aclcpu_app_log_line", app_log_line);

/// Whether a line of the application's would be written.
extern "C" fn app_log_wanted(level: aclLogLevel) -> c_int {
    guard::quiet(0, || Ok(log::enabled(app_log_level(level)).into()))
}

/// # Safety
///
/// `func`, `file` and `text` are C strings or NULL.
unsafe extern "C" fn app_log_line(
    level: aclLogLevel,
    func: *const c_char,
    file: *const c_char,
    line: u32,
    text: *const c_char,
) {
    guard::quiet((), || {
        // SAFETY: the caller's promise.
        let [func, file, text] = [func, file, text].map(|string| unsafe { ptr::string(string) }.unwrap_or_default());
        log::write(app_log_level(level), format_args!("{func} ({file}:{line}): {text}"));
        Ok(())
    });
}

/// A number that no level has counts as the nearest.
fn app_log_level(level: aclLogLevel) -> log::Level {
    use log::Level::{Debug, Error, Info, Warning};
    match level {
        ..=0 => Debug,
        1 => Info,
        2 => Warning,
        3.. => Error,
    }
}
