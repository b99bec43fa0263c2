//! Helpers that all streams share: a launching thread cuts its work into units, and helpers take some of them off it.
//!
//! ```text
//! launcher: claim a seat, post the job there, wake helpers
//!           take units by an atomic counter until none is left
//!           close the seat to newcomers, wait for the helpers that have joined, free the seat
//! helper:   look for an open seat, join it, take units until none is left, leave; nothing to do: spin briefly, then sleep
//! ```
//!
//! - The launcher works too, and never waits for a helper that has not begun: with all helpers busy or asleep it simply does
//!   everything itself.
//! - Seats are part of the pool and live for ever, so a helper that comes late looks at a closed seat, not at freed memory.
//! - A helper joins a job only while fewer threads compute than the job may use. Several launchers at a time thus have few or
//!   no helpers: they are the threads.
//! - Helpers start with the first job that wants them. A forked child has none: it finds another process's pool and starts
//!   afresh.
//! - A unit's panic is caught, ends the job early, and goes on in the launcher.

use std::any::Any;
use std::cell::UnsafeCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};

use crate::kernel::Scratch;
use crate::runtime::log;
use crate::sync::Mutex;

/// What a job does for each of its units.
pub type Body<'a> = &'a (dyn Fn(usize, &mut Scratch) + Sync + 'a);

/// Jobs that can be posted at a time; further launchers work alone.
const SEATS: usize = 64;
/// Most helpers that ever start.
const MAX_HELPERS: usize = 1023;
/// Looks at the pool before a helper sleeps: some tens of microseconds.
const SPINS: u32 = 4000;

/// The state of a seat: `FREE`, or `OPEN` or `CLOSED` plus the number of helpers that have joined.
const FREE: u32 = 0;
const CLAIMED: u32 = 1 << 30;
const OPEN: u32 = 1 << 31;
const CLOSED: u32 = OPEN | CLAIMED;
const HELPERS: u32 = CLAIMED - 1;

/// Runs `body` for every unit below `units`, in any order, on up to `threads` threads, the calling one included; returns
/// when all are done. A panic in a unit goes on here; units that no thread has begun by then are left out.
pub fn run(units: usize, threads: usize, body: Body<'_>) {
    let helpers = threads.min(units).saturating_sub(1).min(MAX_HELPERS);
    if helpers == 0 {
        return Scratch::with(|scratch| (0..units).for_each(|unit| body(unit, scratch)));
    }
    Pool::current().run(units, helpers, body);
}

struct Pool {
    /// The process that the helpers belong to.
    process: u32,
    seats: [Seat; SEATS],
    /// Grows with every job: what idle helpers watch, and sleep on.
    posted: AtomicU32,
    sleeping: AtomicUsize,
    /// Threads that compute for a job: launchers and helpers.
    working: AtomicUsize,
    /// Helpers that were started, or were tried.
    helpers: Mutex<usize>,
}

/// Where a job is posted. A line of its own: launchers don't disturb each other.
#[repr(align(128))]
struct Seat {
    state: AtomicU32,
    next: AtomicUsize,
    job: UnsafeCell<Option<Job>>,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

#[derive(Clone, Copy)]
struct Job {
    units: usize,
    threads: usize,
    body: Body<'static>,
}

// SAFETY: `job` is written by the launcher that claimed the seat, before it opens it and after the last helper has left; a
// helper reads it only between joining the open seat and leaving. The body is Sync.
unsafe impl Sync for Seat {}

impl Pool {
    /// This process's pool.
    fn current() -> &'static Self {
        static CURRENT: AtomicPtr<Pool> = AtomicPtr::new(std::ptr::null_mut());
        let process = std::process::id();
        let mut found = CURRENT.load(Ordering::Acquire);
        loop {
            // SAFETY: a pool that was stored here is never freed.
            if let Some(pool) = unsafe { found.as_ref() }
                && pool.process == process
            {
                return pool;
            }
            // The first job of this process. A parent's pool, if it is one, stays as the fork left it, locks and all.
            let fresh = Box::into_raw(Box::new(Self::new(process)));
            match CURRENT.compare_exchange(found, fresh, Ordering::AcqRel, Ordering::Acquire) {
                // SAFETY: just made, and never freed from here on.
                Ok(_) => return unsafe { &*fresh },
                Err(other) => {
                    // SAFETY: just made, and nobody has seen it.
                    drop(unsafe { Box::from_raw(fresh) });
                    found = other;
                }
            }
        }
    }

    fn new(process: u32) -> Self {
        Self {
            process,
            seats: [const { Seat::new() }; SEATS],
            posted: AtomicU32::new(0),
            sleeping: AtomicUsize::new(0),
            working: AtomicUsize::new(0),
            helpers: Mutex::new(0),
        }
    }

    fn run(&'static self, units: usize, helpers: usize, body: Body<'_>) {
        self.start_helpers(helpers);
        let Some(seat) = self.seats.iter().find(|seat| seat.claim()) else {
            return Scratch::with(|scratch| (0..units).for_each(|unit| body(unit, scratch)));
        };
        self.working.fetch_add(1, Ordering::AcqRel);
        // SAFETY: only the lifetime changes. The seat is closed and all helpers have left before this function returns, by
        // panic too: nothing between here and `close` panics, as the body's panics are caught.
        let body = unsafe { std::mem::transmute::<Body<'_>, Body<'static>>(body) };
        seat.open(Job { units, threads: helpers + 1, body });
        self.wake(helpers);
        Scratch::with(|scratch| seat.work(scratch));
        seat.close();
        let panic = seat.panic.lock().take();
        seat.free();
        if self.working.fetch_sub(1, Ordering::AcqRel) > 1 {
            // Others are at work, and while this job's threads were too, helpers may have found enough of them: look again.
            self.wake(helpers);
        }
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
    }

    fn start_helpers(&'static self, wanted: usize) {
        let mut started = self.helpers.lock();
        while *started < wanted {
            // A thread that can't be had is not asked for again: launchers do the work.
            *started += 1;
            let name = format!("aclcpu-pool-{}", *started);
            if let Err(error) = std::thread::Builder::new().name(name).spawn(|| self.help()) {
                log::warning(format_args!("no helper thread for kernels: {error}"));
            }
        }
    }

    fn wake(&self, helpers: usize) {
        self.posted.fetch_add(1, Ordering::SeqCst);
        // Either this sees a helper that is about to sleep, or that helper sees the new number and doesn't.
        if self.sleeping.load(Ordering::SeqCst) > 0 {
            futex::wake(&self.posted, helpers);
        }
    }

    /// What a helper does all its life.
    fn help(&self) {
        let mut scratch = Scratch::new();
        let mut seen = self.posted.load(Ordering::SeqCst);
        loop {
            while self.help_once(&mut scratch) {}
            let mut spins = 0;
            loop {
                let now = self.posted.load(Ordering::SeqCst);
                if now != seen {
                    seen = now;
                    break;
                }
                spins += 1;
                if spins < SPINS {
                    std::hint::spin_loop();
                } else {
                    self.sleeping.fetch_add(1, Ordering::SeqCst);
                    futex::wait(&self.posted, seen);
                    self.sleeping.fetch_sub(1, Ordering::SeqCst);
                }
            }
        }
    }

    /// Helps with one job; false where there is none.
    fn help_once(&self, scratch: &mut Scratch) -> bool {
        self.seats.iter().any(|seat| seat.help(&self.working, scratch))
    }
}

impl Seat {
    const fn new() -> Self {
        Self {
            state: AtomicU32::new(FREE),
            next: AtomicUsize::new(0),
            job: UnsafeCell::new(None),
            panic: Mutex::new(None),
        }
    }

    fn claim(&self) -> bool {
        self.state.load(Ordering::Relaxed) == FREE
            && self.state.compare_exchange(FREE, CLAIMED, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    fn open(&self, job: Job) {
        self.next.store(0, Ordering::Relaxed);
        // SAFETY: the seat is claimed by this thread and not open: nobody else looks.
        unsafe { *self.job.get() = Some(job) };
        self.state.store(OPEN, Ordering::Release);
    }

    /// Takes units until none is left.
    fn work(&self, scratch: &mut Scratch) {
        // SAFETY: the caller is the launcher, or a helper that has joined.
        let Some(job) = (unsafe { *self.job.get() }) else { return };
        let units = || {
            loop {
                let unit = self.next.fetch_add(1, Ordering::Relaxed);
                if unit >= job.units {
                    break;
                }
                (job.body)(unit, scratch);
            }
        };
        if let Err(panic) = catch_unwind(AssertUnwindSafe(units)) {
            // Far past the end, and far from wrapping around.
            self.next.store(usize::MAX / 2, Ordering::Relaxed);
            self.panic.lock().get_or_insert(panic);
        }
    }

    /// Lets no more helpers in, and waits for those that are.
    fn close(&self) {
        let mut state = self.state.fetch_or(CLOSED, Ordering::AcqRel) | CLOSED;
        let mut spins = 0;
        while state != CLOSED {
            spins += 1;
            if spins < SPINS {
                std::hint::spin_loop();
            } else {
                futex::wait(&self.state, state);
            }
            state = self.state.load(Ordering::Acquire);
        }
    }

    fn free(&self) {
        // SAFETY: closed, and the last helper has left.
        unsafe { *self.job.get() = None };
        self.state.store(FREE, Ordering::Release);
    }

    /// Joins the seat's job and works on it; false where there is nothing to do here.
    fn help(&self, working: &AtomicUsize, scratch: &mut Scratch) -> bool {
        if !self.join() {
            return false;
        }
        // SAFETY: joined.
        let threads = unsafe { *self.job.get() }.map_or(0, |job| job.threads);
        let helped = self.units_left()
            && working.fetch_update(Ordering::AcqRel, Ordering::Relaxed, |n| (n < threads).then_some(n + 1)).is_ok();
        if helped {
            self.work(scratch);
            working.fetch_sub(1, Ordering::AcqRel);
        }
        self.leave();
        helped
    }

    fn units_left(&self) -> bool {
        // SAFETY: joined.
        let units = unsafe { *self.job.get() }.map_or(0, |job| job.units);
        self.next.load(Ordering::Relaxed) < units
    }

    fn join(&self) -> bool {
        let is_open = |state: u32| state & CLOSED == OPEN;
        is_open(self.state.load(Ordering::Relaxed))
            && self
                .state
                .fetch_update(Ordering::Acquire, Ordering::Relaxed, |state| is_open(state).then_some(state + 1))
                .is_ok()
    }

    fn leave(&self) {
        let state = self.state.fetch_sub(1, Ordering::AcqRel) - 1;
        // From here on the seat may be free, and another's. It stays a seat, though, and to be woken for nothing hurts nobody.
        if state & CLOSED == CLOSED && state & HELPERS == 0 {
            futex::wake(&self.state, usize::MAX);
        }
    }
}

/// Sleeping until a number changes.
mod futex {
    use std::sync::atomic::AtomicU32;

    /// Sleeps while the number is `seen`, or a little less.
    pub(super) fn wait(number: &AtomicU32, seen: u32) {
        let forever = std::ptr::null::<libc::timespec>();
        let operation = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
        // SAFETY: the number is alive throughout the call, which only reads it.
        unsafe { libc::syscall(libc::SYS_futex, number.as_ptr(), operation, seen, forever) };
    }

    /// Wakes up to `count` sleepers.
    pub(super) fn wake(number: &AtomicU32, count: usize) {
        let count = i32::try_from(count).unwrap_or(i32::MAX);
        let operation = libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG;
        // SAFETY: the call takes the address for its value only.
        unsafe { libc::syscall(libc::SYS_futex, number.as_ptr(), operation, count) };
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::AtomicBool;

    use super::*;

    /// Jobs whose units wait for each other need all their helpers, which the pool promises to nobody: while another job
    /// runs they may stay with that one. So such tests run alone.
    static ALONE: Mutex<()> = Mutex::new(());

    /// Each unit once, whatever the number of units and threads.
    fn check_units(units: usize, threads: usize) {
        let counts: Vec<_> = (0..units).map(|_| AtomicUsize::new(0)).collect();
        run(units, threads, &|unit, _| {
            counts[unit].fetch_add(1, Ordering::Relaxed);
        });
        assert!(counts.iter().all(|count| count.load(Ordering::Relaxed) == 1), "{units} units, {threads} threads");
    }

    #[test]
    fn every_unit_runs_once() {
        let _alone = ALONE.lock();
        for units in [0, 1, 2, 3, 17, 1000] {
            for threads in [1, 2, 3, 8] {
                check_units(units, threads);
            }
        }
    }

    #[test]
    fn many_jobs_from_many_launchers() {
        let _alone = ALONE.lock();
        std::thread::scope(|scope| {
            for launcher in 0..8 {
                scope.spawn(move || (0..3000).for_each(|round| check_units(round % 13, 2 + (launcher + round) % 3)));
            }
        });
    }

    #[test]
    fn more_launchers_than_seats() {
        let _alone = ALONE.lock();
        let all_in = Barrier::new(SEATS + 8);
        std::thread::scope(|scope| {
            for _ in 0..SEATS + 8 {
                scope.spawn(|| {
                    let first = AtomicBool::new(true);
                    run(20, 2, &|_, _| {
                        // Every launcher is in a job at the same time.
                        if first.swap(false, Ordering::Relaxed) {
                            all_in.wait();
                        }
                    });
                });
            }
        });
    }

    #[test]
    fn helpers_do_help() {
        let _alone = ALONE.lock();
        // Two units that wait for each other: only two threads can finish them. Helpers that sleep must wake for it.
        for pause in [0, 0, 0, 30, 0, 30] {
            std::thread::sleep(std::time::Duration::from_millis(pause));
            let both = Barrier::new(2);
            run(2, 2, &|_, _| {
                both.wait();
            });
        }
    }

    #[test]
    fn all_threads_of_a_large_job_come() {
        let _alone = ALONE.lock();
        let all = Barrier::new(8);
        let names = Mutex::new(std::collections::HashSet::new());
        run(8, 8, &|_, _| {
            all.wait();
            names.lock().insert(std::thread::current().id());
        });
        assert_eq!(names.lock().len(), 8);
    }

    #[test]
    fn a_panic_comes_back_and_the_pool_lives_on() {
        let _alone = ALONE.lock();
        for round in 0..200 {
            let panicking = round % 20;
            let result = std::panic::catch_unwind(AssertUnwindSafe(|| {
                run(20, 3, &|unit, _| {
                    if unit == panicking {
                        // Without the message that a plain panic writes.
                        resume_unwind(Box::new(unit));
                    }
                });
            }));
            assert_eq!(result.unwrap_err().downcast_ref(), Some(&panicking));
            check_units(20, 3);
        }
    }

    #[test]
    fn a_unit_may_launch_too() {
        let _alone = ALONE.lock();
        let count = AtomicUsize::new(0);
        run(4, 2, &|_, _| {
            run(4, 2, &|_, _| {
                count.fetch_add(1, Ordering::Relaxed);
            });
        });
        assert_eq!(count.load(Ordering::Relaxed), 16);
    }

    #[test]
    #[cfg(not(miri))]
    fn a_forked_child_has_helpers_of_its_own() {
        let _alone = ALONE.lock();
        check_units(10, 3);
        // SAFETY: the child only runs jobs, which take no lock that another thread of the parent may have held, and leaves
        // without running destructors.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let both = Barrier::new(2);
            run(2, 2, &|_, _| {
                both.wait();
            });
            // SAFETY: ends the child.
            unsafe { libc::_exit(7) };
        }
        let mut status = 0;
        // For so long that only a child that hangs is missed.
        let ended = (0..1000).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            // SAFETY: asks about the child above.
            unsafe { libc::waitpid(child, &raw mut status, libc::WNOHANG) == child }
        });
        if !ended {
            // SAFETY: the child above.
            unsafe { libc::kill(child, libc::SIGKILL) };
        }
        assert!(ended, "the child hangs");
        assert_eq!(libc::WEXITSTATUS(status), 7);
    }
}
