//! One tensor argument as a run sees it: a checked view, and the rules for the memory it lies in.

use std::ops::Range;

use super::executor::Work;
use super::{ARGUMENTS, GRAD_INPUT, GRAD_OUTPUT, GRAD_SCALE, GRAD_SHIFT, INPUT, SCALE, SHIFT};
use crate::epoch::Guard;
use crate::error::{Error, Result};
use crate::kernel::{View2, View3};
use crate::op::overlap::Footprint;
use crate::runtime::memory::{self, Block};
use crate::shape::{self, Shape};
use crate::tensor::{Reach, Span, Tensor};

/// A view of a tensor that was checked against its storage, and the address that it has now. Which argument it is, and
/// with that its dims, is its place among the [`Operands`].
#[derive(Clone, Copy, Debug)]
pub struct Operand {
    /// Address of the storage. May be NULL until the run.
    address: *mut u8,
    /// Where the elements are from there on.
    span: Span,
    /// Whether the address lay in a block of ours when it was recorded.
    in_block: bool,
}

/// The tensors that were given, by argument.
pub type Operands = [Option<Operand>; 7];

// SAFETY: the address is the caller's memory, which any thread may use; this type never touches it.
unsafe impl Send for Operand {}
// SAFETY: as above.
unsafe impl Sync for Operand {}

impl Operand {
    /// Takes a tensor with elements as the argument of that number, if its view stays inside its storage dims.
    ///
    /// It is written where it stays: a result that carries it would be moved in pieces of other sizes than it was written in,
    /// and each such read waits for the writes.
    #[inline]
    pub fn put(place: &mut Option<Self>, argument: usize, tensor: &Tensor) -> Result<()> {
        let span = match tensor.reach() {
            Reach::Inside(span) => span,
            Reach::Outside(reach) => return Err(outside_storage(argument, tensor, *reach)),
            Reach::TooFar => return Err(too_far(argument, tensor)),
        };
        let address = tensor.address();
        if address.addr().checked_add(span.offset + span.extent).is_none() {
            return Err(too_far(argument, tensor));
        }
        *place = Some(Self { address, span: *span, in_block: false });
        Ok(())
    }

    /// Whether the data address is known yet.
    pub fn has_address(&self) -> bool {
        !self.address.is_null()
    }

    /// The bytes between the view's first and last, some of which it may not touch.
    #[inline]
    pub fn bytes(&self) -> Range<usize> {
        // An address set later may be anything: what would wrap around is judged by `check_block` and `check_run`.
        let start = self.address.addr().saturating_add(self.span.offset);
        start..start.saturating_add(self.span.extent)
    }

    /// The same view at another address, which it has to fit.
    pub fn moved(mut self, argument: usize, address: *mut u8, guard: &Guard) -> Result<Self> {
        self.address = address;
        self.enter_block(argument, guard)?;
        Ok(self)
    }

    /// Notes whether the address lies in a block, and refuses a view that leaves it. Addresses in no block are trusted,
    /// and a NULL one is left to the run.
    #[inline]
    pub fn enter_block(&mut self, argument: usize, guard: &Guard) -> Result<()> {
        let block = memory::find_block_under(self.address.addr(), guard);
        self.in_block = block.is_some();
        self.check_inside(argument, block)
    }

    #[inline]
    fn check_inside(&self, argument: usize, block: Option<Block>) -> Result<()> {
        match block {
            Some(block) if self.bytes().end > block.end() => Err(outside_block(argument, self, &block)),
            _ => Ok(()),
        }
    }

    /// What must hold when the run begins: an address, and a block that still is there if there was one.
    pub fn check_run(&self, argument: usize, guard: &Guard) -> Result<()> {
        let name = ARGUMENTS[argument];
        if self.address.is_null() {
            return Err(Error::InvalidArgument(format!(
                "{name} has a NULL data address, expected one by the time the operator runs: pass it to aclCreateTensor, \
                 or set it with aclSetInputTensorAddr or aclSetOutputTensorAddr on a repeatable executor"
            )));
        }
        let block = memory::find_block_under(self.address.addr(), guard);
        if self.in_block && block.is_none() {
            return Err(Error::InvalidArgument(format!(
                "{name} has data address {:p}, in memory that was freed since it was given, expected memory that lives \
                 until the operator has run",
                self.address
            )));
        }
        self.check_inside(argument, block)
    }

    /// The memory of the view, for the overlap rules.
    pub fn footprint(&self, argument: usize, work: &Work) -> Footprint {
        let [batch, sequence, hidden] = work.dims.map(|dim| dim as u64);
        let (dims, rank) = match argument {
            SCALE | SHIFT | GRAD_SCALE | GRAD_SHIFT => ([batch, hidden, 1], 2),
            _ => ([batch, sequence, hidden], 3),
        };
        let steps = dims.into_iter().zip(self.span.strides.map(|stride| stride as u64)).take(rank);
        Footprint::new(self.bytes().start, work.dtype.size(), steps)
    }

    /// Whether a view of the same shape has the same address for every index.
    fn is_exactly(&self, other: &Self) -> bool {
        self.bytes().start == other.bytes().start && self.span.strides == other.span.strides
    }

    /// The view for the kernel, of an argument [B, L, D].
    #[inline]
    pub fn view3(&self) -> View3 {
        View3 { base: self.address.wrapping_add(self.span.offset), stride: self.span.strides }
    }

    /// The view for the kernel, of an argument [B, D].
    #[inline]
    pub fn view2(&self) -> View2 {
        let [batch, hidden, _] = self.span.strides;
        View2 { base: self.address.wrapping_add(self.span.offset), stride: [batch, hidden] }
    }
}

/// Refuses outputs that overlap themselves, each other, or an input whose values are read, but for the in-place cases.
/// Arguments without an address yet are left to the run.
///
/// Nearly always the views lie apart: the ranges of bytes decide before any footprint is made.
pub fn check_overlaps(operands: &Operands, work: &Work) -> Result<()> {
    let ranges = operands.each_ref().map(|operand| match operand {
        Some(operand) if operand.has_address() => (operand.bytes().start, operand.bytes().end),
        // Apart from everything.
        _ => (usize::MAX, 0),
    });
    let apart = |one: usize, other: usize| {
        let ((start, end), (other_start, other_end)) = (ranges[one], ranges[other]);
        other_end <= start || end <= other_start
    };
    let refuse = |one: usize, what: &str| Err(Error::InvalidArgument(format!("{} {what}", ARGUMENTS[one])));
    const OUTPUTS: [usize; 3] = [GRAD_INPUT, GRAD_SCALE, GRAD_SHIFT];
    for (position, output) in OUTPUTS.iter().copied().enumerate() {
        let Some(written) = operands[output].as_ref().filter(|written| written.has_address()) else { continue };
        if !written.span.is_nested && written.footprint(output, work).overlaps_itself() {
            return refuse(output, "overlaps itself, expected an output view whose elements have memory of their own");
        }
        for other in OUTPUTS[position + 1..].iter().copied() {
            if !apart(output, other) && footprints_overlap(operands, [output, other], work) {
                let what = format!("overlaps {}, expected outputs that share no element", ARGUMENTS[other]);
                return refuse(output, &what);
            }
        }
        for read in [GRAD_OUTPUT, INPUT, SCALE] {
            // Without grad_scale nobody reads the input's values.
            if read == INPUT && operands[GRAD_SCALE].is_none() {
                continue;
            }
            let Some(source) = operands[read].as_ref().filter(|_| !apart(output, read)) else { continue };
            let may_be_in_place = (output == GRAD_INPUT) == (read != SCALE);
            if !(may_be_in_place && written.is_exactly(source)) && footprints_overlap(operands, [output, read], work) {
                let rule = if may_be_in_place {
                    "expected no common element, or exactly the same view"
                } else {
                    "expected no common element"
                };
                return refuse(output, &format!("overlaps {}, {rule}", ARGUMENTS[read]));
            }
        }
    }
    Ok(())
}

fn footprints_overlap(operands: &Operands, arguments: [usize; 2], work: &Work) -> bool {
    let [one, other] = arguments.map(|argument| Some(operands[argument].as_ref()?.footprint(argument, work)));
    one.zip(other).is_some_and(|(one, other)| one.overlaps(&other))
}

#[cold]
fn too_far(argument: usize, tensor: &Tensor) -> Error {
    Error::InvalidArgument(format!("{}: its extent does not fit 64 bits", described(argument, tensor)))
}

#[cold]
fn outside_storage(argument: usize, tensor: &Tensor, reach: i64) -> Error {
    let (storage, view) = (tensor.storage_dims(), described(argument, tensor));
    let stored = shape::element_count(storage).unwrap_or(i64::MAX);
    Error::InvalidArgument(format!(
        "{view} that ends at element {reach}, expected to end within its storage dims {} of {stored} elements",
        Shape(storage)
    ))
}

fn described(argument: usize, tensor: &Tensor) -> String {
    format!(
        "{} is a view of shape {}, strides {} and offset {}",
        ARGUMENTS[argument],
        Shape(tensor.view_dims()),
        Shape(tensor.strides()),
        tensor.offset()
    )
}

#[cold]
fn outside_block(argument: usize, operand: &Operand, block: &Block) -> Error {
    Error::InvalidArgument(format!(
        "{} touches memory up to {} bytes behind the end of the block of {} bytes that its address lies in, expected a \
         view inside the block",
        ARGUMENTS[argument],
        operand.bytes().end - block.end(),
        block.checked_len
    ))
}
