//! One tensor argument as a run sees it: a checked view, and the rules for the memory it lies in.

use super::{ARGUMENTS, GRAD_INPUT, GRAD_OUTPUT, GRAD_SCALE, GRAD_SHIFT, INPUT, SCALE};
use crate::dtype::FloatType;
use crate::error::{Error, Result};
use crate::kernel::{View2, View3};
use crate::op::overlap::Footprint;
use crate::runtime::memory::{self, Block};
use crate::shape::{self, Shape};
use crate::tensor::Tensor;

/// A view of a tensor that was checked against its storage, and the address that it has now.
#[derive(Clone, Debug)]
pub struct Operand {
    argument: usize,
    /// Address of the storage; the view begins `offset` bytes later. May be NULL until the run.
    address: *mut u8,
    /// The block of ours that the address lay in when it was recorded.
    block: Option<Block>,
    offset: usize,
    /// Bytes from the view's first to behind its last.
    extent: usize,
    element: usize,
    rank: usize,
    /// Dims and strides in elements, the first `rank` of each.
    dims: [usize; 3],
    strides: [usize; 3],
}

// SAFETY: the address is the caller's memory, which any thread may use; this type never touches it.
unsafe impl Send for Operand {}
// SAFETY: as above.
unsafe impl Sync for Operand {}

impl Operand {
    /// Takes a tensor with elements as the argument of that number, if its view stays inside its storage dims.
    pub fn new(argument: usize, tensor: &Tensor, dtype: FloatType) -> Result<Self> {
        let name = ARGUMENTS[argument];
        let element = dtype.size();
        let describe = || {
            format!(
                "{name} is a view of shape {}, strides {} and offset {}",
                Shape(tensor.view_dims()),
                Shape(tensor.strides()),
                tensor.offset()
            )
        };
        let too_far = || Error::InvalidArgument(format!("{}: its extent does not fit 64 bits", describe()));
        let extent = shape::extent(tensor.view_dims(), tensor.strides()).ok_or_else(too_far)?;
        let reach = tensor.offset().checked_add(extent).ok_or_else(too_far)?;
        let bytes_of = |elements: i64| {
            let bytes = usize::try_from(elements).ok()?.checked_mul(element)?;
            (bytes <= isize::MAX as usize).then_some(bytes)
        };
        let extent = bytes_of(extent).ok_or_else(too_far)?;
        let offset = bytes_of(tensor.offset()).ok_or_else(too_far)?;
        let end = bytes_of(reach).ok_or_else(too_far)?;

        let storage = tensor.storage_dims();
        let stored = shape::element_count(storage).unwrap_or(i64::MAX);
        if !storage.is_empty() && reach > stored {
            return Err(Error::InvalidArgument(format!(
                "{} that ends at element {reach}, expected to end within its storage dims {} of {stored} elements",
                describe(),
                Shape(storage)
            )));
        }
        let (mut dims, mut strides) = ([1; 3], [0; 3]);
        for (axis, (dim, stride)) in tensor.view_dims().iter().zip(tensor.strides()).enumerate() {
            dims[axis] = usize::try_from(*dim).map_err(|_| too_far())?;
            // The stride of a dim of length 1 is never taken, and may be anything.
            strides[axis] = if *dim == 1 { 0 } else { usize::try_from(*stride).map_err(|_| too_far())? };
        }
        let address = tensor.address();
        if address.addr().checked_add(end).is_none() {
            return Err(too_far());
        }
        let block = memory::find_block(address.addr());
        let rank = tensor.view_dims().len();
        Ok(Self { argument, address, block, offset, extent, element, rank, dims, strides })
    }

    /// The argument's name in the prototype.
    pub fn name(&self) -> &'static str {
        ARGUMENTS[self.argument]
    }

    /// The same view at another address.
    pub fn at(&self, address: *mut u8) -> Self {
        Self { address, block: memory::find_block(address.addr()), ..self.clone() }
    }

    /// Whether the data address is known yet.
    pub fn has_address(&self) -> bool {
        !self.address.is_null()
    }

    /// The bytes between the view's first and last, some of which it may not touch.
    pub fn bytes(&self) -> std::ops::Range<usize> {
        // An address set later may be anything: what would wrap around is judged by `check_block` and `check_run`.
        let start = self.address.addr().saturating_add(self.offset);
        start..start.saturating_add(self.extent)
    }

    /// Refuses a view that leaves the block that its address lay in when it was recorded. Addresses in no block are
    /// trusted, and a NULL one is left to the run.
    pub fn check_block(&self) -> Result<()> {
        self.check_inside(self.block)
    }

    fn check_inside(&self, block: Option<Block>) -> Result<()> {
        let Some(block) = block else { return Ok(()) };
        let bytes = self.bytes();
        let end = block.start.saturating_add(block.checked_len);
        if bytes.end <= end {
            return Ok(());
        }
        Err(Error::InvalidArgument(format!(
            "{} touches memory up to {} bytes behind the end of the block of {} bytes that its address lies in, expected \
             a view inside the block",
            self.name(),
            bytes.end - end,
            block.checked_len
        )))
    }

    /// What must hold when the run begins: an address, and a block that still is there if there was one.
    pub fn check_run(&self) -> Result<()> {
        let name = self.name();
        if self.address.is_null() {
            return Err(Error::InvalidArgument(format!(
                "{name} has a NULL data address, expected one by the time the operator runs: pass it to aclCreateTensor, \
                 or set it with aclSetInputTensorAddr or aclSetOutputTensorAddr on a repeatable executor"
            )));
        }
        let block = memory::find_block(self.address.addr());
        if self.block.is_some() && block.is_none() {
            return Err(Error::InvalidArgument(format!(
                "{name} has data address {:p}, in memory that was freed since it was given, expected memory that lives \
                 until the operator has run",
                self.address
            )));
        }
        self.check_inside(block)
    }

    /// The memory of the view, for the overlap rules.
    pub fn footprint(&self) -> Footprint {
        let dims = self.dims.iter().zip(&self.strides).take(self.rank);
        Footprint::new(self.bytes().start, self.element, dims.map(|(dim, stride)| (*dim as u64, *stride as u64)))
    }

    /// The view for the kernel, of an argument [B, L, D].
    pub fn view3(&self) -> View3 {
        View3 { base: self.address.wrapping_add(self.offset), stride: self.strides }
    }

    /// The view for the kernel, of an argument [B, D].
    pub fn view2(&self) -> View2 {
        let [batch, hidden, _] = self.strides;
        View2 { base: self.address.wrapping_add(self.offset), stride: [batch, hidden] }
    }
}

/// Refuses outputs that overlap themselves, each other, or an input whose values are read, but for the in-place cases.
/// Arguments without an address yet are left to the run.
pub fn check_overlaps(operands: &[Option<Operand>; 7]) -> Result<()> {
    let footprints = operands.each_ref().map(|operand| {
        let operand = operand.as_ref().filter(|operand| !operand.address.is_null())?;
        Some(operand.footprint())
    });
    let outputs = [GRAD_INPUT, GRAD_SCALE, GRAD_SHIFT];
    let refuse = |one: usize, what: &str| Err(Error::InvalidArgument(format!("{} {what}", ARGUMENTS[one])));
    for (position, output) in outputs.into_iter().enumerate() {
        let Some(written) = &footprints[output] else { continue };
        if written.overlaps_itself() {
            return refuse(output, "overlaps itself, expected an output view whose elements have memory of their own");
        }
        for other in outputs.into_iter().skip(position + 1) {
            if footprints[other].as_ref().is_some_and(|other| written.overlaps(other)) {
                let what = format!("overlaps {}, expected outputs that share no element", ARGUMENTS[other]);
                return refuse(output, &what);
            }
        }
        for read in [GRAD_OUTPUT, INPUT, SCALE] {
            // Without grad_scale nobody reads the input's values.
            if read == INPUT && operands[GRAD_SCALE].is_none() {
                continue;
            }
            let Some(source) = &footprints[read] else { continue };
            let may_be_in_place = (output == GRAD_INPUT) == (read != SCALE);
            if !(may_be_in_place && written.is_exactly(source)) && written.overlaps(source) {
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
