//! Rows shorter than a cache line: the groups of a chunk stand side by side, as if they were columns.
//!
//! Groups of 8 rows don't depend on each other, so row r of 8k + r can be column k of row r. A tile holds 8 such rows of
//! many groups; the inner loop of `rows` runs over it unchanged, and then the groups' sums are added up in their order.
//! Without this, D = 1 took 20 times as long as a triad. (Where its rows are adjacent, `along` takes it.)
//!
//! ```text
//! for each run of groups in the chunk:
//!     gather grad_output and input: 8 rows of (groups x columns)
//!     group sums = nothing; one pass of `rows`
//!     for each group, in order: chunk sums += group sums
//!     scatter grad_input
//! rows that are left: as a short group of the usual kind
//! ```

use super::line::copy_short;
use super::pack::Grid;
use super::plan::GROUP;
use super::rows::{Blocks, Group, Writes};
use super::vector::{LINE, Lanes, Set};
use super::walk::NEAR;

/// Columns of a tile: its three tensors fit into the nearest cache.
const COLUMNS: usize = 448;
/// Most groups of a tile: a chunk's.
const GROUPS: usize = 128;

/// Whether rows are short enough, and groups many enough.
pub(crate) fn pays(sequence: usize, hidden: usize, size: usize) -> bool {
    hidden * size < LINE && sequence >= 8 * GROUP
}

/// What a tile looks like, and where its parts are.
#[derive(Clone, Copy)]
pub(crate) struct Tile {
    /// Real columns.
    hidden: usize,
    /// Groups of a full tile.
    groups: usize,
    /// Steps in the tile from group to group, and from column to column.
    group_step: usize,
    column_step: usize,
    /// Three tiles.
    tiles: [*mut u8; 3],
    /// Scale of each of the tile's columns.
    scale: *mut u8,
    /// Whether there is no scale, and grad_input a copy.
    copies: bool,
    /// Group sums of each of the tile's columns.
    sums: [*mut f64; 2],
}

impl Tile {
    /// `columns_adjacent`: a row's columns stay together, which suits rows that are stored so; else a column's groups do.
    #[inline(always)]
    pub(crate) fn new(
        hidden: usize,
        columns_adjacent: bool,
        tiles: [*mut u8; 3],
        scale: *mut u8,
        copies: bool,
        sums: [*mut f64; 2],
    ) -> Self {
        let groups = (COLUMNS / hidden / 8 * 8).min(GROUPS);
        let (group_step, column_step) = if columns_adjacent && hidden > 1 { (hidden, 1) } else { (1, groups) };
        Self { hidden, groups, group_step, column_step, tiles, scale, copies, sums }
    }

    /// Spreads the scale of the real columns, which stand side by side, over the tile's.
    #[inline(always)]
    pub(crate) unsafe fn spread_scale<L: Lanes>(&self, scale: *mut u8) {
        for group in 0..self.groups {
            // SAFETY: the caller's columns, and the tile's.
            unsafe {
                let from = Grid { base: scale, row: 0, column: L::SIZE };
                let to = self.scale.add(group * self.group_step * L::SIZE);
                L::Set::copy::<L>(
                    from,
                    Grid { base: to, row: 0, column: self.column_step * L::SIZE },
                    1,
                    self.hidden,
                    0,
                );
            }
        }
    }

    /// Runs the whole groups among `count` rows of the views, and returns how many rows that were.
    #[inline(always)]
    pub(crate) unsafe fn run<L: Lanes, const INPUT: bool>(
        &self,
        views: [Grid; 3],
        count: usize,
        chunk_sums: [*mut f64; 2],
    ) -> usize {
        let whole = count / GROUP;
        for start in (0..whole).step_by(self.groups) {
            let groups = self.groups.min(whole - start);
            let views = views.map(|view| view.below(start * GROUP));
            let columns = if self.column_step == 1 { groups * self.hidden } else { self.groups * self.hidden };
            let blocks = Blocks { full: columns.div_ceil(L::BLOCK), tail: 0 };
            // SAFETY: the views' rows; tiles and sums have room for all blocks of a full tile.
            unsafe {
                let [grad_output, input, grad_input] = self.tiles.map(|base| self.grid::<L>(base));
                self.copy::<L, true>(views[0], grad_output, groups);
                if INPUT {
                    self.copy::<L, true>(views[1], input, groups);
                }
                let group = Group {
                    rows: GROUP,
                    grad_output,
                    input,
                    grad_input,
                    later: [0; 2],
                    scale: self.scale,
                    writes: Writes::Plain,
                    streams_gradients: false,
                    copies: self.copies,
                    // All eight rows are taken at once.
                    group_sums: [std::ptr::null_mut(); 2],
                    accumulators: self.sums,
                    fresh: true,
                };
                L::Set::at_once::<L, INPUT, NEAR>(&group, blocks);
                if INPUT {
                    self.fold::<L>(self.sums[0], groups, chunk_sums[0]);
                }
                self.fold::<L>(self.sums[1], groups, chunk_sums[1]);
                self.copy::<L, false>(views[2], grad_input, groups);
            }
        }
        whole * GROUP
    }

    #[inline(always)]
    fn grid<L: Lanes>(&self, base: *mut u8) -> Grid {
        // A line more than the columns: the rows of the three tiles fall into different sets of the cache.
        Grid { base, row: COLUMNS * L::SIZE + LINE, column: L::SIZE }
    }

    /// Gathers groups of a view's rows into a tile, or scatters them back.
    #[inline(always)]
    unsafe fn copy<L: Lanes, const GATHER: bool>(&self, view: Grid, tile: Grid, groups: usize) {
        // SAFETY: the caller's groups, and all of them fit into the tile.
        unsafe {
            if self.column_step == 1 && view.column == L::SIZE {
                for group in 0..groups {
                    for row in 0..GROUP {
                        let view = view.at(group * GROUP + row, 0);
                        let tile = tile.at(row, group * self.group_step);
                        let (from, to) = if GATHER { (view, tile) } else { (tile, view) };
                        copy_short(from, to, self.hidden * L::SIZE);
                    }
                }
            } else {
                for column in 0..self.hidden {
                    let view = Grid { base: view.at(0, column), row: view.row, column: GROUP * view.row };
                    let step = self.group_step * L::SIZE;
                    let tile = Grid { base: tile.at(0, column * self.column_step), row: tile.row, column: step };
                    let (from, to) = if GATHER { (view, tile) } else { (tile, view) };
                    L::Set::copy::<L>(from, to, GROUP, groups, 0);
                }
            }
        }
    }

    /// Adds the groups' sums, in order, to those of the chunk.
    #[inline(always)]
    unsafe fn fold<L: Lanes>(&self, sums: *const f64, groups: usize, chunk_sums: *mut f64) {
        for column in 0..self.hidden {
            // SAFETY: the tile's columns, and the chunk's.
            unsafe {
                let to = chunk_sums.add(L::slot(column));
                let mut sum = *to;
                for group in 0..groups {
                    sum += *sums.add(L::slot(group * self.group_step + column * self.column_step));
                }
                *to = sum;
            }
        }
    }
}
