//! The environment variables, each read once, at first use. A value that makes no sense is a warning in the log, and the
//! default is used.

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
