//! Arrays of numbers, and lists of tensors and scalars.

use super::guard;
use super::ptr::{self, Out};
use super::types::{
    aclBoolArray, aclFloatArray, aclIntArray, aclScalar, aclScalarList, aclTensor, aclTensorList, aclnnStatus,
};
use crate::error::{Error, Result};
use crate::handle::{Handle, Table};
use crate::tensor::{self, BOOL_ARRAYS, FLOAT_ARRAYS, INT_ARRAYS, SCALAR_LISTS, SCALARS, Shown, TENSOR_LISTS, TENSORS};

/// Makes an array from a copy of the numbers.
///
/// @param [in] value the numbers; may be NULL where size is 0
/// @param [in] size how many
/// @retval NULL an argument is wrong; aclGetRecentErrMsg says which and why
/// @retval other a handle that aclDestroyIntArray ends; any thread may use it
///
/// # Safety
///
/// `value` must be readable for `size` elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclCreateIntArray(value: *const i64, size: u64) -> *mut aclIntArray {
    // SAFETY: the caller's promise; the array outlives the call.
    let shown = unsafe { ptr::shown_array(value, size, |number| number) };
    guard::value("aclCreateIntArray", format_args!("value={shown}, size={size}"), std::ptr::null_mut(), || {
        // SAFETY: the caller's promise.
        insert(&INT_ARRAYS, unsafe { ptr::array(value, size, "value") }?.into())
    })
}

/// Makes an array from a copy of the numbers.
///
/// @param [in] value the numbers; may be NULL where size is 0
/// @param [in] size how many
/// @retval NULL an argument is wrong; aclGetRecentErrMsg says which and why
/// @retval other a handle that aclDestroyFloatArray ends; any thread may use it
///
/// # Safety
///
/// `value` must be readable for `size` elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclCreateFloatArray(value: *const f32, size: u64) -> *mut aclFloatArray {
    // SAFETY: the caller's promise; the array outlives the call.
    let shown = unsafe { ptr::shown_array(value, size, |number| number) };
    guard::value("aclCreateFloatArray", format_args!("value={shown}, size={size}"), std::ptr::null_mut(), || {
        // SAFETY: the caller's promise.
        insert(&FLOAT_ARRAYS, unsafe { ptr::array(value, size, "value") }?.into())
    })
}

/// Makes an array from a copy of the values.
///
/// @param [in] value the values; may be NULL where size is 0
/// @param [in] size how many
/// @retval NULL an argument is wrong; aclGetRecentErrMsg says which and why
/// @retval other a handle that aclDestroyBoolArray ends; any thread may use it
///
/// # Safety
///
/// `value` must be readable for `size` elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclCreateBoolArray(value: *const bool, size: u64) -> *mut aclBoolArray {
    // SAFETY: the caller's promise; the array outlives the call. C may hold any byte in a bool.
    let shown = unsafe { ptr::shown_array(value.cast::<u8>(), size, |byte| byte != 0) };
    guard::value("aclCreateBoolArray", format_args!("value={shown}, size={size}"), std::ptr::null_mut(), || {
        // C may hold any byte in a bool, so they are taken as bytes.
        // SAFETY: the caller's promise.
        insert(&BOOL_ARRAYS, unsafe { ptr::array(value.cast::<u8>(), size, "value") }?.into())
    })
}

/// Makes a list of tensors. It keeps the handles, and ends the tensors when it is destroyed.
///
/// @param [in] value the tensors, NULL among them allowed; may be NULL where size is 0
/// @param [in] size how many
/// @retval NULL an argument is wrong; aclGetRecentErrMsg says which and why
/// @retval other a handle that aclDestroyTensorList ends; any thread may use it
///
/// # Safety
///
/// `value` must be readable for `size` elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclCreateTensorList(value: *const *const aclTensor, size: u64) -> *mut aclTensorList {
    // SAFETY: the caller's promise; the array outlives the call.
    let shown = unsafe { ptr::shown_array(value, size, |tensor| Shown(Handle::from_ptr(tensor))) };
    guard::value("aclCreateTensorList", format_args!("value={shown}, size={size}"), std::ptr::null_mut(), || {
        // SAFETY: the caller's promise.
        let members = unsafe { ptr::array(value, size, "value") }?;
        insert(&TENSOR_LISTS, members.into_iter().map(Handle::from_ptr).collect())
    })
}

/// Makes a list of scalars. It keeps the handles, and ends the scalars when it is destroyed.
///
/// @param [in] value the scalars, NULL among them allowed; may be NULL where size is 0
/// @param [in] size how many
/// @retval NULL an argument is wrong; aclGetRecentErrMsg says which and why
/// @retval other a handle that aclDestroyScalarList ends; any thread may use it
///
/// # Safety
///
/// `value` must be readable for `size` elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclCreateScalarList(value: *const *const aclScalar, size: u64) -> *mut aclScalarList {
    // SAFETY: the caller's promise; the array outlives the call.
    let shown = unsafe { ptr::shown_array(value, size, |scalar| format!("{scalar:p}")) };
    guard::value("aclCreateScalarList", format_args!("value={shown}, size={size}"), std::ptr::null_mut(), || {
        // SAFETY: the caller's promise.
        let members = unsafe { ptr::array(value, size, "value") }?;
        insert(&SCALAR_LISTS, members.into_iter().map(Handle::from_ptr).collect())
    })
}

/// Ends an array.
///
/// @param [in] array the array; NULL is allowed
/// @retval 0 success
/// @retval 161002 array is not live
#[unsafe(no_mangle)]
pub extern "C" fn aclDestroyIntArray(array: *const aclIntArray) -> aclnnStatus {
    guard::aclnn("aclDestroyIntArray", format_args!("array={array:p}"), || {
        destroy(&INT_ARRAYS, Handle::from_ptr(array), "array")
    })
}

/// Ends an array.
///
/// @param [in] array the array; NULL is allowed
/// @retval 0 success
/// @retval 161002 array is not live
#[unsafe(no_mangle)]
pub extern "C" fn aclDestroyFloatArray(array: *const aclFloatArray) -> aclnnStatus {
    guard::aclnn("aclDestroyFloatArray", format_args!("array={array:p}"), || {
        destroy(&FLOAT_ARRAYS, Handle::from_ptr(array), "array")
    })
}

/// Ends an array.
///
/// @param [in] array the array; NULL is allowed
/// @retval 0 success
/// @retval 161002 array is not live
#[unsafe(no_mangle)]
pub extern "C" fn aclDestroyBoolArray(array: *const aclBoolArray) -> aclnnStatus {
    guard::aclnn("aclDestroyBoolArray", format_args!("array={array:p}"), || {
        destroy(&BOOL_ARRAYS, Handle::from_ptr(array), "array")
    })
}

/// Ends a list and the tensors in it; those that are NULL or not live any more are skipped.
///
/// @param [in] array the list; NULL is allowed
/// @retval 0 success
/// @retval 161002 array is not live
#[unsafe(no_mangle)]
pub extern "C" fn aclDestroyTensorList(array: *const aclTensorList) -> aclnnStatus {
    guard::aclnn("aclDestroyTensorList", format_args!("array={array:p}"), || {
        destroy_list(&TENSOR_LISTS, &TENSORS, Handle::from_ptr(array))
    })
}

/// Ends a list and the scalars in it; those that are NULL or not live any more are skipped.
///
/// @param [in] array the list; NULL is allowed
/// @retval 0 success
/// @retval 161002 array is not live
#[unsafe(no_mangle)]
pub extern "C" fn aclDestroyScalarList(array: *const aclScalarList) -> aclnnStatus {
    guard::aclnn("aclDestroyScalarList", format_args!("array={array:p}"), || {
        destroy_list(&SCALAR_LISTS, &SCALARS, Handle::from_ptr(array))
    })
}

/// Gets the length of an array.
///
/// @param [in] array the array
/// @param [out] size its number of elements
/// @retval 0 success
/// @retval 161001 an argument is NULL
/// @retval 161002 array is not live
///
/// # Safety
///
/// `size` must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclGetIntArraySize(array: *const aclIntArray, size: *mut u64) -> aclnnStatus {
    // SAFETY: the caller's promise.
    guard::aclnn("aclGetIntArraySize", format_args!("array={array:p}, size={size:p}"), || unsafe {
        length(&INT_ARRAYS, Handle::from_ptr(array), size)
    })
}

/// Gets the length of an array.
///
/// @param [in] array the array
/// @param [out] size its number of elements
/// @retval 0 success
/// @retval 161001 an argument is NULL
/// @retval 161002 array is not live
///
/// # Safety
///
/// `size` must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclGetFloatArraySize(array: *const aclFloatArray, size: *mut u64) -> aclnnStatus {
    // SAFETY: the caller's promise.
    guard::aclnn("aclGetFloatArraySize", format_args!("array={array:p}, size={size:p}"), || unsafe {
        length(&FLOAT_ARRAYS, Handle::from_ptr(array), size)
    })
}

/// Gets the length of an array.
///
/// @param [in] array the array
/// @param [out] size its number of elements
/// @retval 0 success
/// @retval 161001 an argument is NULL
/// @retval 161002 array is not live
///
/// # Safety
///
/// `size` must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclGetBoolArraySize(array: *const aclBoolArray, size: *mut u64) -> aclnnStatus {
    // SAFETY: the caller's promise.
    guard::aclnn("aclGetBoolArraySize", format_args!("array={array:p}, size={size:p}"), || unsafe {
        length(&BOOL_ARRAYS, Handle::from_ptr(array), size)
    })
}

/// Gets the length of a list.
///
/// @param [in] tensorList the list
/// @param [out] size its number of tensors
/// @retval 0 success
/// @retval 161001 an argument is NULL
/// @retval 161002 tensorList is not live
///
/// # Safety
///
/// `size` must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclGetTensorListSize(tensorList: *const aclTensorList, size: *mut u64) -> aclnnStatus {
    // SAFETY: the caller's promise.
    guard::aclnn("aclGetTensorListSize", format_args!("tensorList={tensorList:p}, size={size:p}"), || unsafe {
        length(&TENSOR_LISTS, Handle::from_ptr(tensorList), size)
    })
}

/// Gets the length of a list.
///
/// @param [in] scalarList the list
/// @param [out] size its number of scalars
/// @retval 0 success
/// @retval 161001 an argument is NULL
/// @retval 161002 scalarList is not live
///
/// # Safety
///
/// `size` must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclGetScalarListSize(scalarList: *const aclScalarList, size: *mut u64) -> aclnnStatus {
    // SAFETY: the caller's promise.
    guard::aclnn("aclGetScalarListSize", format_args!("scalarList={scalarList:p}, size={size:p}"), || unsafe {
        length(&SCALAR_LISTS, Handle::from_ptr(scalarList), size)
    })
}

/// Puts a value behind a new handle, and returns it as the pointer that C sees.
pub(super) fn insert<T: Send + Sync, C>(table: &Table<T>, value: T) -> Result<*mut C> {
    table.insert(value).map(Handle::to_ptr).ok_or_else(|| {
        let name = table.kind().name();
        Error::OutOfMemory(format!("no {name} handle is left: 16 million are live, destroy those that are not used"))
    })
}

/// Ends a handle; NULL is none to end.
pub(super) fn destroy<T: Send + Sync>(table: &Table<T>, handle: Handle, argument: &str) -> Result<()> {
    if handle.is_null() || table.destroy(handle) {
        Ok(())
    } else {
        Err(tensor::not_live(handle, argument, table.kind()))
    }
}

/// A handle that must not be NULL. Whether it is live shows when it is looked up.
pub(super) fn given(handle: Handle, argument: &'static str) -> Result<Handle> {
    if handle.is_null() { Err(Error::NullArgument { argument, expected: "a live handle" }) } else { Ok(handle) }
}

fn destroy_list<T: Send + Sync>(lists: &Table<Box<[Handle]>>, members: &Table<T>, list: Handle) -> Result<()> {
    if list.is_null() {
        return Ok(());
    }
    let handles = lists.remove(list).ok_or_else(|| tensor::not_live(list, "array", lists.kind()))?;
    for handle in handles {
        members.destroy(handle);
    }
    Ok(())
}

/// # Safety
///
/// `size` must be writable.
unsafe fn length<T: Send + Sync>(table: &Table<Box<[T]>>, array: Handle, size: *mut u64) -> Result<()> {
    let array = given(array, "array")?;
    // SAFETY: the caller's promise.
    let size = unsafe { Out::new(size, "size") }?;
    let guard = &crate::epoch::pin();
    let live = table.get(array, guard).ok_or_else(|| tensor::not_live(array, "array", table.kind()))?;
    size.set(live.len() as u64);
    Ok(())
}
