//! Phase two: from an executor to work on a stream.

use std::ops::Range;

use super::executor::{self, Work};
use super::operand::{Operand, Operands, check_overlaps};
use super::{ARGUMENTS, GRAD_INPUT, GRAD_OUTPUT, GRAD_SCALE, GRAD_SHIFT, INPUT, Run, SCALE, given};
use crate::epoch::{self, Guard};
use crate::error::{Error, Result};
use crate::handle::Handle;
use crate::kernel::ModulateBackward;
use crate::op::overlap::Footprint;
use crate::runtime::{memory, stream};

/// Queues the run of an executor on a stream (NULL: the current context's default stream).
///
/// A one-shot executor that is live is used up, whatever else is wrong.
pub fn launch(workspace: *mut u8, workspace_size: u64, executor: Handle, stream: Handle) -> Result<()> {
    if executor.is_null() {
        return Err(Error::NullArgument { argument: "executor", expected: "the executor that phase one returned" });
    }
    let guard = &epoch::pin();
    let executor = executor::take_up(executor, guard)?;
    let Some(work) = &executor.work else {
        // Nothing to compute: no workspace and no context is needed, but a stream that is named must exist.
        return if stream.is_null() { Ok(()) } else { stream::resolve_without_context(stream).map(|_| ()) };
    };
    let operands = &executor.operands;
    // Read before the blocks are looked at: if it is still the same when the task is published, they are still there.
    let before = memory::changes();
    let workspace_bytes = check_workspace(workspace, workspace_size, work, operands, guard)?;
    if before != executor.blocks_seen || !operands.iter().flatten().all(Operand::has_address) {
        check_addresses(operands, guard)?;
    }
    if executor.moved {
        check_overlaps(operands, work)?;
    }
    let stream = stream::resolve_under(stream, guard)?;

    let mut uses = stream::Uses::new();
    for operand in operands.iter().flatten() {
        uses.push(operand.bytes());
    }
    let workspace_in_block = match &workspace_bytes {
        Some(bytes) => {
            uses.push(bytes.clone());
            memory::find_block_under(bytes.start, guard).is_some()
        }
        None => false,
    };
    let run = Run { problem: problem(work, operands)?, workspace };
    stream.submit(stream::Task { work: stream::Work::ModulateBackward(run), uses }, || {
        if memory::changes() == before {
            return Ok(());
        }
        if workspace_in_block && memory::find_block_under(workspace.addr(), guard).is_none() {
            return Err(Error::InvalidArgument("workspace was freed while the operator was launched".to_owned()));
        }
        check_addresses(operands, guard)
    })
}

/// Judges the workspace and returns the bytes that it spans; `None` where it has none.
fn check_workspace(
    workspace: *mut u8,
    size: u64,
    work: &Work,
    operands: &Operands,
    guard: &Guard,
) -> Result<Option<Range<usize>>> {
    if size > 0 && workspace.is_null() {
        return Err(Error::NullArgument { argument: "workspace", expected: "memory of workspaceSize bytes" });
    }
    let needed = work.workspace;
    if size < needed as u64 {
        return Err(Error::InvalidArgument(format!(
            "workspaceSize is {size}, expected at least the {needed} bytes that phase one asked for"
        )));
    }
    if size == 0 {
        return Ok(None);
    }
    let start = workspace.addr();
    let bytes = usize::try_from(size).ok().and_then(|size| Some(start..start.checked_add(size)?)).ok_or_else(|| {
        Error::InvalidArgument(format!("workspaceSize is {size}, more than there can be behind {workspace:p}"))
    })?;
    if let Some(block) = memory::find_block_under(start, guard)
        && bytes.end > block.end()
    {
        return Err(Error::InvalidArgument(format!(
            "workspace of {size} bytes reaches behind the end of the block of {} bytes that it lies in",
            block.checked_len
        )));
    }
    let whole = Footprint::new(start, 1, [(size, 1)]);
    for (argument, operand) in given(operands).filter(|(_, operand)| operand.has_address()) {
        if operand.footprint(argument, work).overlaps(&whole) {
            return Err(Error::InvalidArgument(format!(
                "workspace overlaps {}, expected memory that no tensor uses",
                ARGUMENTS[argument]
            )));
        }
    }
    Ok(Some(bytes))
}

fn check_addresses(operands: &Operands, guard: &Guard) -> Result<()> {
    given(operands).try_for_each(|(argument, operand)| operand.check_run(argument, guard))
}

/// The kernel's view of the operands.
fn problem(work: &Work, operands: &Operands) -> Result<ModulateBackward> {
    let required = |argument: usize| {
        operands[argument].as_ref().ok_or_else(|| Error::Panic("a required operand is missing".to_owned()))
    };
    let view2 = |argument: usize| operands[argument].as_ref().map(Operand::view2);
    let grad_scale = view2(GRAD_SCALE);
    Ok(ModulateBackward {
        dtype: work.dtype,
        dims: work.dims,
        grad_output: required(GRAD_OUTPUT)?.view3(),
        // Nobody reads the input's values where no gradient of scale is wanted.
        input: if grad_scale.is_some() { Some(required(INPUT)?.view3()) } else { None },
        scale: view2(SCALE),
        grad_input: required(GRAD_INPUT)?.view3(),
        grad_scale,
        grad_shift: view2(GRAD_SHIFT),
    })
}
