//! The NEON tier: every 64-bit Arm CPU.
//!
//! All conversions that are needed are in the base instruction set, among them one from `f64` to `f32` that rounds to odd.
//! Those between binary16 and `f32` are written in assembler: their intrinsics came to Rust later than this crate's oldest
//! compiler.

use std::arch::aarch64::*;
use std::arch::aarch64::{vaddq_f32 as add, vdupq_n_f32 as splat, vmulq_f32 as mul};
use std::arch::asm;

use super::along::{self, Along};
use super::at_once::{self, Samples};
use super::halves::{in_order, sixteen_bit};
use super::one_group::{self, Columns};
use super::pack::{self, Grid};
use super::plan::{GROUP, Plan};
use super::rows::{self, Blocks, Group};
use super::scratch::Scratch;
use super::unit;
use super::vector::{LINE, Lanes, Set, loops};
use super::walk::Walk;

/// FLOAT: 4 columns; sums in two registers of two `f64`.
#[derive(Clone, Copy)]
pub(crate) struct F32;
/// FLOAT16: 8 columns; sums in two registers of four `f32`.
#[derive(Clone, Copy)]
pub(crate) struct F16;
/// BFLOAT16: 8 columns; sums in two registers of four `f32`.
#[derive(Clone, Copy)]
pub(crate) struct Bf16;

/// What all types share. Nothing goes past the caches: the CPUs notice by themselves that whole lines are written.
#[derive(Clone, Copy)]
pub(crate) struct Neon;

impl Set for Neon {
    loops!(#[target_feature(enable = "neon")]);

    #[inline(always)]
    unsafe fn prefetch(address: *const u8) {
        // SAFETY: a prefetch reads nothing that the program can see, wherever it points.
        unsafe { asm!("prfm pldl1keep, [{}]", in(reg) address, options(nostack, preserves_flags, readonly)) }
    }
    #[inline(always)]
    unsafe fn prefetch_far(address: *const u8) {
        // SAFETY: a prefetch reads nothing that the program can see, wherever it points.
        unsafe { asm!("prfm pldl2keep, [{}]", in(reg) address, options(nostack, preserves_flags, readonly)) }
    }
    #[inline(always)]
    unsafe fn prefetch_to_write(address: *const u8) {
        // SAFETY: a prefetch changes nothing that the program can see, wherever it points.
        unsafe { asm!("prfm pstl1keep, [{}]", in(reg) address, options(nostack, preserves_flags, readonly)) }
    }
}

impl Lanes for F32 {
    const N: usize = 4;
    const SIZE: usize = 4;
    const STEPS: usize = 4;
    const ONE: u32 = 0x3f80_0000;
    type Values = float32x4_t;
    type Turned = [float32x4_t; GROUP];
    type Rounded = float32x4_t;
    type Sums = [float64x2_t; 2];
    type Set = Neon;
    const HOLDS_GROUP: bool = true;

    #[inline(always)]
    unsafe fn load(from: *const u8) -> float32x4_t {
        // SAFETY: the caller's 4 elements.
        unsafe { vld1q_f32(from.cast()) }
    }
    #[inline(always)]
    unsafe fn turned(from: *const u8) -> Self::Turned {
        // SAFETY: the caller's 4 groups.
        unsafe {
            let ([a, b, c, d], [e, f, g, h]) = (quarter(from, 32), quarter(from.add(16), 32));
            [a, b, c, d, e, f, g, h]
        }
    }
    #[inline(always)]
    unsafe fn turned_row(turned: &Self::Turned, row: usize) -> float32x4_t {
        turned[row]
    }
    #[inline(always)]
    unsafe fn round(products: float32x4_t) -> float32x4_t {
        products
    }
    #[inline(always)]
    unsafe fn put(to: *mut u8, values: float32x4_t, _streamed: bool) {
        // SAFETY: the caller's 4 elements.
        unsafe { vst1q_f32(to.cast(), values) }
    }
    #[inline(always)]
    unsafe fn product(a: float32x4_t, b: float32x4_t) -> float32x4_t {
        // SAFETY: the tier has NEON.
        unsafe { vmulq_f32(a, b) }
    }
    #[inline(always)]
    unsafe fn no_sums() -> Self::Sums {
        // SAFETY: the tier has NEON.
        unsafe { [vdupq_n_f64(-0.0); 2] }
    }
    #[inline(always)]
    unsafe fn add_product(sums: Self::Sums, a: float32x4_t, b: float32x4_t) -> Self::Sums {
        // SAFETY: the tier has NEON.
        unsafe {
            let ([a_low, a_high], [b_low, b_high]) = (widen(a), widen(b));
            [vfmaq_f64(sums[0], a_low, b_low), vfmaq_f64(sums[1], a_high, b_high)]
        }
    }
    #[inline(always)]
    unsafe fn add(sums: Self::Sums, a: float32x4_t) -> Self::Sums {
        // SAFETY: the tier has NEON.
        unsafe {
            let [low, high] = widen(a);
            [vaddq_f64(sums[0], low), vaddq_f64(sums[1], high)]
        }
    }
    #[inline(always)]
    unsafe fn accumulate<const FRESH: bool>(accumulators: *mut f64, sums: Self::Sums) {
        // SAFETY: the caller's 4 accumulators.
        unsafe {
            accumulate2::<FRESH>(accumulators, sums[0]);
            accumulate2::<FRESH>(accumulators.add(2), sums[1]);
        }
    }
    #[inline(always)]
    unsafe fn finish(accumulators: *const f64, to: *mut u8) {
        // SAFETY: the caller's 4 accumulators and elements.
        unsafe { Self::round_sums([vld1q_f64(accumulators), vld1q_f64(accumulators.add(2))], to) }
    }
    #[inline(always)]
    unsafe fn round_sums([low, high]: Self::Sums, to: *mut u8) {
        // SAFETY: the caller's 4 elements.
        unsafe { vst1q_f32(to.cast(), vcvt_high_f32_f64(vcvt_f32_f64(low), high)) }
    }
    #[inline(always)]
    unsafe fn transpose_block(from: *const u8, from_pitch: usize, to: *mut u8, to_pitch: usize) {
        // SAFETY: the caller's 8 rows of 8 elements on both sides.
        unsafe {
            for (row, column) in [(0, 0), (0, 4), (4, 0), (4, 4)] {
                let to = to.add(column * to_pitch + row * 4);
                for (i, row) in quarter(from.add(row * from_pitch + column * 4), from_pitch).into_iter().enumerate() {
                    vst1q_f32(to.add(i * to_pitch).cast(), row);
                }
            }
        }
    }
}

sixteen_bit! {
    F16: float32x4_t => uint16x8_t, Neon, one 0x3c00, holds group true,
    load load_f16, round products narrow_f16, round narrow_f16, slot in_order,
    turned [uint16x8_t; GROUP], row f16_row, in order as_they_are, in columns as_they_are
}
sixteen_bit! {
    Bf16: float32x4_t => uint16x8_t, Neon, one 0x3f80, holds group true,
    load load_bf16, round products narrow_bf16, round narrow_bf16, slot in_order,
    turned [uint16x8_t; GROUP], row bf16_row, in order as_they_are, in columns as_they_are
}

/// `a * b + c`
#[inline(always)]
unsafe fn fma(a: float32x4_t, b: float32x4_t, c: float32x4_t) -> float32x4_t {
    // SAFETY: the tier has NEON.
    unsafe { vfmaq_f32(c, a, b) }
}

#[inline(always)]
unsafe fn put(to: *mut u8, values: uint16x8_t, _streamed: bool) {
    // SAFETY: the caller's 8 elements.
    unsafe { vst1q_u16(to.cast(), values) }
}

#[inline(always)]
unsafe fn load_f16(from: *const u8) -> [float32x4_t; 2] {
    // SAFETY: the caller's 8 elements.
    unsafe { widen_f16(vld1q_u16(from.cast())) }
}

#[inline(always)]
unsafe fn load_bf16(from: *const u8) -> [float32x4_t; 2] {
    // SAFETY: the caller's 8 elements.
    unsafe { widen_bf16(vld1q_u16(from.cast())) }
}

/// Widens four sums and adds them to four accumulators, or makes them these.
#[inline(always)]
unsafe fn accumulate_half<const FRESH: bool>(accumulators: *mut f64, sums: float32x4_t) {
    // SAFETY: the caller's 4 accumulators.
    unsafe {
        let [low, high] = widen(sums);
        accumulate2::<FRESH>(accumulators, low);
        accumulate2::<FRESH>(accumulators.add(2), high);
    }
}

#[inline(always)]
unsafe fn widen(values: float32x4_t) -> [float64x2_t; 2] {
    // SAFETY: the tier has NEON.
    unsafe { [vcvt_f64_f32(vget_low_f32(values)), vcvt_high_f64_f32(values)] }
}

/// Adds two sums to two accumulators, or makes them these.
#[inline(always)]
unsafe fn accumulate2<const FRESH: bool>(accumulators: *mut f64, sums: float64x2_t) {
    // SAFETY: the caller's 2 accumulators.
    unsafe { vst1q_f64(accumulators, if FRESH { sums } else { vaddq_f64(vld1q_f64(accumulators), sums) }) }
}

/// Four accumulators rounded to odd: see [`super::element::f64_to_f32_odd`].
#[inline(always)]
unsafe fn round_half_to_odd(accumulators: *const f64) -> float32x4_t {
    // SAFETY: the caller's 4 accumulators.
    unsafe { vcvtx_high_f32_f64(vcvtx_f32_f64(vld1q_f64(accumulators)), vld1q_f64(accumulators.add(2))) }
}

#[inline(always)]
unsafe fn widen_f16(values: uint16x8_t) -> [float32x4_t; 2] {
    let (low, high): (float32x4_t, float32x4_t);
    // SAFETY: reads one register and writes two; the mode, which is the default one, makes it IEEE's format.
    unsafe {
        asm!(
            "fcvtl {low:v}.4s, {values:v}.4h",
            "fcvtl2 {high:v}.4s, {values:v}.8h",
            low = out(vreg) low,
            high = lateout(vreg) high,
            values = in(vreg) values,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    [low, high]
}

/// Rounds to binary16, to nearest even.
#[inline(always)]
unsafe fn narrow_f16(values: [float32x4_t; 2]) -> uint16x8_t {
    let narrow: uint16x8_t;
    // SAFETY: reads two registers and writes one, as above.
    unsafe {
        asm!(
            "fcvtn {narrow:v}.4h, {low:v}.4s",
            "fcvtn2 {narrow:v}.8h, {high:v}.4s",
            narrow = out(vreg) narrow,
            low = in(vreg) values[0],
            high = in(vreg) values[1],
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    narrow
}

#[inline(always)]
unsafe fn widen_bf16(values: uint16x8_t) -> [float32x4_t; 2] {
    // SAFETY: the tier has NEON.
    unsafe {
        let low = vshll_n_u16::<16>(vget_low_u16(values));
        [vreinterpretq_f32_u32(low), vreinterpretq_f32_u32(vshll_high_n_u16::<16>(values))]
    }
}

/// Rounds to bfloat16: see [`super::element::f32_to_bf16`].
#[inline(always)]
unsafe fn narrow_bf16(values: [float32x4_t; 2]) -> uint16x8_t {
    // SAFETY: the tier has NEON.
    unsafe {
        let [low, high] = [bf16_bits(values[0]), bf16_bits(values[1])];
        vuzp2q_u16(vreinterpretq_u16_u32(low), vreinterpretq_u16_u32(high))
    }
}

/// Rounded bits in the upper halves; NaN is only made quiet.
#[inline(always)]
unsafe fn bf16_bits(values: float32x4_t) -> uint32x4_t {
    // SAFETY: the tier has NEON.
    unsafe {
        let bits = vreinterpretq_u32_f32(values);
        let odd = vandq_u32(bits, vdupq_n_u32(0x1_0000));
        let rounded = vsraq_n_u32::<16>(vaddq_u32(bits, vdupq_n_u32(0x7fff)), odd);
        let quiet = vorrq_u32(bits, vdupq_n_u32(0x40_0000));
        vbslq_u32(vceqq_f32(values, values), rounded, quiet)
    }
}

/// The columns of four rows of four 32-bit elements.
#[inline(always)]
unsafe fn quarter(from: *const u8, pitch: usize) -> [float32x4_t; 4] {
    // SAFETY: the caller's 4 rows of 4 elements.
    unsafe {
        let mut rows = [vdupq_n_f32(0.0); 4];
        for (i, row) in rows.iter_mut().enumerate() {
            *row = vld1q_f32(from.add(i * pitch).cast());
        }
        // Two rounds of interleaving rows that are 2 apart: each element's row number moves into its position, bit by bit.
        for _ in 0..2 {
            let previous = rows;
            for i in 0..2 {
                rows[2 * i] = vzip1q_f32(previous[i], previous[i + 2]);
                rows[2 * i + 1] = vzip2q_f32(previous[i], previous[i + 2]);
            }
        }
        rows
    }
}

/// Eight rows of eight 16-bit elements.
#[inline(always)]
unsafe fn transpose_block16(from: *const u8, from_pitch: usize, to: *mut u8, to_pitch: usize) {
    // SAFETY: the caller's 8 rows of 8 elements on both sides.
    unsafe {
        for (i, row) in transposed16(from, from_pitch).into_iter().enumerate() {
            vst1q_u16(to.add(i * to_pitch).cast(), row);
        }
    }
}

/// See [`Lanes::turned`]: 8 groups.
#[inline(always)]
unsafe fn turned16(from: *const u8) -> [uint16x8_t; GROUP] {
    // SAFETY: the caller's 8 groups.
    unsafe { transposed16(from, 16) }
}

#[inline(always)]
unsafe fn f16_row(groups: &[uint16x8_t; GROUP], row: usize) -> [float32x4_t; 2] {
    // SAFETY: the tier has NEON.
    unsafe { widen_f16(groups[row]) }
}

/// Sums of turned rows: groups have their own order.
#[inline(always)]
unsafe fn as_they_are(sums: [float32x4_t; 2]) -> [float32x4_t; 2] {
    sums
}

#[inline(always)]
unsafe fn bf16_row(groups: &[uint16x8_t; GROUP], row: usize) -> [float32x4_t; 2] {
    // SAFETY: the tier has NEON.
    unsafe { widen_bf16(groups[row]) }
}

/// The columns of eight rows of eight 16-bit elements, `pitch` bytes apart: as above, with three rounds and rows that are 4
/// apart.
#[inline(always)]
unsafe fn transposed16(from: *const u8, pitch: usize) -> [uint16x8_t; GROUP] {
    // SAFETY: the caller's 8 rows of 8 elements.
    unsafe {
        let mut rows = [vdupq_n_u16(0); GROUP];
        for (i, row) in rows.iter_mut().enumerate() {
            *row = vld1q_u16(from.add(i * pitch).cast());
        }
        for _ in 0..3 {
            let previous = rows;
            for i in 0..4 {
                rows[2 * i] = vzip1q_u16(previous[i], previous[i + 4]);
                rows[2 * i + 1] = vzip2q_u16(previous[i], previous[i + 4]);
            }
        }
        rows
    }
}
