//! The vector trait: what the loops need from an instruction set, for one element type.

use super::along::Along;
use super::at_once::Samples;
use super::one_group::Columns;
use super::pack::Grid;
use super::plan::Plan;
use super::rows::{Blocks, Group};
use super::scratch::Scratch;
use super::walk::Walk;

/// The most steps that a block may have.
pub(crate) const MAX_STEPS: usize = 4;

/// Bytes in a cache line, the alignment that streamed stores want, and the most that a block's row has.
pub(crate) const LINE: usize = 64;

/// What an instruction set offers for every element type.
///
/// # Safety
///
/// As for [`Lanes`].
pub(crate) trait Set: Copy {
    /// See [`Lanes::prefetch`].
    #[inline(always)]
    unsafe fn prefetch(_address: *const u8) {}
    /// See [`Lanes::prefetch_far`].
    #[inline(always)]
    unsafe fn prefetch_far(_address: *const u8) {}
    /// See [`Lanes::prefetch_to_write`].
    #[inline(always)]
    unsafe fn prefetch_to_write(_address: *const u8) {}
    /// See [`Lanes::copy_block`].
    #[inline(always)]
    unsafe fn copy_line(from: *const u8, to: *mut u8, _streamed: bool) {
        // SAFETY: the caller's line.
        unsafe { std::ptr::copy(from, to, LINE) }
    }
    /// Copies every second element of `from` (`gathers`) to adjacent ones, or adjacent ones to every second element of `to`, and
    /// touches nothing in between. Returns how many of the `columns` elements of `size` bytes it did, from the first on.
    #[inline(always)]
    unsafe fn copy_seconds(_from: *const u8, _to: *mut u8, _columns: usize, _size: usize, _gathers: bool) -> usize {
        0
    }
    /// Adds the group sums of eight columns to their totals, group after group. A column's stand side by side, and `pitch`
    /// sums behind those of the column before; up to the next multiple of eight, there is something to read.
    #[inline(always)]
    unsafe fn add_groups(from: *const f64, pitch: usize, groups: usize, totals: &mut [f64; 8]) {
        for group in 0..groups {
            for (column, total) in totals.iter_mut().enumerate() {
                // SAFETY: the caller's sums.
                *total += unsafe { from.add(column * pitch + group).read() };
            }
        }
    }
    /// Orders streamed stores before whatever publishes the result.
    #[inline(always)]
    unsafe fn fence() {}

    // The loops, each compiled for the instruction set as a function of its own: in one large function, the compiler runs
    // out of registers. [`loops`] defines them.

    /// [`super::unit::run`].
    unsafe fn unit<L: Lanes, const INPUT: bool>(plan: &Plan, unit: usize, scratch: &mut Scratch);
    /// [`super::unit::reduce`].
    unsafe fn reduce<L: Lanes>(plan: &Plan, scratch: &mut Scratch);
    /// [`super::at_once::only_groups`].
    unsafe fn only_groups<L: Lanes, const INPUT: bool, const ORDER: u8>(samples: &Samples, blocks: Blocks);
    /// [`super::at_once::at_once`].
    unsafe fn at_once<L: Lanes, const INPUT: bool, const ORDER: u8>(group: &Group, blocks: Blocks);
    /// [`super::rows::pass`].
    unsafe fn pass<L: Lanes, const INPUT: bool, const ROWS: usize, const FIRST: bool, const LAST: bool>(
        group: &Group,
        row: usize,
        blocks: Blocks,
        walk: Walk,
    );
    /// [`super::along::along`].
    unsafe fn along<L: Lanes, const INPUT: bool>(along: &Along);
    /// [`super::one_group::one_group`].
    unsafe fn one_group<L: Lanes, const INPUT: bool>(columns: &Columns);
    /// [`super::pack::copy`].
    unsafe fn copy<L: Lanes>(from: Grid, to: Grid, rows: usize, columns: usize, ahead: usize);
}

/// The loops of a [`Set`], compiled with its target features.
macro_rules! loops {
    ($(#[$features:meta])?) => {
        $(#[$features])?
        unsafe fn unit<L: Lanes, const INPUT: bool>(plan: &Plan, unit: usize, scratch: &mut Scratch) {
            // SAFETY: as the caller promises.
            unsafe { unit::run::<L, INPUT>(plan, unit, scratch) }
        }
        $(#[$features])?
        unsafe fn reduce<L: Lanes>(plan: &Plan, scratch: &mut Scratch) {
            // SAFETY: as the caller promises.
            unsafe { unit::reduce::<L>(plan, scratch) }
        }
        $(#[$features])?
        #[inline(never)]
        unsafe fn only_groups<L: Lanes, const INPUT: bool, const ORDER: u8>(samples: &Samples, blocks: Blocks) {
            // SAFETY: as the caller promises.
            unsafe { at_once::only_groups::<L, INPUT, ORDER>(samples, blocks) }
        }
        $(#[$features])?
        #[inline(never)]
        unsafe fn at_once<L: Lanes, const INPUT: bool, const ORDER: u8>(group: &Group, blocks: Blocks) {
            // SAFETY: as the caller promises.
            unsafe { at_once::at_once::<L, INPUT, ORDER>(group, blocks) }
        }
        $(#[$features])?
        #[inline(never)]
        unsafe fn pass<L: Lanes, const INPUT: bool, const ROWS: usize, const FIRST: bool, const LAST: bool>(
            group: &Group,
            row: usize,
            blocks: Blocks,
            walk: Walk,
        ) {
            // SAFETY: as the caller promises.
            unsafe { rows::pass::<L, INPUT, ROWS, FIRST, LAST>(group, row, blocks, walk) }
        }
        $(#[$features])?
        #[inline(never)]
        unsafe fn along<L: Lanes, const INPUT: bool>(along: &Along) {
            // SAFETY: as the caller promises.
            unsafe { along::along::<L, INPUT>(along) }
        }
        $(#[$features])?
        #[inline(never)]
        unsafe fn one_group<L: Lanes, const INPUT: bool>(columns: &Columns) {
            // SAFETY: as the caller promises.
            unsafe { one_group::one_group::<L, INPUT>(columns) }
        }
        $(#[$features])?
        #[inline(never)]
        unsafe fn copy<L: Lanes>(from: Grid, to: Grid, rows: usize, columns: usize, ahead: usize) {
            // SAFETY: as the caller promises.
            unsafe { pack::copy::<L>(from, to, rows, columns, ahead) }
        }
    };
}
pub(crate) use loops;

/// One step of the loops: `N` neighbouring columns of one row.
///
/// There is one implementation per instruction set and element type. It fixes how the contract's sums are formed (which
/// precision a group has), and nothing else does.
///
/// Accumulators are arrays of `f64`, `N` for each step. An implementation may keep the columns of a step in an order of its
/// own there, which [`slot`](Lanes::slot) tells.
///
/// # Safety
///
/// Every method must be inlined into a function that is compiled for the instruction set and runs only where the CPU has
/// it. Pointers must be good for `N` elements (or `N` times `f64`), and need no alignment unless said.
pub(crate) trait Lanes: Copy {
    /// Columns per step.
    const N: usize;
    /// Bytes per element.
    const SIZE: usize;
    /// Steps that are taken together, at most [`MAX_STEPS`]: a cache line's worth where registers allow.
    const STEPS: usize;
    /// Columns of a block: all steps that are taken together.
    const BLOCK: usize = Self::N * Self::STEPS;
    /// The bits of the number one, in the lowest `SIZE` bytes.
    const ONE: u32;
    /// `N` elements, ready to be multiplied.
    type Values: Copy;
    /// `N` adjacent groups of eight elements, turned so that a row of all of them is at hand.
    type Turned: Copy;
    /// `N` elements, rounded to the type and in the order that memory has.
    type Rounded: Copy;
    /// Sums of one group of rows, of `N` columns: `f64` for FLOAT, `f32` for the 16-bit types.
    type Sums: Copy;
    /// What the instruction set offers whatever the type.
    type Set: Set;
    /// Whether registers hold the sums of a block while eight rows go by, the rounding's temporaries included.
    const HOLDS_GROUP: bool;

    /// Reads `N` elements.
    unsafe fn load(from: *const u8) -> Self::Values;
    /// Reads `N` adjacent groups of eight elements.
    unsafe fn turned(from: *const u8) -> Self::Turned;
    /// A row of these groups: the element of that number of each, in an order that `in_order` undoes.
    unsafe fn turned_row(turned: &Self::Turned, row: usize) -> Self::Values;
    /// Sums of such rows, in the order of the groups.
    #[inline(always)]
    unsafe fn in_order(sums: Self::Sums) -> Self::Sums {
        sums
    }
    /// Sums of such rows, in the order that sums of loaded elements have, one group for each column.
    #[inline(always)]
    unsafe fn in_columns(sums: Self::Sums) -> Self::Sums {
        // SAFETY: the CPU has the instructions.
        unsafe { Self::in_order(sums) }
    }
    /// Products that are exact or rounded as the contract's grad_input wants, once `round` has rounded them.
    unsafe fn product(a: Self::Values, b: Self::Values) -> Self::Values;
    /// Rounds products of elements, or elements, to the type. (Not just any values: a NaN must be one that an element has.)
    unsafe fn round(products: Self::Values) -> Self::Rounded;
    /// Writes `N` elements; past the caches if told, and then `to` is aligned to them.
    unsafe fn put(to: *mut u8, values: Self::Rounded, streamed: bool);
    /// Sums of nothing: -0.0, the one start that keeps the first term bit for bit, a negative zero included.
    unsafe fn no_sums() -> Self::Sums;
    /// `sums + a * b`, the product unrounded.
    unsafe fn add_product(sums: Self::Sums, a: Self::Values, b: Self::Values) -> Self::Sums;
    /// `sums + a`.
    unsafe fn add(sums: Self::Sums, a: Self::Values) -> Self::Sums;
    /// Adds a group's sums to `N` accumulators, or writes them there where these are `FRESH`.
    unsafe fn accumulate<const FRESH: bool>(accumulators: *mut f64, sums: Self::Sums);
    /// Rounds `N` accumulators to the element type, once, and writes them in the columns' order.
    unsafe fn finish(accumulators: *const f64, to: *mut u8);

    /// Rounds sums of a group that is the only one, as `finish` does.
    unsafe fn round_sums(sums: Self::Sums, to: *mut u8);

    /// Where the accumulator of a column stands.
    #[inline(always)]
    fn slot(column: usize) -> usize {
        column
    }
    /// Brings a line near, without reading it as far as the program can tell.
    #[inline(always)]
    unsafe fn prefetch(address: *const u8) {
        // SAFETY: any address will do.
        unsafe { Self::Set::prefetch(address) }
    }
    /// Brings a line into the second-nearest cache.
    #[inline(always)]
    unsafe fn prefetch_far(address: *const u8) {
        // SAFETY: any address will do.
        unsafe { Self::Set::prefetch_far(address) }
    }
    /// Brings a line near that is about to be written.
    #[inline(always)]
    unsafe fn prefetch_to_write(address: *const u8) {
        // SAFETY: any address will do.
        unsafe { Self::Set::prefetch_to_write(address) }
    }
    /// Copies a block's row; past the caches if told, and then `to` is aligned to a line. Both may be the same row.
    #[inline(always)]
    unsafe fn copy_block(from: *const u8, to: *mut u8, streamed: bool) {
        // SAFETY: the caller's block.
        unsafe {
            if Self::BLOCK * Self::SIZE == LINE {
                Self::Set::copy_line(from, to, streamed);
            } else {
                std::ptr::copy(from, to, Self::BLOCK * Self::SIZE);
            }
        }
    }
    /// Moves a block of 8 x 8 elements and transposes it: row i of `from` becomes column i of `to`. Pitches in bytes.
    #[inline(always)]
    unsafe fn transpose_block(from: *const u8, from_pitch: usize, to: *mut u8, to_pitch: usize) {
        for row in 0..8 {
            for column in 0..8 {
                // SAFETY: the caller's 8 x 8 elements, and the size is the element's.
                unsafe {
                    let source = from.add(row * from_pitch + column * Self::SIZE);
                    let target = to.add(column * to_pitch + row * Self::SIZE);
                    std::ptr::copy_nonoverlapping(source, target, Self::SIZE);
                }
            }
        }
    }
}
