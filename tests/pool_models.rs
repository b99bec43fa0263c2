//! Every order in which a launcher and its helpers can take their steps, by loom: the pool's seats and its bell.
//!
//! The files are those of the library, compiled once more with loom's atomics, cells and locks below them. Loom runs each model
//! again and again until it has seen all interleavings (with up to [`PREEMPTIONS`] switches that no thread asked for) and
//! everything that weakly ordered loads may see in them. It fails a model in which memory is touched by two threads in no order,
//! in which all threads that are left sleep for ever, or in which an assertion fails.

#![allow(missing_docs)]

#[path = "../src/runtime/pool/bell.rs"]
#[allow(dead_code)]
mod bell;
#[path = "../src/runtime/pool/seat.rs"]
#[allow(dead_code)]
mod seat;

use std::panic::resume_unwind;

use loom::sync::Arc;
use loom::thread;

use bell::Bell;
use primitives::{AtomicUsize, Ordering, UnsafeCell};
use seat::{End, Job, Owner, Seat};

/// For two threads and for three: more take hours.
const PREEMPTIONS: [usize; 2] = [3, 2];

/// What `src/runtime/pool/primitives.rs` is in the library.
mod primitives {
    pub(super) use loom::cell::UnsafeCell;
    pub(super) use loom::hint::spin_loop;
    pub(super) use std::sync::atomic::Ordering;

    /// The first look is the last: every wait comes to the point where it may sleep.
    pub(super) const SPINS: u32 = 1;

    pub(super) struct Mutex<T>(loom::sync::Mutex<T>);

    impl<T> Mutex<T> {
        pub(super) fn new(value: T) -> Self {
            Self(loom::sync::Mutex::new(value))
        }

        pub(super) fn lock(&self) -> loom::sync::MutexGuard<'_, T> {
            self.0.lock().unwrap()
        }
    }

    /// Loom takes `SeqCst` for `AcqRel`, but knows what a `SeqCst` fence is: one on either side makes it what it is called.
    fn ordered<R>(order: Ordering, step: impl FnOnce() -> R) -> R {
        let fence = || {
            if order == Ordering::SeqCst {
                loom::sync::atomic::fence(order);
            }
        };
        fence();
        let result = step();
        fence();
        result
    }

    macro_rules! atomic {
        ($name:ident, $number:ty) => {
            #[derive(Debug)]
            pub(super) struct $name(loom::sync::atomic::$name);

            #[allow(dead_code)]
            impl $name {
                pub(super) fn new(value: $number) -> Self {
                    Self(loom::sync::atomic::$name::new(value))
                }

                pub(super) fn load(&self, order: Ordering) -> $number {
                    ordered(order, || self.0.load(order))
                }

                pub(super) fn store(&self, value: $number, order: Ordering) {
                    ordered(order, || self.0.store(value, order));
                }

                pub(super) fn fetch_add(&self, value: $number, order: Ordering) -> $number {
                    ordered(order, || self.0.fetch_add(value, order))
                }

                pub(super) fn fetch_sub(&self, value: $number, order: Ordering) -> $number {
                    ordered(order, || self.0.fetch_sub(value, order))
                }

                pub(super) fn fetch_or(&self, value: $number, order: Ordering) -> $number {
                    ordered(order, || self.0.fetch_or(value, order))
                }

                pub(super) fn compare_exchange(
                    &self,
                    current: $number,
                    new: $number,
                    success: Ordering,
                    failure: Ordering,
                ) -> Result<$number, $number> {
                    ordered(success, || self.0.compare_exchange(current, new, success, failure))
                }

                pub(super) fn fetch_update(
                    &self,
                    success: Ordering,
                    failure: Ordering,
                    update: impl FnMut($number) -> Option<$number>,
                ) -> Result<$number, $number> {
                    ordered(success, || self.0.fetch_update(success, failure, update))
                }
            }
        };
    }
    atomic!(AtomicU32, u32);
    atomic!(AtomicU64, u64);
    atomic!(AtomicUsize, usize);

    /// The kernel's: it compares and falls asleep under a lock that whoever wakes takes, too. One lock and one queue for all
    /// numbers, so a sleeper may also wake for nothing, as it may from the real one.
    pub(super) mod futex {
        use super::{AtomicU32, Ordering};

        loom::lazy_static! {
            static ref SLEEPERS: (loom::sync::Mutex<()>, loom::sync::Condvar) =
                (loom::sync::Mutex::new(()), loom::sync::Condvar::new());
        }

        pub(in super::super) fn wait(number: &AtomicU32, seen: u32) {
            let (lock, awake) = &*SLEEPERS;
            let guard = lock.lock().unwrap();
            if number.load(Ordering::SeqCst) == seen {
                drop(awake.wait(guard).unwrap());
            }
        }

        pub(in super::super) fn wake(_number: &AtomicU32, _count: usize) {
            let (lock, awake) = &*SLEEPERS;
            let _guard = lock.lock().unwrap();
            awake.notify_all();
        }
    }
}

fn model(threads: usize, body: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(PREEMPTIONS[threads - 2]);
    builder.check(body);
}

/// What a job borrows from its launcher: as on a launcher's stack, it may not be touched once the job is done.
struct Lent {
    units: Vec<UnsafeCell<u32>>,
}

/// Stands for the reference that a body is.
#[derive(Clone, Copy)]
struct Borrowed(*const Lent);

// SAFETY: the models keep what it points to alive beyond all threads; loom watches who touches it when.
unsafe impl Send for Borrowed {}
// SAFETY: as above.
unsafe impl Sync for Borrowed {}

impl Lent {
    fn new(units: usize) -> Arc<Self> {
        Arc::new(Self { units: (0..units).map(|_| UnsafeCell::new(0)).collect() })
    }

    fn job(&self, threads: usize) -> Job<Borrowed> {
        Job { units: self.units.len(), owner: Owner(7), threads, body: Borrowed(&raw const *self) }
    }

    /// The job is done: every unit was, once. Loom fails here if a helper may still be at it.
    fn take_back(&self) {
        for unit in &self.units {
            // SAFETY: the job is done, so nobody else has it; loom checks that.
            unit.with_mut(|count| unsafe {
                assert_eq!(*count, 1);
                *count = 100;
            });
        }
    }
}

fn do_unit(Borrowed(lent): Borrowed, unit: usize) {
    // SAFETY: alive beyond all threads.
    let lent = unsafe { &*lent };
    // SAFETY: the unit is this thread's alone; loom checks that.
    lent.units[unit].with_mut(|count| unsafe { *count += 1 });
}

struct Shared {
    seat: Seat<Borrowed>,
    working: AtomicUsize,
}

impl Shared {
    fn new() -> Arc<Self> {
        Arc::new(Self { seat: Seat::new(), working: AtomicUsize::new(0) })
    }

    /// What `Pool::run` does with a seat that it has claimed.
    fn launch(&self, job: Job<Borrowed>, run: impl FnMut(Borrowed, usize)) -> Option<Box<dyn std::any::Any + Send>> {
        self.working.fetch_add(1, Ordering::AcqRel);
        self.seat.open(job);
        self.seat.work(End::First, run);
        self.seat.close();
        let panic = self.seat.take_panic();
        self.seat.free();
        self.working.fetch_sub(1, Ordering::AcqRel);
        panic
    }
}

fn helper(shared: &Arc<Shared>, run: impl FnMut(Borrowed, usize) + Send + 'static) -> thread::JoinHandle<bool> {
    let shared = shared.clone();
    thread::spawn(move || shared.seat.help(&shared.working, None, run))
}

/// The helper comes before, during or after the job: the units are done once each, and the job is over when the launcher is.
#[test]
fn a_helper_at_any_time() {
    model(2, || {
        let shared = Shared::new();
        let lent = Lent::new(2);
        let helper = helper(&shared, do_unit);
        assert!(shared.seat.claim());
        assert!(shared.launch(lent.job(2), do_unit).is_none());
        lent.take_back();
        helper.join().unwrap();
    });
}

/// A late helper finds the seat closed, free, or with the next job, and never mixes the two up.
#[test]
fn a_helper_that_comes_late_for_one_job_joins_the_next() {
    model(2, || {
        let shared = Shared::new();
        let (first, second) = (Lent::new(1), Lent::new(2));
        let helper = helper(&shared, do_unit);
        for lent in [first, second] {
            assert!(shared.seat.claim());
            assert!(shared.launch(lent.job(2), do_unit).is_none());
            lent.take_back();
        }
        helper.join().unwrap();
    });
}

/// Both helpers join, wait, leave in any order; whoever leaves last wakes the launcher that sleeps in `close`.
#[test]
fn closing_waits_for_all_helpers_inside() {
    model(3, || {
        let shared = Shared::new();
        let lent = Lent::new(2);
        let helpers = [helper(&shared, do_unit), helper(&shared, do_unit)];
        assert!(shared.seat.claim());
        assert!(shared.launch(lent.job(3), do_unit).is_none());
        lent.take_back();
        for helper in helpers {
            helper.join().unwrap();
        }
    });
}

/// Another launcher computes already: with the one of this job there are as many threads as it may use, and a helper leaves
/// without having done anything.
#[test]
fn no_more_threads_than_the_job_may_use() {
    model(2, || {
        let shared = Shared::new();
        shared.working.fetch_add(1, Ordering::AcqRel);
        let lent = Lent::new(2);
        // Any time before the launcher is done.
        let helper = helper(&shared, do_unit);
        assert!(shared.seat.claim());
        shared.working.fetch_add(1, Ordering::AcqRel);
        shared.seat.open(lent.job(2));
        shared.seat.work(End::First, do_unit);
        shared.seat.close();
        assert!(!helper.join().unwrap());
        lent.take_back();
    });
}

/// Who waits for another owner joins, finds out and leaves, at any time; the job's bounds hold for it, too.
#[test]
fn a_waiter_helps_its_owner_alone() {
    for owner in [7, 8] {
        model(2, move || {
            let shared = Shared::new();
            let lent = Lent::new(2);
            let waiter = shared.clone();
            let waiter = thread::spawn(move || waiter.seat.help(&waiter.working, Some(Owner(owner)), do_unit));
            assert!(shared.seat.claim());
            assert!(shared.launch(lent.job(2), do_unit).is_none());
            lent.take_back();
            let helped = waiter.join().unwrap();
            assert!(owner == 7 || !helped);
        });
    }
}

/// Whoever meets the bad unit, its panic comes back in the launcher, once, and the seat serves the next job.
#[test]
fn a_panic_reaches_the_launcher() {
    fn fail(Borrowed(_): Borrowed, unit: usize) {
        if unit == 0 {
            // Without the message that a plain panic writes.
            resume_unwind(Box::new(unit));
        }
    }
    model(2, || {
        let shared = Shared::new();
        let (bad, good) = (Lent::new(2), Lent::new(1));
        let helper = helper(&shared, fail);
        assert!(shared.seat.claim());
        let panic = shared.launch(bad.job(2), fail).expect("the launcher learns of it");
        assert_eq!(panic.downcast_ref(), Some(&0_usize));
        assert!(shared.seat.claim());
        assert!(shared.launch(good.job(1), do_unit).is_none());
        good.take_back();
        helper.join().unwrap();
    });
}

/// A seat is one launcher's at a time.
#[test]
fn two_launchers_for_one_seat() {
    fn try_to_launch(shared: &Shared) {
        if shared.seat.claim() {
            let lent = Lent::new(1);
            assert!(shared.launch(lent.job(1), do_unit).is_none());
            lent.take_back();
        }
    }
    model(2, || {
        let shared = Shared::new();
        let other = shared.clone();
        let other = thread::spawn(move || try_to_launch(&other));
        try_to_launch(&shared);
        other.join().unwrap();
        assert!(shared.seat.claim());
    });
}

/// A helper that is about to sleep either sees the ring or is woken by it.
#[test]
fn no_ring_is_missed() {
    model(2, || {
        let shared = Arc::new((Bell::new(), AtomicUsize::new(0)));
        let helper = {
            let shared = shared.clone();
            thread::spawn(move || {
                let (bell, jobs) = &*shared;
                let (mut rings, mut looks) = (bell.rings(), 2);
                while jobs.load(Ordering::Acquire) < 2 {
                    rings = bell.wait(rings, &mut looks);
                }
            })
        };
        let (bell, jobs) = &*shared;
        for _ in 0..2 {
            jobs.fetch_add(1, Ordering::Release);
            bell.ring();
            bell.wake(1);
        }
        helper.join().unwrap();
    });
}
