//! The three number formats, from their definitions: no conversion here comes from the library or from a crate.

/// A binary floating-point format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    F32,
    F16,
    Bf16,
}

pub const FORMATS: [Format; 3] = [Format::F32, Format::F16, Format::Bf16];

impl Format {
    /// The vendor's number.
    pub fn number(self) -> i32 {
        match self {
            Self::F32 => 0,
            Self::F16 => 1,
            Self::Bf16 => 27,
        }
    }

    /// Bytes per element.
    pub fn size(self) -> usize {
        if self == Self::F32 { 4 } else { 2 }
    }

    /// Bits of the fraction and of the exponent.
    fn widths(self) -> (i32, i32) {
        match self {
            Self::F32 => (23, 8),
            Self::F16 => (10, 5),
            Self::Bf16 => (7, 8),
        }
    }

    fn bias(self) -> i32 {
        (1 << (self.widths().1 - 1)) - 1
    }

    /// The exact value of an element.
    pub fn value(self, bits: u32) -> f64 {
        let (fraction_bits, exponent_bits) = self.widths();
        let fraction = f64::from(bits & ((1 << fraction_bits) - 1));
        let exponent = (bits >> fraction_bits & ((1 << exponent_bits) - 1)) as i32;
        let sign = if bits >> (fraction_bits + exponent_bits) & 1 == 1 { -1.0 } else { 1.0 };
        let unit = 2_f64.powi(1 - self.bias() - fraction_bits);
        let magnitude = if exponent == (1 << exponent_bits) - 1 {
            if fraction == 0.0 { f64::INFINITY } else { f64::NAN }
        } else if exponent == 0 {
            fraction * unit
        } else {
            (fraction + 2_f64.powi(fraction_bits)) * unit * 2_f64.powi(exponent - 1)
        };
        sign * magnitude
    }

    /// Distance of neighbouring elements around a value, in the format's range.
    pub fn ulp(self, value: f64) -> f64 {
        let (fraction_bits, _) = self.widths();
        let smallest = 1 - self.bias() - fraction_bits;
        let exponent = if value == 0.0 { i32::MIN / 2 } else { exponent_of(value) };
        2_f64.powi((exponent - fraction_bits).max(smallest))
    }

    /// The element nearest to a value, ties to even, overflow to infinity: one rounding.
    pub fn round(self, value: f64) -> u32 {
        let (fraction_bits, exponent_bits) = self.widths();
        let sign = u32::from(value.is_sign_negative()) << (fraction_bits + exponent_bits);
        let infinity = ((1_u32 << exponent_bits) - 1) << fraction_bits;
        if value.is_nan() {
            return infinity | 1 << (fraction_bits - 1);
        }
        let magnitude = value.abs();
        let ulp = self.ulp(magnitude);
        // Exact: a division by a power of two, of a value that is at most 2^53 of them or is rounded to fewer bits.
        let units = (magnitude / ulp).round_ties_even();
        let rounded = units * ulp;
        let limit = 2_f64.powi(self.bias() + 1);
        if rounded >= limit {
            return sign | infinity;
        }
        let ulp = self.ulp(rounded);
        let units = (rounded / ulp) as u32;
        let smallest = self.ulp(0.0);
        // Each doubling of the ulp is one step of the exponent; the leading bit of `units` is the first one.
        let doublings = exponent_of(ulp) - exponent_of(smallest);
        sign | (units + ((doublings as u32) << fraction_bits))
    }

    /// The nearest element to a value, as tests write inputs.
    pub fn bits(self, value: f64) -> u32 {
        self.round(value)
    }

    /// Whether two elements are the same bits, or both NaN.
    pub fn same(self, a: u32, b: u32) -> bool {
        a == b || (self.value(a).is_nan() && self.value(b).is_nan())
    }
}

fn exponent_of(value: f64) -> i32 {
    let bits = value.abs().to_bits();
    let exponent = (bits >> 52) as i32;
    // Subnormal f64: the position of its leading bit.
    if exponent == 0 { -1074 + (63 - bits.leading_zeros() as i32) } else { exponent - 1023 }
}
