//! Everything that can go wrong behind the C ABI, in one enum. [`crate::status`] turns it into the numbers that C sees.

use thiserror::Error;

/// What every fallible function of this library returns.
pub type Result<T> = std::result::Result<T, Error>;

/// A failure, with the text that `aclGetRecentErrMsg` shows: it names the argument, what it got and what was expected.
///
/// A variant stands for one row of the status table, so the same mistake has one spelling here even where the `acl` and
/// the `aclnn` functions answer it with different numbers.
#[derive(Clone, Debug, Error)]
pub enum Error {
    /// A required pointer is NULL.
    #[error("{argument} is NULL, expected {expected}")]
    NullArgument {
        /// Parameter name as in the prototype.
        argument: &'static str,
        /// What should have been passed.
        expected: &'static str,
    },
    /// An argument is wrong in itself or against the others.
    #[error("{0}")]
    InvalidArgument(String),
    /// A runtime function's argument is out of range for the object that it names (a size, an address, a mode).
    #[error("{0}")]
    InvalidValue(String),
    /// A handle of a tensor, list or scalar that is not live, or of another kind.
    #[error("{0}")]
    DeadHandle(String),
    /// A stream argument that is not live.
    #[error("{0}")]
    DeadStream(String),
    /// An event that is not live.
    #[error("{0}")]
    DeadEvent(String),
    /// An executor that is NULL where the vendor calls that an inner error, or not live.
    #[error("{0}")]
    DeadExecutor(String),
    /// A device id that no device has.
    #[error("{0}")]
    InvalidDevice(String),
    /// The calling thread has no current context.
    #[error(
        "this thread has no current context: call aclrtSetDevice in this thread first (it binds the calling thread only)"
    )]
    NoContext,
    /// The context is not live: the thread's current one was destroyed elsewhere, or an argument is stale.
    #[error("{0}")]
    DeadContext(String),
    /// A stream that belongs to another context than the thread's current one. The number is in the text because phase
    /// two has one status for all that is wrong with a stream.
    #[error("{0} (107003)")]
    OtherContext(String),
    /// `aclInit` again without an `aclFinalize` between.
    #[error("aclInit was already called in this process: call it once, or aclFinalize before calling it again")]
    AlreadyInitialized,
    /// `aclFinalize` again without an `aclInit` between.
    #[error("aclFinalize was already called: there is no aclInit left to undo")]
    AlreadyFinalized,
    /// A file that can't be read.
    #[error("{0}")]
    UnreadableFile(String),
    /// A file whose settings for dumping tensors make no sense.
    #[error("{0}")]
    InvalidDumpSettings(String),
    /// A file whose contents make no sense.
    #[error("{0}")]
    UnparsableFile(String),
    /// No memory, or more was asked for than the machine has.
    #[error("{0}")]
    OutOfMemory(String),
    /// The device has all the streams that it can have.
    #[error("{0}")]
    OutOfStreams(String),
    /// The process has all the events that it can have.
    #[error("{0}")]
    OutOfEvents(String),
    /// The system has no thread, or a table has no place left.
    #[error("{0}")]
    OutOfResources(String),
    /// The vendor documents that this combination is not supported.
    #[error("{0}")]
    NotSupported(String),
    /// A device is reset that is not set.
    #[error("{0}")]
    NotSet(String),
    /// A task on a stream failed while running.
    #[error("{0}")]
    TaskFailed(String),
    /// A call that would wait for itself.
    #[error("{0}")]
    WouldDeadlock(String),
    /// A state in which the call has no answer (an event that was never recorded).
    #[error("{0}")]
    InvalidState(String),
    /// A stream did not finish in time.
    #[error("{0}")]
    StreamTimeout(String),
    /// A stream was aborted while it was waited for.
    #[error("{0}")]
    StreamAborted(String),
    /// An event did not complete in time.
    #[error("{0}")]
    EventTimeout(String),
    /// A time stamp was asked for that was not taken.
    #[error("{0}")]
    NoTimestamp(String),
    /// The end event came before the start event.
    #[error("{0}")]
    ReversedTimestamps(String),
    /// A recorded event that is not complete yet.
    #[error("{0}")]
    EventNotComplete(String),
    /// A stream that has (or has not) a thread for its callbacks already.
    #[error("{0}")]
    StreamSubscription(String),
    /// A thread that does not serve any stream's callbacks.
    #[error("{0}")]
    ThreadSubscription(String),
    /// A callback on a stream that no thread serves.
    #[error("{0}")]
    NoSubscriber(String),
    /// No callback came in time.
    #[error("{0}")]
    CallbackTimeout(String),
    /// A system parameter that was never set.
    #[error("{0}")]
    ParameterNotSet(String),
    /// A panic that was caught at the boundary: a defect of this library.
    #[error("internal error: {0}")]
    Panic(String),
}
