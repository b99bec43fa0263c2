//! `ACLCPU_CHECK=1`: finds what works here and fails on the device, or worked by luck.
//!
//! - Behind every block of `aclrtMalloc` lies a page that nobody may touch, and new blocks are filled with NaN: reading
//!   past the end faults, forgetting to write shows.
//! - Synchronising a stream reports memory that was freed while queued work still needed it, and tensors that lie in host
//!   memory.
//! - `aclFinalize` lists what is still alive.
//!
//! Reports are lines of the log, written whatever its level is.

use std::fmt::{Display, Write};

use super::{log, memory, stream};
use crate::config;
use crate::op::modulate_backward;
use crate::tensor::{Shown, TENSORS};

/// What new blocks are filled with: as f32, f16 and bf16 it is NaN.
pub const FILL: u8 = 0xFF;

/// Of each kind so many live objects are described, the rest only counted.
const SHOWN: usize = 16;

/// Whether the process is checked.
pub fn on() -> bool {
    config::check()
}

/// Writes one finding.
pub fn report(finding: impl Display) {
    log::write_always("Check", format_args!("{finding}"));
}

/// Lists what is still alive.
pub fn list_live_objects() {
    if !on() {
        return;
    }
    let mut tensors = Vec::new();
    TENSORS.for_each(|handle, _| tensors.push(handle));
    list("tensors (aclDestroyTensor)", tensors.into_iter().map(Shown));
    let executors = modulate_backward::live_executors();
    list("executors (aclDestroyAclOpExecutor)", executors.into_iter().map(|handle| format!("{:p}", handle.to_void())));
    list("blocks (aclrtFree, aclrtFreeHost)", memory::live_blocks().into_iter());
    list("streams (aclrtDestroyStream)", stream::live_ids().into_iter());
}

fn list(what: &str, objects: impl ExactSizeIterator<Item = impl Display>) {
    let count = objects.len();
    if count == 0 {
        return;
    }
    let mut text = String::new();
    for object in objects.take(SHOWN) {
        let _ = write!(text, "\n    {object}");
    }
    if count > SHOWN {
        let _ = write!(text, "\n    and {} more", count - SHOWN);
    }
    report(format_args!("aclFinalize: {count} live {what}:{text}"));
}
