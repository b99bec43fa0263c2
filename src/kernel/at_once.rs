//! All rows of a group at once: its sums never leave the registers.

use super::line::{Buffers, Line};
use super::pack::Grid;
use super::rows::{Blocks, Group, Writes, accumulate};
use super::vector::{LINE, Lanes, MAX_STEPS};
use super::walk::{Lines, NONE};

/// A group over all blocks, with its sums in registers.
///
/// # Safety
///
/// As for [`super::rows::group`].
#[inline(always)]
pub(crate) unsafe fn at_once<L: Lanes, const INPUT: bool, const ORDER: u8>(group: &Group, blocks: Blocks) {
    // SAFETY: blocks and rows as the caller promises.
    unsafe {
        for index in 0..blocks.full {
            let sums = block_at_once::<L, INPUT, ORDER>(group, index);
            accumulate_block::<L, INPUT>(group, index, sums);
        }
        if blocks.tail > 0 {
            let sums = tail_at_once::<L, INPUT>(group, blocks);
            accumulate_block::<L, INPUT>(group, blocks.full, sums);
        }
    }
}

#[inline(always)]
unsafe fn accumulate_block<L: Lanes, const INPUT: bool>(group: &Group, index: usize, sums: [[L::Sums; MAX_STEPS]; 2]) {
    for u in 0..L::STEPS {
        let [of_products, of_plain] = group.accumulators.map(|sums| sums.wrapping_add(index * L::BLOCK + u * L::N));
        // SAFETY: the group's accumulators.
        unsafe {
            if INPUT {
                accumulate::<L>(of_products, sums[0][u], group.fresh);
            }
            accumulate::<L>(of_plain, sums[1][u], group.fresh);
        }
    }
}

/// All rows of a group in a full block of columns: writes grad_input and returns the sums of products and of grad_output.
///
/// # Safety
///
/// As for [`super::rows::group`].
#[inline(always)]
unsafe fn block_at_once<L: Lanes, const INPUT: bool, const ORDER: u8>(
    group: &Group,
    index: usize,
) -> [[L::Sums; MAX_STEPS]; 2] {
    let bytes = index * L::BLOCK * L::SIZE;
    // SAFETY: the caller's block.
    unsafe { full_block_at_once::<L, INPUT, ORDER>(group, bytes, group.scale.add(bytes)) }
}

/// The same for the columns behind the full blocks.
///
/// # Safety
///
/// As for [`super::rows::group`].
#[inline(always)]
unsafe fn tail_at_once<L: Lanes, const INPUT: bool>(group: &Group, blocks: Blocks) -> [[L::Sums; MAX_STEPS]; 2] {
    let column = blocks.full * L::BLOCK;
    // SAFETY: the caller's block.
    unsafe {
        let grids = [group.grad_output, group.input, group.grad_input];
        let mut buffers = Buffers::new();
        let inner = buffers.gather::<L, INPUT>(grids, group.rows, column, blocks.tail);
        let [grad_output, input, grad_input] = inner;
        let inner = Group { grad_output, input, grad_input, writes: Writes::Plain, ..*group };
        let sums = full_block_at_once::<L, INPUT, NONE>(&inner, 0, group.scale.add(column * L::SIZE));
        Buffers::scatter::<L>(grad_input, group.grad_input, group.rows, column, blocks.tail);
        sums
    }
}

#[inline(always)]
unsafe fn full_block_at_once<L: Lanes, const INPUT: bool, const ORDER: u8>(
    group: &Group,
    offset: usize,
    scale: *const u8,
) -> [[L::Sums; MAX_STEPS]; 2] {
    let step = L::N * L::SIZE;
    let streams = group.writes == Writes::Streamed;
    // SAFETY: the caller's block.
    unsafe {
        let mut factors = [L::load(scale); MAX_STEPS];
        for (u, factor) in factors.iter_mut().enumerate().take(L::STEPS) {
            *factor = L::load(scale.add(u * step));
        }
        let mut products = [L::no_sums(); MAX_STEPS];
        let mut plain = [L::no_sums(); MAX_STEPS];
        let mut g_row = group.grad_output.base.wrapping_add(offset);
        let mut x_row = group.input.base.wrapping_add(offset);
        let mut o_row = group.grad_input.base.wrapping_add(offset);
        let [mut g_lines, mut x_lines] = [(group.grad_output, group.later[0]), (group.input, group.later[1])]
            .map(|(tensor, later)| Lines::<ORDER>::new::<L>(tensor, group.rows, offset, later));
        // This stays a loop: unrolled, the compiler hoists all rows' loads and runs out of registers.
        for _ in 0..group.rows {
            g_lines.ask::<L>();
            if INPUT {
                x_lines.ask::<L>();
            }
            if !streams {
                L::prefetch_to_write(o_row.wrapping_add(L::BLOCK * L::SIZE));
            }
            for u in 0..L::STEPS {
                let g = L::load(g_row.add(u * step));
                if INPUT {
                    products[u] = L::add_product(products[u], g, L::load(x_row.add(u * step)));
                }
                plain[u] = L::add(plain[u], g);
                if !group.copies {
                    L::put(o_row.add(u * step), L::round(L::product(g, factors[u])), streams);
                }
            }
            if group.copies {
                L::copy_block(g_row, o_row, streams);
            }
            g_row = g_row.wrapping_add(group.grad_output.row);
            x_row = x_row.wrapping_add(group.input.row);
            o_row = o_row.wrapping_add(group.grad_input.row);
        }
        [products, plain]
    }
}

/// Samples whose rows are one group each.
#[derive(Clone, Copy)]
pub(crate) struct Samples {
    /// How many.
    pub count: usize,
    /// The first one's group.
    pub group: Group,
    /// The first one's rows of the gradients that are wanted.
    pub gradients: [Option<Grid>; 2],
    /// Bytes from sample to sample in grad_output, input and grad_input.
    pub steps: [usize; 3],
    /// The same for scale.
    pub scale_step: usize,
    /// The same for the gradients.
    pub gradient_steps: [usize; 2],
}

/// Groups that are all there is of their columns: sums go from the registers to the rows of the gradients.
///
/// # Safety
///
/// As for [`super::rows::group`], for each sample; the gradients' rows have the blocks' columns.
#[inline(always)]
pub(crate) unsafe fn only_groups<L: Lanes, const INPUT: bool, const ORDER: u8>(samples: &Samples, blocks: Blocks) {
    let Samples { mut group, mut gradients, .. } = *samples;
    for _ in 0..samples.count {
        // SAFETY: the caller's samples.
        unsafe { only_group::<L, INPUT, ORDER>(&group, blocks, gradients) }
        group.grad_output.base = group.grad_output.base.wrapping_add(samples.steps[0]);
        group.input.base = group.input.base.wrapping_add(samples.steps[1]);
        group.grad_input.base = group.grad_input.base.wrapping_add(samples.steps[2]);
        group.scale = group.scale.wrapping_add(samples.scale_step);
        for (row, step) in gradients.iter_mut().zip(samples.gradient_steps) {
            if let Some(row) = row {
                row.base = row.base.wrapping_add(step);
            }
        }
    }
}

#[inline(always)]
unsafe fn only_group<L: Lanes, const INPUT: bool, const ORDER: u8>(
    group: &Group,
    blocks: Blocks,
    gradients: [Option<Grid>; 2],
) {
    // SAFETY: the caller's group and rows.
    unsafe {
        let adjacent = gradients.iter().flatten().all(|row| row.column == L::SIZE);
        if group.rows == 1 && blocks.tail == 0 && adjacent {
            return only_row::<L, INPUT>(group, blocks.full, gradients.map(|row| row.map(|row| row.base)));
        }
        for index in 0..blocks.full {
            let sums = block_at_once::<L, INPUT, ORDER>(group, index);
            round_block::<L>(sums, gradients, index * L::BLOCK, L::BLOCK);
        }
        if blocks.tail > 0 {
            let sums = tail_at_once::<L, INPUT>(group, blocks);
            round_block::<L>(sums, gradients, blocks.full * L::BLOCK, blocks.tail);
        }
    }
}

/// A row that is all there is of its columns: element by element, since a sum of one product is that product.
///
/// # Safety
///
/// As for [`super::rows::group`]; the gradients have as many blocks, side by side.
#[inline(always)]
unsafe fn only_row<L: Lanes, const INPUT: bool>(group: &Group, blocks: usize, gradients: [Option<*mut u8>; 2]) {
    let step = L::N * L::SIZE;
    let [g, x, o] = [group.grad_output, group.input, group.grad_input].map(|grid| grid.base);
    let streams = group.writes == Writes::Streamed;
    let streamed =
        gradients.map(|row| group.streams_gradients && row.is_some_and(|row| row.addr().is_multiple_of(LINE)));
    // SAFETY: the caller's blocks.
    unsafe {
        for at in (0..blocks * L::STEPS).map(|index| index * step) {
            let values = L::load(g.add(at));
            let products = if INPUT { L::round(L::product(values, L::load(x.add(at)))) } else { L::round(values) };
            // Read before grad_scale or grad_shift may take its place.
            let result = L::round(L::product(values, L::load(group.scale.add(at))));
            if let (true, Some(to)) = (INPUT, gradients[0]) {
                L::put(to.add(at), products, streamed[0]);
            }
            if let Some(to) = gradients[1] {
                L::put(to.add(at), L::round(values), streamed[1]);
            }
            if !group.copies {
                L::put(o.add(at), result, streams);
            }
        }
        if group.copies {
            for at in (0..blocks).map(|index| index * L::BLOCK * L::SIZE) {
                L::copy_block(g.add(at), o.add(at), streams);
            }
        }
    }
}

/// Rounds a block's sums and writes them to the gradients that are wanted.
#[inline(always)]
unsafe fn round_block<L: Lanes>(
    sums: [[L::Sums; MAX_STEPS]; 2],
    gradients: [Option<Grid>; 2],
    column: usize,
    columns: usize,
) {
    for (sums, row) in sums.into_iter().zip(gradients) {
        let Some(row) = row else { continue };
        let to = row.right(column);
        let mut line = Line::new();
        let base = line.or::<L>(to, columns == L::BLOCK);
        // SAFETY: the caller's columns, or the line.
        unsafe {
            for (u, sums) in sums.into_iter().enumerate().take(L::STEPS) {
                L::round_sums(sums, base.add(u * L::N * L::SIZE));
            }
            line.write::<L>(base, to, columns);
        }
    }
}
