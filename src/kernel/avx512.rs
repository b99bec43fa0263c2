//! The AVX-512 tier (F, BW, DQ and VL).
//!
//! One step is a whole line of a row, so a row's block is one load, one product and one store of 64 bytes. Conversions from
//! `f32` to BFLOAT16 are done in integers: the instructions that there are for it on some CPUs flush subnormals to zero.

use std::arch::x86_64::*;

use super::at_once;
use super::pack::{self, Grid};
use super::plan::Plan;
use super::rows::{self, Blocks, Group, Walk};
use super::scratch::Scratch;
use super::unit;
use super::vector::{Lanes, Set, loops};

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
        // SAFETY: a prefetch reads nothing that the program can see, wherever it points.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) }
    }
    #[inline(always)]
    unsafe fn copy_line(from: *const u8, to: *mut u8, streamed: bool) {
        // SAFETY: the caller's 64 bytes.
        unsafe { put(to, _mm512_loadu_si512(from.cast()), streamed) }
    }
    #[inline(always)]
    unsafe fn fence() {
        // SAFETY: every x86-64 has it.
        unsafe { _mm_sfence() }
    }
}

impl Lanes for F32 {
    const N: usize = 16;
    const SIZE: usize = 4;
    const STEPS: usize = 1;
    const ONE: u32 = 0x3f80_0000;
    type Values = Widened;
    type Rounded = __m512i;
    type Sums = [__m512d; 2];
    type Set = Avx512;
    const HOLDS_GROUP: bool = true;

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Widened {
        let from = from.cast::<f32>();
        // SAFETY: the caller's 16 elements. Widening straight from memory saves the shuffle that would bring the upper half
        // down.
        unsafe {
            Widened {
                all: _mm512_loadu_ps(from),
                low: _mm512_cvtps_pd(_mm256_loadu_ps(from)),
                high: _mm512_cvtps_pd(_mm256_loadu_ps(from.add(8))),
            }
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
            // Within each lane, a 4 x 4 quarter is transposed across the four registers.
            let [a, b, c, d] = rows;
            let (ab_low, ab_high) = (_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
            let (cd_low, cd_high) = (_mm512_unpacklo_ps(c, d), _mm512_unpackhi_ps(c, d));
            let quarters = [
                _mm512_shuffle_ps::<0x44>(ab_low, cd_low),
                _mm512_shuffle_ps::<0xee>(ab_low, cd_low),
                _mm512_shuffle_ps::<0x44>(ab_high, cd_high),
                _mm512_shuffle_ps::<0xee>(ab_high, cd_high),
            ];
            // Lanes of quarter i: column i of rows 0 to 3, column i + 4 of those, then both of rows 4 to 7.
            for (i, lanes) in quarters.into_iter().enumerate() {
                let columns = _mm512_shuffle_f32x4::<0b11_01_10_00>(lanes, lanes);
                _mm256_storeu_ps(to.add(i * to_pitch).cast(), _mm512_castps512_ps256(columns));
                _mm256_storeu_ps(to.add((i + 4) * to_pitch).cast(), _mm512_extractf32x8_ps::<1>(columns));
            }
        }
    }
}

/// What the two 16-bit types share: everything but conversions and the columns' order.
macro_rules! sixteen_bit {
    ($name:ident, $one:literal, $load:path, $products:path, $round:path, $slot:expr) => {
        impl Lanes for $name {
            const N: usize = 32;
            const SIZE: usize = 2;
            const STEPS: usize = 1;
            const ONE: u32 = $one;
            type Values = [__m512; 2];
            type Rounded = __m512i;
            type Sums = [__m512; 2];
            type Set = Avx512;
            const HOLDS_GROUP: bool = true;

            #[inline(always)]
            unsafe fn load(from: *const u8) -> Self::Values {
                // SAFETY: the caller's 32 elements.
                unsafe { $load(from) }
            }
            #[inline(always)]
            unsafe fn round(products: Self::Values) -> __m512i {
                // SAFETY: the tier has AVX-512 F, BW and DQ.
                unsafe { $products(products) }
            }
            #[inline(always)]
            unsafe fn put(to: *mut u8, values: __m512i, streamed: bool) {
                // SAFETY: the caller's 32 elements.
                unsafe { put(to, values, streamed) }
            }
            #[inline(always)]
            unsafe fn round_sums(sums: Self::Sums, to: *mut u8) {
                // SAFETY: the caller's 32 elements. Sums of one group are exact in `f32`.
                unsafe { put(to, $round(sums), false) }
            }
            #[inline(always)]
            unsafe fn product(a: Self::Values, b: Self::Values) -> Self::Values {
                // SAFETY: the tier has AVX-512 F.
                unsafe { [_mm512_mul_ps(a[0], b[0]), _mm512_mul_ps(a[1], b[1])] }
            }
            #[inline(always)]
            unsafe fn no_sums() -> Self::Sums {
                // SAFETY: the tier has AVX-512 F.
                unsafe { [_mm512_set1_ps(-0.0); 2] }
            }
            #[inline(always)]
            unsafe fn add_product(sums: Self::Sums, a: Self::Values, b: Self::Values) -> Self::Sums {
                // SAFETY: the tier has AVX-512 F.
                unsafe { [_mm512_fmadd_ps(a[0], b[0], sums[0]), _mm512_fmadd_ps(a[1], b[1], sums[1])] }
            }
            #[inline(always)]
            unsafe fn add(sums: Self::Sums, a: Self::Values) -> Self::Sums {
                // SAFETY: the tier has AVX-512 F.
                unsafe { [_mm512_add_ps(sums[0], a[0]), _mm512_add_ps(sums[1], a[1])] }
            }
            #[inline(always)]
            unsafe fn accumulate<const FRESH: bool>(accumulators: *mut f64, sums: Self::Sums) {
                // SAFETY: the caller's 32 accumulators.
                unsafe {
                    accumulate16::<FRESH>(accumulators, sums[0]);
                    accumulate16::<FRESH>(accumulators.add(16), sums[1]);
                }
            }
            #[inline(always)]
            unsafe fn finish(accumulators: *const f64, to: *mut u8) {
                // SAFETY: the caller's 32 accumulators and elements.
                unsafe {
                    let values = [round_to_odd16(accumulators), round_to_odd16(accumulators.add(16))];
                    put(to, $round(values), false);
                }
            }
            #[inline(always)]
            fn slot(column: usize) -> usize {
                let slot: fn(usize) -> usize = $slot;
                slot(column)
            }
            #[inline(always)]
            unsafe fn transpose_block(from: *const u8, from_pitch: usize, to: *mut u8, to_pitch: usize) {
                // SAFETY: the caller's 8 rows of 8 elements on both sides.
                unsafe { transpose_block16(from, from_pitch, to, to_pitch) }
            }
        }
    };
}

sixteen_bit!(F16, 0x3c00, load_f16, f16_line, f16_line, |column| column);
sixteen_bit!(Bf16, 0x3f80, load_bf16, bf16_products, bf16_pairs, |column| column / 32 * 32
    + column % 2 * 16
    + column % 32 / 2);

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
unsafe fn accumulate16<const FRESH: bool>(accumulators: *mut f64, sums: __m512) {
    // SAFETY: the caller's 16 accumulators.
    unsafe {
        accumulate8::<FRESH>(accumulators, _mm512_cvtps_pd(_mm512_castps512_ps256(sums)));
        accumulate8::<FRESH>(accumulators.add(8), _mm512_cvtps_pd(_mm512_extractf32x8_ps::<1>(sums)));
    }
}

/// Sixteen accumulators rounded to odd: see [`super::element::f64_to_f32_odd`].
#[inline(always)]
unsafe fn round_to_odd16(accumulators: *const f64) -> __m512 {
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

/// Even columns, and odd ones.
#[inline(always)]
unsafe fn load_bf16(from: *const u8) -> [__m512; 2] {
    // SAFETY: the caller's 32 elements.
    unsafe {
        let pairs = _mm512_loadu_si512(from.cast());
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
        _mm512_mask_blend_epi16(0xaaaa_aaaa, _mm512_srli_epi32::<16>(bf16_bits(even)), bf16_bits(odd))
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
        _mm512_mask_blend_epi16(0xaaaa_aaaa, _mm512_srli_epi32::<16>(rounded[0]), rounded[1])
    }
}

/// Rounded bits in the upper halves; wrong for NaN.
#[inline(always)]
unsafe fn bf16_bits(values: __m512) -> __m512i {
    // SAFETY: the tier has AVX-512 F.
    unsafe {
        let bits = _mm512_castps_si512(values);
        let odd = _mm512_and_si512(_mm512_srli_epi32::<16>(bits), _mm512_set1_epi32(1));
        _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff)), odd)
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

/// Eight rows of eight 16-bit elements.
#[inline(always)]
unsafe fn transpose_block16(from: *const u8, from_pitch: usize, to: *mut u8, to_pitch: usize) {
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
