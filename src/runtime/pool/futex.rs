//! Sleeping until a number changes.

use std::sync::atomic::AtomicU32;

/// Sleeps while the number is `seen`, or a little less.
pub(super) fn wait(number: &AtomicU32, seen: u32) {
    let forever = std::ptr::null::<libc::timespec>();
    let operation = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: the number is alive throughout the call, which only reads it.
    unsafe { libc::syscall(libc::SYS_futex, number.as_ptr(), operation, seen, forever) };
}

/// Wakes up to `count` sleepers.
pub(super) fn wake(number: &AtomicU32, count: usize) {
    let count = i32::try_from(count).unwrap_or(i32::MAX);
    let operation = libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: the call takes the address for its value only.
    unsafe { libc::syscall(libc::SYS_futex, number.as_ptr(), operation, count) };
}
