//! The scalar tier: one column per step. It runs everywhere, and is what the other tiers are compared with.

use super::along::{self, Along};
use super::at_once::{self, Samples};
use super::element;
use super::one_group::{self, Columns};
use super::pack::{self, Grid};
use super::plan::Plan;
use super::rows::{self, Blocks, Group};
use super::scratch::Scratch;
use super::unit;
use super::vector::{Lanes, Set, loops};
use super::walk::Walk;

/// FLOAT, one column.
#[derive(Clone, Copy)]
pub(crate) struct F32;
/// FLOAT16, one column.
#[derive(Clone, Copy)]
pub(crate) struct F16;
/// BFLOAT16, one column.
#[derive(Clone, Copy)]
pub(crate) struct Bf16;

/// What all types share: nothing special.
#[derive(Clone, Copy)]
pub(crate) struct Scalar;

impl Set for Scalar {
    loops!();
}

impl Lanes for F32 {
    const N: usize = 1;
    const SIZE: usize = 4;
    const STEPS: usize = 4;
    const ONE: u32 = 0x3f80_0000;
    type Values = f32;
    type Turned = *const u8;
    type Rounded = f32;
    type Sums = f64;
    type Set = Scalar;
    const HOLDS_GROUP: bool = true;

    #[inline(always)]
    unsafe fn load(from: *const u8) -> f32 {
        // SAFETY: the caller's element.
        unsafe { from.cast::<f32>().read_unaligned() }
    }
    #[inline(always)]
    unsafe fn turned(from: *const u8) -> *const u8 {
        from
    }
    #[inline(always)]
    unsafe fn turned_row(turned: &*const u8, row: usize) -> f32 {
        // SAFETY: the caller's elements.
        unsafe { Self::load(turned.add(row * Self::SIZE)) }
    }
    #[inline(always)]
    unsafe fn round(products: f32) -> f32 {
        products
    }
    #[inline(always)]
    unsafe fn put(to: *mut u8, values: f32, _streamed: bool) {
        // SAFETY: the caller's element.
        unsafe { to.cast::<f32>().write_unaligned(values) }
    }
    #[inline(always)]
    unsafe fn product(a: f32, b: f32) -> f32 {
        a * b
    }
    #[inline(always)]
    unsafe fn no_sums() -> f64 {
        -0.0
    }
    #[inline(always)]
    unsafe fn add_product(sums: f64, a: f32, b: f32) -> f64 {
        // The product of two binary32 is exact in binary64: no fused operation is needed.
        sums + f64::from(a) * f64::from(b)
    }
    #[inline(always)]
    unsafe fn add(sums: f64, a: f32) -> f64 {
        sums + f64::from(a)
    }
    #[inline(always)]
    unsafe fn accumulate<const FRESH: bool>(accumulators: *mut f64, sums: f64) {
        // SAFETY: the caller's accumulator.
        unsafe { accumulators.write(if FRESH { sums } else { accumulators.read() + sums }) }
    }
    #[inline(always)]
    unsafe fn finish(accumulators: *const f64, to: *mut u8) {
        // SAFETY: the caller's accumulator and element.
        unsafe { Self::round_sums(accumulators.read(), to) }
    }
    #[inline(always)]
    unsafe fn round_sums(sums: f64, to: *mut u8) {
        // SAFETY: the caller's element.
        unsafe { to.cast::<f32>().write_unaligned(sums as f32) }
    }
}

/// What the two 16-bit types share; they differ in conversions, and in whether a product can be inexact.
macro_rules! sixteen_bit {
    ($name:ident, $one:literal, $widen:path, $narrow:path, $finish:path, $sum:expr) => {
        impl Lanes for $name {
            const N: usize = 1;
            const SIZE: usize = 2;
            const STEPS: usize = 4;
            const ONE: u32 = $one;
            type Values = f32;
            type Turned = *const u8;
            type Rounded = u16;
            type Sums = f32;
            type Set = Scalar;
            const HOLDS_GROUP: bool = true;

            #[inline(always)]
            unsafe fn load(from: *const u8) -> f32 {
                // SAFETY: the caller's element.
                $widen(unsafe { from.cast::<u16>().read_unaligned() })
            }
            #[inline(always)]
            unsafe fn turned(from: *const u8) -> *const u8 {
                from
            }
            #[inline(always)]
            unsafe fn turned_row(turned: &*const u8, row: usize) -> f32 {
                // SAFETY: the caller's elements.
                unsafe { Self::load(turned.add(row * Self::SIZE)) }
            }
            #[inline(always)]
            unsafe fn round(products: f32) -> u16 {
                $narrow(products)
            }
            #[inline(always)]
            unsafe fn put(to: *mut u8, values: u16, _streamed: bool) {
                // SAFETY: the caller's element.
                unsafe { to.cast::<u16>().write_unaligned(values) }
            }
            #[inline(always)]
            unsafe fn product(a: f32, b: f32) -> f32 {
                a * b
            }
            #[inline(always)]
            unsafe fn no_sums() -> f32 {
                -0.0
            }
            #[inline(always)]
            unsafe fn add_product(sums: f32, a: f32, b: f32) -> f32 {
                let sum: fn(f32, f32, f32) -> f32 = $sum;
                sum(sums, a, b)
            }
            #[inline(always)]
            unsafe fn add(sums: f32, a: f32) -> f32 {
                sums + a
            }
            #[inline(always)]
            unsafe fn accumulate<const FRESH: bool>(accumulators: *mut f64, sums: f32) {
                let sums = f64::from(sums);
                // SAFETY: the caller's accumulator.
                unsafe { accumulators.write(if FRESH { sums } else { accumulators.read() + sums }) }
            }
            #[inline(always)]
            unsafe fn finish(accumulators: *const f64, to: *mut u8) {
                // SAFETY: the caller's accumulator and element.
                unsafe { to.cast::<u16>().write_unaligned($finish(accumulators.read())) }
            }
            #[inline(always)]
            unsafe fn round_sums(sums: f32, to: *mut u8) {
                // SAFETY: the caller's element. Sums of one group are exact in `f32`.
                unsafe { to.cast::<u16>().write_unaligned($narrow(sums)) }
            }
        }
    };
}

// The product of two binary16 is exact in binary32, in range too: a plain add gives what a fused one would.
sixteen_bit!(F16, 0x3c00, element::f16_to_f32, element::f32_to_f16, element::f64_to_f16, |sums, a, b| sums + a * b);
// The product of two bfloat16 has 16 bits but can leave binary32's range, where only the fused operation is right.
sixteen_bit!(Bf16, 0x3f80, element::bf16_to_f32, element::f32_to_bf16, element::f64_to_bf16, |sums, a, b| a
    .mul_add(b, sums));
