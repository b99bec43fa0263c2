//! What a stream carries.

use std::ffi::c_void;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrayvec::ArrayVec;

use crate::error::{Error, Result};
use crate::kernel::processors;
use crate::op::modulate_backward::Run;
use crate::runtime::callback::{Delivery, Server};
use crate::runtime::dump::Dump;
use crate::runtime::event::{Reset, Waiter};
use crate::runtime::gate::Outcome;
use crate::runtime::memory::{Copy, Set};
use crate::runtime::pool::Owner;
use crate::runtime::record::Record;

/// What a task reads and writes: a block that overlaps one of these lives until the task is done. Seven tensors and a
/// workspace are the most that any task has.
pub type Uses = ArrayVec<Range<usize>, 8>;

/// Work for a stream, and the addresses that it touches.
#[derive(Debug)]
pub struct Task {
    /// What is to be done.
    pub work: Work,
    /// What it reads and writes.
    pub uses: Uses,
}

impl Task {
    /// Work that touches no memory of the caller's.
    pub fn without_memory(work: Work) -> Self {
        Self { work, uses: Uses::new() }
    }
}

/// What is to be done.
// The operator's run is the largest by far, and the one whose launch may not allocate: no boxes.
#[allow(clippy::large_enum_variant)]
#[derive(Debug)]
pub enum Work {
    /// `aclnnModulateBackward`
    ModulateBackward(Run),
    /// `aclrtMemcpyAsync`, `aclrtMemcpy2dAsync`
    Copy(Copy),
    /// `aclrtMemsetAsync`
    Set(Set),
    /// `aclrtRecordEvent`
    RecordEvent(Arc<Record>),
    /// `aclrtStreamWaitEvent`
    WaitEvent(Waiter, Option<Duration>),
    /// `aclrtResetEvent`
    ResetEvent(Reset),
    /// `aclDumpOpTensors`
    Dump(Box<Dump>),
    /// `aclrtLaunchHostFunc`
    HostFunc(HostFunc),
    /// `aclrtLaunchCallback`
    Callback(Delivery),
}

/// A caller's function to be called in stream order.
#[derive(Clone, Copy, Debug)]
pub struct HostFunc {
    function: unsafe extern "C" fn(*mut c_void),
    argument: *mut c_void,
}

// SAFETY: the caller promised at `new` that the function may be called with the argument from any thread.
unsafe impl Send for HostFunc {}

impl HostFunc {
    /// A function and its argument.
    ///
    /// # Safety
    ///
    /// The function may be called with the argument once, from any thread, until this was called or dropped.
    pub unsafe fn new(function: unsafe extern "C" fn(*mut c_void), argument: *mut c_void) -> Self {
        Self { function, argument }
    }

    /// Calls it.
    pub fn call(self) {
        // SAFETY: promised at `new`.
        unsafe { (self.function)(self.argument) }
    }
}

impl Work {
    /// Whether an idle stream does this inside the launching call: it waits for nothing, and takes less than
    /// handing it over, or there is one processor only, which a worker would have to take from the launching thread.
    pub fn belongs_to_launch(&self) -> bool {
        /// Bytes that one core moves in a few microseconds, from cache or memory.
        const TINY_COPY: usize = 16 << 10;
        match self {
            Self::ModulateBackward(run) => run.is_small() || processors() == 1,
            Self::Copy(copy) => copy.bytes() <= TINY_COPY || processors() == 1,
            Self::Set(set) => set.bytes() <= TINY_COPY || processors() == 1,
            Self::RecordEvent(_) | Self::ResetEvent(_) => true,
            Self::WaitEvent(waiter, _) => waiter.is_over(),
            Self::Dump(_) | Self::HostFunc(_) | Self::Callback(_) => false,
        }
    }

    /// Whether this also has to happen on a stream that has stopped after a failure: others may wait for it.
    pub fn survives_failure(&self) -> bool {
        matches!(self, Self::RecordEvent(_) | Self::ResetEvent(_))
    }

    /// It will not be done (again): nobody is to wait for it.
    pub fn abandon(&self) {
        if let Self::RecordEvent(record) = self {
            record.abandon();
        }
    }

    /// What another thread must be nudged at to give this up while it waits.
    pub fn waits_for(&self) -> Option<Arc<Record>> {
        match self {
            Self::WaitEvent(waiter, _) => Some(waiter.record()),
            Self::Callback(delivery) => delivery.awaited(),
            _ => None,
        }
    }

    /// Who has to call a function before the stream goes on.
    pub fn needs(&self) -> Option<&Arc<Server>> {
        if let Self::Callback(delivery) = self { delivery.needs() } else { None }
    }

    /// Does it. `owner`: who waits for it, and may help. `give_up`: whether waiting is to end.
    pub fn execute(&self, owner: Owner, give_up: impl Fn() -> bool) -> Result<()> {
        match self {
            Self::ModulateBackward(run) => run.execute(owner),
            Self::Copy(copy) => copy.execute(),
            Self::Set(set) => set.execute(),
            Self::RecordEvent(record) => record.complete(),
            Self::ResetEvent(reset) => reset.execute(),
            Self::Dump(dump) => dump.execute()?,
            Self::HostFunc(function) => function.call(),
            Self::Callback(delivery) => delivery.execute(give_up),
            Self::WaitEvent(waiter, timeout) => {
                let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
                if waiter.record().wait(deadline, give_up) == Outcome::TimedOut {
                    return Err(Error::EventTimeout(format!(
                        "a stream waited for an event for {} ms, as long as aclrtStreamWaitEventWithTimeout allowed",
                        timeout.unwrap_or_default().as_millis()
                    )));
                }
            }
        }
        Ok(())
    }
}
