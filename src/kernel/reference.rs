//! The operator as the contract states it, one element at a time: what to compare an NPU's results, or a faster kernel's,
//! with.
//!
//! [`run`] gives every output bit. It shares no arithmetic with the kernels but Rust's own: conversions and the last
//! rounding are written out here a second time, in another way.

use super::{ModulateBackward, View2, View3};
use crate::dtype::FloatType;

/// Rows that are summed in one go.
const GROUP: usize = 8;
/// Rows whose groups are summed in one go.
const CHUNK: usize = 1024;

/// Computes the problem on the calling thread, in the thread's floating-point mode.
///
/// # Safety
///
/// As for [`super::run`].
pub unsafe fn run(problem: &ModulateBackward) {
    let [batch, sequence, hidden] = problem.dims;
    let dtype = problem.dtype;
    for b in 0..batch {
        for d in 0..hidden {
            // SAFETY: indices are within the dims, and the caller vouches for the views.
            unsafe {
                let scale = problem.scale.map(|view| read(dtype, at2(dtype, &view, b, d)));
                let g = |l: usize| read(dtype, at3(dtype, &problem.grad_output, b, l, d));
                // Sums first: grad_input may be the view of either input.
                let grad_scale = problem.input.map(|input| {
                    let x = |l: usize| read(dtype, at3(dtype, &input, b, l, d));
                    match dtype {
                        FloatType::F32 => sum(sequence, |l, sum: f64| f64::from(g(l)).mul_add(f64::from(x(l)), sum)),
                        _ => sum(sequence, |l, sum: f32| g(l).mul_add(x(l), sum)),
                    }
                });
                let grad_shift = match dtype {
                    FloatType::F32 => sum(sequence, |l, sum: f64| sum + f64::from(g(l))),
                    _ => sum(sequence, |l, sum: f32| sum + g(l)),
                };
                for l in 0..sequence {
                    let factor = scale.unwrap_or(1.0);
                    // The product of two elements is exact in binary64.
                    let product = f64::from(g(l)) * f64::from(factor);
                    write(dtype, at3(dtype, &problem.grad_input, b, l, d), product);
                }
                if let (Some(view), Some(value)) = (&problem.grad_scale, grad_scale) {
                    write(dtype, at2(dtype, view, b, d), value);
                }
                if let Some(view) = &problem.grad_shift {
                    write(dtype, at2(dtype, view, b, d), grad_shift);
                }
            }
        }
    }
}

/// A group's running sum: `f64` for FLOAT, `f32` for the 16-bit types.
trait GroupSum: Copy + Into<f64> {
    /// The start that leaves the first term as it is: `-0.0 + t` is `t` for every `t`, the two zeros included.
    const NOTHING: Self;
}
impl GroupSum for f32 {
    const NOTHING: f32 = -0.0;
}
impl GroupSum for f64 {
    const NOTHING: f64 = -0.0;
}

/// The contract's order: rows into groups of 8, groups into chunks of 1024 rows, chunks into the sum; `f64` from the
/// groups on.
fn sum<S: GroupSum>(rows: usize, add: impl Fn(usize, S) -> S) -> f64 {
    let mut total = -0.0;
    for chunk in (0..rows).step_by(CHUNK) {
        let chunk_end = rows.min(chunk + CHUNK);
        let mut chunk_sum = -0.0;
        for group in (chunk..chunk_end).step_by(GROUP) {
            let mut group_sum = S::NOTHING;
            for row in group..chunk_end.min(group + GROUP) {
                group_sum = add(row, group_sum);
            }
            chunk_sum += group_sum.into();
        }
        total += chunk_sum;
    }
    total
}

unsafe fn at3(dtype: FloatType, view: &View3, b: usize, l: usize, d: usize) -> *mut u8 {
    let index = b * view.stride[0] + l * view.stride[1] + d * view.stride[2];
    // SAFETY: an element of the view.
    unsafe { view.base.add(index * dtype.size()) }
}

unsafe fn at2(dtype: FloatType, view: &View2, b: usize, d: usize) -> *mut u8 {
    // SAFETY: an element of the view.
    unsafe { view.base.add((b * view.stride[0] + d * view.stride[1]) * dtype.size()) }
}

unsafe fn read(dtype: FloatType, from: *const u8) -> f32 {
    // SAFETY: the caller's element, of this type.
    unsafe {
        match dtype {
            FloatType::F32 => from.cast::<f32>().read_unaligned(),
            FloatType::F16 => half::f16::from_bits(from.cast::<u16>().read_unaligned()).to_f32(),
            FloatType::Bf16 => half::bf16::from_bits(from.cast::<u16>().read_unaligned()).to_f32(),
        }
    }
}

unsafe fn write(dtype: FloatType, to: *mut u8, value: f64) {
    // SAFETY: the caller's element, of this type.
    unsafe {
        match dtype {
            FloatType::F32 => to.cast::<f32>().write_unaligned(value as f32),
            FloatType::F16 => to.cast::<u16>().write_unaligned(round16(value, 10, 15)),
            FloatType::Bf16 => to.cast::<u16>().write_unaligned(round16(value, 7, 127)),
        }
    }
}

/// Rounds to a 16-bit type with `fraction` bits of fraction and largest exponent `bias`: once, to nearest even.
pub fn round16(value: f64, fraction: u32, bias: i32) -> u16 {
    let bits = value.to_bits();
    let sign = ((bits >> 63) as u16) << 15;
    let infinity = (0x7fff >> fraction) << fraction;
    if value.is_nan() {
        return sign | infinity | (1 << (fraction - 1));
    }
    if value == 0.0 || value.is_infinite() {
        return sign | if value == 0.0 { 0 } else { infinity };
    }
    // value = significand * 2^(exponent - 52). A binary64 subnormal is far below half of any smallest subnormal here.
    let exponent = ((bits >> 52) & 0x7ff) as i32 - 1023;
    let significand = (bits & ((1 << 52) - 1)) | (1 << 52);
    // The weight of the last place of the result, and how many of the significand's bits lie below it.
    let last_place = exponent.max(1 - bias) - fraction as i32;
    let below = last_place - (exponent - 52);
    if below > 54 {
        return sign;
    }
    let kept = significand >> below;
    let rest = significand - (kept << below);
    let half = 1 << (below - 1);
    let up = rest > half || (rest == half && kept & 1 == 1);
    // As an integer the encoding grows with the value: adding the kept bits to the exponent field's start carries rightly,
    // from subnormal to normal and from the largest finite value to infinity.
    let field = (exponent.max(1 - bias) + bias - 1) as u64;
    let encoded = (field << fraction) + kept + u64::from(up);
    sign | encoded.min(u64::from(infinity)) as u16
}
