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
pub(crate) const AHEAD: [usize; 2] = [2048, 8192];
/// Columns whose group sums are added up together.
const TOGETHER: usize = 8;
/// Group sums that a column has room for, and a line more: so they fall into different sets of the cache.
const PITCH: usize = CHUNK / GROUP + LINE / size_of::<f64>();
/// Bytes that the group sums of one gradient need.
pub(crate) const GROUP_SUMS_BYTES: usize = TOGETHER * PITCH * size_of::<f64>();
/// Bytes of the longest stretch: 8 rows of a line.
pub(crate) const STRETCH: usize = GROUP * LINE;

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
                add_groups::<L>(along, sums, to, first, columns);
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
        let factors = if along.copies { Factors::One } else { Factors::<L>::Same(factor) };
        let streams = along.streamed && grids[2].at(0, column).addr().is_multiple_of(LINE);
        for row in (0..along.rows).step_by(rows) {
            let places = grids.map(|grid| grid.at(0, column).wrapping_add(row * L::SIZE));
            let next = cursors.map(|cursor| {
                [
                    cursor.address(along, along.grad_output, along.ahead[0]),
                    cursor.address(along, along.input, along.ahead[1]),
                ]
            });
            cursors.iter_mut().for_each(Cursor::advance);
            let wanted = (!along.near).then_some(next);
            let sums = stretch::<L, INPUT>(places, rows.min(along.rows - row), factors, streams, wanted);
            for (sums, to) in sums.into_iter().zip(along.group_sums).skip(usize::from(!INPUT)) {
                L::accumulate::<true>(to.wrapping_add(place + row / GROUP), L::in_order(sums));
            }
        }
    }
}

/// Sums and grad_input of `N` groups that stand side by side in each tensor, or of as many rows as there are. All reads for the
/// sums come first, since grad_input may be input.
///
/// # Safety
///
/// There are so many rows, and factors for `N` groups.
#[inline(always)]
pub(crate) unsafe fn stretch<L: Lanes, const INPUT: bool>(
    places: [*mut u8; 3],
    rows: usize,
    factors: Factors<L>,
    streams: bool,
    wanted: Option<[[*const u8; 2]; 2]>,
) -> [L::Sums; 2] {
    // SAFETY: the caller's rows.
    unsafe {
        if rows == L::N * GROUP {
            return whole_stretch::<L, INPUT>(places, factors, streams, wanted);
        }
        let mut ends = Ends::new();
        let inner = ends.gather::<L, INPUT>(places, rows);
        let sums = whole_stretch::<L, INPUT>(inner, factors, false, wanted);
        std::ptr::copy_nonoverlapping(inner[2], places[2], rows * L::SIZE);
        sums
    }
}

#[inline(always)]
unsafe fn whole_stretch<L: Lanes, const INPUT: bool>(
    [grad_output, input, grad_input]: [*mut u8; 3],
    factors: Factors<L>,
    streams: bool,
    wanted: Option<[[*const u8; 2]; 2]>,
) -> [L::Sums; 2] {
    // SAFETY: the caller's groups.
    unsafe {
        let sums = group_sums::<L, INPUT>(grad_output, input);
        group_products::<L, INPUT>(grad_output, grad_input, factors, streams, wanted);
        sums
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

/// Sums of products and of grad_output, of `N` groups that stand side by side, as [`Lanes::turned_row`] has them.
///
/// # Safety
///
/// There are so many groups.
#[inline(always)]
unsafe fn group_sums<L: Lanes, const INPUT: bool>(grad_output: *const u8, input: *const u8) -> [L::Sums; 2] {
    // SAFETY: the caller's groups.
    unsafe {
        let g = L::turned(grad_output);
        let x = if INPUT { L::turned(input) } else { g };
        let (mut products, mut plain) = (L::no_sums(), L::no_sums());
        for row in 0..GROUP {
            let g = L::turned_row(&g, row);
            if INPUT {
                products = L::add_product(products, g, L::turned_row(&x, row));
            }
            plain = L::add(plain, g);
        }
        [products, plain]
    }
}

/// The factors of a stretch's rows.
#[derive(Clone, Copy)]
pub(crate) enum Factors<L: Lanes> {
    /// None: they are copied.
    One,
    /// The same for all.
    Same(L::Values),
    /// Each its own.
    Each(*const u8),
}

/// grad_input of `N` groups that stand side by side. Meanwhile it asks for the lines of as many that will be wanted later, near
/// and far, of grad_output and input.
///
/// # Safety
///
/// There are so many groups, and factors.
#[inline(always)]
unsafe fn group_products<L: Lanes, const INPUT: bool>(
    grad_output: *const u8,
    grad_input: *mut u8,
    factors: Factors<L>,
    streams: bool,
    wanted: Option<[[*const u8; 2]; 2]>,
) {
    const { assert!(GROUP.is_multiple_of(L::STEPS), "a stretch has whole blocks") };
    let step = L::N * L::SIZE;
    // SAFETY: the caller's groups and factors; any address will do for a prefetch.
    unsafe {
        for at in (0..GROUP * step).step_by(step) {
            if let (Some([near, far]), true) = (wanted, at.is_multiple_of(LINE)) {
                for tensor in 0..1 + usize::from(INPUT) {
                    L::prefetch(near[tensor].wrapping_add(at));
                    L::prefetch_far(far[tensor].wrapping_add(at));
                }
            }
            let factor = match factors {
                Factors::One if at.is_multiple_of(L::BLOCK * L::SIZE) => {
                    L::copy_block(grad_output.add(at), grad_input.add(at), streams);
                    continue;
                }
                Factors::One => continue,
                Factors::Same(factor) => factor,
                Factors::Each(factors) => L::load(factors.add(at)),
            };
            let products = L::product(L::load(grad_output.add(at)), factor);
            L::put(grad_input.add(at), L::round(products), streams);
        }
    }
}

/// Adds the group sums of some columns, in order, to their accumulators. Fewer than [`TOGETHER`] are added one by one: with
/// others for nothing, D = 1 took 1.1 to 1.5 times as long.
#[inline(always)]
unsafe fn add_groups<L: Lanes>(along: &Along, sums: *const f64, to: *mut f64, first: usize, columns: usize) {
    let groups = along.rows.div_ceil(GROUP);
    // SAFETY: the caller's columns; there is room for whole stretches.
    unsafe {
        let mut totals = [-0.0; TOGETHER];
        if !along.fresh {
            for (i, total) in totals.iter_mut().enumerate().take(columns) {
                *total = *to.add(L::slot(first + i));
            }
        }
        if columns == TOGETHER {
            L::Set::add_groups(sums, PITCH, groups, &mut totals);
        } else {
            for (i, total) in totals.iter_mut().enumerate().take(columns) {
                for group in 0..groups {
                    *total += sums.add(i * PITCH + group).read();
                }
            }
        }
        for (i, total) in totals.into_iter().enumerate().take(columns) {
            *to.add(L::slot(first + i)) = total;
        }
    }
}
