//! For programs that run under ThreadSanitizer: it sees what our threads read and write through C's library, but not
//! the futex locks that order it. Where its run-time library is in the process, it is told.

use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

type Annotation = unsafe extern "C" fn(*mut c_void);

/// `__tsan_acquire` and `__tsan_release`; null where the program is not checked.
static ACQUIRE: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
static RELEASE: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

/// Looks for the run-time library, once, when ours is loaded.
pub fn look_for_it() {
    // In a test of our own it sees our locks and atomics itself, and what it is told might hide a mistake in them.
    if cfg!(watched_by_tsan) {
        return;
    }
    let find = |name: &CStr| {
        // SAFETY: a C string; the default scope is that of the whole program.
        unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) }
    };
    ACQUIRE.store(find(c"__tsan_acquire"), Ordering::Relaxed);
    RELEASE.store(find(c"__tsan_release"), Ordering::Relaxed);
}

/// What happened before a [`release`] of the same object happens before what follows here.
#[inline]
pub fn acquire<T>(object: *const T) {
    annotate(&ACQUIRE, object.cast());
}

/// See [`acquire`].
#[inline]
pub fn release<T>(object: *const T) {
    annotate(&RELEASE, object.cast());
}

#[inline]
fn annotate(function: &AtomicPtr<c_void>, object: *const c_void) {
    let function = function.load(Ordering::Relaxed);
    if !function.is_null() {
        // SAFETY: the function that the run-time library has under the name, which has this type.
        let function: Annotation = unsafe { std::mem::transmute(function) };
        // SAFETY: it takes any address, and does not follow it.
        unsafe { function(object.cast_mut()) };
    }
}
