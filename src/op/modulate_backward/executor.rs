//! What phase one leaves for phase two.

use super::ARGUMENTS;
use super::check::check;
use super::operand::Operands;
use crate::dtype::FloatType;
use crate::epoch::{self, Guard};
use crate::error::{Error, Result};
use crate::handle::{Handle, Kind, OnceTable, Taken};
use crate::runtime::fork::Held;
use crate::runtime::memory;
use crate::tensor;

/// The live executors.
static EXECUTORS: OnceTable<Executor> = OnceTable::new(Kind::Executor);

/// A planned call. It keeps all it needs: the tensors may be destroyed.
#[derive(Clone)]
pub struct Executor {
    /// The tensors of phase one, by argument; NULL where an optional one is absent.
    tensors: [Handle; 7],
    /// What to compute; `None` where a tensor has no elements.
    pub(super) work: Option<Work>,
    /// The tensors' views with the addresses set last.
    pub(super) operands: Operands,
    /// [`memory::changes`] before phase one looked at the blocks.
    pub(super) blocks_seen: usize,
    /// Whether an address was set since phase one judged overlaps.
    pub(super) moved: bool,
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

/// Phase one: checks the tensors and plans the call. Returns the workspace in bytes and the executor.
pub fn plan(tensors: [Handle; 7]) -> Result<(u64, Handle)> {
    let guard = &epoch::pin();
    let blocks_seen = memory::changes();
    let mut operands = [None; 7];
    let work = check(&tensors, guard, &mut operands)?;
    // The one allocation of a call.
    let executor = Box::new(Executor { tensors, work, operands, blocks_seen, moved: false });
    let handle = EXECUTORS.insert(executor).ok_or_else(|| {
        Error::OutOfMemory("no executor is left: 16 million are live, destroy those that are not used".to_owned())
    })?;
    Ok((work.map_or(0, |work| work.workspace as u64), handle))
}

/// Takes an executor up for one run. A one-shot executor ends here: of several threads that try, one gets it.
pub(super) fn take_up(handle: Handle, guard: &Guard) -> Result<Taken<'_, Executor>> {
    EXECUTORS.take_up(handle, guard).ok_or_else(|| dead(handle))
}

/// Lets phase two run any number of times on an executor.
pub fn set_repeatable(handle: Handle) -> Result<()> {
    if EXECUTORS.make_repeatable(handle) { Ok(()) } else { Err(dead(handle)) }
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
    let handle = executor;
    if !EXECUTORS.is_repeatable(handle).ok_or_else(|| dead(handle))? {
        return Err(Error::InvalidArgument(
            "executor is not repeatable: call aclSetAclOpExecutorRepeatable before setting addresses".to_owned(),
        ));
    }
    let executor = EXECUTORS.get(handle, guard).ok_or_else(|| dead(handle))?;
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
    let moved = |old: &Executor| {
        let mut new = Executor { moved: true, ..old.clone() };
        for (argument, operand) in new.operands.iter_mut().enumerate() {
            if let Some(operand) = operand.as_mut().filter(|_| old.tensors[argument] == tensor) {
                *operand = operand.moved(argument, address, guard)?;
            }
        }
        Ok(new)
    };
    EXECUTORS.update(handle, guard, moved).ok_or_else(|| dead(handle))??;
    live_tensor.set_address(address);
    Ok(())
}

/// Checks the handle of a live executor, for the functions that do nothing else with it.
pub(crate) fn check_live(handle: Handle) -> Result<()> {
    EXECUTORS.is_repeatable(handle).map(|_| ()).ok_or_else(|| dead(handle))
}

fn dead(handle: Handle) -> Error {
    Error::DeadExecutor(format!("executor {}", handle.why_not(Kind::Executor)))
}

/// The live executors, for the list of live objects.
pub fn live_executors() -> Vec<Handle> {
    EXECUTORS.live()
}

/// Keeps the executors as they are until a fork is over: in the child they stay valid.
pub fn hold(held: &mut Held) {
    EXECUTORS.hold(held);
}
