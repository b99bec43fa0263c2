//! The three element types in plain integer and scalar arithmetic: conversions and the one final rounding.
//!
//! The scalar tier computes with these, and the vector tiers must agree with them bit for bit.

use half::f16;

/// The exact value of a bfloat16: its bits are the upper half of a binary32.
#[inline(always)]
pub fn bf16_to_f32(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

/// Rounds to bfloat16, to nearest even. NaN stays NaN, even where its payload sits in the lower half only.
#[inline(always)]
pub fn f32_to_bf16(value: f32) -> u16 {
    let bits = value.to_bits();
    if value.is_nan() {
        return (bits >> 16) as u16 | 0x40;
    }
    // Half an ulp less one, plus one where the kept part is odd: ties go to even, a carry runs into the exponent, and
    // past the largest exponent it makes infinity. Subnormals need nothing of their own.
    ((bits + 0x7fff + ((bits >> 16) & 1)) >> 16) as u16
}

/// The exact value of a binary16.
#[inline(always)]
pub fn f16_to_f32(bits: u16) -> f32 {
    f16::from_bits(bits).to_f32()
}

/// Rounds to binary16, to nearest even; past 65504 and a half ulp it is infinity.
#[inline(always)]
pub fn f32_to_f16(value: f32) -> u16 {
    f16::from_f32(value).to_bits()
}

/// Rounds to binary32 such that a second rounding to a type with fewer than 23 bits gives what one rounding would.
///
/// Rounding to odd: an inexact result is cut towards zero and its last bit set, so that it can neither look exact nor sit
/// on a tie of the narrower type.
#[inline(always)]
pub fn f64_to_f32_odd(value: f64) -> f32 {
    let nearest = value as f32;
    let back = f64::from(nearest);
    let away = u32::from(back.abs() > value.abs());
    let inexact = u32::from(back != value && !value.is_nan());
    f32::from_bits((nearest.to_bits() - away) | inexact)
}

/// Rounds from binary64 straight to binary16.
#[inline(always)]
pub fn f64_to_f16(value: f64) -> u16 {
    f32_to_f16(f64_to_f32_odd(value))
}

/// Rounds from binary64 straight to bfloat16.
#[inline(always)]
pub fn f64_to_bf16(value: f64) -> u16 {
    f32_to_bf16(f64_to_f32_odd(value))
}
