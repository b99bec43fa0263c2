//! Values of the operator through its exported functions: types, shapes, layouts and optional arguments against two
//! references that share no code with the library, on every instruction set that the CPU has.

mod common;

use std::process::Command;

use aclnn_modulate::kernel;
use common::numbers::{FORMATS, Format};
use common::reference::{self, Gradients, Inputs};
use common::{Tensor, View, run, set_device};
use proptest::prelude::*;
use proptest::test_runner::{TestCaseResult, TestRng, TestRunner};

/// How one tensor lies in its storage.
#[derive(Clone, Debug)]
struct Layout {
    /// Axes from the innermost to the outermost in memory.
    order: Vec<usize>,
    /// Distance of neighbours as a multiple of the dense one, by axis.
    steps: Vec<usize>,
    /// Elements left free after each row, by axis.
    gaps: Vec<usize>,
    /// Axes along which every element is the same one (inputs only).
    expanded: Vec<bool>,
    offset: usize,
}

impl Layout {
    fn view(&self, dims: &[usize]) -> View {
        let mut strides = vec![0; dims.len()];
        let mut dense = 1;
        for axis in &self.order {
            if self.expanded[*axis] {
                continue;
            }
            strides[*axis] = dense * self.steps[*axis];
            dense = strides[*axis] * dims[*axis] + self.gaps[*axis];
        }
        View { dims: dims.to_vec(), strides, offset: self.offset }
    }
}

/// Any layout of a tensor of that rank; half of them are dense in row-major order, as most are in the field.
fn layout(rank: usize, is_input: bool) -> impl Strategy<Value = Layout> {
    let dense = Layout {
        order: (0..rank).rev().collect(),
        steps: vec![1; rank],
        gaps: vec![0; rank],
        expanded: vec![false; rank],
        offset: 0,
    };
    let order = Just(dense.order.clone()).prop_shuffle();
    let steps = proptest::collection::vec(1_usize..4, rank);
    let gaps = proptest::collection::vec(0_usize..5, rank);
    let expanded = proptest::collection::vec(proptest::bool::weighted(if is_input { 0.2 } else { 0.0 }), rank);
    let any = (order, steps, gaps, expanded, 0_usize..9).prop_map(|(order, steps, gaps, expanded, offset)| Layout {
        order,
        steps,
        gaps,
        expanded,
        offset,
    });
    prop_oneof![Just(dense), any]
}

#[derive(Clone, Debug)]
struct Case {
    format: Format,
    dims: [usize; 3],
    layouts: Vec<Layout>,
    scale: bool,
    shift: bool,
    grad_scale: bool,
    grad_shift: bool,
    /// Magnitudes of the values: 2 to the power of up to this, up and down.
    spread: i32,
    seed: u64,
}

fn case() -> impl Strategy<Value = Case> {
    // Around the group of 8 and the chunk of 1024 rows, around vectors, and small shapes of all kinds.
    let length = prop_oneof![4 => 1_usize..40, 1 => 1020_usize..1040, 1 => 2040_usize..2060];
    let hidden = prop_oneof![3 => 1_usize..20, 2 => 20_usize..140];
    let dims = (1_usize..4, length, hidden).prop_map(|(batch, length, hidden)| [batch, length, hidden]);
    let layouts: Vec<_> = [(3, true), (3, true), (2, true), (2, true), (3, false), (2, false), (2, false)]
        .into_iter()
        .map(|(rank, is_input)| layout(rank, is_input))
        .collect();
    let format = proptest::sample::select(&FORMATS[..]);
    (format, dims, layouts, any::<[bool; 4]>(), 0_i32..30, any::<u64>()).prop_map(
        |(format, dims, layouts, [scale, shift, grad_scale, grad_shift], spread, seed)| Case {
            format,
            dims,
            layouts,
            scale,
            shift,
            grad_scale: scale && grad_scale,
            grad_shift: shift && grad_shift,
            spread,
            seed,
        },
    )
}

/// A small generator of reproducible numbers (splitmix64).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A value of either sign, between 1 and 2 times a power of two.
    fn value(&mut self, spread: i32) -> f64 {
        let bits = self.next();
        let fraction = 1.0 + (bits >> 12) as f64 / 2_f64.powi(52);
        let exponent = if spread == 0 { 0 } else { (bits & 0x3FF) as i32 % (2 * spread + 1) - spread };
        let sign = if bits & 0x400 == 0 { 1.0 } else { -1.0 };
        sign * fraction * 2_f64.powi(exponent)
    }
}

/// Fills a view: elements that share memory (expanded axes) get the same value.
fn fill(format: Format, view: &View, numbers: &mut Numbers, spread: i32) -> Vec<u32> {
    let base = Numbers(numbers.next()).0;
    let value = |position: usize| format.bits(Numbers(base ^ position as u64).value(spread));
    view.positions().into_iter().map(value).collect()
}

/// Runs a case through the library; `None` for gradients that were not asked for.
fn outputs(case: &Case) -> (Inputs3, [Option<Vec<u32>>; 3]) {
    let [batch, length, hidden] = case.dims;
    let shapes: [&[usize]; 2] = [&[batch, length, hidden], &[batch, hidden]];
    let view = |argument: usize, shape: usize| case.layouts[argument].view(shapes[shape]);
    let mut numbers = Numbers(case.seed);
    let mut input = |argument: usize, shape: usize| {
        let view = view(argument, shape);
        let values = fill(case.format, &view, &mut numbers, case.spread);
        (Tensor::new(case.format, view, &values), values)
    };
    let output = |argument: usize, shape: usize| Tensor::poisoned(case.format, view(argument, shape));
    let (grad_output, g) = input(0, 0);
    let (x, x_values) = input(1, 0);
    let scale = case.scale.then(|| input(2, 1));
    let shift = case.shift.then(|| input(3, 1).0);
    let grad_input = output(4, 0);
    let grad_scale = case.grad_scale.then(|| output(5, 1));
    let grad_shift = case.grad_shift.then(|| output(6, 1));
    let scale_tensor = scale.as_ref().map(|(tensor, _)| tensor);
    run([
        Some(&grad_output),
        Some(&x),
        scale_tensor,
        shift.as_ref(),
        Some(&grad_input),
        grad_scale.as_ref(),
        grad_shift.as_ref(),
    ]);
    let written = [Some(grad_input), grad_scale, grad_shift].map(|tensor| {
        tensor.map(|tensor| {
            tensor.assert_poison_untouched("output");
            tensor.values()
        })
    });
    grad_output.assert_poison_untouched("grad_output");
    (Inputs3 { g, x: x_values, scale: scale.map(|(_, values)| values) }, written)
}

/// The inputs of a case as the references take them.
struct Inputs3 {
    g: Vec<u32>,
    x: Vec<u32>,
    scale: Option<Vec<u32>>,
}

fn check(case: &Case) -> TestCaseResult {
    let (inputs, [grad_input, grad_scale, grad_shift]) = outputs(case);
    let format = case.format;
    let inputs =
        Inputs { format, dims: case.dims, grad_output: &inputs.g, input: &inputs.x, scale: inputs.scale.as_deref() };
    let expected = reference::bits(&inputs);
    for (name, got, wanted) in [
        ("grad_input", grad_input.as_ref(), &expected.grad_input),
        ("grad_scale", grad_scale.as_ref(), &expected.grad_scale),
        ("grad_shift", grad_shift.as_ref(), &expected.grad_shift),
    ] {
        let Some(got) = got else { continue };
        for (at, (got, wanted)) in got.iter().zip(wanted).enumerate() {
            let (a, b) = (format.value(*got), format.value(*wanted));
            prop_assert!(format.same(*got, *wanted), "{name}[{at}] is {a:e} ({got:#x}), expected {b:e} ({wanted:#x})");
        }
    }
    check_against_bound(&inputs, grad_scale.as_deref(), grad_shift.as_deref())
}

/// The sums against compensated ones: this would notice an order of summation that is wrong in both places.
fn check_against_bound(inputs: &Inputs, grad_scale: Option<&[u32]>, grad_shift: Option<&[u32]>) -> TestCaseResult {
    let [batch, length, hidden] = inputs.dims;
    let format = inputs.format;
    for (name, got, with_input) in [("grad_scale", grad_scale, true), ("grad_shift", grad_shift, false)] {
        let Some(got) = got else { continue };
        for b in 0..batch {
            for d in 0..hidden {
                let at = |l: usize| (b * length + l) * hidden + d;
                let factor = |l: usize| if with_input { format.value(inputs.input[at(l)]) } else { 1.0 };
                let terms = (0..length).map(|l| (format.value(inputs.grad_output[at(l)]), factor(l)));
                let (sum, magnitude) = reference::accurate_sum(terms);
                let result = format.value(got[b * hidden + d]);
                // f16 inputs may be infinite themselves.
                if !magnitude.is_finite() {
                    continue;
                }
                let bound = reference::bound(format, length, magnitude, sum);
                // Sums beyond the format are infinite, and f32 partial sums may already be: the bits test judges those.
                if result.is_finite() {
                    prop_assert!(
                        (result - sum).abs() <= bound,
                        "{name}[{b},{d}] is {result:e}, exact {sum:e} +- {bound:e}"
                    );
                } else {
                    prop_assert!(
                        magnitude >= format.value(format.round(f64::MAX) - 1),
                        "{name}[{b},{d}] is {result:e}"
                    );
                }
            }
        }
    }
    Ok(())
}

fn runner(cases: u32) -> TestRunner {
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    TestRunner::new_with_rng(config, TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha))
}

/// The property, on the tier and the thread count that the environment says.
#[test]
fn any_types_shapes_layouts_and_optional_arguments() {
    set_device();
    runner(300).run(&case(), |case| check(&case)).unwrap();
}

/// The same property in processes that are forced to each other tier, and to several thread counts.
#[test]
fn the_same_on_every_tier_and_thread_count() {
    if std::env::var_os("ACLCPU_ISA").is_some() {
        return; // one of the processes below
    }
    let test = std::env::current_exe().unwrap();
    for tier in kernel::available_tiers() {
        for threads in ["1", "3"] {
            let child = Command::new(&test)
                .args(["--exact", "any_types_shapes_layouts_and_optional_arguments"])
                .env("ACLCPU_ISA", tier.name())
                .env("ACLCPU_THREADS", threads)
                .output()
                .unwrap();
            let output = String::from_utf8_lossy(&child.stdout);
            assert!(child.status.success(), "tier {}, {threads} threads: {output}", tier.name());
            assert!(output.contains("1 passed"), "the test did not run: {output}");
        }
    }
}

fn dense(format: Format, dims: &[usize], values: &[f64]) -> Tensor {
    let bits: Vec<_> = values.iter().map(|value| format.bits(*value)).collect();
    Tensor::new(format, View::contiguous(dims), &bits)
}

fn floats(tensor: &Tensor) -> Vec<f64> {
    tensor.values().into_iter().map(|bits| tensor.format.value(bits)).collect()
}

/// Runs with contiguous tensors and returns the three gradients.
fn gradients(format: Format, dims: [usize; 3], g: &[f64], x: &[f64], scale: &[f64]) -> Gradients3 {
    set_device();
    let [b, _, d] = dims;
    let inputs = [dense(format, &dims, g), dense(format, &dims, x), dense(format, &[b, d], scale)];
    let shift = dense(format, &[b, d], &vec![f64::NAN; b * d]);
    let outputs = [&dims[..], &[b, d], &[b, d]].map(|dims| Tensor::poisoned(format, View::contiguous(dims)));
    let [grad_output, input, scale] = &inputs;
    let [grad_input, grad_scale, grad_shift] = &outputs;
    run([grad_output, input, scale, &shift, grad_input, grad_scale, grad_shift].map(Some));
    let [grad_input, grad_scale, grad_shift] = outputs.each_ref().map(floats);
    Gradients3 { grad_input, grad_scale, grad_shift }
}

struct Gradients3 {
    grad_input: Vec<f64>,
    grad_scale: Vec<f64>,
    grad_shift: Vec<f64>,
}

#[test]
fn the_vendors_two_samples() {
    let page = gradients(Format::F32, [2, 1, 1], &[10.0, 20.0], &[10.0, 20.0], &[20.0, 30.0]);
    assert_eq!(
        (page.grad_input, page.grad_scale, page.grad_shift),
        (vec![200.0, 600.0], vec![100.0, 400.0], vec![10.0, 20.0])
    );
    let sample = gradients(Format::F32, [2, 3, 4], &[2.0; 24], &[2.0; 24], &[2.0; 8]);
    assert_eq!((sample.grad_input, sample.grad_scale, sample.grad_shift), (vec![4.0; 24], vec![12.0; 8], vec![6.0; 8]));
}

#[test]
fn sums_are_wider_than_the_type() {
    for format in FORMATS {
        let ones = gradients(format, [1, 4096, 3], &[1.0; 12288], &[1.0; 12288], &[1.0; 3]);
        assert_eq!((ones.grad_scale, ones.grad_shift), (vec![4096.0; 3], vec![4096.0; 3]), "{format:?}");
    }
    let overflow = gradients(Format::F16, [1, 4, 1], &[16384.0; 4], &[1.0; 4], &[1.0]);
    assert_eq!(overflow.grad_shift, [f64::INFINITY]);
}

#[test]
fn ties_go_to_even() {
    let ties = gradients(Format::Bf16, [1, 1, 2], &[1.5, 1.5], &[1.0, 1.0], &[129.0 / 128.0, 131.0 / 128.0]);
    assert_eq!(ties.grad_input, [1.515625, 1.53125]);
}

#[test]
fn one_row_gives_the_terms_bit_for_bit() {
    for format in FORMATS {
        let row = gradients(format, [1, 1, 2], &[-0.0, 3.0], &[1.0, -0.0], &[1.0, 1.0]);
        for (values, expected) in [(row.grad_shift, [-0.0, 3.0]), (row.grad_scale, [-0.0, -0.0])] {
            assert_eq!(values, expected);
            assert_eq!(values.map_signs(), expected.to_vec().map_signs(), "{format:?}");
        }
    }
}

trait Signs {
    fn map_signs(&self) -> Vec<bool>;
}

impl Signs for Vec<f64> {
    fn map_signs(&self) -> Vec<bool> {
        self.iter().map(|value| value.is_sign_negative()).collect()
    }
}

#[test]
fn nans_and_infinities_go_through() {
    set_device();
    // A NaN whose payload sits in the low half only: cutting it off would leave an infinity.
    let quiet = 0x7F80_0001;
    for (format, nan) in [(Format::F32, quiet), (Format::F16, 0x7C01), (Format::Bf16, 0x7F81)] {
        let dims = [1, 3, 2];
        let g =
            Tensor::new(format, View::contiguous(&dims), &[nan, format.bits(1.0), 0, format.bits(f64::INFINITY), 0, 0]);
        let x = dense(format, &dims, &[1.0; 6]);
        let scale = dense(format, &[1, 2], &[2.0, 2.0]);
        let shift = dense(format, &[1, 2], &[0.0; 2]);
        let outputs = [&dims[..], &[1, 2], &[1, 2]].map(|dims| Tensor::poisoned(format, View::contiguous(dims)));
        let [grad_input, grad_scale, grad_shift] = &outputs;
        run([&g, &x, &scale, &shift, grad_input, grad_scale, grad_shift].map(Some));
        assert!(floats(grad_input)[0].is_nan());
        assert_eq!(floats(grad_input)[3], f64::INFINITY);
        for sums in [floats(grad_scale), floats(grad_shift)] {
            assert!(sums[0].is_nan(), "{format:?}");
            assert_eq!(sums[1], f64::INFINITY, "{format:?}");
        }
    }
}

/// The reference's own expectations, so that both sides can't be wrong in the same way.
#[test]
fn the_references_rounding_is_right() {
    assert_eq!(Format::F16.round(65504.0), 0x7BFF);
    assert_eq!(Format::F16.round(65519.99), 0x7BFF);
    assert_eq!(Format::F16.round(65520.0), 0x7C00);
    assert_eq!(Format::F16.round(2_f64.powi(-25)), 0);
    assert_eq!(Format::F16.round(2_f64.powi(-25) * 1.0001), 1);
    assert_eq!(Format::Bf16.round(1.0 + 2_f64.powi(-8)), 0x3F80);
    assert_eq!(Format::Bf16.round(1.0 + 2_f64.powi(-8) + 2_f64.powi(-40)), 0x3F81);
    assert_eq!(Format::F32.round(-0.0), 0x8000_0000);
    for value in [1.0_f64, 1.1, 3.4e38, 1e-40, 1.5e-45, -7.25, 1e39] {
        assert_eq!(Format::F32.round(value), (value as f32).to_bits(), "{value}");
    }
    for bits in 0..=0xFFFF_u32 {
        for format in [Format::F16, Format::Bf16] {
            assert!(format.same(format.round(format.value(bits)), bits), "{format:?} {bits:#x}");
        }
    }
    let Gradients { grad_scale, .. } = reference::bits(&Inputs {
        format: Format::F32,
        dims: [1, 2, 1],
        grad_output: &[Format::F32.bits(3.0), Format::F32.bits(4.0)],
        input: &[Format::F32.bits(5.0), Format::F32.bits(6.0)],
        scale: None,
    });
    assert_eq!(grad_scale, [Format::F32.bits(39.0)]);
}
