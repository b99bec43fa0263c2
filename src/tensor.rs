//! Tensors, scalars, arrays and lists: descriptions of data. Nothing here reads or writes the data.

use std::fmt;
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::dtype;
use crate::epoch::{self, Guard};
use crate::error::{Error, Result};
use crate::handle::{Handle, Kind, Live, Table};
use crate::runtime::fork::Held;
use crate::shape::{self, MAX_DIMS, Shape};

/// The live tensors.
pub static TENSORS: Table<Tensor> = Table::new(Kind::Tensor);
/// The live scalars.
pub static SCALARS: Table<Scalar> = Table::new(Kind::Scalar);
/// The live integer arrays.
pub static INT_ARRAYS: Table<Box<[i64]>> = Table::new(Kind::IntArray);
/// The live float arrays.
pub static FLOAT_ARRAYS: Table<Box<[f32]>> = Table::new(Kind::FloatArray);
/// The live arrays of booleans, a byte each.
pub static BOOL_ARRAYS: Table<Box<[u8]>> = Table::new(Kind::BoolArray);
/// The live lists of tensors.
pub static TENSOR_LISTS: Table<Box<[Handle]>> = Table::new(Kind::TensorList);
/// The live lists of scalars.
pub static SCALAR_LISTS: Table<Box<[Handle]>> = Table::new(Kind::ScalarList);

/// A view of storage that the caller owns, as `aclCreateTensor` describes it.
#[derive(Debug)]
pub struct Tensor {
    data_type: i32,
    format: i32,
    offset: i64,
    /// View dims, view strides and storage dims, one after the other.
    numbers: Box<[i64]>,
    rank: usize,
    is_empty: bool,
    reach: Reach,
    address: AtomicPtr<u8>,
}

/// How far a view goes from the address of its storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Not past its storage dims, if it has any.
    Inside(Span),
    /// Past its storage dims: it ends before this element.
    Outside(i64),
    /// Further than 64 bits, or a process's memory, can be.
    TooFar,
}

/// Where the elements of a view are, from the address of its storage on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Bytes before the first element.
    pub offset: usize,
    /// Bytes from there to behind the last element. Both together fit an `isize`.
    pub extent: usize,
    /// Strides of the first three dims, in elements; 0 for a dim of length 1, whose stride is never taken, and for a dim
    /// that the view lacks.
    pub strides: [usize; 3],
    /// Whether each stride steps over all that the smaller ones reach, so that no two elements share memory.
    pub is_nested: bool,
}

/// What a tensor is made from: already copied from the caller, not yet checked.
#[derive(Debug)]
pub struct Description {
    /// Length of each dim of the view.
    pub view_dims: Vec<i64>,
    /// Strides of the view in elements; `None` for row-major contiguous.
    pub strides: Option<Vec<i64>>,
    /// Elements between the address and the view's first element.
    pub offset: i64,
    /// Length of each dim of the storage; empty where its extent is unknown.
    pub storage_dims: Vec<i64>,
    /// `aclDataType`
    pub data_type: i32,
    /// `aclFormat`
    pub format: i32,
    /// Address of the storage; may be NULL.
    pub address: *mut u8,
}

impl Tensor {
    /// Checks a description and makes a tensor of it.
    pub fn new(description: Description) -> Result<Self> {
        let Description { view_dims, strides, offset, storage_dims, data_type, format, address } = description;
        if dtype::data_type_name(data_type).is_none() {
            return Err(Error::InvalidArgument(format!("dataType is {data_type}, which is no aclDataType")));
        }
        if dtype::format_name(format).is_none() {
            return Err(Error::InvalidArgument(format!("format is {format}, which is no aclFormat")));
        }
        check_dims("viewDims", &view_dims, data_type)?;
        check_dims("storageDims", &storage_dims, data_type)?;
        let strides = strides.unwrap_or_else(|| shape::contiguous_strides(&view_dims));
        if let Some(stride) = strides.iter().find(|stride| **stride < 0) {
            return Err(Error::InvalidArgument(format!(
                "stride is {}, expected no negative one ({stride})",
                Shape(&strides)
            )));
        }
        if offset < 0 {
            return Err(Error::InvalidArgument(format!("offset is {offset}, expected 0 or more")));
        }
        let rank = view_dims.len();
        // What each call that takes the tensor asks for is judged once: none of this changes.
        let is_empty = view_dims.contains(&0);
        let reach = reach(&view_dims, &strides, offset, &storage_dims, dtype::size_of(data_type));
        let numbers = [view_dims, strides, storage_dims].concat().into_boxed_slice();
        let address = AtomicPtr::new(address);
        Ok(Self { data_type, format, offset, numbers, rank, is_empty, reach, address })
    }

    /// `aclDataType`
    pub fn data_type(&self) -> i32 {
        self.data_type
    }

    /// `aclFormat`
    pub fn format(&self) -> i32 {
        self.format
    }

    /// Elements between the address and the view's first element.
    pub fn offset(&self) -> i64 {
        self.offset
    }

    /// Length of each dim of the view.
    pub fn view_dims(&self) -> &[i64] {
        &self.numbers[..self.rank]
    }

    /// Strides of the view, in elements.
    pub fn strides(&self) -> &[i64] {
        &self.numbers[self.rank..2 * self.rank]
    }

    /// Length of each dim of the storage; empty where its extent is unknown.
    pub fn storage_dims(&self) -> &[i64] {
        &self.numbers[2 * self.rank..]
    }

    /// Whether the view has no elements.
    pub fn is_empty(&self) -> bool {
        self.is_empty
    }

    /// How far the view goes.
    pub fn reach(&self) -> &Reach {
        &self.reach
    }

    /// Address of the storage.
    pub fn address(&self) -> *mut u8 {
        self.address.load(Ordering::Acquire)
    }

    /// Points the tensor at other storage.
    pub fn set_address(&self, address: *mut u8) {
        self.address.store(address, Ordering::Release);
    }
}

fn reach(dims: &[i64], strides: &[i64], offset: i64, storage: &[i64], element: usize) -> Reach {
    let bytes = |elements: i64| {
        let bytes = usize::try_from(elements).ok()?.checked_mul(element)?;
        (bytes <= isize::MAX as usize).then_some(bytes)
    };
    let fits = || {
        let extent = shape::extent(dims, strides)?;
        let end = offset.checked_add(extent)?;
        bytes(end)?;
        Some((end, bytes(offset)?, bytes(extent)?))
    };
    match fits() {
        None => Reach::TooFar,
        Some((end, ..)) if !storage.is_empty() && shape::element_count(storage).is_some_and(|stored| end > stored) => {
            Reach::Outside(end)
        }
        Some((_, offset, extent)) => {
            let mut steps = [0; 3];
            for ((step, dim), stride) in steps.iter_mut().zip(dims).zip(strides) {
                // None is negative.
                *step = if *dim == 1 { 0 } else { usize::try_from(*stride).unwrap_or(0) };
            }
            Reach::Inside(Span { offset, extent, strides: steps, is_nested: shape::is_nested(dims, strides) })
        }
    }
}

fn check_dims(argument: &str, dims: &[i64], data_type: i32) -> Result<()> {
    if dims.len() > MAX_DIMS {
        return Err(Error::InvalidArgument(format!("{argument} has {} dims, expected at most {MAX_DIMS}", dims.len())));
    }
    if let Some(dim) = dims.iter().find(|dim| **dim < 0) {
        return Err(Error::InvalidArgument(format!("{argument} is {}, expected no negative dim ({dim})", Shape(dims))));
    }
    let element = i64::try_from(dtype::size_of(data_type).max(1)).unwrap_or(1);
    if shape::element_count(dims).and_then(|count| count.checked_mul(element)).is_none() {
        return Err(Error::InvalidArgument(format!("{argument} is {}, a size that does not fit 64 bits", Shape(dims))));
    }
    Ok(())
}

/// The tensor behind a handle; the message names the argument where there is none.
pub fn live<'g>(handle: Handle, argument: &str, guard: &'g Guard) -> Result<Live<'g, Tensor>> {
    TENSORS.get(handle, guard).ok_or_else(|| not_live(handle, argument, Kind::Tensor))
}

/// The error for an argument that is no live handle of the kind it should be.
pub fn not_live(handle: Handle, argument: &str, kind: Kind) -> Error {
    Error::DeadHandle(format!("{argument} {}", handle.why_not(kind)))
}

/// A tensor handle as the log shows it: with what stands behind it, if it is live.
pub struct Shown(pub Handle);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(handle) = *self;
        if handle.is_null() {
            return f.write_str("NULL");
        }
        let pointer = handle.to_void();
        let Some(tensor) = TENSORS.get(handle, &epoch::pin()).map(|tensor| tensor.to_string()) else {
            return write!(f, "{pointer:p} (not live)");
        };
        write!(f, "{pointer:p} ({tensor})")
    }
}

impl fmt::Display for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |name: Option<&'static str>| name.unwrap_or("unknown").trim_start_matches("ACL_");
        let (data_type, format) = (name(dtype::data_type_name(self.data_type)), name(dtype::format_name(self.format)));
        let (dims, strides) = (Shape(self.view_dims()), Shape(self.strides()));
        let (offset, storage, address) = (self.offset, Shape(self.storage_dims()), self.address());
        write!(f, "{data_type} {format} {dims} strides {strides} offset {offset} storage {storage} at {address:p}")
    }
}

/// A single value.
#[derive(Clone, Copy, Debug)]
pub struct Scalar {
    /// `aclDataType`
    pub data_type: i32,
    /// The value's bytes, as they lay in the caller's memory; the rest is zero.
    pub bytes: [u8; 16],
}

/// Bytes of one value of a data type that a scalar can have; 0 where there is no such scalar.
pub fn scalar_size(data_type: i32) -> usize {
    // aclDataTypeSize says 8 for the fp6 and fp4 types, but one value of them is a byte.
    if (38..=41).contains(&data_type) { 1 } else { dtype::size_of(data_type) }
}

/// Keeps the tables as they are until a fork is over.
pub fn hold(held: &mut Held) {
    TENSORS.hold(held);
    SCALARS.hold(held);
    INT_ARRAYS.hold(held);
    FLOAT_ARRAYS.hold(held);
    BOOL_ARRAYS.hold(held);
    TENSOR_LISTS.hold(held);
    SCALAR_LISTS.hold(held);
}
