//! Devices: each is the whole machine. One is shown unless `ACLCPU_DEVICE_COUNT` says more.

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};
use std::time::Instant;

use super::context::{self, Context};
use super::fork::Held;
use super::stream;
use crate::config;
use crate::error::{Error, Result};
use crate::sync::Mutex;

/// Streams that may exist on a device, as at the vendor. Default streams don't count.
pub const MAX_STREAMS: u32 = 1984;
/// The most that `ACLCPU_DEVICE_COUNT` may ask for.
const MAX_DEVICES: usize = 64;

#[derive(Debug)]
struct Device {
    /// Calls of `aclrtSetDevice` without an `aclrtResetDevice`.
    set_count: u64,
    default_context: Option<Arc<Context>>,
}

static DEVICES: Mutex<[Device; MAX_DEVICES]> =
    Mutex::new([const { Device { set_count: 0, default_context: None } }; MAX_DEVICES]);
static STREAMS: [AtomicU32; MAX_DEVICES] = [const { AtomicU32::new(0) }; MAX_DEVICES];

/// The device that `aclInit`'s file names for threads without a context; -1 where it names none.
static DEFAULT_DEVICE: AtomicI32 = AtomicI32::new(-1);

/// The index of a device in our arrays.
pub fn check_id(id: i32) -> Result<usize> {
    let count = config::device_count();
    usize::try_from(id).ok().filter(|_| id < count).ok_or_else(|| {
        Error::InvalidDevice(format!(
            "deviceId is {id}, expected {}",
            if count == 1 {
                "0: there is one device (ACLCPU_DEVICE_COUNT shows more)".to_owned()
            } else {
                format!("0 to {}", count - 1)
            }
        ))
    })
}

/// How many devices are shown.
pub fn count() -> u32 {
    config::device_count().unsigned_abs()
}

/// Checks that two ids are those of two devices.
pub fn check_peers(id: i32, peer: i32) -> Result<()> {
    check_id(id)?;
    check_id(peer)?;
    if id == peer {
        return Err(Error::InvalidDevice(format!("deviceId and peerDeviceId are both {id}, expected two devices")));
    }
    Ok(())
}

/// Binds this thread to a device's default context. Counts for the process.
pub fn set(id: i32) -> Result<()> {
    bind(id, |count| count + 1)
}

fn bind(id: i32, count: impl FnOnce(u64) -> u64) -> Result<()> {
    let index = check_id(id)?;
    let mut devices = DEVICES.lock();
    let device = &mut devices[index];
    let context = match &device.default_context {
        Some(context) if context.is_live() => context.clone(),
        _ => {
            // In a forked child the parent's counts say nothing.
            device.set_count = 0;
            let context = context::create_default(id)?;
            device.default_context = Some(context.clone());
            context
        }
    };
    device.set_count = count(device.set_count);
    drop(devices);
    context::set_current(Some(context));
    Ok(())
}

/// Takes back one `set`; the last one (`force`: every one) ends the default context with its streams and events, once
/// their work is done.
pub fn reset(id: i32, force: bool) -> Result<()> {
    let index = check_id(id)?;
    stream::refuse_endless("resetting the device", None, |stream| stream.device() == id)?;
    let ended = {
        let mut devices = DEVICES.lock();
        let device = &mut devices[index];
        if device.set_count == 0 || device.default_context.as_ref().is_none_or(|context| !context.is_live()) {
            return Err(Error::NotSet(format!(
                "device {id} is not set in this process: aclrtResetDevice takes back one aclrtSetDevice"
            )));
        }
        device.set_count = if force { 0 } else { device.set_count - 1 };
        if device.set_count > 0 { None } else { device.default_context.take() }
    };
    ended.map_or(Ok(()), |context| context::end(&context))
}

/// Chooses the device of threads without a context; `None`: they get none.
pub(super) fn set_default(id: Option<i32>) {
    DEFAULT_DEVICE.store(id.unwrap_or(-1), Ordering::Relaxed);
}

/// Binds this thread, which has no context, to the default device; `false` where there is none.
pub(super) fn adopt_default() -> Result<bool> {
    let id = DEFAULT_DEVICE.load(Ordering::Relaxed);
    if id < 0 {
        return Ok(false);
    }
    // Adopting counts as one `set` for the process, however many threads do it.
    bind(id, |count| count.max(1))?;
    Ok(true)
}

/// Waits for all work on the current context's device.
pub fn synchronize(deadline: Option<Instant>) -> Result<()> {
    let device = context::with_current(|context| Ok(context.device()))?;
    stream::synchronize_device(device, deadline)
}

/// Counts a stream in, if one more may exist.
pub(super) fn reserve_stream(id: i32) -> Result<()> {
    let count = &STREAMS[check_id(id)?];
    let more = count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |live| (live < MAX_STREAMS).then(|| live + 1));
    more.map(|_| ()).map_err(|_| {
        Error::OutOfStreams(format!(
            "device {id} has {MAX_STREAMS} streams, as many as it can have: destroy some first"
        ))
    })
}

/// Counts a stream out.
pub(super) fn release_stream(id: i32) {
    if let Ok(index) = check_id(id) {
        STREAMS[index].fetch_sub(1, Ordering::Relaxed);
    }
}

/// Keeps the counts as they are until a fork is over.
pub(super) fn hold(held: &mut Held) {
    held.push(Box::new(DEVICES.lock()));
}

/// In a forked child: its parent's streams are not its own.
pub(super) fn start_afresh() {
    for count in &STREAMS {
        count.store(0, Ordering::Relaxed);
    }
}

/// How many streams may still be created on a device.
pub fn available_streams(id: i32) -> Result<u32> {
    Ok(MAX_STREAMS.saturating_sub(STREAMS[check_id(id)?].load(Ordering::Relaxed)))
}
