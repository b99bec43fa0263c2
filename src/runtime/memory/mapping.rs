//! The memory behind a block, from the system and back.

use std::alloc::Layout;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::registry::{Block, Kind};
use crate::runtime::check;

/// From this size on a block is a mapping of its own.
pub const LARGE: usize = 2 << 20;
/// The size of a huge page, and what a large block's mapping is aligned to.
const HUGE_PAGE: usize = 2 << 20;
/// The size of a page, or a multiple of it, on the systems that this runs on.
const PAGE: usize = 64 << 10;
/// Alignment of every block: a cache line, and the widest vector.
const ALIGNMENT: usize = 64;
/// Large blocks start at multiples of this within their mapping, so that tensors that are used together do not compete
/// for the same sets of the caches or look the same in the low bits of their addresses: one page, and a part of one.
const STAGGER: usize = 4096 + 256;
const STAGGER_STEPS: usize = 16;

/// Where the memory came from.
#[derive(Debug)]
enum Source {
    Heap(Layout),
    Pages {
        start: usize,
        len: usize,
    },
    #[cfg(test)]
    Nowhere,
}

/// The memory of one block. It goes back to the system when this is dropped.
#[derive(Debug)]
pub struct Mapping {
    block: Block,
    source: Source,
}

impl Mapping {
    /// Gets memory for `len` usable bytes; `None` where there is none. Its contents are undefined, its pages untouched.
    pub fn new(len: usize, kind: Kind, device: u32, huge_pages: bool) -> Option<Self> {
        let (start, source) = if kind == Kind::Device && check::on() {
            guarded(len)?
        } else if len < LARGE {
            heap(len)?
        } else {
            pages(len, huge_pages)?
        };
        Some(Self { block: Block { start, checked_len: len, kind, device }, source })
    }

    /// What the registry knows of it.
    pub fn block(&self) -> Block {
        self.block
    }

    /// A block without memory, to test the registry.
    #[cfg(test)]
    pub fn fictitious(block: Block) -> Self {
        Self { block, source: Source::Nowhere }
    }
}

fn heap(len: usize) -> Option<(usize, Source)> {
    let layout = Layout::from_size_align(len.max(1), ALIGNMENT).ok()?;
    // SAFETY: the layout's size is not 0.
    let memory = unsafe { std::alloc::alloc(layout) };
    (!memory.is_null()).then(|| (memory.expose_provenance(), Source::Heap(layout)))
}

fn pages(len: usize, huge_pages: bool) -> Option<(usize, Source)> {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let offset = COUNT.fetch_add(1, Ordering::Relaxed) % STAGGER_STEPS * STAGGER;
    // Room to start the pages at a multiple of a huge page, which mmap does not promise.
    let len = offset.checked_add(len)?.checked_next_multiple_of(HUGE_PAGE)?;
    let mapped_len = len.checked_add(HUGE_PAGE)?;
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a new anonymous mapping at an address of the system's choice touches nothing that exists.
    let mapped = unsafe { libc::mmap(std::ptr::null_mut(), mapped_len, protection, flags, -1, 0) };
    if mapped == libc::MAP_FAILED {
        return None;
    }
    let mapped = mapped.expose_provenance();
    let start = mapped.next_multiple_of(HUGE_PAGE);
    unmap(mapped, start - mapped);
    unmap(start + len, mapped + mapped_len - (start + len));
    let advice = if huge_pages { libc::MADV_HUGEPAGE } else { libc::MADV_NOHUGEPAGE };
    // SAFETY: the range is the mapping from above. Advice only: a kernel without huge pages refuses, and nothing is lost.
    unsafe { libc::madvise(std::ptr::with_exposed_provenance_mut(start), len, advice) };
    Some((start + offset, Source::Pages { start, len }))
}

/// Pages that end, as nearly as the alignment allows, with the block, before one that nobody may touch.
fn guarded(len: usize) -> Option<(usize, Source)> {
    let usable = len.checked_next_multiple_of(PAGE)?;
    let mapped_len = usable.checked_add(PAGE)?;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a new anonymous mapping at an address of the system's choice touches nothing that exists.
    let mapped = unsafe { libc::mmap(std::ptr::null_mut(), mapped_len, libc::PROT_NONE, flags, -1, 0) };
    if mapped == libc::MAP_FAILED {
        return None;
    }
    // SAFETY: the first part of the mapping from above.
    let opened = unsafe { libc::mprotect(mapped, usable, libc::PROT_READ | libc::PROT_WRITE) };
    let start = mapped.expose_provenance();
    if opened != 0 {
        unmap(start, mapped_len);
        return None;
    }
    // SAFETY: just made readable and writable.
    unsafe { mapped.cast::<u8>().write_bytes(check::FILL, usable) };
    let block = (start + usable - len) & !(ALIGNMENT - 1);
    Some((block, Source::Pages { start, len: mapped_len }))
}

fn unmap(start: usize, len: usize) {
    if len > 0 {
        // SAFETY: called only with (a part of) a mapping that `pages` made and that nobody uses any more.
        unsafe { libc::munmap(std::ptr::with_exposed_provenance_mut(start), len) };
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        match self.source {
            // SAFETY: it came from `heap` with this layout, and its last user is done.
            Source::Heap(layout) => unsafe {
                std::alloc::dealloc(std::ptr::with_exposed_provenance_mut(self.block.start), layout);
            },
            Source::Pages { start, len } => unmap(start, len),
            #[cfg(test)]
            Source::Nowhere => (),
        }
    }
}
