//! What needs a stream's insides: orders of steps that no caller can bring about at will.

use std::ffi::c_void;
use std::time::Duration;

use super::queue::Worker;
use super::*;
use crate::runtime::event::{self, Flavor};

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

/// Too large to run inside the launching call.
fn queue_something(stream: &Stream) {
    unsafe extern "C" fn nothing(_: *mut c_void) {}
    // SAFETY: the function takes any argument, on any thread.
    let function = unsafe { HostFunc::new(nothing, std::ptr::null_mut()) };
    stream.submit(Task::without_memory(Work::HostFunc(function)), || Ok(())).unwrap();
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
        while stream.aborts() == 0 {
            std::thread::yield_now();
        }
        // It waits for the task that has begun.
        assert!(!stream.is_idle());
        stream.run(entry, aborts);
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
                stream.run(entry, aborts);
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
