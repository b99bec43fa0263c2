//! Tiles of views whose columns are not adjacent: gathered into rows, and scattered back.

use super::vector::{LINE, Lanes, Set};

/// How many columns ahead lines are asked for: into the nearest cache, and into the one behind it. Columns that are pages
/// apart compete for a few sets of both, so that more would push each other out.
const AHEAD: [usize; 2] = [8, 32];

/// A rectangle of elements: address of the first, and steps in bytes from row to row and from column to column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grid {
    pub base: *mut u8,
    pub row: usize,
    pub column: usize,
}

impl Grid {
    /// Address of an element.
    ///
    /// # Safety
    ///
    /// The element must exist, or stand right behind the last.
    #[inline(always)]
    pub(crate) unsafe fn at(self, row: usize, column: usize) -> *mut u8 {
        // SAFETY: the caller's.
        unsafe { self.base.add(row * self.row + column * self.column) }
    }

    /// The grid to the right of its first columns.
    #[inline(always)]
    pub(crate) fn right(self, column: usize) -> Self {
        Self { base: self.base.wrapping_add(column * self.column), ..self }
    }

    /// The grid below its first rows.
    #[inline(always)]
    pub(crate) fn below(self, row: usize) -> Self {
        Self { base: self.base.wrapping_add(row * self.row), ..self }
    }
}

/// Copies `rows` x `columns` elements from one grid to another, in whichever order suits their layouts. `ahead`: bytes to what
/// will be gathered next.
///
/// Nothing but the elements themselves is read or written.
///
/// # Safety
///
/// Both grids hold that many elements, and don't overlap.
#[inline(always)]
pub(crate) unsafe fn copy<L: Lanes>(from: Grid, to: Grid, rows: usize, columns: usize, ahead: usize) {
    // SAFETY: the caller's grids; every index is below `rows` and `columns`.
    unsafe {
        if from.row == L::SIZE && to.column == L::SIZE {
            turn::<L, true>(from, to, rows, columns, ahead);
        } else if from.column == L::SIZE && to.row == L::SIZE {
            turn::<L, false>(from, to, rows, columns, ahead);
        } else {
            copy_each::<L>(from, to, rows, columns);
        }
    }
}

/// Copies a row, one element after the other where they are not adjacent.
///
/// # Safety
///
/// As for [`copy`].
#[inline(always)]
pub(crate) unsafe fn copy_row<L: Lanes>(from: Grid, to: Grid, columns: usize) {
    // SAFETY: the caller's grids.
    unsafe {
        if from.column == L::SIZE && to.column == L::SIZE {
            std::ptr::copy_nonoverlapping(from.base, to.base, columns * L::SIZE);
        } else {
            copy_each::<L>(from, to, 1, columns);
        }
    }
}

/// From (`GATHER`) or to a view that runs along its rows, blocks of 8 x 8 at a time. Each of its columns' lines are used or
/// completed one after the other.
#[inline(always)]
unsafe fn turn<L: Lanes, const GATHER: bool>(from: Grid, to: Grid, rows: usize, columns: usize, ahead: usize) {
    let (block_rows, block_columns) = (rows / 8 * 8, columns / 8 * 8);
    let (from_pitch, to_pitch) = if GATHER { (from.column, to.row) } else { (from.row, to.column) };
    // SAFETY: the caller's grids; every index is below `rows` and `columns`.
    unsafe {
        for column in (0..block_columns).step_by(8) {
            for row in (0..block_rows).step_by(8) {
                let source = from.at(row, column);
                if GATHER && (row * L::SIZE).is_multiple_of(LINE) {
                    // Behind the last column comes the first of the rows that are gathered next.
                    let lines = AHEAD.map(|columns| match (column + columns).checked_sub(block_columns) {
                        None => from.right(column + columns).below(row).base,
                        Some(column) => from.right(column).below(row).base.wrapping_add(ahead),
                    });
                    for i in 0..8 {
                        let [near, far] = lines.map(|line| line.wrapping_add(i * from.column));
                        L::prefetch(near);
                        L::prefetch_far(far);
                    }
                }
                L::transpose_block(source, from_pitch, to.at(row, column), to_pitch);
            }
        }
        copy_each::<L>(from.right(block_columns), to.right(block_columns), block_rows, columns - block_columns);
        copy_each::<L>(from.below(block_rows), to.below(block_rows), rows - block_rows, columns);
    }
}

/// Copies along rows, one element after the other unless they are two apart.
#[inline(always)]
unsafe fn copy_each<L: Lanes>(from: Grid, to: Grid, rows: usize, columns: usize) {
    let seconds = matches!((from.column / L::SIZE, to.column / L::SIZE), (1, 2) | (2, 1));
    for row in 0..rows {
        let (mut source, mut target) = (from.below(row).base, to.below(row).base);
        // SAFETY: the caller's grids.
        unsafe {
            let done =
                if seconds { L::Set::copy_seconds(source, target, columns, L::SIZE, to.column == L::SIZE) } else { 0 };
            source = source.wrapping_add(done * from.column);
            target = target.wrapping_add(done * to.column);
            for _ in done..columns {
                if L::SIZE == 4 {
                    target.cast::<u32>().write_unaligned(source.cast::<u32>().read_unaligned());
                } else {
                    target.cast::<u16>().write_unaligned(source.cast::<u16>().read_unaligned());
                }
                source = source.wrapping_add(from.column);
                target = target.wrapping_add(to.column);
            }
        }
    }
}
