//! The C names of the types that the prototypes use. The headers define them for C; see `include/`.

#![allow(non_camel_case_types)]

use std::ffi::c_void;

/// Status of the `aclnn` functions.
pub type aclnnStatus = i32;
/// Status of the `acl` and `aclrt` functions.
pub type aclError = i32;

/// IEEE binary16, as bits.
pub type aclFloat16 = u16;
/// A context: devices are used through the calling thread's current one.
pub type aclrtContext = *mut c_void;
/// A stream: an in-order queue of work. NULL names the current context's default stream.
pub type aclrtStream = *mut c_void;
/// An event: a point in a stream's work.
pub type aclrtEvent = *mut c_void;

// Enumerations come in as plain numbers and are checked before use: any number may come from C.

/// `aclDataType`
pub type aclDataType = i32;
/// `aclFormat`
pub type aclFormat = i32;
/// `aclLogLevel`
pub type aclLogLevel = i32;
/// `aclrtMemMallocPolicy`
pub type aclrtMemMallocPolicy = i32;
/// `aclrtMemcpyKind`
pub type aclrtMemcpyKind = i32;

/// Declares the opaque types behind handles.
macro_rules! opaque {
    ($($name:ident),*) => {$(
        #[doc = concat!("Opaque `", stringify!($name), "`: a pointer to it is a handle, never an address.")]
        #[repr(C)]
        pub struct $name {
            _opaque: [u8; 0],
        }
    )*};
}

opaque!(aclTensor, aclOpExecutor, aclScalar, aclIntArray, aclFloatArray, aclBoolArray, aclTensorList, aclScalarList);
