//! Columns of a single group of rows that follow each other in memory: L = 8 and a view that runs along L, such as D = 1.
//!
//! All of them are one stream, like a column of a longer view (see `along`), `N` columns at a time. But each has its own scale,
//! and its group sums are all its sums: they are rounded from the registers.

use super::along::{AHEAD, Factors, STRETCH, stretch};
use super::line::Line;
use super::pack::Grid;
use super::plan::GROUP;
use super::vector::{LINE, Lanes};

/// Some columns of the three tensors, one behind the other. grad_input may be one of the others.
#[derive(Clone, Copy)]
pub(crate) struct Columns {
    /// The first elements of grad_output, input and grad_input. Input is read only for grad_scale.
    pub tensors: [*mut u8; 3],
    /// Scale of the columns, side by side; null where there is none.
    pub scale: *const u8,
    /// The columns' place in the gradients that are wanted.
    pub gradients: [Option<Grid>; 2],
    pub columns: usize,
    /// Whether whole lines go past the caches.
    pub streamed: bool,
    /// Whether everything is near already.
    pub near: bool,
}

/// Makes all gradients of these columns.
///
/// # Safety
///
/// The tensors have the columns; so have scale and the gradients.
#[inline(always)]
pub(crate) unsafe fn one_group<L: Lanes, const INPUT: bool>(all: &Columns) {
    let streams = all.streamed && all.tensors[2].addr().is_multiple_of(LINE);
    let mut spread = Spread([0; STRETCH]);
    for first in (0..all.columns).step_by(L::N) {
        let columns = L::N.min(all.columns - first);
        let places = all.tensors.map(|tensor| tensor.wrapping_add(first * GROUP * L::SIZE));
        // SAFETY: the caller's columns.
        unsafe {
            let factors = if all.scale.is_null() {
                Factors::<L>::One
            } else {
                spread.fill::<L>(all.scale.add(first * L::SIZE), columns);
                Factors::Each(spread.0.as_ptr())
            };
            let wanted = (!all.near)
                .then_some(AHEAD.map(|ahead| [places[0], places[1]].map(|from| from.wrapping_add(ahead).cast_const())));
            let sums = stretch::<L, INPUT>(places, columns * GROUP, factors, streams, wanted);
            for (sums, gradient) in sums.into_iter().zip(all.gradients) {
                let Some(gradient) = gradient else { continue };
                let to = gradient.right(first);
                let mut line = Line::new();
                let base = line.or::<L>(to, columns == L::N);
                L::round_sums(L::in_columns(sums), base);
                line.write::<L>(base, to, columns);
            }
        }
    }
}

/// The scale of each column as often as it has rows.
#[repr(C, align(64))]
struct Spread([u8; STRETCH]);

impl Spread {
    /// # Safety
    ///
    /// There is a scale for each of the columns.
    #[inline(always)]
    unsafe fn fill<L: Lanes>(&mut self, scale: *const u8, columns: usize) {
        let to = self.0.as_mut_ptr();
        for column in 0..columns {
            // SAFETY: the caller's columns, at most a stretch's, and the size is the element's.
            unsafe {
                if L::SIZE == 4 {
                    to.cast::<[u32; GROUP]>()
                        .add(column)
                        .write([scale.cast::<u32>().add(column).read_unaligned(); GROUP]);
                } else {
                    to.cast::<[u16; GROUP]>()
                        .add(column)
                        .write([scale.cast::<u16>().add(column).read_unaligned(); GROUP]);
                }
            }
        }
    }
}
