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

/// `aclrtRunMode`
pub type aclrtRunMode = i32;
/// `aclrtMemAttr`
pub type aclrtMemAttr = i32;
/// `aclrtStreamStatus`
pub type aclrtStreamStatus = i32;
/// `aclrtEventStatus`
pub type aclrtEventStatus = i32;
/// `aclrtEventRecordedStatus`
pub type aclrtEventRecordedStatus = i32;
/// `aclrtEventWaitStatus`
pub type aclrtEventWaitStatus = i32;
/// `aclrtCallbackBlockType`
pub type aclrtCallbackBlockType = i32;
/// `aclrtLastErrLevel`
pub type aclrtLastErrLevel = i32;
/// `aclSysParamOpt`
pub type aclSysParamOpt = i32;

/// A function that a thread of the caller's runs; `None` is NULL.
pub type aclrtCallback = Option<unsafe extern "C" fn(*mut c_void)>;
/// A function that runs in stream order; `None` is NULL.
pub type aclrtHostFunc = Option<unsafe extern "C" fn(*mut c_void)>;

/// Where a piece of memory lives.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct aclrtMemLocation {
    /// Number of the device, where there is one.
    pub id: u32,
    /// `aclrtMemLocationType`
    pub r#type: i32,
}

/// What `aclrtPointerGetAttributes` tells about an address.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct aclrtPtrAttributes {
    /// Where it lives.
    pub location: aclrtMemLocation,
    /// Bytes of a page.
    pub pageSize: u32,
    /// For later.
    pub rsv: [u32; 4],
}

/// One range of faulty memory.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct aclrtMemUceInfo {
    /// Its start.
    pub addr: *mut c_void,
    /// Its bytes.
    pub len: usize,
    /// For later.
    pub reserved: [usize; 14],
}

/// The ranges of faulty memory of a device.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct aclrtMemUceInfoArray {
    /// How many entries are meant.
    pub arraySize: usize,
    /// The entries.
    pub memUceInfoArray: [aclrtMemUceInfo; 20],
}

/// What `aclrtGetErrorVerbose` tells about a device. The vendor's union of details is as large as its first member.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct aclrtErrorInfo {
    /// Whether a repair may be tried.
    pub tryRepair: u8,
    /// Whether `detail` says something.
    pub hasDetail: u8,
    /// For later.
    pub reserved: [u8; 2],
    /// `aclrtErrorType`
    pub errorType: i32,
    /// More about it.
    pub detail: aclrtMemUceInfoArray,
}

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
