//! The inner loops: one group of up to 8 rows, all columns of a tile.
//!
//! Where a group's rows lie apart in the nearest cache, all 8 are taken at once and the group's sums never leave the registers
//! (`at_once`). Otherwise a pass takes two rows at a time over all columns, and the group's sums wait in memory for the next
//! pass:
//!
//! ```text
//! for each pass of 2 rows:
//!     for each block of columns (a cache line of each row):
//!         ask for the lines that the walk reaches later           (walk.rs)
//!         group sums = nothing (first pass), or as the last pass left them
//!         for each row of the pass:
//!             group sums += grad_output * input, += grad_output
//!             grad_input = grad_output * scale
//!         keep the group sums; after the last pass: accumulators += group sums               f64
//! ```
//!
//! Why so, measured as time per call against a triad over the same bytes:
//!
//! - Rows a multiple of 2 KiB apart compete for the same 8 ways of a few sets of the nearest cache, and eight of them at a
//!   time are 16 streams to read: FLOAT rows of 3072 took 1.8 so, and 1.15 by passes of two.
//! - All rows of a pass are read before any is written. A load that has the low 12 address bits of a store just before it
//!   waits for that store as if it were the same address, and rows of 3072 FLOAT are such: 1.5 instead of 1.35.
//! - Tiles narrower than a row cost more than accumulators in L2: rows of 3072 as two tiles of 1536 took 1.6.
//! - The sums of grad_output are made even where nobody wants grad_shift, and whether stores stream is asked for each block:
//!   both cost less than what other copies of this code would in size and compile time.

use std::mem::MaybeUninit;

use super::line::{Buffers, stream_row};
use super::pack::Grid;
use super::plan::GROUP;
use super::vector::{Lanes, MAX_STEPS, Set};
use super::walk::{LATER, NEAR, NONE, ROW_BY_ROW, STREAM, Walk};

/// What one pass over a group of rows reads and writes.
#[derive(Clone, Copy)]
pub(crate) struct Group {
    /// Rows in the group, 1 to 8.
    pub rows: usize,
    /// The group's elements of grad_output.
    pub grad_output: Grid,
    /// The group's elements of input; read only for grad_scale.
    pub input: Grid,
    /// The group's elements of grad_input.
    pub grad_input: Grid,
    /// Bytes from grad_output and from input to what will be wanted next, where tensors are gathered.
    pub later: [usize; 2],
    /// Scale of the tile's columns, in blocks.
    pub scale: *const u8,
    /// How full blocks of grad_input are stored.
    pub writes: Writes,
    /// Whether gradients of a single row are stored past the caches, where they begin with a line.
    pub streams_gradients: bool,
    /// Whether grad_input is a copy of grad_output, since there is no scale: bit for bit, NaN payloads too.
    pub copies: bool,
    /// Room for the sums of grad_scale and grad_shift between two passes, in blocks.
    pub group_sums: [*mut u8; 2],
    /// Accumulators of grad_scale and grad_shift, in blocks.
    pub accumulators: [*mut f64; 2],
    /// Whether this is the first group, and the accumulators hold nothing yet.
    pub fresh: bool,
}

impl Group {
    /// The group of some rows of a tile.
    #[inline(always)]
    pub(crate) fn of(&self, tile: [Grid; 3], row: usize, rows: usize, fresh: bool) -> Self {
        let [grad_output, input, grad_input] = tile.map(|grid| grid.below(row));
        Self { rows, grad_output, input, grad_input, fresh, ..*self }
    }
}

/// How grad_input is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writes {
    /// Through the caches.
    Plain,
    /// Past the caches: full blocks are aligned to lines.
    Streamed,
    /// Past the caches by way of these two rows, since the real ones begin anywhere in a line.
    Buffered(Grid),
}

/// How the columns of a tile fall into blocks: full ones, and the rest. Scale and accumulators have room for full blocks
/// throughout.
#[derive(Clone, Copy)]
pub(crate) struct Blocks {
    pub full: usize,
    pub tail: usize,
}

impl Blocks {
    pub(crate) fn new<L: Lanes>(columns: usize) -> Self {
        Self { full: columns / L::BLOCK, tail: columns % L::BLOCK }
    }

    pub(crate) fn count(self) -> usize {
        self.full + usize::from(self.tail > 0)
    }

    /// First column and number of columns of a block.
    #[inline(always)]
    pub(crate) fn columns<L: Lanes>(self, block: usize) -> (usize, usize) {
        (block * L::BLOCK, if block < self.full { L::BLOCK } else { self.tail })
    }
}

/// One group of rows over all blocks of a tile.
///
/// # Safety
///
/// The grids hold `rows` rows of the blocks' columns, side by side; scale, sums and accumulators hold all blocks.
#[inline(always)]
pub(crate) unsafe fn group<L: Lanes, const INPUT: bool>(group: &Group, blocks: Blocks, walk: Walk) {
    // SAFETY: blocks and rows as the caller promises.
    unsafe {
        if walk.all && group.rows == GROUP && !matches!(group.writes, Writes::Buffered(_)) {
            return match walk.order {
                NONE => L::Set::at_once::<L, INPUT, NONE>(group, blocks),
                NEAR => L::Set::at_once::<L, INPUT, NEAR>(group, blocks),
                LATER => L::Set::at_once::<L, INPUT, LATER>(group, blocks),
                STREAM => L::Set::at_once::<L, INPUT, STREAM>(group, blocks),
                _ => L::Set::at_once::<L, INPUT, ROW_BY_ROW>(group, blocks),
            };
        }
        let mut row = 0;
        while row < group.rows {
            let two = row + 2 <= group.rows;
            let end = row + 1 + usize::from(two);
            match (two, row == 0, end == group.rows) {
                (false, false, false) => L::Set::pass::<L, INPUT, 1, false, false>(group, row, blocks, walk),
                (false, false, true) => L::Set::pass::<L, INPUT, 1, false, true>(group, row, blocks, walk),
                (false, true, false) => L::Set::pass::<L, INPUT, 1, true, false>(group, row, blocks, walk),
                (false, true, true) => L::Set::pass::<L, INPUT, 1, true, true>(group, row, blocks, walk),
                (true, false, false) => L::Set::pass::<L, INPUT, 2, false, false>(group, row, blocks, walk),
                (true, false, true) => L::Set::pass::<L, INPUT, 2, false, true>(group, row, blocks, walk),
                (true, true, false) => L::Set::pass::<L, INPUT, 2, true, false>(group, row, blocks, walk),
                (true, true, true) => L::Set::pass::<L, INPUT, 2, true, true>(group, row, blocks, walk),
            }
            if let Writes::Buffered(buffer) = group.writes {
                for from in row..end {
                    stream_row::<L>(buffer.at(from - row, 0), group.grad_input.at(from, 0), blocks);
                }
            }
            row = end;
        }
    }
}

/// `ROWS` rows from `row` on over all blocks, `FIRST` and `LAST` of their group or not.
///
/// # Safety
///
/// As for [`group`].
#[inline(always)]
pub(crate) unsafe fn pass<L: Lanes, const INPUT: bool, const ROWS: usize, const FIRST: bool, const LAST: bool>(
    group: &Group,
    row: usize,
    blocks: Blocks,
    walk: Walk,
) {
    let line = L::BLOCK * L::SIZE;
    let grad_input = if let Writes::Buffered(buffer) = group.writes { buffer } else { group.grad_input.below(row) };
    let grids = [group.grad_output.below(row), group.input.below(row), grad_input];
    // SAFETY: blocks and rows as the caller promises.
    unsafe {
        let [first, second] = walk.turns(blocks.full);
        for range in [0..first, first..second, second..blocks.full] {
            let ahead = [grids[0], grids[1]].map(|grid| walk.steps::<L>(grid, ROWS, blocks.full, range.start));
            for index in range {
                block::<L, INPUT, ROWS, FIRST, LAST>(group, grids, index * line, index, walk, ahead);
            }
        }
        if blocks.tail > 0 {
            let column = blocks.full * L::BLOCK;
            let mut buffers = Buffers::new();
            let inner = buffers.gather::<L, INPUT>(grids, ROWS, column, blocks.tail);
            // The block's own columns are at the start of the buffers.
            let plain = Group { writes: Writes::Plain, ..*group };
            block::<L, INPUT, ROWS, FIRST, LAST>(&plain, inner, 0, blocks.full, walk, [[0; 2]; 2]);
            Buffers::scatter::<L>(inner[2], grids[2], ROWS, column, blocks.tail);
        }
    }
}

/// One block of columns of `ROWS` rows: everything is read before anything is written.
#[expect(clippy::needless_range_loop, reason = "rows and steps index the tensors too")]
#[inline(always)]
unsafe fn block<L: Lanes, const INPUT: bool, const ROWS: usize, const FIRST: bool, const LAST: bool>(
    group: &Group,
    [grad_output, input, grad_input]: [Grid; 3],
    offset: usize,
    index: usize,
    walk: Walk,
    ahead: [[usize; 2]; 2],
) {
    let step = L::N * L::SIZE;
    let at = |grid: Grid, row: usize| grid.base.wrapping_add(row * grid.row + offset);
    let mut rounded = [[const { MaybeUninit::<L::Rounded>::uninit() }; MAX_STEPS]; ROWS];
    // SAFETY: the caller's block, and the accumulators and the scale are as long.
    unsafe {
        for row in 0..ROWS {
            walk.ask::<L>(at(grad_output, row), ahead[0]);
            if INPUT {
                walk.ask::<L>(at(input, row), ahead[1]);
            }
        }
        for u in 0..L::STEPS {
            let place = index * L::STEPS + u;
            let kept = group.group_sums.map(|sums| sums.wrapping_add(place * size_of::<L::Sums>()).cast::<L::Sums>());
            let factor = L::load(group.scale.add(place * step));
            let mut products = if FIRST || !INPUT { L::no_sums() } else { kept[0].read_unaligned() };
            let mut plain = if FIRST { L::no_sums() } else { kept[1].read_unaligned() };
            for row in 0..ROWS {
                let g = L::load(at(grad_output, row).add(u * step));
                if INPUT {
                    products = L::add_product(products, g, L::load(at(input, row).add(u * step)));
                }
                plain = L::add(plain, g);
                rounded[row][u].write(L::round(L::product(g, factor)));
            }
            if LAST {
                let [of_products, of_plain] = group.accumulators.map(|sums| sums.wrapping_add(place * L::N));
                if INPUT {
                    accumulate::<L>(of_products, products, group.fresh);
                }
                accumulate::<L>(of_plain, plain, group.fresh);
            } else {
                if INPUT {
                    kept[0].write_unaligned(products);
                }
                kept[1].write_unaligned(plain);
            }
        }
        for row in 0..ROWS {
            let to = at(grad_input, row);
            let streams = group.writes == Writes::Streamed;
            if group.writes == Writes::Plain {
                L::prefetch_to_write(to.wrapping_add(L::BLOCK * L::SIZE));
            }
            if group.copies {
                L::copy_block(at(grad_output, row), to, streams);
            } else {
                for u in 0..L::STEPS {
                    L::put(to.add(u * step), rounded[row][u].assume_init(), streams);
                }
            }
        }
    }
}

/// Adds a group's sums to the accumulators of a step, or makes them these.
///
/// # Safety
///
/// The accumulators of a step.
#[inline(always)]
pub(crate) unsafe fn accumulate<L: Lanes>(accumulators: *mut f64, sums: L::Sums, fresh: bool) {
    // SAFETY: the caller's.
    unsafe {
        if fresh {
            L::accumulate::<true>(accumulators, sums);
        } else {
            L::accumulate::<false>(accumulators, sums);
        }
    }
}
