//! grad_input where it and grad_output run along L: no tile is needed for a product of elements, only for sums.

use super::line::Line;
use super::pack::Grid;
use super::vector::{LINE, Lanes};

/// Columns of grad_output times their scale, or copies of them, to grad_input. Both may be the same elements.
#[derive(Clone, Copy)]
pub(crate) struct Along {
    pub grad_output: Grid,
    pub grad_input: Grid,
    /// Scale of the columns, side by side.
    pub scale: *const u8,
    pub rows: usize,
    pub columns: usize,
    /// Whether there is no scale.
    pub copies: bool,
    /// Whether whole lines go past the caches.
    pub streamed: bool,
}

/// Column after column.
///
/// # Safety
///
/// The grids have the rows side by side, and the columns; the scale has the columns.
#[inline(always)]
pub(crate) unsafe fn along<L: Lanes>(along: &Along) {
    let Along { grad_output, grad_input, scale, rows, columns, copies, streamed } = *along;
    let step = L::N * L::SIZE;
    let bytes = rows * L::SIZE;
    let whole = bytes / step * step;
    for column in 0..columns {
        // SAFETY: the caller's rows and columns.
        unsafe {
            let (from, to) = (grad_output.at(0, column), grad_input.at(0, column));
            if copies {
                std::ptr::copy(from, to, bytes);
                continue;
            }
            let mut line = Line::new();
            let factor = L::load(line.filled::<L>(scale.add(column * L::SIZE)));
            let streams = streamed && to.addr().is_multiple_of(LINE) && bytes.is_multiple_of(LINE);
            for at in (0..whole).step_by(step) {
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
}
