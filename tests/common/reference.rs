//! Two references: the contract's order of summation as a plain scalar loop (bits), and compensated sums (values).

use super::numbers::Format;

/// Inputs as elements' bits in row-major order, absent ones `None`.
pub struct Inputs<'a> {
    pub format: Format,
    pub dims: [usize; 3],
    pub grad_output: &'a [u32],
    pub input: &'a [u32],
    pub scale: Option<&'a [u32]>,
}

/// The three gradients as elements' bits.
#[derive(Clone, Debug, PartialEq)]
pub struct Gradients {
    pub grad_input: Vec<u32>,
    pub grad_scale: Vec<u32>,
    pub grad_shift: Vec<u32>,
}

const GROUP: usize = 8;
const CHUNK: usize = 1024;

/// The gradients to the bit: products exact, sums in the contract's order, one rounding.
pub fn bits(inputs: &Inputs) -> Gradients {
    let [batch, length, hidden] = inputs.dims;
    let format = inputs.format;
    let g = |b: usize, l: usize, d: usize| inputs.grad_output[(b * length + l) * hidden + d];
    let x = |b: usize, l: usize, d: usize| inputs.input[(b * length + l) * hidden + d];
    let mut gradients = Gradients { grad_input: Vec::new(), grad_scale: Vec::new(), grad_shift: Vec::new() };
    for b in 0..batch {
        for l in 0..length {
            for d in 0..hidden {
                gradients.grad_input.push(match inputs.scale {
                    // Exact in f64: 24 + 24 bits at most.
                    Some(scale) => format.round(format.value(g(b, l, d)) * format.value(scale[b * hidden + d])),
                    None => g(b, l, d),
                });
            }
        }
        for d in 0..hidden {
            let pairs: Vec<_> = (0..length).map(|l| (format.value(g(b, l, d)), format.value(x(b, l, d)))).collect();
            gradients.grad_scale.push(format.round(sum(format, &pairs)));
            let ones: Vec<_> = pairs.iter().map(|(g, _)| (*g, 1.0)).collect();
            gradients.grad_shift.push(format.round(sum(format, &ones)));
        }
    }
    gradients
}

/// The sum of the products in the contract's order. (Times 1 it is the sum of the first factors: each product is exact.)
fn sum(format: Format, pairs: &[(f64, f64)]) -> f64 {
    let group = |rows: &[(f64, f64)]| {
        if format == Format::F32 {
            let first = rows[0].0 * rows[0].1;
            rows[1..].iter().fold(first, |sum, (g, x)| g.mul_add(*x, sum))
        } else {
            let first = rows[0].0 as f32 * rows[0].1 as f32;
            f64::from(rows[1..].iter().fold(first, |sum, (g, x)| (*g as f32).mul_add(*x as f32, sum)))
        }
    };
    let chunk = |rows: &[(f64, f64)]| rows.chunks(GROUP).map(group).reduce(|sum, group| sum + group).unwrap();
    pairs.chunks(CHUNK).map(chunk).reduce(|sum, chunk| sum + chunk).unwrap()
}

/// A sum of products to about twice the precision of f64, and the sum of their magnitudes.
pub fn accurate_sum(pairs: impl Iterator<Item = (f64, f64)>) -> (f64, f64) {
    let (mut sum, mut lost, mut magnitude) = (0.0_f64, 0.0_f64, 0.0_f64);
    for (a, b) in pairs {
        let term = a * b;
        let next = sum + term;
        lost += if sum.abs() >= term.abs() { (sum - next) + term } else { (term - next) + sum };
        sum = next;
        magnitude += term.abs();
    }
    (sum + lost, magnitude)
}

/// The contract's bound on the error of a sum of `length` terms whose magnitudes sum up to `magnitude`.
pub fn bound(format: Format, length: usize, magnitude: f64, result: f64) -> f64 {
    let length = length as f64;
    let in_f64 = (length / 8.0 + 16.0) * 2_f64.powi(-53) * magnitude;
    let in_f32 = if format == Format::F32 { 0.0 } else { 8.0 * 2_f64.powi(-24) * magnitude };
    let underflow = if format == Format::Bf16 { length * 2_f64.powi(-149) } else { 0.0 };
    in_f64 + in_f32 + underflow + 0.5 * format.ulp(result)
}
