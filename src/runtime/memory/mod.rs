//! Device and host memory: blocks with a known start and length. Both kinds are plain memory of this process.

mod copy;
mod limits;
mod mapping;
mod registry;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

pub use copy::{Copy, Set};
pub use registry::{Block, Kind};

use self::mapping::Mapping;
use self::registry::Registry;
use super::stream::{self, Task, Work};
use super::{context, fault, fork};
use crate::epoch::{self, Guard};
use crate::error::{Error, Result};
use crate::handle::Handle;

static REGISTRY: Registry = Registry::new();
/// Bytes of all live blocks.
static LIVE_BYTES: AtomicUsize = AtomicUsize::new(0);

/// Blocks that were ever made, and blocks that were ever freed, together.
static CHANGES: AtomicUsize = AtomicUsize::new(0);

/// Sizes are rounded up to this, as at the vendor.
const GRANULE: usize = 32;

/// How a block is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// Bytes, as the caller said.
    pub size: usize,
    /// Which function asks.
    pub kind: Kind,
    /// Bytes that may be used beyond the rounded size: the vendor documents 32, and call sites copy rounded sizes.
    pub padding: usize,
    /// Whether large blocks are advised for huge pages.
    pub huge_pages: bool,
}

impl Request {
    /// What `aclrtMalloc` asks for under a policy number.
    pub fn device(size: usize, policy: i32) -> Self {
        const NORMAL_ONLY: i32 = 2;
        const NORMAL_ONLY_P2P: i32 = 5;
        // The low byte is the page policy; bits above it say where the memory is to be, which means nothing here.
        let huge_pages = !matches!(policy & 0xFF, NORMAL_ONLY | NORMAL_ONLY_P2P);
        Self { size, kind: Kind::Device, padding: GRANULE, huge_pages }
    }

    /// What `aclrtMallocHost` asks for.
    pub fn host(size: usize) -> Self {
        Self { size, kind: Kind::Host, padding: GRANULE, huge_pages: true }
    }
}

/// Makes a block on the current context's device and returns its address.
pub fn allocate(request: Request) -> Result<usize> {
    let device = context::with_current(|context| Ok(context.device()))?;
    let size = request.size;
    if size == 0 {
        return Err(Error::InvalidArgument("size is 0, expected at least 1 byte".into()));
    }
    if request.kind == Kind::Device && fault::next_malloc_fails() {
        return Err(Error::OutOfMemory(format!("{size} bytes are refused, as ACLCPU_FAULT=malloc asks")));
    }
    let total = limits::total();
    let checked_len = size.checked_next_multiple_of(GRANULE).and_then(|len| len.checked_add(request.padding));
    let with = |live: usize| live.checked_add(checked_len?).filter(|sum| *sum <= total);
    let reserved = LIVE_BYTES.fetch_update(Ordering::Relaxed, Ordering::Relaxed, with);
    let (Some(checked_len), Ok(_)) = (checked_len, reserved) else {
        let live = LIVE_BYTES.load(Ordering::Relaxed);
        return Err(Error::OutOfMemory(format!(
            "size is {size}: with the {live} bytes that are live that is more than the {total} bytes that this machine \
             (or this process's cgroup) has"
        )));
    };
    let mapping =
        Mapping::new(checked_len, request.kind, device.unsigned_abs(), request.huge_pages).ok_or_else(|| {
            LIVE_BYTES.fetch_sub(checked_len, Ordering::Relaxed);
            Error::OutOfMemory(format!("size is {size}: the system has no memory left for it"))
        })?;
    let start = mapping.block().start;
    REGISTRY.insert(mapping);
    CHANGES.fetch_add(1, Ordering::SeqCst);
    Ok(start)
}

/// Checks that a live block of this kind starts at an address.
pub fn check_start(start: usize, kind: Kind, argument: &'static str) -> Result<()> {
    if find_block(start).is_some_and(|block| block.start == start && block.kind == kind) {
        return Ok(());
    }
    Err(Error::InvalidValue(why_not_a_block(start, kind, argument)))
}

/// Ends the block that starts at an address. Work that is queued and uses it finishes first: the memory goes away with
/// its last user, and this call waits for nobody.
pub fn release(start: usize, kind: Kind, argument: &'static str) -> Result<()> {
    let Some(mapping) = REGISTRY.remove(start, kind) else {
        return Err(Error::InvalidValue(why_not_a_block(start, kind, argument)));
    };
    LIVE_BYTES.fetch_sub(mapping.block().checked_len, Ordering::Relaxed);
    // The block is out of the registry, then it is counted, then the streams are searched: a launch either is found by
    // the search, or it finds the count changed and the block gone.
    CHANGES.fetch_add(1, Ordering::SeqCst);
    stream::hand_to_users(&mapping);
    Ok(())
}

fn why_not_a_block(address: usize, kind: Kind, argument: &'static str) -> String {
    let (own, other) = match kind {
        Kind::Device => ("aclrtMalloc", "aclrtFreeHost"),
        Kind::Host => ("aclrtMallocHost", "aclrtFree"),
    };
    match find_block(address) {
        Some(block) if block.start == address => {
            format!("{argument} is {address:#x}, a block of another kind: it is to be freed by {other}")
        }
        Some(block) => format!(
            "{argument} is {address:#x}, {} bytes into a block that starts at {:#x}: pass the start",
            address - block.start,
            block.start
        ),
        None => format!(
            "{argument} is {address:#x}, expected the start of a live block from {own}: it never was one, or was freed"
        ),
    }
}

/// How many blocks were ever made or freed. Who reads this before looking at some blocks, and finds the same number
/// later, knows that they are still as they were then, and that no block has come to where there was none.
///
/// A launch reads it when its task is published (`admit` of [`stream::Stream::submit`]): with the number of phase one it
/// need not look at the blocks again.
#[inline]
pub fn changes() -> usize {
    CHANGES.load(Ordering::SeqCst)
}

/// The block that an address lies in. Takes no lock.
pub fn find_block(address: usize) -> Option<Block> {
    find_block_under(address, &epoch::pin())
}

/// As [`find_block`], for callers that look at several and pin the epoch once.
#[inline]
pub fn find_block_under(address: usize, guard: &Guard) -> Option<Block> {
    REGISTRY.find(address, guard)
}

/// Every live block, by address.
pub(super) fn live_blocks() -> Vec<Block> {
    REGISTRY.all()
}

/// Keeps the registry as it is until a fork is over.
pub(super) fn hold_registry(held: &mut fork::Held) {
    REGISTRY.hold_changes(held);
}

/// Reads what is read once, before a fork.
pub(super) fn read_limits() {
    limits::total();
}

/// Keeps the memory that two addresses lie in from going away while the result lives.
fn hold(addresses: [usize; 2]) -> [Option<Arc<Mapping>>; 2] {
    REGISTRY.hold(addresses)
}

/// What a task keeps when a block that it uses is freed.
pub type Kept = Arc<Mapping>;

/// Queues a checked copy (`None`: there is nothing to copy), and waits for it where its source may change as soon as the
/// caller goes on.
pub fn copy_in_stream(copy: Option<Copy>, kind: i32, stream: Handle) -> Result<()> {
    let stream = stream::resolve(stream)?;
    let Some(copy) = copy else { return Ok(()) };
    let waits = copy.check_for_stream(kind)?;
    if waits {
        stream.refuse_endless(None, "waited for")?;
    }
    let task = Task { work: Work::Copy(copy), uses: copy.uses() };
    let number = stream.submit_counted(task, || copy.check_again())?;
    // How it ended is for the stream's synchronise to say.
    if waits { stream.wait_for(number, None) } else { Ok(()) }
}

/// Queues a checked set (`None`: there is nothing to set).
pub fn set_in_stream(set: Option<Set>, stream: Handle) -> Result<()> {
    let stream = stream::resolve(stream)?;
    let Some(set) = set else { return Ok(()) };
    stream.submit(Task { work: Work::Set(set), uses: set.uses() }, || set.check_again())
}

/// Checks a range for `aclrtMemFlush` and its kin.
pub fn check_range(start: usize, size: usize) -> Result<()> {
    if size == 0 {
        return Err(Error::InvalidArgument("size is 0, expected at least 1 byte".into()));
    }
    copy::stays_inside(start, size, "devPtr").map(|_| ())
}

/// Free bytes and all bytes, for a number of `aclrtMemAttr`.
pub fn info(attribute: i32) -> Result<(usize, usize)> {
    const LAST: i32 = 17;
    if !(0..=LAST).contains(&attribute) {
        return Err(Error::InvalidValue(format!("attr is {attribute}, expected an aclrtMemAttr from 0 to {LAST}")));
    }
    let total = limits::total();
    // What was handed out but not touched yet is still free for the system, but not for a caller.
    let left = total.saturating_sub(LIVE_BYTES.load(Ordering::Relaxed));
    Ok((limits::free().min(left), total))
}

/// The `aclrtMemLocationType` of an address, its device, and the size of its pages.
pub fn location(address: usize) -> (i32, u32, u32) {
    const HOST: i32 = 0;
    const DEVICE: i32 = 1;
    const UNREGISTERED: i32 = 2;
    let Some(block) = find_block(address) else { return (UNREGISTERED, 0, 0) };
    let page = if block.checked_len >= mapping::LARGE { 2 << 20 } else { 4096 };
    match block.kind {
        Kind::Device => (DEVICE, block.device, page),
        Kind::Host => (HOST, 0, page),
    }
}
