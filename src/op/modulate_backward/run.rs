//! Phase two's work: what a stream carries and its worker executes.

use crate::kernel;

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
    /// Whether this takes a few microseconds at most.
    pub fn is_tiny(&self) -> bool {
        kernel::is_tiny(&self.problem)
    }

    /// Does it. `inline`: inside the launching call, where no other thread is to help.
    pub fn execute(&self, inline: bool) {
        // SAFETY: phase two checked the views against their storage and blocks, aliases against the rules, and the
        // workspace against what phase one asked for; blocks that are freed meanwhile are kept for the task. Memory that
        // is in no block is the caller's promise.
        unsafe {
            if inline {
                kernel::run_inline(&self.problem, self.workspace);
            } else {
                kernel::run(&self.problem, self.workspace);
            }
        }
    }
}
