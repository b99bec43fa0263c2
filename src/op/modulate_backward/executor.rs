//! What phase one leaves for phase two.

use std::sync::atomic::{AtomicBool, Ordering};

use super::ARGUMENTS;
use super::check::{Checked, check};
use super::operand::Operand;
use crate::dtype::FloatType;
use crate::epoch;
use crate::error::{Error, Result};
use crate::handle::{Handle, Kind, Table};
use crate::kernel;
use crate::runtime::fork::Held;
use crate::sync::{Mutex, MutexGuard};
use crate::tensor;

/// The live executors.
static EXECUTORS: Table<Executor> = Table::new(Kind::Executor);

/// A planned call. It keeps all it needs: the tensors may be destroyed.
pub struct Executor {
    /// The tensors of phase one, by argument; NULL where an optional one is absent.
    tensors: [Handle; 7],
    /// What to compute; `None` where a tensor has no elements.
    work: Option<Work>,
    /// Whether phase two leaves the executor live.
    repeatable: AtomicBool,
    /// The tensors' views with the addresses set last.
    operands: Mutex<Operands>,
}

/// Type, shape and workspace of a call that has something to compute.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    pub(super) dtype: FloatType,
    /// Batch, sequence, hidden.
    pub(super) dims: [usize; 3],
    /// Bytes that phase two needs beyond the tensors.
    pub(super) workspace: usize,
}

/// The views of a call, by argument.
#[derive(Clone)]
pub(super) struct Operands {
    pub(super) views: [Option<Operand>; 7],
    /// Whether an address was set since phase one judged overlaps.
    pub(super) moved: bool,
}

/// Phase one: checks the tensors and plans the call. Returns the workspace in bytes and the executor.
pub fn plan(tensors: [Handle; 7]) -> Result<(u64, Handle)> {
    let Checked { dtype, dims, operands } = check(&tensors, &epoch::pin())?;
    let given = |argument: usize| !tensors[argument].is_null();
    let work = dims.map(|dims| {
        let workspace = kernel::workspace_bytes(dims, given(super::GRAD_SCALE), given(super::GRAD_SHIFT));
        Work { dtype, dims, workspace }
    });
    let executor = Executor {
        tensors,
        work,
        repeatable: AtomicBool::new(false),
        operands: Mutex::new(Operands { views: operands, moved: false }),
    };
    let workspace = work.map_or(0, |work| work.workspace as u64);
    let handle = EXECUTORS.insert(executor).ok_or_else(|| {
        Error::OutOfMemory("no executor is left: 16 million are live, destroy those that are not used".to_owned())
    })?;
    Ok((workspace, handle))
}

/// Takes an executor up for one run: its work, and its operands as they are now. A one-shot executor ends here.
pub(super) fn take_up(handle: Handle) -> Result<(Option<Work>, Operands)> {
    let snapshot = |executor: &Executor| (executor.work, executor.operands.lock().clone());
    let repeatable = {
        let guard = &epoch::pin();
        let executor = EXECUTORS.get(handle, guard).ok_or_else(|| dead(handle))?;
        executor.repeatable.load(Ordering::Acquire).then(|| snapshot(&executor))
    };
    // Between look-up and removal another thread may have used it up: one of them gets it.
    repeatable.or_else(|| EXECUTORS.remove_with(handle, snapshot)).ok_or_else(|| dead(handle))
}

/// Lets phase two run any number of times on an executor.
pub fn set_repeatable(handle: Handle) -> Result<()> {
    let guard = &epoch::pin();
    live(handle, guard)?.repeatable.store(true, Ordering::Release);
    Ok(())
}

/// Ends an executor. Runs that are queued already finish.
pub fn destroy(handle: Handle) -> Result<()> {
    if EXECUTORS.destroy(handle) { Ok(()) } else { Err(dead(handle)) }
}

/// Which arguments an index counts through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slots {
    /// grad_output, input, scale, shift
    Inputs,
    /// grad_input, grad_scale, grad_shift
    Outputs,
    /// all seven, inputs first
    All,
}

impl Slots {
    fn range(self) -> std::ops::Range<usize> {
        match self {
            Self::Inputs => 0..4,
            Self::Outputs => 4..7,
            Self::All => 0..7,
        }
    }
}

/// Points every argument that had this tensor in phase one at another address, and the tensor too.
///
/// Overlap is judged when the executor next runs, since addresses are swapped one by one.
pub fn set_address(executor: Handle, slots: Slots, index: usize, tensor: Handle, address: *mut u8) -> Result<()> {
    let guard = &epoch::pin();
    let executor = live(executor, guard)?;
    if !executor.repeatable.load(Ordering::Acquire) {
        return Err(Error::InvalidArgument(
            "executor is not repeatable: call aclSetAclOpExecutorRepeatable before setting addresses".to_owned(),
        ));
    }
    let count = slots.range().len();
    let argument = slots.range().nth(index).ok_or_else(|| {
        Error::InvalidArgument(format!("index is {index}, expected 0 to {} (absent tensors are counted)", count - 1))
    })?;
    if executor.tensors[argument].is_null() {
        let name = ARGUMENTS[argument];
        return Err(Error::InvalidArgument(format!("index {index} is {name}, which was NULL in phase one")));
    }
    let live_tensor = tensor::live(tensor, "tensor", guard)?;
    if !executor.tensors.contains(&tensor) {
        return Err(Error::InvalidArgument(format!(
            "tensor {:p} was not in phase one of this executor, expected one of the tensors that were",
            tensor.to_void()
        )));
    }
    if address.is_null() {
        return Err(Error::InvalidArgument("addr is NULL, expected the address of the tensor's storage".to_owned()));
    }
    let mut operands = executor.operands.lock();
    let mut moved = operands.views.clone();
    for (operand, handle) in moved.iter_mut().zip(&executor.tensors) {
        if let Some(operand) = operand.as_mut().filter(|_| *handle == tensor) {
            *operand = operand.at(address);
            operand.check_block()?;
        }
    }
    *operands = Operands { views: moved, moved: true };
    live_tensor.set_address(address);
    Ok(())
}

/// Checks the handle of a live executor, for the functions that do nothing else with it.
pub(crate) fn check_live(handle: Handle) -> Result<()> {
    live(handle, &epoch::pin()).map(|_| ())
}

fn live(handle: Handle, guard: &epoch::Guard) -> Result<crate::handle::Live<'_, Executor>> {
    EXECUTORS.get(handle, guard).ok_or_else(|| dead(handle))
}

fn dead(handle: Handle) -> Error {
    Error::DeadExecutor(format!("executor {}", handle.why_not(Kind::Executor)))
}

/// The live executors, for the list of live objects.
pub fn live_executors() -> Vec<Handle> {
    let mut live = Vec::new();
    EXECUTORS.for_each(|handle, _| live.push(handle));
    live
}

/// Keeps the executors as they are until a fork is over: in the child they stay valid.
pub fn hold(held: &mut Held) {
    // Executors that are destroyed meanwhile stay readable while this is pinned; it is released after the locks below.
    held.push(Box::new(epoch::pin()));
    EXECUTORS.hold(held);
    EXECUTORS.for_each(|_, executor| {
        let operands = executor.operands.lock();
        // SAFETY: the epoch that was pinned above keeps the executor until after this guard is gone: `held` is emptied from
        // its end.
        let operands: MutexGuard<'static, Operands> = unsafe { std::mem::transmute(operands) };
        held.push(Box::new(operands));
    });
}
