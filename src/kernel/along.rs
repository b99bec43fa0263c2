//! Tensors that run along L: grad_input is made where it lies, and the sums by turning blocks of 8 rows in registers.
//!
//! Some columns of some rows at a time are first brought to a tile as they are, column by column, in long runs. From there
//! the next 8 rows of a step's columns are read, once for each group of rows. Reading them from the tensors instead would
//! compete for the same few sets of the caches, since columns are often a power of two apart.

use super::line::Line;
use super::pack::Grid;
use super::plan::GROUP;
use super::rows::accumulate;
use super::vector::{LINE, Lanes, Set};

/// Some rows and columns of the three tensors. grad_output and grad_input run along L, and may be the same elements.
#[derive(Clone, Copy)]
pub(crate) struct Along {
    pub grad_output: Grid,
    /// Read only for grad_scale.
    pub input: Grid,
    pub grad_input: Grid,
    /// Bytes from grad_output and from input to what is wanted of them next.
    pub ahead: [usize; 2],
    /// Scale of the columns, side by side.
    pub scale: *const u8,
    pub rows: usize,
    pub columns: usize,
    /// Whether there is no scale.
    pub copies: bool,
    /// Whether whole lines go past the caches.
    pub streamed: bool,
    /// Room for a tile of grad_output and one of input, columns `pitch` bytes apart: whole steps of columns, whole groups of
    /// rows.
    pub tiles: [*mut u8; 2],
    pub pitch: usize,
    /// Accumulators of grad_scale and grad_shift, for whole steps of columns.
    pub accumulators: [*mut f64; 2],
    /// Whether the first group of rows is the first of all, and the accumulators hold nothing yet.
    pub fresh: bool,
}

/// Makes grad_input of these rows and columns, and adds to the accumulators.
///
/// # Safety
///
/// The grids have the rows, side by side in grad_output and grad_input, and the columns; so has the scale.
#[inline(always)]
pub(crate) unsafe fn along<L: Lanes, const INPUT: bool>(along: &Along) {
    // SAFETY: the caller's rows, columns and room.
    unsafe {
        for column in 0..along.columns {
            stage::<L>(along, along.grad_output, 0, column);
            if INPUT && along.input.row == L::SIZE {
                stage::<L>(along, along.input, 1, column);
            }
            multiply::<L>(along, column);
        }
        if INPUT && along.input.row != L::SIZE {
            let tile = Grid { base: along.tiles[1], row: L::SIZE, column: along.pitch };
            L::Set::copy::<L>(along.input, tile, along.rows, along.columns, along.ahead[1]);
        }
        let whole = along.rows / GROUP * GROUP;
        for column in (0..along.columns).step_by(L::N) {
            for row in (0..whole).step_by(GROUP) {
                group::<L, INPUT, true>(along, row, column);
            }
            if whole < along.rows {
                group::<L, INPUT, false>(along, whole, column);
            }
        }
    }
}

/// Brings a column to its tile.
#[inline(always)]
unsafe fn stage<L: Lanes>(along: &Along, from: Grid, tile: usize, column: usize) {
    let bytes = along.rows * L::SIZE;
    let ahead = along.ahead[tile];
    // Behind the last column come the first of what is wanted next.
    let near = if column + 1 < along.columns { from.column } else { ahead.wrapping_sub(column * from.column) };
    // SAFETY: the caller's column and tile; any address will do for a prefetch.
    unsafe {
        let (from, to) = (from.at(0, column), along.tiles[tile].add(column * along.pitch));
        let whole = bytes / LINE * LINE;
        for at in (0..whole).step_by(LINE) {
            L::prefetch(from.wrapping_add(near.wrapping_add(at)));
            L::Set::copy_line(from.add(at), to.add(at), false);
        }
        std::ptr::copy_nonoverlapping(from.add(whole), to.add(whole), bytes - whole);
    }
}

/// A column of grad_output, from its tile, times its scale, or a copy of it, to grad_input.
#[inline(always)]
unsafe fn multiply<L: Lanes>(along: &Along, column: usize) {
    let step = L::N * L::SIZE;
    let bytes = along.rows * L::SIZE;
    let whole = bytes / step * step;
    // SAFETY: the caller's column and tile.
    unsafe {
        let (from, to) = (along.tiles[0].add(column * along.pitch), along.grad_input.at(0, column));
        let next = along.grad_output.at(0, column).wrapping_add(along.ahead[0]);
        if along.copies {
            for at in (0..bytes).step_by(LINE) {
                L::prefetch_far(next.wrapping_add(at));
            }
            return std::ptr::copy_nonoverlapping(from, to, bytes);
        }
        let mut line = Line::new();
        let factor = L::load(line.filled::<L>(along.scale.add(column * L::SIZE)));
        let streams = along.streamed && to.addr().is_multiple_of(LINE) && bytes.is_multiple_of(LINE);
        for at in (0..whole).step_by(step) {
            L::prefetch_far(next.wrapping_add(at));
            L::put(to.add(at), L::round(L::product(L::load(from.add(at)), factor)), streams);
        }
        if whole < bytes {
            let rest = line.filled::<L>(from.add(whole));
            std::ptr::copy_nonoverlapping(from.add(whole), rest, bytes - whole);
            L::put(rest, L::round(L::product(L::load(rest), factor)), false);
            std::ptr::copy_nonoverlapping(rest, to.add(whole), bytes - whole);
        }
    }
}

/// A group of rows of a step's columns, from the tiles to the accumulators. `FULL`: it has all 8 rows.
#[inline(always)]
unsafe fn group<L: Lanes, const INPUT: bool, const FULL: bool>(along: &Along, row: usize, column: usize) {
    let rows = if FULL { GROUP } else { along.rows - row };
    let offset = column * along.pitch + row * L::SIZE;
    // SAFETY: the tiles have room for whole steps and groups; any address will do for a prefetch.
    unsafe {
        // While this computes, memory brings what is wanted next: each line once, with one of the groups that it has.
        let groups = LINE / (GROUP * L::SIZE);
        let (part, line) = (row / GROUP % groups, row * L::SIZE / LINE * LINE);
        for i in 0..L::N / groups {
            let place = |from: Grid| (column + part * (L::N / groups) + i) * from.column + line;
            if INPUT {
                L::prefetch_far(along.input.base.wrapping_add(along.ahead[1].wrapping_add(place(along.input))));
            }
        }
        let g = L::turned(along.tiles[0].add(offset), along.pitch);
        let x = if INPUT { L::turned(along.tiles[1].add(offset), along.pitch) } else { g };
        let (mut products, mut plain) = (L::no_sums(), L::no_sums());
        for i in 0..GROUP {
            if FULL || i < rows {
                let g = L::widen(g[i]);
                if INPUT {
                    products = L::add_product(products, g, L::widen(x[i]));
                }
                plain = L::add(plain, g);
            }
        }
        let fresh = along.fresh && row == 0;
        let [of_products, of_plain] = along.accumulators.map(|sums| sums.wrapping_add(column));
        if INPUT {
            accumulate::<L>(of_products, products, fresh);
        }
        accumulate::<L>(of_plain, plain, fresh);
    }
}
