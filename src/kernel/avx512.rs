//! The AVX-512 tier (F, BW, DQ and VL).
//!
//! One step is a whole line of a row, so a row's block is one load, one product and one store of 64 bytes. Conversions from
//! `f32` to BFLOAT16 are done in integers: the instructions that there are for it on some CPUs flush subnormals to zero.

use std::arch::x86_64::*;
use std::arch::x86_64::{_mm512_add_ps as add, _mm512_fmadd_ps as fma, _mm512_mul_ps as mul, _mm512_set1_ps as splat};

use super::along::{self, Along};
use super::at_once::{self, Samples};
use super::avx2::{self, Avx2, transpose_block16};
use super::halves::{even_first, in_order, sixteen_bit};
use super::one_group::{self, Columns};
use super::pack::{self, Grid};
use super::plan::{GROUP, Plan};
use super::rows::{self, Blocks, Group};
use super::scratch::Scratch;
use super::unit;
use super::vector::{LINE, Lanes, Set, loops};
use super::walk::Walk;

/// FLOAT: 16 columns; sums in two registers of eight `f64`.
#[derive(Clone, Copy)]
pub(crate) struct F32;
/// FLOAT16: 32 columns; sums in two registers of sixteen `f32`.
#[derive(Clone, Copy)]
pub(crate) struct F16;
/// BFLOAT16: 32 columns, kept as the 16 even ones and the 16 odd ones: taking them apart and putting them together again
/// costs a shift and a blend, while widening in order and packing costs shuffles across the register.
#[derive(Clone, Copy)]
pub(crate) struct Bf16;

/// Sixteen `f32` as loaded, and as two halves of `f64`. What is not used is never computed.
#[derive(Clone, Copy)]
pub(crate) struct Widened {
    all: __m512,
    low: __m512d,
    high: __m512d,
}

/// What all types share.
#[derive(Clone, Copy)]
pub(crate) struct Avx512;

impl Set for Avx512 {
    loops!(#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")]);

    #[inline(always)]
    unsafe fn prefetch(address: *const u8) {
        // SAFETY: any address will do.
        unsafe { Avx2::prefetch(address) }
    }
    #[inline(always)]
    unsafe fn prefetch_far(address: *const u8) {
        // SAFETY: any address will do.
        unsafe { Avx2::prefetch_far(address) }
    }
    #[inline(always)]
    unsafe fn prefetch_to_write(address: *const u8) {
        // SAFETY: any address will do.
        unsafe { Avx2::prefetch_to_write(address) }
    }
    #[inline(always)]
    unsafe fn copy_line(from: *const u8, to: *mut u8, streamed: bool) {
        // SAFETY: the caller's 64 bytes.
        unsafe { put(to, _mm512_loadu_si512(from.cast()), streamed) }
    }
    #[inline(always)]
    unsafe fn copy_seconds(from: *const u8, to: *mut u8, columns: usize, size: usize, gathers: bool) -> usize {
        let whole = columns / 16 * 16;
        for i in (0..whole).step_by(16) {
            let (near, far) = (i * size, 2 * i * size);
            // SAFETY: the caller's 16 elements; masked loads and stores touch nothing else.
            unsafe {
                match (size, gathers) {
                    (4, true) => {
                        let even = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
                        let low = _mm512_maskz_loadu_epi32(0x5555, from.add(far).cast());
                        let high = _mm512_maskz_loadu_epi32(0x5555, from.add(far + 64).cast());
                        _mm512_storeu_si512(to.add(near).cast(), _mm512_permutex2var_epi32(low, even, high));
                    }
                    (4, false) => {
                        let low = _mm512_cvtepu32_epi64(_mm256_loadu_si256(from.add(near).cast()));
                        let high = _mm512_cvtepu32_epi64(_mm256_loadu_si256(from.add(near + 32).cast()));
                        _mm512_mask_storeu_epi32(to.add(far).cast(), 0x5555, low);
                        _mm512_mask_storeu_epi32(to.add(far + 64).cast(), 0x5555, high);
                    }
                    (_, true) => {
                        let pairs = _mm512_maskz_loadu_epi16(0x5555_5555, from.add(far).cast());
                        _mm256_storeu_si256(to.add(near).cast(), _mm512_cvtepi32_epi16(pairs));
                    }
                    (_, false) => {
                        let pairs = _mm512_cvtepu16_epi32(_mm256_loadu_si256(from.add(near).cast()));
                        _mm512_mask_storeu_epi16(to.add(far).cast(), 0x5555_5555, pairs);
                    }
                }
            }
        }
        whole
    }
    #[inline(always)]
    unsafe fn add_groups(from: *const f64, pitch: usize, groups: usize, totals: &mut [f64; 8]) {
        // SAFETY: the caller's sums.
        unsafe {
            let mut total = _mm512_loadu_pd(totals.as_ptr());
            let whole = groups / 8 * 8;
            for group in (0..whole).step_by(8) {
                for sums in turned_sums(from.add(group), pitch) {
                    total = _mm512_add_pd(total, sums);
                }
            }
            if whole < groups {
                for sums in turned_sums(from.add(whole), pitch).into_iter().take(groups - whole) {
                    total = _mm512_add_pd(total, sums);
                }
            }
            _mm512_storeu_pd(totals.as_mut_ptr(), total);
        }
    }
    #[inline(always)]
    unsafe fn fence() {
        // SAFETY: with AVX-512 comes AVX2.
        unsafe { Avx2::fence() }
    }
}

impl Lanes for F32 {
    const N: usize = 16;
    const SIZE: usize = 4;
    const STEPS: usize = 1;
    const ONE: u32 = 0x3f80_0000;
    type Values = Widened;
    type Turned = [[__m256; GROUP]; 2];
    type Rounded = __m512i;
    type Sums = [__m512d; 2];
    type Set = Avx512;
    const HOLDS_GROUP: bool = true;

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Widened {
        // SAFETY: the caller's 16 elements. Reading the upper half from memory once more would save the shuffle that brings it
        // down, but LLVM turns that into eight scalar loads and as many inserts: a tenth more time in the caches.
        unsafe {
            let all = _mm512_loadu_ps(from.cast());
            let low = _mm512_cvtps_pd(_mm512_castps512_ps256(all));
            Widened { all, low, high: _mm512_cvtps_pd(_mm512_extractf32x8_ps::<1>(all)) }
        }
    }
    #[inline(always)]
    unsafe fn turned(from: *const u8) -> Self::Turned {
        // Narrow registers: eight groups fill a wide one once they are `f64`.
        // SAFETY: the caller's 16 groups; with AVX-512 comes AVX2.
        unsafe { [avx2::F32::<Avx2>::turned(from), avx2::F32::<Avx2>::turned(from.add(8 * 32))] }
    }
    #[inline(always)]
    unsafe fn turned_row(turned: &Self::Turned, row: usize) -> Widened {
        let (low, high) = (turned[0][row], turned[1][row]);
        // SAFETY: the tier has AVX-512 F and DQ.
        unsafe {
            let all = _mm512_insertf32x8::<1>(_mm512_castps256_ps512(low), high);
            Widened { all, low: _mm512_cvtps_pd(low), high: _mm512_cvtps_pd(high) }
        }
    }
    #[inline(always)]
    unsafe fn round(products: Widened) -> __m512i {
        // SAFETY: the tier has AVX-512 F.
        unsafe { _mm512_castps_si512(products.all) }
    }
    #[inline(always)]
    unsafe fn put(to: *mut u8, values: __m512i, streamed: bool) {
        // SAFETY: the caller's 16 elements.
        unsafe { put(to, values, streamed) }
    }
    #[inline(always)]
    unsafe fn product(a: Widened, b: Widened) -> Widened {
        // SAFETY: the tier has AVX-512 F.
        unsafe { Widened { all: _mm512_mul_ps(a.all, b.all), low: a.low, high: a.high } }
    }
    #[inline(always)]
    unsafe fn no_sums() -> Self::Sums {
        // SAFETY: the tier has AVX-512 F.
        unsafe { [_mm512_set1_pd(-0.0); 2] }
    }
    #[inline(always)]
    unsafe fn add_product(sums: Self::Sums, a: Widened, b: Widened) -> Self::Sums {
        // SAFETY: the tier has AVX-512 F.
        unsafe { [_mm512_fmadd_pd(a.low, b.low, sums[0]), _mm512_fmadd_pd(a.high, b.high, sums[1])] }
    }
    #[inline(always)]
    unsafe fn add(sums: Self::Sums, a: Widened) -> Self::Sums {
        // SAFETY: the tier has AVX-512 F.
        unsafe { [_mm512_add_pd(sums[0], a.low), _mm512_add_pd(sums[1], a.high)] }
    }
    #[inline(always)]
    unsafe fn accumulate<const FRESH: bool>(accumulators: *mut f64, sums: Self::Sums) {
        // SAFETY: the caller's 16 accumulators.
        unsafe {
            accumulate8::<FRESH>(accumulators, sums[0]);
            accumulate8::<FRESH>(accumulators.add(8), sums[1]);
        }
    }
    #[inline(always)]
    unsafe fn finish(accumulators: *const f64, to: *mut u8) {
        // SAFETY: the caller's 16 accumulators and elements.
        unsafe { Self::round_sums([_mm512_loadu_pd(accumulators), _mm512_loadu_pd(accumulators.add(8))], to) }
    }
    #[inline(always)]
    unsafe fn round_sums([low, high]: Self::Sums, to: *mut u8) {
        // SAFETY: the caller's 16 elements.
        unsafe {
            _mm256_storeu_ps(to.cast(), _mm512_cvtpd_ps(low));
            _mm256_storeu_ps(to.add(32).cast(), _mm512_cvtpd_ps(high));
        }
    }
    #[inline(always)]
    unsafe fn transpose_block(from: *const u8, from_pitch: usize, to: *mut u8, to_pitch: usize) {
        // SAFETY: the caller's 8 rows of 8 elements on both sides.
        unsafe {
            // Rows i and i + 4 share a register, row i in the lower half: a lane of 128 bits holds half a row.
            let mut rows = [_mm512_setzero_ps(); 4];
            for (i, row) in rows.iter_mut().enumerate() {
                let low = _mm512_castps256_ps512(_mm256_loadu_ps(from.add(i * from_pitch).cast()));
                *row = _mm512_insertf32x8::<1>(low, _mm256_loadu_ps(from.add((i + 4) * from_pitch).cast()));
            }
            let quarters = transpose_lanes(rows);
            // Lanes of quarter i: column i of rows 0 to 3, column i + 4 of those, then both of rows 4 to 7.
            for (i, lanes) in quarters.into_iter().enumerate() {
                let columns = _mm512_shuffle_f32x4::<0b11_01_10_00>(lanes, lanes);
                _mm256_storeu_ps(to.add(i * to_pitch).cast(), _mm512_castps512_ps256(columns));
                _mm256_storeu_ps(to.add((i + 4) * to_pitch).cast(), _mm512_extractf32x8_ps::<1>(columns));
            }
        }
    }
}

sixteen_bit! {
    F16: __m512 => __m512i, Avx512, one 0x3c00, holds group true,
    load load_f16, round products f16_line, round f16_line, slot in_order,
    turned Pairs, row f16_row, in order f16_in_order, in columns f16_in_order
}
sixteen_bit! {
    Bf16: __m512 => __m512i, Avx512, one 0x3f80, holds group true,
    load load_bf16, round products bf16_products, round bf16_pairs, slot even_first,
    turned Pairs, row bf16_row, in order bf16_in_order, in columns bf16_in_columns
}

/// Adds eight sums to eight accumulators, or makes them these.
#[inline(always)]
unsafe fn accumulate8<const FRESH: bool>(accumulators: *mut f64, sums: __m512d) {
    // SAFETY: the caller's 8 accumulators.
    unsafe {
        let sums = if FRESH { sums } else { _mm512_add_pd(_mm512_loadu_pd(accumulators), sums) };
        _mm512_storeu_pd(accumulators, sums);
    }
}

/// Widens sixteen sums and adds them to sixteen accumulators.
#[inline(always)]
unsafe fn accumulate_half<const FRESH: bool>(accumulators: *mut f64, sums: __m512) {
    // SAFETY: the caller's 16 accumulators.
    unsafe {
        accumulate8::<FRESH>(accumulators, _mm512_cvtps_pd(_mm512_castps512_ps256(sums)));
        accumulate8::<FRESH>(accumulators.add(8), _mm512_cvtps_pd(_mm512_extractf32x8_ps::<1>(sums)));
    }
}

/// Sixteen accumulators rounded to odd: see [`super::element::f64_to_f32_odd`].
#[inline(always)]
unsafe fn round_half_to_odd(accumulators: *const f64) -> __m512 {
    // SAFETY: the caller's 16 accumulators.
    unsafe {
        let low = _mm512_castps256_ps512(round_to_odd8(accumulators));
        _mm512_insertf32x8::<1>(low, round_to_odd8(accumulators.add(8)))
    }
}

#[inline(always)]
unsafe fn round_to_odd8(accumulators: *const f64) -> __m256 {
    // SAFETY: the caller's 8 accumulators.
    unsafe {
        let value = _mm512_loadu_pd(accumulators);
        // The instruction's own rounding direction: whatever is cut off makes the last bit 1. NaN is not inexact.
        let cut = _mm512_cvt_roundpd_ps::<{ _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC }>(value);
        let inexact = _mm512_cmp_pd_mask::<_CMP_NEQ_OQ>(_mm512_cvtps_pd(cut), value);
        let bits = _mm256_castps_si256(cut);
        _mm256_castsi256_ps(_mm256_mask_or_epi32(bits, inexact, bits, _mm256_set1_epi32(1)))
    }
}

#[inline(always)]
unsafe fn load_f16(from: *const u8) -> [__m512; 2] {
    // SAFETY: the caller's 32 elements.
    unsafe {
        let low = _mm512_cvtph_ps(_mm256_loadu_si256(from.cast()));
        [low, _mm512_cvtph_ps(_mm256_loadu_si256(from.add(32).cast()))]
    }
}

/// Rounds 32 columns to binary16.
#[inline(always)]
unsafe fn f16_line(values: [__m512; 2]) -> __m512i {
    // SAFETY: the tier has AVX-512 F and DQ.
    unsafe {
        let low = _mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(values[0]);
        let high = _mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(values[1]);
        _mm512_inserti32x8::<1>(_mm512_castsi256_si512(low), high)
    }
}

#[inline(always)]
unsafe fn load_bf16(from: *const u8) -> [__m512; 2] {
    // SAFETY: the caller's 32 elements.
    unsafe { even_and_odd(_mm512_loadu_si512(from.cast())) }
}

/// Even columns, and odd ones.
#[inline(always)]
unsafe fn even_and_odd(pairs: __m512i) -> [__m512; 2] {
    // SAFETY: the tier has AVX-512 F.
    unsafe {
        let even = _mm512_slli_epi32::<16>(pairs);
        let odd = _mm512_and_si512(pairs, _mm512_set1_epi32(0xffff_0000_u32 as i32));
        [_mm512_castsi512_ps(even), _mm512_castsi512_ps(odd)]
    }
}

/// Rounds products of bfloat16. No care for NaN: one that comes from elements has no payload in the lower half, so that
/// rounding leaves it what it is.
#[inline(always)]
unsafe fn bf16_products(values: [__m512; 2]) -> __m512i {
    // SAFETY: the tier has AVX-512 F and BW.
    unsafe {
        let [even, odd] = values;
        upper_halves(bf16_bits(even), bf16_bits(odd))
    }
}

/// Rounds even and odd columns to bfloat16 and puts them side by side: see [`super::element::f32_to_bf16`].
#[inline(always)]
unsafe fn bf16_pairs(values: [__m512; 2]) -> __m512i {
    // SAFETY: the tier has AVX-512 F and BW.
    unsafe {
        let [even, odd] = values;
        let mut rounded = [bf16_bits(even), bf16_bits(odd)];
        // NaN would wrap to zero or be cut to infinity. There is hardly ever one, so one test for all 32 and a jump cost
        // less than choosing in each.
        if _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(even, odd) != 0 {
            rounded = [keep_nan(even, rounded[0]), keep_nan(odd, rounded[1])];
        }
        upper_halves(rounded[0], rounded[1])
    }
}

/// The upper halves of both, in turns.
#[inline(always)]
unsafe fn upper_halves(even: __m512i, odd: __m512i) -> __m512i {
    // SAFETY: the tier has AVX-512 F.
    unsafe {
        let upper = _mm512_set1_epi32(0xffff_0000_u32 as i32);
        // upper ? odd : even
        _mm512_ternarylogic_epi32::<0xca>(upper, odd, _mm512_srli_epi32::<16>(even))
    }
}

/// Rounded bits in the upper halves; wrong for NaN.
#[inline(always)]
unsafe fn bf16_bits(values: __m512) -> __m512i {
    // SAFETY: the tier has AVX-512 F.
    unsafe {
        let bits = _mm512_castps_si512(values);
        // Half a unit in the last place, and for ties to even a little less where the last bit is 0.
        let odd = _mm512_test_epi32_mask(bits, _mm512_set1_epi32(0x1_0000));
        let down = _mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff));
        _mm512_mask_add_epi32(down, odd, bits, _mm512_set1_epi32(0x8000))
    }
}

#[inline(always)]
unsafe fn keep_nan(values: __m512, rounded: __m512i) -> __m512i {
    // SAFETY: the tier has AVX-512 F.
    unsafe {
        let nan = _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(values, values);
        _mm512_mask_or_epi32(rounded, nan, _mm512_castps_si512(values), _mm512_set1_epi32(0x40_0000))
    }
}

/// Eight sums of each of eight columns: the first of each, the second of each...
#[inline(always)]
unsafe fn turned_sums(from: *const f64, pitch: usize) -> [__m512d; 8] {
    // SAFETY: the caller's sums.
    unsafe {
        let mut groups = [_mm512_setzero_pd(); 8];
        // Halves of columns i and i + 4 share a register: four of its pairs are transposed at a time, as in `transpose_lanes`.
        for half in [0, 4] {
            let at = |column: usize| _mm256_loadu_pd(from.add(column * pitch + half));
            let both = |i: usize| _mm512_insertf64x4::<1>(_mm512_castpd256_pd512(at(i)), at(i + 4));
            let [a, b, c, d] = [both(0), both(1), both(2), both(3)];
            let (ab_even, ab_odd) = (_mm512_unpacklo_pd(a, b), _mm512_unpackhi_pd(a, b));
            let (cd_even, cd_odd) = (_mm512_unpacklo_pd(c, d), _mm512_unpackhi_pd(c, d));
            let low = _mm512_set_epi64(13, 12, 5, 4, 9, 8, 1, 0);
            let high = _mm512_set_epi64(15, 14, 7, 6, 11, 10, 3, 2);
            groups[half] = _mm512_permutex2var_pd(ab_even, low, cd_even);
            groups[half + 1] = _mm512_permutex2var_pd(ab_odd, low, cd_odd);
            groups[half + 2] = _mm512_permutex2var_pd(ab_even, high, cd_even);
            groups[half + 3] = _mm512_permutex2var_pd(ab_odd, high, cd_odd);
        }
        groups
    }
}

/// Transposes, in each lane of 128 bits, 4 x 4 elements across four registers.
#[inline(always)]
unsafe fn transpose_lanes([a, b, c, d]: [__m512; 4]) -> [__m512; 4] {
    // SAFETY: the tier has AVX-512 F.
    unsafe {
        let (ab_low, ab_high) = (_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
        let (cd_low, cd_high) = (_mm512_unpacklo_ps(c, d), _mm512_unpackhi_ps(c, d));
        [
            _mm512_shuffle_ps::<0x44>(ab_low, cd_low),
            _mm512_shuffle_ps::<0xee>(ab_low, cd_low),
            _mm512_shuffle_ps::<0x44>(ab_high, cd_high),
            _mm512_shuffle_ps::<0xee>(ab_high, cd_high),
        ]
    }
}

/// Twice sixteen groups, turned as pairs of elements: rows 2 i and 2 i + 1 of them share the i-th register. Each half has its
/// groups in the order of [`place_in_half`].
type Pairs = [[__m512i; 4]; 2];

/// See [`Lanes::turned`]: 32 groups.
#[inline(always)]
unsafe fn turned16(from: *const u8) -> Pairs {
    // SAFETY: the caller's 32 groups.
    unsafe {
        let at = |line: usize| _mm512_loadu_ps(from.wrapping_add(64 * line).cast());
        let halves = [transpose_lanes([at(0), at(1), at(2), at(3)]), transpose_lanes([at(4), at(5), at(6), at(7)])];
        // The same registers, taken for integers.
        std::mem::transmute::<[[__m512; 4]; 2], Pairs>(halves)
    }
}

/// Where a group of a half is: a lane of 128 bits has every fourth one.
const fn place_in_half(group: usize) -> usize {
    4 * (group % 4) + group / 4 % 4
}

/// A row of bfloat16: of the first half's groups, and of the second's.
#[inline(always)]
unsafe fn bf16_row(groups: &Pairs, row: usize) -> [__m512; 2] {
    // SAFETY: the tier has AVX-512 F.
    unsafe { [even_and_odd(groups[0][row / 2])[row % 2], even_and_odd(groups[1][row / 2])[row % 2]] }
}

/// Sums of such rows, one group after the other.
#[inline(always)]
unsafe fn bf16_in_order(sums: [__m512; 2]) -> [__m512; 2] {
    const PLACES: [[i32; 16]; 2] = places(false, false);
    // SAFETY: the tier has AVX-512 F.
    unsafe { permuted(sums, &PLACES) }
}

/// The same, even groups first.
#[inline(always)]
unsafe fn bf16_in_columns(sums: [__m512; 2]) -> [__m512; 2] {
    const PLACES: [[i32; 16]; 2] = places(false, true);
    // SAFETY: the tier has AVX-512 F.
    unsafe { permuted(sums, &PLACES) }
}

/// A row of binary16: groups of the halves in turns, so that both are widened together.
#[inline(always)]
unsafe fn f16_row([first, second]: &Pairs, row: usize) -> [__m512; 2] {
    // SAFETY: the tier has AVX-512 F, BW and DQ.
    unsafe {
        let (first, second) = (first[row / 2], second[row / 2]);
        let both = if row.is_multiple_of(2) {
            _mm512_mask_blend_epi16(0xaaaa_aaaa, first, _mm512_slli_epi32::<16>(second))
        } else {
            upper_halves(first, second)
        };
        [_mm512_cvtph_ps(_mm512_castsi512_si256(both)), _mm512_cvtph_ps(_mm512_extracti32x8_epi32::<1>(both))]
    }
}

/// Sums of such rows, one group after the other.
#[inline(always)]
unsafe fn f16_in_order(sums: [__m512; 2]) -> [__m512; 2] {
    const PLACES: [[i32; 16]; 2] = places(true, false);
    // SAFETY: the tier has AVX-512 F.
    unsafe { permuted(sums, &PLACES) }
}

/// Where in two registers the sum is that belongs in each place. `in_turns`: the halves of [`Pairs`] are mixed, group by group.
/// `even_first`: of all groups, the even ones come first.
const fn places(in_turns: bool, even_first: bool) -> [[i32; 16]; 2] {
    let mut places = [[0; 16]; 2];
    let mut group = 0;
    while group < 32 {
        let (half, place) = (group / 16, place_in_half(group));
        let from = if in_turns { 2 * place + half } else { 16 * half + place };
        let to = if even_first { group % 2 * 16 + group / 2 } else { group };
        places[to / 16][to % 16] = from as i32;
        group += 1;
    }
    places
}

#[inline(always)]
unsafe fn permuted([a, b]: [__m512; 2], places: &[[i32; 16]; 2]) -> [__m512; 2] {
    // SAFETY: the tier has AVX-512 F; the places fill a register each.
    unsafe {
        let at = |half: usize| _mm512_loadu_si512(places[half].as_ptr().cast());
        [_mm512_permutex2var_ps(a, at(0), b), _mm512_permutex2var_ps(a, at(1), b)]
    }
}

/// Writes a line, past the caches if told; then it must be aligned.
#[inline(always)]
unsafe fn put(to: *mut u8, line: __m512i, streamed: bool) {
    // SAFETY: the caller's 64 bytes.
    unsafe {
        if streamed {
            _mm512_stream_si512(to.cast(), line);
        } else {
            _mm512_storeu_si512(to.cast(), line);
        }
    }
}
