//! A stream's queue: in what order tasks run, who runs them, and what is left of them when they failed. What others do to
//! it is in `control`.

use std::collections::VecDeque;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::task::{Task, Uses, Work};
use super::{Stream, as_callback_of, worker};
use crate::api::guard::panic_text;
use crate::error::{Error, Result};
use crate::runtime::callback::Server;
use crate::runtime::memory::{Block, Kept, Kind, find_block};
use crate::runtime::record::Record;
use crate::runtime::{check, fault, fork, log};
use crate::sync::{Condvar, Mutex, MutexGuard};
use crate::tsan;

/// The addresses of a task, and the freed blocks that live on until it is done.
#[derive(Debug, Default)]
pub(super) struct Footprint {
    uses: Uses,
    pub(super) kept: Vec<Kept>,
}

impl Footprint {
    pub(super) fn touches(&self, block: Block) -> bool {
        self.uses.iter().any(|range| range.start < block.end() && block.start < range.end)
    }
}

#[derive(Debug)]
pub(super) struct Entry {
    pub(super) work: Work,
    pub(super) footprint: Footprint,
    /// Fails instead of running (`ACLCPU_FAULT`).
    faulty: bool,
}

/// Where the worker thread is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Worker {
    /// There is none.
    None,
    /// Running a task, or about to look at the queue.
    Awake,
    /// Waiting for a notification.
    Parked,
}

/// What the lock protects.
#[derive(Debug)]
pub(super) struct State {
    pub(super) pending: VecDeque<Entry>,
    /// What the task that runs now touches; `None` where none runs.
    pub(super) running: Option<Footprint>,
    /// What the task that runs now waits for, to be nudged when it is to give up.
    pub(super) awaited: Option<Arc<Record>>,
    /// Who has to bring that about, where it is a thread of the caller's.
    needed: Option<Arc<Server>>,
    /// Tasks that were ever queued; the last one's number.
    pub(super) submitted: u64,
    /// The tasks up to this number are over. The one that runs has the next number.
    pub(super) finished: u64,
    /// The tasks up to this number that did not begin by the last abort never will.
    pub(super) dropped: u64,
    pub(super) failure: Option<Error>,
    /// What the next synchronise reports (`ACLCPU_CHECK`).
    pub(super) findings: Vec<String>,
    pub(super) stop_on_failure: bool,
    /// No task is taken any more.
    pub(super) closing: bool,
    pub(super) worker: Worker,
    pub(super) waiters: usize,
}

impl State {
    /// The next task, if it is its turn: it counts as running from here on.
    pub(super) fn begin(&mut self) -> Option<Entry> {
        if self.running.is_some() {
            return None;
        }
        let mut entry = self.pending.pop_front()?;
        if self.pending.is_empty() && self.pending.capacity() > 1024 {
            self.pending.shrink_to(64);
        }
        self.running = Some(std::mem::take(&mut entry.footprint));
        self.awaited = entry.work.waits_for();
        self.needed = entry.work.needs().cloned();
        Some(entry)
    }

    /// Whether the stream does not go on to its end without this thread of the caller's.
    pub(super) fn needs(&self, server: &Arc<Server>) -> bool {
        let is_it = |needed: &Arc<Server>| Arc::ptr_eq(needed, server);
        let is_over = self.awaited.as_ref().is_none_or(|record| record.is_over());
        self.needed.as_ref().is_some_and(is_it) && !is_over
            || self.pending.iter().any(|entry| entry.work.needs().is_some_and(is_it))
    }

    /// Keeps a finding for the next synchronise, once.
    pub(super) fn find(&mut self, finding: String) {
        if !self.findings.contains(&finding) {
            self.findings.push(finding);
        }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.running.is_none() && self.pending.is_empty()
    }

    /// Whether a task waits for its turn and nothing is before it.
    fn is_ready(&self) -> bool {
        self.running.is_none() && !self.pending.is_empty()
    }

    /// Whether synchronising would find nothing to wait for and nothing to report.
    fn is_quiet(&self) -> bool {
        self.is_idle() && self.failure.is_none() && self.findings.is_empty()
    }

    /// Whether tasks are skipped until the failure was reported.
    fn has_stopped(&self) -> bool {
        self.stop_on_failure && self.failure.is_some()
    }
}

/// The queue of one stream.
#[derive(Debug)]
pub(super) struct Queue {
    state: Mutex<State>,
    pub(super) wake_worker: Condvar,
    pub(super) wake_waiters: Condvar,
    /// Mirrors of the state for threads that spin without the lock.
    ready: AtomicBool,
    quiet: AtomicBool,
    pub(super) finished: AtomicU64,
    /// Grows with each call that drops pending work.
    pub(super) aborts: AtomicU64,
}

impl Queue {
    pub(super) fn new() -> Self {
        Self {
            state: Mutex::new(State {
                pending: VecDeque::new(),
                running: None,
                awaited: None,
                needed: None,
                submitted: 0,
                finished: 0,
                dropped: 0,
                failure: None,
                findings: Vec::new(),
                stop_on_failure: false,
                closing: false,
                worker: Worker::None,
                waiters: 0,
            }),
            wake_worker: Condvar::new(),
            wake_waiters: Condvar::new(),
            ready: AtomicBool::new(false),
            quiet: AtomicBool::new(true),
            finished: AtomicU64::new(0),
            aborts: AtomicU64::new(0),
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// How often pending work was dropped. It changes under the lock only.
    pub(super) fn aborts(&self) -> u64 {
        self.aborts.load(Ordering::Acquire)
    }

    /// Whether the worker has something to do; read without the lock.
    pub(super) fn is_ready(&self) -> bool {
        self.ready.load(Ordering::Acquire)
    }

    pub(super) fn mirror(&self, state: &State) {
        // Whoever finds the queue quiet sees what the tasks have written, as the lock would show it.
        tsan::release(&self.quiet);
        self.quiet.store(state.is_quiet(), Ordering::Release);
        self.ready.store(state.is_ready() || state.closing, Ordering::Release);
        self.finished.store(state.finished, Ordering::Release);
    }
}

impl Stream {
    /// Whether everything that was queued is done, and left nothing to report; read without the lock. A task that another
    /// thread is just launching may not be seen: its launch has not returned.
    pub(super) fn is_quiet(&self) -> bool {
        let quiet = self.queue.quiet.load(Ordering::Acquire);
        if quiet {
            tsan::acquire(&self.queue.quiet);
        }
        quiet
    }

    /// Queues a task, or runs it here where that is quicker. `admit` is called when the task can be seen by a concurrent
    /// `aclrtFree`: so either it finds that a block is gone, or the free finds the task. If it fails, nothing was queued.
    pub fn submit(&self, task: Task, admit: impl FnOnce() -> Result<()>) -> Result<()> {
        self.submit_counted(task, admit).map(|_| ())
    }

    /// As [`Stream::submit`]; returns what [`Stream::wait_for`] takes.
    pub fn submit_counted(&self, mut task: Task, admit: impl FnOnce() -> Result<()>) -> Result<u64> {
        // A panic in `admit` may not leave a task behind that never ends.
        let admit = || catch_unwind(AssertUnwindSafe(admit)).unwrap_or_else(|p| Err(Error::Panic(panic_text(&*p))));
        let faulty = fault::next_task_fails();
        let host_memory = if check::on() { self.host_memory(&task) } else { Vec::new() };
        let state = self.queue.lock();
        if state.closing {
            return Err(Error::DeadStream("the stream is being destroyed".into()));
        }
        if state.is_idle() && !faulty && task.work.belongs_to_launch() && !state.has_stopped() {
            let uses = std::mem::take(&mut task.uses);
            self.run_here(state, &task.work, uses, host_memory, admit)
        } else {
            self.enqueue(state, task, faulty, host_memory, admit)
        }
    }

    /// Does the work of an idle queue's next task in the launching call. It is never moved into the queue: only what it
    /// touches is published there, for a concurrent `aclrtFree`.
    fn run_here(
        &self,
        mut state: MutexGuard<'_, State>,
        work: &Work,
        uses: Uses,
        findings: Vec<String>,
        admit: impl FnOnce() -> Result<()>,
    ) -> Result<u64> {
        state.running = Some(Footprint { uses, kept: Vec::new() });
        if let Err(error) = admit() {
            state.running = None;
            return Err(error);
        }
        state.submitted += 1;
        let number = state.submitted;
        findings.into_iter().for_each(|finding| state.find(finding));
        let aborts = self.queue.aborts();
        drop(state);
        let outcome = self.attempt(work, aborts);
        self.complete(outcome);
        Ok(number)
    }

    /// Leaves a task to the worker.
    fn enqueue(
        &self,
        mut state: MutexGuard<'_, State>,
        task: Task,
        faulty: bool,
        findings: Vec<String>,
        admit: impl FnOnce() -> Result<()>,
    ) -> Result<u64> {
        if state.worker == Worker::None {
            worker::start(self)?;
            state.worker = Worker::Awake;
        }
        let Task { work, uses } = task;
        state.pending.push_back(Entry { work, footprint: Footprint { uses, kept: Vec::new() }, faulty });
        if let Err(error) = admit() {
            let entry = state.pending.pop_back();
            drop(state);
            drop(entry);
            return Err(error);
        }
        state.submitted += 1;
        let number = state.submitted;
        findings.into_iter().for_each(|finding| state.find(finding));
        self.queue.mirror(&state);
        if state.worker == Worker::Parked && state.is_ready() {
            state.worker = Worker::Awake;
            drop(state);
            self.queue.wake_worker.notify_one();
        }
        Ok(number)
    }

    /// What the operator is given in memory that a device could not reach.
    fn host_memory(&self, task: &Task) -> Vec<String> {
        let Work::ModulateBackward(_) = &task.work else { return Vec::new() };
        let ranges = task.uses.iter().filter(|range| !range.is_empty());
        let finding = |range: &Range<usize>| {
            let origin = match find_block(range.start) {
                None => "memory that aclrtMalloc did not give",
                Some(block) if block.kind == Kind::Host => "memory of aclrtMallocHost",
                Some(_) => return None,
            };
            Some(format!(
                "stream {}: aclnnModulateBackward uses {} bytes at {:#x}, {origin}, which works here and not on the device",
                self.id,
                range.len(),
                range.start
            ))
        };
        ranges.filter_map(finding).collect()
    }

    /// Runs a task that [`State::begin`] returned. `aborts`: as of then; a later one makes the task give up waiting. `false`
    /// where a host function has forked and this is the child: the stream is not its own, and its locks may be held for ever.
    pub(super) fn run(&self, entry: Entry, aborts: u64) -> bool {
        let Entry { work, faulty, .. } = entry;
        let stopped = self.queue.lock().has_stopped();
        let outcome = if faulty {
            Err(Error::TaskFailed("the task failed, as ACLCPU_FAULT=task asks".into()))
        } else if stopped && !work.survives_failure() {
            Ok(())
        } else {
            self.attempt(&work, aborts)
        };
        if self.process != fork::process() {
            return false;
        }
        if outcome.is_err() {
            work.abandon();
        }
        // Before the stream counts it as done: whoever waits for this task may also wait for what it holds.
        drop(work);
        self.complete(outcome);
        true
    }

    fn attempt(&self, work: &Work, aborts: u64) -> Result<()> {
        let owner = self.owner();
        let give_up = || self.queue.aborts() != aborts;
        let body = || match work {
            Work::HostFunc(_) => as_callback_of(self.handle, || work.execute(owner, give_up)),
            _ => work.execute(owner, give_up),
        };
        catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| {
            Err(Error::TaskFailed(format!("a task of stream {} failed: {}", self.id, panic_text(&*panic))))
        })
    }

    fn complete(&self, outcome: Result<()>) {
        let mut state = self.queue.lock();
        // Memory that was freed meanwhile goes away before the task counts as done, and not under the lock.
        while let Some(kept) = state.running.as_mut().map(|running| std::mem::take(&mut running.kept))
            && !kept.is_empty()
        {
            drop(state);
            drop(kept);
            state = self.queue.lock();
        }
        state.running = None;
        state.awaited = None;
        state.needed = None;
        state.finished = state.dropped.max(state.finished + 1);
        if let Err(error) = outcome {
            log::write(log::Level::Error, format_args!("stream {}: {error}", self.id));
            // The first failure is the one that explains the others.
            state.failure.get_or_insert(error);
        }
        self.settle(state);
    }

    /// Publishes a changed state and wakes who waits for it.
    pub(super) fn settle(&self, mut state: MutexGuard<'_, State>) {
        self.queue.mirror(&state);
        let wake_worker = state.worker == Worker::Parked && (state.is_ready() || state.closing);
        if wake_worker {
            state.worker = Worker::Awake;
        }
        let wake_waiters = state.waiters > 0;
        drop(state);
        if wake_worker {
            self.queue.wake_worker.notify_one();
        }
        if wake_waiters {
            self.queue.wake_waiters.notify_all();
        }
    }
}
