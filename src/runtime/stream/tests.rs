//! What needs a stream's insides: orders of steps that no caller can bring about at will.

use std::ffi::c_void;
use std::time::Duration;

use super::queue::Worker;
use super::*;
use crate::runtime::event::{self, Flavor};
use crate::runtime::memory::{self, Kind, Request};

/// A stream without a worker thread: the test takes the worker's steps.
fn by_hand() -> Arc<Stream> {
    let stream = resolve(create(Config::default()).unwrap()).unwrap();
    stream.queue.lock().worker = Worker::Awake;
    stream
}

fn end(stream: &Stream) {
    stream.queue.lock().worker = Worker::None;
    destroy_handle(stream.handle, true).unwrap();
}

/// Never runs inside the launching call.
fn queue_something(stream: &Stream) {
    queue_something_with(stream, Uses::new());
}

fn queue_something_with(stream: &Stream, uses: Uses) {
    unsafe extern "C" fn nothing(_: *mut c_void) {}
    // SAFETY: the function takes any argument, on any thread.
    let function = unsafe { HostFunc::new(nothing, std::ptr::null_mut()) };
    stream.submit(Task { work: Work::HostFunc(function), uses }, || Ok(())).unwrap();
}

/// The worker has taken the task, an abort comes, and only then does the task begin to wait: for an event that never happens,
/// so nobody but the abort ends it. The same with the abort before the worker has looked at the queue.
#[test]
fn an_abort_between_a_tasks_start_and_its_wait_is_not_lost() {
    let context = context::create_explicit(0).unwrap();
    let (stuck, stream) = (by_hand(), by_hand());
    let event = event::create(Flavor::Plain).unwrap();
    let found = event::find(event, "event").unwrap();
    queue_something(&stuck);
    found.record(stuck.handle).unwrap();
    // Far beyond what the test takes: a lost abort ends as a failure of the stream.
    found.wait_on(stream.handle, Some(Duration::from_secs(20))).unwrap();
    queue_something(&stream);

    let (entry, aborts) = {
        let mut state = stream.queue.lock();
        (state.begin().unwrap(), stream.queue.aborts())
    };
    std::thread::scope(|scope| {
        let aborting = scope.spawn(|| stream.abort());
        // It waits for the task that has begun.
        while stream.waiters() == 0 {
            assert!(!aborting.is_finished());
            std::thread::yield_now();
        }
        assert_eq!(stream.aborts(), 1);
        assert!(stream.run(entry, aborts));
        aborting.join().unwrap().unwrap();
    });
    assert!(stream.is_idle());
    stream.synchronize(None).unwrap();

    // Nothing has begun: there is nothing left to wait for.
    found.wait_on(stream.handle, None).unwrap();
    stream.abort().unwrap();
    assert!(stream.queue.lock().begin().is_none());
    assert_eq!(stream.aborts(), 2);

    event::destroy(event).unwrap();
    end(&stream);
    end(&stuck);
    context::destroy(context).unwrap();
}

/// A parked worker is told of the abort. One that is not would sleep on, and the test with it.
#[test]
fn an_abort_wakes_a_task_that_waits() {
    let context = context::create_explicit(0).unwrap();
    let (stuck, stream) = (by_hand(), resolve(create(Config::default()).unwrap()).unwrap());
    let event = event::create(Flavor::Plain).unwrap();
    let found = event::find(event, "event").unwrap();
    queue_something(&stuck);
    found.record(stuck.handle).unwrap();
    found.wait_on(stream.handle, None).unwrap();
    let parked = || stream.queue.lock().awaited.as_ref().is_some_and(|record| record.waiters() == 1);
    while !parked() {
        std::thread::yield_now();
    }
    stream.abort().unwrap();
    assert!(stream.is_idle());
    event::destroy(event).unwrap();
    destroy_handle(stream.handle, false).unwrap();
    end(&stuck);
    context::destroy(context).unwrap();
}

/// A callback that holds its stream up is for this thread to call: it can't wait for the stream first, whether the callback is
/// queued or has been handed over. Other threads can, and so can this one for a time.
#[test]
fn a_thread_that_is_to_call_a_callback_is_not_made_to_wait_for_it() {
    unsafe extern "C" fn nothing(_: *mut c_void) {}
    let context = context::create_explicit(0).unwrap();
    let stream = by_hand();
    let me = callback::this_thread();
    callback::subscribe(me, stream.handle).unwrap();
    let launch = |blocks| {
        // SAFETY: the function takes any argument, on any thread.
        let function = unsafe { HostFunc::new(nothing, std::ptr::null_mut()) };
        callback::launch(function, blocks, stream.handle).unwrap();
    };
    let in_other_thread = || {
        std::thread::scope(|scope| scope.spawn(|| stream.refuse_endless(None, "waited for").is_ok()).join().unwrap())
    };
    let refused = |outcome: Result<()>| {
        let error = outcome.unwrap_err();
        assert!(
            matches!(error, Error::WouldDeadlock(_)) && error.to_string().contains("aclrtProcessReport"),
            "{error}"
        );
    };
    // One that does not block holds nobody up.
    launch(false);
    let entry = stream.queue.lock().begin().unwrap();
    stream.refuse_endless(None, "waited for").unwrap();
    assert!(stream.run(entry, stream.queue.aborts()));
    callback::process(None).unwrap();

    launch(true);
    let mut entry = None;
    for begun in [false, true] {
        if begun {
            entry = stream.queue.lock().begin();
        }
        refused(synchronize(stream.handle, None));
        refused(destroy_handle(stream.handle, false));
        refused(context::destroy(context));
        refused(synchronize_device(0, None));
        assert!(in_other_thread());
        let soon = Some(Instant::now());
        assert!(matches!(synchronize(stream.handle, soon), Err(Error::StreamTimeout(_))));
    }
    std::thread::scope(|scope| {
        scope.spawn(|| assert!(stream.run(entry.unwrap(), stream.queue.aborts())));
        callback::process(None).unwrap();
    });
    synchronize(stream.handle, None).unwrap();
    end(&stream);
    context::destroy(context).unwrap();
}

/// A block is freed while one task that uses it runs and another is queued: it was handed to the latter, and an abort drops that.
#[test]
fn a_freed_block_that_dropped_work_had_stays_with_the_task_that_runs() {
    let context = context::create_explicit(0).unwrap();
    let stream = by_hand();
    let start = memory::allocate(Request::device(64, 0)).unwrap();
    let uses: Uses = std::iter::once(start..start + 64).collect();
    queue_something_with(&stream, uses.clone());
    queue_something_with(&stream, uses);
    let entry = stream.queue.lock().begin().unwrap();
    let aborts = stream.queue.aborts();
    memory::release(start, Kind::Device, "devPtr").unwrap();
    assert_eq!(stream.queue.lock().pending[0].footprint.kept.len(), 1);

    let kept = || stream.queue.lock().running.as_ref().map(|running| running.kept.len());
    assert_eq!(kept(), Some(0));
    std::thread::scope(|scope| {
        let aborting = scope.spawn(|| stream.abort());
        while stream.waiters() == 0 {
            std::thread::yield_now();
        }
        let kept_after_abort = kept();
        assert!(stream.run(entry, aborts));
        aborting.join().unwrap().unwrap();
        assert_eq!((kept_after_abort, kept()), (Some(1), None));
    });
    end(&stream);
    context::destroy(context).unwrap();
}

/// Synchronising a stream that has nothing to do takes no lock: what its work wrote has to be seen all the same. That a read is
/// ordered after the write is for ThreadSanitizer to say (`make test-races`).
#[test]
fn who_finds_a_stream_quiet_sees_what_its_work_wrote() {
    unsafe extern "C" fn count_up(number: *mut c_void) {
        // SAFETY: the test's number, which nobody else touches until the stream is quiet.
        unsafe { *number.cast::<u64>() += 1 };
    }
    let context = context::create_explicit(0).unwrap();
    let stream = by_hand();
    let mut number = 0_u64;
    for round in 1..=20 {
        // SAFETY: the number lives until the work is done.
        let function = unsafe { HostFunc::new(count_up, (&raw mut number).cast()) };
        stream.submit(Task::without_memory(Work::HostFunc(function)), || Ok(())).unwrap();
        assert!(!stream.is_quiet());
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let (entry, aborts) = {
                    let mut state = stream.queue.lock();
                    let entry = state.begin().unwrap();
                    stream.queue.mirror(&state);
                    (entry, stream.queue.aborts())
                };
                // What runs is not done.
                assert!(!stream.is_quiet());
                assert!(stream.run(entry, aborts));
            });
            while !stream.is_quiet() {
                std::thread::yield_now();
            }
            // SAFETY: a local that is alive.
            assert_eq!(unsafe { (&raw const number).read() }, round);
        });
    }
    end(&stream);
    context::destroy(context).unwrap();
}
