//! Problems for kernel tests: tensors of any layout over memory that shows what was touched, and their reference results.

#![allow(dead_code)]

use aclnn_modulate::dtype::FloatType;
use aclnn_modulate::kernel::{ModulateBackward, Tuning, View2, View3, reference, run_tuned, workspace_bytes};

pub const TYPES: [FloatType; 3] = [FloatType::F32, FloatType::F16, FloatType::Bf16];

/// A small generator of pseudo-random numbers: the same in every run.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        // Xorshift with a multiplication: good enough to mix test data.
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub fn below(&mut self, end: usize) -> usize {
        (self.next() >> 33) as usize % end
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// How the elements of a [B, L, D] tensor lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    Contiguous,
    /// Rows further apart than they are long.
    RowPitch(usize),
    /// Columns apart.
    ColumnStep(usize),
    /// L adjacent, columns a sample's length and a little apart.
    Transposed(usize),
    /// Batch innermost.
    BatchInner,
    /// One element stands for all.
    ExpandedAll,
    /// One row stands for all of a sample.
    ExpandedRows,
    /// One column stands for all of a sample.
    ExpandedColumns,
    /// One sample stands for all.
    ExpandedBatch,
}

impl Layout {
    pub const OUTPUTS: [Self; 9] = [
        Self::Contiguous,
        Self::RowPitch(1),
        Self::RowPitch(16),
        Self::RowPitch(40),
        Self::ColumnStep(2),
        Self::ColumnStep(3),
        Self::Transposed(0),
        Self::Transposed(5),
        Self::BatchInner,
    ];
    pub const ALL: [Self; 13] = [
        Self::Contiguous,
        Self::RowPitch(1),
        Self::RowPitch(16),
        Self::RowPitch(40),
        Self::ColumnStep(2),
        Self::ColumnStep(3),
        Self::Transposed(0),
        Self::Transposed(5),
        Self::BatchInner,
        Self::ExpandedAll,
        Self::ExpandedRows,
        Self::ExpandedColumns,
        Self::ExpandedBatch,
    ];

    pub fn strides(self, [b, l, d]: [usize; 3]) -> [usize; 3] {
        match self {
            Self::Contiguous => [l * d, d, 1],
            Self::RowPitch(more) => [l * (d + more), d + more, 1],
            Self::ColumnStep(step) => [l * d * step, d * step, step],
            Self::Transposed(more) => [(l + more) * d, 1, l + more],
            Self::BatchInner => [1, b * d, b],
            Self::ExpandedAll => [0, 0, 0],
            Self::ExpandedRows => [d, 0, 1],
            Self::ExpandedColumns => [l, 1, 0],
            Self::ExpandedBatch => [0, d, 1],
        }
    }
}

/// What the values are like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// Around one, both signs: sums round at every step.
    Usual,
    /// Everything: zeros, subnormals, the largest and smallest, infinities and NaN.
    Any,
    /// Near the ends of the type's range, where products underflow and overflow, but no infinity and no NaN.
    Extreme,
    /// Every other one infinite or NaN, quiet and signalling.
    Nans,
    /// Nothing but -0.0, which the sum of 0.0 and -0.0 is not.
    Zeros,
}

/// One element's bits.
pub fn value(random: &mut Random, dtype: FloatType, values: Values) -> u32 {
    let (bits, fraction) = match dtype {
        FloatType::F32 => (32, 23),
        FloatType::F16 => (16, 10),
        FloatType::Bf16 => (16, 7),
    };
    let exponent_bits = bits - 1 - fraction;
    let largest = (1_u32 << exponent_bits) - 1;
    let bias = largest / 2;
    let sign = (random.next() as u32 & 1) << (bits - 1);
    let mantissa = random.next() as u32 & ((1 << fraction) - 1);
    let mantissa = if random.below(8) == 0 { 0 } else { mantissa };
    let any = random.below(largest as usize + 1) as u32;
    let exponent = match values {
        Values::Usual => bias - 3 + random.below(6) as u32,
        Values::Any => random.pick(&[0, 0, 1, bias, bias, bias, bias + 3, largest - 1, any]),
        Values::Nans => random.pick(&[bias, largest]),
        Values::Extreme => {
            let spread = random.below(12) as u32;
            random.pick(&[0, bias / 2 + spread / 2, bias / 2, bias + bias / 2 - spread.min(bias / 2), bias])
        }
        Values::Zeros => return 1 << (bits - 1),
    };
    sign | exponent << fraction | mantissa
}

/// A tensor's memory: poison before, between and after the elements.
#[derive(Clone)]
pub struct Memory {
    bytes: Vec<u8>,
    start: usize,
    offsets: Vec<usize>,
    size: usize,
    pub strides: Vec<usize>,
}

const POISON: u8 = 0xa5;

impl Memory {
    /// `dims` and `strides` in elements; the first element stands `start` bytes into the memory, aligned or not.
    pub fn new(dims: &[usize], strides: &[usize], size: usize, start: usize) -> Self {
        let mut offsets = vec![0];
        for (dim, stride) in dims.iter().zip(strides) {
            offsets = offsets.iter().flat_map(|offset| (0..*dim).map(move |i| offset + i * stride * size)).collect();
        }
        let length = offsets.iter().max().unwrap() + size;
        // The elements' alignment must not be the allocator's whim: tests repeat exactly.
        let mut bytes: Vec<u8> = Vec::with_capacity(start + length + 192);
        let start = start + (64 - bytes.as_ptr().addr() % 64) % 64;
        bytes.resize(start + length + 128, POISON);
        Self { bytes, start, offsets, size, strides: strides.to_vec() }
    }

    pub fn fill(&mut self, random: &mut Random, dtype: FloatType, values: Values) {
        for offset in &self.offsets {
            let bits = value(random, dtype, values).to_le_bytes();
            let at = self.start + offset;
            self.bytes[at..at + self.size].copy_from_slice(&bits[..self.size]);
        }
    }

    pub fn base(&mut self) -> *mut u8 {
        self.bytes[self.start..].as_mut_ptr()
    }

    /// The elements' bits, in the dims' order.
    pub fn elements(&self) -> Vec<u32> {
        let element = |offset: &usize| {
            let mut bits = [0; 4];
            let at = self.start + offset;
            bits[..self.size].copy_from_slice(&self.bytes[at..at + self.size]);
            u32::from_le_bytes(bits)
        };
        self.offsets.iter().map(element).collect()
    }

    /// Panics where a byte that belongs to no element has changed.
    pub fn assert_poison(&self, what: &str) {
        let mut own = vec![false; self.bytes.len()];
        for offset in &self.offsets {
            own[self.start + offset..self.start + offset + self.size].fill(true);
        }
        let touched = (0..own.len()).find(|&i| !own[i] && self.bytes[i] != POISON);
        assert_eq!(
            touched.map(|i| i as isize - self.start as isize),
            None,
            "{what}: a byte outside the view was written"
        );
    }
}

/// Which optional arguments are given.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    pub scale: bool,
    pub grad_scale: bool,
    pub grad_shift: bool,
}

impl Wanted {
    pub const ALL: [Self; 6] = [
        Self { scale: true, grad_scale: true, grad_shift: true },
        Self { scale: true, grad_scale: true, grad_shift: false },
        Self { scale: true, grad_scale: false, grad_shift: true },
        Self { scale: true, grad_scale: false, grad_shift: false },
        Self { scale: false, grad_scale: false, grad_shift: true },
        Self { scale: false, grad_scale: false, grad_shift: false },
    ];
}

/// Everything that a test varies about a problem.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    pub dtype: FloatType,
    pub dims: [usize; 3],
    /// grad_output, input, grad_input.
    pub layouts: [Layout; 3],
    /// Column step of scale, grad_scale and grad_shift.
    pub steps: [usize; 3],
    /// Elements between two samples of these.
    pub gaps: [usize; 3],
    /// Where the elements begin, in bytes past a line's begin: large tensors, then small ones.
    pub starts: [usize; 6],
    pub wanted: Wanted,
    pub values: Values,
    pub seed: u64,
}

impl Case {
    pub fn plain(dtype: FloatType, dims: [usize; 3]) -> Self {
        Self {
            dtype,
            dims,
            layouts: [Layout::Contiguous; 3],
            steps: [1; 3],
            gaps: [0; 3],
            starts: [64; 6],
            wanted: Wanted::ALL[0],
            values: Values::Usual,
            seed: 1,
        }
    }
}

/// A case's tensors: grad_output, input, grad_input, scale, grad_scale, grad_shift.
pub struct Tensors {
    pub case: Case,
    pub memory: [Memory; 6],
}

impl Tensors {
    pub fn new(case: &Case) -> Self {
        let [b, _, d] = case.dims;
        let size = case.dtype.size();
        let mut random = Random::new(case.seed);
        let large = |i: usize| Memory::new(&case.dims, &case.layouts[i].strides(case.dims), size, case.starts[i]);
        let small = |i: usize| {
            let step = case.steps[i];
            Memory::new(&[b, d], &[d * step + case.gaps[i], step], size, case.starts[3 + i])
        };
        let mut memory = [large(0), large(1), large(2), small(0), small(1), small(2)];
        for i in [0, 1, 3] {
            memory[i].fill(&mut random, case.dtype, case.values);
        }
        Self { case: *case, memory }
    }

    pub fn problem(&mut self) -> ModulateBackward {
        let Case { dtype, dims, wanted, .. } = self.case;
        let mut bases = self.memory.each_mut().map(Memory::base);
        let strides = |i: usize| &self.memory[i].strides;
        let view3 = |i: usize, base: *mut u8| View3 { base, stride: strides(i).as_slice().try_into().unwrap() };
        let view2 = |i: usize, base: *mut u8| View2 { base, stride: strides(i).as_slice().try_into().unwrap() };
        let [g, x, o, s, gs, gh] = &mut bases;
        ModulateBackward {
            dtype,
            dims,
            grad_output: view3(0, *g),
            input: wanted.grad_scale.then(|| view3(1, *x)),
            scale: wanted.scale.then(|| view2(3, *s)),
            grad_input: view3(2, *o),
            grad_scale: wanted.grad_scale.then(|| view2(4, *gs)),
            grad_shift: wanted.grad_shift.then(|| view2(5, *gh)),
        }
    }

    /// The outputs' bits: grad_input, grad_scale, grad_shift.
    pub fn outputs(&self) -> [Vec<u32>; 3] {
        [2, 4, 5].map(|i| self.memory[i].elements())
    }
}

pub fn is_nan(dtype: FloatType, bits: u32) -> bool {
    match dtype {
        FloatType::F32 => bits & 0x7fff_ffff > 0x7f80_0000,
        FloatType::F16 => bits & 0x7fff > 0x7c00,
        FloatType::Bf16 => bits & 0x7fff > 0x7f80,
    }
}

pub fn assert_same(dtype: FloatType, got: &[Vec<u32>; 3], expected: &[Vec<u32>; 3], what: &dyn Fn() -> String) {
    let names = ["grad_input", "grad_scale", "grad_shift"];
    for (name, (got, expected)) in names.iter().zip(got.iter().zip(expected)) {
        for (i, (&got, &expected)) in got.iter().zip(expected).enumerate() {
            let same = got == expected || is_nan(dtype, got) && is_nan(dtype, expected);
            assert!(same, "{name}[{i}] is {got:#x}, expected {expected:#x}: {}", what());
        }
    }
}

/// The reference's outputs.
pub fn expected(case: &Case) -> [Vec<u32>; 3] {
    let mut tensors = Tensors::new(case);
    let problem = tensors.problem();
    // SAFETY: the tensors are alive, and nobody else uses them.
    unsafe { reference::run(&problem) };
    tensors.outputs()
}

/// A workspace of exactly the size that is wanted, at an odd address.
pub struct Workspace(Vec<u8>);

impl Workspace {
    pub fn new(problem: &ModulateBackward) -> Self {
        let bytes = workspace_bytes(problem.dims, problem.grad_scale.is_some(), problem.grad_shift.is_some());
        Self(vec![POISON; bytes + 65])
    }

    pub fn base(&mut self) -> *mut u8 {
        let offset = usize::from(self.0.as_ptr().addr().is_multiple_of(2));
        self.0[offset..].as_mut_ptr()
    }

    pub fn assert_poison(&mut self, problem: &ModulateBackward) {
        let bytes = workspace_bytes(problem.dims, problem.grad_scale.is_some(), problem.grad_shift.is_some());
        let offset = self.base().addr() - self.0.as_ptr().addr();
        assert!(self.0[offset + bytes..].iter().all(|&byte| byte == POISON), "written past the workspace");
    }
}

/// Runs a case in one way and compares it with what is expected.
pub fn check(case: &Case, tuning: &Tuning, expected: &[Vec<u32>; 3]) {
    let mut tensors = Tensors::new(case);
    let problem = tensors.problem();
    let mut workspace = Workspace::new(&problem);
    // SAFETY: the tensors and the workspace are alive, and nobody else uses them; tests ask for available tiers only.
    unsafe { run_tuned(tuning, &problem, workspace.base()) };
    let what = || format!("{case:?} {tuning:?}");
    assert_same(case.dtype, &tensors.outputs(), expected, &what);
    workspace.assert_poison(&problem);
    for i in [2, 4, 5] {
        tensors.memory[i].assert_poison(&what());
    }
}
