//! Helpers that all streams share: a launching thread cuts its work into units, and helpers take some of them off it.
//!
//! ```text
//! launcher: claim a seat, post the job there, wake helpers
//!           take units by an atomic counter until none is left
//!           close the seat to newcomers, wait for the helpers that have joined, free the seat
//! helper:   look for an open seat, join it, take units until none is left, leave; nothing to do: spin briefly, then sleep
//! waiter:   a thread that waits for a stream helps with that stream's jobs meanwhile
//! ```
//!
//! - The launcher works too, and never waits for a helper that has not begun: with all helpers busy or asleep it simply does
//!   everything itself.
//! - Seats are part of the pool and live for ever, so a helper that comes late looks at a closed seat, not at freed memory.
//! - Helpers that sleep are woken only for places that threads which are awake have not taken by themselves: one thread too
//!   many takes a processor from those who compute. Brief jobs are left to threads that are awake; see [`Wake`].
//! - A helper joins a job only while fewer threads compute than the job may use. Several launchers at a time thus have few or
//!   no helpers: they are the threads.
//! - Helpers start with the first job that wants them. A forked child has none: it finds another process's pool and starts
//!   afresh.
//! - A unit's panic is caught, ends the job early, and goes on in the launcher.

mod bell;
mod futex;
mod primitives;
mod seat;
#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::hint::spin_loop;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::kernel::Scratch;
use crate::runtime::{fork, log};
use crate::sync::Mutex;
use bell::Bell;
use primitives::SPINS;
pub use seat::Owner;
use seat::{End, Job, MAX_UNITS, Seat};

/// What a job does for each of its units.
pub type Body<'a> = &'a (dyn Fn(usize, &mut Scratch) + Sync + 'a);

/// Jobs that can be posted at a time; further launchers work alone.
const SEATS: usize = 64;
/// Most helpers that ever start.
const MAX_HELPERS: usize = 1023;

/// How long a launcher looks for threads that come by themselves before it wakes others.
const COMING: Duration = Duration::from_micros(1);
/// The time from a brief job's end to the next one's beginning within which one follows the other: as long as a helper stays
/// awake.
const SHORTLY: Duration = Duration::from_micros(100);

/// How a job is to be run.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// Most threads that compute for it, the launching one included.
    pub threads: usize,
    /// Who waits for it.
    pub owner: Owner,
    /// When helpers that sleep are woken for it.
    pub wake: Wake,
}

/// When helpers that sleep are woken for a job. It takes some ten microseconds until one is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// At the job's beginning: its units take longer than that.
    AtOnce,
    /// After its first unit, which takes no longer: by then a waiter may have come.
    AfterUnit,
    /// Not for this job, which would be over. Where one such job follows the other, for those to come.
    ForNext,
}

/// Runs `body` for every unit below `units`, in any order, the calling thread among others; returns when all are done. A
/// panic in a unit goes on here; units that no thread has begun by then are left out.
pub fn run(units: usize, terms: Terms, body: Body<'_>) {
    if terms.threads.min(units) < 2 {
        return Scratch::with(|scratch| (0..units).for_each(|unit| body(unit, scratch)));
    }
    Pool::current().run(units, terms, body);
}

/// A thread that waits for an owner's work, and may do some of it.
#[derive(Debug)]
pub struct Waiter {
    owner: Owner,
    seen: Cell<Option<u32>>,
}

impl Waiter {
    /// One that has not looked for jobs yet.
    pub fn new(owner: Owner) -> Self {
        Self { owner, seen: Cell::new(None) }
    }

    /// Whether a job, of anybody, was posted since this was last asked.
    pub fn sees_job(&self) -> bool {
        let rings = Pool::started().map(|pool| pool.bell.rings());
        self.seen.replace(rings) != rings
    }

    /// Helps with the owner's jobs that are there now.
    pub fn help(&self) {
        if let Some(pool) = Pool::started() {
            Scratch::with(|scratch| while pool.help_once(Some(self.owner), scratch) {});
        }
    }
}

static CURRENT: AtomicPtr<Pool> = AtomicPtr::new(std::ptr::null_mut());

struct Pool {
    /// The process that the helpers belong to.
    process: u32,
    seats: [Seat<Body<'static>>; SEATS],
    /// Rings for every job.
    bell: Bell,
    /// Threads that compute for a job: launchers and helpers.
    working: AtomicUsize,
    /// Helpers that were started, or were tried.
    helpers: Mutex<usize>,
}

impl Pool {
    /// This process's pool, if there was a job before.
    fn started() -> Option<&'static Self> {
        // SAFETY: a pool that was stored here is never freed.
        let pool = unsafe { CURRENT.load(Ordering::Acquire).as_ref() };
        pool.filter(|pool| pool.process == fork::process())
    }

    /// This process's pool.
    fn current() -> &'static Self {
        let process = fork::process();
        let mut found = CURRENT.load(Ordering::Acquire);
        loop {
            // SAFETY: as above.
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
            seats: std::array::from_fn(|_| Seat::new()),
            bell: Bell::new(),
            working: AtomicUsize::new(0),
            helpers: Mutex::new(0),
        }
    }

    fn run(&'static self, units: usize, terms: Terms, body: Body<'_>) {
        let helpers = (terms.threads.min(units) - 1).min(MAX_HELPERS);
        let brief = terms.wake == Wake::ForNext;
        if !brief {
            self.start_helpers(helpers);
        }
        // A brief job is not worth a seat that no helper may join.
        let pays = units <= MAX_UNITS && !(brief && self.working.load(Ordering::Relaxed) > helpers);
        let Some(seat) = self.seats.iter().find(|seat| pays && seat.claim()) else {
            return Scratch::with(|scratch| (0..units).for_each(|unit| body(unit, scratch)));
        };
        let follows = brief && Rhythm::follows();
        self.working.fetch_add(1, Ordering::AcqRel);
        // SAFETY: only the lifetime changes. The seat is closed and all helpers have left before this function returns, by
        // panic too: nothing between here and `close` panics, as the body's panics are caught.
        let body = unsafe { std::mem::transmute::<Body<'_>, Body<'static>>(body) };
        seat.open(Job { units, owner: terms.owner, threads: helpers + 1, body });
        self.bell.ring();
        let missing = || (helpers + 1).saturating_sub(self.working.load(Ordering::Relaxed));
        if terms.wake == Wake::AtOnce {
            let start = Instant::now();
            while missing() > 0 && start.elapsed() < COMING {
                spin_loop();
            }
            self.bell.wake(missing());
        }
        let mut units_here = 0;
        Scratch::with(|scratch| {
            seat.work(End::First, |body, unit| {
                body(unit, scratch);
                units_here += 1;
                if units_here == 1 && terms.wake == Wake::AfterUnit {
                    self.bell.wake(missing());
                }
            });
        });
        seat.close();
        let panic = seat.take_panic();
        seat.free();
        let others = self.working.fetch_sub(1, Ordering::AcqRel) - 1;
        if brief {
            if Rhythm::ends(follows, units_here == units) {
                self.start_helpers(helpers);
                self.bell.ring();
                self.bell.wake(helpers);
            }
        } else if others > 0 {
            // While this job's threads were at work too, helpers may have found enough of them for the others: look again.
            self.bell.ring();
            self.bell.wake(helpers);
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

    /// What a helper does all its life.
    fn help(&self) {
        let mut scratch = Scratch::new();
        let mut rings = self.bell.rings();
        let mut looks = 1;
        loop {
            while self.help_once(None, &mut scratch) {
                looks = SPINS;
            }
            if self.working.load(Ordering::Relaxed) > 1 {
                // Others are enough, and this thread is in their way as long as it spins.
                looks = 1;
            }
            rings = self.bell.wait(rings, &mut looks);
        }
    }

    /// Helps with one job, of `owner` if given; false where there is none.
    fn help_once(&self, owner: Option<Owner>, scratch: &mut Scratch) -> bool {
        self.seats.iter().any(|seat| seat.help(&self.working, owner, |body, unit| body(unit, scratch)))
    }
}

/// A thread's brief jobs, one after the other.
#[derive(Clone, Copy)]
struct Rhythm {
    /// When the last one ended.
    end: Option<Instant>,
    /// How many in a row followed each other, and nobody helped.
    alone: u32,
}

thread_local!(static RHYTHM: Cell<Rhythm> = const { Cell::new(Rhythm { end: None, alone: 0 }) });

impl Rhythm {
    /// Whether a job that begins now follows another.
    fn follows() -> bool {
        RHYTHM.get().end.is_some_and(|end| end.elapsed() < SHORTLY)
    }

    /// A job has ended, which followed another or not, and was done by its launcher alone or not: whether to wake helpers
    /// for those to come. If they don't come, they are called again after twice as many jobs.
    fn ends(follows: bool, alone: bool) -> bool {
        let alone = if follows && alone { RHYTHM.get().alone.saturating_add(1) } else { 0 };
        RHYTHM.set(Self { end: Some(Instant::now()), alone });
        alone.is_power_of_two()
    }
}
