//! Where the groups of rows come from and go to: straight from the views, or by way of tiles.
//!
//! - A view whose columns are adjacent is used where it is.
//! - One that has the same value all over a sample (an expanded gradient of a sum, say) becomes one row of that value.
//! - Of any other, some rows at a time are gathered into a tile with adjacent columns. Where a view runs along L, a tile is
//!   some rows of few columns; where its columns are merely apart, it is a group of rows of many.
//! - Where grad_output and grad_input both run along L, so does the walk, and at most input is gathered: see `along`.

use super::View3;
use super::pack::{self, Grid};
use super::plan::{CHUNK, GROUP, Layout, Plan, Unit};
use super::vector::{LINE, Lanes, Set};

/// How much of a view that runs along L a tile takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turned {
    /// Rows of a tile.
    rows: usize,
    /// Bytes of a row.
    pub(crate) width: usize,
}

impl Turned {
    /// Where two tensors have adjacent columns, whose rows are read in pieces of this width. 64 rows are two lines or more of
    /// every column of the third: of a single one, the hardware fetches the second too, and in vain.
    const ONE: Self = Self { rows: 64, width: 2048 };
    /// Where one has, and two tiles have to stay in the cache.
    const TWO: Self = Self { rows: 64, width: 1024 };
    /// The same where only input is gathered, by a walk along L, which wants long columns.
    const INPUT: Self = Self { rows: 256, width: 256 };

    /// Bytes of a tile that keeps columns together, of a type with 16 bits: of others it is smaller.
    const fn bytes(self) -> usize {
        self.width / 2 * (self.rows * 2 + LINE)
    }

    /// `along`: the walk is along L. `tiles`: how many tensors are gathered.
    pub(crate) fn of(along: bool, tiles: usize) -> Self {
        match tiles {
            _ if along => Self::INPUT,
            0 | 1 => Self::ONE,
            _ => Self::TWO,
        }
    }
}

/// The same where there is only one group of rows.
pub(crate) const TURNED_GROUP_WIDTH: usize = 2048;
/// Columns of a tile of a view whose columns are apart: long runs of it are what the prefetchers follow.
pub(crate) const STEPPED_TILE: usize = 512;
/// Bytes of the largest tile. Rows, or the columns of those that keep columns together, are a line longer than they need so as
/// to fall into different sets of the cache.
pub(crate) const TILE_BYTES: usize = 132 << 10;
const _: () = assert!(GROUP * (STEPPED_TILE * 4 + LINE) <= TILE_BYTES);
const _: () = assert!(Turned::ONE.rows * (Turned::ONE.width + LINE) <= TILE_BYTES);
const _: () = assert!(Turned::INPUT.bytes() <= 3 * TILE_BYTES);
const _: () = assert!(GROUP * (TURNED_GROUP_WIDTH + LINE) <= TILE_BYTES);

/// The three large tensors' part of one unit.
pub(crate) struct Source {
    views: [View3; 3],
    layouts: [Layout; 3],
    size: usize,
    /// The unit's first column, and how many.
    first: usize,
    columns: usize,
    /// The unit's last sample, and its first row and end in each.
    last: usize,
    rows: (usize, usize),
    tiles: [*mut u8; 3],
    uniform: [*mut u8; 2],
    /// Bytes from row to row of a tile, or from column to column of one that keeps columns together.
    pitch: usize,
    /// With a walk along L: whether input is not gathered.
    along_input: bool,
    /// Whether some view is gathered.
    pub gathered: bool,
    /// Rows that are taken in one go.
    pub step: usize,
}

impl Source {
    /// `tiles` and `uniform` are room for tiles and for rows.
    #[inline(always)]
    pub(crate) fn new<L: Lanes>(plan: &Plan, tiles: [*mut u8; 3], uniform: [*mut u8; 2], unit: &Unit) -> Self {
        let problem = &plan.problem;
        let input = problem.input.unwrap_or(problem.grad_output);
        let views = [problem.grad_output, input, problem.grad_input];
        let layouts = plan.layouts;
        let [g, x, o] = tiles;
        // A gathered grad_input takes the place of grad_output in its tile.
        let tiles = [g, x, if layouts[0].is_gathered() { g } else { o }];
        let (first, end) = unit.columns;
        let columns = end - first;
        let stepped = layouts.contains(&Layout::Stepped);
        let turned = plan.turned;
        let gathered = stepped || layouts.contains(&Layout::Turned);
        Self {
            views,
            layouts,
            size: L::SIZE,
            first,
            columns,
            last: unit.batch.1 - 1,
            rows: (unit.chunks.0 * CHUNK, problem.dims[1].min(unit.chunks.1 * CHUNK)),
            tiles,
            uniform,
            pitch: match () {
                () if plan.along => turned.rows * L::SIZE + LINE,
                () => (columns * L::SIZE).next_multiple_of(LINE) + LINE,
            },
            along_input: plan.along_input,
            gathered,
            step: match () {
                () if plan.along_input => CHUNK,
                () if plan.along => turned.rows,
                () if stepped => GROUP,
                () if gathered => turned.rows,
                () => CHUNK,
            },
        }
    }

    /// Bytes from row to row in each tensor, or in its tile. One that is the same all over has no rows.
    #[inline(always)]
    pub(crate) fn pitches(&self) -> impl Iterator<Item = usize> + Clone {
        self.views.iter().zip(self.layouts).filter_map(|(view, layout)| match layout {
            Layout::Adjacent => Some(view.stride[1] * self.size),
            Layout::Uniform => None,
            Layout::Turned | Layout::Stepped => Some(self.pitch),
        })
    }

    /// The view from a row of a sample and the tile's first column on.
    #[inline(always)]
    pub(crate) unsafe fn grid(&self, tensor: usize, b: usize, row: usize) -> Grid {
        let View3 { base, stride } = self.views[tensor];
        let offset = b * stride[0] + row * stride[1] + self.first * stride[2];
        // SAFETY: an element of the view.
        let base = unsafe { base.add(offset * self.size) };
        Grid { base, row: stride[1] * self.size, column: stride[2] * self.size }
    }

    /// Bytes from sample to sample of each tensor, if all are used where they are.
    #[inline(always)]
    pub(crate) fn sample_steps(&self) -> Option<[usize; 3]> {
        let direct = self.layouts == [Layout::Adjacent; 3];
        direct.then(|| [0, 1, 2].map(|tensor: usize| self.views[tensor].stride[0] * self.size))
    }

    /// Makes ready for the rows of a sample.
    #[inline(always)]
    pub(crate) unsafe fn enter<L: Lanes, const INPUT: bool>(&self, b: usize) {
        for tensor in 0..1 + usize::from(INPUT) {
            if self.layouts[tensor] == Layout::Uniform {
                let to = Grid { base: self.uniform[tensor], row: 0, column: L::SIZE };
                // SAFETY: an element of the view, and room for a row.
                unsafe { pack::copy_row::<L>(self.grid(tensor, b, 0), to, self.columns) }
            }
        }
    }

    /// The sample and row that are gathered after the rows before `end` of a sample.
    #[inline(always)]
    fn next(&self, b: usize, end: usize) -> (usize, usize) {
        if end < self.rows.1 { (b, end) } else { (self.last.min(b + 1), self.rows.0) }
    }

    /// The three tensors' elements of some rows, with adjacent rows, and how many bytes behind grad_output and input come those
    /// that are wanted next.
    #[inline(always)]
    pub(crate) unsafe fn place<L: Lanes, const INPUT: bool>(
        &self,
        b: usize,
        start: usize,
        count: usize,
    ) -> ([Grid; 3], [usize; 2]) {
        // SAFETY: rows and columns within the dims; a tile has room for them.
        unsafe {
            let mut grids = [0, 1, 2].map(|tensor| self.grid(tensor, b, start));
            let next = self.next(b, start + count);
            let mut ahead = [0, 1]
                .map(|tensor| self.grid(tensor, next.0, next.1).base.addr().wrapping_sub(grids[tensor].base.addr()));
            if INPUT && !self.along_input {
                let tile = Grid { base: self.tiles[0], row: L::SIZE, column: self.pitch };
                L::Set::copy::<L>(grids[1], tile, count, self.columns, ahead[1]);
                // The next ones will stand in the same place.
                (grids[1], ahead[1]) = (tile, 0);
            }
            (grids, ahead)
        }
    }

    /// The three tensors' elements of some rows, with adjacent columns, and how many bytes behind grad_output and input come
    /// those that the walk shall ask for.
    #[inline(always)]
    pub(crate) unsafe fn gather<L: Lanes, const INPUT: bool>(
        &self,
        b: usize,
        start: usize,
        count: usize,
    ) -> ([Grid; 3], [usize; 2]) {
        // SAFETY: rows and columns within the dims; a tile has room for them.
        unsafe {
            let mut grids = [self.grid(0, b, start), self.grid(1, b, start), self.grid(2, b, start)];
            let mut later = [0; 3];
            let next = self.next(b, start + count);
            for (tensor, grid) in grids.iter_mut().enumerate() {
                let ahead = self.grid(tensor, next.0, next.1).base.addr().wrapping_sub(grid.base.addr());
                let layout = self.layouts[tensor];
                let read = tensor == 0 || tensor == 1 && INPUT;
                let adjacent = self.gathered && layout == Layout::Adjacent;
                if adjacent && L::HOLDS_GROUP {
                    later[tensor] = ahead;
                } else if adjacent && read || layout == Layout::Stepped {
                    // Rows in pieces are no walk that the hardware follows. A line that is written in part is read too.
                    ask_for::<L>(*grid, count, self.columns, ahead);
                }
                match layout {
                    Layout::Adjacent => {}
                    Layout::Uniform => *grid = Grid { base: self.uniform[tensor % 2], row: 0, column: L::SIZE },
                    Layout::Turned | Layout::Stepped => {
                        let view = *grid;
                        *grid = Grid { base: self.tiles[tensor], row: self.pitch, column: L::SIZE };
                        if read {
                            L::Set::copy::<L>(view, *grid, count, self.columns, ahead);
                        }
                    }
                }
            }
            (grids, [later[0], later[1]])
        }
    }

    /// Writes grad_input back where it was computed in a tile.
    #[inline(always)]
    pub(crate) unsafe fn scatter<L: Lanes>(&self, tile: Grid, b: usize, start: usize, count: usize) {
        if self.layouts[2].is_gathered() {
            // SAFETY: as in `gather`.
            unsafe { L::Set::copy::<L>(tile, self.grid(2, b, start), count, self.columns, 0) }
        }
    }
}

/// Asks for the lines `ahead` bytes behind those of some rows, into the second-nearest cache.
///
/// # Safety
///
/// The grid has the rows and columns.
#[inline(always)]
unsafe fn ask_for<L: Lanes>(grid: Grid, rows: usize, columns: usize, ahead: usize) {
    for row in 0..rows {
        for bytes in (0..columns * grid.column).step_by(LINE.max(grid.column)) {
            // SAFETY: the caller's; any address will do.
            unsafe { L::prefetch_far(grid.at(row, 0).wrapping_add(ahead).wrapping_add(bytes)) }
        }
    }
}
