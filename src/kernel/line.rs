//! Parts of cache lines: blocks that are not full, and rows that begin anywhere in a line.

use std::mem::MaybeUninit;

use super::pack::{self, Grid};
use super::plan::GROUP;
use super::rows::Blocks;
use super::vector::{LINE, Lanes};

/// Lines for a block of up to eight rows of each tensor: nothing beyond a block's columns is touched in the tensors
/// themselves.
#[repr(C, align(64))]
pub(crate) struct Buffers([[[MaybeUninit<u8>; LINE]; GROUP]; 3]);

impl Buffers {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self([[[MaybeUninit::uninit(); LINE]; GROUP]; 3])
    }

    /// Rows of the three tensors with a block's columns brought here; the rest of each line is zero.
    ///
    /// # Safety
    ///
    /// The tensors have the rows, at most 8, and the columns, fewer than a block's.
    #[inline(always)]
    pub(crate) unsafe fn gather<L: Lanes, const INPUT: bool>(
        &mut self,
        tensors: [Grid; 3],
        rows: usize,
        column: usize,
        columns: usize,
    ) -> [Grid; 3] {
        let grids = self.0.each_mut().map(|rows| Grid { base: rows.as_mut_ptr().cast(), row: LINE, column: L::SIZE });
        for tensor in 0..1 + usize::from(INPUT) {
            for row in 0..rows {
                // SAFETY: the caller's columns and rows; a block's row is at most a line.
                unsafe {
                    let line = grids[tensor].at(row, 0);
                    line.write_bytes(0, LINE);
                    copy_short(tensors[tensor].at(row, column), line, columns * L::SIZE);
                }
            }
        }
        grids
    }

    /// Brings what was computed to where it belongs.
    ///
    /// # Safety
    ///
    /// As for `gather`.
    #[inline(always)]
    pub(crate) unsafe fn scatter<L: Lanes>(from: Grid, to: Grid, rows: usize, column: usize, columns: usize) {
        for row in 0..rows {
            // SAFETY: the caller's columns and rows.
            unsafe { copy_short(from.at(row, 0), to.at(row, column), columns * L::SIZE) }
        }
    }
}

/// Room for a block's row, for where a whole one can't be written at its place.
#[repr(C, align(64))]
pub(crate) struct Line([MaybeUninit<u8>; LINE]);

impl Line {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self([MaybeUninit::uninit(); LINE])
    }

    /// The line, with as many copies of an element as a step has.
    ///
    /// # Safety
    ///
    /// There is an element at `from`.
    #[inline(always)]
    pub(crate) unsafe fn filled<L: Lanes>(&mut self, from: *const u8) -> *mut u8 {
        let to: *mut u8 = self.0.as_mut_ptr().cast();
        // SAFETY: the caller's element, and the line has room for a step.
        unsafe {
            for i in 0..L::N {
                std::ptr::copy_nonoverlapping(from, to.add(i * L::SIZE), L::SIZE);
            }
        }
        to
    }

    /// Where to put a step or a block: straight to its place if that has room for a `whole` one, or into the line.
    #[inline(always)]
    pub(crate) fn or<L: Lanes>(&mut self, place: Grid, whole: bool) -> *mut u8 {
        if whole && place.column == L::SIZE { place.base } else { self.0.as_mut_ptr().cast() }
    }

    /// Brings the columns that there are from `base` to their place, if that is the line.
    ///
    /// # Safety
    ///
    /// The place has the columns, and the line holds as many.
    #[inline(always)]
    pub(crate) unsafe fn write<L: Lanes>(&mut self, base: *mut u8, place: Grid, columns: usize) {
        if base != place.base {
            let from = Grid { base, row: 0, column: L::SIZE };
            // SAFETY: the caller's columns.
            unsafe { pack::copy_row::<L>(from, place, columns) }
        }
    }
}

/// Copies a row of a tile past the caches: whole lines of `to`, and what is left at both ends through them.
///
/// # Safety
///
/// Both rows have the blocks' columns.
#[inline(always)]
pub(crate) unsafe fn stream_row<L: Lanes>(from: *const u8, to: *mut u8, blocks: Blocks) {
    let bytes = (blocks.full * L::BLOCK + blocks.tail) * L::SIZE;
    let head = (LINE - to.addr() % LINE) % LINE;
    // SAFETY: the caller's row.
    unsafe {
        if L::BLOCK * L::SIZE != LINE || bytes < head + LINE {
            return std::ptr::copy_nonoverlapping(from, to, bytes);
        }
        copy_short(from, to, head);
        let mut at = head;
        while at + LINE <= bytes {
            L::copy_block(from.add(at), to.add(at), true);
            at += LINE;
        }
        copy_short(from.add(at), to.add(at), bytes - at);
    }
}

/// Copies fewer than 64 bytes: the pieces that its binary digits name. A call of memcpy costs more.
///
/// # Safety
///
/// Both sides have that many bytes, and don't overlap.
#[inline(always)]
pub(crate) unsafe fn copy_short(from: *const u8, to: *mut u8, bytes: usize) {
    let mut at = 0;
    // SAFETY: the pieces add up to `bytes`.
    unsafe {
        if bytes & 32 != 0 {
            std::ptr::copy_nonoverlapping(from, to, 32);
            at = 32;
        }
        if bytes & 16 != 0 {
            std::ptr::copy_nonoverlapping(from.add(at), to.add(at), 16);
            at += 16;
        }
        if bytes & 8 != 0 {
            std::ptr::copy_nonoverlapping(from.add(at), to.add(at), 8);
            at += 8;
        }
        if bytes & 4 != 0 {
            std::ptr::copy_nonoverlapping(from.add(at), to.add(at), 4);
            at += 4;
        }
        if bytes & 2 != 0 {
            std::ptr::copy_nonoverlapping(from.add(at), to.add(at), 2);
            at += 2;
        }
        if bytes & 1 != 0 {
            to.add(at).write(from.add(at).read());
        }
    }
}
