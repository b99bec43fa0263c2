//! Streams: in-order queues of work, each with a thread of its own.

mod control;
mod inside;
mod queue;
mod task;
#[cfg(test)]
mod tests;
mod worker;

use std::sync::atomic::{AtomicI32, Ordering, fence};
use std::sync::{Arc, Weak};
use std::time::Instant;

pub use inside::{as_callback_of, inside};
pub use task::{HostFunc, Task, Uses, Work};

use super::context::{self, Context};
use super::memory::Kept;
use super::pool::Owner;
use super::{callback, device, fork};
use crate::epoch::{self, Guard};
use crate::error::{Error, Result};
use crate::handle::{Handle, Kind, Live, Table};
use queue::Queue;

static STREAMS: Table<Arc<Stream>> = Table::new(Kind::Stream);

/// A stream. Alive while its handle is in the table; an `Arc` of it may outlive that, and then takes no work.
#[derive(Debug)]
pub struct Stream {
    me: Weak<Stream>,
    handle: Handle,
    /// The context that it was created under.
    context: Handle,
    device: i32,
    id: i32,
    priority: u32,
    flags: u32,
    is_default: bool,
    /// Which process it belongs to: a forked child has its parent's memory, but not its threads.
    process: u32,
    queue: Queue,
}

impl Stream {
    /// Its handle.
    pub fn handle(&self) -> Handle {
        self.handle
    }

    /// As the owner of its jobs in the pool.
    fn owner(&self) -> Owner {
        Owner(self.handle.to_void().addr())
    }

    /// Its number, for people.
    pub fn id(&self) -> i32 {
        self.id
    }

    /// The priority that it was created with.
    pub fn priority(&self) -> u32 {
        self.priority
    }

    /// The flags that it was created with.
    pub fn flags(&self) -> u32 {
        self.flags
    }

    /// The context that it was created under.
    pub fn context(&self) -> Handle {
        self.context
    }

    /// The device that it is on.
    pub fn device(&self) -> i32 {
        self.device
    }
}

/// What a stream is created with.
#[derive(Clone, Copy, Debug, Default)]
pub struct Config {
    /// 0 (highest) to 7, kept but without effect.
    pub priority: u32,
    /// `ACL_STREAM_*` bits, kept but without effect.
    pub flags: u32,
}

impl Config {
    /// What `aclrtCreateStreamWithConfig` asks for.
    pub fn new(priority: u32, flags: u32) -> Result<Self> {
        const LOWEST_PRIORITY: u32 = 7;
        const ALL_FLAGS: u32 = 63;
        if flags & !ALL_FLAGS != 0 {
            return Err(Error::InvalidValue(format!(
                "flag is {flags:#x}, expected 0 or ACL_STREAM_* bits ({ALL_FLAGS:#x})"
            )));
        }
        Ok(Self { priority: priority.min(LOWEST_PRIORITY), flags })
    }
}

/// Creates a stream under the current context.
pub fn create(config: Config) -> Result<Handle> {
    let context = context::current()?;
    device::reserve_stream(context.device())?;
    let stream = enter(context.handle(), context.device(), config, false)
        .inspect_err(|_| device::release_stream(context.device()))?;
    // Either the context's end finds the new stream, or this finds the context ended.
    fence(Ordering::SeqCst);
    if !context.is_live() {
        let _ = destroy(&stream, false);
        return Err(context.dead());
    }
    Ok(stream.handle)
}

/// Creates the default stream of a new context.
pub(super) fn create_default(context: Handle, device: i32) -> Result<Arc<Stream>> {
    enter(context, device, Config::default(), true)
}

fn enter(context: Handle, device: i32, config: Config, is_default: bool) -> Result<Arc<Stream>> {
    static IDS: AtomicI32 = AtomicI32::new(0);
    let handle = STREAMS.insert_with(|handle| {
        Arc::new_cyclic(|me| Stream {
            me: me.clone(),
            handle,
            context,
            device,
            id: IDS.fetch_add(1, Ordering::Relaxed) & i32::MAX,
            priority: config.priority,
            flags: config.flags,
            is_default,
            process: fork::process(),
            queue: Queue::new(),
        })
    });
    let handle =
        handle.ok_or_else(|| Error::OutOfStreams("the process has all the streams that it can have".into()))?;
    find(handle)
}

/// The live stream with this handle, of whatever context.
fn find(handle: Handle) -> Result<Arc<Stream>> {
    find_under(handle, &epoch::pin()).map(|stream| stream.clone())
}

/// As [`find`], without counting the stream's users, which would write what other threads' look-ups read.
#[inline]
fn find_under(handle: Handle, guard: &Guard) -> Result<Live<'_, Arc<Stream>>> {
    STREAMS
        .get(handle, guard)
        .filter(|stream| stream.process == fork::process())
        .ok_or_else(|| Error::DeadStream(format!("stream {}", handle.why_not(Kind::Stream))))
}

/// The stream that a launch goes to: NULL is the current context's default stream, any other has to belong to it.
pub fn resolve(handle: Handle) -> Result<Arc<Stream>> {
    resolve_under(handle, &epoch::pin()).map(|stream| stream.clone())
}

/// As [`resolve`], for as long as the epoch is pinned: not for those who wait.
pub fn resolve_under(handle: Handle, guard: &Guard) -> Result<Live<'_, Arc<Stream>>> {
    if handle.is_null() {
        return find_under(context::with_current(Context::default_stream)?, guard);
    }
    let stream = find_under(handle, guard)?;
    context::with_current(|context| {
        if stream.context == context.handle() {
            return Ok(());
        }
        Err(Error::OtherContext(format!(
            "stream {} belongs to another context than this thread's current one: call aclrtSetCurrentContext with the \
             context that the stream was created under, or use a stream of the current context",
            stream.id
        )))
    })?;
    Ok(stream)
}

/// The stream that is waited for or asked about: the thread needs a context, but the stream may belong to any.
pub fn resolve_any(handle: Handle) -> Result<Arc<Stream>> {
    resolve_any_under(handle, &epoch::pin()).map(|stream| stream.clone())
}

fn resolve_any_under(handle: Handle, guard: &Guard) -> Result<Live<'_, Arc<Stream>>> {
    if handle.is_null() {
        return resolve_under(handle, guard);
    }
    let stream = find_under(handle, guard)?;
    context::with_current(|_| Ok(()))?;
    Ok(stream)
}

/// Refuses what would wait for a stream from inside its own callback: that is what is wrong there, not that the thread has no
/// context.
fn refuse_own(handle: Handle, what: &str) -> Result<()> {
    if !handle.is_null() && handle == inside() { find(handle)?.refuse_inside(what) } else { Ok(()) }
}

/// Waits for everything that is queued on a stream now, and takes the failure that it kept.
pub fn synchronize(handle: Handle, deadline: Option<Instant>) -> Result<()> {
    refuse_own(handle, "synchronized")?;
    let stream = {
        let guard = &epoch::pin();
        let stream = resolve_any_under(handle, guard)?;
        stream.refuse_inside("synchronized")?;
        if stream.is_quiet() {
            return Ok(());
        }
        // What may wait for long may not hold the epoch.
        stream.clone()
    };
    stream.synchronize(deadline)
}

/// Drops what a stream of the current context has not begun, and waits for what runs.
pub fn abort(handle: Handle) -> Result<()> {
    refuse_own(handle, "aborted")?;
    resolve(handle)?.abort()
}

/// The stream that only its number is asked of: an explicit one needs no context.
pub fn resolve_without_context(handle: Handle) -> Result<Arc<Stream>> {
    if handle.is_null() { resolve(handle) } else { find(handle) }
}

/// Ends a stream of the current context: waits for what is queued, or (`force`) drops what has not begun.
pub fn destroy_handle(handle: Handle, force: bool) -> Result<()> {
    if handle.is_null() {
        return Err(Error::NullArgument { argument: "stream", expected: "a stream from aclrtCreateStream" });
    }
    refuse_own(handle, "destroyed")?;
    let stream = resolve(handle)?;
    if stream.is_default {
        return Err(Error::DeadStream(
            "stream is a context's default stream, which ends with its context: it can't be destroyed".into(),
        ));
    }
    if !force {
        stream.refuse_endless(None, "destroyed")?;
    }
    if destroy(&stream, force)? {
        Ok(())
    } else {
        Err(Error::DeadStream(format!("stream {} is being destroyed by another call", stream.id)))
    }
}

/// `false` where another call does it already.
fn destroy(stream: &Arc<Stream>, force: bool) -> Result<bool> {
    if !stream.close(force)? {
        return Ok(false);
    }
    // Until its work was done it had to be found by `hand_to_users`.
    STREAMS.remove(stream.handle);
    callback::forget(stream.handle);
    if !stream.is_default {
        device::release_stream(stream.device);
    }
    Ok(true)
}

/// All live streams that `wanted` accepts.
fn all(wanted: impl Fn(&Stream) -> bool) -> Vec<Arc<Stream>> {
    let mut found = Vec::new();
    STREAMS.for_each(|_, stream| {
        if stream.process == fork::process() && wanted(stream) {
            found.push(stream.clone());
        }
    });
    found
}

/// Ends the streams of a context that has just ended; waits for their work.
pub(super) fn end_all_of(context: &Context) -> Result<()> {
    for stream in all(|stream| stream.context == context.handle()) {
        destroy(&stream, false)?;
    }
    Ok(())
}

/// Refuses what would wait for all streams that `wanted` accepts, from inside a callback on one of them or in the thread that
/// has a callback of one to call first.
pub(super) fn refuse_endless(what: &str, deadline: Option<Instant>, wanted: impl Fn(&Stream) -> bool) -> Result<()> {
    let inside = inside();
    if !inside.is_null() && find(inside).is_ok_and(|stream| wanted(&stream)) {
        return Err(Error::WouldDeadlock(format!(
            "{what} would wait for the stream whose callback this call comes from"
        )));
    }
    if !callback::are_used() {
        return Ok(());
    }
    all(wanted).iter().try_for_each(|stream| stream.refuse_endless(deadline, "waited for"))
}

/// Waits for all streams of a device.
pub fn synchronize_device(device: i32, deadline: Option<Instant>) -> Result<()> {
    refuse_endless("synchronizing the device", deadline, |stream| stream.device == device)?;
    // Every stream is waited for; the first failure is the answer.
    let mut answer = Ok(());
    for stream in all(|stream| stream.device == device) {
        let outcome = stream.synchronize(deadline);
        answer = answer.and(outcome);
    }
    answer
}

/// Gives the memory of a freed block to the tasks that still use it.
pub(super) fn hand_to_users(memory: &Kept) {
    let _guard = epoch::pin();
    STREAMS.for_each(|_, stream| {
        if stream.process == fork::process() {
            stream.hand_to_user(memory);
        }
    });
}

/// The streams that callers have not destroyed, for the list of live objects.
pub(super) fn live_ids() -> Vec<String> {
    let streams = all(|stream| !stream.is_default);
    streams.iter().map(|stream| format!("{:p}, number {}", stream.handle.to_void(), stream.id)).collect()
}

/// Keeps the table as it is until a fork is over.
pub(super) fn hold(held: &mut fork::Held) {
    STREAMS.hold(held);
}

/// In a forked child: it is inside no stream's callback, whatever its parent's thread was doing.
pub(super) fn start_afresh() {
    inside::leave_callback();
}
