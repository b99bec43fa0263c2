//! Phase two's work: what a stream carries and its worker executes.

use crate::kernel;
use crate::runtime::pool::Owner;

/// A checked run, ready for a stream: addresses are resolved, nothing refers to the executor or the tensors any more.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// Shapes, strides and addresses.
    pub problem: kernel::ModulateBackward,
    /// Memory for the chunk sums, as large as phase one asked for.
    pub workspace: *mut u8,
}

// SAFETY: the addresses are the caller's, for the stream to use until the run is done.
unsafe impl Send for Run {}

impl Run {
    /// Whether this is over by the time that a sleeping thread would have come.
    pub fn is_small(&self) -> bool {
        kernel::is_small(&self.problem)
    }

    /// Does it. Threads that wait for `owner` may help.
    pub fn execute(&self, owner: Owner) {
        // SAFETY: phase two has checked every view against its block, and memory outside blocks is the caller's promise;
        // the stream keeps blocks that are freed meanwhile, and runs nothing else of its own at the same time.
        unsafe { kernel::run(&self.problem, self.workspace, owner) }
    }
}
