//! Which stream's callback a thread is inside of: a call that would wait for that stream would wait for itself.

use std::cell::Cell;

use crate::handle::Handle;

thread_local! {
    /// The stream whose callback or host function this thread is inside of.
    static INSIDE: Cell<Handle> = const { Cell::new(Handle::NULL) };
}

/// The stream whose callback or host function this thread is inside of; NULL outside.
pub fn inside() -> Handle {
    INSIDE.try_with(Cell::get).unwrap_or(Handle::NULL)
}

/// Forgets which callback this thread is inside of (in a forked child).
pub(super) fn leave_callback() {
    let _ = INSIDE.try_with(|inside| inside.set(Handle::NULL));
}

/// Runs a caller's function as a callback of a stream.
pub fn as_callback_of<R>(stream: Handle, body: impl FnOnce() -> R) -> R {
    struct Restore(Handle);
    impl Drop for Restore {
        fn drop(&mut self) {
            let _ = INSIDE.try_with(|inside| inside.set(self.0));
        }
    }
    let _restore = Restore(INSIDE.try_with(|inside| inside.replace(stream)).unwrap_or(Handle::NULL));
    body()
}
