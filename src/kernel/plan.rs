//! From shapes, strides and threads to loops: how a problem is cut into units that can run in any order.

use super::source::{self, Turned};
use super::vector::LINE;
use super::{ModulateBackward, View2, View3};

/// Rows whose sums are added up in one go: fixed by the contract.
pub(crate) const CHUNK: usize = 1024;
/// Rows of a group: fixed by the contract.
pub(crate) const GROUP: usize = 8;
/// Most columns of a tile. A tile narrower than a row costs up to a quarter more time; one of this width keeps its sums in
/// 260 KiB.
pub(crate) const MAX_TILE: usize = 5120;
/// Fewest columns worth a tile of their own: narrower rows would be read in too small pieces.
const MIN_TILE: usize = 256;
/// Bytes of the three large tensors that stay in the nearest caches.
const NEAR_BYTES: usize = 1 << 20;
/// Most bytes of a last-level cache that a core reaches faster than memory: larger ones are spread over the many cores of a
/// server, and for each of them no faster.
const MOST_NEAR: usize = 64 << 20;
/// Batch times hidden from which on batch and columns alone keep every thread busy.
const WIDE_ENOUGH: usize = 8192;
/// Units that each thread should find, so that a late or slow one costs little.
const UNITS_PER_THREAD: usize = 4;

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

/// Where the three large tensors are while a problem runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Residence {
    /// Where their size says.
    BySize,
    /// In the caches: grad_input is stored there too.
    Caches,
    /// In the last-level cache at best: grad_input is stored past the caches, wherever rows can be aligned.
    LastLevel,
    /// In memory: as before, and FLOAT is computed in registers of half the width where that is faster. Where L is 1,
    /// gradients are stored past the caches too.
    Memory,
}

impl Residence {
    /// All but [`Residence::BySize`].
    pub const ALL: [Self; 3] = [Self::Caches, Self::LastLevel, Self::Memory];

    /// This, or what the problem's size says: never [`Residence::BySize`].
    pub(crate) fn of(self, problem: &ModulateBackward, threads: usize) -> Self {
        let last_level = super::cpu::last_level_cache();
        // Where rows are shorter than a line, or columns apart, arithmetic is what takes the time wherever the tensors are.
        let [_, sequence, hidden] = problem.dims;
        let in_lines = problem.grad_output.stride[2] == 1 && hidden * problem.dtype.size() >= LINE;
        // Threads that write parts of the same rows take the lines around their borders from each other's caches, in which the
        // prefetchers have a share: columns of one sample took two threads 1.7 times as long as past the caches.
        let caches = match threads {
            2.. if !problem.has_rows_for(threads) => 0,
            _ if last_level <= MOST_NEAR => last_level / 8,
            _ => threads * super::cpu::second_cache(),
        };
        // Three tensors in six are written where L is 1, and half of them in a cache is more than a stream past it gives.
        let cached = if sequence == 1 { 2 * last_level.min(MOST_NEAR) } else { last_level };
        match (self, problem.bytes()) {
            (Self::BySize, bytes) if bytes <= caches => Self::Caches,
            (Self::BySize, bytes) if bytes <= cached || !in_lines => Self::LastLevel,
            (Self::BySize, _) => Self::Memory,
            (given, _) => given,
        }
    }
}

/// A problem cut into units.
///
/// A unit is one tile of columns of one item; an item is some samples, or some chunks of rows of one sample. Items that would
/// leave threads idle at the end are cut into narrower tiles than the others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// The problem, its dims perhaps relabelled.
    pub problem: ModulateBackward,
    /// Whether grad_input is stored past the caches.
    pub streaming: bool,
    /// Whether gradients are too where they are as large.
    pub streaming_gradients: bool,
    /// Whether all rows of grad_input begin at a line boundary.
    pub aligned: bool,
    /// Whether everything stays in the nearest caches.
    pub near: bool,
    /// How grad_output, input and grad_input lie.
    pub layouts: [Layout; 3],
    /// Whether columns are walked along L, as grad_output and grad_input lie.
    pub along: bool,
    /// Whether input is walked so too, where it lies; otherwise it is gathered.
    pub along_input: bool,
    /// The tiles of tensors that run along L.
    pub turned: Turned,
    /// Whether columns of a single group follow each other along L, in all three tensors.
    pub one_group: bool,
    /// Whether rows are so short that groups stand side by side.
    pub narrow: bool,
    /// Samples per item.
    batch_step: usize,
    /// Chunks of rows per item.
    chunk_step: usize,
    /// Chunks of rows in all.
    pub chunks: usize,
    /// How the first `wide` items are cut, and the others.
    wide: usize,
    cuts: [Cut; 2],
    /// Where chunk sums go while L is split; null while it is not.
    pub workspace: *mut u8,
    /// Number of units.
    pub units: usize,
}

/// How one of the large tensors lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Columns side by side.
    Adjacent,
    /// One value for all rows and columns of a sample.
    Uniform,
    /// Rows closer together than columns.
    Turned,
    /// Columns apart.
    Stepped,
}

impl Layout {
    fn of(view: &View3, hidden: usize) -> Self {
        match view.stride {
            [_, 1, _] if hidden == 1 => Self::Turned,
            [_, _, 1] => Self::Adjacent,
            [_, 0, 0] => Self::Uniform,
            [_, row, column] if row < column && row > 0 => Self::Turned,
            _ => Self::Stepped,
        }
    }

    /// Whether it goes by way of tiles.
    pub(crate) fn is_gathered(self) -> bool {
        matches!(self, Self::Turned | Self::Stepped)
    }
}

/// Rows cut into tiles.
#[derive(Clone, Copy, Debug)]
struct Cut {
    /// Columns per tile.
    tile: usize,
    /// Tiles per row.
    tiles: usize,
}

impl Cut {
    /// About as many tiles as wanted, of whole blocks and lines.
    fn new(hidden: usize, wanted: usize, block: usize, size: usize) -> Self {
        let tile = hidden.div_ceil(wanted).next_multiple_of(block.max(LINE / size));
        Self { tile, tiles: hidden.div_ceil(tile) }
    }

    fn columns(self, tile: usize, hidden: usize) -> (usize, usize) {
        (tile * self.tile, hidden.min((tile + 1) * self.tile))
    }
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
    /// Cuts a problem for a number of threads. `residence`: other than by size. `block`: the kernel's number of columns per block.
    pub(crate) fn new(
        problem: &ModulateBackward,
        workspace: *mut u8,
        threads: usize,
        residence: Residence,
        block: usize,
    ) -> Self {
        let given = problem.dims;
        let problem = relabelled(problem);
        let [batch, sequence, hidden] = problem.dims;
        let size = problem.dtype.size();
        let chunks = sequence.div_ceil(CHUNK);
        let layouts = problem.layouts();
        let rows_adjacent = [problem.grad_output, problem.grad_input].iter().all(|view| view.stride[1] == 1);
        let both_turned = layouts[0] == Layout::Turned && layouts[2] == Layout::Turned;
        let along = rows_adjacent && both_turned && sequence > GROUP;
        let input = problem.input.as_ref().unwrap_or(&problem.grad_output);
        let along_input = along && layouts[1] == Layout::Turned && input.stride[1] == 1;
        let one_group = sequence == GROUP
            && hidden > 1
            && [&problem.grad_output, input, &problem.grad_input].iter().all(|view| view.stride[1..] == [1, GROUP]);
        let narrow = !along && !one_group && super::narrow::pays(sequence, hidden, size);
        let to_gather = layouts.iter().filter(|layout| layout.is_gathered()).count();
        let gathered = to_gather > 0;
        let turned = Turned::of(along, to_gather);
        let aligned = rows_aligned(&problem);
        // Rows that begin anywhere go by way of a buffer, which stands where gathered tiles do.
        let streams = along || one_group || layouts[2] == Layout::Adjacent && (aligned || !gathered);
        // The scalar tier's blocks are shorter than a line, and it has no streamed stores either.
        let streaming = residence != Residence::Caches && streams && !narrow && block * size >= LINE;

        let max_tile = match () {
            () if one_group || along_input && chunks == 1 => MAX_TILE,
            // Chunk by chunk of a few columns: what the hardware prefetches behind a chunk will be wanted soon.
            () if along_input => LINE / size,
            () if layouts.contains(&Layout::Turned) && sequence <= GROUP => source::TURNED_GROUP_WIDTH / size,
            () if layouts.contains(&Layout::Turned) => turned.width / size,
            () if layouts.contains(&Layout::Stepped) => source::STEPPED_TILE,
            () => MAX_TILE,
        };
        let wide_cut = Cut::new(hidden, hidden.div_ceil(max_tile), block, size);
        let wanted = if threads == 1 { 1 } else { threads * UNITS_PER_THREAD };
        // Without sums there is nothing to keep, and any number of chunks is a unit.
        let no_sums = problem.grad_scale.is_none() && problem.grad_shift.is_none();
        let has_workspace = workspace_bytes(given, true, true) > 0 && !workspace.is_null();
        let can_split = threads > 1 && (no_sums || has_workspace);
        let tiles = batch * wide_cut.tiles;
        let chunk_step = if can_split && tiles < wanted { chunks.div_ceil(wanted.div_ceil(tiles)) } else { chunks };
        let splits = chunks.div_ceil(chunk_step);
        let batch_step =
            if threads == 1 { batch } else { batch.div_ceil((wanted * 2).div_ceil(wide_cut.tiles * splits)) };
        let items = batch.div_ceil(batch_step) * splits;
        // Rows are read faster whole. So each thread gets as many whole items as the others, and what is left is cut.
        let left = if items * wide_cut.tiles < wanted * 2 { items % threads } else { 0 };
        let wide = items - left;
        let most = hidden.div_ceil(MIN_TILE).max(wide_cut.tiles);
        let narrow_cut = if left == 0 {
            wide_cut
        } else {
            Cut::new(hidden, threads.div_ceil(left).max(wide_cut.tiles).min(most), block, size)
        };
        let cuts = [wide_cut, narrow_cut];
        Self {
            problem,
            streaming,
            streaming_gradients: streaming && residence == Residence::Memory,
            aligned,
            near: problem.traffic() <= NEAR_BYTES,
            layouts,
            along,
            along_input,
            turned,
            one_group,
            narrow,
            batch_step,
            chunk_step,
            chunks,
            wide,
            cuts,
            workspace: if splits > 1 && !no_sums { workspace } else { std::ptr::null_mut() },
            units: wide * wide_cut.tiles + left * narrow_cut.tiles,
        }
    }

    /// What a unit covers. Neighbouring units are neighbours in memory.
    pub(crate) fn unit(&self, unit: usize) -> Unit {
        let [batch, _, hidden] = self.problem.dims;
        let [wide_cut, narrow_cut] = self.cuts;
        let wide_units = self.wide * wide_cut.tiles;
        let (first, unit, cut) =
            if unit < wide_units { (0, unit, wide_cut) } else { (self.wide, unit - wide_units, narrow_cut) };
        let (item, tile) = (first + unit / cut.tiles, unit % cut.tiles);
        let splits = self.chunks.div_ceil(self.chunk_step);
        let (sample, split) = (item / splits * self.batch_step, item % splits * self.chunk_step);
        Unit {
            batch: (sample, batch.min(sample + self.batch_step)),
            columns: cut.columns(tile, hidden),
            chunks: (split, self.chunks.min(split + self.chunk_step)),
        }
    }

    /// Columns of the widest tiles, one after the other.
    pub(crate) fn tiles(&self) -> impl Iterator<Item = (usize, usize)> {
        let (cut, hidden) = (self.cuts[0], self.problem.dims[2]);
        (0..cut.tiles).map(move |tile| cut.columns(tile, hidden))
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

    /// Bytes of all tensors: those with one row per sample count where L is small.
    fn bytes(&self) -> usize {
        let [batch, _, hidden] = self.dims;
        let tensors = [self.scale.is_some(), self.grad_scale.is_some(), self.grad_shift.is_some()];
        let rows: usize = tensors.into_iter().map(usize::from).sum();
        self.traffic().saturating_add((batch * hidden).saturating_mul(self.dtype.size() * rows))
    }

    /// Whether each of so many threads gets rows of its own: samples, or chunks where L is split. A single row has no
    /// neighbours.
    pub(crate) fn has_rows_for(&self, threads: usize) -> bool {
        let [batch, sequence, _] = self.dims;
        let splits = workspace_bytes(self.dims, true, true) > 0;
        batch >= threads || sequence == 1 || splits && sequence.div_ceil(CHUNK) >= threads
    }

    /// How the large tensors that are used lie.
    fn layouts(&self) -> [Layout; 3] {
        [&self.grad_output, self.input.as_ref().unwrap_or(&self.grad_output), &self.grad_input]
            .map(|view| Layout::of(view, self.dims[2]))
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

/// Whether every row of grad_input begins at a line boundary.
fn rows_aligned(problem: &ModulateBackward) -> bool {
    let [batch, row, _] = problem.grad_input.stride;
    let pitch_aligned = |stride: usize| (stride * problem.dtype.size()).is_multiple_of(LINE);
    problem.grad_input.base.addr().is_multiple_of(LINE) && pitch_aligned(batch) && pitch_aligned(row)
}
