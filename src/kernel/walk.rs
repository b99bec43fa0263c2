//! How a group's rows are walked, and which lines are asked for before the walk is there.
//!
//! Lines are asked for twice: into the second-nearest cache long before they are needed, so that memory always has as many
//! reads to do as it can, and into the nearest one shortly before. Without the far ones, one thread of a Zen 4 reaches half of
//! what its triad does: FLOAT rows of 1152 took 1.9 times as long as that, and 1.15 with them.
//!
//! - All 8 rows of a group at once, where they fall into different sets of the nearest cache: the sums stay in registers. Far
//!   lines are those of the next two groups. Between 8 KiB and 128 KiB of a group, this took 0.65 to 0.9 of the time of passes.
//! - Groups of up to 8 KiB are one stream, asked for in the order of memory; up to 2 KiB the hardware follows it alone.
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
/// Bytes of a page: what lies within one is a single stream to the prefetchers.
const PAGE: usize = 4096;
/// Bytes of a group of one tensor that is small enough to be asked for as a whole.
const SHORT: usize = 2 * PAGE;
/// The widest rows that are taken all at once: the next group of two tensors waits in the second-nearest cache.
const WIDE: usize = 16384;
/// Rows of a group that are nearer to each other than this, but for whole pages, compete for one set of the nearest cache.
const APART: usize = 256;

/// How many rows a pass takes, and what it asks for.
#[derive(Clone, Copy)]
pub(crate) struct Walk {
    /// 1, 2, or all 8.
    rows: usize,
    /// Whether everything is near already.
    pub(crate) near: bool,
    /// With passes: the places that are asked for.
    places: [Place; 2],
    /// With all rows at once: whether a group's lines are one stream, asked for in the order of memory.
    stream: bool,
    /// Otherwise: how many groups ahead the far lines are.
    groups: usize,
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
    /// `near`: everything is in the nearest caches.
    #[inline(always)]
    pub(crate) fn new<L: Lanes>(
        rows: usize,
        full: usize,
        pitches: impl Iterator<Item = usize> + Clone,
        near: bool,
    ) -> Self {
        let widest = pitches.clone().max().unwrap_or(0);
        let group = (widest * rows).max(1);
        let short = group <= SHORT && (L::HOLDS_GROUP || full <= 2);
        let all = short || !near && widest <= WIDE && pitches.clone().all(is_spread);
        let pass = if all { GROUP } else { 2 };
        let row = full.max(1);
        let places =
            AHEAD.map(|bytes| bytes / 2 / (L::BLOCK * L::SIZE)).map(|n| Place { passes: n / row, blocks: n % row });
        // The hardware follows a single stream as long as nothing else of the row is in between.
        let near = near || group <= AHEAD[0];
        Self { rows: pass, near, places, stream: group <= SHORT, groups: if 2 * group <= TWO_GROUPS { 2 } else { 1 } }
    }

    /// The walk for tiles that have just been gathered.
    pub(crate) const GATHERED: Self =
        Self { rows: GROUP, near: true, places: [Place { passes: 0, blocks: 0 }; 2], stream: false, groups: 0 };

    /// Whether all rows of a group are taken at once.
    #[inline(always)]
    pub(crate) fn takes_all(&self) -> bool {
        self.rows == GROUP
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

    /// What to ask for with each of a group's rows, taken all at once, in the block `offset` bytes from their start.
    #[inline(always)]
    pub(crate) fn lines<L: Lanes, const FAR: bool>(&self, tensor: Grid, rows: usize, offset: usize) -> Lines {
        let line = L::BLOCK * L::SIZE;
        let [near, far, step] = if !FAR || self.stream {
            [AHEAD[0] + offset * rows, AHEAD[1] + offset * rows, line]
        } else {
            [offset + AHEAD_IN_ROW, offset + self.groups * rows * tensor.row, tensor.row]
        };
        Lines { near: tensor.base.wrapping_add(near), far: tensor.base.wrapping_add(far), step }
    }

    /// Asks for the lines some bytes behind an element.
    ///
    /// # Safety
    ///
    /// As for [`Lanes`]; any address will do.
    #[inline(always)]
    pub(crate) unsafe fn ask<L: Lanes>(&self, element: *const u8, [near, far]: [usize; 2]) {
        // SAFETY: any address will do.
        unsafe {
            L::prefetch(element.wrapping_add(near));
            if !self.near {
                L::prefetch_far(element.wrapping_add(far));
            }
        }
    }
}

/// Lines to ask for, one with each row.
pub(crate) struct Lines {
    near: *const u8,
    far: *const u8,
    step: usize,
}

impl Lines {
    /// Asks for the next.
    ///
    /// # Safety
    ///
    /// As for [`Lanes`].
    #[inline(always)]
    pub(crate) unsafe fn ask<L: Lanes, const FAR: bool>(&mut self) {
        // SAFETY: any address will do.
        unsafe {
            L::prefetch(self.near);
            self.near = self.near.wrapping_add(self.step);
            if FAR {
                L::prefetch_far(self.far);
                self.far = self.far.wrapping_add(self.step);
            }
        }
    }
}

/// Whether the rows of a group fall into different parts of a page, and so of the nearest cache.
#[inline(always)]
fn is_spread(pitch: usize) -> bool {
    (1..GROUP).all(|rows| {
        let behind = rows * pitch % PAGE;
        behind.min(PAGE - behind) >= APART
    })
}
