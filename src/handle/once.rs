//! The table of values that are used once, unless they are made repeatable.
//!
//! A one-shot value is read by nobody but the thread that takes it up, and belongs to that thread from then on: nobody
//! has to wait until look-ups are over, and its memory is free again, and still in the cache, for the next value. Only
//! what was made repeatable is read by several threads, under the epoch.
//!
//! ```text
//! empty --insert--> once(handle) --take_up, destroy--> empty          the thread that makes this step owns the value
//!                        |
//!                  make_repeatable
//!                        v
//!                  repeatable(handle) --destroy--> empty              the value is released through the epoch
//! ```

use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering, fence};

use super::places::Places;
use super::{Handle, Kind};
use crate::epoch::{self, Atomic, Guard, Owned, Shared};
use crate::runtime::fork::Held;

const EMPTY: u64 = 0;
/// The highest bit is set in every handle, and in the state of a one-shot value.
const ONCE: u64 = 1 << 63;

fn once(handle: Handle) -> u64 {
    handle.0 | ONCE
}

fn repeatable(handle: Handle) -> u64 {
    handle.0 & !ONCE
}

/// One place for a value. Whoever sees `once` may not follow the pointer, except by leaving that state.
struct Slot<T> {
    state: AtomicU64,
    value: Atomic<T>,
}

impl<T> Default for Slot<T> {
    fn default() -> Self {
        Self { state: AtomicU64::new(EMPTY), value: Atomic::null() }
    }
}

/// The live handles of one kind, and the values behind them.
pub struct OnceTable<T: Send + Sync + 'static> {
    places: Places<Slot<T>>,
}

/// A value that was taken up.
pub enum Taken<'g, T> {
    /// The last use of a one-shot value.
    Once(Box<T>),
    /// A repeatable value, which stays live.
    Repeatable(&'g T),
}

impl<T> Deref for Taken<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        match self {
            Self::Once(value) => value,
            Self::Repeatable(value) => value,
        }
    }
}

impl<T: Send + Sync + 'static> OnceTable<T> {
    /// An empty table.
    pub const fn new(kind: Kind) -> Self {
        Self { places: Places::new(kind) }
    }

    /// Puts a one-shot value behind a new handle; `None` where 16 million are live already.
    pub fn insert(&self, value: Box<T>) -> Option<Handle> {
        let (handle, slot) = self.places.take()?;
        slot.value.store(Owned::from(value), Ordering::Release);
        slot.state.store(once(handle), Ordering::Release);
        Some(handle)
    }

    /// Takes a value up for one use. A one-shot handle ends with this: of several threads that try, one gets it.
    #[inline]
    pub fn take_up<'g>(&self, handle: Handle, guard: &'g Guard) -> Option<Taken<'g, T>> {
        let slot = self.places.at(handle)?;
        match self.take_out(slot, handle) {
            Some(value) => Some(Taken::Once(value)),
            None => self.get(handle, guard).map(Taken::Repeatable),
        }
    }

    /// What stands behind a repeatable handle, if it is live.
    pub fn get<'g>(&self, handle: Handle, guard: &'g Guard) -> Option<&'g T> {
        let slot = self.places.at(handle)?;
        // SAFETY: a live repeatable value is released through the epoch only, which `guard` holds.
        self.shared(slot, handle, guard).map(|value| unsafe { value.deref() })
    }

    /// Whether a live handle was made repeatable; `None` where it is not live.
    pub fn is_repeatable(&self, handle: Handle) -> Option<bool> {
        let state = self.places.at(handle)?.state.load(Ordering::Acquire);
        match state {
            _ if state == once(handle) => Some(false),
            _ if state == repeatable(handle) => Some(true),
            _ => None,
        }
    }

    /// Lets a handle be used any number of times; `false` where it is not live.
    pub fn make_repeatable(&self, handle: Handle) -> bool {
        self.places.at(handle).is_some_and(|slot| {
            let (from, to) = (once(handle), repeatable(handle));
            // Success passes on to readers what `insert` released.
            let change = slot.state.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire);
            change.is_ok() || change == Err(to)
        })
    }

    /// Puts what `change` makes of a repeatable value in its place; `None` where there is none (any more). `change` is
    /// called again where another thread was quicker.
    pub fn update<E>(
        &self,
        handle: Handle,
        guard: &Guard,
        mut change: impl FnMut(&T) -> Result<T, E>,
    ) -> Option<Result<(), E>> {
        let slot = self.places.at(handle)?;
        loop {
            let old = self.shared(slot, handle, guard)?;
            // SAFETY: as in `get`.
            let new = match change(unsafe { old.deref() }) {
                Ok(new) => Owned::new(new),
                Err(error) => return Some(Err(error)),
            };
            // A value that is destroyed meanwhile is no longer `old`, or `destroy` finds and releases the new one.
            if slot.value.compare_exchange(old, new, Ordering::AcqRel, Ordering::Relaxed, guard).is_ok() {
                // SAFETY: the exchange made this thread the only one that took it out, and readers hold the epoch.
                unsafe { guard.defer_destroy(old) };
                return Some(Ok(()));
            }
        }
    }

    /// Ends a handle; `false` where it was not live (any more).
    pub fn destroy(&self, handle: Handle) -> bool {
        let Some(slot) = self.places.at(handle) else { return false };
        if self.take_out(slot, handle).is_some() {
            return true;
        }
        let (from, to) = (repeatable(handle), EMPTY);
        if slot.state.compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed).is_err() {
            return false;
        }
        let guard = &epoch::pin();
        let value = slot.value.swap(Shared::null(), Ordering::AcqRel, guard);
        // SAFETY: the state was left by this thread alone, so only it takes the last value out; readers hold the epoch.
        unsafe { guard.defer_destroy(value) };
        self.places.give_back(handle);
        true
    }

    /// Every handle that is live now.
    pub fn live(&self) -> Vec<Handle> {
        let states = self.places.all().map(|(_, slot)| slot.state.load(Ordering::Acquire));
        states.filter(|state| *state != EMPTY).map(|state| Handle(state | ONCE)).collect()
    }

    /// Keeps every insertion and removal out until a fork is over.
    pub fn hold(&'static self, held: &mut Held) {
        self.places.hold(held);
    }

    /// Leaves `once` for good, with the value.
    #[inline]
    fn take_out(&self, slot: &Slot<T>, handle: Handle) -> Option<Box<T>> {
        // A look first: a repeatable value that many threads use is not to be written.
        if slot.state.load(Ordering::Relaxed) != once(handle) {
            return None;
        }
        slot.state.compare_exchange(once(handle), EMPTY, Ordering::AcqRel, Ordering::Relaxed).ok()?;
        // SAFETY: the pointer is the one that `insert` stored, since nothing else changes it in this state, and the
        // exchange made this thread the only one that may follow it: nobody reads a value that was never repeatable.
        let value = unsafe {
            let unprotected = epoch::unprotected();
            let value = slot.value.load(Ordering::Relaxed, unprotected);
            slot.value.store(Shared::null(), Ordering::Relaxed);
            value.into_owned()
        };
        self.places.give_back(handle);
        Some(value.into_box())
    }

    /// The pointer to the value behind a live repeatable handle.
    #[inline]
    fn shared<'g>(&self, slot: &Slot<T>, handle: Handle, guard: &'g Guard) -> Option<Shared<'g, T>> {
        if slot.state.load(Ordering::Acquire) != repeatable(handle) {
            return None;
        }
        let value = slot.value.load(Ordering::Acquire, guard);
        // Another handle may have come to this place meanwhile, and its value may not be followed: if the pointer is not
        // this handle's, the state is not either, since a handle's state ends before its place gets another pointer.
        fence(Ordering::Acquire);
        (slot.state.load(Ordering::Relaxed) == repeatable(handle)).then_some(value)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicUsize};

    use super::*;

    const ROUNDS: usize = if cfg!(miri) { 20 } else { 2_000 };

    fn insert(table: &OnceTable<Arc<u64>>, value: &Arc<u64>) -> Handle {
        table.insert(Box::new(value.clone())).unwrap()
    }

    /// Waits until the table has let go of all values.
    fn expect_released(value: &Arc<u64>) {
        // The epoch needs a few turns until the last values are gone.
        for _ in 0..10_000 {
            if Arc::strong_count(value) == 1 {
                return;
            }
            epoch::pin().flush();
            std::thread::yield_now();
        }
        panic!("{} values were never released", Arc::strong_count(value) - 1);
    }

    #[test]
    fn a_one_shot_value_is_taken_up_once_and_released_at_once() {
        static TABLE: OnceTable<Arc<u64>> = OnceTable::new(Kind::Executor);
        let guard = &epoch::pin();
        let value = Arc::new(7);
        let handle = insert(&TABLE, &value);
        assert_eq!(TABLE.is_repeatable(handle), Some(false));
        assert!(TABLE.get(handle, guard).is_none(), "nobody reads a one-shot value without taking it up");
        assert_eq!(TABLE.live(), [handle]);
        let taken = TABLE.take_up(handle, guard);
        assert!(matches!(&taken, Some(Taken::Once(value)) if ***value == 7));
        drop(taken);
        assert_eq!(Arc::strong_count(&value), 1, "released although this thread is pinned");
        assert!(TABLE.take_up(handle, guard).is_none());
        assert!(!TABLE.make_repeatable(handle) && !TABLE.destroy(handle));
        assert_eq!((TABLE.is_repeatable(handle), TABLE.live()), (None, vec![]));
        // The place is used again, by another handle.
        let next = insert(&TABLE, &value);
        assert_eq!((next.shard(), next.slot()), (handle.shard(), handle.slot()));
        assert!(TABLE.take_up(handle, guard).is_none() && TABLE.destroy(next));
        assert_eq!(Arc::strong_count(&value), 1);
    }

    #[test]
    fn a_repeatable_value_stays_until_it_is_destroyed() {
        static TABLE: OnceTable<Arc<u64>> = OnceTable::new(Kind::Executor);
        let value = Arc::new(1);
        let handle = insert(&TABLE, &value);
        assert!(TABLE.make_repeatable(handle) && TABLE.make_repeatable(handle));
        {
            let guard = &epoch::pin();
            for _ in 0..3 {
                assert!(matches!(TABLE.take_up(handle, guard), Some(Taken::Repeatable(value)) if **value == 1));
            }
            assert_eq!(TABLE.update(handle, guard, |_| Err(5)), Some(Err(5)));
            assert_eq!(TABLE.update(handle, guard, |old| Ok::<_, ()>(Arc::new(**old + 1))), Some(Ok(())));
            assert_eq!(**TABLE.get(handle, guard).unwrap(), 2);
            assert_eq!((TABLE.is_repeatable(handle), TABLE.live()), (Some(true), vec![handle]));
            assert!(TABLE.destroy(handle) && !TABLE.destroy(handle));
            assert!(TABLE.take_up(handle, guard).is_none());
            assert!(TABLE.update(handle, guard, |_| Ok::<_, ()>(value.clone())).is_none());
        }
        expect_released(&value);
    }

    #[test]
    fn one_of_many_threads_takes_a_value_up() {
        static TABLE: OnceTable<Arc<u64>> = OnceTable::new(Kind::Executor);
        let value = Arc::new(0);
        let handles: Vec<_> = (0..ROUNDS).map(|_| insert(&TABLE, &value)).collect();
        let taken = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for ends in [false, true, false, true] {
                let (taken, handles) = (&taken, &handles);
                scope.spawn(move || {
                    for handle in handles {
                        let won = if ends {
                            TABLE.destroy(*handle)
                        } else {
                            TABLE.take_up(*handle, &epoch::pin()).is_some_and(|value| **value == 0)
                        };
                        taken.fetch_add(usize::from(won), Ordering::Relaxed);
                    }
                });
            }
        });
        assert_eq!(taken.into_inner(), ROUNDS);
        assert_eq!(Arc::strong_count(&value), 1);
    }

    /// One place goes from one-shot to repeatable handles and back while stale handles are looked up: a reader that
    /// follows a pointer of another handle's sees another generation, or freed memory.
    #[test]
    fn readers_see_their_own_value_while_a_place_is_reused() {
        static TABLE: OnceTable<Vec<u64>> = OnceTable::new(Kind::Executor);
        let generation = |handle: Handle| handle.0 >> 24 & u64::from(u32::MAX);
        let current = AtomicU64::new(0);
        let ended = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !ended.load(Ordering::Acquire) {
                        let guard = &epoch::pin();
                        let handle = Handle(current.load(Ordering::Acquire));
                        let check = |value: &Vec<u64>| assert_eq!(*value, [generation(handle)]);
                        TABLE.get(handle, guard).into_iter().for_each(check);
                        let _ = TABLE.update(handle, guard, |old| {
                            check(old);
                            Ok::<_, ()>(old.clone())
                        });
                    }
                });
            }
            for next in 1..=2 * ROUNDS as u64 {
                let handle = TABLE.insert(Box::new(vec![next])).unwrap();
                assert_eq!(generation(handle), next, "the place is reused");
                if next % 2 == 0 {
                    assert!(TABLE.make_repeatable(handle));
                }
                current.store(handle.0, Ordering::Release);
                std::thread::yield_now();
                assert!(TABLE.destroy(handle));
            }
            ended.store(true, Ordering::Release);
        });
    }
}
