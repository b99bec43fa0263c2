//! What is done to a stream besides giving it work: waiting for it, ending it, dropping what it has not begun.

use std::sync::atomic::Ordering;
use std::time::Instant;

use super::queue::{Entry, State};
use super::{Stream, inside};
use crate::error::{Error, Result};
use crate::runtime::memory::Kept;
use crate::runtime::pool::Waiter;
use crate::runtime::spin::linger_until;
use crate::runtime::{callback, check, log};

impl Stream {
    /// Waits for everything that is queued now, and takes the failure that the stream kept.
    pub fn synchronize(&self, deadline: Option<Instant>) -> Result<()> {
        self.refuse_endless(deadline, "synchronized")?;
        let submitted = self.queue.lock().submitted;
        self.wait_for(submitted, deadline)?;
        let (failure, findings) = {
            let mut state = self.queue.lock();
            let left = (state.failure.take(), std::mem::take(&mut state.findings));
            self.queue.mirror(&state);
            left
        };
        findings.iter().for_each(check::report);
        failure.map_or(Ok(()), Err)
    }

    /// Waits until the task with this number has run; an error where its stream was aborted meanwhile. What would wait for ever
    /// is for the caller to refuse, before it queues what it waits for.
    pub fn wait_for(&self, number: u64, deadline: Option<Instant>) -> Result<()> {
        let aborts = self.queue.aborts();
        if !self.wait_until_over(number, deadline) {
            let state = self.queue.lock();
            return Err(Error::StreamTimeout(format!(
                "stream {} did not finish in time: {} of its tasks are left",
                self.id,
                state.submitted - state.finished
            )));
        }
        if self.queue.aborts() != aborts {
            return Err(Error::StreamAborted(format!("stream {} was aborted while it was waited for", self.id)));
        }
        Ok(())
    }

    /// Waits until the task with this number has run or was dropped; `false` where the deadline came first.
    fn wait_until_over(&self, number: u64, deadline: Option<Instant>) -> bool {
        let done = || self.queue.finished.load(Ordering::Acquire) >= number;
        let mut state = self.queue.lock();
        if state.finished < number {
            drop(state);
            if deadline.is_none() {
                let waiter = Waiter::new(self.owner());
                while linger_until(None, || done() || waiter.sees_job()) && !done() {
                    waiter.help();
                }
            } else {
                // A unit of work may take longer than it has.
                linger_until(deadline, done);
            }
            state = self.queue.lock();
        }
        while state.finished < number {
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return false;
            }
            state.waiters += 1;
            state = self.queue.wake_waiters.wait_until(state, deadline);
            state.waiters -= 1;
        }
        true
    }

    /// Whether nothing is queued or running.
    pub fn is_idle(&self) -> bool {
        self.queue.lock().is_idle()
    }

    /// Threads that are parked until it has done its work.
    pub fn waiters(&self) -> usize {
        self.queue.lock().waiters
    }

    /// How often its pending work was dropped.
    pub fn aborts(&self) -> u64 {
        self.queue.aborts()
    }

    /// Whether later tasks are dropped after a failure, until it was reported.
    pub fn set_stop_on_failure(&self, stop: bool) {
        self.queue.lock().stop_on_failure = stop;
    }

    /// Drops what has not begun, makes the running task give up waiting, and waits for its end.
    pub fn abort(&self) -> Result<()> {
        self.refuse_inside("aborted")?;
        let last = self.drop_pending();
        self.wait_until_over(last, None);
        Ok(())
    }

    /// Returns the number of the last task that is dropped or was before.
    fn drop_pending(&self) -> u64 {
        let mut state = self.queue.lock();
        let mut dropped = std::mem::take(&mut state.pending);
        let last = state.submitted;
        state.dropped = last;
        match &mut state.running {
            None => state.finished = last,
            // A freed block was handed to its last user, which is not to be after all; the running task may need it.
            Some(running) => running.kept.extend(dropped.iter_mut().flat_map(|entry| entry.footprint.kept.drain(..))),
        }
        self.queue.aborts.fetch_add(1, Ordering::AcqRel);
        let awaited = state.awaited.clone();
        self.settle(state);
        let count = dropped.len();
        log::info(format_args!("stream {}: dropped {count} tasks that had not begun", self.id));
        if let Some(record) = awaited {
            record.nudge();
        }
        for Entry { work, .. } in dropped {
            work.abandon();
        }
        last
    }

    /// Takes no task any more and waits for those that are queued (`force`: drops what has not begun). The worker ends.
    /// `false` where somebody else has closed it before.
    pub(super) fn close(&self, force: bool) -> Result<bool> {
        self.refuse_inside("destroyed")?;
        {
            let mut state = self.queue.lock();
            if std::mem::replace(&mut state.closing, true) {
                return Ok(false);
            }
        }
        if force {
            self.drop_pending();
        }
        let submitted = self.queue.lock().submitted;
        self.wait_until_over(submitted, None);
        let mut state = self.queue.lock();
        let findings = std::mem::take(&mut state.findings);
        self.settle(state);
        findings.iter().for_each(check::report);
        Ok(true)
    }

    /// Gives the memory of a freed block to the last task that uses it, if any does.
    pub(super) fn hand_to_user(&self, memory: &Kept) {
        let block = memory.block();
        let mut state = self.queue.lock();
        let State { pending, running, .. } = &mut *state;
        let footprints = running.iter_mut().chain(pending.iter_mut().map(|entry| &mut entry.footprint));
        if let Some(last) = footprints.filter(|footprint| footprint.touches(block)).last() {
            last.kept.push(memory.clone());
            if check::on() {
                state.find(format!(
                    "stream {}: freed while queued work still needed it (the device would read or write what is not there any \
                     more): {block}",
                    self.id
                ));
                self.queue.mirror(&state);
            }
        }
    }

    /// Refuses what would wait for this stream for ever: from inside its own callback, or in the thread that has a callback to
    /// call first.
    pub fn refuse_endless(&self, deadline: Option<Instant>, what: &str) -> Result<()> {
        self.refuse_inside(what)?;
        if deadline.is_none()
            && let Some(server) = callback::this_server_of(self.handle)
            && self.queue.lock().needs(&server)
        {
            return Err(Error::WouldDeadlock(format!(
                "stream {} can't be {what} before this thread has called the callbacks that it serves there: call \
                 aclrtProcessReport first, or in a thread of its own",
                self.id
            )));
        }
        Ok(())
    }

    /// Refuses what would wait for this stream from inside its own callback.
    pub fn refuse_inside(&self, what: &str) -> Result<()> {
        if inside() == self.handle {
            return Err(Error::WouldDeadlock(format!(
                "stream {} can't be {what} from inside its own callback, which it waits for",
                self.id
            )));
        }
        Ok(())
    }
}
