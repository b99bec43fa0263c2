//! What stands behind an opaque pointer of the C ABI.
//!
//! A handle is a number, never an address: kind, generation and slot. It is live exactly while its slot holds an entry
//! with that very number, so a destroyed handle, one of another kind, and garbage are all detected. Handles are not
//! canonical addresses on x86-64: a caller that dereferences one faults at once.
//!
//! Look-ups take no lock and write nothing that another thread reads: they pin the thread's epoch and follow two
//! pointers. Insertions and removals lock one of [`SHARDS`] free lists. An entry that was removed from a [`Table`] is
//! released once no look-up can see it any more ([`crate::epoch`]); what is used once, by one thread, needs no such wait
//! ([`OnceTable`]).

mod once;
mod places;
mod table;

pub use once::{OnceTable, Taken};
pub use table::{Live, Table};

use std::ffi::c_void;

/// What a handle names. The numbers are part of the handle's bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// `aclTensor`
    Tensor = 1,
    /// `aclOpExecutor`
    Executor = 2,
    /// `aclScalar`
    Scalar = 3,
    /// `aclIntArray`
    IntArray = 4,
    /// `aclFloatArray`
    FloatArray = 5,
    /// `aclBoolArray`
    BoolArray = 6,
    /// `aclTensorList`
    TensorList = 7,
    /// `aclScalarList`
    ScalarList = 8,
    /// `aclrtStream`
    Stream = 9,
    /// `aclrtContext`
    Context = 10,
    /// `aclrtEvent`
    Event = 11,
}

const KINDS: [(Kind, &str); 11] = [
    (Kind::Tensor, "aclTensor"),
    (Kind::Executor, "aclOpExecutor"),
    (Kind::Scalar, "aclScalar"),
    (Kind::IntArray, "aclIntArray"),
    (Kind::FloatArray, "aclFloatArray"),
    (Kind::BoolArray, "aclBoolArray"),
    (Kind::TensorList, "aclTensorList"),
    (Kind::ScalarList, "aclScalarList"),
    (Kind::Stream, "aclrtStream"),
    (Kind::Context, "aclrtContext"),
    (Kind::Event, "aclrtEvent"),
];

impl Kind {
    /// The C type's name.
    pub fn name(self) -> &'static str {
        KINDS.iter().find(|(kind, _)| *kind == self).map_or("handle", |(_, name)| name)
    }
}

/// An opaque handle as it crosses the C ABI: 0 is NULL.
///
/// Bits 56 to 63: `0xA0` plus the kind. Bits 24 to 55: generation of the slot. Bits 0 to 23: shard and slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(transparent)]
pub struct Handle(u64);

/// Free lists that insertions and removals spread over.
pub const SHARDS: usize = 16;
const SLOT_BITS: u32 = 20;
const SLOTS_PER_SHARD: u32 = 1 << SLOT_BITS;
const KIND_BASE: u64 = 0xA0;

impl Handle {
    /// NULL.
    pub const NULL: Self = Self(0);

    fn new(kind: Kind, generation: u32, shard: usize, slot: u32) -> Self {
        debug_assert!(shard < SHARDS && slot < SLOTS_PER_SHARD);
        let kind = KIND_BASE | kind as u64;
        Self(kind << 56 | u64::from(generation) << 24 | (shard as u64) << SLOT_BITS | u64::from(slot))
    }

    /// The handle that a caller passed as a pointer.
    pub fn from_ptr<T>(pointer: *const T) -> Self {
        Self(pointer.addr() as u64)
    }

    /// The pointer that a caller is given. Never to be dereferenced.
    pub fn to_ptr<T>(self) -> *mut T {
        std::ptr::without_provenance_mut(self.0 as usize)
    }

    /// The pointer for the handles that C knows as `void *`.
    pub fn to_void(self) -> *mut c_void {
        self.to_ptr()
    }

    /// Whether this is NULL.
    pub fn is_null(self) -> bool {
        self.0 == 0
    }

    fn kind_bits(self) -> u64 {
        self.0 >> 56
    }

    fn is_of(self, kind: Kind) -> bool {
        self.kind_bits() == KIND_BASE | kind as u64
    }

    fn shard(self) -> usize {
        (self.0 >> SLOT_BITS) as usize & (SHARDS - 1)
    }

    fn slot(self) -> u32 {
        self.0 as u32 & (SLOTS_PER_SHARD - 1)
    }

    /// Why this handle is not a live handle of `wanted`, in words for a message.
    pub fn why_not(self, wanted: Kind) -> String {
        let found = KINDS.iter().find(|(kind, _)| self.is_of(*kind));
        match found {
            _ if self.is_null() => format!("is NULL, expected a live {}", wanted.name()),
            Some((kind, _)) if *kind == wanted => {
                format!("is {:#x}, an {} that is not live: it was destroyed or already used up", self.0, wanted.name())
            }
            Some((_, name)) => format!("is {:#x}, an {name}, expected a live {}", self.0, wanted.name()),
            None => format!("is {:#x}, which this library never returned, expected a live {}", self.0, wanted.name()),
        }
    }
}
