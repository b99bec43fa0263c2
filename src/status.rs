//! The numbers that C sees, and the one match that produces them.

use crate::error::Error;

/// Success, in both families of functions.
pub const SUCCESS: i32 = 0;

/// How one failure is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// Returned by the `acl` and `aclrt` functions.
    pub acl: i32,
    /// Returned by the `aclnn` functions and those of `acl_meta.h`.
    pub aclnn: i32,
    /// What the message starts with.
    pub prefix: &'static str,
}

/// A bad argument.
const ARGUMENT: &str = "EZ1001";
/// A bad argument to the runtime, or a state in which the call can't be served.
const RUNTIME: &str = "EE1001";
/// A defect of the library.
const INTERNAL: &str = "EZ9999";

/// `ACLNN_ERR_PARAM_INVALID`
const PARAM_INVALID: i32 = 161002;
/// `ACLNN_ERR_RUNTIME_ERROR`
const RUNTIME_ERROR: i32 = 361001;

/// The status of a failure.
pub fn of(error: &Error) -> Status {
    let (acl, aclnn, prefix) = match error {
        Error::NullArgument { .. } => (100000, 161001, ARGUMENT),
        Error::InvalidArgument(_) => (100000, PARAM_INVALID, ARGUMENT),
        Error::InvalidValue(_) => (107000, PARAM_INVALID, RUNTIME),
        Error::DeadHandle(_) => (107017, PARAM_INVALID, ARGUMENT),
        Error::DeadStream(_) => (107017, RUNTIME_ERROR, RUNTIME),
        Error::DeadEvent(_) => (107017, RUNTIME_ERROR, RUNTIME),
        Error::DeadExecutor(_) => (107017, 561103, ARGUMENT),
        Error::InvalidDevice(_) => (107001, RUNTIME_ERROR, RUNTIME),
        Error::NoContext => (107002, RUNTIME_ERROR, RUNTIME),
        Error::DeadContext(_) => (107002, RUNTIME_ERROR, RUNTIME),
        Error::OtherContext(_) => (107003, RUNTIME_ERROR, RUNTIME),
        Error::AlreadyInitialized => (100002, RUNTIME_ERROR, RUNTIME),
        Error::AlreadyFinalized => (100037, RUNTIME_ERROR, RUNTIME),
        Error::UnreadableFile(_) => (100003, RUNTIME_ERROR, ARGUMENT),
        Error::UnparsableFile(_) => (100006, RUNTIME_ERROR, ARGUMENT),
        Error::InvalidDumpSettings(_) => (100009, RUNTIME_ERROR, ARGUMENT),
        Error::OutOfMemory(_) => (207001, RUNTIME_ERROR, RUNTIME),
        Error::OutOfStreams(_) => (207008, RUNTIME_ERROR, RUNTIME),
        Error::NotSupported(_) => (207000, RUNTIME_ERROR, RUNTIME),
        Error::NotSet(_) => (507007, RUNTIME_ERROR, RUNTIME),
        Error::TaskFailed(_) => (507035, RUNTIME_ERROR, RUNTIME),
        Error::WouldDeadlock(_) => (507000, RUNTIME_ERROR, RUNTIME),
        Error::InvalidState(_) => (507000, RUNTIME_ERROR, RUNTIME),
        Error::StreamTimeout(_) => (507046, RUNTIME_ERROR, RUNTIME),
        Error::EventTimeout(_) => (507047, RUNTIME_ERROR, RUNTIME),
        Error::NoTimestamp(_) => (107006, RUNTIME_ERROR, RUNTIME),
        Error::ReversedTimestamps(_) => (107007, RUNTIME_ERROR, RUNTIME),
        Error::OutOfEvents(_) => (207007, RUNTIME_ERROR, RUNTIME),
        Error::OutOfResources(_) => (207005, RUNTIME_ERROR, RUNTIME),
        Error::StreamAborted(_) => (107023, RUNTIME_ERROR, RUNTIME),
        Error::EventNotComplete(_) => (507006, RUNTIME_ERROR, RUNTIME),
        Error::StreamSubscription(_) => (107011, RUNTIME_ERROR, RUNTIME),
        Error::ThreadSubscription(_) => (107012, RUNTIME_ERROR, RUNTIME),
        Error::NoSubscriber(_) => (107015, RUNTIME_ERROR, RUNTIME),
        Error::CallbackTimeout(_) => (107019, RUNTIME_ERROR, RUNTIME),
        Error::ParameterNotSet(_) => (107021, RUNTIME_ERROR, RUNTIME),
        Error::Panic(_) => (507000, 561000, INTERNAL),
    };
    Status { acl, aclnn, prefix }
}
