//! Every order in which a gate can be waited for and opened, by loom.
//!
//! The file is that of the library, compiled once more with loom's atomics and locks below it: see `tests/pool_models.rs`, which
//! does the same with the pool's. A model fails if memory is touched by two threads in no order, if all threads that are left
//! sleep for ever, or if an assertion fails.

#![allow(missing_docs)]

#[path = "../src/runtime/gate.rs"]
mod gate;

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

use gate::{Gate, Outcome};

/// What `src/runtime/spin.rs` is in the library: the first look is the last, so that every wait comes to where it may park.
mod spin {
    use std::time::Instant;

    pub fn linger_until(_: Option<Instant>, done: impl Fn() -> bool) -> bool {
        done()
    }
}

/// What `src/tsan.rs` is in the library.
mod tsan {
    pub fn acquire<T>(_: *const T) {}
    pub fn release<T>(_: *const T) {}
}

/// What `src/sync.rs` is in the library. No model has a deadline: time does not pass in them.
mod sync {
    use std::sync::atomic::Ordering;
    use std::time::Instant;

    #[derive(Debug, Default)]
    pub struct AtomicBool(loom::sync::atomic::AtomicBool);

    impl AtomicBool {
        pub fn load(&self, order: Ordering) -> bool {
            self.0.load(order)
        }

        pub fn store(&self, value: bool, order: Ordering) {
            self.0.store(value, order);
        }
    }

    pub type MutexGuard<'a, T> = loom::sync::MutexGuard<'a, T>;

    #[derive(Debug, Default)]
    pub struct Mutex<T>(loom::sync::Mutex<T>);

    impl<T> Mutex<T> {
        pub fn lock(&self) -> MutexGuard<'_, T> {
            self.0.lock().unwrap()
        }
    }

    #[derive(Debug, Default)]
    pub struct Condvar(loom::sync::Condvar);

    impl Condvar {
        pub fn notify_all(&self) {
            self.0.notify_all();
        }

        pub fn wait_until<'a, T>(&self, guard: MutexGuard<'a, T>, deadline: Option<Instant>) -> MutexGuard<'a, T> {
            assert!(deadline.is_none());
            self.0.wait(guard).unwrap()
        }
    }
}

/// A gate, and what is written before it opens.
#[derive(Default)]
struct Shared {
    gate: Gate,
    told: sync::AtomicBool,
    number: UnsafeCell<u32>,
}

impl Shared {
    fn open(&self) {
        // SAFETY: nobody reads before the gate is open; loom checks that.
        self.number.with_mut(|number| unsafe { *number = 7 });
        self.gate.open();
    }

    fn read(&self) {
        // SAFETY: nobody writes once the gate is open; loom checks that.
        self.number.with(|number| unsafe { assert_eq!(*number, 7) });
    }
}

#[test]
fn who_came_through_sees_what_was_written_before() {
    loom::model(|| {
        let shared = Arc::new(Shared::default());
        let waiter = thread::spawn({
            let shared = shared.clone();
            move || {
                assert_eq!(shared.gate.wait(None, || false), Outcome::Open);
                shared.read();
            }
        });
        shared.open();
        waiter.join().unwrap();
    });
}

#[test]
fn who_finds_it_open_sees_what_was_written_before() {
    loom::model(|| {
        let shared = Arc::new(Shared::default());
        let looking = thread::spawn({
            let shared = shared.clone();
            move || {
                if shared.gate.is_open() {
                    shared.read();
                }
            }
        });
        shared.open();
        looking.join().unwrap();
    });
}

#[test]
fn every_waiter_comes_through() {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(|| {
        let shared = Arc::new(Shared::default());
        let waiters = [(); 2].map(|()| {
            let shared = shared.clone();
            thread::spawn(move || assert_eq!(shared.gate.wait(None, || false), Outcome::Open))
        });
        shared.open();
        waiters.into_iter().for_each(|waiter| waiter.join().unwrap());
    });
}

#[test]
fn a_waiter_that_is_told_to_give_up_does() {
    loom::model(|| {
        use std::sync::atomic::Ordering::{Acquire, Release};
        let shared = Arc::new(Shared::default());
        let waiter = thread::spawn({
            let shared = shared.clone();
            move || assert_eq!(shared.gate.wait(None, || shared.told.load(Acquire)), Outcome::Interrupted)
        });
        shared.told.store(true, Release);
        shared.gate.nudge();
        waiter.join().unwrap();
    });
}
