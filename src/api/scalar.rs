//! Scalars.

use std::ffi::c_void;

use super::guard;
use super::ptr;
use super::types::{aclDataType, aclScalar, aclnnStatus};
use crate::error::Error;
use crate::handle::Handle;
use crate::tensor::{self, SCALARS, Scalar};

/// Makes a scalar from a copy of one value.
///
/// @param [in] value the value
/// @param [in] dataType its type, one with a fixed size
/// @retval NULL an argument is wrong; aclGetRecentErrMsg says which and why
/// @retval other a handle that aclDestroyScalar ends; any thread may use it
///
/// # Safety
///
/// `value` must be readable for one value of that type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclCreateScalar(value: *mut c_void, dataType: aclDataType) -> *mut aclScalar {
    guard::value("aclCreateScalar", format_args!("value={value:p}, dataType={dataType}"), std::ptr::null_mut(), || {
        let size = tensor::scalar_size(dataType);
        if size == 0 {
            return Err(Error::InvalidArgument(format!("dataType is {dataType}, expected a type with a fixed size")));
        }
        // SAFETY: the caller's promise.
        let value = unsafe { ptr::array(value.cast::<u8>().cast_const(), size as u64, "value") }?;
        let mut bytes = [0; 16];
        bytes[..size].copy_from_slice(&value);
        super::list::insert(&SCALARS, Scalar { data_type: dataType, bytes })
    })
}

/// Ends a scalar.
///
/// @param [in] scalar the scalar; NULL is allowed
/// @retval 0 success
/// @retval 161002 scalar is not live
#[unsafe(no_mangle)]
pub extern "C" fn aclDestroyScalar(scalar: *const aclScalar) -> aclnnStatus {
    guard::aclnn("aclDestroyScalar", format_args!("scalar={scalar:p}"), || {
        super::list::destroy(&SCALARS, Handle::from_ptr(scalar), "scalar")
    })
}
