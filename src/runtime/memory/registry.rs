//! The live blocks, ordered by address.
//!
//! Look-ups are on the path of every launch, so they take no lock and write nothing that another thread reads: they pin
//! the thread's epoch and search two sorted levels, a [`Top`] of lower bounds and one [`Leaf`] of at most
//! [`LEAF_CAPACITY`] blocks. A change copies one leaf and publishes the copy; the top is copied only where a leaf splits
//! or empties. With 100,000 live blocks a change still costs about a microsecond.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::mapping::Mapping;
use crate::epoch::{self, Atomic, Guard, Owned, Shared};
use crate::runtime::fork::Held;
use crate::sync::Mutex;

/// Which function a block came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `aclrtMalloc` and its kin.
    Device,
    /// `aclrtMallocHost`.
    Host,
}

/// A live block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its first address.
    pub start: usize,
    /// Bytes that may be used: the size that was asked for, rounded up, plus padding.
    pub checked_len: usize,
    /// Which function it came from.
    pub kind: Kind,
    /// The device of the context that it was made under.
    pub device: u32,
}

impl std::fmt::Display for Block {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let function = match self.kind {
            Kind::Device => "aclrtMalloc",
            Kind::Host => "aclrtMallocHost",
        };
        write!(f, "{:#x}, {} bytes of {function}", self.start, self.checked_len)
    }
}

impl Block {
    /// The address behind the last usable byte.
    pub fn end(&self) -> usize {
        self.start + self.checked_len
    }

    /// Whether `len` bytes from `address` on, which lies in this block, stay inside it.
    pub fn holds(&self, address: usize, len: usize) -> bool {
        len <= self.end() - address
    }
}

const LEAF_CAPACITY: usize = 256;

/// Neighbouring blocks, sorted.
struct Leaf(Vec<Block>);

/// Leaf `n` holds the blocks that start at `lower[n]` or above, below `lower[n + 1]`. `lower[0]` is 0.
struct Top {
    lower: Vec<usize>,
    leaves: Vec<Atomic<Leaf>>,
}

impl Top {
    #[inline]
    fn index(&self, address: usize) -> usize {
        if self.lower.len() == 1 {
            return 0;
        }
        self.lower.partition_point(|lower| *lower <= address) - 1
    }
}

/// All live blocks.
pub struct Registry {
    /// Null until the first block.
    top: Atomic<Top>,
    /// Owns the memory, and orders the changes.
    mappings: Mutex<BTreeMap<usize, Arc<Mapping>>>,
}

impl Registry {
    /// Without any block.
    pub const fn new() -> Self {
        Self { top: Atomic::null(), mappings: Mutex::new(BTreeMap::new()) }
    }

    /// The block that an address lies in.
    pub fn find(&self, address: usize, guard: &Guard) -> Option<Block> {
        let top = self.top(guard)?;
        let leaf = self.leaf(top, top.index(address), guard);
        let after = leaf.0.partition_point(|block| block.start <= address);
        let block = leaf.0.get(after.checked_sub(1)?)?;
        (address < block.end()).then_some(*block)
    }

    /// Enters a block.
    pub fn insert(&self, mapping: Mapping) {
        let block = mapping.block();
        let mut mappings = self.mappings.lock();
        mappings.insert(block.start, Arc::new(mapping));
        self.change(block.start, |blocks| {
            let place = blocks.partition_point(|other| other.start < block.start);
            blocks.insert(place, block);
        });
    }

    /// Takes out the block that starts at an address, if it is of this kind; from here on `find` does not see it.
    pub fn remove(&self, start: usize, kind: Kind) -> Option<Arc<Mapping>> {
        let mut mappings = self.mappings.lock();
        if mappings.get(&start)?.block().kind != kind {
            return None;
        }
        let mapping = mappings.remove(&start)?;
        self.change(start, |blocks| blocks.retain(|block| block.start != start));
        Some(mapping)
    }

    /// Keeps the memory that two addresses lie in from being unmapped while the result lives.
    pub fn hold(&self, addresses: [usize; 2]) -> [Option<Arc<Mapping>>; 2] {
        let mappings = self.mappings.lock();
        addresses.map(|address| {
            let (_, mapping) = mappings.range(..=address).next_back()?;
            (address < mapping.block().end()).then(|| mapping.clone())
        })
    }

    /// Every live block, by address.
    pub fn all(&self) -> Vec<Block> {
        self.mappings.lock().values().map(|mapping| mapping.block()).collect()
    }

    /// Keeps every change out until a fork is over.
    pub fn hold_changes(&'static self, held: &mut Held) {
        held.push(Box::new(self.mappings.lock()));
    }

    /// Publishes a changed copy of the leaf that an address belongs to. The caller holds the lock.
    fn change(&self, address: usize, change: impl FnOnce(&mut Vec<Block>)) {
        let guard = &epoch::pin();
        let Some(top) = self.top(guard) else {
            let mut blocks = Vec::new();
            change(&mut blocks);
            self.publish(vec![0], vec![Atomic::new(Leaf(blocks))], guard);
            return;
        };
        let index = top.index(address);
        let mut blocks = Vec::with_capacity(LEAF_CAPACITY + 1);
        blocks.extend_from_slice(&self.leaf(top, index, guard).0);
        change(&mut blocks);
        let splits = blocks.len() > LEAF_CAPACITY;
        let empties = blocks.is_empty() && top.leaves.len() > 1;
        if !splits && !empties {
            let old = top.leaves[index].swap(Owned::new(Leaf(blocks)), Ordering::AcqRel, guard);
            // SAFETY: the swap unlinked it, changes are ordered by the lock, and readers hold the epoch.
            unsafe { guard.defer_destroy(old) };
            return;
        }
        let mut lower = top.lower.clone();
        // The other leaves pass to the new top as they are; only the changed one is replaced.
        let mut leaves: Vec<Atomic<Leaf>> =
            top.leaves.iter().map(|leaf| Atomic::from(leaf.load(Ordering::Acquire, guard))).collect();
        let old = leaves.remove(index).load(Ordering::Acquire, guard);
        lower.remove(index);
        if splits {
            let upper = blocks.split_off(blocks.len() / 2);
            lower.insert(index, upper[0].start);
            leaves.insert(index, Atomic::new(Leaf(upper)));
            lower.insert(index, top.lower[index]);
            leaves.insert(index, Atomic::new(Leaf(blocks)));
        } else if index == 0 {
            // The range of an emptied leaf falls to a neighbour.
            lower[0] = 0;
        }
        self.publish(lower, leaves, guard);
        // SAFETY: the new top does not have it, changes are ordered by the lock, and readers hold the epoch.
        unsafe { guard.defer_destroy(old) };
    }

    fn publish(&self, lower: Vec<usize>, leaves: Vec<Atomic<Leaf>>, guard: &Guard) {
        let old = self.top.swap(Owned::new(Top { lower, leaves }), Ordering::AcqRel, guard);
        if !old.is_null() {
            // SAFETY: the swap unlinked it, and readers hold the epoch. Dropping a top leaves its leaves alone.
            unsafe { guard.defer_destroy(old) };
        }
    }

    fn top<'g>(&self, guard: &'g Guard) -> Option<&'g Top> {
        // SAFETY: released through the epoch only, which `guard` holds.
        unsafe { self.top.load(Ordering::Acquire, guard).as_ref() }
    }

    fn leaf<'g>(&self, top: &'g Top, index: usize, guard: &'g Guard) -> &'g Leaf {
        let leaf: Shared<'g, Leaf> = top.leaves[index].load(Ordering::Acquire, guard);
        // SAFETY: never null (built full), and released through the epoch only, which `guard` holds.
        unsafe { leaf.deref() }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::btree_map::Entry;

    use super::*;

    fn mapping(start: usize, len: usize) -> Mapping {
        Mapping::fictitious(Block { start, checked_len: len, kind: Kind::Device, device: 0 })
    }

    #[test]
    fn finds_what_an_ordered_map_finds_through_splits_and_removals() {
        let registry = Registry::new();
        let mut model = BTreeMap::new();
        let mut state = 12345_u64;
        let mut random = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as usize
        };
        for step in 0..20_000 {
            // Grows for the first half, shrinks to nothing in the second.
            let slot = random() % 4_000;
            let start = 4096 + slot * 128;
            if step < 10_000 || model.len() < 3 {
                if let Entry::Vacant(vacant) = model.entry(start) {
                    let len = *vacant.insert(1 + random() % 128);
                    registry.insert(mapping(start, len));
                }
            } else {
                let (&start, _) = model.range(start..).next().or_else(|| model.iter().next()).unwrap();
                model.remove(&start);
                assert!(registry.remove(start, Kind::Host).is_none());
                assert!(registry.remove(start, Kind::Device).is_some());
                assert!(registry.remove(start, Kind::Device).is_none());
            }
            let address = 4096 + random() % (4_001 * 128);
            let expected =
                model.range(..=address).next_back().filter(|(start, len)| address < **start + **len).map(|(s, _)| *s);
            assert_eq!(registry.find(address, &epoch::pin()).map(|block| block.start), expected, "step {step}");
        }
        assert_eq!(registry.find(usize::MAX, &epoch::pin()), None);
        assert_eq!(registry.find(0, &epoch::pin()), None);
    }

    #[test]
    fn readers_see_blocks_that_stay_while_others_come_and_go() {
        let registry = Registry::new();
        for n in 0..1_000 {
            registry.insert(mapping((1 + 2 * n) * 1024, 1024));
        }
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                for round in 0..20 {
                    for n in (0..1_000).step_by(1 + round % 3) {
                        registry.insert(mapping((2 + 2 * n) * 1024, 1024));
                    }
                    for n in (0..1_000).step_by(1 + round % 3) {
                        assert!(registry.remove((2 + 2 * n) * 1024, Kind::Device).is_some());
                    }
                }
            });
            while !writer.is_finished() {
                for n in 0..1_000 {
                    let start = (1 + 2 * n) * 1024;
                    let found = registry.find(start + 1023, &epoch::pin());
                    assert_eq!(found.map(|block| block.start), Some(start));
                }
            }
        });
    }
}
