//! The environment variables, each read once, at first use. A value that makes no sense is a warning in the log, and the
//! default is used.

use std::ffi::{CStr, CString};

use once_cell::sync::Lazy;

use crate::kernel::Tier;
use crate::runtime::log;

/// Reads a variable and parses it; warns and falls back where it makes no sense.
fn parsed<T>(name: &str, expected: &str, default: T, parse: impl FnOnce(&str) -> Option<T>) -> T {
    match std::env::var(name) {
        Ok(text) => parse(text.trim()).unwrap_or_else(|| {
            log::warning(format_args!("{name}={text} is ignored: expected {expected}"));
            default
        }),
        Err(_) => default,
    }
}

/// `ACLCPU_THREADS`: threads that one launch may use; `None` where it is not set.
pub fn threads() -> Option<usize> {
    static THREADS: Lazy<Option<usize>> = Lazy::new(|| {
        parsed("ACLCPU_THREADS", "a whole number from 1 to 1024", None, |text| {
            text.parse().ok().filter(|n| (1..=1024).contains(n)).map(Some)
        })
    });
    *THREADS
}

/// `ACLCPU_DEVICE_COUNT`: devices to show.
pub fn device_count() -> i32 {
    static COUNT: Lazy<i32> = Lazy::new(|| {
        parsed("ACLCPU_DEVICE_COUNT", "a whole number from 1 to 64", 1, |text| {
            text.parse().ok().filter(|n| (1..=64).contains(n))
        })
    });
    *COUNT
}

/// `ACLCPU_ISA`: the instruction set to compute with; `None` where it is not set.
pub fn isa() -> Option<Tier> {
    static ISA: Lazy<Option<Tier>> = Lazy::new(|| {
        let names: Vec<_> = Tier::ALL.iter().map(|tier| tier.name()).collect();
        parsed("ACLCPU_ISA", &format!("one of {}", names.join(", ")), None, |text| {
            Tier::ALL.iter().copied().find(|tier| tier.name() == text).map(Some)
        })
    });
    *ISA
}

/// `ACLCPU_CHECK`: whether mistakes are looked for that do no harm here.
pub fn check() -> bool {
    static CHECK: Lazy<bool> = Lazy::new(|| {
        parsed("ACLCPU_CHECK", "0 or 1", false, |text| match text {
            "0" => Some(false),
            "1" => Some(true),
            _ => None,
        })
    });
    *CHECK
}

/// Reads every variable that was not read yet.
pub fn read_all() {
    threads();
    device_count();
    isa();
    fault();
    check();
    soc_name();
}

/// What `ACLCPU_FAULT` asks for: the first is number 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The task with this number fails when it runs.
    Task(u64),
    /// The device allocation with this number fails.
    Malloc(u64),
}

impl Fault {
    fn parse(text: &str) -> Option<Self> {
        let (what, number) = text.split_once(':')?;
        let number = number.parse().ok().filter(|n| *n > 0)?;
        match what {
            "task" => Some(Self::Task(number)),
            "malloc" => Some(Self::Malloc(number)),
            _ => None,
        }
    }
}

/// `ACLCPU_FAULT`: what is to fail; `None` where it is not set.
pub fn fault() -> Option<Fault> {
    static FAULT: Lazy<Option<Fault>> = Lazy::new(|| {
        parsed("ACLCPU_FAULT", "task:N or malloc:N with N from 1 on", None, |text| Fault::parse(text).map(Some))
    });
    *FAULT
}

/// `ACLCPU_SOC_NAME`: what `aclrtGetSocName` returns.
pub fn soc_name() -> &'static CStr {
    static NAME: Lazy<CString> = Lazy::new(|| {
        parsed("ACLCPU_SOC_NAME", "a name", c"Ascend910B1".to_owned(), |text| {
            CString::new(text).ok().filter(|name| !name.is_empty())
        })
    });
    &NAME
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_parsed_or_refused() {
        assert_eq!(Fault::parse("task:3"), Some(Fault::Task(3)));
        assert_eq!(Fault::parse("malloc:1"), Some(Fault::Malloc(1)));
        for text in ["", "task", "task:", "task:0", "task:-1", "copy:1", "malloc:x"] {
            assert_eq!(Fault::parse(text), None, "{text}");
        }
    }
}
