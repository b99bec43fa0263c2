//! The table of the live handles of one kind.

use std::ops::Deref;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use super::{Handle, Kind, SHARDS, SLOTS_PER_SHARD};
use crate::epoch::{self, Atomic, Guard, Owned};
use crate::runtime::fork::Held;
use crate::sync::Mutex;

/// Slots in the first segment of a shard; each further segment is twice as long as the one before.
const FIRST_SEGMENT: u32 = 64;
const SEGMENTS: usize = (SLOTS_PER_SHARD / FIRST_SEGMENT).ilog2() as usize + 1;

struct Entry<T> {
    handle: Handle,
    value: T,
}

/// One place for an entry. Slots are never moved or released, only reused with the next generation.
struct Slot<T> {
    entry: Atomic<Entry<T>>,
    generation: AtomicU32,
}

struct Shard<T> {
    segments: [AtomicPtr<Slot<T>>; SEGMENTS],
    free: Mutex<FreeList>,
    /// Slots that were ever used: `fresh` of the free list, to be read without its lock.
    used: AtomicU32,
}

#[derive(Default)]
struct FreeList {
    /// Slots that were used and are free again.
    reusable: Vec<u32>,
    /// Slots from here on were never used.
    fresh: u32,
}

/// The live handles of one kind and what stands behind them.
pub struct Table<T: Send + Sync + 'static> {
    kind: Kind,
    shards: [Shard<T>; SHARDS],
}

/// A live entry, kept readable until this is dropped. Short-lived: it holds back the release of removed entries.
pub struct Live<'g, T>(&'g Entry<T>);

impl<T> Deref for Live<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0.value
    }
}

impl<T: Send + Sync + 'static> Table<T> {
    /// An empty table.
    pub const fn new(kind: Kind) -> Self {
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

    /// The kind of all handles of this table.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Puts a value behind a new handle; `None` where 16 million are live already.
    pub fn insert(&self, value: T) -> Option<Handle> {
        self.insert_with(|_| value)
    }

    /// Puts a value that knows its own handle behind it.
    pub fn insert_with(&self, make: impl FnOnce(Handle) -> T) -> Option<Handle> {
        let home = home_shard();
        let (shard, slot) = (0..SHARDS).map(|step| (home + step) % SHARDS).find_map(|shard| {
            let slot = self.shards[shard].take_slot()?;
            Some((shard, slot))
        })?;
        let place = self.shards[shard].slot(slot)?;
        let handle = Handle::new(self.kind, place.generation.load(Ordering::Relaxed), shard, slot);
        let entry = Entry { handle, value: make(handle) };
        place.entry.store(Owned::new(entry), Ordering::Release);
        Some(handle)
    }

    /// What stands behind a handle, if it is live.
    pub fn get<'g>(&self, handle: Handle, guard: &'g Guard) -> Option<Live<'g, T>> {
        if !handle.is_of(self.kind) {
            return None;
        }
        let entry = self.shards[handle.shard()].slot(handle.slot())?.entry.load(Ordering::Acquire, guard);
        // SAFETY: entries are released through the epoch only, and `guard` keeps the epoch from passing this one.
        let entry = unsafe { entry.as_ref() }?;
        (entry.handle == handle).then_some(Live(entry))
    }

    /// Whether a handle is live.
    pub fn contains(&self, handle: Handle) -> bool {
        self.get(handle, &epoch::pin()).is_some()
    }

    /// A copy of what stands behind a handle (an `Arc`, or small plain data).
    pub fn cloned(&self, handle: Handle) -> Option<T>
    where
        T: Clone,
    {
        self.get(handle, &epoch::pin()).map(|live| live.clone())
    }

    /// Ends a handle and returns a copy of what stood behind it. Of several threads that try, one gets it.
    pub fn remove(&self, handle: Handle) -> Option<T>
    where
        T: Clone,
    {
        self.remove_with(handle, T::clone)
    }

    /// Ends a handle; `false` where it was not live (any more).
    pub fn destroy(&self, handle: Handle) -> bool {
        self.remove_with(handle, |_| ()).is_some()
    }

    /// Ends a handle and returns what `read` makes of what stood behind it. Of several threads that try, one gets it.
    pub fn remove_with<R>(&self, handle: Handle, read: impl FnOnce(&T) -> R) -> Option<R> {
        let guard = &epoch::pin();
        let place = self.slot_of(handle)?;
        let entry = place.entry.load(Ordering::Acquire, guard);
        // SAFETY: as in `get`.
        let live = unsafe { entry.as_ref() }.filter(|entry| entry.handle == handle)?;
        let none = epoch::Shared::null();
        place.entry.compare_exchange(entry, none, Ordering::AcqRel, Ordering::Relaxed, guard).ok()?;
        let value = read(&live.value);
        // SAFETY: the exchange above made this thread the only one that took the entry out of its slot.
        unsafe { guard.defer_destroy(entry) };
        self.shards[handle.shard()].give_back(handle.slot(), place);
        Some(value)
    }

    /// Puts another value behind a live handle; `false` where it is not live (any more).
    pub fn replace(&self, handle: Handle, value: T) -> bool {
        let guard = &epoch::pin();
        let Some(place) = self.slot_of(handle) else { return false };
        let mut new = Owned::new(Entry { handle, value });
        loop {
            let entry = place.entry.load(Ordering::Acquire, guard);
            // SAFETY: as in `get`.
            if unsafe { entry.as_ref() }.is_none_or(|entry| entry.handle != handle) {
                return false;
            }
            match place.entry.compare_exchange(entry, new, Ordering::AcqRel, Ordering::Relaxed, guard) {
                Ok(_) => {
                    // SAFETY: the exchange above made this thread the only one that took the entry out of its slot.
                    unsafe { guard.defer_destroy(entry) };
                    return true;
                }
                Err(lost) => new = lost.new,
            }
        }
    }

    /// Keeps every insertion and removal out until a fork is over.
    pub fn hold(&'static self, held: &mut Held) {
        for shard in &self.shards {
            held.push(Box::new(shard.free.lock()));
        }
    }

    /// Calls `visit` with every handle that is live now (others may come and go meanwhile). Takes no lock.
    pub fn for_each(&self, mut visit: impl FnMut(Handle, &T)) {
        let guard = &epoch::pin();
        for shard in &self.shards {
            let used = shard.used.load(Ordering::Acquire);
            for slot in (0..used).filter_map(|slot| shard.slot(slot)) {
                // SAFETY: as in `get`.
                if let Some(entry) = unsafe { slot.entry.load(Ordering::Acquire, guard).as_ref() } {
                    visit(entry.handle, &entry.value);
                }
            }
        }
    }

    fn slot_of(&self, handle: Handle) -> Option<&Slot<T>> {
        if handle.is_of(self.kind) { self.shards[handle.shard()].slot(handle.slot()) } else { None }
    }
}

impl<T> Shard<T> {
    /// The place of a slot, if its segment exists.
    fn slot(&self, slot: u32) -> Option<&Slot<T>> {
        let (segment, offset) = locate(slot);
        let start = self.segments.get(segment)?.load(Ordering::Acquire);
        if start.is_null() {
            return None;
        }
        // SAFETY: a segment that is published is never released, and `locate` keeps the offset below its length.
        Some(unsafe { &*start.add(offset) })
    }

    fn take_slot(&self) -> Option<u32> {
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
            let slots: Box<[Slot<T>]> = (0..FIRST_SEGMENT << segment)
                .map(|_| Slot { entry: Atomic::null(), generation: AtomicU32::new(1) })
                .collect();
            self.segments[segment].store(Box::leak(slots).as_mut_ptr(), Ordering::Release);
        }
        free.fresh += 1;
        self.used.store(free.fresh, Ordering::Release);
        Some(slot)
    }

    fn give_back(&self, slot: u32, place: &Slot<T>) {
        let mut free = self.free.lock();
        let generation = place.generation.load(Ordering::Relaxed);
        // A slot whose generations are used up is retired: an old handle must never become live again.
        if let Some(next) = generation.checked_add(1) {
            place.generation.store(next, Ordering::Relaxed);
            free.reusable.push(slot);
        }
    }
}

/// Segment and offset of a slot: segment n holds `FIRST_SEGMENT << n` slots.
fn locate(slot: u32) -> (usize, usize) {
    let shifted = slot + FIRST_SEGMENT;
    let segment = shifted.ilog2() - FIRST_SEGMENT.ilog2();
    (segment as usize, (shifted - (FIRST_SEGMENT << segment)) as usize)
}

/// The shard that this thread inserts into first.
fn home_shard() -> usize {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    thread_local!(static HOME: usize = NEXT.fetch_add(1, Ordering::Relaxed) as usize % SHARDS);
    // A thread whose locals are gone already (exit handlers) shares shard 0.
    HOME.try_with(|home| *home).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[test]
    fn slots_fill_segments_without_gaps() {
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

    #[test]
    fn a_removed_handle_stays_dead_when_its_slot_is_reused() {
        static TABLE: Table<u64> = Table::new(Kind::Tensor);
        let first = TABLE.insert(1).unwrap();
        assert_eq!(TABLE.remove(first), Some(1));
        assert_eq!(TABLE.remove(first), None);
        let second = TABLE.insert(2).unwrap();
        assert_eq!((first.shard(), first.slot()), (second.shard(), second.slot()));
        assert_eq!(TABLE.cloned(first), None);
        assert_eq!(TABLE.cloned(second), Some(2));
        assert!(!TABLE.replace(first, 9));
        assert!(TABLE.replace(second, 3));
        assert_eq!(TABLE.remove(second), Some(3));
    }

    #[test]
    fn garbage_and_other_kinds_are_not_live() {
        static TABLE: Table<()> = Table::new(Kind::Scalar);
        let live = TABLE.insert(()).unwrap();
        for bits in [0, 1, 8, u64::MAX, live.0 ^ 1, live.0 ^ (1 << 23), live.0 ^ (1 << 40), live.0 ^ (1 << 56)] {
            assert!(!TABLE.contains(Handle(bits)), "{bits:#x}");
        }
        assert!(TABLE.contains(live));
    }

    #[test]
    fn one_of_many_removers_wins_and_values_are_released() {
        static TABLE: Table<Arc<()>> = Table::new(Kind::Executor);
        let value = Arc::new(());
        let handles: Vec<_> = (0..2_000).map(|_| TABLE.insert(value.clone()).unwrap()).collect();
        let removed = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let won = handles.iter().filter(|handle| TABLE.remove(**handle).is_some()).count();
                    removed.fetch_add(won, Ordering::Relaxed);
                });
            }
        });
        assert_eq!(removed.into_inner(), 2_000);
        // The epoch needs a few turns until the last entries are gone.
        for _ in 0..10_000 {
            if Arc::strong_count(&value) == 1 {
                return;
            }
            epoch::pin().flush();
            std::thread::yield_now();
        }
        panic!("{} entries were never released", Arc::strong_count(&value) - 1);
    }
}
