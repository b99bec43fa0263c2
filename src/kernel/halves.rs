//! The 16-bit types on every vector instruction set: two vectors of `f32` hold the columns of a step.
//!
//! What differs by type are conversions and the columns' order. What differs by instruction set are the vectors, and the
//! functions that a tier's module has under these names: `splat`, `add`, `mul`, `fma` (a * b + c), `put`, `turned16`
//! (see [`super::vector::Lanes::turned`]), `accumulate_half` and `round_half_to_odd` (of the
//! accumulators of one vector).

/// Implements [`super::vector::Lanes`] for a 16-bit type.
macro_rules! sixteen_bit {
    (
        $name:ident: $vector:ty => $rounded:ty, $set:ty, one $one:literal, holds group $holds:literal,
        load $load:path, round products $products:path, round $round:path, slot $slot:path,
        turned $turned:ty, row $row:path, in order $order:path, in columns $columns:path
    ) => {
        impl Lanes for $name {
            const N: usize = 2 * Self::HALF;
            const SIZE: usize = 2;
            const STEPS: usize = LINE / (2 * Self::N);
            const ONE: u32 = $one;
            type Values = [$vector; 2];
            type Turned = $turned;
            type Rounded = $rounded;
            type Sums = [$vector; 2];
            type Set = $set;
            const HOLDS_GROUP: bool = $holds;

            #[inline(always)]
            unsafe fn load(from: *const u8) -> Self::Values {
                // SAFETY: the caller's elements.
                unsafe { $load(from) }
            }
            #[inline(always)]
            unsafe fn turned(from: *const u8) -> $turned {
                // SAFETY: the caller's elements.
                unsafe { turned16(from) }
            }
            #[inline(always)]
            unsafe fn turned_row(turned: &$turned, row: usize) -> Self::Values {
                // SAFETY: the CPU has the tier's instructions.
                unsafe { $row(turned, row) }
            }
            #[inline(always)]
            unsafe fn in_order(sums: Self::Sums) -> Self::Sums {
                // SAFETY: as above.
                unsafe { $order(sums) }
            }
            #[inline(always)]
            unsafe fn in_columns(sums: Self::Sums) -> Self::Sums {
                // SAFETY: as above.
                unsafe { $columns(sums) }
            }
            #[inline(always)]
            unsafe fn product(a: Self::Values, b: Self::Values) -> Self::Values {
                // SAFETY: the CPU has the tier's instructions.
                unsafe { [mul(a[0], b[0]), mul(a[1], b[1])] }
            }
            #[inline(always)]
            unsafe fn round(products: Self::Values) -> $rounded {
                // SAFETY: as above.
                unsafe { $products(products) }
            }
            #[inline(always)]
            unsafe fn put(to: *mut u8, values: $rounded, streamed: bool) {
                // SAFETY: the caller's elements.
                unsafe { put(to, values, streamed) }
            }
            #[inline(always)]
            unsafe fn no_sums() -> Self::Sums {
                // SAFETY: as above.
                unsafe { [splat(-0.0); 2] }
            }
            #[inline(always)]
            unsafe fn add_product(sums: Self::Sums, a: Self::Values, b: Self::Values) -> Self::Sums {
                // SAFETY: as above.
                unsafe { [fma(a[0], b[0], sums[0]), fma(a[1], b[1], sums[1])] }
            }
            #[inline(always)]
            unsafe fn add(sums: Self::Sums, a: Self::Values) -> Self::Sums {
                // SAFETY: as above.
                unsafe { [add(sums[0], a[0]), add(sums[1], a[1])] }
            }
            #[inline(always)]
            unsafe fn accumulate<const FRESH: bool>(accumulators: *mut f64, sums: Self::Sums) {
                // SAFETY: the caller's accumulators.
                unsafe {
                    accumulate_half::<FRESH>(accumulators, sums[0]);
                    accumulate_half::<FRESH>(accumulators.add(Self::HALF), sums[1]);
                }
            }
            #[inline(always)]
            unsafe fn finish(accumulators: *const f64, to: *mut u8) {
                // SAFETY: the caller's accumulators and elements.
                unsafe {
                    let high = round_half_to_odd(accumulators.add(Self::HALF));
                    Self::round_sums([round_half_to_odd(accumulators), high], to);
                }
            }
            #[inline(always)]
            unsafe fn round_sums(sums: Self::Sums, to: *mut u8) {
                // SAFETY: the caller's elements. Sums of one group are exact in `f32`.
                unsafe { put(to, $round(sums), false) }
            }
            #[inline(always)]
            fn slot(column: usize) -> usize {
                $slot(column, Self::N)
            }
            #[inline(always)]
            unsafe fn transpose_block(from: *const u8, from_pitch: usize, to: *mut u8, to_pitch: usize) {
                // SAFETY: the caller's 8 rows of 8 elements on both sides.
                unsafe { transpose_block16(from, from_pitch, to, to_pitch) }
            }
        }

        impl $name {
            /// Columns of one vector.
            const HALF: usize = size_of::<$vector>() / size_of::<f32>();
        }
    };
}
pub(crate) use sixteen_bit;

/// Columns in their own order.
#[inline(always)]
pub(crate) fn in_order(column: usize, _step: usize) -> usize {
    column
}

/// The even columns of a step, then the odd ones.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn even_first(column: usize, step: usize) -> usize {
    column / step * step + column % 2 * (step / 2) + column % step / 2
}
