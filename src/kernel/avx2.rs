//! The AVX2 tier (with FMA and F16C).

use std::arch::asm;
use std::arch::x86_64::*;
use std::arch::x86_64::{_mm256_add_ps as add, _mm256_fmadd_ps as fma, _mm256_mul_ps as mul, _mm256_set1_ps as splat};
use std::marker::PhantomData;

use super::along::{self, Along};
use super::at_once::{self, Samples};
use super::halves::{even_first, in_order, sixteen_bit};
use super::one_group::{self, Columns};
use super::pack::{self, Grid};
use super::plan::{GROUP, Plan};
use super::rows::{self, Blocks, Group};
use super::scratch::Scratch;
use super::unit;
use super::vector::{LINE, Lanes, Set, loops};
use super::walk::Walk;

/// FLOAT: 8 columns; sums in two registers of four `f64`. With the loops of this set, or of one that has it and more registers.
#[derive(Clone, Copy)]
pub(crate) struct F32<S>(PhantomData<S>);
/// FLOAT16: 16 columns; sums in two registers of eight `f32`.
#[derive(Clone, Copy)]
pub(crate) struct F16;
/// BFLOAT16: 16 columns, kept as the 8 even ones and the 8 odd ones: taking them apart and putting them together again
/// costs a shift and a blend, while widening in order and packing costs shuffles across the register.
#[derive(Clone, Copy)]
pub(crate) struct Bf16;

/// Eight `f32` as loaded, and as two halves of `f64`. What is not used is never computed.
#[derive(Clone, Copy)]
pub(crate) struct Widened {
    all: __m256,
    low: __m256d,
    high: __m256d,
}

/// What all types share.
#[derive(Clone, Copy)]
pub(crate) struct Avx2;

impl Set for Avx2 {
    loops!(#[target_feature(enable = "avx2,fma,f16c")]);

    #[inline(always)]
    unsafe fn prefetch(address: *const u8) {
        // SAFETY: a prefetch reads nothing that the program can see, wherever it points.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) }
    }
    #[inline(always)]
    unsafe fn prefetch_far(address: *const u8) {
        // SAFETY: a prefetch reads nothing that the program can see, wherever it points.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(address.cast()) }
    }
    #[inline(always)]
    unsafe fn prefetch_to_write(address: *const u8) {
        // SAFETY: a prefetch changes nothing that the program can see, wherever it points. CPUs that don't
        // have the instruction take it for one that does nothing.
        unsafe { asm!("prefetchw [{}]", in(reg) address, options(nostack, preserves_flags, readonly)) }
    }
    #[inline(always)]
    unsafe fn copy_line(from: *const u8, to: *mut u8, streamed: bool) {
        // SAFETY: the caller's 64 bytes.
        unsafe {
            let low = _mm256_loadu_si256(from.cast());
            let high = _mm256_loadu_si256(from.add(32).cast());
            put(to, low, streamed);
            put(to.add(32), high, streamed);
        }
    }
    #[inline(always)]
    unsafe fn add_groups(from: *const f64, pitch: usize, groups: usize, totals: &mut [f64; 8]) {
        // SAFETY: the caller's sums.
        unsafe {
            let mut total = [_mm256_loadu_pd(totals.as_ptr()), _mm256_loadu_pd(totals.as_ptr().add(4))];
            let whole = groups / 4 * 4;
            for group in (0..whole).step_by(4) {
                for sums in turned_sums(from.add(group), pitch) {
                    total = [_mm256_add_pd(total[0], sums[0]), _mm256_add_pd(total[1], sums[1])];
                }
            }
            if whole < groups {
                for sums in turned_sums(from.add(whole), pitch).into_iter().take(groups - whole) {
                    total = [_mm256_add_pd(total[0], sums[0]), _mm256_add_pd(total[1], sums[1])];
                }
            }
            _mm256_storeu_pd(totals.as_mut_ptr(), total[0]);
            _mm256_storeu_pd(totals.as_mut_ptr().add(4), total[1]);
        }
    }
    #[inline(always)]
    unsafe fn fence() {
        // SAFETY: every x86-64 has it.
        unsafe { _mm_sfence() }
    }
}

impl<S: Set> Lanes for F32<S> {
    const N: usize = 8;
    const SIZE: usize = 4;
    const STEPS: usize = 2;
    const ONE: u32 = 0x3f80_0000;
    type Values = Widened;
    type Turned = [__m256; GROUP];
    type Rounded = __m256i;
    type Sums = [__m256d; 2];
    type Set = S;
    const HOLDS_GROUP: bool = true;

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Widened {
        let from = from.cast::<f32>();
        // SAFETY: the caller's 8 elements. Widening straight from memory saves the shuffle that would bring the upper half
        // down.
        unsafe {
            Widened {
                all: _mm256_loadu_ps(from),
                low: _mm256_cvtps_pd(_mm_loadu_ps(from)),
                high: _mm256_cvtps_pd(_mm_loadu_ps(from.add(4))),
            }
        }
    }
    #[inline(always)]
    unsafe fn turned(from: *const u8) -> Self::Turned {
        // SAFETY: the caller's 8 groups.
        unsafe {
            let at = |group: usize, row: usize| _mm_loadu_ps(from.wrapping_add(32 * group + 4 * row).cast());
            let mut rows = [_mm256_setzero_ps(); GROUP];
            for half in [0, 4] {
                // Groups i and i + 4 share a register.
                let mut groups = [_mm256_setzero_ps(); 4];
                for (i, register) in groups.iter_mut().enumerate() {
                    *register = _mm256_insertf128_ps::<1>(_mm256_castps128_ps256(at(i, half)), at(i + 4, half));
                }
                rows[half..half + 4].copy_from_slice(&transpose_lanes(groups));
            }
            rows
        }
    }
    #[inline(always)]
    unsafe fn turned_row(turned: &Self::Turned, row: usize) -> Widened {
        let line = turned[row];
        // SAFETY: the tier has AVX2.
        unsafe {
            let low = _mm256_cvtps_pd(_mm256_castps256_ps128(line));
            Widened { all: line, low, high: _mm256_cvtps_pd(_mm256_extractf128_ps::<1>(line)) }
        }
    }
    #[inline(always)]
    unsafe fn round(products: Widened) -> __m256i {
        // SAFETY: the tier has AVX2.
        unsafe { _mm256_castps_si256(products.all) }
    }
    #[inline(always)]
    unsafe fn put(to: *mut u8, values: __m256i, streamed: bool) {
        // SAFETY: the caller's 8 elements.
        unsafe { put(to, values, streamed) }
    }
    #[inline(always)]
    unsafe fn product(a: Widened, b: Widened) -> Widened {
        // SAFETY: the tier has AVX2.
        unsafe { Widened { all: _mm256_mul_ps(a.all, b.all), low: a.low, high: a.high } }
    }
    #[inline(always)]
    unsafe fn no_sums() -> Self::Sums {
        // SAFETY: the tier has AVX2.
        unsafe { [_mm256_set1_pd(-0.0); 2] }
    }
    #[inline(always)]
    unsafe fn add_product(sums: Self::Sums, a: Widened, b: Widened) -> Self::Sums {
        // SAFETY: the tier has FMA.
        unsafe { [_mm256_fmadd_pd(a.low, b.low, sums[0]), _mm256_fmadd_pd(a.high, b.high, sums[1])] }
    }
    #[inline(always)]
    unsafe fn add(sums: Self::Sums, a: Widened) -> Self::Sums {
        // SAFETY: the tier has AVX2.
        unsafe { [_mm256_add_pd(sums[0], a.low), _mm256_add_pd(sums[1], a.high)] }
    }
    #[inline(always)]
    unsafe fn accumulate<const FRESH: bool>(accumulators: *mut f64, sums: Self::Sums) {
        // SAFETY: the caller's 8 accumulators.
        unsafe {
            accumulate4::<FRESH>(accumulators, sums[0]);
            accumulate4::<FRESH>(accumulators.add(4), sums[1]);
        }
    }
    #[inline(always)]
    unsafe fn finish(accumulators: *const f64, to: *mut u8) {
        // SAFETY: the caller's 8 accumulators and elements.
        unsafe { Self::round_sums([_mm256_loadu_pd(accumulators), _mm256_loadu_pd(accumulators.add(4))], to) }
    }
    #[inline(always)]
    unsafe fn round_sums([low, high]: Self::Sums, to: *mut u8) {
        // SAFETY: the caller's 8 elements.
        unsafe { _mm256_storeu_ps(to.cast(), _mm256_set_m128(_mm256_cvtpd_ps(high), _mm256_cvtpd_ps(low))) }
    }
    #[inline(always)]
    unsafe fn transpose_block(from: *const u8, from_pitch: usize, to: *mut u8, to_pitch: usize) {
        // SAFETY: the caller's 8 rows of 8 elements on both sides.
        unsafe {
            let mut rows = [_mm256_setzero_ps(); 8];
            for (i, row) in rows.iter_mut().enumerate() {
                *row = _mm256_loadu_ps(from.add(i * from_pitch).cast());
            }
            // Rows i and i + 4 exchange halves; then each 4 x 4 quarter is transposed within its lane.
            for i in 0..4 {
                let (a, b) = (rows[i], rows[i + 4]);
                rows[i] = _mm256_permute2f128_ps::<0x20>(a, b);
                rows[i + 4] = _mm256_permute2f128_ps::<0x31>(a, b);
            }
            for j in 0..2 {
                let out = transpose_lanes([rows[4 * j], rows[4 * j + 1], rows[4 * j + 2], rows[4 * j + 3]]);
                for (i, column) in out.into_iter().enumerate() {
                    _mm256_storeu_ps(to.add((4 * j + i) * to_pitch).cast(), column);
                }
            }
        }
    }
}

sixteen_bit! {
    F16: __m256 => __m256i, Avx2, one 0x3c00, holds group false,
    load load_f16, round products f16_line, round f16_line, slot in_order,
    turned Pairs, row f16_row, in order f16_in_order, in columns f16_in_order
}
sixteen_bit! {
    Bf16: __m256 => __m256i, Avx2, one 0x3f80, holds group false,
    load load_bf16, round products bf16_products, round bf16_pairs, slot even_first,
    turned Pairs, row bf16_row, in order bf16_in_order, in columns bf16_in_columns
}

#[inline(always)]
unsafe fn load_f16(from: *const u8) -> [__m256; 2] {
    // SAFETY: the caller's 16 elements.
    unsafe {
        let low = _mm256_cvtph_ps(_mm_loadu_si128(from.cast()));
        [low, _mm256_cvtph_ps(_mm_loadu_si128(from.add(16).cast()))]
    }
}

#[inline(always)]
unsafe fn load_bf16(from: *const u8) -> [__m256; 2] {
    // SAFETY: the caller's 16 elements.
    unsafe { even_and_odd(_mm256_loadu_si256(from.cast())) }
}

/// Even columns, and odd ones.
#[inline(always)]
unsafe fn even_and_odd(pairs: __m256i) -> [__m256; 2] {
    // SAFETY: the tier has AVX2.
    unsafe {
        let even = _mm256_slli_epi32::<16>(pairs);
        let odd = _mm256_and_si256(pairs, _mm256_set1_epi32(0xffff_0000_u32 as i32));
        [_mm256_castsi256_ps(even), _mm256_castsi256_ps(odd)]
    }
}

/// Adds four sums to four accumulators, or makes them these.
#[inline(always)]
unsafe fn accumulate4<const FRESH: bool>(accumulators: *mut f64, sums: __m256d) {
    // SAFETY: the caller's 4 accumulators.
    unsafe {
        let sums = if FRESH { sums } else { _mm256_add_pd(_mm256_loadu_pd(accumulators), sums) };
        _mm256_storeu_pd(accumulators, sums);
    }
}

/// Widens eight sums and adds them to eight accumulators.
#[inline(always)]
unsafe fn accumulate_half<const FRESH: bool>(accumulators: *mut f64, sums: __m256) {
    // SAFETY: the caller's 8 accumulators.
    unsafe {
        accumulate4::<FRESH>(accumulators, _mm256_cvtps_pd(_mm256_castps256_ps128(sums)));
        accumulate4::<FRESH>(accumulators.add(4), _mm256_cvtps_pd(_mm256_extractf128_ps::<1>(sums)));
    }
}

/// Eight accumulators rounded to odd: see [`super::element::f64_to_f32_odd`].
#[inline(always)]
unsafe fn round_half_to_odd(accumulators: *const f64) -> __m256 {
    // SAFETY: the caller's 8 accumulators.
    unsafe { _mm256_set_m128(round_to_odd4(accumulators.add(4)), round_to_odd4(accumulators)) }
}

#[inline(always)]
unsafe fn round_to_odd4(accumulators: *const f64) -> __m128 {
    // SAFETY: the caller's 4 accumulators.
    unsafe {
        let value = _mm256_loadu_pd(accumulators);
        let nearest = _mm256_cvtpd_ps(value);
        let back = _mm256_cvtps_pd(nearest);
        let sign = _mm256_set1_pd(-0.0);
        let away = _mm256_cmp_pd::<_CMP_GT_OQ>(_mm256_andnot_pd(sign, back), _mm256_andnot_pd(sign, value));
        let inexact = _mm256_cmp_pd::<_CMP_NEQ_OQ>(back, value);
        // A mask is -1: adding it takes one off.
        let bits = _mm_add_epi32(_mm_castps_si128(nearest), narrow_mask(away));
        _mm_castsi128_ps(_mm_or_si128(bits, _mm_srli_epi32::<31>(narrow_mask(inexact))))
    }
}

/// Four masks of 64 bits to four of 32.
#[inline(always)]
unsafe fn narrow_mask(mask: __m256d) -> __m128i {
    // SAFETY: the tier has AVX2.
    unsafe {
        let mask = _mm256_castpd_ps(mask);
        let low = _mm256_castps256_ps128(mask);
        _mm_castps_si128(_mm_shuffle_ps::<0x88>(low, _mm256_extractf128_ps::<1>(mask)))
    }
}

/// Writes 32 bytes; past the caches if told, and then they are aligned.
#[inline(always)]
unsafe fn put(to: *mut u8, values: __m256i, streamed: bool) {
    // SAFETY: the caller's 32 bytes.
    unsafe {
        if streamed {
            _mm256_stream_si256(to.cast(), values);
        } else {
            _mm256_storeu_si256(to.cast(), values);
        }
    }
}

/// Rounds 16 columns to binary16.
#[inline(always)]
unsafe fn f16_line(values: [__m256; 2]) -> __m256i {
    // SAFETY: the tier has F16C.
    unsafe {
        let low = _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(values[0]);
        let high = _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(values[1]);
        _mm256_set_m128i(high, low)
    }
}

/// Rounds products of bfloat16. No care for NaN: one that comes from elements has no payload in the lower half, so that
/// rounding leaves it what it is.
#[inline(always)]
unsafe fn bf16_products(values: [__m256; 2]) -> __m256i {
    // SAFETY: the tier has AVX2.
    unsafe {
        let [even, odd] = values;
        _mm256_blend_epi16::<0xaa>(_mm256_srli_epi32::<16>(bf16_bits(even)), bf16_bits(odd))
    }
}

/// Rounds even and odd columns to bfloat16 and puts them side by side: see [`super::element::f32_to_bf16`].
#[inline(always)]
unsafe fn bf16_pairs(values: [__m256; 2]) -> __m256i {
    // SAFETY: the tier has AVX2.
    unsafe {
        let [even, odd] = values;
        let mut rounded = [bf16_bits(even), bf16_bits(odd)];
        // NaN would wrap to zero or be cut to infinity. There is hardly ever one, so one test for all 16 and a jump cost
        // less than choosing in each.
        if _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_UNORD_Q>(even, odd)) != 0 {
            rounded = [keep_nan(even, rounded[0]), keep_nan(odd, rounded[1])];
        }
        _mm256_blend_epi16::<0xaa>(_mm256_srli_epi32::<16>(rounded[0]), rounded[1])
    }
}

/// Rounded bits in the upper halves; wrong for NaN.
#[inline(always)]
unsafe fn bf16_bits(values: __m256) -> __m256i {
    // SAFETY: the tier has AVX2.
    unsafe {
        let bits = _mm256_castps_si256(values);
        let odd = _mm256_and_si256(_mm256_srli_epi32::<16>(bits), _mm256_set1_epi32(1));
        _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), odd)
    }
}

#[inline(always)]
unsafe fn keep_nan(values: __m256, rounded: __m256i) -> __m256i {
    // SAFETY: the tier has AVX2.
    unsafe {
        let quiet = _mm256_or_si256(_mm256_castps_si256(values), _mm256_set1_epi32(0x40_0000));
        let nan = _mm256_cmp_ps::<_CMP_UNORD_Q>(values, values);
        _mm256_castps_si256(_mm256_blendv_ps(_mm256_castsi256_ps(rounded), _mm256_castsi256_ps(quiet), nan))
    }
}

/// Four sums of each of eight columns: the first of each, the second of each...
#[inline(always)]
unsafe fn turned_sums(from: *const f64, pitch: usize) -> [[__m256d; 2]; 4] {
    // SAFETY: the caller's sums.
    unsafe {
        let at = |column: usize, pair: usize| _mm_loadu_pd(from.add(column * pitch + pair));
        let mut groups = [[_mm256_setzero_pd(); 2]; 4];
        for half in [0, 1] {
            for pair in [0, 2] {
                // Pairs of columns i and i + 2 share a register.
                let both = |i: usize| _mm256_set_m128d(at(4 * half + i + 2, pair), at(4 * half + i, pair));
                let (even, odd) = (both(0), both(1));
                groups[pair][half] = _mm256_unpacklo_pd(even, odd);
                groups[pair + 1][half] = _mm256_unpackhi_pd(even, odd);
            }
        }
        groups
    }
}

/// Transposes, in each lane of 128 bits, 4 x 4 elements across four registers.
#[inline(always)]
unsafe fn transpose_lanes([a, b, c, d]: [__m256; 4]) -> [__m256; 4] {
    // SAFETY: the tier has AVX2.
    unsafe {
        let (ab_low, ab_high) = (_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
        let (cd_low, cd_high) = (_mm256_unpacklo_ps(c, d), _mm256_unpackhi_ps(c, d));
        [
            _mm256_shuffle_ps::<0x44>(ab_low, cd_low),
            _mm256_shuffle_ps::<0xee>(ab_low, cd_low),
            _mm256_shuffle_ps::<0x44>(ab_high, cd_high),
            _mm256_shuffle_ps::<0xee>(ab_high, cd_high),
        ]
    }
}

/// Twice eight groups, turned as pairs of elements: rows 2 i and 2 i + 1 of them share the i-th register. Each half has first
/// its even groups, then the odd ones.
type Pairs = [[__m256i; 4]; 2];

/// See [`Lanes::turned`]: 16 groups.
#[inline(always)]
unsafe fn turned16(from: *const u8) -> Pairs {
    // SAFETY: the caller's 16 groups.
    unsafe {
        let at = |line: usize| _mm256_loadu_ps(from.wrapping_add(32 * line).cast());
        let halves = [transpose_lanes([at(0), at(1), at(2), at(3)]), transpose_lanes([at(4), at(5), at(6), at(7)])];
        // The same registers, taken for integers.
        std::mem::transmute::<[[__m256; 4]; 2], Pairs>(halves)
    }
}

/// A row of bfloat16: of the first half's groups, and of the second's.
#[inline(always)]
unsafe fn bf16_row(groups: &Pairs, row: usize) -> [__m256; 2] {
    // SAFETY: the tier has AVX2.
    unsafe { [even_and_odd(groups[0][row / 2])[row % 2], even_and_odd(groups[1][row / 2])[row % 2]] }
}

/// Sums of such rows, one group after the other.
#[inline(always)]
unsafe fn bf16_in_order(halves: [__m256; 2]) -> [__m256; 2] {
    // Even groups are in the lower half of a register, odd ones in the upper.
    // SAFETY: the tier has AVX2.
    unsafe {
        let order = _mm256_set_epi32(7, 3, 6, 2, 5, 1, 4, 0);
        [_mm256_permutevar8x32_ps(halves[0], order), _mm256_permutevar8x32_ps(halves[1], order)]
    }
}

/// The same, even groups first.
#[inline(always)]
unsafe fn bf16_in_columns([first, second]: [__m256; 2]) -> [__m256; 2] {
    // SAFETY: the tier has AVX2.
    unsafe { [_mm256_permute2f128_ps::<0x20>(first, second), _mm256_permute2f128_ps::<0x31>(first, second)] }
}

/// A row of binary16: groups of the halves in turns, so that both are widened together.
#[inline(always)]
unsafe fn f16_row([first, second]: &Pairs, row: usize) -> [__m256; 2] {
    // SAFETY: the tier has F16C and AVX2.
    unsafe {
        let (first, second) = (first[row / 2], second[row / 2]);
        let both = if row.is_multiple_of(2) {
            _mm256_blend_epi16::<0xaa>(first, _mm256_slli_epi32::<16>(second))
        } else {
            _mm256_blend_epi16::<0xaa>(_mm256_srli_epi32::<16>(first), second)
        };
        [_mm256_cvtph_ps(_mm256_castsi256_si128(both)), _mm256_cvtph_ps(_mm256_extracti128_si256::<1>(both))]
    }
}

/// Sums of such rows, the first half's groups and then the second's: there are even groups in one register and odd ones in the
/// other.
#[inline(always)]
unsafe fn f16_in_order([even, odd]: [__m256; 2]) -> [__m256; 2] {
    // SAFETY: the tier has AVX2.
    unsafe {
        [_mm256_blend_ps::<0xaa>(even, _mm256_moveldup_ps(odd)), _mm256_blend_ps::<0xaa>(_mm256_movehdup_ps(even), odd)]
    }
}

/// Eight rows of eight 16-bit elements.
///
/// # Safety
///
/// As for [`Lanes::transpose_block`].
#[inline(always)]
pub(super) unsafe fn transpose_block16(from: *const u8, from_pitch: usize, to: *mut u8, to_pitch: usize) {
    // SAFETY: the caller's 8 rows of 8 elements on both sides.
    unsafe {
        let mut rows = [_mm_setzero_si128(); 8];
        for (i, row) in rows.iter_mut().enumerate() {
            *row = _mm_loadu_si128(from.add(i * from_pitch).cast());
        }
        // Three rounds of interleaving rows that are 4 apart: each element's row number moves into its position, bit by bit.
        for _ in 0..3 {
            let previous = rows;
            for i in 0..4 {
                rows[2 * i] = _mm_unpacklo_epi16(previous[i], previous[i + 4]);
                rows[2 * i + 1] = _mm_unpackhi_epi16(previous[i], previous[i + 4]);
            }
        }
        for (i, column) in rows.into_iter().enumerate() {
            _mm_storeu_si128(to.add(i * to_pitch).cast(), column);
        }
    }
}
