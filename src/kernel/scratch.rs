//! The working memory of one thread.

use std::alloc::{Layout, handle_alloc_error};
use std::cell::RefCell;
use std::ptr::NonNull;

/// Room for the accumulators and tiles of one unit at a time. Pages that no unit needs are never touched: a unit uses 260 KiB
/// at most.
pub struct Scratch {
    memory: NonNull<u8>,
}

// SAFETY: it owns its memory.
unsafe impl Send for Scratch {}

impl Scratch {
    /// Its size.
    pub const BYTES: usize = 708 << 10;

    /// Reserves it; pages come with their first use. (The allocator would write zeros to all of them: `alloc_zeroed` does
    /// where the alignment is a page's.)
    pub fn new() -> Self {
        let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping.
        let memory = unsafe { libc::mmap(std::ptr::null_mut(), Self::BYTES, access, kind, -1, 0) };
        match NonNull::new(memory.cast::<u8>()) {
            Some(memory) if memory.as_ptr().cast() != libc::MAP_FAILED => Self { memory },
            _ => handle_alloc_error(Layout::new::<[u8; Self::BYTES]>()),
        }
    }

    /// Its first byte, at the start of a page: arrays at round offsets stand on whole lines, and no two threads share one.
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.memory.as_ptr()
    }

    /// Calls `body` with the calling thread's own scratch; with a fresh one where that is in use, or already gone because
    /// the thread is ending.
    pub fn with<R>(body: impl FnOnce(&mut Self) -> R) -> R {
        thread_local!(static OWN: RefCell<Option<Scratch>> = const { RefCell::new(None) });
        let mut body = Some(body);
        let mut call = |scratch: &mut Self| body.take().map(|body| body(scratch));
        let done = OWN.try_with(|own| {
            let mut own = own.try_borrow_mut().ok()?;
            call(own.get_or_insert_with(Self::new))
        });
        match done {
            Ok(Some(result)) => result,
            _ => call(&mut Self::new()).expect("not called so far"),
        }
    }
}

impl Default for Scratch {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // SAFETY: mapped in `new`, with this size.
        unsafe { libc::munmap(self.memory.as_ptr().cast(), Self::BYTES) };
    }
}
