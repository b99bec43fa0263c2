//! Where a job is posted for helpers to join.
//!
//! ```text
//! launcher:  claim -> open -> work -> close -> take_panic -> free
//! helper:    join (only while it is open) -> work -> leave
//! ```
//!
//! `close` waits for the helpers that have joined, and no others: what the job borrows is out of reach when it returns.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::primitives::{AtomicU32, AtomicU64, AtomicUsize, Mutex, Ordering, SPINS, UnsafeCell, futex, spin_loop};

/// The state of a seat: `FREE`, or `OPEN` or `CLOSED` plus the number of helpers that have joined.
const FREE: u32 = 0;
const CLAIMED: u32 = 1 << 30;
const OPEN: u32 = 1 << 31;
const CLOSED: u32 = OPEN | CLAIMED;
const HELPERS: u32 = CLAIMED - 1;

/// A place for one job after the other. A line of its own: launchers don't disturb each other.
#[repr(align(128))]
pub(super) struct Seat<B> {
    state: AtomicU32,
    taken: Taken,
    job: UnsafeCell<Option<Job<B>>>,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

/// Most units of a job.
pub(super) const MAX_UNITS: usize = 1 << 30;

/// How many units are taken, from either end: so that in jobs of the same kind, each of two threads finds in its caches what
/// it had the last time.
#[derive(Debug)]
struct Taken(AtomicU64);

/// From which end a thread takes units: the launcher from the first on, others from the last on.
#[derive(Clone, Copy, Debug)]
pub(super) enum End {
    First,
    Last,
}

impl Taken {
    /// One unit from the last on; in the lower half, one from the first on.
    const FROM_LAST: u64 = 1 << 32;

    fn halves(both: u64) -> [usize; 2] {
        [both % Self::FROM_LAST, both / Self::FROM_LAST].map(|half| half as usize)
    }

    fn take(&self, end: End, units: usize) -> Option<usize> {
        let one = match end {
            End::First => 1,
            End::Last => Self::FROM_LAST,
        };
        let [first, last] = Self::halves(self.0.fetch_add(one, Ordering::Relaxed));
        let unit = match end {
            End::First => first,
            End::Last => units.wrapping_sub(1 + last),
        };
        (first + last < units).then_some(unit)
    }

    fn leaves_some(&self, units: usize) -> bool {
        let [first, last] = Self::halves(self.0.load(Ordering::Relaxed));
        first + last < units
    }

    fn offer_all(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    /// Leaves nothing to take.
    fn take_all(&self) {
        self.0.store(MAX_UNITS as u64, Ordering::Relaxed);
    }
}

/// Who waits for a job: a number of the launcher's choice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Owner(pub usize);

/// What is to be done.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job<B> {
    pub(super) units: usize,
    /// Whose it is: threads that wait for the owner help with nothing else.
    pub(super) owner: Owner,
    /// The most that may compute, for this job or another, when a helper begins with this one.
    pub(super) threads: usize,
    /// What is done for each unit.
    pub(super) body: B,
}

// SAFETY: `job` is written by the launcher that claimed the seat, before it opens it and after the last helper has left; a
// helper reads it only between joining the open seat and leaving. Its body is shared among these threads.
unsafe impl<B: Sync + Send> Sync for Seat<B> {}

impl<B: Copy> Seat<B> {
    pub(super) fn new() -> Self {
        Self {
            state: AtomicU32::new(FREE),
            taken: Taken(AtomicU64::new(0)),
            job: UnsafeCell::new(None),
            panic: Mutex::new(None),
        }
    }

    /// Takes the seat, if nobody has it.
    pub(super) fn claim(&self) -> bool {
        self.state.load(Ordering::Relaxed) == FREE
            && self.state.compare_exchange(FREE, CLAIMED, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Posts a job. The caller has claimed the seat.
    pub(super) fn open(&self, job: Job<B>) {
        self.taken.offer_all();
        // SAFETY: the seat is claimed by this thread and not open: nobody else looks.
        self.job.with_mut(|place| unsafe { *place = Some(job) });
        self.state.store(OPEN, Ordering::Release);
    }

    /// The job. The caller has opened the seat, or has joined it.
    fn job(&self) -> Option<Job<B>> {
        // SAFETY: the caller is the launcher, or a helper that has joined: the job stays until they are done.
        self.job.with(|place| unsafe { *place })
    }

    /// Takes units from one end until none is left. The caller has opened the seat, or has joined it.
    pub(super) fn work(&self, end: End, mut run: impl FnMut(B, usize)) {
        let Some(job) = self.job() else { return };
        let units = || {
            while let Some(unit) = self.taken.take(end, job.units) {
                run(job.body, unit);
            }
        };
        if let Err(panic) = catch_unwind(AssertUnwindSafe(units)) {
            self.taken.take_all();
            self.panic.lock().get_or_insert(panic);
        }
    }

    /// Lets no more helpers in, and waits for those that are.
    pub(super) fn close(&self) {
        let mut state = self.state.fetch_or(CLOSED, Ordering::AcqRel) | CLOSED;
        let mut spins = 0;
        while state != CLOSED {
            spins += 1;
            if spins < SPINS {
                spin_loop();
            } else {
                futex::wait(&self.state, state);
            }
            state = self.state.load(Ordering::Acquire);
        }
    }

    /// What a unit of the closed job panicked with.
    pub(super) fn take_panic(&self) -> Option<Box<dyn Any + Send>> {
        self.panic.lock().take()
    }

    /// Gives the closed seat back.
    pub(super) fn free(&self) {
        // SAFETY: closed, and the last helper has left.
        self.job.with_mut(|place| unsafe { *place = None });
        self.state.store(FREE, Ordering::Release);
    }

    /// Joins the seat's job and works on it; false where there is nothing to do here. `working`: threads that compute.
    /// `owner`: whose job alone it may be.
    pub(super) fn help(&self, working: &AtomicUsize, owner: Option<Owner>, run: impl FnMut(B, usize)) -> bool {
        if !self.join() {
            return false;
        }
        let helped = self.job().is_some_and(|job| {
            self.taken.leaves_some(job.units)
                && owner.is_none_or(|owner| owner == job.owner)
                && working
                    .fetch_update(Ordering::AcqRel, Ordering::Relaxed, |n| (n < job.threads).then_some(n + 1))
                    .is_ok()
        });
        if helped {
            self.work(End::Last, run);
            working.fetch_sub(1, Ordering::AcqRel);
        }
        self.leave();
        helped
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
