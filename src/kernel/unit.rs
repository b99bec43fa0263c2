//! One unit of a plan: some samples, a tile of columns, all chunks of rows or some.
//!
//! ```text
//! for each sample:
//!     for each chunk of 1024 rows:
//!         for each group of 8 rows:                        (gathered into a tile first, where a view asks for it: source.rs)
//!             grad_input = grad_output * scale             (rows.rs, at_once.rs)
//!             chunk sums += group sums
//!         sums += chunk sums                               (into the workspace, where L is split)
//!     round sums -> grad_scale, grad_shift                 (by `reduce` in the end, where L is split)
//! ```

use super::along::{Along, GROUP_SUMS_BYTES};
use super::at_once::Samples;
use super::line::Line;
use super::narrow::Tile;
use super::one_group::Columns;
use super::pack::{self, Grid};
use super::plan::{CHUNK, GROUP, Layout, MAX_TILE, Plan, Unit};
use super::rows::{self, Blocks, Group, Writes};
use super::scratch::Scratch;
use super::source::{self, Source};
use super::vector::{Lanes, Set};
use super::walk::{LATER, NEAR, NONE, ROW_BY_ROW, STREAM, Walk};
use super::{ModulateBackward, View2};

/// Columns that a tile's arrays have room for: the largest tile in whole blocks. Not a multiple of a page of sums: arrays
/// that lie one behind the other begin in different sets of the nearest cache.
const ROOM: usize = MAX_TILE + 128;

/// Where a unit's arrays stand in its scratch. What is not used is never touched.
struct Arrays {
    scale: *mut u8,
    group_sums: [*mut u8; 2],
    chunk_sums: [*mut f64; 2],
    sums: [*mut f64; 2],
    /// Gathered tiles of the three tensors...
    tiles: [*mut u8; 3],
    /// ... or two rows of grad_input.
    rows: Grid,
    /// A row of grad_output and one of input, where all of theirs are the same.
    uniform: [*mut u8; 2],
}

impl Arrays {
    fn new<L: Lanes>(scratch: &mut Scratch) -> Self {
        const SUMS: usize = ROOM * size_of::<f64>();
        const SCALE: usize = ROOM * 4;
        const TILE: usize = source::TILE_BYTES;
        const { assert!(6 * SUMS + 3 * SCALE + 3 * TILE <= Scratch::BYTES && 2 * SCALE <= 3 * TILE) };
        const { assert!(size_of::<L::Sums>() <= L::N * size_of::<f64>() && GROUP_SUMS_BYTES <= SUMS) };
        let base = scratch.as_mut_ptr();
        let at = |offset: usize| base.wrapping_add(offset);
        let rows = 6 * SUMS;
        let tiles = rows + 3 * SCALE;
        Self {
            chunk_sums: [at(0).cast(), at(SUMS).cast()],
            sums: [at(2 * SUMS).cast(), at(3 * SUMS).cast()],
            group_sums: [at(4 * SUMS), at(5 * SUMS)],
            scale: at(rows),
            uniform: [at(rows + SCALE), at(rows + 2 * SCALE)],
            tiles: [at(tiles), at(tiles + TILE), at(tiles + 2 * TILE)],
            rows: Grid { base: at(tiles), row: SCALE, column: L::SIZE },
        }
    }
}

/// Runs one unit.
///
/// # Safety
///
/// The plan's addresses may be used, no other unit of the same number runs, and the CPU has the tier's instructions.
#[inline(always)]
pub(crate) unsafe fn run<L: Lanes, const INPUT: bool>(plan: &Plan, unit: usize, scratch: &mut Scratch) {
    let arrays = Arrays::new::<L>(scratch);
    let range = plan.unit(unit);
    let problem = &plan.problem;
    let blocks = Blocks::new::<L>(range.columns.1 - range.columns.0);
    // SAFETY: all indices come from the plan's dims; the arrays have room for a tile.
    unsafe {
        let source = Source::new::<L>(plan, arrays.tiles, arrays.uniform, &range);
        let walk =
            Walk::new::<L>(problem.dims[1].min(GROUP), blocks.full, source.pitches(), plan.near, source.gathered);
        let group = Group {
            rows: GROUP,
            grad_output: arrays.rows,
            input: arrays.rows,
            grad_input: arrays.rows,
            later: [0; 2],
            scale: arrays.scale,
            writes: match (plan.streaming, plan.aligned) {
                (false, _) => Writes::Plain,
                (true, true) => Writes::Streamed,
                (true, false) => Writes::Buffered(arrays.rows),
            },
            streams_gradients: plan.streaming_gradients,
            copies: problem.scale.is_none(),
            group_sums: arrays.group_sums,
            accumulators: arrays.chunk_sums,
            fresh: true,
        };
        if plan.one_group {
            run_columns::<L, INPUT>(plan, &range, &source, blocks, arrays.scale);
        } else if plan.chunks == 1 && problem.dims[1] <= GROUP {
            run_groups::<L, INPUT>(plan, &range, &source, &group, blocks, walk);
        } else {
            run_samples::<L, INPUT>(plan, &range, &source, &arrays, &group, blocks, walk);
        }
        if plan.streaming {
            L::Set::fence();
        }
    }
}

/// The samples of a unit, one after the other.
#[inline(always)]
unsafe fn run_samples<L: Lanes, const INPUT: bool>(
    plan: &Plan,
    range: &Unit,
    source: &Source,
    arrays: &Arrays,
    group: &Group,
    blocks: Blocks,
    walk: Walk,
) {
    let problem = &plan.problem;
    let (first, end) = range.columns;
    let room = blocks.count() * L::BLOCK;
    let whole = plan.workspace.is_null();
    let single = plan.chunks == 1;
    let copies = group.copies;
    // SAFETY: all indices come from the plan's dims; the arrays have room for a tile.
    unsafe {
        let narrow = if plan.narrow {
            // With rows shorter than a line, all but the first line of the arrays is free.
            let (adjacent, sums) = (plan.layouts == [Layout::Adjacent; 3], arrays.sums.map(|sums| sums.add(64)));
            Some(Tile::new(problem.dims[2], adjacent, arrays.tiles, arrays.scale.add(64), copies, sums))
        } else {
            None
        };
        for b in range.batch.0..range.batch.1 {
            let scale = scale_row::<L>(problem.scale.as_ref(), b, first, blocks, arrays.scale);
            let group = Group { scale, ..*group };
            source.enter::<L, INPUT>(b);
            if let Some(narrow) = &narrow {
                narrow.spread_scale::<L>(scale.cast_mut());
            }
            if whole && !single {
                clear(arrays.sums, room);
            }
            for chunk in range.chunks.0..range.chunks.1 {
                let mut rows = (chunk * CHUNK, problem.dims[1].min((chunk + 1) * CHUNK));
                if let Some(narrow) = &narrow {
                    clear(arrays.chunk_sums, room);
                    let views = [0, 1, 2].map(|tensor| source.grid(tensor, b, rows.0));
                    rows.0 += narrow.run::<L, INPUT>(views, rows.1 - rows.0, arrays.chunk_sums);
                }
                let first_row = if plan.narrow { usize::MAX } else { rows.0 };
                for start in (rows.0..rows.1).step_by(source.step) {
                    let count = source.step.min(rows.1 - start);
                    if plan.along {
                        let ([grad_output, input, grad_input], ahead) = source.place::<L, INPUT>(b, start, count);
                        L::Set::along::<L, INPUT>(&Along {
                            grad_output,
                            input,
                            grad_input,
                            ahead,
                            scale,
                            rows: count,
                            columns: end - first,
                            copies,
                            streamed: plan.streaming,
                            near: plan.near,
                            group_sums: arrays.group_sums.map(<*mut u8>::cast),
                            accumulators: arrays.chunk_sums,
                            fresh: start == first_row,
                        });
                        continue;
                    }
                    let (tile, later) = source.gather::<L, INPUT>(b, start, count);
                    let group = Group { later, ..group };
                    for row in (0..count).step_by(GROUP) {
                        let fresh = start + row == first_row;
                        rows::group::<L, INPUT>(&group.of(tile, row, GROUP.min(count - row), fresh), blocks, walk);
                    }
                    source.scatter::<L>(tile[2], b, start, count);
                }
                if single {
                    // One chunk's sums are the sums.
                    break;
                }
                for gradient in gradients(problem) {
                    if whole {
                        add_sums(arrays.sums[gradient], arrays.chunk_sums[gradient], room);
                    } else {
                        let to = plan.chunk_sums(gradient, b, chunk, first);
                        save_sums::<L>(arrays.chunk_sums[gradient], blocks, to);
                    }
                }
            }
            if whole {
                let sums = if single { arrays.chunk_sums } else { arrays.sums };
                finish::<L>(gradient_rows::<L>(problem, b, first), blocks, sums);
            }
        }
    }
}

/// The samples of a unit where each has one group of rows. Those that are used where they are need nothing in between.
#[inline(always)]
unsafe fn run_groups<L: Lanes, const INPUT: bool>(
    plan: &Plan,
    range: &Unit,
    source: &Source,
    group: &Group,
    blocks: Blocks,
    walk: Walk,
) {
    let problem = &plan.problem;
    let (rows, first) = (problem.dims[1], range.columns.0);
    let scale = problem.scale.as_ref().filter(|scale| is_used_in_place(scale, blocks));
    let (count, steps, scale_step) = match (source.sample_steps(), scale) {
        (Some(steps), Some(scale)) => (range.batch.1 - range.batch.0, steps, scale.stride[0] * L::SIZE),
        _ => (1, [0; 3], 0),
    };
    let gradient_steps =
        [&problem.grad_scale, &problem.grad_shift].map(|view| view.as_ref().map_or(0, |view| view.stride[0] * L::SIZE));
    for b in (range.batch.0..range.batch.1).step_by(count) {
        // SAFETY: all indices come from the plan's dims.
        unsafe {
            let scale = scale_row::<L>(problem.scale.as_ref(), b, first, blocks, group.scale.cast_mut());
            source.enter::<L, INPUT>(b);
            let (tile, later) = source.gather::<L, INPUT>(b, 0, rows);
            let group = Group { scale, later, ..*group }.of(tile, 0, rows, true);
            let gradients = gradient_rows::<L>(problem, b, first);
            let samples = Samples { count, group, gradients, steps, scale_step, gradient_steps };
            match walk.order {
                NONE => L::Set::only_groups::<L, INPUT, NONE>(&samples, blocks),
                LATER => L::Set::only_groups::<L, INPUT, LATER>(&samples, blocks),
                NEAR => L::Set::only_groups::<L, INPUT, NEAR>(&samples, blocks),
                STREAM => L::Set::only_groups::<L, INPUT, STREAM>(&samples, blocks),
                _ => L::Set::only_groups::<L, INPUT, ROW_BY_ROW>(&samples, blocks),
            }
            source.scatter::<L>(tile[2], b, 0, rows);
        }
    }
}

/// The samples of a unit where columns of one group follow each other.
#[inline(always)]
unsafe fn run_columns<L: Lanes, const INPUT: bool>(
    plan: &Plan,
    range: &Unit,
    source: &Source,
    blocks: Blocks,
    scale: *mut u8,
) {
    let problem = &plan.problem;
    let (first, end) = range.columns;
    for b in range.batch.0..range.batch.1 {
        // SAFETY: all indices come from the plan's dims; the array has room for a tile.
        unsafe {
            let scale = match &problem.scale {
                Some(view) => scale_row::<L>(Some(view), b, first, blocks, scale),
                None => std::ptr::null(),
            };
            L::Set::one_group::<L, INPUT>(&Columns {
                tensors: [0, 1, 2].map(|tensor| source.grid(tensor, b, 0).base),
                scale,
                gradients: gradient_rows::<L>(problem, b, first),
                columns: end - first,
                streamed: plan.streaming,
                near: plan.near,
            });
        }
    }
}

/// Adds up the chunk sums of a plan that splits L, and writes the gradients.
///
/// # Safety
///
/// As for [`run`], and all units have run.
#[inline(always)]
pub(crate) unsafe fn reduce<L: Lanes>(plan: &Plan, scratch: &mut Scratch) {
    let arrays = Arrays::new::<L>(scratch);
    for (first, end) in plan.tiles() {
        let blocks = Blocks::new::<L>(end - first);
        for b in 0..plan.problem.dims[0] {
            // SAFETY: all indices come from the plan's dims; the arrays have room for a tile.
            unsafe {
                clear(arrays.sums, blocks.count() * L::BLOCK);
                for chunk in 0..plan.chunks {
                    for gradient in gradients(&plan.problem) {
                        let from = plan.chunk_sums(gradient, b, chunk, first);
                        add_saved_sums::<L>(from, blocks, arrays.sums[gradient]);
                    }
                }
                finish::<L>(gradient_rows::<L>(&plan.problem, b, first), blocks, arrays.sums);
            }
        }
    }
}

/// The gradients that are wanted: 0 is grad_scale, 1 is grad_shift.
#[inline(always)]
fn gradients(problem: &ModulateBackward) -> std::ops::Range<usize> {
    usize::from(problem.grad_scale.is_none())..1 + usize::from(problem.grad_shift.is_some())
}

/// The scale of a tile's columns, in blocks: where it is if that will do, else a copy of it. 1 where there is none, though
/// no product is used then.
#[inline(always)]
unsafe fn scale_row<L: Lanes>(
    scale: Option<&View2>,
    b: usize,
    first: usize,
    blocks: Blocks,
    room: *mut u8,
) -> *const u8 {
    let columns = blocks.full * L::BLOCK + blocks.tail;
    // SAFETY: the tile's columns, and the caller's array.
    unsafe {
        let one = L::ONE.to_le_bytes();
        let from = match scale {
            Some(view) if is_used_in_place(view, blocks) => return view_row::<L>(view, b, first).base,
            Some(view) => view_row::<L>(view, b, first),
            None => Grid { base: one.as_ptr().cast_mut(), row: 0, column: 0 },
        };
        pack::copy_row::<L>(from, Grid { base: room, row: 0, column: L::SIZE }, columns);
    }
    room
}

/// Whether a tile's scale is read where it is: whole blocks of adjacent columns.
#[inline(always)]
fn is_used_in_place(scale: &View2, blocks: Blocks) -> bool {
    scale.stride[1] == 1 && blocks.tail == 0
}

/// A row of a view [B, D] from a column on.
#[inline(always)]
unsafe fn view_row<L: Lanes>(view: &View2, b: usize, column: usize) -> Grid {
    // SAFETY: an element of the view.
    let base = unsafe { view.base.add((b * view.stride[0] + column * view.stride[1]) * L::SIZE) };
    Grid { base, row: 0, column: view.stride[1] * L::SIZE }
}

/// Makes all sums -0.0: the start that changes no first term.
#[inline(always)]
unsafe fn clear(sums: [*mut f64; 2], room: usize) {
    for sums in sums {
        for i in 0..room {
            // SAFETY: the caller's array.
            unsafe { sums.add(i).write(-0.0) }
        }
    }
}

#[inline(always)]
unsafe fn add_sums(sums: *mut f64, more: *const f64, room: usize) {
    for i in 0..room {
        // SAFETY: the caller's arrays.
        unsafe { *sums.add(i) += *more.add(i) }
    }
}

/// Writes a tile's chunk sums into the workspace, which has no alignment and no room but for the columns themselves.
#[inline(always)]
unsafe fn save_sums<L: Lanes>(sums: *const f64, blocks: Blocks, to: *mut u8) {
    for block in 0..blocks.count() {
        let (column, columns) = blocks.columns::<L>(block);
        for i in 0..columns {
            // SAFETY: the caller's array and the tile's columns in the workspace. A full block keeps its own order there.
            unsafe {
                let slot = if columns == L::BLOCK { i } else { L::slot(i) };
                let to = to.add((column + i) * size_of::<f64>()).cast::<f64>();
                to.write_unaligned(sums.add(block * L::BLOCK + slot).read());
            }
        }
    }
}

/// Adds what [`save_sums`] wrote.
#[inline(always)]
unsafe fn add_saved_sums<L: Lanes>(from: *const u8, blocks: Blocks, sums: *mut f64) {
    for block in 0..blocks.count() {
        let (column, columns) = blocks.columns::<L>(block);
        for i in 0..columns {
            // SAFETY: as in `save_sums`.
            unsafe {
                let slot = if columns == L::BLOCK { i } else { L::slot(i) };
                let from = from.add((column + i) * size_of::<f64>()).cast::<f64>();
                *sums.add(block * L::BLOCK + slot) += from.read_unaligned();
            }
        }
    }
}

/// The rows of grad_scale and grad_shift of a sample from a column on, where they are wanted.
#[inline(always)]
unsafe fn gradient_rows<L: Lanes>(problem: &ModulateBackward, b: usize, first: usize) -> [Option<Grid>; 2] {
    // SAFETY: an element of each view.
    [&problem.grad_scale, &problem.grad_shift]
        .map(|view| view.as_ref().map(|view| unsafe { view_row::<L>(view, b, first) }))
}

/// Rounds a tile's sums and writes them to the rows of the gradients that are wanted.
#[inline(always)]
unsafe fn finish<L: Lanes>(rows: [Option<Grid>; 2], blocks: Blocks, sums: [*mut f64; 2]) {
    for (row, sums) in rows.into_iter().zip(sums) {
        let Some(row) = row else { continue };
        for block in 0..blocks.count() {
            let (column, columns) = blocks.columns::<L>(block);
            let to = row.right(column);
            let mut line = Line::new();
            let base = line.or::<L>(to, columns == L::BLOCK);
            // SAFETY: the caller's arrays and the tile's columns.
            unsafe {
                for u in 0..L::STEPS {
                    L::finish(sums.add(block * L::BLOCK + u * L::N), base.add(u * L::N * L::SIZE));
                }
                line.write::<L>(base, to, columns);
            }
        }
    }
}
