//! Phase one's validation: what the seven tensors must be to each other. The checks come in the contract's order, and the
//! first that fails decides the status.

use super::executor::Work;
use super::operand::{Operand, Operands, check_overlaps};
use super::{ARGUMENTS, GRAD_INPUT, GRAD_OUTPUT, GRAD_SCALE, GRAD_SHIFT, INPUT, SCALE, SHIFT, given};
use crate::dtype::{self, FORMAT_ND, FloatType};
use crate::epoch::Guard;
use crate::error::{Error, Result};
use crate::handle::{Handle, Live};
use crate::kernel;
use crate::shape::Shape;
use crate::tensor::{self, Tensor};

type Tensors<'g> = [Option<Live<'g, Tensor>>; 7];

/// Checks the arguments of phase one, in the prototype's order. Returns what there is to compute, and puts the views of
/// the tensors that were given in their places; neither where the call has nothing to compute.
pub fn check(handles: &[Handle; 7], guard: &Guard, operands: &mut Operands) -> Result<Option<Work>> {
    for argument in [GRAD_OUTPUT, INPUT, GRAD_INPUT] {
        if handles[argument].is_null() {
            return Err(Error::NullArgument { argument: ARGUMENTS[argument], expected: "a tensor (it is required)" });
        }
    }
    let tensors = look_up(handles, guard)?;
    let (Some(grad_output), Some(input), Some(grad_input)) =
        (&tensors[GRAD_OUTPUT], &tensors[INPUT], &tensors[GRAD_INPUT])
    else {
        return Err(Error::Panic("a required tensor was not looked up".to_owned()));
    };
    let dtype = check_types(&tensors)?;
    check_rank_3(&tensors)?;
    check_not_half_empty(&tensors)?;
    check_formats(&tensors)?;
    check_modulation_shapes(&tensors)?;
    if grad_output.is_empty() || input.is_empty() || grad_input.is_empty() {
        return Ok(None);
    }
    check_matching_shapes(&tensors)?;
    check_optional_pairs(&tensors)?;

    let mut dims = [0; 3];
    for (dim, length) in dims.iter_mut().zip(grad_output.view_dims()) {
        *dim = usize::try_from(*length).map_err(|_| Error::InvalidArgument("grad_output has a negative dim".into()))?;
    }
    let workspace = kernel::workspace_bytes(dims, tensors[GRAD_SCALE].is_some(), tensors[GRAD_SHIFT].is_some());
    let work = Work { dtype, dims, workspace };
    check_memory(&tensors, &work, guard, operands)?;
    Ok(Some(work))
}

fn look_up<'g>(handles: &[Handle; 7], guard: &'g Guard) -> Result<Tensors<'g>> {
    let mut tensors = [const { None }; 7];
    for (argument, handle) in handles.iter().enumerate() {
        if !handle.is_null() {
            tensors[argument] = Some(tensor::live(*handle, ARGUMENTS[argument], guard)?);
        }
    }
    Ok(tensors)
}

/// Storage, then blocks, then overlaps: each for all tensors before the next.
fn check_memory(tensors: &Tensors, work: &Work, guard: &Guard, operands: &mut Operands) -> Result<()> {
    for (argument, tensor) in given(tensors) {
        Operand::put(&mut operands[argument], argument, tensor)?;
    }
    for (argument, operand) in operands.iter_mut().enumerate() {
        if let Some(operand) = operand {
            operand.enter_block(argument, guard)?;
        }
    }
    check_overlaps(operands, work)
}

fn check_types(tensors: &Tensors) -> Result<FloatType> {
    let name = |number| dtype::data_type_name(number).unwrap_or("an unknown type");
    let mut expected = None;
    for (argument, tensor) in given(tensors) {
        let float = FloatType::try_from(tensor.data_type()).map_err(|number| {
            Error::InvalidArgument(format!(
                "{} has data type {}, expected ACL_FLOAT, ACL_FLOAT16 or ACL_BF16",
                ARGUMENTS[argument],
                name(number)
            ))
        })?;
        expected.get_or_insert(float);
    }
    let expected = expected.unwrap_or(FloatType::F32);
    for (argument, tensor) in given(tensors) {
        if tensor.data_type() != expected.number() {
            return Err(Error::InvalidArgument(format!(
                "{} has data type {}, expected {} as grad_output has (one type for all seven tensors)",
                ARGUMENTS[argument],
                name(tensor.data_type()),
                name(expected.number())
            )));
        }
    }
    Ok(expected)
}

fn check_rank_3(tensors: &Tensors) -> Result<()> {
    for (argument, tensor) in given(tensors).take(2) {
        let dims = tensor.view_dims();
        if dims.len() != 3 {
            let (name, shape, rank) = (ARGUMENTS[argument], Shape(dims), dims.len());
            return Err(Error::InvalidArgument(format!(
                "{name} has shape {shape} of rank {rank}, expected rank 3: [B, L, D]"
            )));
        }
    }
    Ok(())
}

fn check_not_half_empty(tensors: &Tensors) -> Result<()> {
    let Some((empty, _)) = given(tensors).take(2).find(|(_, tensor)| tensor.is_empty()) else { return Ok(()) };
    for argument in [SCALE, SHIFT] {
        if let Some(tensor) = tensors[argument].as_ref().filter(|tensor| !tensor.is_empty()) {
            return Err(Error::InvalidArgument(format!(
                "{} has shape {} while {} has no elements, expected no elements there either",
                ARGUMENTS[argument],
                Shape(tensor.view_dims()),
                ARGUMENTS[empty]
            )));
        }
    }
    Ok(())
}

fn check_formats(tensors: &Tensors) -> Result<()> {
    for (argument, tensor) in given(tensors) {
        if tensor.format() != FORMAT_ND {
            let name = dtype::format_name(tensor.format()).unwrap_or("unknown");
            let argument = ARGUMENTS[argument];
            return Err(Error::InvalidArgument(format!("{argument} has format {name}, pass ACL_FORMAT_ND")));
        }
    }
    Ok(())
}

fn check_modulation_shapes(tensors: &Tensors) -> Result<()> {
    let Some(grad_output) = &tensors[GRAD_OUTPUT] else { return Ok(()) };
    let &[batch, _, hidden] = grad_output.view_dims() else { return Ok(()) };
    for argument in [SCALE, SHIFT] {
        let Some(tensor) = &tensors[argument] else { continue };
        let dims = tensor.view_dims();
        if dims != [batch, hidden] {
            return Err(Error::InvalidArgument(format!(
                "{} has shape {} of rank {}, expected [{batch}, {hidden}] of rank 2 (B, D of grad_output)",
                ARGUMENTS[argument],
                Shape(dims),
                dims.len()
            )));
        }
    }
    Ok(())
}

fn check_matching_shapes(tensors: &Tensors) -> Result<()> {
    let pairs = [(INPUT, GRAD_OUTPUT), (GRAD_INPUT, GRAD_OUTPUT), (GRAD_SCALE, SCALE), (GRAD_SHIFT, SHIFT)];
    for (argument, like) in pairs {
        let (Some(tensor), Some(model)) = (&tensors[argument], &tensors[like]) else { continue };
        if tensor.view_dims() != model.view_dims() {
            return Err(Error::InvalidArgument(format!(
                "{} has shape {}, expected {} as {} has",
                ARGUMENTS[argument],
                Shape(tensor.view_dims()),
                Shape(model.view_dims()),
                ARGUMENTS[like]
            )));
        }
    }
    Ok(())
}

fn check_optional_pairs(tensors: &Tensors) -> Result<()> {
    for (output, input) in [(GRAD_SCALE, SCALE), (GRAD_SHIFT, SHIFT)] {
        if tensors[output].is_some() && tensors[input].is_none() {
            return Err(Error::InvalidArgument(format!(
                "{} is given without {}, expected both or only {}",
                ARGUMENTS[output], ARGUMENTS[input], ARGUMENTS[input]
            )));
        }
    }
    Ok(())
}
