//! The kernels alone, in cache, on one thread: every tier that the CPU has, every type, one shape for each way through.
//!
//! For work on the kernels: what changes here is instructions, not memory. `cargo bench --bench kernels -- FILTER` takes a part
//! of the names; other options are divan's.

use aclnn_modulate::dtype::FloatType;
use aclnn_modulate::kernel::{ModulateBackward, Tier, View2, View3, available_tiers, run_with};
use divan::Bencher;
use divan::counter::BytesCount;

/// How the large tensors lie.
#[derive(Clone, Copy, Debug)]
enum Layout {
    Contiguous,
    /// Along L.
    Turned,
    /// Every other column.
    Stepped,
}

/// A shape, and which way through the kernels it takes.
#[derive(Clone, Copy, Debug)]
struct Case {
    way: &'static str,
    dims: [usize; 3],
    layout: Layout,
}

const CASES: [Case; 7] = [
    Case { way: "rows by twos", dims: [1, 16, 640], layout: Layout::Contiguous },
    Case { way: "8 rows at once", dims: [1, 64, 128], layout: Layout::Contiguous },
    Case { way: "one group", dims: [16, 8, 64], layout: Layout::Contiguous },
    Case { way: "one row", dims: [1, 1, 8192], layout: Layout::Contiguous },
    Case { way: "shorter than a line", dims: [4, 512, 4], layout: Layout::Contiguous },
    Case { way: "along L", dims: [1, 64, 128], layout: Layout::Turned },
    Case { way: "columns apart", dims: [1, 64, 128], layout: Layout::Stepped },
];

struct Setting {
    tier: Tier,
    dtype: FloatType,
    case: Case,
}

impl std::fmt::Display for Setting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let dtype = match self.dtype {
            FloatType::F32 => "f32",
            FloatType::F16 => "f16",
            FloatType::Bf16 => "bf16",
        };
        write!(f, "{} {dtype} {} {:?}", self.tier.name(), self.case.way, self.case.dims)
    }
}

fn settings() -> Vec<Setting> {
    let mut settings = Vec::new();
    for case in CASES {
        for dtype in [FloatType::F32, FloatType::F16, FloatType::Bf16] {
            settings.extend(available_tiers().into_iter().map(|tier| Setting { tier, dtype, case }));
        }
    }
    settings
}

#[divan::bench(args = settings())]
fn modulate_backward(bencher: Bencher, setting: &Setting) {
    let Setting { tier, dtype, case: Case { dims: [batch, sequence, hidden], layout, .. } } = *setting;
    let elements = batch * sequence * hidden;
    let (stride, room) = match layout {
        Layout::Contiguous => ([sequence * hidden, hidden, 1], elements),
        Layout::Turned => ([sequence * hidden, 1, sequence], elements),
        Layout::Stepped => ([2 * sequence * hidden, 2 * hidden, 2], 2 * elements),
    };
    // Zeros are as fast as any other numbers; u64 for alignment.
    let memory = |elements: usize| vec![0_u64; (elements * dtype.size()).div_ceil(8)];
    let mut large = [(); 3].map(|()| memory(room));
    let mut small = [(); 3].map(|()| memory(batch * hidden));
    let [grad_output, input, grad_input] = large.each_mut().map(|m| View3 { base: m.as_mut_ptr().cast(), stride });
    let [scale, grad_scale, grad_shift] =
        small.each_mut().map(|m| Some(View2 { base: m.as_mut_ptr().cast(), stride: [hidden, 1] }));
    let dims = [batch, sequence, hidden];
    let input = Some(input);
    let problem = ModulateBackward { dtype, dims, grad_output, input, scale, grad_input, grad_scale, grad_shift };
    bencher
        .counter(BytesCount::new(3 * elements * dtype.size()))
        // SAFETY: the views' memory is this function's alone; these dims need no workspace.
        .bench_local(|| unsafe { run_with(tier, 1, &problem, std::ptr::null_mut()) });
}

fn main() {
    divan::main();
}
