//! From shapes, strides and threads to loops: how a problem is cut into units that can run in any order.

use super::{ModulateBackward, View2, View3};

/// Rows whose sums are added up in one go: fixed by the contract.
pub(crate) const CHUNK: usize = 1024;
/// Rows of a group: fixed by the contract.
pub(crate) const GROUP: usize = 8;
/// Most columns of a tile: accumulators, totals and scale of a tile stay below 160 KiB.
pub(crate) const MAX_TILE: usize = 4096;
/// Fewest columns worth a tile of their own: narrower rows would be read in too small pieces.
const MIN_TILE: usize = 256;
/// Rows so few that setting up and rounding the accumulators is a good part of the work...
const SHORT: usize = 32;
/// ... and columns of a tile then: its accumulators stay in the nearest cache.
const SHORT_TILE: usize = 512;
/// Columns of a tile of which some view must be gathered.
const GATHERED_TILE: usize = 128;
/// Batch times hidden from which on batch and columns alone keep every thread busy.
const WIDE_ENOUGH: usize = 8192;
/// Units that each thread should find, so that a late or slow one costs little.
const UNITS_PER_THREAD: usize = 4;
/// Bytes in a cache line, and the alignment that streamed stores want.
const LINE: usize = 64;

/// Workspace that a problem of these dims needs, in bytes. See [`super::workspace_bytes`].
pub(crate) fn workspace_bytes(dims: [usize; 3], grad_scale: bool, grad_shift: bool) -> usize {
    let [batch, sequence, hidden] = dims;
    let columns = batch.saturating_mul(hidden);
    if sequence <= CHUNK || columns >= WIDE_ENOUGH {
        return 0;
    }
    let gradients = usize::from(grad_scale) + usize::from(grad_shift);
    // Dims of a real tensor can't overflow here: the product is less than 1/100 of its bytes.
    (gradients * size_of::<f64>()).saturating_mul(columns).saturating_mul(sequence.div_ceil(CHUNK))
}

/// How stores to grad_input are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stores {
    /// Past the caches where the tensors are too large for them anyway.
    Auto,
    /// Always through the caches.
    Plain,
    /// Past the caches wherever rows can be aligned.
    Streaming,
}

/// A problem cut into units.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// The problem, its dims perhaps relabelled.
    pub problem: ModulateBackward,
    /// Whether grad_input is stored past the caches.
    pub streaming: bool,
    /// Whether rows are so short that groups stand side by side.
    pub narrow: bool,
    /// Columns before grad_input's first line boundary, where that matters.
    pub head: usize,
    /// Columns per tile; the first tile has `head` more.
    pub tile: usize,
    /// Tiles per row.
    pub tiles: usize,
    /// Samples per unit.
    pub batch_step: usize,
    /// Chunks of rows per unit.
    pub chunk_step: usize,
    /// Chunks of rows in all.
    pub chunks: usize,
    /// Where chunk sums go while L is split; null while it is not.
    pub workspace: *mut u8,
    /// Number of units.
    pub units: usize,
}

// SAFETY: plain data; the addresses are the caller's, who promises that they may be used while the problem runs.
unsafe impl Sync for Plan {}

/// What one unit covers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unit {
    pub batch: (usize, usize),
    pub columns: (usize, usize),
    pub chunks: (usize, usize),
}

impl Plan {
    /// Cuts a problem for a number of threads. `block` is the kernel's number of columns per block.
    pub(crate) fn new(
        problem: &ModulateBackward,
        workspace: *mut u8,
        threads: usize,
        stores: Stores,
        block: usize,
    ) -> Self {
        let given = problem.dims;
        let problem = relabelled(problem);
        let [batch, sequence, hidden] = problem.dims;
        let size = problem.dtype.size();
        let chunks = sequence.div_ceil(CHUNK);

        let direct = problem.columns_adjacent();
        let wants_streaming = match stores {
            Stores::Auto => problem.traffic() > super::cpu::last_level_cache() / 4 * 3,
            Stores::Plain => false,
            Stores::Streaming => true,
        };
        let narrow = super::narrow::pays(sequence, hidden, size);
        // A head must fit into a block. Only the scalar tier has shorter ones, and no streamed stores either.
        let streams = block * size >= LINE;
        let head = if wants_streaming && direct && streams && !narrow { line_head(&problem) } else { None };
        let streaming = head.is_some();
        let head = head.unwrap_or(0);

        let max_tile = match sequence {
            _ if !direct => GATHERED_TILE,
            ..=SHORT => SHORT_TILE,
            _ => MAX_TILE,
        };
        let body = hidden.saturating_sub(head).max(1);
        let mut tiles = body.div_ceil(max_tile);
        let wanted = if threads == 1 { 1 } else { threads * UNITS_PER_THREAD };
        // Without sums there is nothing to keep, and any number of chunks is a unit.
        let no_sums = problem.grad_scale.is_none() && problem.grad_shift.is_none();
        let has_workspace = workspace_bytes(given, true, true) > 0 && !workspace.is_null();
        let can_split = threads > 1 && (no_sums || has_workspace);
        if batch * tiles < wanted {
            // Chunks first, where they can be shared out: they leave rows long, and long rows are read faster.
            let splits = if can_split { chunks } else { 1 };
            tiles = wanted.div_ceil(batch * splits).min(body.div_ceil(MIN_TILE)).max(tiles);
        }
        let tile = body.div_ceil(tiles).next_multiple_of(block.max(LINE / size));
        let tiles = body.div_ceil(tile);

        let chunk_step =
            if can_split && batch * tiles < wanted { chunks.div_ceil(wanted.div_ceil(batch * tiles)) } else { chunks };
        let splits = chunks.div_ceil(chunk_step);
        let batch_step = if threads == 1 { batch } else { batch.div_ceil((wanted * 2).div_ceil(tiles * splits)) };
        let units = batch.div_ceil(batch_step) * tiles * splits;
        let workspace = if splits > 1 && !no_sums { workspace } else { std::ptr::null_mut() };
        Self { problem, streaming, narrow, head, tile, tiles, batch_step, chunk_step, chunks, workspace, units }
    }

    /// What a unit covers. Neighbouring units are neighbours in memory.
    pub(crate) fn unit(&self, unit: usize) -> Unit {
        let [batch, _, hidden] = self.problem.dims;
        let (rest, tile) = (unit / self.tiles, unit % self.tiles);
        let splits = self.chunks.div_ceil(self.chunk_step);
        let (sample, split) = (rest / splits * self.batch_step, rest % splits * self.chunk_step);
        let column = if tile == 0 { 0 } else { self.head + tile * self.tile };
        Unit {
            batch: (sample, batch.min(sample + self.batch_step)),
            columns: (column, hidden.min(self.head + (tile + 1) * self.tile)),
            chunks: (split, self.chunks.min(split + self.chunk_step)),
        }
    }

    /// Address of the chunk sums of one gradient (0: grad_scale, 1: grad_shift) for columns from `column` on.
    ///
    /// # Safety
    ///
    /// Only while L is split, with indices within the dims.
    pub(crate) unsafe fn chunk_sums(&self, gradient: usize, b: usize, chunk: usize, column: usize) -> *mut u8 {
        let [batch, _, hidden] = self.problem.dims;
        // With one gradient only, its sums come first.
        let gradient = if self.problem.grad_scale.is_some() { gradient } else { 0 };
        let index = ((gradient * batch + b) * self.chunks + chunk) * hidden + column;
        // SAFETY: the workspace holds that many sums.
        unsafe { self.workspace.add(index * size_of::<f64>()) }
    }
}

impl ModulateBackward {
    /// Bytes of the three large tensors.
    pub(crate) fn traffic(&self) -> usize {
        let [batch, sequence, hidden] = self.dims;
        let tensors = 2 + usize::from(self.input.is_some());
        (batch * sequence * hidden).saturating_mul(self.dtype.size() * tensors)
    }

    /// Whether the columns of all three large tensors stand side by side.
    fn columns_adjacent(&self) -> bool {
        let adjacent = |view: &View3| view.stride[2] == 1;
        adjacent(&self.grad_output) && adjacent(&self.grad_input) && self.input.as_ref().is_none_or(adjacent)
    }

    fn map_views(&mut self, view3: impl Fn(&mut View3), view2: impl Fn(&mut View2)) {
        view3(&mut self.grad_output);
        view3(&mut self.grad_input);
        self.input.iter_mut().for_each(&view3);
        self.scale.iter_mut().for_each(&view2);
        self.grad_scale.iter_mut().for_each(&view2);
        self.grad_shift.iter_mut().for_each(&view2);
    }
}

/// The same problem with its dims named so that columns are many and adjacent where they can be. The order of summation
/// depends on L alone, so no bit changes.
fn relabelled(problem: &ModulateBackward) -> ModulateBackward {
    let mut problem = *problem;
    let [batch, _, hidden] = problem.dims;
    if hidden == 1 && batch > 1 {
        // One column per sample: the samples are the columns.
        problem.map_views(|view| view.stride.swap(0, 2), |view| view.stride.swap(0, 1));
        problem.dims.swap(0, 2);
    }
    let [batch, sequence, hidden] = problem.dims;
    // The stride of a dim of length 1 says nothing.
    problem.map_views(
        |view| {
            if batch == 1 {
                view.stride[0] = 0;
            }
            if sequence == 1 {
                view.stride[1] = 0;
            }
            if hidden == 1 {
                view.stride[2] = 1;
            }
        },
        |view| {
            if batch == 1 {
                view.stride[0] = 0;
            }
            if hidden == 1 {
                view.stride[1] = 1;
            }
        },
    );
    if sequence == 1 && batch > 1 && rows_follow(&problem) {
        // One row per sample, and the rows of all tensors follow each other: one long row.
        problem.dims = [1, 1, batch * hidden];
        problem.map_views(|view| view.stride[0] = 0, |view| view.stride[0] = 0);
    }
    problem
}

/// Whether each sample's only row begins where the one before ended, in all views.
fn rows_follow(problem: &ModulateBackward) -> bool {
    let hidden = problem.dims[2];
    let follows3 = |view: &View3| view.stride[0] == hidden * view.stride[2];
    let follows2 = |view: &View2| view.stride[0] == hidden * view.stride[1];
    follows3(&problem.grad_output)
        && follows3(&problem.grad_input)
        && problem.input.as_ref().is_none_or(follows3)
        && problem.scale.as_ref().is_none_or(follows2)
        && problem.grad_scale.as_ref().is_none_or(follows2)
        && problem.grad_shift.as_ref().is_none_or(follows2)
}

/// Columns before the first line boundary of grad_input's rows; `None` where rows differ in that.
fn line_head(problem: &ModulateBackward) -> Option<usize> {
    let size = problem.dtype.size();
    let address = problem.grad_input.base.addr();
    let pitch_aligned = |stride: usize| (stride * size).is_multiple_of(LINE);
    let [batch, row, _] = problem.grad_input.stride;
    let same = pitch_aligned(batch) && pitch_aligned(row) && address.is_multiple_of(size);
    let head = (LINE - address % LINE) % LINE / size;
    (same && problem.dims[2] >= head + LINE / size).then_some(head)
}
