//! `fork`: a child has its parent's memory, but of its threads only the one that forked.
//!
//! So that the child may use the library: every lock that guards what stays valid there (tables, blocks, tensors,
//! executors, counts) is held around the fork, and so are values that are made once. Contexts, streams and events carry
//! the number of their process; in the child they are dead, and their locks are never touched. Their memory stays.
//!
//! Where a host function forks, its thread is the child's first one: when the function returns there, the child ends by
//! `exit(0)`.

use std::any::Any;
use std::cell::RefCell;
use std::sync::atomic::{AtomicU32, Ordering};

use super::{callback, clock, copies, device, init, log, memory, messages, parameters, record, spin, stream};
use crate::op::modulate_backward;
use crate::{config, epoch, tensor, tsan};

static PROCESS: AtomicU32 = AtomicU32::new(0);

/// Which process this is, counted from the one that loaded the library.
pub fn process() -> u32 {
    PROCESS.load(Ordering::Relaxed)
}

/// Locks that are held around a fork, in the order in which they were taken.
pub type Held = Vec<Box<dyn Any>>;

thread_local! {
    /// What the thread that forks holds. It is the one thread that goes on in the child.
    static HELD: RefCell<Held> = const { RefCell::new(Vec::new()) };
}

/// Runs when the library is loaded.
#[used]
#[unsafe(link_section = ".init_array")]
static REGISTER: extern "C" fn() = {
    extern "C" fn register() {
        tsan::look_for_it();
        copies::warn_of_another();
        // SAFETY: the handlers live as long as the process, since the library is never unloaded.
        unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
    }
    register
};

extern "C" fn before() {
    // A thread that is making one of these holds a lock that the child could never get: wait for it here.
    config::read_all();
    log::read_environment();
    memory::read_limits();
    record::start_clock();
    let _ = HELD.try_with(|held| {
        let held = &mut *held.borrow_mut();
        // Outer locks before those that are taken under them.
        init::hold(held);
        device::hold(held);
        callback::hold(held);
        parameters::hold(held);
        memory::hold_registry(held);
        stream::hold(held);
        super::context::hold(held);
        super::event::hold(held);
        tensor::hold(held);
        modulate_backward::hold(held);
        messages::hold(held);
        clock::hold(held);
    });
}

/// Releases in reverse: an epoch that keeps something readable was pinned before the locks inside it were taken.
fn release() {
    let _ = HELD.try_with(|held| {
        let mut held = held.take();
        while held.pop().is_some() {}
    });
}

extern "C" fn in_parent() {
    release();
}

extern "C" fn in_child() {
    release();
    PROCESS.fetch_add(1, Ordering::Relaxed);
    epoch::start_afresh();
    init::start_afresh();
    device::start_afresh();
    callback::start_afresh();
    spin::start_afresh();
    stream::start_afresh();
}
