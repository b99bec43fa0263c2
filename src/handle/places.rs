//! Where the entries of a table stand: places that are never moved or released, and which of them are free.

use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use super::{Handle, Kind, SHARDS, SLOTS_PER_SHARD};
use crate::runtime::fork::Held;
use crate::sync::Mutex;

/// Places in the first segment of a shard; each further segment is twice as long as the one before.
const FIRST_SEGMENT: u32 = 64;
const SEGMENTS: usize = (SLOTS_PER_SHARD / FIRST_SEGMENT).ilog2() as usize + 1;

/// A place. It is reused, each time with the next generation.
struct Place<S> {
    slot: S,
    generation: AtomicU32,
}

struct Shard<S> {
    segments: [AtomicPtr<Place<S>>; SEGMENTS],
    free: Mutex<FreeList>,
    /// Places that were ever used: `fresh` of the free list, to be read without its lock.
    used: AtomicU32,
}

#[derive(Default)]
struct FreeList {
    /// Places that were used and are free again.
    reusable: Vec<u32>,
    /// Places from here on were never used.
    fresh: u32,
}

/// The places of one table, each with a slot of the table's own making.
pub(super) struct Places<S: Send + Sync + 'static> {
    kind: Kind,
    shards: [Shard<S>; SHARDS],
}

impl<S: Default + Send + Sync + 'static> Places<S> {
    /// None yet, for handles of this kind.
    pub(super) const fn new(kind: Kind) -> Self {
        Self {
            kind,
            shards: [const {
                Shard {
                    segments: [const { AtomicPtr::new(std::ptr::null_mut()) }; SEGMENTS],
                    free: Mutex::new(FreeList { reusable: Vec::new(), fresh: 0 }),
                    used: AtomicU32::new(0),
                }
            }; SHARDS],
        }
    }

    /// The kind of all handles of these places.
    pub(super) fn kind(&self) -> Kind {
        self.kind
    }

    /// A free place, for the caller alone until it is given back, and the handle that it has this time; `None` where 16
    /// million are taken.
    pub(super) fn take(&self) -> Option<(Handle, &S)> {
        let home = home_shard();
        (0..SHARDS).map(|step| (home + step) % SHARDS).find_map(|shard| {
            let slot = self.shards[shard].take()?;
            let place = self.shards[shard].place(slot)?;
            Some((Handle::new(self.kind, place.generation.load(Ordering::Relaxed), shard, slot), &place.slot))
        })
    }

    /// The slot at the place of a handle, if the handle is of this kind and there is one. It may be in any generation.
    #[inline]
    pub(super) fn at(&self, handle: Handle) -> Option<&S> {
        if !handle.is_of(self.kind) {
            return None;
        }
        self.shards[handle.shard()].place(handle.slot()).map(|place| &place.slot)
    }

    /// Frees the place of a handle that the caller has just ended.
    pub(super) fn give_back(&self, handle: Handle) {
        let shard = &self.shards[handle.shard()];
        let Some(place) = shard.place(handle.slot()) else { return };
        let mut free = shard.free.lock();
        let generation = place.generation.load(Ordering::Relaxed);
        // A place whose generations are used up is retired: an old handle must never become live again.
        if let Some(next) = generation.checked_add(1) {
            place.generation.store(next, Ordering::Relaxed);
            free.reusable.push(handle.slot());
        }
    }

    /// Every slot that was ever used, with the handle that its place has now or had last (others may come and go
    /// meanwhile). Takes no lock.
    pub(super) fn all(&self) -> impl Iterator<Item = (Handle, &S)> {
        self.shards.iter().enumerate().flat_map(move |(index, shard)| {
            let used = shard.used.load(Ordering::Acquire);
            (0..used).filter_map(move |slot| {
                let place = shard.place(slot)?;
                let generation = place.generation.load(Ordering::Relaxed);
                Some((Handle::new(self.kind, generation, index, slot), &place.slot))
            })
        })
    }

    /// Keeps places from being taken and given back until a fork is over.
    pub(super) fn hold(&'static self, held: &mut Held) {
        for shard in &self.shards {
            held.push(Box::new(shard.free.lock()));
        }
    }
}

impl<S: Default> Shard<S> {
    /// A place, if its segment exists.
    #[inline]
    fn place(&self, slot: u32) -> Option<&Place<S>> {
        let (segment, offset) = locate(slot);
        let start = self.segments.get(segment)?.load(Ordering::Acquire);
        if start.is_null() {
            return None;
        }
        // SAFETY: a segment that is published is never released, and `locate` keeps the offset below its length.
        Some(unsafe { &*start.add(offset) })
    }

    fn take(&self) -> Option<u32> {
        let mut free = self.free.lock();
        if let Some(slot) = free.reusable.pop() {
            return Some(slot);
        }
        if free.fresh == SLOTS_PER_SHARD - FIRST_SEGMENT {
            return None;
        }
        let slot = free.fresh;
        let (segment, offset) = locate(slot);
        if offset == 0 {
            let places: Box<[Place<S>]> = (0..FIRST_SEGMENT << segment)
                .map(|_| Place { slot: S::default(), generation: AtomicU32::new(1) })
                .collect();
            // Room for all of them at once: giving a place back never allocates.
            let room = slot as usize + places.len() - free.reusable.len();
            free.reusable.reserve_exact(room);
            self.segments[segment].store(Box::leak(places).as_mut_ptr(), Ordering::Release);
        }
        free.fresh += 1;
        self.used.store(free.fresh, Ordering::Release);
        Some(slot)
    }
}

/// Segment and offset of a place: segment n holds `FIRST_SEGMENT << n` of them.
#[inline]
fn locate(slot: u32) -> (usize, usize) {
    let shifted = slot + FIRST_SEGMENT;
    let segment = shifted.ilog2() - FIRST_SEGMENT.ilog2();
    (segment as usize, (shifted - (FIRST_SEGMENT << segment)) as usize)
}

/// The shard that this thread takes places from first.
fn home_shard() -> usize {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    thread_local!(static HOME: usize = NEXT.fetch_add(1, Ordering::Relaxed) as usize % SHARDS);
    // A thread whose locals are gone already (exit handlers) shares shard 0.
    HOME.try_with(|home| *home).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_fill_segments_without_gaps() {
        let mut expected = (0, 0);
        for slot in 0..10_000 {
            assert_eq!(locate(slot), expected);
            expected.1 += 1;
            if expected.1 == (FIRST_SEGMENT as usize) << expected.0 {
                expected = (expected.0 + 1, 0);
            }
        }
        assert!(locate(SLOTS_PER_SHARD - FIRST_SEGMENT - 1).0 < SEGMENTS);
    }
}
