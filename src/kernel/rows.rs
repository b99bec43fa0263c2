//! The inner loops: one group of rows, all columns of a tile.

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
/// The grids hold `rows` rows of the blocks' columns, side by side; scale and accumulators hold all blocks. Where `STREAM`,
/// full blocks of grad_input are aligned to lines.
#[inline(always)]
pub(crate) unsafe fn group<L: Lanes, const INPUT: bool, const SHIFT: bool, const STREAM: bool>(
    group: &Group,
    blocks: Blocks,
) {
    let full = usize::from(blocks.head > 0);
    // SAFETY: blocks and columns as the caller promises.
    unsafe {
        if full > 0 {
            edge::<L, INPUT, SHIFT>(group, 0, blocks.head, 0);
        }
        if group.rows == 8 {
            for i in 0..blocks.full {
                block::<L, INPUT, SHIFT, STREAM>(group, 8, blocks.head + i * L::BLOCK, full + i);
            }
        } else {
            for i in 0..blocks.full {
                block::<L, INPUT, SHIFT, STREAM>(group, group.rows, blocks.head + i * L::BLOCK, full + i);
            }
        }
        if blocks.tail > 0 {
            let column = blocks.head + blocks.full * L::BLOCK;
            edge::<L, INPUT, SHIFT>(group, column, blocks.tail, full + blocks.full);
        }
    }
}

/// A full block, from column `column` on.
#[inline(always)]
unsafe fn block<L: Lanes, const INPUT: bool, const SHIFT: bool, const STREAM: bool>(
    group: &Group,
    rows: usize,
    column: usize,
    index: usize,
) {
    let offset = column * L::SIZE;
    let step = L::N * L::SIZE;
    // SAFETY: the caller's block and rows.
    unsafe {
        let scale = group.scale.add(index * L::BLOCK * L::SIZE);
        let mut factors = [L::load(scale); MAX_STEPS];
        for (u, factor) in factors.iter_mut().enumerate().take(L::STEPS) {
            *factor = L::load(scale.add(u * step));
        }
        let mut products = [L::no_sums(); MAX_STEPS];
        let mut plain = [L::no_sums(); MAX_STEPS];
        for row in 0..rows {
            let g_row = group.grad_output.base.add(row * group.grad_output.row + offset);
            let x_row = group.input.base.wrapping_add(row * group.input.row + offset);
            let o_row = group.grad_input.base.add(row * group.grad_input.row + offset);
            L::prefetch(g_row.wrapping_add(AHEAD));
            if INPUT {
                L::prefetch(x_row.wrapping_add(AHEAD));
            }
            for u in 0..L::STEPS {
                let g = L::load(g_row.add(u * step));
                if INPUT {
                    products[u] = L::add_product(products[u], g, L::load(x_row.add(u * step)));
                }
                if SHIFT {
                    plain[u] = L::add(plain[u], g);
                }
                let o = L::product(g, factors[u]);
                if STREAM {
                    L::stream(o_row.add(u * step), o);
                } else {
                    L::store(o_row.add(u * step), o);
                }
            }
        }
        for u in 0..L::STEPS {
            let at = index * L::BLOCK + u * L::N;
            if INPUT {
                L::accumulate(group.scale_sums.add(at), products[u]);
            }
            if SHIFT {
                L::accumulate(group.shift_sums.add(at), plain[u]);
            }
        }
    }
}

/// Room for a block of eight rows.
#[repr(C, align(64))]
struct Buffer([u8; 8 * 64]);

/// A block that is not full: through buffers, so that nothing beyond its columns is touched.
#[inline(always)]
unsafe fn edge<L: Lanes, const INPUT: bool, const SHIFT: bool>(
    group: &Group,
    column: usize,
    columns: usize,
    index: usize,
) {
    let mut buffers = [const { Buffer([0; 512]) }; 3];
    let [g, x, o] = &mut buffers;
    let grid = |buffer: &mut Buffer| Grid { base: buffer.0.as_mut_ptr(), row: 64, column: L::SIZE };
    let inner = Group { grad_output: grid(g), input: grid(x), grad_input: grid(o), ..*group };
    // SAFETY: the caller's columns and rows; a block's row is at most 64 bytes.
    unsafe {
        for row in 0..group.rows {
            copy_short(group.grad_output.at(row, column), inner.grad_output.at(row, 0), columns * L::SIZE);
            if INPUT {
                copy_short(group.input.at(row, column), inner.input.at(row, 0), columns * L::SIZE);
            }
        }
        block::<L, INPUT, SHIFT, false>(&inner, group.rows, 0, index);
        for row in 0..group.rows {
            copy_short(inner.grad_input.at(row, 0), group.grad_input.at(row, column), columns * L::SIZE);
        }
    }
}

/// Copies fewer than 64 bytes, an even number: the pieces that its binary digits name. A call of memcpy costs more.
#[inline(always)]
unsafe fn copy_short(from: *const u8, to: *mut u8, bytes: usize) {
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
