//! Streams, contexts and devices through the exported functions: order, waiting, ends, and every wrong handle.

mod runtime;

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};

use aclnn_modulate::api::memory::{aclrtMemcpyAsync, aclrtMemsetAsync};
use aclnn_modulate::api::runtime::*;
use aclnn_modulate::api::stream::*;
use aclnn_modulate::handle::Handle;
use aclnn_modulate::runtime::stream::{self, Stream};
use runtime::*;

/// Tests that count streams, or reset the device under the others' feet, run alone in a process of their own.
fn alone(test: &str) -> bool {
    if !is_child() {
        in_child(test, &[]);
    }
    is_child()
}

/// What is behind a stream's handle.
fn find(stream: *mut c_void) -> Arc<Stream> {
    stream::resolve_without_context(Handle::from_ptr(stream)).unwrap()
}

#[test]
fn tasks_run_in_order_and_synchronise_waits_for_all() {
    set_device();
    let stream = create_stream();
    let seen = Arc::new(Mutex::new(Vec::new()));
    for n in 0..1_000 {
        let seen = seen.clone();
        launch(stream, move || seen.lock().unwrap().push(n));
    }
    expect(aclrtSynchronizeStream(stream), 0, "");
    assert_eq!(*seen.lock().unwrap(), (0..1_000).collect::<Vec<_>>());
    expect(aclrtDestroyStream(stream), 0, "");
}

#[test]
fn a_held_stream_holds_up_nobody_else() {
    set_device();
    let (held, free_running) = (create_stream(), create_stream());
    let gate = hold(held);
    let done = Arc::new(AtomicUsize::new(0));
    let count = done.clone();
    launch(free_running, move || {
        count.fetch_add(1, Ordering::SeqCst);
    });
    expect(aclrtSynchronizeStream(free_running), 0, "");
    assert_eq!(done.load(Ordering::SeqCst), 1);
    assert_eq!(query(held), 1);
    assert_eq!(query(free_running), 0);
    gate.open();
    expect(aclrtSynchronizeStream(held), 0, "");
    assert_eq!(query(held), 0);
}

fn query(stream: *mut c_void) -> i32 {
    let mut status = -1;
    // SAFETY: `status` is writable.
    expect(unsafe { aclrtStreamQuery(stream, &mut status) }, 0, "");
    status
}

#[test]
fn tasks_of_many_threads_are_all_done_and_each_threads_in_order() {
    set_device();
    let stream = Sent(create_stream());
    let mut context = null_mut();
    // SAFETY: `context` is writable.
    expect(unsafe { aclrtGetCurrentContext(&mut context) }, 0, "");
    let context = Sent(context);
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let sender = sender.clone();
            scope.spawn(move || {
                expect(aclrtSetCurrentContext(context.get()), 0, "");
                for n in 0..500 {
                    let sender = sender.clone();
                    launch(stream.get(), move || sender.send((thread, n)).unwrap());
                    if n % 50 == 0 {
                        expect(aclrtSynchronizeStream(stream.get()), 0, "");
                    }
                }
            });
        }
    });
    expect(aclrtSynchronizeStream(stream.get()), 0, "");
    let mut next = [0; 4];
    for (thread, n) in receiver.try_iter() {
        assert_eq!(n, next[thread]);
        next[thread] += 1;
    }
    assert_eq!(next, [500; 4]);
}

#[test]
fn destroying_waits_for_queued_work() {
    set_device();
    let stream = create_stream();
    let gate = hold(stream);
    let done = Arc::new(AtomicUsize::new(0));
    for _ in 0..10 {
        let done = done.clone();
        launch(stream, move || {
            done.fetch_add(1, Ordering::SeqCst);
        });
    }
    let mut context = null_mut();
    // SAFETY: `context` is writable.
    expect(unsafe { aclrtGetCurrentContext(&mut context) }, 0, "");
    let (context, sent) = (Sent(context), Sent(stream));
    let destroying = std::thread::spawn(move || {
        expect(aclrtSetCurrentContext(context.get()), 0, "");
        aclrtDestroyStream(sent.get())
    });
    gate.open();
    assert_eq!(destroying.join().unwrap(), 0);
    assert_eq!(done.load(Ordering::SeqCst), 10);
    expect(aclrtDestroyStream(stream), 107017, "it was destroyed");
}

#[test]
fn destroying_by_force_drops_what_has_not_begun() {
    set_device();
    let stream = create_stream();
    let gate = hold(stream);
    let done = Arc::new(AtomicUsize::new(0));
    for _ in 0..10 {
        let done = done.clone();
        launch(stream, move || {
            done.fetch_add(1, Ordering::SeqCst);
        });
    }
    let other = create_stream();
    let sent = Sent(stream);
    // The call waits for the held task; this opens the gate once the call has dropped the others.
    launch(other, move || {
        let found = find(sent.get());
        while found.aborts() == 0 {
            std::thread::yield_now();
        }
        gate.open();
    });
    expect(aclrtDestroyStreamForce(stream), 0, "");
    expect(aclrtSynchronizeStream(other), 0, "");
    assert_eq!(done.load(Ordering::SeqCst), 0);
    expect(aclrtSynchronizeStream(stream), 107017, "it was destroyed");
}

#[test]
fn aborting_drops_work_and_tells_who_waits() {
    set_device();
    let stream = create_stream();
    let gate = hold(stream);
    let done = Arc::new(AtomicUsize::new(0));
    let count = done.clone();
    launch(stream, move || {
        count.fetch_add(1, Ordering::SeqCst);
    });
    let mut context = null_mut();
    // SAFETY: `context` is writable.
    expect(unsafe { aclrtGetCurrentContext(&mut context) }, 0, "");
    let sent = (Sent(context), Sent(stream));
    let waiter = std::thread::spawn(move || {
        expect(aclrtSetCurrentContext(sent.0.get()), 0, "");
        aclrtSynchronizeStream(sent.1.get())
    });
    while find(stream).waiters() == 0 {
        std::thread::yield_now();
    }
    abort(stream, context, Some(gate));
    assert_eq!(waiter.join().unwrap(), 107023);
    assert_eq!(done.load(Ordering::SeqCst), 0);
    // The stream is usable again.
    let count = done.clone();
    launch(stream, move || {
        count.fetch_add(1, Ordering::SeqCst);
    });
    expect(aclrtSynchronizeStream(stream), 0, "");
    assert_eq!(done.load(Ordering::SeqCst), 1);
}

/// Aborts a stream; opens the gate that it is held by once its work was dropped.
fn abort(stream: *mut c_void, context: *mut c_void, gate: Option<&Gate>) {
    let found = find(stream);
    let before = found.aborts();
    let (context, stream) = (Sent(context), Sent(stream));
    std::thread::scope(|scope| {
        let aborting = scope.spawn(move || {
            expect(aclrtSetCurrentContext(context.get()), 0, "");
            expect(aclrtStreamAbort(stream.get()), 0, "");
        });
        if let Some(gate) = gate {
            while found.aborts() == before {
                std::thread::yield_now();
            }
            gate.open();
        }
        aborting.join().unwrap();
    });
}

/// One thread queues and aborts, others queue meanwhile: what was queued before an abort either ran before the abort
/// returned, or never runs; what runs runs once, in the order of its thread; and the log says how often work was dropped.
#[test]
fn aborting_races_with_launching() {
    const TEST: &str = "aborting_races_with_launching";
    const ROUNDS: usize = 200;
    if !is_child() {
        let (_, log) = in_child(TEST, &[("ASCEND_GLOBAL_LOG_LEVEL", "1")]);
        let drops: Vec<&str> =
            log.lines().filter(|line| line.contains("tasks that had not begun") && line.contains("[Info]")).collect();
        assert_eq!(drops.len(), 1 + ROUNDS, "each abort leaves a line");
        let count = |line: &&str| line.split("dropped ").nth(1)?.split(' ').next()?.parse::<usize>().ok();
        assert_eq!(count(&drops[0]), Some(1), "{drops:?}");
        // Where the gate held the stream, everything behind it was dropped: the three at least, and what the others had queued.
        let is_whole = |line| count(line).is_some_and(|count| (3..=5).contains(&count));
        assert!(drops[1..].iter().step_by(2).all(is_whole), "{drops:?}");
        return;
    }
    set_device();
    let stream = create_stream();
    let mut context = null_mut();
    // SAFETY: `context` is writable.
    expect(unsafe { aclrtGetCurrentContext(&mut context) }, 0, "");
    let gate = hold(stream);
    launch(stream, || panic!("it was dropped"));
    abort(stream, context, Some(gate));
    let stop = Arc::new(AtomicBool::new(false));
    let others: Vec<_> = (0..2)
        .map(|_| {
            let (context, stream, stop) = (Sent(context), Sent(stream), stop.clone());
            std::thread::spawn(move || {
                expect(aclrtSetCurrentContext(context.get()), 0, "");
                let latest = Arc::new(AtomicUsize::new(0));
                let mut number = 0;
                while !stop.load(Ordering::Relaxed) {
                    number += 1;
                    let latest = latest.clone();
                    launch(stream.get(), move || assert!(latest.swap(number, Ordering::Relaxed) < number));
                    // Not further ahead than the stream can follow.
                    let synchronized = aclrtSynchronizeStream(stream.get());
                    assert!(synchronized == 0 || synchronized == 107023, "{synchronized}: {}", message());
                    message();
                }
            })
        })
        .collect();
    let over = Arc::new(AtomicUsize::new(0));
    for round in 1..=ROUNDS {
        // In every second round the stream stands before a gate, so that there is something to drop; in the others the
        // abort meets it wherever it is.
        let gate = (round % 2 == 1).then(|| hold(stream));
        for _ in 0..3 {
            let over = over.clone();
            launch(stream, move || assert!(over.load(Ordering::SeqCst) < round, "it ran after its abort"));
        }
        abort(stream, context, gate);
        over.store(round, Ordering::SeqCst);
    }
    stop.store(true, Ordering::Relaxed);
    others.into_iter().for_each(|other| other.join().unwrap());
    expect(aclrtSynchronizeStream(stream), 0, "");
    assert_eq!(query(stream), 0);
    expect(aclrtDestroyStream(stream), 0, "");
}

#[test]
fn waiting_with_a_timeout() {
    set_device();
    let stream = create_stream();
    for timeout in [0, -2, i32::MIN] {
        expect(aclrtSynchronizeStreamWithTimeout(stream, timeout), 107000, "timeout is");
        expect(aclrtSynchronizeDeviceWithTimeout(timeout), 107000, "timeout is");
    }
    let gate = hold(stream);
    expect(aclrtSynchronizeStreamWithTimeout(stream, 1), 507046, "did not finish in time");
    expect(aclrtSynchronizeDeviceWithTimeout(1), 507046, "did not finish in time");
    gate.open();
    expect(aclrtSynchronizeStreamWithTimeout(stream, -1), 0, "");
    expect(aclrtSynchronizeStreamWithTimeout(stream, i32::MAX), 0, "");
}

#[test]
fn a_callback_that_would_wait_for_itself_is_told() {
    set_device();
    let stream = create_stream();
    let mut context = null_mut();
    // SAFETY: `context` is writable.
    expect(unsafe { aclrtGetCurrentContext(&mut context) }, 0, "");
    let (context, sent) = (Sent(context), Sent(stream));
    let (sender, receiver) = mpsc::channel();
    launch(stream, move || {
        let stream = sent.get();
        // A host function's thread has no context of its own, which is not what is wrong with these.
        let without = [
            aclrtSynchronizeStream(stream),
            aclrtSynchronizeStreamWithTimeout(stream, 10),
            aclrtDestroyStream(stream),
            aclrtDestroyStreamForce(stream),
            aclrtStreamAbort(stream),
            aclrtResetDevice(0),
        ];
        assert_eq!(aclrtSetCurrentContext(context.get()), 0);
        let mut local = [0_u8; 4];
        let block = malloc(4);
        // SAFETY: both are memory of 4 bytes; the call is refused.
        let copied = unsafe { aclrtMemcpyAsync(block, 4, local.as_mut_ptr().cast(), 4, H2D, stream) };
        let with = [
            aclrtSynchronizeStream(stream),
            aclrtSynchronizeStreamWithTimeout(stream, 10),
            aclrtSynchronizeDevice(),
            aclrtDestroyStream(stream),
            aclrtDestroyStreamForce(stream),
            aclrtStreamAbort(stream),
            aclrtResetDevice(0),
            aclrtResetDeviceForce(0),
            copied,
        ];
        sender.send((without, with, message())).unwrap();
        free(block);
        // It may launch on it, though.
        launch(stream, || ());
    });
    expect(aclrtSynchronizeStream(stream), 0, "");
    let (without, with, message) = receiver.recv().unwrap();
    assert_eq!((without, with), ([507000; 6], [507000; 9]));
    assert!(message.contains("own callback"), "{message}");
    // Another stream may be waited for.
    let other = Sent(create_stream());
    launch(stream, move || {
        assert_eq!(aclrtSetCurrentContext(context.get()), 0);
        assert_eq!(aclrtSynchronizeStream(other.get()), 0);
    });
    expect(aclrtSynchronizeStream(stream), 0, "");
}

#[test]
fn stale_and_foreign_handles_are_detected() {
    set_device();
    let dead = create_stream();
    expect(aclrtDestroyStream(dead), 0, "");
    let event = create_event();
    let (mut number, mut status, mut id) = (0, 0, 0);
    for (handle, about) in [(dead, "destroyed"), (garbage(), "never returned"), (event, "an aclrtEvent")] {
        expect(aclrtSynchronizeStream(handle), 107017, about);
        expect(aclrtSynchronizeStreamWithTimeout(handle, 1), 107017, about);
        expect(aclrtDestroyStream(handle), 107017, about);
        expect(aclrtDestroyStreamForce(handle), 107017, about);
        expect(aclrtStreamAbort(handle), 107017, about);
        expect(aclrtSetStreamFailureMode(handle, 0), 107017, about);
        // SAFETY: the results are writable.
        expect(unsafe { aclrtStreamQuery(handle, &mut status) }, 107017, about);
        // SAFETY: as above.
        expect(unsafe { aclrtStreamGetId(handle, &mut id) }, 107017, about);
        // SAFETY: as above.
        expect(unsafe { aclrtStreamGetPriority(handle, &mut number) }, 107017, about);
        // SAFETY: as above.
        expect(unsafe { aclrtStreamGetFlags(handle, &mut number) }, 107017, about);
        // SAFETY: the function is not called.
        expect(unsafe { aclrtLaunchHostFunc(handle, Some(nothing), null_mut()) }, 107017, about);
    }
    expect(aclrtDestroyStream(null_mut()), 100000, "stream is NULL");
    expect(aclrtDestroyStreamForce(null_mut()), 100000, "stream is NULL");
    let stream = create_stream();
    // SAFETY: NULL is detected.
    expect(unsafe { aclrtCreateStream(null_mut()) }, 100000, "stream is NULL");
    // SAFETY: NULL is detected.
    expect(unsafe { aclrtStreamQuery(stream, null_mut()) }, 100000, "status is NULL");
    // SAFETY: NULL is detected.
    expect(unsafe { aclrtStreamGetId(stream, null_mut()) }, 100000, "streamId is NULL");
    // SAFETY: NULL is detected.
    expect(unsafe { aclrtLaunchHostFunc(stream, None, null_mut()) }, 100000, "fn is NULL");
    expect(aclrtSetStreamFailureMode(stream, 2), 107000, "mode is 2");
    expect(aclrtSetStreamFailureMode(stream, u64::MAX), 107000, "mode is");
}

unsafe extern "C" fn nothing(_: *mut c_void) {}

#[test]
fn streams_keep_their_priority_flags_and_number() {
    set_device();
    let mut stream = null_mut();
    // SAFETY: `stream` is writable.
    expect(unsafe { aclrtCreateStreamWithConfig(&mut stream, 9, 3) }, 0, "");
    let (mut priority, mut flags, mut id, mut other_id) = (99, 99, -1, -1);
    // SAFETY: the results are writable.
    unsafe {
        expect(aclrtStreamGetPriority(stream, &mut priority), 0, "");
        expect(aclrtStreamGetFlags(stream, &mut flags), 0, "");
        expect(aclrtStreamGetId(stream, &mut id), 0, "");
        expect(aclrtStreamGetId(null_mut(), &mut other_id), 0, "");
    }
    assert_eq!((priority, flags), (7, 3));
    assert!(id >= 0 && other_id >= 0 && id != other_id);
    // SAFETY: `stream` is writable.
    expect(unsafe { aclrtCreateStreamWithConfig(&mut stream, 0, 64) }, 107000, "flag is 0x40");
    // An id needs no context.
    let sent = Sent(stream);
    in_thread(move || {
        let mut again = -1;
        // SAFETY: `again` is writable.
        expect(unsafe { aclrtStreamGetId(sent.get(), &mut again) }, 0, "");
        assert_eq!(again, id);
        // SAFETY: `again` is writable.
        expect(unsafe { aclrtStreamGetId(null_mut(), &mut again) }, 107002, "aclrtSetDevice");
    });
}

#[test]
fn a_stream_of_another_context_is_refused_and_unharmed() {
    set_device();
    let stream = create_stream();
    let context = create_context();
    let block = malloc(8);
    let event = create_event();
    let about = "belongs to another context";
    // SAFETY: the function is not called.
    expect(unsafe { aclrtLaunchHostFunc(stream, Some(nothing), null_mut()) }, 107003, about);
    // SAFETY: the block has 8 bytes.
    expect(unsafe { aclrtMemsetAsync(block, 8, 0, 8, stream) }, 107003, about);
    // SAFETY: as above.
    expect(unsafe { aclrtMemcpyAsync(block, 8, block, 8, D2D, stream) }, 107003, about);
    expect(aclnn_modulate::api::event::aclrtRecordEvent(event, stream), 107003, about);
    expect(aclrtDestroyStream(stream), 107003, about);
    expect(aclrtDestroyStreamForce(stream), 107003, about);
    // Waiting and asking work from any context.
    expect(aclrtSynchronizeStream(stream), 0, "");
    assert_eq!(query(stream), 0);
    expect(aclrtDestroyContext(context), 0, "");
    set_device();
    launch(stream, || ());
    expect(aclrtDestroyStream(stream), 0, "");
    free(block);
}

#[test]
fn contexts_come_and_go() {
    set_device();
    let mut default = null_mut();
    // SAFETY: `default` is writable.
    expect(unsafe { aclrtGetCurrentContext(&mut default) }, 0, "");
    let context = create_context();
    let mut current = null_mut();
    // SAFETY: `current` is writable.
    expect(unsafe { aclrtGetCurrentContext(&mut current) }, 0, "");
    assert_eq!(current, context);
    let stream = create_stream();
    let event = create_event();
    let (mut one, mut two) = (null_mut(), null_mut());
    // SAFETY: `one` is writable.
    expect(unsafe { aclrtCtxGetCurrentDefaultStream(&mut one) }, 0, "");
    expect(aclrtDestroyStream(one), 107017, "default stream");
    let ran = Arc::new(AtomicUsize::new(0));
    let count = ran.clone();
    launch(null_mut(), move || {
        count.fetch_add(1, Ordering::SeqCst);
    });
    // NULL is that stream.
    expect(aclrtSynchronizeStream(one), 0, "");
    assert_eq!(ran.load(Ordering::SeqCst), 1);

    // Another thread is left with a dead context; this one without any.
    let sent = Sent(context);
    let (ready, go) = (Arc::new(Gate::default()), Arc::new(Gate::default()));
    let (ready2, go2) = (ready.clone(), go.clone());
    let thread = std::thread::spawn(move || {
        expect(aclrtSetCurrentContext(sent.get()), 0, "");
        ready2.open();
        go2.wait();
        expect(aclrtSynchronizeStream(null_mut()), 107002, "was destroyed");
        expect(aclrtSetCurrentContext(sent.get()), 107002, "not live");
    });
    ready.wait();
    expect(aclrtDestroyContext(context), 0, "");
    go.open();
    thread.join().unwrap();
    expect(aclrtSynchronizeStream(null_mut()), 107002, "aclrtSetDevice");
    // SAFETY: `current` is writable.
    expect(unsafe { aclrtGetCurrentContext(&mut current) }, 107002, "aclrtSetDevice");
    expect(aclrtDestroyContext(context), 107002, "not live");
    // Its streams and events ended with it.
    expect(aclrtSynchronizeStream(stream), 107017, "not live");
    expect(aclrtSynchronizeStream(one), 107017, "not live");
    expect(aclnn_modulate::api::event::aclrtDestroyEvent(event), 107017, "not live");

    expect(aclrtDestroyContext(default), 107002, "default context");
    expect(aclrtDestroyContext(null_mut()), 100000, "context is NULL");
    expect(aclrtDestroyContext(garbage()), 107002, "never returned");
    expect(aclrtSetCurrentContext(null_mut()), 100000, "context is NULL");
    expect(aclrtSetCurrentContext(stream), 107002, "an aclrtStream");
    // SAFETY: NULL is detected.
    expect(unsafe { aclrtCreateContext(null_mut(), 0) }, 100000, "context is NULL");
    // SAFETY: `two` is writable.
    expect(unsafe { aclrtCreateContext(&mut two, 1) }, 107001, "deviceId is 1");
    assert!(two.is_null());
    set_device();
    // SAFETY: `current` is writable.
    expect(unsafe { aclrtGetCurrentContext(&mut current) }, 0, "");
    assert_eq!(current, default);
}

#[test]
fn resetting_the_device_ends_what_was_created_under_it() {
    if !alone("resetting_the_device_ends_what_was_created_under_it") {
        return;
    }
    expect(aclrtResetDevice(0), 507007, "not set");
    expect(aclrtResetDevice(1), 107001, "deviceId is 1");
    expect(aclrtResetDevice(-1), 107001, "deviceId is -1");
    expect(aclrtSetDevice(i32::MIN), 107001, "deviceId is");
    set_device();
    set_device();
    let stream = create_stream();
    let event = create_event();
    let block = malloc(16);
    let context = create_context();
    let own = create_stream();
    set_device();
    expect(aclrtResetDevice(0), 0, "");
    expect(aclrtResetDevice(0), 0, "");
    launch(stream, || ());
    let gate = hold(stream);
    let done = Arc::new(AtomicUsize::new(0));
    let count = done.clone();
    launch(stream, move || {
        count.fetch_add(1, Ordering::SeqCst);
    });
    let reset = std::thread::spawn(|| aclrtResetDevice(0));
    gate.open();
    assert_eq!(reset.join().unwrap(), 0);
    // It has waited for the work.
    assert_eq!(done.load(Ordering::SeqCst), 1);
    expect(aclrtSynchronizeStream(stream), 107017, "not live");
    expect(aclnn_modulate::api::event::aclrtDestroyEvent(event), 107017, "not live");
    expect(aclrtSynchronizeStream(null_mut()), 107002, "device was reset");
    expect(aclrtResetDevice(0), 507007, "not set");
    // Memory and explicit contexts live on.
    expect(free(block), 0, "");
    expect(aclrtSetCurrentContext(context), 0, "");
    expect(aclrtSynchronizeStream(own), 0, "");
    expect(aclrtDestroyContext(context), 0, "");

    for _ in 0..3 {
        set_device();
    }
    let stream = create_stream();
    expect(aclrtResetDeviceForce(0), 0, "");
    expect(aclrtSynchronizeStream(stream), 107017, "not live");
    expect(aclrtResetDeviceForce(0), 507007, "not set");
}

#[test]
fn a_device_has_1984_streams_each_with_a_thread_if_need_be() {
    if !alone("a_device_has_1984_streams_each_with_a_thread_if_need_be") {
        return;
    }
    set_device();
    let available = || {
        let mut count = 0;
        // SAFETY: `count` is writable.
        expect(unsafe { aclrtGetStreamAvailableNum(&mut count) }, 0, "");
        count
    };
    assert_eq!(available(), 1984);
    let streams: Vec<_> = (0..1984).map(|_| create_stream()).collect();
    assert_eq!(available(), 0);
    let mut one_more = null_mut();
    // SAFETY: `one_more` is writable.
    expect(unsafe { aclrtCreateStream(&mut one_more) }, 207008, "1984 streams");
    let ran = Arc::new(AtomicUsize::new(0));
    for stream in &streams {
        let ran = ran.clone();
        launch(*stream, move || {
            ran.fetch_add(1, Ordering::SeqCst);
        });
    }
    expect(aclrtSynchronizeDevice(), 0, "");
    assert_eq!(ran.load(Ordering::SeqCst), 1984);
    expect(aclrtDestroyStream(streams[0]), 0, "");
    assert_eq!(available(), 1);
    // SAFETY: `one_more` is writable.
    expect(unsafe { aclrtCreateStream(&mut one_more) }, 0, "");
    // The end of a context gives its streams back.
    expect(aclrtResetDeviceForce(0), 0, "");
    set_device();
    assert_eq!(available(), 1984);
}

#[test]
fn several_devices_by_the_environment() {
    if !is_child() {
        in_child("several_devices_by_the_environment", &[("ACLCPU_DEVICE_COUNT", "3")]);
        return;
    }
    let (mut count, mut device, mut can) = (0, -1, -1);
    // SAFETY: `count` is writable.
    expect(unsafe { aclrtGetDeviceCount(&mut count) }, 0, "");
    assert_eq!(count, 3);
    expect(aclrtSetDevice(2), 0, "");
    // SAFETY: `device` is writable.
    expect(unsafe { aclrtGetDevice(&mut device) }, 0, "");
    assert_eq!(device, 2);
    let stream = create_stream();
    expect(aclrtSetDevice(0), 0, "");
    // SAFETY: the function is not called.
    expect(unsafe { aclrtLaunchHostFunc(stream, Some(nothing), null_mut()) }, 107003, "another context");
    expect(aclrtSetDevice(3), 107001, "expected 0 to 2");
    // SAFETY: `can` is writable.
    expect(unsafe { aclrtDeviceCanAccessPeer(&mut can, 0, 2) }, 0, "");
    assert_eq!(can, 1);
    // SAFETY: `can` is writable.
    expect(unsafe { aclrtDeviceCanAccessPeer(&mut can, 1, 1) }, 107001, "two devices");
    // SAFETY: `can` is writable.
    expect(unsafe { aclrtDeviceCanAccessPeer(&mut can, 1, 3) }, 107001, "deviceId is 3");
    // Resetting one leaves the other alone.
    let here = create_stream();
    expect(aclrtResetDevice(2), 0, "");
    expect(aclrtSynchronizeStream(stream), 107017, "not live");
    expect(aclrtSynchronizeStream(here), 0, "");
}

#[test]
fn system_parameters_are_kept() {
    set_device();
    let mut value = -1;
    for opt in [-1, 4, i32::MAX] {
        expect(aclrtSetSysParamOpt(opt, 1), 107000, "opt is");
        expect(aclrtCtxSetSysParamOpt(opt, 1), 107000, "opt is");
        // SAFETY: `value` is writable.
        expect(unsafe { aclrtGetSysParamOpt(opt, &mut value) }, 107000, "opt is");
    }
    expect(aclrtSetSysParamOpt(0, 2), 107000, "value is 2");
    // SAFETY: `value` is writable.
    expect(unsafe { aclrtGetSysParamOpt(3, &mut value) }, 107021, "never set");
    assert_eq!(value, -1);
    let context = create_context();
    // SAFETY: `value` is writable.
    expect(unsafe { aclrtCtxGetSysParamOpt(0, &mut value) }, 107021, "never set");
    for wanted in [1, 0] {
        expect(aclrtSetSysParamOpt(0, 1 - wanted), 0, "");
        expect(aclrtCtxSetSysParamOpt(0, wanted), 0, "");
        // SAFETY: `value` is writable.
        expect(unsafe { aclrtCtxGetSysParamOpt(0, &mut value) }, 0, "");
        assert_eq!(value, wanted);
        // SAFETY: `value` is writable.
        expect(unsafe { aclrtGetSysParamOpt(0, &mut value) }, 0, "");
        assert_eq!(value, 1 - wanted);
    }
    // SAFETY: NULL is detected.
    expect(unsafe { aclrtGetSysParamOpt(0, null_mut()) }, 100000, "value is NULL");
    expect(aclrtDestroyContext(context), 0, "");
    expect(aclrtCtxSetSysParamOpt(0, 1), 107002, "aclrtSetDevice");
}

#[test]
fn freeing_races_with_launching() {
    // Several threads launch copies from blocks that another thread frees and makes anew. Each launch either finds the
    // block gone, or its copy reads what the block held: no fault, no other block's bytes.
    use aclnn_modulate::api::memory::aclrtMemset;
    const SIZE: usize = 3 << 20;
    set_device();
    let shared: &'static Mutex<Vec<Sent>> = Box::leak(Box::default());
    let stop: &'static std::sync::atomic::AtomicBool = Box::leak(Box::default());
    let launched = Arc::new(AtomicUsize::new(0));
    let launchers: Vec<_> = (0..2)
        .map(|_| {
            let launched = launched.clone();
            std::thread::spawn(move || {
                set_device();
                let stream = create_stream();
                let target = malloc_host(SIZE);
                while !stop.load(Ordering::Relaxed) {
                    let Some(block) = shared.lock().unwrap().last().copied() else { continue };
                    // SAFETY: the call checks that the block is still there, and keeps it.
                    let status = unsafe { aclrtMemcpyAsync(target, SIZE, block.get(), SIZE, D2H, stream) };
                    assert!(status == 0 || status == 107000, "{status}: {}", message());
                    message();
                    if status == 0 {
                        launched.fetch_add(1, Ordering::Relaxed);
                        assert_eq!(aclrtSynchronizeStream(stream), 0, "{}", message());
                        // SAFETY: inside the target, which the stream is done with.
                        let (first, last) = unsafe { (*target.cast::<u8>(), *target.cast::<u8>().add(SIZE - 1)) };
                        assert_eq!((first, last), (0x77, 0x77));
                    }
                }
                assert_eq!(free_host(target), 0);
                assert_eq!(aclrtDestroyStream(stream), 0);
            })
        })
        .collect();
    for _ in 0..150 {
        let block = malloc(SIZE);
        // SAFETY: the block has that many bytes.
        assert_eq!(unsafe { aclrtMemset(block, SIZE, 0x77, SIZE) }, 0);
        shared.lock().unwrap().push(Sent(block));
        let before = launched.load(Ordering::Relaxed);
        while launched.load(Ordering::Relaxed) == before {
            std::thread::yield_now();
        }
        // The address stays in the list: launchers may try a block that is gone.
        expect(free(block), 0, "");
    }
    stop.store(true, Ordering::Relaxed);
    for launcher in launchers {
        launcher.join().unwrap();
    }
}
