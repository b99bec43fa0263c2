//! Events: named points in the work of streams.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering, fence};
use std::time::{Duration, Instant};

use super::gate::Outcome;
use super::record::Record;
use super::stream::{self, Task, Work};
use super::{context, fork};
use crate::error::{Error, Result};
use crate::handle::{Handle, Kind, Table};
use crate::sync::Mutex;

static EVENTS: Table<Arc<Event>> = Table::new(Kind::Event);

/// `ACL_EVENT_SYNC`: streams may wait for it.
const SYNC: u32 = 1;
/// `ACL_EVENT_TIME_LINE`: recordings take the time.
const TIME_LINE: u32 = 8;
/// All `ACL_EVENT_*` bits.
const ALL_FLAGS: u32 = 1 | 2 | 8 | 16 | 32 | 64;

/// Which function an event came from; they differ in what may be done with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavor {
    /// `aclrtCreateEvent`
    Plain,
    /// `aclrtCreateEventWithFlag`
    Flagged(u32),
    /// `aclrtCreateEventExWithFlag`
    Ex(u32),
}

impl Flavor {
    fn check(self) -> Result<()> {
        match self {
            Self::Flagged(flag) | Self::Ex(flag) if flag == 0 || flag & !ALL_FLAGS != 0 => Err(Error::InvalidValue(
                format!("flag is {flag:#x}, expected one or more of the ACL_EVENT_* bits ({ALL_FLAGS:#x})"),
            )),
            _ => Ok(()),
        }
    }

    fn is_ex(self) -> bool {
        matches!(self, Self::Ex(_))
    }

    fn takes_time(self) -> bool {
        match self {
            Self::Plain => true,
            Self::Flagged(flag) | Self::Ex(flag) => flag & TIME_LINE != 0,
        }
    }
}

/// An event.
#[derive(Debug)]
pub struct Event {
    handle: Handle,
    id: u32,
    context: Handle,
    process: u32,
    flavor: Flavor,
    /// The latest recording and the stream that it is on.
    latest: Mutex<Option<(Arc<Record>, Handle)>>,
    /// Streams that wait now or will.
    waits: Arc<AtomicUsize>,
}

/// A stream's wait for what was recorded last when it was asked for.
#[derive(Debug)]
pub struct Waiter {
    record: Arc<Record>,
    waits: Arc<AtomicUsize>,
}

impl Waiter {
    /// What it waits for.
    pub fn record(&self) -> Arc<Record> {
        self.record.clone()
    }

    /// Whether there is nothing to wait for any more.
    pub fn is_over(&self) -> bool {
        self.record.is_over()
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        self.waits.fetch_sub(1, Ordering::Release);
    }
}

/// A reset in stream order.
#[derive(Debug)]
pub struct Reset {
    event: Arc<Event>,
    /// A recording that is made after the reset was asked for stays.
    record: Option<Arc<Record>>,
}

impl Reset {
    /// The event is as if never recorded.
    pub fn execute(&self) {
        let mut latest = self.event.latest.lock();
        if let (Some((now, _)), Some(then)) = (&*latest, &self.record)
            && Arc::ptr_eq(now, then)
        {
            *latest = None;
        }
    }
}

/// Creates an event under the current context.
pub fn create(flavor: Flavor) -> Result<Handle> {
    static IDS: AtomicU32 = AtomicU32::new(0);
    flavor.check()?;
    let context = context::current()?;
    let handle = EVENTS.insert_with(|handle| {
        Arc::new(Event {
            handle,
            id: IDS.fetch_add(1, Ordering::Relaxed),
            context: context.handle(),
            process: fork::process(),
            flavor,
            latest: Mutex::new(None),
            waits: Arc::default(),
        })
    });
    let handle = handle.ok_or_else(|| Error::OutOfEvents("the process has all the events that it can have".into()))?;
    // Either the context's end finds the new event, or this finds the context ended.
    fence(Ordering::SeqCst);
    if !context.is_live() {
        EVENTS.remove(handle);
        return Err(context.dead());
    }
    Ok(handle)
}

/// The live event behind a handle.
pub fn find(handle: Handle, argument: &'static str) -> Result<Arc<Event>> {
    if handle.is_null() {
        return Err(Error::NullArgument { argument, expected: "an event from aclrtCreateEvent" });
    }
    EVENTS
        .cloned(handle)
        .filter(|event| event.process == fork::process())
        .ok_or_else(|| Error::DeadEvent(format!("{argument} {}", handle.why_not(Kind::Event))))
}

/// Ends an event. Streams that wait for it, or are still to reach it, go on.
pub fn destroy(handle: Handle) -> Result<()> {
    let event = find(handle, "event")?;
    EVENTS.remove(event.handle).map(drop).ok_or_else(|| Error::DeadEvent("event was destroyed by another call".into()))
}

/// Ends the events of a context that has ended.
pub(super) fn end_all_of(context: Handle) {
    let mut ended = Vec::new();
    EVENTS.for_each(|handle, event| {
        if event.context == context {
            ended.push(handle);
        }
    });
    for handle in ended {
        EVENTS.remove(handle);
    }
}

impl Event {
    /// Its number, for people.
    pub fn id(&self) -> u32 {
        self.id
    }

    fn latest(&self) -> Option<(Arc<Record>, Handle)> {
        self.latest.lock().clone()
    }

    /// Captures what is queued on the stream so far.
    pub fn record(&self, stream: Handle) -> Result<()> {
        let stream = stream::resolve(stream)?;
        let record = Arc::new(Record::default());
        // The event's lock makes the order of recordings that of the queue, also where two threads record at once.
        let mut latest = self.latest.lock();
        stream.submit(Task::without_memory(Work::RecordEvent(record.clone())), || Ok(()))?;
        *latest = Some((record, stream.handle()));
        Ok(())
    }

    /// Makes it as if never recorded, in stream order.
    pub fn reset(self: &Arc<Self>, stream: Handle) -> Result<()> {
        let stream = stream::resolve(stream)?;
        if !matches!(self.flavor, Flavor::Flagged(flag) if flag & SYNC != 0) {
            return Err(Error::InvalidValue(
                "event can't be reset: only events from aclrtCreateEventWithFlag with ACL_EVENT_SYNC can".into(),
            ));
        }
        let record = self.latest().map(|(record, _)| record);
        let reset = Reset { event: self.clone(), record };
        stream.submit(Task::without_memory(Work::ResetEvent(reset)), || Ok(()))
    }

    /// Makes a stream wait for what was recorded last.
    pub fn wait_on(&self, stream: Handle, timeout: Option<Duration>) -> Result<()> {
        let stream = stream::resolve(stream)?;
        if matches!(self.flavor, Flavor::Flagged(flag) if flag & SYNC == 0) {
            return Err(Error::InvalidValue(
                "event was created without ACL_EVENT_SYNC: no stream can wait for it".into(),
            ));
        }
        let Some((record, _)) = self.latest() else {
            if self.flavor.is_ex() {
                return Ok(());
            }
            return Err(Error::InvalidValue(
                "event was never recorded (or was reset): call aclrtRecordEvent before a stream waits for it".into(),
            ));
        };
        self.waits.fetch_add(1, Ordering::Relaxed);
        let waiter = Waiter { record, waits: self.waits.clone() };
        stream.submit(Task::without_memory(Work::WaitEvent(waiter, timeout)), || Ok(()))
    }

    /// Waits for what was recorded last.
    pub fn synchronize(&self, deadline: Option<Instant>) -> Result<()> {
        let Some((record, stream)) = self.latest() else { return Ok(()) };
        if !record.is_over() && stream == stream::inside() {
            return Err(Error::WouldDeadlock(
                "event can't be waited for from inside a callback of the stream that it is recorded on".into(),
            ));
        }
        match record.wait(deadline, || false) {
            Outcome::Open | Outcome::Interrupted if record.is_abandoned() => {
                Err(Error::StreamAborted("the stream that event is recorded on was aborted before it got there".into()))
            }
            Outcome::Open | Outcome::Interrupted => Ok(()),
            Outcome::TimedOut => Err(Error::EventTimeout("the event did not complete in time".into())),
        }
    }

    /// Whether it was recorded and what it captured is done, by `aclrtQueryEvent`.
    pub fn query(&self) -> Result<bool> {
        self.not_ex("aclrtQueryEvent", "aclrtQueryEventStatus")?;
        Ok(self.latest().is_some_and(|(record, _)| record.is_over()))
    }

    /// Whether what it captured is done, by `aclrtQueryEventStatus`: one that was never recorded is done if it is an Ex
    /// event.
    pub fn query_recorded(&self) -> bool {
        self.latest().map_or(self.flavor.is_ex(), |(record, _)| record.is_over())
    }

    /// Whether no stream waits for it any more.
    pub fn query_waits(&self) -> Result<bool> {
        self.not_ex("aclrtQueryEventWaitStatus", "aclrtQueryEventStatus")?;
        Ok(self.waits.load(Ordering::Acquire) == 0)
    }

    fn not_ex(&self, function: &str, instead: &str) -> Result<()> {
        if self.flavor.is_ex() {
            return Err(Error::InvalidValue(format!(
                "event is from aclrtCreateEventExWithFlag, which {function} does not take: use {instead}"
            )));
        }
        Ok(())
    }

    /// When it was reached, in nanoseconds.
    fn time(&self, argument: &str) -> Result<u64> {
        let Some((record, _)) = self.latest() else {
            return Err(Error::InvalidState(format!("{argument} was never recorded: call aclrtRecordEvent first")));
        };
        if !self.flavor.takes_time() {
            return Err(Error::NoTimestamp(format!(
                "{argument} takes no time stamps: create it with ACL_EVENT_TIME_LINE"
            )));
        }
        if !record.is_over() {
            return Err(Error::EventNotComplete(format!(
                "{argument} is recorded but not complete: call aclrtSynchronizeEvent or aclrtSynchronizeStream first"
            )));
        }
        record.time().ok_or_else(|| {
            Error::NoTimestamp(format!("{argument} has no time stamp: the work of its stream was dropped"))
        })
    }

    /// When it was reached, in microseconds.
    pub fn timestamp(&self) -> Result<u64> {
        Ok(self.time("event")? / 1_000)
    }
}

/// Milliseconds between two events.
pub fn elapsed(start: &Event, end: &Event) -> Result<f32> {
    let (from, to) = (start.time("startEvent")?, end.time("endEvent")?);
    let nanos = to.checked_sub(from).ok_or_else(|| {
        Error::ReversedTimestamps(format!("endEvent was reached {} us before startEvent", (from - to) / 1_000))
    })?;
    Ok((nanos as f64 / 1e6) as f32)
}

/// Keeps the table as it is until a fork is over.
pub(super) fn hold(held: &mut fork::Held) {
    EVENTS.hold(held);
}
