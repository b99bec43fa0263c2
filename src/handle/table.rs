//! The table of the live handles of one kind.

use std::ops::Deref;
use std::sync::atomic::Ordering;

use super::places::Places;
use super::{Handle, Kind};
use crate::epoch::{self, Atomic, Guard, Owned};
use crate::runtime::fork::Held;

struct Entry<T> {
    handle: Handle,
    value: T,
}

/// One place for an entry.
struct Slot<T>(Atomic<Entry<T>>);

impl<T> Default for Slot<T> {
    fn default() -> Self {
        Self(Atomic::null())
    }
}

/// The live handles of one kind and what stands behind them.
pub struct Table<T: Send + Sync + 'static> {
    places: Places<Slot<T>>,
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
        Self { places: Places::new(kind) }
    }

    /// The kind of all handles of this table.
    pub fn kind(&self) -> Kind {
        self.places.kind()
    }

    /// Puts a value behind a new handle; `None` where 16 million are live already.
    pub fn insert(&self, value: T) -> Option<Handle> {
        self.insert_with(|_| value)
    }

    /// Puts a value that knows its own handle behind it.
    pub fn insert_with(&self, make: impl FnOnce(Handle) -> T) -> Option<Handle> {
        let (handle, slot) = self.places.take()?;
        let entry = Entry { handle, value: make(handle) };
        slot.0.store(Owned::new(entry), Ordering::Release);
        Some(handle)
    }

    /// What stands behind a handle, if it is live.
    #[inline]
    pub fn get<'g>(&self, handle: Handle, guard: &'g Guard) -> Option<Live<'g, T>> {
        let entry = self.places.at(handle)?.0.load(Ordering::Acquire, guard);
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
        let slot = &self.places.at(handle)?.0;
        let entry = slot.load(Ordering::Acquire, guard);
        // SAFETY: as in `get`.
        let live = unsafe { entry.as_ref() }.filter(|entry| entry.handle == handle)?;
        let none = epoch::Shared::null();
        slot.compare_exchange(entry, none, Ordering::AcqRel, Ordering::Relaxed, guard).ok()?;
        let value = read(&live.value);
        // SAFETY: the exchange above made this thread the only one that took the entry out of its slot.
        unsafe { guard.defer_destroy(entry) };
        self.places.give_back(handle);
        Some(value)
    }

    /// Puts another value behind a live handle; `false` where it is not live (any more).
    pub fn replace(&self, handle: Handle, value: T) -> bool {
        let guard = &epoch::pin();
        let Some(Slot(slot)) = self.places.at(handle) else { return false };
        let mut new = Owned::new(Entry { handle, value });
        loop {
            let entry = slot.load(Ordering::Acquire, guard);
            // SAFETY: as in `get`.
            if unsafe { entry.as_ref() }.is_none_or(|entry| entry.handle != handle) {
                return false;
            }
            match slot.compare_exchange(entry, new, Ordering::AcqRel, Ordering::Relaxed, guard) {
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
        self.places.hold(held);
    }

    /// Calls `visit` with every handle that is live now (others may come and go meanwhile). Takes no lock.
    pub fn for_each(&self, mut visit: impl FnMut(Handle, &T)) {
        let guard = &epoch::pin();
        for (_, Slot(entry)) in self.places.all() {
            // SAFETY: as in `get`.
            if let Some(entry) = unsafe { entry.load(Ordering::Acquire, guard).as_ref() } {
                visit(entry.handle, &entry.value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicUsize;

    use super::*;

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
        // The epoch needs a few turns until the last entries are gone, and as long as threads of other tests are pinned.
        let start = std::time::Instant::now();
        while start.elapsed().as_secs() < 30 {
            if Arc::strong_count(&value) == 1 {
                return;
            }
            epoch::pin().flush();
            std::thread::yield_now();
        }
        panic!("{} entries were never released", Arc::strong_count(&value) - 1);
    }
}
