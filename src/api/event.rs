//! Events.

use super::guard;
use super::ptr::Out;
use super::stream::{deadline, duration};
use super::types::{
    aclError, aclrtEvent, aclrtEventRecordedStatus, aclrtEventStatus, aclrtEventWaitStatus, aclrtStream,
};
use crate::error::Result;
use crate::handle::Handle;
use crate::runtime::event::{self, Flavor};

/// Creates an event: a point in a stream's work that others can wait for, with its time.
///
/// @param [out] event the event; destroy it with aclrtDestroyEvent
/// @retval 0 success
/// @retval 100000 event is NULL
/// @retval 107002 the thread has no current context: call aclrtSetDevice in it
/// @retval 207007 the process has too many events
///
/// # Safety
///
/// `event` must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtCreateEvent(event: *mut aclrtEvent) -> aclError {
    // SAFETY: the caller's promise.
    guard::acl("aclrtCreateEvent", format_args!("event={event:p}"), || unsafe { create(event, Flavor::Plain) })
}

/// Creates an event for what its flags say.
///
/// @param [out] event the event; destroy it with aclrtDestroyEvent
/// @param [in] flag ACL_EVENT_* bits, at least one: with ACL_EVENT_SYNC streams can wait for it and aclrtResetEvent takes
///             it; with ACL_EVENT_TIME_LINE it takes its time
/// @retval 0 success
/// @retval 100000 event is NULL
/// @retval 107000 flag is 0 or has other bits
/// @retval 107002 the thread has no current context: call aclrtSetDevice in it
/// @retval 207007 the process has too many events
///
/// # Safety
///
/// `event` must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtCreateEventWithFlag(event: *mut aclrtEvent, flag: u32) -> aclError {
    // SAFETY: the caller's promise.
    guard::acl("aclrtCreateEventWithFlag", format_args!("event={event:p}, flag={flag}"), || unsafe {
        create(event, Flavor::Flagged(flag))
    })
}

/// Creates an event that may be recorded again and again without a reset. aclrtResetEvent, aclrtQueryEvent and
/// aclrtQueryEventWaitStatus don't take it.
///
/// @param [out] event the event; destroy it with aclrtDestroyEvent
/// @param [in] flag ACL_EVENT_* bits, at least one: with ACL_EVENT_TIME_LINE it takes its time
/// @retval 0 success
/// @retval 100000 event is NULL
/// @retval 107000 flag is 0 or has other bits
/// @retval 107002 the thread has no current context: call aclrtSetDevice in it
/// @retval 207007 the process has too many events
///
/// # Safety
///
/// `event` must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtCreateEventExWithFlag(event: *mut aclrtEvent, flag: u32) -> aclError {
    // SAFETY: the caller's promise.
    guard::acl("aclrtCreateEventExWithFlag", format_args!("event={event:p}, flag={flag}"), || unsafe {
        create(event, Flavor::Ex(flag))
    })
}

/// # Safety
///
/// A non-NULL `event` must be writable.
unsafe fn create(event: *mut aclrtEvent, flavor: Flavor) -> Result<()> {
    // SAFETY: the caller's promise.
    let event = unsafe { Out::new(event, "event") }?;
    event.set(event::create(flavor)?.to_void());
    Ok(())
}

/// Destroys an event. One that is not reached yet is fine: who waits for it goes on waiting, and is let through.
///
/// @param [in] event the event
/// @retval 0 success
/// @retval 100000 event is NULL
/// @retval 107017 the event is not live
///
/// Any thread may call this, with or without a context.
#[unsafe(no_mangle)]
pub extern "C" fn aclrtDestroyEvent(event: aclrtEvent) -> aclError {
    guard::acl("aclrtDestroyEvent", format_args!("event={event:p}"), || event::destroy(Handle::from_ptr(event)))
}

/// Makes an event stand for everything that is queued on a stream so far. The latest recording counts.
///
/// @param [in] event of any context
/// @param [in] stream NULL for the default stream of the thread's current context
/// @retval 0 success
/// @retval 100000 event is NULL
/// @retval 107002 the thread has no current context: call aclrtSetDevice in it
/// @retval 107003 the stream belongs to another context
/// @retval 107017 the event or the stream is not live
#[unsafe(no_mangle)]
pub extern "C" fn aclrtRecordEvent(event: aclrtEvent, stream: aclrtStream) -> aclError {
    guard::acl("aclrtRecordEvent", format_args!("event={event:p}, stream={stream:p}"), || {
        find(event)?.record(Handle::from_ptr(stream))
    })
}

/// Makes an event as if never recorded, once the stream gets there. A recording that is made after this call stays.
///
/// @param [in] event from aclrtCreateEventWithFlag with ACL_EVENT_SYNC
/// @param [in] stream NULL for the default stream of the thread's current context
/// @retval 0 success
/// @retval 100000 event is NULL
/// @retval 107000 the event is of another kind
/// @retval 107002 the thread has no current context: call aclrtSetDevice in it
/// @retval 107003 the stream belongs to another context
/// @retval 107017 the event or the stream is not live
#[unsafe(no_mangle)]
pub extern "C" fn aclrtResetEvent(event: aclrtEvent, stream: aclrtStream) -> aclError {
    guard::acl("aclrtResetEvent", format_args!("event={event:p}, stream={stream:p}"), || {
        find(event)?.reset(Handle::from_ptr(stream))
    })
}

/// Tells whether an event was recorded and is reached.
///
/// @param [in] event not from aclrtCreateEventExWithFlag
/// @param [out] status ACL_EVENT_STATUS_COMPLETE or ACL_EVENT_STATUS_NOT_READY
/// @retval 0 success
/// @retval 100000 event or status is NULL
/// @retval 107000 the event is from aclrtCreateEventExWithFlag
/// @retval 107017 the event is not live
///
/// Any thread may call this, with or without a context.
///
/// # Safety
///
/// `status` must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtQueryEvent(event: aclrtEvent, status: *mut aclrtEventStatus) -> aclError {
    const COMPLETE: aclrtEventStatus = 0;
    const NOT_READY: aclrtEventStatus = 1;
    guard::acl("aclrtQueryEvent", format_args!("event={event:p}, status={status:p}"), || {
        // SAFETY: the caller's promise.
        let status = unsafe { Out::new(status, "status") }?;
        status.set(if find(event)?.query()? { COMPLETE } else { NOT_READY });
        Ok(())
    })
}

/// Tells whether an event is reached. One that was never recorded is, if it is from aclrtCreateEventExWithFlag; others
/// are not.
///
/// @param [in] event the event
/// @param [out] status ACL_EVENT_RECORDED_STATUS_COMPLETE or ACL_EVENT_RECORDED_STATUS_NOT_READY
/// @retval 0 success
/// @retval 100000 event or status is NULL
/// @retval 107017 the event is not live
///
/// Any thread may call this, with or without a context.
///
/// # Safety
///
/// `status` must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtQueryEventStatus(event: aclrtEvent, status: *mut aclrtEventRecordedStatus) -> aclError {
    const NOT_READY: aclrtEventRecordedStatus = 0;
    const COMPLETE: aclrtEventRecordedStatus = 1;
    guard::acl("aclrtQueryEventStatus", format_args!("event={event:p}, status={status:p}"), || {
        // SAFETY: the caller's promise.
        let status = unsafe { Out::new(status, "status") }?;
        status.set(if find(event)?.query_recorded() { COMPLETE } else { NOT_READY });
        Ok(())
    })
}

/// Tells whether all streams that were to wait for an event have done so.
///
/// @param [in] event not from aclrtCreateEventExWithFlag
/// @param [out] status ACL_EVENT_WAIT_STATUS_COMPLETE or ACL_EVENT_WAIT_STATUS_NOT_READY
/// @retval 0 success
/// @retval 100000 event or status is NULL
/// @retval 107000 the event is from aclrtCreateEventExWithFlag
/// @retval 107017 the event is not live
///
/// Any thread may call this, with or without a context.
///
/// # Safety
///
/// `status` must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtQueryEventWaitStatus(event: aclrtEvent, status: *mut aclrtEventWaitStatus) -> aclError {
    const COMPLETE: aclrtEventWaitStatus = 0;
    const NOT_READY: aclrtEventWaitStatus = 1;
    guard::acl("aclrtQueryEventWaitStatus", format_args!("event={event:p}, status={status:p}"), || {
        // SAFETY: the caller's promise.
        let status = unsafe { Out::new(status, "status") }?;
        status.set(if find(event)?.query_waits()? { COMPLETE } else { NOT_READY });
        Ok(())
    })
}

/// Waits until an event is reached. One that was never recorded is not waited for.
///
/// @param [in] event the event
/// @retval 0 success
/// @retval 100000 event is NULL
/// @retval 107017 the event is not live
/// @retval 107023 the stream that it is recorded on was aborted before it got there
/// @retval 507000 called from inside a callback of the stream that it is recorded on, which would wait for itself
///
/// Any thread may call this, with or without a context.
#[unsafe(no_mangle)]
pub extern "C" fn aclrtSynchronizeEvent(event: aclrtEvent) -> aclError {
    guard::acl("aclrtSynchronizeEvent", format_args!("event={event:p}"), || find(event)?.synchronize(None))
}

/// Waits as aclrtSynchronizeEvent does, but not longer than a time.
///
/// @param [in] event the event
/// @param [in] timeout milliseconds, at least 1; -1 to wait for ever
/// @retval 0 success
/// @retval 100000 event is NULL
/// @retval 107000 timeout is 0 or below -1
/// @retval 107017 the event is not live
/// @retval 107023 the stream that it is recorded on was aborted before it got there
/// @retval 507000 called from inside a callback of the stream that it is recorded on, which would wait for itself
/// @retval 507047 the time is over and the event is not reached
///
/// Any thread may call this, with or without a context.
#[unsafe(no_mangle)]
pub extern "C" fn aclrtSynchronizeEventWithTimeout(event: aclrtEvent, timeout: i32) -> aclError {
    guard::acl("aclrtSynchronizeEventWithTimeout", format_args!("event={event:p}, timeout={timeout}"), || {
        find(event)?.synchronize(deadline(timeout)?)
    })
}

/// Makes later work of a stream wait for an event: for the recording that is the latest now.
///
/// @param [in] stream NULL for the default stream of the thread's current context
/// @param [in] event of any context
/// @retval 0 success; nothing is waited for where an event from aclrtCreateEventExWithFlag was never recorded
/// @retval 100000 event is NULL
/// @retval 107000 the event was never recorded, or created with flags but without ACL_EVENT_SYNC
/// @retval 107002 the thread has no current context: call aclrtSetDevice in it
/// @retval 107003 the stream belongs to another context
/// @retval 107017 the event or the stream is not live
#[unsafe(no_mangle)]
pub extern "C" fn aclrtStreamWaitEvent(stream: aclrtStream, event: aclrtEvent) -> aclError {
    guard::acl("aclrtStreamWaitEvent", format_args!("stream={stream:p}, event={event:p}"), || {
        find(event)?.wait_on(Handle::from_ptr(stream), None)
    })
}

/// Makes later work of a stream wait as aclrtStreamWaitEvent does, but not longer than a time. When it is over the stream
/// goes on, and its next synchronise returns 507047.
///
/// @param [in] stream NULL for the default stream of the thread's current context
/// @param [in] event of any context
/// @param [in] timeout milliseconds, at least 1; -1 to wait for ever
/// @retval 0 success
/// @retval 100000 event is NULL
/// @retval 107000 timeout is 0 or below -1; the event was never recorded, or created with flags but without
///         ACL_EVENT_SYNC
/// @retval 107002 the thread has no current context: call aclrtSetDevice in it
/// @retval 107003 the stream belongs to another context
/// @retval 107017 the event or the stream is not live
#[unsafe(no_mangle)]
pub extern "C" fn aclrtStreamWaitEventWithTimeout(stream: aclrtStream, event: aclrtEvent, timeout: i32) -> aclError {
    guard::acl(
        "aclrtStreamWaitEventWithTimeout",
        format_args!("stream={stream:p}, event={event:p}, timeout={timeout}"),
        || {
            let event = find(event)?;
            event.wait_on(Handle::from_ptr(stream), duration(timeout)?)
        },
    )
}

/// Tells the time between two events.
///
/// @param [out] ms milliseconds
/// @param [in] startEvent the earlier one, recorded and reached
/// @param [in] endEvent the later one, recorded and reached
/// @retval 0 success
/// @retval 100000 ms, startEvent or endEvent is NULL
/// @retval 107006 an event takes no time: it was created with flags but without ACL_EVENT_TIME_LINE
/// @retval 107007 endEvent was reached before startEvent
/// @retval 107017 an event is not live
/// @retval 507000 an event was never recorded
/// @retval 507006 an event is recorded but not reached
///
/// Any thread may call this, with or without a context.
///
/// # Safety
///
/// `ms` must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtEventElapsedTime(ms: *mut f32, startEvent: aclrtEvent, endEvent: aclrtEvent) -> aclError {
    guard::acl(
        "aclrtEventElapsedTime",
        format_args!("ms={ms:p}, startEvent={startEvent:p}, endEvent={endEvent:p}"),
        || {
            // SAFETY: the caller's promise.
            let ms = unsafe { Out::new(ms, "ms") }?;
            let start = event::find(Handle::from_ptr(startEvent), "startEvent")?;
            let end = event::find(Handle::from_ptr(endEvent), "endEvent")?;
            ms.set(event::elapsed(&start, &end)?);
            Ok(())
        },
    )
}

/// Tells when an event was reached.
///
/// @param [in] event recorded and reached
/// @param [out] timestamp microseconds since 1970, by a clock that never steps back
/// @retval 0 success
/// @retval 100000 event or timestamp is NULL
/// @retval 107006 the event takes no time: it was created with flags but without ACL_EVENT_TIME_LINE
/// @retval 107017 the event is not live
/// @retval 507000 the event was never recorded
/// @retval 507006 the event is recorded but not reached
///
/// Any thread may call this, with or without a context.
///
/// # Safety
///
/// `timestamp` must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtEventGetTimestamp(event: aclrtEvent, timestamp: *mut u64) -> aclError {
    guard::acl("aclrtEventGetTimestamp", format_args!("event={event:p}, timestamp={timestamp:p}"), || {
        // SAFETY: the caller's promise.
        let timestamp = unsafe { Out::new(timestamp, "timestamp") }?;
        timestamp.set(find(event)?.timestamp()?);
        Ok(())
    })
}

/// Tells an event's number, which no other event of the process has.
///
/// @param [in] event the event
/// @param [out] eventId the number
/// @retval 0 success
/// @retval 100000 event or eventId is NULL
/// @retval 107017 the event is not live
///
/// Any thread may call this, with or without a context.
///
/// # Safety
///
/// `eventId` must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetEventId(event: aclrtEvent, eventId: *mut u32) -> aclError {
    guard::acl("aclrtGetEventId", format_args!("event={event:p}, eventId={eventId:p}"), || {
        // SAFETY: the caller's promise.
        let eventId = unsafe { Out::new(eventId, "eventId") }?;
        eventId.set(find(event)?.id());
        Ok(())
    })
}

fn find(event: aclrtEvent) -> Result<std::sync::Arc<event::Event>> {
    event::find(Handle::from_ptr(event), "event")
}
