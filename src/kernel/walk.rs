//! How a group's rows are walked, and which lines are asked for before the walk is there.
//!
//! Lines are asked for twice: into the second-nearest cache long before they are needed, so that memory always has as many
//! reads to do as it can, and into the nearest one shortly before. Without the far ones, one thread of a Zen 4 reaches half of
//! what its triad does: FLOAT rows of 1152 took 1.9 times as long as that, and 1.15 with them.
//!
//! - All 8 rows of a group at once, where they fall into different sets of the nearest cache: the sums stay in registers. Far
//!   lines are those of the next two groups. Between 8 KiB and 128 KiB of a group, this took 0.65 to 0.9 of the time of passes.
//! - Groups of up to 8 KiB are one stream, asked for in the order of memory; up to 1 KiB the hardware follows it alone.
//! - All rows at once in the nearest caches too, whatever their pitch, where registers hold the sums: a line is used whole as
//!   soon as it is there.
//! - Passes of two rows otherwise, in the order of the walk, rows' ends included.

use super::pack::Grid;
use super::plan::GROUP;
use super::vector::Lanes;

/// How far ahead of a walk by passes lines are asked for, in bytes of each tensor: near and far.
const AHEAD: [usize; 2] = [2048, 8192];
/// How far ahead in its own row a line is asked for where all rows are taken at once.
const AHEAD_IN_ROW: usize = 192;
/// What two groups of one tensor may take of the second-nearest cache. If they take more, only the next one is asked for.
const TWO_GROUPS: usize = 1 << 17;
/// Bytes of a page: addresses that are a multiple of it apart compete for one set of the nearest cache.
const PAGE: usize = 4096;
/// Bytes of a group of one tensor that is small enough to be asked for as a whole.
const SHORT: usize = 2 * PAGE;
/// Bytes of a group of one tensor whose stream the hardware follows alone.
const TINY: usize = PAGE / 4;
/// The widest rows that are taken all at once: the next group of two tensors waits in the second-nearest cache.
const WIDE: usize = 16384;
/// Rows of a group that are nearer to each other than this, but for whole pages, compete for one set of the nearest cache.
const APART: usize = 256;

/// Nothing is asked for: everything is near already.
pub(crate) const NONE: u8 = 0;
/// Lines of a group that are asked for in the order of memory, and into the nearest cache only.
pub(crate) const NEAR: u8 = 1;
/// Lines of a group that are asked for in the order of memory.
pub(crate) const STREAM: u8 = 2;
/// Lines of a group that are asked for row by row, as they are used.
pub(crate) const ROW_BY_ROW: u8 = 3;

/// Lines that come a given number of bytes later, and into the second-nearest cache only: what is gathered is near.
pub(crate) const LATER: u8 = 4;

/// How many rows are taken at a time, and what is asked for.
#[derive(Clone, Copy)]
pub(crate) struct Walk {
    /// Whether all rows of a group are taken at once, or two at a time.
    pub(crate) all: bool,
    /// Whether everything is near already.
    near: bool,
    /// With passes: the places that are asked for.
    places: [Place; 2],
    /// With all rows at once: [`NONE`], [`NEAR`], [`STREAM`] or [`ROW_BY_ROW`].
    pub(crate) order: u8,
}

/// A place later in a walk by passes.
#[derive(Clone, Copy)]
struct Place {
    /// Passes that lie in between.
    passes: usize,
    /// Blocks of a row before its end.
    blocks: usize,
}

impl Walk {
    /// The walk for groups of `rows` rows of some full blocks. `pitches`: bytes from row to row in each tensor that has rows.
    /// `near`: everything is in the nearest caches. `gathered`: some tensor goes by way of tiles.
    #[inline(always)]
    pub(crate) fn new<L: Lanes>(
        rows: usize,
        full: usize,
        pitches: impl Iterator<Item = usize> + Clone,
        near: bool,
        gathered: bool,
    ) -> Self {
        let widest = pitches.clone().max().unwrap_or(0);
        let group = widest * rows;
        let short = group <= SHORT && (L::HOLDS_GROUP || full <= 2);
        let spread = || widest <= WIDE && pitches.clone().all(is_spread);
        let all = short || if near || gathered { L::HOLDS_GROUP } else { spread() };
        let row = full.max(1);
        let places =
            AHEAD.map(|bytes| bytes / 2 / (L::BLOCK * L::SIZE)).map(|n| Place { passes: n / row, blocks: n % row });
        let order = match () {
            () if near => NONE,
            () if gathered => LATER,
            () if group > SHORT => ROW_BY_ROW,
            // The hardware follows a single stream as long as nothing else of the row is in between.
            () if group <= TINY => NEAR,
            () => STREAM,
        };
        Self { all, near: near || gathered, places, order }
    }

    /// The blocks of a row from which on a place is a pass later, in order.
    #[inline(always)]
    pub(crate) fn turns(&self, full: usize) -> [usize; 2] {
        let [near, far] = self.places.map(|place| full.saturating_sub(place.blocks));
        [near.min(far), near.max(far)]
    }

    /// Bytes from a block to the places that are asked for with it, in a walk by passes of `rows` rows.
    #[inline(always)]
    pub(crate) fn steps<L: Lanes>(&self, tensor: Grid, rows: usize, full: usize, block: usize) -> [usize; 2] {
        let line = L::BLOCK * L::SIZE;
        self.places.map(|place| {
            let turned = block + place.blocks >= full;
            let row = (place.passes + usize::from(turned)) * rows * tensor.row + place.blocks * line;
            row.wrapping_sub(if turned { full * line } else { 0 })
        })
    }

    /// Asks for the lines some bytes behind an element.
    ///
    /// # Safety
    ///
    /// As for [`Lanes`]; any address will do.
    #[inline(always)]
    pub(crate) unsafe fn ask<L: Lanes>(&self, element: *const u8, [near, far]: [usize; 2]) {
        if self.near {
            return;
        }
        // SAFETY: any address will do.
        unsafe {
            L::prefetch(element.wrapping_add(near));
            L::prefetch_far(element.wrapping_add(far));
        }
    }
}

/// Lines to ask for, one with each of a group's rows.
pub(crate) struct Lines<const ORDER: u8> {
    near: *const u8,
    far: *const u8,
    step: usize,
}

impl<const ORDER: u8> Lines<ORDER> {
    /// Those for `rows` rows, taken all at once, in the block `offset` bytes from their start. With [`LATER`], they come so many
    /// bytes later.
    #[inline(always)]
    pub(crate) fn new<L: Lanes>(tensor: Grid, rows: usize, offset: usize, later: usize) -> Self {
        let group = rows * tensor.row;
        let [near, far, step] = match ORDER {
            ROW_BY_ROW => {
                let groups = if 2 * group <= TWO_GROUPS { 2 } else { 1 };
                [offset + AHEAD_IN_ROW, offset + groups * group, tensor.row]
            }
            LATER => [0, offset.wrapping_add(later), tensor.row],
            _ => [AHEAD[0] + offset * rows, AHEAD[1] + offset * rows, L::BLOCK * L::SIZE],
        };
        Self { near: tensor.base.wrapping_add(near), far: tensor.base.wrapping_add(far), step }
    }

    /// Asks for the next.
    ///
    /// # Safety
    ///
    /// As for [`Lanes`].
    #[inline(always)]
    pub(crate) unsafe fn ask<L: Lanes>(&mut self) {
        if ORDER == NONE {
            return;
        }
        // SAFETY: any address will do.
        unsafe {
            if ORDER != LATER {
                L::prefetch(self.near);
                self.near = self.near.wrapping_add(self.step);
            }
            if ORDER != NEAR {
                L::prefetch_far(self.far);
                self.far = self.far.wrapping_add(self.step);
            }
        }
    }
}

/// Whether the rows of a group fall into different parts of a page, and so of the nearest cache: no more than one
/// comes to where the first is.
#[inline(always)]
fn is_spread(pitch: usize) -> bool {
    let meets_first = |rows: &usize| {
        let behind = rows * pitch % PAGE;
        behind.min(PAGE - behind) < APART
    };
    (1..GROUP).filter(meets_first).count() <= 1
}

#[cfg(test)]
mod tests {
    use super::super::scalar::F32;
    use super::*;

    const LINE: usize = F32::BLOCK * F32::SIZE;

    /// Passes of two rows, block by block: each block asks for the one that comes so many bytes later.
    #[test]
    fn passes_ask_for_what_comes_later() {
        for (blocks, gap) in [(1, 0), (3, 64), (16, 4096), (72, 0), (300, 128)] {
            let pitch = blocks * LINE + gap;
            let tensor = Grid { base: std::ptr::null_mut(), row: pitch, column: F32::SIZE };
            let walk = Walk::new::<F32>(GROUP, blocks, [pitch].into_iter(), false, false);
            let [first, second] = walk.turns(blocks);
            assert!(first <= second && second <= blocks);
            let place = |step: usize| step / blocks * 2 * pitch + step % blocks * LINE;
            for range in [0..first, first..second, second..blocks] {
                let asked = walk.steps::<F32>(tensor, 2, blocks, range.start);
                for block in range {
                    let steps = AHEAD.map(|bytes| place(block + bytes / 2 / LINE) - place(block));
                    assert_eq!(asked, steps, "block {block} of {blocks}");
                }
            }
        }
    }

    #[test]
    fn rows_two_kibibytes_apart_are_not_spread() {
        for pitch in [1152 * 4, 1152 * 2, 1344 * 2, 384 * 4, 4736 * 2, 8192 + 512, 1024, 3072] {
            assert!(is_spread(pitch), "{pitch}");
        }
        for pitch in [0, 64, 2048, 6144, 4096, 4100, 8192 - 64, 12288] {
            assert!(!is_spread(pitch), "{pitch}");
        }
    }
}
