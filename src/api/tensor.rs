//! Tensors: creation, getters, addresses, destruction.

use std::ffi::c_void;

use super::guard;
use super::ptr::{self, Out};
use super::types::{aclDataType, aclFormat, aclTensor, aclnnStatus};
use crate::error::{Error, Result};
use crate::handle::Handle;
use crate::tensor::Shown;
use crate::tensor::{self, Description, TENSORS, Tensor};

/// Describes a view of storage that the caller owns. The storage is not touched.
///
/// @param [in] viewDims length of each dim of the view
/// @param [in] viewDimsNum number of dims, at most 25
/// @param [in] dataType type of an element
/// @param [in] stride distance between neighbours in each dim, in elements, none negative; NULL for row-major contiguous
/// @param [in] offset distance from tensorData to the view's first element, in elements, not negative
/// @param [in] format ACL_FORMAT_ND for the operator of this library
/// @param [in] storageDims length of each dim of the storage; only its extent matters
/// @param [in] storageDimsNum number of dims of the storage; 0 where its extent is not known
/// @param [in] tensorData address of the storage, any alignment; may be NULL and be set later
/// @retval NULL an argument is wrong; aclGetRecentErrMsg says which and why
/// @retval other a handle that aclDestroyTensor ends; any thread may use it
///
/// # Safety
///
/// `viewDims`, `stride` (both viewDimsNum elements) and `storageDims` (storageDimsNum elements) must be readable.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments)] // the vendor's prototype
pub unsafe extern "C" fn aclCreateTensor(
    viewDims: *const i64,
    viewDimsNum: u64,
    dataType: aclDataType,
    stride: *const i64,
    offset: i64,
    format: aclFormat,
    storageDims: *const i64,
    storageDimsNum: u64,
    tensorData: *mut c_void,
) -> *mut aclTensor {
    // SAFETY: the caller's promise; the arrays outlive the call.
    let [dims, strides, storage] = unsafe {
        [(viewDims, viewDimsNum), (stride, viewDimsNum), (storageDims, storageDimsNum)]
            .map(|(array, length)| ptr::shown_array(array, length, |number| number))
    };
    guard::value(
        "aclCreateTensor",
        format_args!(
            "viewDims={dims}, viewDimsNum={viewDimsNum}, dataType={dataType}, stride={strides}, offset={offset}, \
             format={format}, storageDims={storage}, storageDimsNum={storageDimsNum}, tensorData={tensorData:p}"
        ),
        std::ptr::null_mut(),
        || {
            // SAFETY: the caller's promise.
            let description = unsafe {
                describe(
                    viewDims,
                    viewDimsNum,
                    dataType,
                    stride,
                    offset,
                    format,
                    storageDims,
                    storageDimsNum,
                    tensorData,
                )
            }?;
            let handle = TENSORS.insert(Tensor::new(description)?).ok_or_else(too_many)?;
            Ok(handle.to_ptr())
        },
    )
}

/// Describes another view with an existing tensor. Executors planned before keep what they were planned with.
///
/// @param [in] tensor the tensor to change; it stays as it was where an argument is wrong
/// @param [in] viewDims length of each dim of the view
/// @param [in] viewDimsNum number of dims, at most 25
/// @param [in] dataType type of an element
/// @param [in] stride distance between neighbours in each dim, in elements, none negative; NULL for row-major contiguous
/// @param [in] offset distance from tensorData to the view's first element, in elements, not negative
/// @param [in] format ACL_FORMAT_ND for the operator of this library
/// @param [in] storageDims length of each dim of the storage; only its extent matters
/// @param [in] storageDimsNum number of dims of the storage; 0 where its extent is not known
/// @param [in] tensorData address of the storage, any alignment; may be NULL and be set later
/// @retval 0 success
/// @retval 161001 tensor is NULL
/// @retval 161002 tensor is not live, or an argument is wrong
///
/// # Safety
///
/// `viewDims`, `stride` (both viewDimsNum elements) and `storageDims` (storageDimsNum elements) must be readable.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments)] // the vendor's prototype
pub unsafe extern "C" fn aclInitTensor(
    tensor: *mut aclTensor,
    viewDims: *const i64,
    viewDimsNum: u64,
    dataType: aclDataType,
    stride: *const i64,
    offset: i64,
    format: aclFormat,
    storageDims: *const i64,
    storageDimsNum: u64,
    tensorData: *mut c_void,
) -> aclnnStatus {
    // SAFETY: the caller's promise; the arrays outlive the call.
    let [dims, strides, storage] = unsafe {
        [(viewDims, viewDimsNum), (stride, viewDimsNum), (storageDims, storageDimsNum)]
            .map(|(array, length)| ptr::shown_array(array, length, |number| number))
    };
    guard::aclnn(
        "aclInitTensor",
        format_args!(
            "tensor={}, viewDims={dims}, viewDimsNum={viewDimsNum}, dataType={dataType}, stride={strides}, \
             offset={offset}, format={format}, storageDims={storage}, storageDimsNum={storageDimsNum}, \
             tensorData={tensorData:p}",
            Shown(Handle::from_ptr(tensor))
        ),
        || {
            let handle = given(tensor)?;
            if !TENSORS.contains(handle) {
                return Err(tensor::not_live(handle, "tensor", TENSORS.kind()));
            }
            // SAFETY: the caller's promise.
            let description = unsafe {
                describe(
                    viewDims,
                    viewDimsNum,
                    dataType,
                    stride,
                    offset,
                    format,
                    storageDims,
                    storageDimsNum,
                    tensorData,
                )
            }
            .map_err(as_invalid)?;
            let replaced = TENSORS.replace(handle, Tensor::new(description)?);
            if replaced { Ok(()) } else { Err(tensor::not_live(handle, "tensor", TENSORS.kind())) }
        },
    )
}

/// Ends a tensor. Its storage, and executors that were planned with it, are not affected.
///
/// @param [in] tensor the tensor; NULL is allowed
/// @retval 0 success
/// @retval 161002 tensor is not live
#[unsafe(no_mangle)]
pub extern "C" fn aclDestroyTensor(tensor: *const aclTensor) -> aclnnStatus {
    guard::aclnn("aclDestroyTensor", format_args!("tensor={}", Shown(Handle::from_ptr(tensor))), || {
        super::list::destroy(&TENSORS, Handle::from_ptr(tensor), "tensor")
    })
}

/// Gets the dims of a tensor's view.
///
/// @param [in] tensor the tensor
/// @param [out] viewDims a new array, never NULL; the caller releases it with free(), in C++ with delete[]
/// @param [out] viewDimsNum its length
/// @retval 0 success
/// @retval 161001 an argument is NULL
/// @retval 161002 tensor is not live
///
/// # Safety
///
/// `viewDims` and `viewDimsNum` must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclGetViewShape(
    tensor: *const aclTensor,
    viewDims: *mut *mut i64,
    viewDimsNum: *mut u64,
) -> aclnnStatus {
    guard::aclnn(
        "aclGetViewShape",
        format_args!("tensor={}, viewDims={viewDims:p}, viewDimsNum={viewDimsNum:p}", Shown(Handle::from_ptr(tensor))),
        || {
            // SAFETY: the caller's promise.
            let (array, length) = unsafe { (Out::new(viewDims, "viewDims")?, Out::new(viewDimsNum, "viewDimsNum")?) };
            hand_out(tensor, Tensor::view_dims, array, length)
        },
    )
}

/// Gets the dims of a tensor's storage.
///
/// @param [in] tensor the tensor
/// @param [out] storageDims a new array, never NULL; the caller releases it with free(), in C++ with delete[]
/// @param [out] storageDimsNum its length
/// @retval 0 success
/// @retval 161001 an argument is NULL
/// @retval 161002 tensor is not live
///
/// # Safety
///
/// `storageDims` and `storageDimsNum` must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclGetStorageShape(
    tensor: *const aclTensor,
    storageDims: *mut *mut i64,
    storageDimsNum: *mut u64,
) -> aclnnStatus {
    guard::aclnn(
        "aclGetStorageShape",
        format_args!(
            "tensor={}, storageDims={storageDims:p}, storageDimsNum={storageDimsNum:p}",
            Shown(Handle::from_ptr(tensor))
        ),
        || {
            // SAFETY: the caller's promise.
            let (array, length) =
                unsafe { (Out::new(storageDims, "storageDims")?, Out::new(storageDimsNum, "storageDimsNum")?) };
            hand_out(tensor, Tensor::storage_dims, array, length)
        },
    )
}

/// Gets the strides of a tensor's view.
///
/// @param [in] tensor the tensor
/// @param [out] stridesValue a new array, never NULL; the caller releases it with free(), in C++ with delete[]
/// @param [out] stridesNum its length
/// @retval 0 success
/// @retval 161001 an argument is NULL
/// @retval 161002 tensor is not live
///
/// # Safety
///
/// `stridesValue` and `stridesNum` must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclGetViewStrides(
    tensor: *const aclTensor,
    stridesValue: *mut *mut i64,
    stridesNum: *mut u64,
) -> aclnnStatus {
    guard::aclnn(
        "aclGetViewStrides",
        format_args!(
            "tensor={}, stridesValue={stridesValue:p}, stridesNum={stridesNum:p}",
            Shown(Handle::from_ptr(tensor))
        ),
        || {
            // SAFETY: the caller's promise.
            let (array, length) =
                unsafe { (Out::new(stridesValue, "stridesValue")?, Out::new(stridesNum, "stridesNum")?) };
            hand_out(tensor, Tensor::strides, array, length)
        },
    )
}

/// Gets the distance from a tensor's address to its view's first element.
///
/// @param [in] tensor the tensor
/// @param [out] offset in elements
/// @retval 0 success
/// @retval 161001 an argument is NULL
/// @retval 161002 tensor is not live
///
/// # Safety
///
/// `offset` must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclGetViewOffset(tensor: *const aclTensor, offset: *mut i64) -> aclnnStatus {
    guard::aclnn(
        "aclGetViewOffset",
        format_args!("tensor={}, offset={offset:p}", Shown(Handle::from_ptr(tensor))),
        || {
            // SAFETY: the caller's promise.
            let out = unsafe { Out::new(offset, "offset") }?;
            out.set(read(tensor, Tensor::offset)?);
            Ok(())
        },
    )
}

/// Gets a tensor's format.
///
/// @param [in] tensor the tensor
/// @param [out] format its format
/// @retval 0 success
/// @retval 161001 an argument is NULL
/// @retval 161002 tensor is not live
///
/// # Safety
///
/// `format` must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclGetFormat(tensor: *const aclTensor, format: *mut aclFormat) -> aclnnStatus {
    guard::aclnn("aclGetFormat", format_args!("tensor={}, format={format:p}", Shown(Handle::from_ptr(tensor))), || {
        // SAFETY: the caller's promise.
        let out = unsafe { Out::new(format, "format") }?;
        out.set(read(tensor, Tensor::format)?);
        Ok(())
    })
}

/// Gets the type of a tensor's elements.
///
/// @param [in] tensor the tensor
/// @param [out] dataType its type
/// @retval 0 success
/// @retval 161001 an argument is NULL
/// @retval 161002 tensor is not live
///
/// # Safety
///
/// `dataType` must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclGetDataType(tensor: *const aclTensor, dataType: *mut aclDataType) -> aclnnStatus {
    guard::aclnn(
        "aclGetDataType",
        format_args!("tensor={}, dataType={dataType:p}", Shown(Handle::from_ptr(tensor))),
        || {
            // SAFETY: the caller's promise.
            let out = unsafe { Out::new(dataType, "dataType") }?;
            out.set(read(tensor, Tensor::data_type)?);
            Ok(())
        },
    )
}

/// Points a tensor at other storage. Executors that were planned with it keep their addresses.
///
/// @param [in] tensor the tensor
/// @param [in] addr address of the storage; may be NULL
/// @retval 0 success
/// @retval 161001 tensor is NULL
/// @retval 161002 tensor is not live
#[unsafe(no_mangle)]
pub extern "C" fn aclSetRawTensorAddr(tensor: *mut aclTensor, addr: *mut c_void) -> aclnnStatus {
    guard::aclnn(
        "aclSetRawTensorAddr",
        format_args!("tensor={}, addr={addr:p}", Shown(Handle::from_ptr(tensor))),
        || read(tensor, |tensor| tensor.set_address(addr.cast())),
    )
}

/// Gets the address of a tensor's storage.
///
/// @param [in] tensor the tensor
/// @param [out] addr what was passed at creation or set last
/// @retval 0 success
/// @retval 161001 an argument is NULL
/// @retval 161002 tensor is not live
///
/// # Safety
///
/// `addr` must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclGetRawTensorAddr(tensor: *const aclTensor, addr: *mut *mut c_void) -> aclnnStatus {
    guard::aclnn(
        "aclGetRawTensorAddr",
        format_args!("tensor={}, addr={addr:p}", Shown(Handle::from_ptr(tensor))),
        || {
            // SAFETY: the caller's promise.
            let out = unsafe { Out::new(addr, "addr") }?;
            out.set(read(tensor, Tensor::address)?.cast());
            Ok(())
        },
    )
}

/// # Safety
///
/// `viewDims`, `stride` (both viewDimsNum elements) and `storageDims` (storageDimsNum elements) must be readable.
#[allow(clippy::too_many_arguments)] // the vendor's nine parameters
unsafe fn describe(
    viewDims: *const i64,
    viewDimsNum: u64,
    dataType: aclDataType,
    stride: *const i64,
    offset: i64,
    format: aclFormat,
    storageDims: *const i64,
    storageDimsNum: u64,
    tensorData: *mut c_void,
) -> Result<Description> {
    // SAFETY: the caller's promise; `dims` reads nothing where there are too many.
    let (view_dims, storage_dims) =
        unsafe { (dims(viewDims, viewDimsNum, "viewDims")?, dims(storageDims, storageDimsNum, "storageDims")?) };
    // SAFETY: the caller's promise.
    let strides = if stride.is_null() { None } else { Some(unsafe { dims(stride, viewDimsNum, "stride") }?) };
    let address = tensorData.cast();
    Ok(Description { view_dims, strides, offset, storage_dims, data_type: dataType, format, address })
}

/// # Safety
///
/// A non-NULL `pointer` must be readable for `length` elements.
unsafe fn dims(pointer: *const i64, length: u64, argument: &'static str) -> Result<Vec<i64>> {
    // A wild length must not be read before it is refused.
    if length > crate::shape::MAX_DIMS as u64 {
        let most = crate::shape::MAX_DIMS;
        return Err(Error::InvalidArgument(format!("{argument} has {length} dims, expected at most {most}")));
    }
    // SAFETY: the caller's promise.
    unsafe { ptr::array(pointer, length, argument) }
}

/// Only the tensor itself counts as a missing pointer of aclInitTensor; its arrays are wrong arguments.
fn as_invalid(error: Error) -> Error {
    match error {
        Error::NullArgument { .. } => Error::InvalidArgument(error.to_string()),
        other => other,
    }
}

fn too_many() -> Error {
    Error::OutOfMemory("no tensor handle is left: 16 million are live, destroy those that are not used".to_owned())
}

fn given(tensor: *const aclTensor) -> Result<Handle> {
    super::list::given(Handle::from_ptr(tensor), "tensor")
}

fn read<T>(tensor: *const aclTensor, read: impl FnOnce(&Tensor) -> T) -> Result<T> {
    let handle = given(tensor)?;
    let guard = &crate::epoch::pin();
    tensor::live(handle, "tensor", guard).map(|tensor| read(&tensor))
}

fn hand_out(
    tensor: *const aclTensor,
    numbers: impl FnOnce(&Tensor) -> &[i64],
    array: Out<*mut i64>,
    length: Out<u64>,
) -> Result<()> {
    let numbers = read(tensor, |tensor| numbers(tensor).to_vec())?;
    array.set(ptr::for_caller_to_free(&numbers)?);
    length.set(numbers.len() as u64);
    Ok(())
}
