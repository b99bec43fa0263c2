//! The log: off by default; level and destination come from the vendor's two environment variables.

use std::fmt::Arguments;
use std::fs::File;
use std::io::Write;
use std::mem::ManuallyDrop;
use std::os::fd::FromRawFd;

use once_cell::sync::Lazy;

use super::clock::Now;

/// Levels of `aclLogLevel`, lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(i32)]
pub enum Level {
    /// `ACL_DEBUG`
    Debug = 0,
    /// `ACL_INFO`
    Info = 1,
    /// `ACL_WARNING`
    Warning = 2,
    /// `ACL_ERROR`
    Error = 3,
}

/// The least level that is written, from `ASCEND_GLOBAL_LOG_LEVEL` (0 to 4, 4 is none).
static THRESHOLD: Lazy<i32> = Lazy::new(threshold_now);

fn threshold_now() -> i32 {
    std::env::var("ASCEND_GLOBAL_LOG_LEVEL")
        .ok()
        .and_then(|text| text.trim().parse().ok())
        .filter(|level| (0..=4).contains(level))
        .unwrap_or(4)
}

/// What [`enabled`] would say, without settling it: a program may set the variables before its first call.
pub(super) fn would_be_enabled(level: Level) -> bool {
    level as i32 >= threshold_now()
}

static TO_STDOUT: Lazy<bool> =
    Lazy::new(|| std::env::var("ASCEND_SLOG_PRINT_TO_STDOUT").is_ok_and(|text| text.trim() == "1"));

/// Whether a line of this level would be written: ask before building an expensive message.
pub fn enabled(level: Level) -> bool {
    level as i32 >= *THRESHOLD
}

/// Reads the variables, before a fork.
pub(super) fn read_environment() {
    Lazy::force(&THRESHOLD);
    Lazy::force(&TO_STDOUT);
}

/// Writes one line.
pub fn write(level: Level, message: Arguments<'_>) {
    if !enabled(level) {
        return;
    }
    write_always(&format!("{level:?}"), message);
}

/// Writes one line, whatever the level is. It begins with the level, the process and the thread, and the time of day.
pub fn write_always(tag: &str, message: Arguments<'_>) {
    // SAFETY: asks for a number.
    let thread = unsafe { libc::gettid() };
    let line = format!("[{tag}] ACLCPU({},{thread}) {} {message}\n", std::process::id(), Now::local());
    // Past the standard library's streams, whose locks a forked child might find taken for ever: a line is one write.
    let descriptor = if *TO_STDOUT { libc::STDOUT_FILENO } else { libc::STDERR_FILENO };
    // SAFETY: the file is never dropped, so the process's descriptor stays open.
    let mut file = ManuallyDrop::new(unsafe { File::from_raw_fd(descriptor) });
    // A log that can't be written is not the caller's problem.
    let _ = file.write_all(line.as_bytes());
}

/// Writes a warning.
pub fn warning(message: Arguments<'_>) {
    write(Level::Warning, message);
}

/// Writes a line for who looks for a defect.
pub fn debug(message: Arguments<'_>) {
    write(Level::Debug, message);
}

/// Writes a line of information.
pub fn info(message: Arguments<'_>) {
    write(Level::Info, message);
}
