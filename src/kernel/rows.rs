//! The inner loops: one group of rows, all columns of a tile.
//!
//! ```text
//! for each block of columns (a cache line of each row):
//!     group sums = nothing                                     in registers
//!     for each of the 8 rows:
//!         ask for the lines of grad_output and input that come 4 blocks later
//!         group sums += grad_output * input, += grad_output
//!         stash = grad_output * scale
//!     accumulators += group sums                               f64, in the nearest cache
//!     for each of the 8 rows:
//!         grad_input = stash
//! ```
//!
//! Departures for speed, each measured on Zen 3 as time per call against a triad over the same bytes:
//!
//! - All of a block's rows are read before any is written. Where rows lie a multiple of 2 KiB apart, a row's load else has
//!   the low 12 address bits of the store just before it, and waits for that store as if it were the same address: rows of
//!   3072 FLOAT went from 7.4 to 1.8 x triad, of 1536 from 2.5 to 1.8.
//! - The loop over rows stays a loop. Unrolled, the compiler hoists all rows' loads and runs out of registers: twice the time
//!   in cache.
//! - Software prefetch, 256 bytes ahead in each row: rows of 1152 FLOAT went from 1.7 to 1.4; 512 bytes gave 1.5. The
//!   hardware's prefetchers follow fewer streams than the 16 there are.
//! - The sums of grad_output are made even where nobody wants grad_shift, and whether stores stream is asked for each block:
//!   both cost less than what other copies of this code would in size and compile time.

use super::pack::Grid;
use super::vector::{Lanes, MAX_STEPS};

/// How far ahead of a row's current line the next ones are asked for, in bytes.
const AHEAD: usize = 256;

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
    /// Scale of the tile's columns, in blocks.
    pub scale: *const u8,
    /// Whether full blocks of grad_input are stored past the caches; they are aligned to lines then.
    pub streams: bool,
    /// Whether grad_input is a copy of grad_output, since there is no scale: bit for bit, NaN payloads too.
    pub copies: bool,
    /// Accumulators of grad_scale, in blocks.
    pub scale_sums: *mut f64,
    /// Accumulators of grad_shift, in blocks.
    pub shift_sums: *mut f64,
}

/// How the columns of a tile fall into blocks.
///
/// `head` columns up to grad_input's first line boundary have a block of their own where there are any; then come full
/// blocks, and the rest has the last one. Scale and accumulators have room for full blocks throughout.
#[derive(Clone, Copy)]
pub(crate) struct Blocks {
    pub head: usize,
    pub full: usize,
    pub tail: usize,
}

impl Blocks {
    pub(crate) fn new<L: Lanes>(columns: usize, head: usize) -> Self {
        let body = columns - head;
        Self { head, full: body / L::BLOCK, tail: body % L::BLOCK }
    }

    pub(crate) fn count(self) -> usize {
        usize::from(self.head > 0) + self.full + usize::from(self.tail > 0)
    }

    /// First column and number of columns of a block.
    #[inline(always)]
    pub(crate) fn columns<L: Lanes>(self, block: usize) -> (usize, usize) {
        let full = usize::from(self.head > 0);
        if block < full {
            (0, self.head)
        } else if block < full + self.full {
            (self.head + (block - full) * L::BLOCK, L::BLOCK)
        } else {
            (self.head + self.full * L::BLOCK, self.tail)
        }
    }
}

/// One group of rows over all blocks of a tile.
///
/// # Safety
///
/// The grids hold `rows` rows of the blocks' columns, side by side; scale and accumulators hold all blocks.
#[inline(always)]
pub(crate) unsafe fn group<L: Lanes, const INPUT: bool>(group: &Group, blocks: Blocks) {
    let full = usize::from(blocks.head > 0);
    // SAFETY: blocks and columns as the caller promises.
    unsafe {
        if blocks.head > 0 {
            edge::<L, INPUT>(group, 0, blocks.head, 0);
        }
        for i in 0..blocks.full {
            block::<L, INPUT>(group, blocks.head + i * L::BLOCK, full + i);
        }
        if blocks.tail > 0 {
            let column = blocks.head + blocks.full * L::BLOCK;
            edge::<L, INPUT>(group, column, blocks.tail, full + blocks.full);
        }
    }
}

/// A full block, from column `column` on.
#[inline(always)]
unsafe fn block<L: Lanes, const INPUT: bool>(group: &Group, column: usize, index: usize) {
    let offset = column * L::SIZE;
    let step = L::N * L::SIZE;
    let mut stash = std::mem::MaybeUninit::<Buffer>::uninit();
    let stash = stash.as_mut_ptr().cast::<u8>();
    // SAFETY: the caller's block and rows.
    unsafe {
        let scale = group.scale.add(index * L::BLOCK * L::SIZE);
        let mut factors = [L::load(scale); MAX_STEPS];
        for (u, factor) in factors.iter_mut().enumerate().take(L::STEPS) {
            *factor = L::load(scale.add(u * step));
        }
        let mut products = [L::no_sums(); MAX_STEPS];
        let mut plain = [L::no_sums(); MAX_STEPS];
        let mut g_row = group.grad_output.base.wrapping_add(offset);
        let mut x_row = group.input.base.wrapping_add(offset);
        let mut o_row = stash;
        for _ in 0..group.rows {
            L::prefetch(g_row.wrapping_add(AHEAD));
            if INPUT {
                L::prefetch(x_row.wrapping_add(AHEAD));
            }
            for u in 0..L::STEPS {
                let g = L::load(g_row.add(u * step));
                if INPUT {
                    products[u] = L::add_product(products[u], g, L::load(x_row.add(u * step)));
                }
                plain[u] = L::add(plain[u], g);
                L::store(o_row.add(u * step), L::product(g, factors[u]));
            }
            g_row = g_row.wrapping_add(group.grad_output.row);
            x_row = x_row.wrapping_add(group.input.row);
            o_row = o_row.wrapping_add(64);
        }
        for u in 0..L::STEPS {
            let at = index * L::BLOCK + u * L::N;
            if INPUT {
                L::accumulate(group.scale_sums.add(at), products[u]);
            }
            L::accumulate(group.shift_sums.add(at), plain[u]);
        }
        let (mut from, pitch) = if group.copies {
            (group.grad_output.base.wrapping_add(offset).cast_const(), group.grad_output.row)
        } else {
            (stash.cast_const(), 64)
        };
        let mut o_row = group.grad_input.base.wrapping_add(offset);
        for _ in 0..group.rows {
            if group.streams {
                L::copy_block::<true>(from, o_row);
            } else {
                L::copy_block::<false>(from, o_row);
            }
            from = from.wrapping_add(pitch);
            o_row = o_row.wrapping_add(group.grad_input.row);
        }
    }
}

/// Room for a block of eight rows.
#[repr(C, align(64))]
struct Buffer([u8; 8 * 64]);

/// A block that is not full: through buffers, so that nothing beyond its columns is touched.
#[inline(always)]
unsafe fn edge<L: Lanes, const INPUT: bool>(group: &Group, column: usize, columns: usize, index: usize) {
    let mut buffers = [const { Buffer([0; 512]) }; 3];
    let [g, x, o] = &mut buffers;
    let grid = |buffer: &mut Buffer| Grid { base: buffer.0.as_mut_ptr(), row: 64, column: L::SIZE };
    let inner = Group { grad_output: grid(g), input: grid(x), grad_input: grid(o), streams: false, ..*group };
    // SAFETY: the caller's columns and rows; a block's row is at most 64 bytes.
    unsafe {
        for row in 0..group.rows {
            copy_short(group.grad_output.at(row, column), inner.grad_output.at(row, 0), columns * L::SIZE);
            if INPUT {
                copy_short(group.input.at(row, column), inner.input.at(row, 0), columns * L::SIZE);
            }
        }
        block::<L, INPUT>(&inner, 0, index);
        for row in 0..group.rows {
            copy_short(inner.grad_input.at(row, 0), group.grad_input.at(row, column), columns * L::SIZE);
        }
    }
}

/// Copies fewer than 64 bytes, an even number: the pieces that its binary digits name. A call of memcpy costs more.
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
        }
    }
}
