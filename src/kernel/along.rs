//! Tensors that run along L: a column is read, used and written as one stream, like a triad's.
//!
//! The groups of 8 rows of a column don't depend on each other, so they stand side by side in the registers: `N` groups, that
//! is 8 `N` adjacent rows, are turned there and become 8 vectors, row r of every group in the r-th.
//!
//! ```text
//! for every 8 columns:
//!     for each of them:
//!         for each stretch of N groups:
//!             group sums = as for N columns of a group         (kept)
//!             grad_input = grad_output * scale
//!     for each group, in order: chunk sums += group sums       (of 8 columns at a time, turned once more)
//! ```
//!
//! With one column's groups at a time, each sum waiting for the one before, FLOAT took 1.3 times as long.

use std::mem::MaybeUninit;

use super::line::Line;
use super::pack::Grid;
use super::plan::{CHUNK, GROUP};
use super::vector::{LINE, Lanes, Set};

/// How far ahead of the walk lines are asked for, in bytes of each tensor: near and far.
const AHEAD: [usize; 2] = [2048, 8192];
/// Columns whose group sums are added up together.
const TOGETHER: usize = 8;
/// Group sums that a column has room for, and a line more: so they fall into different sets of the cache.
const PITCH: usize = CHUNK / GROUP + LINE / size_of::<f64>();
/// Bytes that the group sums of one gradient need.
pub(crate) const GROUP_SUMS_BYTES: usize = TOGETHER * PITCH * size_of::<f64>();
/// The most that `N` is: 16-bit elements of a line.
const MAX_N: usize = LINE / 2;
/// Bytes of the longest stretch: 8 rows of a line.
const STRETCH: usize = GROUP * LINE;

/// Some rows of some columns of the three tensors. All run along L; grad_input may be one of the others.
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
    /// At most a chunk's.
    pub rows: usize,
    pub columns: usize,
    /// Whether there is no scale.
    pub copies: bool,
    /// Whether whole lines go past the caches.
    pub streamed: bool,
    /// Whether everything is near already.
    pub near: bool,
    /// Room for group sums of grad_scale and grad_shift.
    pub group_sums: [*mut f64; 2],
    /// Accumulators of grad_scale and grad_shift.
    pub accumulators: [*mut f64; 2],
    /// Whether the first group of rows is the first of all, and the accumulators hold nothing yet.
    pub fresh: bool,
}

/// Makes grad_input of these rows and columns, and adds to the accumulators.
///
/// # Safety
///
/// The grids have the rows, side by side, and the columns; so has the scale.
#[inline(always)]
pub(crate) unsafe fn along<L: Lanes, const INPUT: bool>(along: &Along) {
    // SAFETY: the caller's rows, columns and room.
    unsafe {
        let mut cursors = AHEAD.map(|bytes| Cursor::new::<L>(along, bytes));
        for first in (0..along.columns).step_by(TOGETHER) {
            let columns = TOGETHER.min(along.columns - first);
            for i in 0..columns {
                one_column::<L, INPUT>(along, first + i, i * PITCH, &mut cursors);
            }
            for gradient in usize::from(!INPUT)..2 {
                let (sums, to) = (along.group_sums[gradient], along.accumulators[gradient]);
                if columns == TOGETHER {
                    add_groups::<L, TOGETHER>(along, sums, to, first);
                } else {
                    for i in 0..columns {
                        add_groups::<L, 1>(along, sums.add(i * PITCH), to, first + i);
                    }
                }
            }
        }
    }
}

/// A stretch that will be reached later.
#[derive(Clone, Copy)]
struct Cursor {
    column: usize,
    /// Bytes from the column's start.
    at: usize,
    /// Bytes of a column, and of a stretch.
    bytes: usize,
    stretch: usize,
}

impl Cursor {
    /// The one that starts about so many bytes behind the first.
    #[inline(always)]
    fn new<L: Lanes>(along: &Along, ahead: usize) -> Self {
        let bytes = along.rows * L::SIZE;
        let stretch = GROUP * L::N * L::SIZE;
        let (stretches, steps) = (bytes.div_ceil(stretch), ahead / stretch.min(bytes));
        Self { column: steps / stretches, at: steps % stretches * stretch, bytes, stretch }
    }

    /// Its addresses in a tensor, `ahead` bytes behind which it goes on.
    #[inline(always)]
    fn address(&self, along: &Along, tensor: Grid, ahead: usize) -> *const u8 {
        let here = self.column < along.columns;
        let (start, column) = if here { (0, self.column) } else { (ahead, self.column - along.columns) };
        tensor.base.wrapping_add(start.wrapping_add(column * tensor.column).wrapping_add(self.at))
    }

    #[inline(always)]
    fn advance(&mut self) {
        self.at += self.stretch;
        if self.at >= self.bytes {
            self.at = 0;
            self.column += 1;
        }
    }
}

/// A column: makes its grad_input, and its group sums from a place on.
#[inline(always)]
unsafe fn one_column<L: Lanes, const INPUT: bool>(
    along: &Along,
    column: usize,
    place: usize,
    cursors: &mut [Cursor; 2],
) {
    let rows = L::N * GROUP;
    let grids = [along.grad_output, along.input, along.grad_input];
    // SAFETY: the caller's rows and columns.
    unsafe {
        let mut line = Line::new();
        let factor = L::load(line.filled::<L>(along.scale.add(column * L::SIZE)));
        let streams = along.streamed && grids[2].at(0, column).addr().is_multiple_of(LINE);
        for row in (0..along.rows).step_by(rows) {
            let places = grids.map(|grid| grid.at(0, column).wrapping_add(row * L::SIZE));
            let sums = along.group_sums.map(|sums| sums.wrapping_add(place + row / GROUP));
            let next = cursors.map(|cursor| {
                [
                    cursor.address(along, along.grad_output, along.ahead[0]),
                    cursor.address(along, along.input, along.ahead[1]),
                ]
            });
            cursors.iter_mut().for_each(Cursor::advance);
            let count = along.rows - row;
            if count >= rows {
                stretch::<L, INPUT>(along, places, factor, sums, next, streams);
            } else {
                let mut ends = Ends::new();
                let inner = ends.gather::<L, INPUT>(places, count);
                stretch::<L, INPUT>(along, inner, factor, sums, next, false);
                std::ptr::copy_nonoverlapping(inner[2], places[2], count * L::SIZE);
            }
        }
    }
}

/// The end of a column of each tensor, filled up to a stretch with what changes no sum.
#[repr(C, align(64))]
struct Ends([[MaybeUninit<u8>; STRETCH]; 3]);

impl Ends {
    #[inline(always)]
    fn new() -> Self {
        Self([[MaybeUninit::uninit(); STRETCH]; 3])
    }

    /// Brings some rows here, fewer than a stretch.
    ///
    /// # Safety
    ///
    /// The columns have the rows.
    #[inline(always)]
    unsafe fn gather<L: Lanes, const INPUT: bool>(&mut self, columns: [*mut u8; 3], rows: usize) -> [*mut u8; 3] {
        let inner = self.0.each_mut().map(|column| column.as_mut_ptr().cast::<u8>());
        // -0.0 to be added, and also as a product: -0.0 times 1.
        let fills = [1 << (8 * L::SIZE - 1), L::ONE];
        for tensor in 0..1 + usize::from(INPUT) {
            // SAFETY: the caller's rows, and room for a stretch.
            unsafe {
                std::ptr::copy_nonoverlapping(columns[tensor], inner[tensor], rows * L::SIZE);
                for row in rows..L::N * GROUP {
                    let fill = fills[tensor].to_le_bytes();
                    std::ptr::copy_nonoverlapping(fill.as_ptr(), inner[tensor].add(row * L::SIZE), L::SIZE);
                }
            }
        }
        inner
    }
}

/// `N` groups of a column. All reads come first, since grad_input may be one of the others.
#[inline(always)]
unsafe fn stretch<L: Lanes, const INPUT: bool>(
    along: &Along,
    [from, input, to]: [*mut u8; 3],
    factor: L::Values,
    sums: [*mut f64; 2],
    next: [[*const u8; 2]; 2],
    streams: bool,
) {
    const { assert!(GROUP.is_multiple_of(L::STEPS), "a stretch has whole blocks") };
    let step = L::N * L::SIZE;
    // SAFETY: the caller's rows; any address will do for a prefetch.
    unsafe {
        let g = L::turned(from);
        let x = if INPUT { L::turned(input) } else { g };
        let (mut products, mut plain) = (L::no_sums(), L::no_sums());
        for i in 0..GROUP {
            let g = L::widen(g[i]);
            if INPUT {
                products = L::add_product(products, g, L::widen(x[i]));
            }
            plain = L::add(plain, g);
        }
        if INPUT {
            L::accumulate::<true>(sums[0], products);
        }
        L::accumulate::<true>(sums[1], plain);
        for at in (0..GROUP * step).step_by(step) {
            if at.is_multiple_of(LINE) && !along.near {
                let [near, far] = next;
                L::prefetch(near[0].wrapping_add(at));
                L::prefetch_far(far[0].wrapping_add(at));
                if INPUT {
                    L::prefetch(near[1].wrapping_add(at));
                    L::prefetch_far(far[1].wrapping_add(at));
                }
            }
            if !along.copies {
                L::put(to.add(at), L::round(L::product(L::load(from.add(at)), factor)), streams);
            } else if at.is_multiple_of(L::BLOCK * L::SIZE) {
                L::copy_block(from.add(at), to.add(at), streams);
            }
        }
    }
}

/// Adds the group sums of one column or of [`TOGETHER`], in order, to their accumulators. One alone is not turned: with seven
/// others for nothing, D = 1 took 1.1 to 1.5 times as long.
#[inline(always)]
unsafe fn add_groups<L: Lanes, const COLUMNS: usize>(along: &Along, sums: *const f64, to: *mut f64, first: usize) {
    let groups = along.rows.div_ceil(GROUP);
    // SAFETY: the caller's columns; there is room for whole stretches, and for 8 groups where those are shorter.
    unsafe {
        let mut totals = [-0.0; COLUMNS];
        if !along.fresh {
            for (i, total) in totals.iter_mut().enumerate() {
                *total = *to.add(L::slot(first + i));
            }
        }
        let mut turned = TurnedSums([MaybeUninit::uninit(); MAX_N * TOGETHER]);
        let turned: *mut f64 = turned.0.as_mut_ptr().cast();
        let stretch = L::N.max(TOGETHER);
        for start in (0..groups).step_by(stretch) {
            let sums = sums.add(start);
            let pitch = if COLUMNS == 1 { 1 } else { TOGETHER };
            if COLUMNS > 1 {
                for at in (0..stretch).step_by(TOGETHER) {
                    L::Set::turn_sums(sums.add(at), PITCH, turned.add(at * TOGETHER));
                }
            }
            let from = if COLUMNS == 1 { sums } else { turned.cast_const() };
            let mut add = |group: usize| {
                for (i, total) in totals.iter_mut().enumerate() {
                    *total += from.add(L::slot(group) * pitch + i).read();
                }
            };
            if groups - start >= stretch {
                (0..stretch).for_each(&mut add);
            } else {
                (0..groups - start).for_each(&mut add);
            }
        }
        for (i, total) in totals.into_iter().enumerate() {
            *to.add(L::slot(first + i)) = total;
        }
    }
}

/// Group sums of a stretch, those of the columns side by side.
#[repr(C, align(64))]
struct TurnedSums([MaybeUninit<f64>; MAX_N * TOGETHER]);
