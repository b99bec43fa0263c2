//! Streams, host functions and callbacks.

use std::ffi::c_void;
use std::time::{Duration, Instant};

use super::guard;
use super::ptr::Out;
use super::types::{aclError, aclrtCallback, aclrtCallbackBlockType, aclrtHostFunc, aclrtStream, aclrtStreamStatus};
use crate::error::{Error, Result};
use crate::handle::Handle;
use crate::runtime::stream::{self, Config, HostFunc, Task, Work};
use crate::runtime::{callback, context, device};

/// Creates a stream under the thread's current context: work on it runs in order, and beside that of other streams.
///
/// @param [out] stream the stream; destroy it with aclrtDestroyStream
/// @retval 0 success
/// @retval 100000 stream is NULL
/// @retval 107002 the thread has no current context: call aclrtSetDevice in it
/// @retval 207008 the device has 1984 streams already
///
/// Any thread may use the stream whose current context is the same.
///
/// # Safety
///
/// `stream` must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtCreateStream(stream: *mut aclrtStream) -> aclError {
    guard::acl("aclrtCreateStream", format_args!("stream={stream:p}"), || {
        // SAFETY: the caller's promise.
        let stream = unsafe { Out::new(stream, "stream") }?;
        stream.set(stream::create(Config::default())?.to_void());
        Ok(())
    })
}

/// Creates a stream with a priority and flags, which aclrtStreamGetPriority and aclrtStreamGetFlags give back. They have no
/// other effect here.
///
/// @param [out] stream the stream; destroy it with aclrtDestroyStream
/// @param [in] priority 0 (highest) to 7; anything above counts as 7
/// @param [in] flag 0, or ACL_STREAM_* bits
/// @retval 0 success
/// @retval 100000 stream is NULL
/// @retval 107000 flag has bits that no ACL_STREAM_* has
/// @retval 107002 the thread has no current context: call aclrtSetDevice in it
/// @retval 207008 the device has 1984 streams already
///
/// # Safety
///
/// `stream` must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtCreateStreamWithConfig(stream: *mut aclrtStream, priority: u32, flag: u32) -> aclError {
    guard::acl(
        "aclrtCreateStreamWithConfig",
        format_args!("stream={stream:p}, priority={priority}, flag={flag}"),
        || {
            // SAFETY: the caller's promise.
            let stream = unsafe { Out::new(stream, "stream") }?;
            stream.set(stream::create(Config::new(priority, flag)?)?.to_void());
            Ok(())
        },
    )
}

/// Waits for what is queued on a stream, then destroys it.
///
/// @param [in] stream a stream of the thread's current context
/// @retval 0 success, also where work had failed
/// @retval 100000 stream is NULL
/// @retval 107002 the thread has no current context: call aclrtSetDevice in it
/// @retval 107003 the stream belongs to another context
/// @retval 107017 the stream is not live, or a context's default stream
/// @retval 507000 it would wait for itself: called from inside a callback of the stream, or in the thread that has to call one
#[unsafe(no_mangle)]
pub extern "C" fn aclrtDestroyStream(stream: aclrtStream) -> aclError {
    guard::acl("aclrtDestroyStream", format_args!("stream={stream:p}"), || {
        stream::destroy_handle(Handle::from_ptr(stream), false)
    })
}

/// Drops what has not begun on a stream, waits for what runs, then destroys it.
///
/// @param [in] stream a stream of the thread's current context
/// @retval 0 success, also where work had failed
/// @retval 100000 stream is NULL
/// @retval 107002 the thread has no current context: call aclrtSetDevice in it
/// @retval 107003 the stream belongs to another context
/// @retval 107017 the stream is not live, or a context's default stream
/// @retval 507000 called from inside a callback of the stream, which would wait for itself
#[unsafe(no_mangle)]
pub extern "C" fn aclrtDestroyStreamForce(stream: aclrtStream) -> aclError {
    guard::acl("aclrtDestroyStreamForce", format_args!("stream={stream:p}"), || {
        stream::destroy_handle(Handle::from_ptr(stream), true)
    })
}

/// Waits until everything that is queued on a stream now is done.
///
/// @param [in] stream of any context; NULL for the default stream of the thread's current context
/// @retval 0 success
/// @retval 107002 the thread has no current context: call aclrtSetDevice in it
/// @retval 107017 the stream is not live
/// @retval 107023 the stream was aborted meanwhile
/// @retval 507000 it would wait for itself: called from inside a callback of the stream, or in the thread that has to call one
/// @retval 507035 work failed while running; aclGetRecentErrMsg says why. Told once, then the stream is as new
#[unsafe(no_mangle)]
pub extern "C" fn aclrtSynchronizeStream(stream: aclrtStream) -> aclError {
    guard::acl("aclrtSynchronizeStream", format_args!("stream={stream:p}"), || {
        stream::synchronize(Handle::from_ptr(stream), None)
    })
}

/// Waits as aclrtSynchronizeStream does, but not longer than a time.
///
/// @param [in] stream of any context; NULL for the default stream of the thread's current context
/// @param [in] timeout milliseconds, at least 1; -1 to wait for ever
/// @retval 0 success
/// @retval 107000 timeout is 0 or below -1
/// @retval 107002 the thread has no current context: call aclrtSetDevice in it
/// @retval 107017 the stream is not live
/// @retval 107023 the stream was aborted meanwhile
/// @retval 507000 it would wait for itself: called from inside a callback of the stream, or in the thread that has to call one
/// @retval 507035 work failed while running
/// @retval 507046 the time is over and the work is not
#[unsafe(no_mangle)]
pub extern "C" fn aclrtSynchronizeStreamWithTimeout(stream: aclrtStream, timeout: i32) -> aclError {
    guard::acl("aclrtSynchronizeStreamWithTimeout", format_args!("stream={stream:p}, timeout={timeout}"), || {
        stream::synchronize(Handle::from_ptr(stream), deadline(timeout)?)
    })
}

/// Tells whether a stream has work that is not done.
///
/// @param [in] stream of any context; NULL for the default stream of the thread's current context
/// @param [out] status ACL_STREAM_STATUS_COMPLETE or ACL_STREAM_STATUS_NOT_READY
/// @retval 0 success
/// @retval 100000 status is NULL
/// @retval 107002 the thread has no current context: call aclrtSetDevice in it
/// @retval 107017 the stream is not live
///
/// # Safety
///
/// `status` must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtStreamQuery(stream: aclrtStream, status: *mut aclrtStreamStatus) -> aclError {
    const COMPLETE: aclrtStreamStatus = 0;
    const NOT_READY: aclrtStreamStatus = 1;
    guard::acl("aclrtStreamQuery", format_args!("stream={stream:p}, status={status:p}"), || {
        // SAFETY: the caller's promise.
        let status = unsafe { Out::new(status, "status") }?;
        let stream = stream::resolve_any(Handle::from_ptr(stream))?;
        status.set(if stream.is_idle() { COMPLETE } else { NOT_READY });
        Ok(())
    })
}

/// Says what becomes of later work when work fails.
///
/// @param [in] stream of the thread's current context; NULL for its default stream
/// @param [in] mode ACL_CONTINUE_ON_FAILURE: later work runs (as at first); ACL_STOP_ON_FAILURE: it is dropped until a
///             synchronise has told of the failure
/// @retval 0 success
/// @retval 107000 mode is another
/// @retval 107002 the thread has no current context: call aclrtSetDevice in it
/// @retval 107003 the stream belongs to another context
/// @retval 107017 the stream is not live
#[unsafe(no_mangle)]
pub extern "C" fn aclrtSetStreamFailureMode(stream: aclrtStream, mode: u64) -> aclError {
    guard::acl("aclrtSetStreamFailureMode", format_args!("stream={stream:p}, mode={mode}"), || {
        let stream = stream::resolve(Handle::from_ptr(stream))?;
        let stop = match mode {
            0 => false,
            1 => true,
            _ => {
                return Err(Error::InvalidValue(format!(
                    "mode is {mode}, expected ACL_CONTINUE_ON_FAILURE (0) or ACL_STOP_ON_FAILURE (1)"
                )));
            }
        };
        stream.set_stop_on_failure(stop);
        Ok(())
    })
}

/// Drops what has not begun on a stream, and waits for what runs. Who waits for the stream gets 107023.
///
/// @param [in] stream of the thread's current context; NULL for its default stream
/// @retval 0 success
/// @retval 107002 the thread has no current context: call aclrtSetDevice in it
/// @retval 107003 the stream belongs to another context
/// @retval 107017 the stream is not live
/// @retval 507000 called from inside a callback of the stream, which would wait for itself
#[unsafe(no_mangle)]
pub extern "C" fn aclrtStreamAbort(stream: aclrtStream) -> aclError {
    guard::acl("aclrtStreamAbort", format_args!("stream={stream:p}"), || stream::abort(Handle::from_ptr(stream)))
}

/// Tells a stream's number, which no other stream of the process has.
///
/// @param [in] stream of any context, or of none; NULL for the default stream of the thread's current context
/// @param [out] streamId the number
/// @retval 0 success
/// @retval 100000 streamId is NULL
/// @retval 107002 stream is NULL and the thread has no current context
/// @retval 107017 the stream is not live
///
/// # Safety
///
/// `streamId` must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtStreamGetId(stream: aclrtStream, streamId: *mut i32) -> aclError {
    guard::acl("aclrtStreamGetId", format_args!("stream={stream:p}, streamId={streamId:p}"), || {
        // SAFETY: the caller's promise.
        let streamId = unsafe { Out::new(streamId, "streamId") }?;
        streamId.set(stream::resolve_without_context(Handle::from_ptr(stream))?.id());
        Ok(())
    })
}

/// Tells the priority that a stream was created with.
///
/// @param [in] stream of any context; NULL for the default stream of the thread's current context
/// @param [out] priority 0 (highest) to 7
/// @retval 0 success
/// @retval 100000 priority is NULL
/// @retval 107002 the thread has no current context: call aclrtSetDevice in it
/// @retval 107017 the stream is not live
///
/// # Safety
///
/// `priority` must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtStreamGetPriority(stream: aclrtStream, priority: *mut u32) -> aclError {
    guard::acl("aclrtStreamGetPriority", format_args!("stream={stream:p}, priority={priority:p}"), || {
        // SAFETY: the caller's promise.
        let priority = unsafe { Out::new(priority, "priority") }?;
        priority.set(stream::resolve_any(Handle::from_ptr(stream))?.priority());
        Ok(())
    })
}

/// Tells the flags that a stream was created with.
///
/// @param [in] stream of any context; NULL for the default stream of the thread's current context
/// @param [out] flags ACL_STREAM_* bits
/// @retval 0 success
/// @retval 100000 flags is NULL
/// @retval 107002 the thread has no current context: call aclrtSetDevice in it
/// @retval 107017 the stream is not live
///
/// # Safety
///
/// `flags` must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtStreamGetFlags(stream: aclrtStream, flags: *mut u32) -> aclError {
    guard::acl("aclrtStreamGetFlags", format_args!("stream={stream:p}, flags={flags:p}"), || {
        // SAFETY: the caller's promise.
        let flags = unsafe { Out::new(flags, "flags") }?;
        flags.set(stream::resolve_any(Handle::from_ptr(stream))?.flags());
        Ok(())
    })
}

/// Tells how many streams can still be created on the current context's device.
///
/// @param [out] streamCount how many
/// @retval 0 success
/// @retval 100000 streamCount is NULL
/// @retval 107002 the thread has no current context: call aclrtSetDevice in it
///
/// # Safety
///
/// `streamCount` must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetStreamAvailableNum(streamCount: *mut u32) -> aclError {
    guard::acl("aclrtGetStreamAvailableNum", format_args!("streamCount={streamCount:p}"), || {
        // SAFETY: the caller's promise.
        let streamCount = unsafe { Out::new(streamCount, "streamCount") }?;
        streamCount.set(device::available_streams(context::current()?.device())?);
        Ok(())
    })
}

/// Queues a call of a function on the stream's own thread.
///
/// @param [in] stream NULL for the default stream of the thread's current context
/// @param [in] fn the function; it may launch work, but not wait for its stream
/// @param [in] args its argument, may be NULL
/// @retval 0 success
/// @retval 100000 fn is NULL
/// @retval 107002 the thread has no current context: call aclrtSetDevice in it
/// @retval 107003 the stream belongs to another context
/// @retval 107017 the stream is not live
///
/// The function's thread has no current context of its own.
///
/// # Safety
///
/// `fn` may be called once with `args` from another thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtLaunchHostFunc(stream: aclrtStream, r#fn: aclrtHostFunc, args: *mut c_void) -> aclError {
    guard::acl("aclrtLaunchHostFunc", format_args!("stream={stream:p}, fn={:?}, args={args:p}", r#fn), || {
        let function = r#fn.ok_or(Error::NullArgument { argument: "fn", expected: "a function" })?;
        let stream = stream::resolve(Handle::from_ptr(stream))?;
        // SAFETY: the caller's promise.
        let function = unsafe { HostFunc::new(function, args) };
        stream.submit(Task::without_memory(Work::HostFunc(function)), || Ok(()))
    })
}

/// Makes a thread serve a stream's callbacks: it has to call aclrtProcessReport again and again.
///
/// @param [in] threadId pthread_self() of the thread, which may serve several streams
/// @param [in] stream of the thread's current context; NULL for its default stream
/// @retval 0 success
/// @retval 107002 the thread has no current context: call aclrtSetDevice in it
/// @retval 107003 the stream belongs to another context
/// @retval 107011 a thread serves the stream already
/// @retval 107017 the stream is not live
#[unsafe(no_mangle)]
pub extern "C" fn aclrtSubscribeReport(threadId: u64, stream: aclrtStream) -> aclError {
    guard::acl("aclrtSubscribeReport", format_args!("threadId={threadId}, stream={stream:p}"), || {
        callback::subscribe(threadId, Handle::from_ptr(stream))
    })
}

/// Ends what aclrtSubscribeReport began. Callbacks that were not called by then are dropped.
///
/// @param [in] threadId as given to aclrtSubscribeReport
/// @param [in] stream as given to aclrtSubscribeReport
/// @retval 0 success
/// @retval 107002 the thread has no current context: call aclrtSetDevice in it
/// @retval 107003 the stream belongs to another context
/// @retval 107011 no thread serves the stream
/// @retval 107012 another thread serves the stream
/// @retval 107017 the stream is not live
#[unsafe(no_mangle)]
pub extern "C" fn aclrtUnSubscribeReport(threadId: u64, stream: aclrtStream) -> aclError {
    guard::acl("aclrtUnSubscribeReport", format_args!("threadId={threadId}, stream={stream:p}"), || {
        callback::unsubscribe(threadId, Handle::from_ptr(stream))
    })
}

/// Queues a call of a function on the thread that serves the stream's callbacks.
///
/// @param [in] fn the function; it may launch work, but not wait for its stream
/// @param [in] userData its argument, may be NULL
/// @param [in] blockType ACL_CALLBACK_BLOCK: later work waits until the function has returned; ACL_CALLBACK_NO_BLOCK: it
///             does not
/// @param [in] stream NULL for the default stream of the thread's current context
/// @retval 0 success
/// @retval 100000 fn is NULL, or blockType is another
/// @retval 107002 the thread has no current context: call aclrtSetDevice in it
/// @retval 107003 the stream belongs to another context
/// @retval 107015 no thread serves the stream: call aclrtSubscribeReport first
/// @retval 107017 the stream is not live
///
/// With ACL_CALLBACK_BLOCK the stream goes no further until the thread that serves it has called aclrtProcessReport: if it never
/// does, whoever waits for the stream or destroys it waits for ever. aclrtUnSubscribeReport, aclrtStreamAbort and
/// aclrtDestroyStreamForce drop such a callback.
///
/// # Safety
///
/// `fn` may be called once with `userData` from the thread that serves the stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtLaunchCallback(
    r#fn: aclrtCallback,
    userData: *mut c_void,
    blockType: aclrtCallbackBlockType,
    stream: aclrtStream,
) -> aclError {
    guard::acl(
        "aclrtLaunchCallback",
        format_args!("fn={:?}, userData={userData:p}, blockType={blockType}, stream={stream:p}", r#fn),
        || {
            let function = r#fn.ok_or(Error::NullArgument { argument: "fn", expected: "a function" })?;
            let blocks = match blockType {
                0 => false,
                1 => true,
                _ => {
                    return Err(Error::InvalidArgument(format!(
                        "blockType is {blockType}, expected ACL_CALLBACK_NO_BLOCK (0) or ACL_CALLBACK_BLOCK (1)"
                    )));
                }
            };
            // SAFETY: the caller's promise.
            let function = unsafe { HostFunc::new(function, userData) };
            callback::launch(function, blocks, Handle::from_ptr(stream))
        },
    )
}

/// Waits for a callback for the calling thread, and calls it.
///
/// @param [in] timeout milliseconds, at least 1; -1 to wait for ever
/// @retval 0 a callback was called
/// @retval 107000 timeout is 0 or below -1
/// @retval 107012 the thread serves no stream (any more)
/// @retval 107019 no callback came in time
#[unsafe(no_mangle)]
pub extern "C" fn aclrtProcessReport(timeout: i32) -> aclError {
    guard::acl("aclrtProcessReport", format_args!("timeout={timeout}"), || callback::process(deadline(timeout)?))
}

/// When a time in milliseconds from C is over; `None` for -1, never.
pub(super) fn deadline(timeout: i32) -> Result<Option<Instant>> {
    Ok(duration(timeout)?.and_then(|time| Instant::now().checked_add(time)))
}

/// A time in milliseconds from C; `None` for -1, for ever.
pub(super) fn duration(timeout: i32) -> Result<Option<Duration>> {
    match u64::try_from(timeout) {
        Ok(millis) if millis > 0 => Ok(Some(Duration::from_millis(millis))),
        _ if timeout == -1 => Ok(None),
        _ => Err(Error::InvalidValue(format!(
            "timeout is {timeout}, expected milliseconds from 1 on, or -1 to wait for ever"
        ))),
    }
}
