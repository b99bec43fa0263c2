//! A small call runs inside its launch. Memory that another thread frees meanwhile stays until it is done, as it does for work
//! that a stream's worker does.
//!
//! One test, since the signal handler is the whole process's.

mod runtime;

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use aclnn_modulate::api::modulate_backward::{aclnnModulateBackward, aclnnModulateBackwardGetWorkspaceSize};
use aclnn_modulate::api::tensor::aclCreateTensor;
use aclnn_modulate::api::types::aclOpExecutor;
use runtime::*;

/// A page's floats.
const COUNT: usize = 1024;
const PAGE: usize = 4096;

/// The page that the operator can't read until `FREED`.
static BLOCK: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
static REACHED: AtomicBool = AtomicBool::new(false);
static FREED: AtomicBool = AtomicBool::new(false);

/// The thread that computes waits here, in the middle of the work, until the block was freed.
extern "C" fn on_fault(_signal: i32) {
    REACHED.store(true, Ordering::Release);
    while !FREED.load(Ordering::Acquire) {
        std::hint::spin_loop();
    }
    // SAFETY: these calls may be made in a signal handler. The page is the block's, which is the runtime's to keep: where it
    // is gone, there is nothing to make readable, and the process ends.
    unsafe {
        if libc::mprotect(BLOCK.load(Ordering::Acquire), PAGE, libc::PROT_READ | libc::PROT_WRITE) != 0 {
            let text = b"the block was unmapped while the operator ran\n";
            libc::write(2, text.as_ptr().cast(), text.len());
            libc::_exit(1);
        }
    }
}

/// Planned from one row of `COUNT` floats of each of the two tensors: grad_input = grad_output.
fn plan(grad_output: *mut c_void, grad_input: *mut c_void) -> *mut aclOpExecutor {
    let dims = [1, 1, COUNT as i64];
    let [a, b, c] = [grad_output, grad_output, grad_input].map(|data| {
        // SAFETY: the arrays have three elements.
        let tensor = unsafe { aclCreateTensor(dims.as_ptr(), 3, 0, null(), 0, 2, dims.as_ptr(), 3, data) };
        assert!(!tensor.is_null(), "{}", message());
        tensor
    });
    let (mut size, mut executor) = (0, null_mut());
    // SAFETY: the results go to two locals.
    let status = unsafe {
        aclnnModulateBackwardGetWorkspaceSize(a, b, null(), null(), c, null(), null(), &mut size, &mut executor)
    };
    expect(status, 0, "");
    executor
}

#[test]
fn memory_that_is_freed_during_an_inline_run_stays_until_its_end() {
    set_device();
    // Over 2 MiB, so that it is a mapping of its own and goes back to the system when it is freed.
    let (block, out) = (malloc(4 << 20), malloc(4 * COUNT));
    // SAFETY: the block's first page; the handler has the signature of one.
    unsafe {
        std::slice::from_raw_parts_mut(block.cast::<f32>(), COUNT).fill(3.5);
        BLOCK.store(block, Ordering::Release);
        assert_ne!(libc::signal(libc::SIGSEGV, on_fault as *const () as libc::sighandler_t), libc::SIG_ERR);
        assert_eq!(libc::mprotect(block, PAGE, libc::PROT_NONE), 0);
    }
    let executor = plan(block, out);
    let freed = block.expose_provenance();
    let other = std::thread::spawn(move || {
        while !REACHED.load(Ordering::Acquire) {
            std::thread::yield_now();
        }
        let status = free(std::ptr::with_exposed_provenance_mut(freed));
        FREED.store(true, Ordering::Release);
        status
    });
    // SAFETY: no workspace; the blocks are live when this begins.
    let status = unsafe { aclnnModulateBackward(null_mut(), 0, executor, null_mut()) };
    expect(status, 0, "");
    // The launch has returned: the work was done inside it.
    assert_eq!(other.join().unwrap(), 0);
    // SAFETY: a block of that many floats.
    let values = unsafe { std::slice::from_raw_parts(out.cast::<f32>(), COUNT) };
    assert!(values.iter().all(|value| *value == 3.5));
}
