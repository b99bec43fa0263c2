//! Phase two: from an executor to work on a stream.

use std::ops::Range;

use arrayvec::ArrayVec;

use super::executor::{self, Operands, Work};
use super::operand::{Operand, check_overlaps};
use super::{GRAD_INPUT, GRAD_OUTPUT, GRAD_SCALE, GRAD_SHIFT, INPUT, Run, SCALE};
use crate::error::{Error, Result};
use crate::handle::Handle;
use crate::kernel::ModulateBackward;
use crate::runtime::{memory, stream};

/// Queues the run of an executor on a stream (NULL: the current context's default stream).
///
/// A one-shot executor that is live is used up, whatever else is wrong.
pub fn launch(workspace: *mut u8, workspace_size: u64, executor: Handle, stream: Handle) -> Result<()> {
    if executor.is_null() {
        return Err(Error::NullArgument { argument: "executor", expected: "the executor that phase one returned" });
    }
    let (work, operands) = executor::take_up(executor)?;
    let Some(work) = work else {
        // Nothing to compute: no workspace and no context is needed, but a stream that is named must exist.
        return if stream.is_null() { Ok(()) } else { stream::resolve_without_context(stream).map(|_| ()) };
    };
    // Read before the blocks are looked at: if it is still the same when the task is published, they are still there.
    let before = memory::frees();
    let workspace_bytes = check_workspace(workspace, workspace_size, work.workspace, &operands.views)?;
    check_addresses(&operands.views)?;
    if operands.moved {
        check_overlaps(&operands.views)?;
    }
    let run = Run { problem: problem(&work, &operands)?, workspace };
    let stream = stream::resolve(stream)?;

    let mut uses: ArrayVec<Range<usize>, 16> = operands.views.iter().flatten().map(Operand::bytes).collect();
    uses.push(workspace_bytes);
    let task = stream::Task { work: stream::Work::ModulateBackward(run), uses };
    let workspace_in_block = memory::find_block(workspace.addr()).is_some();
    stream.submit(task, || {
        if memory::frees() == before {
            return Ok(());
        }
        if workspace_in_block && memory::find_block(workspace.addr()).is_none() {
            return Err(Error::InvalidArgument("workspace was freed while the operator was launched".to_owned()));
        }
        check_addresses(&operands.views)
    })
}

/// Judges the workspace and returns the bytes that it spans.
fn check_workspace(
    workspace: *mut u8,
    size: u64,
    needed: usize,
    operands: &[Option<Operand>; 7],
) -> Result<Range<usize>> {
    if size > 0 && workspace.is_null() {
        return Err(Error::NullArgument { argument: "workspace", expected: "memory of workspaceSize bytes" });
    }
    if size < needed as u64 {
        return Err(Error::InvalidArgument(format!(
            "workspaceSize is {size}, expected at least the {needed} bytes that phase one asked for"
        )));
    }
    let start = workspace.addr();
    let bytes = usize::try_from(size).ok().and_then(|size| Some(start..start.checked_add(size)?)).ok_or_else(|| {
        Error::InvalidArgument(format!("workspaceSize is {size}, more than there can be behind {workspace:p}"))
    })?;
    if bytes.is_empty() {
        return Ok(bytes);
    }
    if let Some(block) = memory::find_block(start)
        && bytes.end > block.start.saturating_add(block.checked_len)
    {
        return Err(Error::InvalidArgument(format!(
            "workspace of {size} bytes reaches behind the end of the block of {} bytes that it lies in",
            block.checked_len
        )));
    }
    let whole = crate::op::overlap::Footprint::new(start, 1, [(size, 1)]);
    if let Some(operand) = operands.iter().flatten().find(|operand| operand_overlaps(operand, &whole)) {
        return Err(Error::InvalidArgument(format!(
            "workspace overlaps {}, expected memory that no tensor uses",
            operand.name()
        )));
    }
    Ok(bytes)
}

fn operand_overlaps(operand: &Operand, memory: &crate::op::overlap::Footprint) -> bool {
    operand.has_address() && operand.footprint().overlaps(memory)
}

fn check_addresses(operands: &[Option<Operand>; 7]) -> Result<()> {
    operands.iter().flatten().try_for_each(Operand::check_run)
}

/// The kernel's view of the operands.
fn problem(work: &Work, operands: &Operands) -> Result<ModulateBackward> {
    let required = |argument: usize| {
        operands.views[argument].as_ref().ok_or_else(|| Error::Panic("a required operand is missing".to_owned()))
    };
    let view2 = |argument: usize| operands.views[argument].as_ref().map(Operand::view2);
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
