//! What the kernels touch: in-place runs, pages that fault right before and behind every tensor, and the thread's
//! floating-point mode.

mod kernel_support;

use aclnn_modulate::kernel::{
    ModulateBackward, Residence, Tuning, View2, View3, available_tiers, reference, run_tuned,
};
use kernel_support::{Case, Layout, TYPES, Tensors, Values, Wanted, Workspace, assert_same, check, expected};

/// Every tier, alone and with others, as in the caches and as in memory.
fn tunings() -> impl Iterator<Item = Tuning> {
    available_tiers().into_iter().flat_map(|tier| {
        Residence::ALL.into_iter().flat_map(move |residence| [1, 3].map(|threads| Tuning { tier, threads, residence }))
    })
}

/// Memory between two pages that can't be touched: data at its very begin or its very end.
struct Guarded {
    mapping: *mut u8,
    bytes: usize,
}

const PAGE: usize = 4096;

impl Guarded {
    fn new(bytes: usize) -> Self {
        let bytes = bytes.next_multiple_of(PAGE);
        // SAFETY: a fresh mapping, of which all but the first and the last page are opened.
        unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let mapping = libc::mmap(std::ptr::null_mut(), bytes + 2 * PAGE, libc::PROT_NONE, flags, -1, 0);
            assert_ne!(mapping, libc::MAP_FAILED);
            let mapping = mapping.cast::<u8>();
            let opened = libc::mprotect(mapping.add(PAGE).cast(), bytes, libc::PROT_READ | libc::PROT_WRITE);
            assert_eq!(opened, 0);
            Self { mapping, bytes }
        }
    }

    /// Where `bytes` of data start so that they touch the one guard or the other.
    fn place(&self, bytes: usize, at_end: bool) -> *mut u8 {
        self.mapping.wrapping_add(PAGE + if at_end { self.bytes - bytes } else { 0 })
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: mapped in `new`.
        unsafe { libc::munmap(self.mapping.cast(), self.bytes + 2 * PAGE) };
    }
}

/// Bytes from a view's first element to behind its last.
fn extent(dims: &[usize], strides: &[usize], size: usize) -> usize {
    dims.iter().zip(strides).map(|(dim, stride)| (dim - 1) * stride).sum::<usize>() * size + size
}

#[test]
fn nothing_beyond_the_tensors_is_touched() {
    let layouts = [
        Layout::Contiguous,
        Layout::RowPitch(16),
        Layout::RowPitch(3),
        Layout::Transposed(0),
        Layout::Transposed(3),
        Layout::ColumnStep(2),
        Layout::BatchInner,
    ];
    let shapes = [
        [1, 1, 1],
        [2, 9, 7],
        [1, 8, 33],
        [1, 17, 64],
        [2, 1, 100],
        [1, 1100, 5],
        [5, 8, 1],
        [70, 8, 1],
        [1, 3, 129],
        [1, 70, 150],
        [1, 523, 37],
    ];
    for dtype in TYPES {
        for layout in layouts {
            for dims in shapes {
                for wanted in [Wanted::ALL[0], Wanted::ALL[5]] {
                    let case = Case { layouts: [layout; 3], wanted, ..Case::plain(dtype, dims) };
                    let expected = expected(&case);
                    for tuning in tunings() {
                        for at_end in [false, true] {
                            check_guarded(&case, &tuning, at_end, &expected);
                        }
                    }
                }
            }
        }
    }
}

fn check_guarded(case: &Case, tuning: &Tuning, at_end: bool, expected: &[Vec<u32>; 3]) {
    let mut tensors = Tensors::new(case);
    let size = case.dtype.size();
    let [b, l, d] = case.dims;
    let mut problem = tensors.problem();
    let mut places = Vec::new();
    // Moves a tensor between guards; what it held goes along.
    let mut guard = |base: &mut *mut u8, bytes: usize| {
        let guarded = Guarded::new(bytes);
        let place = guarded.place(bytes, at_end);
        // SAFETY: both have room for the tensor.
        unsafe { std::ptr::copy_nonoverlapping(*base, place, bytes) };
        places.push((*base, place, bytes, guarded));
        *base = place;
    };
    let mut guard3 = |view: &mut View3| guard(&mut view.base, extent(&[b, l, d], &view.stride, size));
    guard3(&mut problem.grad_output);
    guard3(&mut problem.grad_input);
    problem.input.iter_mut().for_each(&mut guard3);
    let mut guard2 = |view: &mut View2| guard(&mut view.base, extent(&[b, d], &view.stride, size));
    problem.scale.iter_mut().for_each(&mut guard2);
    problem.grad_scale.iter_mut().for_each(&mut guard2);
    problem.grad_shift.iter_mut().for_each(&mut guard2);
    let mut workspace = Workspace::new(&problem);
    // SAFETY: the tensors are alive, and nobody else uses them. Beyond them a touch ends the test.
    unsafe { run_tuned(tuning, &problem, workspace.base()) };
    for (home, place, bytes, _) in &places {
        // SAFETY: as above.
        unsafe { std::ptr::copy_nonoverlapping(*place, *home, *bytes) };
    }
    assert_same(case.dtype, &tensors.outputs(), expected, &|| format!("{case:?} {tuning:?}"));
}

/// Which output stands on which input.
type Alias = fn(&mut ModulateBackward);

#[test]
fn outputs_in_place_of_inputs() {
    let aliases: [Alias; 5] = [
        |problem| problem.grad_input = problem.grad_output,
        |problem| problem.grad_input = problem.input.unwrap(),
        |problem| problem.grad_scale = problem.scale,
        |problem| problem.grad_shift = problem.scale,
        |problem| (problem.grad_input, problem.grad_scale) = (problem.grad_output, problem.scale),
    ];
    // Each way that the rows of a group are taken: all at once, by ones and by twos, as the only group, as the only row.
    let shapes = [
        [2, 20, 100],
        [1, 2500, 40],
        [3, 5, 4500],
        [4, 8, 1],
        [70, 8, 1],
        [1, 3000, 1],
        [2, 1, 9],
        [1, 100, 7],
        [2, 64, 384],
        [2, 6, 96],
        [3, 1, 64],
        [1, 300, 300],
        [1, 9, 9800],
    ];
    let layouts = [Layout::Contiguous, Layout::RowPitch(16), Layout::Transposed(1), Layout::ColumnStep(2)];
    for dtype in TYPES {
        for dims in shapes {
            for layout in layouts {
                // Starts apart from each other and from a line's begin.
                let case = Case { layouts: [layout; 3], starts: [72; 6], ..Case::plain(dtype, dims) };
                let expected = expected(&case);
                for tuning in tunings() {
                    for (number, alias) in aliases.iter().enumerate() {
                        let mut tensors = Tensors::new(&case);
                        let mut problem = tensors.problem();
                        let given = problem;
                        alias(&mut problem);
                        let mut workspace = Workspace::new(&problem);
                        // SAFETY: the tensors are alive, and nobody else uses them.
                        unsafe { run_tuned(&tuning, &problem, workspace.base()) };
                        // Where the output went, by the input's name.
                        let memory = |base: *mut u8, own: usize, inputs: &[(*mut u8, usize)]| {
                            inputs.iter().find(|(input, _)| *input == base).map_or(own, |(_, index)| *index)
                        };
                        let large = [(given.grad_output.base, 0), (given.input.unwrap().base, 1)];
                        let small = [(given.scale.unwrap().base, 3)];
                        let got = [
                            memory(problem.grad_input.base, 2, &large),
                            memory(problem.grad_scale.unwrap().base, 4, &small),
                            memory(problem.grad_shift.unwrap().base, 5, &small),
                        ];
                        let got = got.map(|index| tensors.memory[index].elements());
                        assert_same(dtype, &got, &expected, &|| format!("alias {number} of {case:?} {tuning:?}"));
                    }
                }
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn subnormals_are_kept_and_the_mode_comes_back() {
    fn mode() -> u32 {
        let mut mode = 0_u32;
        // SAFETY: stores the register to a local.
        unsafe { std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut mode) };
        mode
    }
    fn set_mode(mode: u32) {
        // SAFETY: flush-to-zero, denormals-are-zero and the rounding direction are bits that every x86-64 has.
        unsafe { std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const mode) };
    }
    // Flush to zero, denormals are zero, and rounding down.
    const STRANGE: u32 = 0x1f80 | 0x8000 | 0x0040 | 0x2000;
    for dtype in TYPES {
        for dims in [[1, 20, 100], [1, 2500, 40], [2, 3, 7]] {
            let case = Case { values: Values::Extreme, seed: 5, ..Case::plain(dtype, dims) };
            let expected = expected(&case);
            for tuning in tunings() {
                let mut tensors = Tensors::new(&case);
                let problem = tensors.problem();
                let mut workspace = Workspace::new(&problem);
                let before = mode();
                set_mode(STRANGE);
                // SAFETY: the tensors are alive, and nobody else uses them.
                unsafe { run_tuned(&tuning, &problem, workspace.base()) };
                // The upper bits: the lowest six are flags that arithmetic sets.
                let after = mode();
                set_mode(before);
                assert_eq!(after & !0x3f, STRANGE, "{tuning:?}");
                assert_same(dtype, &tensors.outputs(), &expected, &|| format!("{case:?} {tuning:?}"));
            }
        }
    }
}

#[test]
fn a_sample_does_not_depend_on_its_batch() {
    for dtype in TYPES {
        let case = Case::plain(dtype, [4, 1500, 70]);
        let whole = expected(&case);
        for tuning in tunings() {
            check(&case, &tuning, &whole);
            for sample in 0..4 {
                let mut tensors = Tensors::new(&case);
                let mut problem = tensors.problem();
                problem.dims[0] = 1;
                let views = [&mut problem.grad_output, &mut problem.grad_input, problem.input.as_mut().unwrap()];
                for view in views {
                    view.base = view.base.wrapping_add(sample * view.stride[0] * dtype.size());
                }
                for view in [&mut problem.scale, &mut problem.grad_scale, &mut problem.grad_shift].into_iter().flatten()
                {
                    view.base = view.base.wrapping_add(sample * view.stride[0] * dtype.size());
                }
                let mut workspace = Workspace::new(&problem);
                // SAFETY: the tensors are alive, and nobody else uses them.
                unsafe { run_tuned(&tuning, &problem, workspace.base()) };
                let part = |outputs: &[Vec<u32>; 3]| {
                    let part = |values: &Vec<u32>| values[sample * values.len() / 4..][..values.len() / 4].to_vec();
                    outputs.each_ref().map(part)
                };
                assert_same(dtype, &part(&tensors.outputs()), &part(&whole), &|| format!("sample {sample} {tuning:?}"));
            }
        }
    }
}

#[test]
fn known_values() {
    // Both of the vendor's examples, and sums that a narrow accumulator would get wrong.
    let ones = |dtype| match dtype {
        aclnn_modulate::dtype::FloatType::F32 => 0x3f80_0000_u32,
        aclnn_modulate::dtype::FloatType::F16 => 0x3c00,
        aclnn_modulate::dtype::FloatType::Bf16 => 0x3f80,
    };
    let sums = |dtype| match dtype {
        aclnn_modulate::dtype::FloatType::F32 => 0x4580_0000_u32,
        aclnn_modulate::dtype::FloatType::F16 => 0x6c00,
        aclnn_modulate::dtype::FloatType::Bf16 => 0x4580,
    };
    for dtype in TYPES {
        let case = Case::plain(dtype, [1, 4096, 3]);
        let mut tensors = Tensors::new(&case);
        let problem = tensors.problem();
        let one = ones(dtype).to_le_bytes();
        for base in [problem.grad_output.base, problem.input.unwrap().base] {
            for i in 0..4096 * 3 {
                // SAFETY: the tensor's elements.
                unsafe { std::ptr::copy_nonoverlapping(one.as_ptr(), base.add(i * dtype.size()), dtype.size()) };
            }
        }
        // SAFETY: the tensors are alive, and nobody else uses them; the reference wants no workspace.
        unsafe { reference::run(&problem) };
        let [_, grad_scale, grad_shift] = tensors.outputs();
        assert_eq!(grad_scale, [sums(dtype); 3]);
        assert_eq!(grad_shift, [sums(dtype); 3]);
    }
}
