//! Tiles of views whose columns are not adjacent: gathered into rows, and scattered back.

use super::vector::Lanes;

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
}

impl Grid {
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

/// Copies `rows` x `columns` elements from one grid to another, in whichever order suits their layouts.
///
/// Nothing but the elements themselves is read or written.
///
/// # Safety
///
/// Both grids hold that many elements, and don't overlap.
#[inline(always)]
pub(crate) unsafe fn copy<L: Lanes>(from: Grid, to: Grid, rows: usize, columns: usize) {
    // SAFETY: the caller's grids; every index is below `rows` and `columns`.
    unsafe {
        if from.column == L::SIZE && to.column == L::SIZE {
            for row in 0..rows {
                std::ptr::copy_nonoverlapping(from.at(row, 0), to.at(row, 0), columns * L::SIZE);
            }
        } else if from.row == L::SIZE && to.column == L::SIZE {
            transpose::<L>(Grid { row: from.column, column: from.row, ..from }, to, columns, rows);
        } else if from.column == L::SIZE && to.row == L::SIZE {
            transpose::<L>(from, Grid { row: to.column, column: to.row, ..to }, rows, columns);
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

/// Row i of `from` becomes column i of `to`; both have adjacent columns.
#[inline(always)]
unsafe fn transpose<L: Lanes>(from: Grid, to: Grid, rows: usize, columns: usize) {
    let (block_rows, block_columns) = (rows / 8 * 8, columns / 8 * 8);
    let turned = Grid { row: to.column, column: to.row, ..to };
    // SAFETY: the caller's grids; every index is below `rows` and `columns`.
    unsafe {
        for row in (0..block_rows).step_by(8) {
            // Along the source's rows first: its lines are used up before the next eight rows come.
            for column in (0..block_columns).step_by(8) {
                L::transpose_block(from.at(row, column), from.row, to.at(column, row), to.row);
            }
        }
        let right = columns - block_columns;
        copy_each::<L>(from.right(block_columns), turned.right(block_columns), block_rows, right);
        copy_each::<L>(from.below(block_rows), turned.below(block_rows), rows - block_rows, columns);
    }
}

/// Copies one element after the other, along rows.
#[inline(always)]
unsafe fn copy_each<L: Lanes>(from: Grid, to: Grid, rows: usize, columns: usize) {
    for row in 0..rows {
        let (mut source, mut target) = (from.below(row).base, to.below(row).base);
        for _ in 0..columns {
            // SAFETY: the caller's grids.
            unsafe {
                if L::SIZE == 4 {
                    target.cast::<u32>().write_unaligned(source.cast::<u32>().read_unaligned());
                } else {
                    target.cast::<u16>().write_unaligned(source.cast::<u16>().read_unaligned());
                }
            }
            source = source.wrapping_add(from.column);
            target = target.wrapping_add(to.column);
        }
    }
}
