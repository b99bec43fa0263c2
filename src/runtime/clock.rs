//! The time of day, as messages and lines of the log show it.

use super::fork::Held;
use crate::sync::Mutex;

/// Held while C's library looks up the time zone, which it does under a lock of its own that a fork would tear.
static TIME_ZONE: Mutex<()> = Mutex::new(());

/// Keeps the time zone from being looked up until a fork is over. Lines are written under other locks: this is the last one.
pub(super) fn hold(held: &mut Held) {
    held.push(Box::new(TIME_ZONE.lock()));
}

/// The wall clock in local time, to the microsecond.
pub(super) struct Now(libc::tm, u32);

impl Now {
    /// Reads the clock.
    pub(super) fn local() -> Self {
        let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let seconds = since_epoch.as_secs().cast_signed();
        // SAFETY: an all-zero `tm` is a valid value (numbers, and a zone pointer that is never followed).
        let mut broken_down: libc::tm = unsafe { std::mem::zeroed() };
        let _alone = TIME_ZONE.lock();
        // SAFETY: both point to locals of the right types.
        unsafe { libc::localtime_r(&seconds, &mut broken_down) };
        Self(broken_down, since_epoch.subsec_micros())
    }
}

impl std::fmt::Display for Now {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self(t, micros) = self;
        let (year, month) = (t.tm_year + 1900, t.tm_mon + 1);
        let (millis, micros) = (micros / 1000, micros % 1000);
        let (day, hour, minute, second) = (t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec);
        write!(f, "{year:04}-{month:02}-{day:02}-{hour:02}:{minute:02}:{second:02}.{millis:03}.{micros:03}")
    }
}
