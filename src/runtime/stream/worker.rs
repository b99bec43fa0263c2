//! The thread behind a stream. It starts at the stream's first use and retires when it has been idle for long, so that
//! thousands of streams may exist.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Stream;
use super::queue::Worker;
use crate::error::{Error, Result};
use crate::kernel::Scratch;
use crate::runtime::spin::{Busy, spin_until};
use crate::runtime::thread;

/// How long an idle worker stays.
const RETIREMENT: Duration = if cfg!(test) { Duration::from_millis(5) } else { Duration::from_secs(10) };

/// Starts the worker. The caller holds the queue's lock, and notes that there is one.
pub(super) fn start(stream: &Stream) -> Result<()> {
    let stream = stream.me.upgrade().ok_or_else(|| Error::DeadStream("the stream is being destroyed".into()))?;
    let id = stream.id;
    thread::start(&format!("acl stream {id}"), move || work(&stream))
        .map_err(|error| Error::OutOfResources(format!("the system has no thread for stream {id}: {error}")))
}

fn work(stream: &Arc<Stream>) {
    // Its working memory is made here, so that no launch has to.
    Scratch::with(|_| ());
    let queue = &stream.queue;
    let mut state = queue.lock();
    loop {
        if let Some(entry) = state.begin() {
            queue.mirror(&state);
            let aborts = queue.aborts();
            drop(state);
            let busy = Busy::begin();
            if !stream.run(entry, aborts) {
                // The parent's queue is not for this process, whose first thread has come to its end.
                // SAFETY: ends the process as the end of its only thread would, also where our own threads are at work there.
                unsafe { libc::exit(0) };
            }
            drop(busy);
            state = queue.lock();
            continue;
        }
        if state.closing {
            state.worker = Worker::None;
            return;
        }
        drop(state);
        let found_work = spin_until(|| queue.is_ready());
        state = queue.lock();
        if found_work {
            continue;
        }
        queue.mirror(&state);
        if queue.is_ready() {
            continue;
        }
        let deadline = Instant::now() + RETIREMENT;
        state.worker = Worker::Parked;
        // Whoever brings work makes it `Awake`.
        while state.worker == Worker::Parked {
            if Instant::now() >= deadline {
                state.worker = Worker::None;
                return;
            }
            state = queue.wake_worker.wait_until(state, Some(deadline));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::c_void;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::super::{Config, HostFunc, Task, Work, create, destroy_handle, resolve};
    use super::*;
    use crate::runtime::context;

    #[test]
    fn an_idle_worker_retires_and_another_takes_over() {
        static RAN: AtomicUsize = AtomicUsize::new(0);
        unsafe extern "C" fn count(_: *mut c_void) {
            RAN.fetch_add(1, Ordering::SeqCst);
        }
        let context = context::create_explicit(0).unwrap();
        let handle = create(Config::default()).unwrap();
        let stream = resolve(handle).unwrap();
        for round in 1..=3 {
            // SAFETY: the function takes any argument, on any thread.
            let function = unsafe { HostFunc::new(count, std::ptr::null_mut()) };
            stream.submit(Task::without_memory(Work::HostFunc(function)), || Ok(())).unwrap();
            stream.synchronize(None).unwrap();
            assert_eq!(RAN.load(Ordering::SeqCst), round);
            // No deadline of its own: the test hangs, and is seen to, if the worker stays.
            while stream.queue.lock().worker != Worker::None {
                std::thread::yield_now();
            }
        }
        destroy_handle(handle, false).unwrap();
        context::destroy(context).unwrap();
    }
}
