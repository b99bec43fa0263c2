//! Events and callbacks through the exported functions: order across streams, times, and every wrong use.

mod runtime;

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use aclnn_modulate::api::event::*;
use aclnn_modulate::api::memory::{aclrtMemcpy, aclrtMemcpyAsync, aclrtMemset};
use aclnn_modulate::api::runtime::{aclrtGetCurrentContext, aclrtSetCurrentContext};
use aclnn_modulate::api::stream::*;
use runtime::*;

const SYNC: u32 = 1;
const TIME_LINE: u32 = 8;

fn query(event: *mut c_void) -> i32 {
    let mut status = -1;
    // SAFETY: `status` is writable.
    expect(unsafe { aclrtQueryEvent(event, &mut status) }, 0, "");
    status
}

fn query_recorded(event: *mut c_void) -> i32 {
    let mut status = -1;
    // SAFETY: `status` is writable.
    expect(unsafe { aclrtQueryEventStatus(event, &mut status) }, 0, "");
    status
}

fn query_waits(event: *mut c_void) -> i32 {
    let mut status = -1;
    // SAFETY: `status` is writable.
    expect(unsafe { aclrtQueryEventWaitStatus(event, &mut status) }, 0, "");
    status
}

fn elapsed(start: *mut c_void, end: *mut c_void) -> (i32, f32) {
    let mut ms = -1.0;
    // SAFETY: `ms` is writable.
    (unsafe { aclrtEventElapsedTime(&mut ms, start, end) }, ms)
}

fn current_context() -> Sent {
    let mut context = null_mut();
    // SAFETY: `context` is writable.
    expect(unsafe { aclrtGetCurrentContext(&mut context) }, 0, "");
    Sent(context)
}

#[test]
fn a_stream_waits_for_what_was_recorded_on_another() {
    set_device();
    let (producer, consumer) = (create_stream(), create_stream());
    for event in [create_event(), create_flagged(SYNC), create_ex(SYNC), create_ex(TIME_LINE)] {
        let gate = hold(producer);
        let produced = Arc::new(AtomicBool::new(false));
        let (write, read) = (produced.clone(), produced.clone());
        launch(producer, move || write.store(true, Ordering::Relaxed));
        expect(aclrtRecordEvent(event, producer), 0, "");
        expect(aclrtStreamWaitEvent(consumer, event), 0, "");
        let (sender, receiver) = mpsc::channel();
        launch(consumer, move || sender.send(read.load(Ordering::Relaxed)).unwrap());
        assert_eq!(query_recorded(event), 0);
        assert!(receiver.try_recv().is_err());
        gate.open();
        expect(aclrtSynchronizeStream(consumer), 0, "");
        assert_eq!(receiver.recv(), Ok(true));
        assert_eq!(query_recorded(event), 1);
        expect(aclrtDestroyEvent(event), 0, "");
        expect(aclrtSynchronizeStream(producer), 0, "");
    }
}

#[test]
fn a_wait_binds_the_recording_that_is_the_latest_when_it_is_called() {
    set_device();
    let (one, two, waiting) = (create_stream(), create_stream(), create_stream());
    let event = create_event();
    let first = hold(one);
    expect(aclrtRecordEvent(event, one), 0, "");
    expect(aclrtStreamWaitEvent(waiting, event), 0, "");
    let second = hold(two);
    expect(aclrtRecordEvent(event, two), 0, "");
    // The first is all that the stream waits for, though the event now stands for the second.
    first.open();
    expect(aclrtSynchronizeStream(waiting), 0, "");
    assert_eq!(query(event), 1);
    second.open();
    expect(aclrtSynchronizeEvent(event), 0, "");
    assert_eq!(query(event), 0);
}

#[test]
fn waits_are_counted() {
    set_device();
    let (producer, consumer) = (create_stream(), create_stream());
    let event = create_event();
    assert_eq!(query_waits(event), 0);
    let gate = hold(producer);
    expect(aclrtRecordEvent(event, producer), 0, "");
    expect(aclrtStreamWaitEvent(consumer, event), 0, "");
    assert_eq!(query_waits(event), 1);
    gate.open();
    expect(aclrtSynchronizeStream(consumer), 0, "");
    assert_eq!(query_waits(event), 0);
}

#[test]
fn events_that_were_never_recorded() {
    set_device();
    let stream = create_stream();
    for (event, is_ex) in [(create_event(), false), (create_flagged(SYNC | TIME_LINE), false), (create_ex(SYNC), true)]
    {
        expect(aclrtSynchronizeEvent(event), 0, "");
        expect(aclrtSynchronizeEventWithTimeout(event, 1), 0, "");
        assert_eq!(query_recorded(event), i32::from(is_ex));
        if is_ex {
            expect(aclrtStreamWaitEvent(stream, event), 0, "");
        } else {
            expect(aclrtStreamWaitEvent(stream, event), 107000, "never recorded");
            assert_eq!(query(event), 1);
        }
        let (status, _) = elapsed(event, event);
        expect(status, 507000, "startEvent was never recorded");
        let mut time = 0;
        // SAFETY: `time` is writable.
        expect(unsafe { aclrtEventGetTimestamp(event, &mut time) }, 507000, "never recorded");
    }
    // No stream is left waiting.
    expect(aclrtSynchronizeStream(stream), 0, "");
}

#[test]
fn times_are_those_of_the_clock() {
    set_device();
    let stream = create_stream();
    let (start, end) = (create_event(), create_event());
    expect(aclrtRecordEvent(start, stream), 0, "");
    let began = std::time::Instant::now();
    let (sender, receiver) = mpsc::channel();
    launch(stream, move || {
        let inside = std::time::Instant::now();
        while inside.elapsed().as_millis() < 20 {}
        sender.send(inside.elapsed()).unwrap();
    });
    expect(aclrtRecordEvent(end, stream), 0, "");
    let (status, _) = elapsed(start, end);
    assert!(status == 507006, "{status}: {}", message());
    message();
    expect(aclrtSynchronizeStream(stream), 0, "");
    let (least, most) = (receiver.recv().unwrap(), began.elapsed() + std::time::Duration::from_millis(1));
    let (status, ms) = elapsed(start, end);
    expect(status, 0, "");
    assert!(f64::from(ms) >= least.as_secs_f64() * 1e3 * 0.99, "{ms} {least:?}");
    assert!(f64::from(ms) <= most.as_secs_f64() * 1e3 + 5.0, "{ms} {most:?}");
    let (status, _) = elapsed(end, start);
    expect(status, 107007, "before startEvent");
    let (mut from, mut to) = (0, 0);
    // SAFETY: both are writable.
    unsafe {
        expect(aclrtEventGetTimestamp(start, &mut from), 0, "");
        expect(aclrtEventGetTimestamp(end, &mut to), 0, "");
    }
    assert!(((to - from) as f64 / 1e3 - f64::from(ms)).abs() < 0.01, "{from} {to} {ms}");
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_micros() as u64;
    assert!(now.abs_diff(to) < 60_000_000);

    let timeless = create_flagged(SYNC);
    expect(aclrtRecordEvent(timeless, stream), 0, "");
    expect(aclrtSynchronizeEvent(timeless), 0, "");
    let (status, _) = elapsed(start, timeless);
    expect(status, 107006, "endEvent takes no time stamps");
    // SAFETY: NULL is detected.
    expect(unsafe { aclrtEventElapsedTime(null_mut(), start, end) }, 100000, "ms is NULL");
}

#[test]
fn resets_happen_in_stream_order() {
    set_device();
    let stream = create_stream();
    let event = create_flagged(SYNC);
    expect(aclrtRecordEvent(event, stream), 0, "");
    expect(aclrtSynchronizeEvent(event), 0, "");
    assert_eq!(query(event), 0);
    let gate = hold(stream);
    expect(aclrtResetEvent(event, stream), 0, "");
    assert_eq!(query(event), 0);
    gate.open();
    expect(aclrtSynchronizeStream(stream), 0, "");
    assert_eq!(query(event), 1);
    // A later recording is not undone by an earlier reset.
    expect(aclrtRecordEvent(event, stream), 0, "");
    let gate = hold(stream);
    expect(aclrtResetEvent(event, stream), 0, "");
    expect(aclrtRecordEvent(event, stream), 0, "");
    gate.open();
    expect(aclrtSynchronizeStream(stream), 0, "");
    assert_eq!(query(event), 0);

    for event in [create_event(), create_flagged(TIME_LINE), create_ex(SYNC)] {
        expect(aclrtResetEvent(event, stream), 107000, "can't be reset");
    }
}

#[test]
fn each_kind_takes_only_what_it_may() {
    set_device();
    let stream = create_stream();
    let ex = create_ex(SYNC | TIME_LINE);
    expect(aclrtRecordEvent(ex, stream), 0, "");
    let mut status = -1;
    // SAFETY: `status` is writable.
    expect(unsafe { aclrtQueryEvent(ex, &mut status) }, 107000, "aclrtCreateEventExWithFlag");
    // SAFETY: as above.
    expect(unsafe { aclrtQueryEventWaitStatus(ex, &mut status) }, 107000, "aclrtCreateEventExWithFlag");
    let silent = create_flagged(TIME_LINE);
    expect(aclrtRecordEvent(silent, stream), 0, "");
    expect(aclrtStreamWaitEvent(stream, silent), 107000, "ACL_EVENT_SYNC");
    let mut event = null_mut();
    for flag in [0, 4, 128, u32::MAX] {
        // SAFETY: `event` is writable.
        expect(unsafe { aclrtCreateEventWithFlag(&mut event, flag) }, 107000, "flag is");
        // SAFETY: as above.
        expect(unsafe { aclrtCreateEventExWithFlag(&mut event, flag) }, 107000, "flag is");
    }
    // SAFETY: NULL is detected.
    expect(unsafe { aclrtCreateEvent(null_mut()) }, 100000, "event is NULL");
    assert!(event.is_null());
}

#[test]
fn stale_and_foreign_events_are_detected() {
    set_device();
    let stream = create_stream();
    let dead = create_event();
    expect(aclrtDestroyEvent(dead), 0, "");
    let (mut number, mut status, mut time) = (0, 0, 0);
    let cases = [
        (null_mut(), 100000, "event is NULL"),
        (dead, 107017, "destroyed"),
        (garbage(), 107017, "never returned"),
        (stream, 107017, "an aclrtStream"),
    ];
    for (handle, code, about) in cases {
        expect(aclrtDestroyEvent(handle), code, about);
        expect(aclrtRecordEvent(handle, stream), code, about);
        expect(aclrtResetEvent(handle, stream), code, about);
        expect(aclrtSynchronizeEvent(handle), code, about);
        expect(aclrtSynchronizeEventWithTimeout(handle, 1), code, about);
        expect(aclrtStreamWaitEvent(stream, handle), code, about);
        expect(aclrtStreamWaitEventWithTimeout(stream, handle, 1), code, about);
        // SAFETY: the results are writable.
        unsafe {
            expect(aclrtQueryEvent(handle, &mut status), code, about);
            expect(aclrtQueryEventStatus(handle, &mut status), code, about);
            expect(aclrtQueryEventWaitStatus(handle, &mut status), code, about);
            expect(aclrtEventGetTimestamp(handle, &mut time), code, about);
            expect(aclrtGetEventId(handle, &mut number), code, about);
        }
    }
    let event = create_event();
    expect(aclrtRecordEvent(event, garbage()), 107017, "stream is");
    expect(aclrtStreamWaitEvent(garbage(), event), 107017, "stream is");
    for timeout in [0, -2] {
        expect(aclrtSynchronizeEventWithTimeout(event, timeout), 107000, "timeout is");
        expect(aclrtStreamWaitEventWithTimeout(stream, event, timeout), 107000, "timeout is");
    }
    let mut other = 0;
    let second = create_event();
    // SAFETY: the results are writable.
    unsafe {
        expect(aclrtGetEventId(event, &mut number), 0, "");
        expect(aclrtGetEventId(second, &mut other), 0, "");
    }
    assert_ne!(number, other);
}

#[test]
fn waiting_and_asking_need_no_context_but_recording_does() {
    set_device();
    let event = create_event();
    let stream = create_stream();
    expect(aclrtRecordEvent(event, stream), 0, "");
    let (event, stream) = (Sent(event), Sent(stream));
    in_thread(move || {
        expect(aclrtSynchronizeEvent(event.get()), 0, "");
        assert_eq!(query(event.get()), 0);
        assert_eq!(query_recorded(event.get()), 1);
        let about = "aclrtSetDevice";
        expect(aclrtRecordEvent(event.get(), stream.get()), 107002, about);
        expect(aclrtStreamWaitEvent(stream.get(), event.get()), 107002, about);
        let mut new = null_mut();
        // SAFETY: `new` is writable.
        expect(unsafe { aclrtCreateEvent(&mut new) }, 107002, about);
        expect(aclrtDestroyEvent(event.get()), 0, "");
    });
}

#[test]
fn waiting_for_an_event_with_a_timeout() {
    set_device();
    let (stream, waiting) = (create_stream(), create_stream());
    let event = create_event();
    let gate = hold(stream);
    expect(aclrtRecordEvent(event, stream), 0, "");
    expect(aclrtSynchronizeEventWithTimeout(event, 1), 507047, "in time");
    expect(aclrtStreamWaitEventWithTimeout(waiting, event, 1), 0, "");
    let after = Arc::new(AtomicUsize::new(0));
    let count = after.clone();
    launch(waiting, move || {
        count.fetch_add(1, Ordering::SeqCst);
    });
    expect(aclrtSynchronizeStream(waiting), 507047, "waited for an event for 1 ms");
    assert_eq!(after.load(Ordering::SeqCst), 1);
    expect(aclrtSynchronizeStream(waiting), 0, "");
    gate.open();
    expect(aclrtSynchronizeEventWithTimeout(event, -1), 0, "");
}

#[test]
fn destroying_an_event_lets_those_who_wait_go_on() {
    set_device();
    let (stream, waiting) = (create_stream(), create_stream());
    let event = create_event();
    let gate = hold(stream);
    expect(aclrtRecordEvent(event, stream), 0, "");
    expect(aclrtStreamWaitEvent(waiting, event), 0, "");
    expect(aclrtDestroyEvent(event), 0, "");
    gate.open();
    expect(aclrtSynchronizeStream(waiting), 0, "");
}

#[test]
fn aborting_the_recording_stream_lets_the_waiting_one_go_on() {
    set_device();
    let (stream, waiting) = (create_stream(), create_stream());
    let event = create_event();
    let gate = hold(stream);
    expect(aclrtRecordEvent(event, stream), 0, "");
    expect(aclrtStreamWaitEvent(waiting, event), 0, "");
    let (context, sent) = (current_context(), Sent(stream));
    let aborting = std::thread::spawn(move || {
        expect(aclrtSetCurrentContext(context.get()), 0, "");
        aclrtStreamAbort(sent.get())
    });
    // The stream is still held: what was dropped is over all the same.
    expect(aclrtSynchronizeStream(waiting), 0, "");
    expect(aclrtSynchronizeEvent(event), 107023, "aborted");
    gate.open();
    assert_eq!(aborting.join().unwrap(), 0);
}

#[test]
fn aborting_a_waiting_stream_ends_its_wait() {
    set_device();
    let (stream, waiting) = (create_stream(), create_stream());
    let event = create_event();
    let gate = hold(stream);
    expect(aclrtRecordEvent(event, stream), 0, "");
    expect(aclrtStreamWaitEvent(waiting, event), 0, "");
    expect(aclrtStreamAbort(waiting), 0, "");
    expect(aclrtSynchronizeStream(waiting), 0, "");
    expect(aclrtDestroyStreamForce(waiting), 0, "");
    gate.open();
    expect(aclrtSynchronizeStream(stream), 0, "");
}

#[test]
fn a_callback_may_not_wait_for_an_event_of_its_own_stream() {
    set_device();
    let stream = create_stream();
    let event = Sent(create_event());
    let (recorded, sender) = (Arc::new(Gate::default()), mpsc::channel());
    let (wait, answer) = (recorded.clone(), sender.0);
    launch(stream, move || {
        wait.wait();
        answer.send(aclrtSynchronizeEvent(event.get())).unwrap();
    });
    expect(aclrtRecordEvent(event.get(), stream), 0, "");
    recorded.open();
    expect(aclrtSynchronizeStream(stream), 0, "");
    assert_eq!(sender.1.recv(), Ok(507000));
}

/// A thread that serves callbacks until the process ends or nobody wants it any more; returns its id.
fn start_server() -> u64 {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        // SAFETY: takes nothing.
        sender.send(unsafe { libc::pthread_self() }).unwrap();
        // Before it is subscribed, and when it is no more, calls fail.
        loop {
            aclrtProcessReport(-1);
            std::thread::yield_now();
        }
    });
    receiver.recv().unwrap()
}

#[track_caller]
fn launch_callback(stream: *mut c_void, blocks: i32, body: impl FnOnce() + Send + 'static) {
    let (function, argument) = c_callback(body);
    // SAFETY: the function takes the closure back, once.
    expect(unsafe { aclrtLaunchCallback(Some(function), argument, blocks, stream) }, 0, "");
}

#[test]
fn callbacks_run_on_the_thread_that_serves_the_stream() {
    set_device();
    let stream = create_stream();
    let server = start_server();
    expect(aclrtSubscribeReport(server, stream), 0, "");
    expect(aclrtSubscribeReport(server, stream), 107011, "already");
    let (sender, receiver) = mpsc::channel();
    for n in 0..100 {
        let sender = sender.clone();
        // SAFETY: takes nothing.
        launch_callback(stream, n % 2, move || sender.send((n, unsafe { libc::pthread_self() })).unwrap());
    }
    for n in 0..100 {
        assert_eq!(receiver.recv(), Ok((n, server)));
    }
    expect(aclrtSynchronizeStream(stream), 0, "");
    expect(aclrtUnSubscribeReport(server + 1, stream), 107012, "another thread");
    expect(aclrtUnSubscribeReport(server, stream), 0, "");
    expect(aclrtUnSubscribeReport(server, stream), 107011, "no thread");
}

#[test]
fn a_blocking_callback_holds_the_stream_up_and_another_does_not() {
    set_device();
    let stream = create_stream();
    expect(aclrtSubscribeReport(start_server(), stream), 0, "");
    let gate: &'static Gate = Box::leak(Box::default());
    let (order, seen) = mpsc::channel();
    let log = order.clone();
    launch_callback(stream, 0, move || {
        gate.wait();
        log.send("callback that does not block").unwrap();
    });
    let log = order.clone();
    launch(stream, move || log.send("task").unwrap());
    expect(aclrtSynchronizeStream(stream), 0, "");
    assert_eq!(seen.recv(), Ok("task"));
    gate.open();
    assert_eq!(seen.recv(), Ok("callback that does not block"));

    let gate: &'static Gate = Box::leak(Box::default());
    let log = order.clone();
    launch_callback(stream, 1, move || {
        gate.wait();
        log.send("callback that blocks").unwrap();
    });
    launch(stream, move || order.send("task").unwrap());
    expect(aclrtSynchronizeStreamWithTimeout(stream, 1), 507046, "2 of its tasks");
    gate.open();
    expect(aclrtSynchronizeStream(stream), 0, "");
    assert_eq!(seen.try_iter().collect::<Vec<_>>(), ["callback that blocks", "task"]);
}

#[test]
fn callbacks_may_not_wait_for_their_stream_and_unserved_ones_hold_nobody_up() {
    set_device();
    let stream = create_stream();
    let context = current_context();
    let server = start_server();
    expect(aclrtSubscribeReport(server, stream), 0, "");
    let (sender, receiver) = mpsc::channel();
    let sent = Sent(stream);
    launch_callback(stream, 1, move || {
        assert_eq!(aclrtSetCurrentContext(context.get()), 0);
        let answers = [aclrtSynchronizeStream(sent.get()), aclrtDestroyStream(sent.get())];
        sender.send(answers).unwrap();
    });
    expect(aclrtSynchronizeStream(stream), 0, "");
    assert_eq!(receiver.recv(), Ok([507000, 507000]));
    expect(aclrtUnSubscribeReport(server, stream), 0, "");

    // This thread says that it will serve, and does not: the stream is held up until it takes that back.
    // SAFETY: takes nothing.
    let me = unsafe { libc::pthread_self() };
    expect(aclrtSubscribeReport(me, stream), 0, "");
    let called = Arc::new(AtomicBool::new(false));
    let flag = called.clone();
    launch_callback(stream, 1, move || flag.store(true, Ordering::SeqCst));
    expect(aclrtSynchronizeStreamWithTimeout(stream, 1), 507046, "");
    expect(aclrtUnSubscribeReport(me, stream), 0, "");
    expect(aclrtSynchronizeStream(stream), 0, "");
    assert!(!called.load(Ordering::SeqCst));
    let (function, argument) = c_callback(|| ());
    // SAFETY: the function is not called.
    expect(unsafe { aclrtLaunchCallback(Some(function), argument, 0, stream) }, 107015, "aclrtSubscribeReport");
    // SAFETY: NULL is detected.
    expect(unsafe { aclrtLaunchCallback(None, argument, 0, stream) }, 100000, "fn is NULL");
    for kind in [-1, 2] {
        // SAFETY: the function is not called.
        expect(unsafe { aclrtLaunchCallback(Some(function), argument, kind, stream) }, 100000, "blockType is");
    }
    expect(aclrtSubscribeReport(me, garbage()), 107017, "stream is");
    expect(aclrtUnSubscribeReport(me, garbage()), 107017, "stream is");
}

#[test]
fn processing_reports() {
    set_device();
    for timeout in [0, -2, i32::MIN] {
        expect(aclrtProcessReport(timeout), 107000, "timeout is");
    }
    expect(aclrtProcessReport(1), 107012, "serves no stream");
    let (one, two) = (create_stream(), create_stream());
    // SAFETY: takes nothing.
    let me = unsafe { libc::pthread_self() };
    expect(aclrtSubscribeReport(me, one), 0, "");
    expect(aclrtSubscribeReport(me, two), 0, "");
    expect(aclrtProcessReport(1), 107019, "in time");
    let called = Arc::new(AtomicUsize::new(0));
    for stream in [one, two] {
        let called = called.clone();
        launch_callback(stream, 1, move || {
            called.fetch_add(1, Ordering::SeqCst);
        });
    }
    expect(aclrtProcessReport(-1), 0, "");
    expect(aclrtProcessReport(-1), 0, "");
    assert_eq!(called.load(Ordering::SeqCst), 2);
    // A stream that is destroyed takes its subscription along.
    expect(aclrtDestroyStream(one), 0, "");
    expect(aclrtDestroyStream(two), 0, "");
    expect(aclrtProcessReport(-1), 107012, "serves no stream");
}

/// A copy from memory that aclrtMalloc did not give is waited for. Where that can't be, it is not queued either: the caller,
/// told of an error, may let the memory go.
#[test]
fn a_serving_threads_copy_that_would_wait_for_its_callback_is_not_queued() {
    set_device();
    let (stream, block, back) = (create_stream(), malloc(4), malloc_host(4));
    // SAFETY: takes nothing.
    let me = unsafe { libc::pthread_self() };
    // SAFETY: the block has 4 bytes.
    expect(unsafe { aclrtMemset(block, 4, 7, 4) }, 0, "");
    expect(aclrtSubscribeReport(me, stream), 0, "");
    launch_callback(stream, 1, || ());
    let local = [1_u8; 4];
    // SAFETY: both are memory of 4 bytes.
    let copied = unsafe { aclrtMemcpyAsync(block, 4, local.as_ptr().cast(), 4, H2D, stream) };
    expect(copied, 507000, "aclrtProcessReport");
    expect(aclrtProcessReport(-1), 0, "");
    expect(aclrtSynchronizeStream(stream), 0, "");
    // SAFETY: both have 4 bytes, and the result is read once the copy is done.
    let bytes = unsafe {
        expect(aclrtMemcpy(back, 4, block, 4, D2H), 0, "");
        back.cast::<[u8; 4]>().read()
    };
    assert_eq!(bytes, [7; 4]);
    expect(aclrtDestroyStream(stream), 0, "");
    assert_eq!((free(block), free_host(back)), (0, 0));
}

/// Unsubscribing meets a serving thread before it waits, as it begins to, and parked: it learns of it each time, and serves
/// again when it is asked to. One that did not would serve nobody any more, and the test would hang.
#[test]
fn unsubscribing_is_never_missed_by_the_thread_that_serves() {
    set_device();
    let stream = create_stream();
    let server = start_server();
    for round in 0..300 {
        for _ in 0..100 {
            expect(aclrtSubscribeReport(server, stream), 0, "");
            expect(aclrtUnSubscribeReport(server, stream), 0, "");
        }
        expect(aclrtSubscribeReport(server, stream), 0, "");
        std::thread::sleep(Duration::from_micros(round % 100));
        expect(aclrtUnSubscribeReport(server, stream), 0, "");
        expect(aclrtSubscribeReport(server, stream), 0, "");
        let called = Arc::new(AtomicUsize::new(0));
        let count = called.clone();
        launch_callback(stream, 1, move || {
            count.fetch_add(1, Ordering::SeqCst);
        });
        expect(aclrtSynchronizeStream(stream), 0, "");
        assert_eq!(called.load(Ordering::SeqCst), 1);
        expect(aclrtUnSubscribeReport(server, stream), 0, "");
    }
    expect(aclrtDestroyStream(stream), 0, "");
}
