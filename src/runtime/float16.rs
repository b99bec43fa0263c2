//! The vendor's conversions between float and binary16: they saturate, and know no infinities and NaNs. (The operator
//! itself keeps both.)

use half::f16;

/// The largest finite binary16.
const MAX_BITS: u16 = 0x7BFF;
const SIGN: u16 = 0x8000;

/// Rounds to nearest, ties to even. What is too large, infinity and NaN become the largest finite number; NaN the
/// positive one.
pub fn from_f32(value: f32) -> u16 {
    if value.is_nan() {
        return MAX_BITS;
    }
    let bits = f16::from_f32(value).to_bits();
    if bits & !SIGN > MAX_BITS { bits & SIGN | MAX_BITS } else { bits }
}

/// Reads all exponents as those of numbers: the bits of infinity are 65536, those of NaN go on from there up to 131008.
pub fn to_f32(bits: u16) -> f32 {
    let magnitude = bits & !SIGN;
    if magnitude > MAX_BITS {
        let mantissa = f32::from(magnitude & 0x3FF) / 1024.0;
        let value = 65536.0 * (1.0 + mantissa);
        return if bits & SIGN == 0 { value } else { -value };
    }
    f16::from_bits(bits).to_f32()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn saturates_as_the_vendor_documents() {
        let cases = [
            (f32::NAN, 0x7BFF),
            (-f32::NAN, 0x7BFF),
            (f32::INFINITY, 0x7BFF),
            (f32::NEG_INFINITY, 0xFBFF),
            (65504.0, 0x7BFF),
            (65519.0, 0x7BFF),
            (65520.0, 0x7BFF),
            (-1e30, 0xFBFF),
            (1.0, 0x3C00),
            (-0.0, 0x8000),
            // Ties go to even.
            (1.0 + 1.0 / 2048.0, 0x3C00),
            (1.0 + 3.0 / 2048.0, 0x3C02),
            // The least subnormal, half of it, and a bit more than half.
            (5.960_464_5e-8, 0x0001),
            (2.980_232_2e-8, 0x0000),
            (2.980_233e-8, 0x0001),
        ];
        for (value, bits) in cases {
            assert_eq!(from_f32(value), bits, "{value}");
        }
    }

    #[test]
    fn reads_infinities_and_nans_as_numbers() {
        assert_eq!(to_f32(0x7C00), 65536.0);
        assert_eq!(to_f32(0xFC00), -65536.0);
        assert_eq!(to_f32(0x7E00), 98304.0);
        assert_eq!(to_f32(0x7BFF), 65504.0);
        assert_eq!(to_f32(0x0001), 5.960_464_5e-8);
        assert!(to_f32(0x8000).is_sign_negative());
    }

    #[test]
    fn every_finite_number_comes_back() {
        for bits in (0..=u16::MAX).filter(|bits| bits & !SIGN <= MAX_BITS) {
            assert_eq!(from_f32(to_f32(bits)), bits);
        }
    }
}
