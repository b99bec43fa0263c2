//! What a call costs besides the arithmetic: both phases through the exported functions, allocations counted.
//!
//! Prints medians over rounds of many calls, with their quartiles: phase one alone, the smallest whole call ([2, 1, 1]), a
//! call whose data are in cache against the kernel alone on the same memory, in turns, and the smallest call from several
//! threads at once, each on a stream of its own. Then the memory that large calls take beyond their tensors and workspace.
//! `--json FILE` writes the same numbers to a file.

#![allow(unsafe_code)]

#[path = "../tests/common/counting.rs"]
mod counting;

use std::ptr::null_mut;
use std::sync::Barrier;
use std::time::Instant;

use aclnn_modulate::api::types::{aclOpExecutor, aclTensor, aclrtStream};
use aclnn_modulate::api::{executor, modulate_backward, runtime, stream, tensor};
use aclnn_modulate::dtype::FloatType;
use aclnn_modulate::kernel::{self, ModulateBackward, View2, View3};
use aclnn_modulate::runtime::pool::Owner;
use counting::allocations;
use serde_json::{Value, json};

/// Contiguous f32 tensors of one shape, over memory of their own.
struct Call {
    dims: [usize; 3],
    tensors: [*mut aclTensor; 7],
    memory: Vec<Vec<f32>>,
}

impl Call {
    fn new(dims: [usize; 3]) -> Self {
        let [b, l, d] = dims.map(|dim| dim as i64);
        let shapes = [vec![b, l, d], vec![b, d]];
        let mut memory = Vec::new();
        let tensors = [0, 0, 1, 1, 0, 1, 1].map(|shape: usize| {
            let dims = &shapes[shape];
            let mut values = vec![1.0_f32; dims.iter().product::<i64>() as usize];
            let (at, rank) = (values.as_mut_ptr().cast(), dims.len() as u64);
            memory.push(values);
            // SAFETY: the arrays have `rank` elements.
            unsafe { tensor::aclCreateTensor(dims.as_ptr(), rank, 0, std::ptr::null(), 0, 2, dims.as_ptr(), rank, at) }
        });
        Self { dims, tensors, memory }
    }

    fn plan(&self) -> *mut aclOpExecutor {
        let [a, b, c, d, e, f, g] = self.tensors;
        let (mut size, mut executor) = (0, null_mut());
        // SAFETY: the results go to two locals.
        let status = unsafe {
            modulate_backward::aclnnModulateBackwardGetWorkspaceSize(a, b, c, d, e, f, g, &mut size, &mut executor)
        };
        assert_eq!(status, 0);
        executor
    }

    /// What phase two gives to the kernel.
    fn problem(&mut self) -> ModulateBackward {
        let [_, l, d] = self.dims;
        let mut bases = self.memory.iter_mut().map(|values| values.as_mut_ptr().cast());
        let mut base = || bases.next().expect("seven tensors");
        let view3 = |base| View3 { base, stride: [l * d, d, 1] };
        let view2 = |base| View2 { base, stride: [d, 1] };
        let (grad_output, input, scale, _shift) = (view3(base()), Some(view3(base())), Some(view2(base())), base());
        let (grad_input, grad_scale, grad_shift) = (view3(base()), Some(view2(base())), Some(view2(base())));
        let dtype = FloatType::F32;
        ModulateBackward { dtype, dims: self.dims, grad_output, input, scale, grad_input, grad_scale, grad_shift }
    }

    fn run(&self, on: aclrtStream) {
        self.run_with(null_mut(), 0, on);
    }

    fn run_with(&self, workspace: *mut u8, size: u64, on: aclrtStream) {
        let planned = self.plan();
        // SAFETY: the tensors' memory lives as long as this, and the workspace is the caller's.
        let status = unsafe { modulate_backward::aclnnModulateBackward(workspace.cast(), size, planned, on) };
        assert_eq!(status, 0);
        assert_eq!(stream::aclrtSynchronizeStream(on), 0);
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        for handle in self.tensors {
            tensor::aclDestroyTensor(handle);
        }
    }
}

const ROUNDS: usize = 31;

/// Nanoseconds per call: the median of the rounds, and its quartiles.
#[derive(Clone, Copy)]
struct Times {
    low: f64,
    median: f64,
    high: f64,
}

impl Times {
    fn of(mut rounds: Vec<f64>) -> Self {
        rounds.sort_by(f64::total_cmp);
        let at = |quarter: usize| rounds[quarter * (rounds.len() - 1) / 4];
        Self { low: at(1), median: at(2), high: at(3) }
    }
}

/// Nanoseconds per call of one round.
fn round(calls: usize, call: &mut dyn FnMut()) -> f64 {
    let start = Instant::now();
    for _ in 0..calls {
        call();
    }
    start.elapsed().as_nanos() as f64 / calls as f64
}

/// Times a call, and counts its allocations.
fn measure(calls: usize, mut call: impl FnMut()) -> (Times, f64) {
    round(calls, &mut call);
    let mut rounds = Vec::with_capacity(ROUNDS);
    let count = allocations(|| rounds.extend((0..ROUNDS).map(|_| round(calls, &mut call))));
    (Times::of(rounds), count as f64 / (ROUNDS * calls) as f64)
}

/// Times two calls in turns, since the machine's speed drifts: the first, the second, and the difference round by round.
fn compare(calls: usize, mut one: impl FnMut(), mut other: impl FnMut()) -> [Times; 3] {
    let rounds: Vec<_> = (0..=ROUNDS).map(|_| (round(calls, &mut one), round(calls, &mut other))).skip(1).collect();
    let times = |of: fn(&(f64, f64)) -> f64| Times::of(rounds.iter().map(of).collect());
    [times(|pair| pair.0), times(|pair| pair.1), times(|pair| pair.0 - pair.1)]
}

fn new_stream() -> aclrtStream {
    assert_eq!(runtime::aclrtSetDevice(0), 0);
    let mut created = null_mut();
    // SAFETY: the result goes to a local.
    assert_eq!(unsafe { stream::aclrtCreateStream(&mut created) }, 0);
    created
}

/// Prints rows, and keeps them for the file.
struct Table(Vec<Value>);

impl Table {
    fn row(&mut self, call: &str, times: Times, allocations: Option<f64>) {
        let Times { low, median, high } = times;
        let count = allocations.map_or(String::new(), |count| format!("{count:.3}"));
        println!("{call:<52} {median:>10.0} {low:>10.0} {high:>10.0} {count:>14}");
        let row = json!({ "call": call, "ns": median, "q1": low, "q3": high, "allocations": allocations });
        self.0.push(row);
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let option = |name: &str| arguments.iter().position(|text| text == name).and_then(|at| arguments.get(at + 1));
    if let Some(dims) = option(MEMORY) {
        let dims: Vec<_> = dims.split(',').map(|dim| dim.parse().expect("a number")).collect();
        return println!("{}", memory_beyond(dims.try_into().expect("three numbers")).unwrap_or(0));
    }
    let on = new_stream();
    let mut table = Table(Vec::new());
    println!("{:<52} {:>10} {:>10} {:>10} {:>14}", "call", "median ns", "quartile", "quartile", "allocations");

    for dims in [[2, 1, 1], [2, 64, 256], [32, 256, 1152], [1, 4608, 3072], [1, 100_000, 64]] {
        let call = Call::new(dims);
        let (times, allocations) = measure(2_000, || {
            assert_eq!(executor::aclDestroyAclOpExecutor(call.plan()), 0);
        });
        table.row(&format!("phase one and destroy, {dims:?}"), times, Some(allocations));
    }
    let call = Call::new([2, 1, 1]);
    let (times, allocations) = measure(5_000, || call.run(on));
    table.row("phase one, phase two, synchronise, [2, 1, 1]", times, Some(allocations));
    for (dims, calls) in [([2, 1, 1], 5_000), ([2, 64, 256], 300)] {
        let mut call = Call::new(dims);
        let problem = call.problem();
        // SAFETY: the tensors' memory, which nothing else uses meanwhile; these dims need no workspace.
        let alone = || unsafe { kernel::run(&problem, null_mut(), Owner::default()) };
        let [whole, kernel, difference] = compare(calls, || call.run(on), alone);
        table.row(&format!("whole call in turns with the kernel, {dims:?}"), whole, None);
        table.row(&format!("the kernel alone, {dims:?}"), kernel, None);
        table.row(&format!("what the call adds, {dims:?}"), difference, None);
    }
    for threads in [1, 2, 4, 8] {
        let times = Times::of((0..9).map(|_| from_threads(threads)).collect());
        table.row(&format!("[2, 1, 1] from {threads} threads, per call of all"), times, None);
    }
    assert_eq!(stream::aclrtDestroyStream(on), 0);
    let threads = kernel::thread_limit();
    println!("\n{:<52} {:>10}", format!("peak memory beyond tensors and workspace, {threads} threads"), "KiB");
    let mut memory = Vec::new();
    for dims in [[2, 64, 256], [32, 256, 1152], [1, 4608, 3072], [1, 8192, 5120]] {
        let kib = in_own_process(dims);
        if kib == 0 {
            println!("skipped: this system does not tell a process's peak memory");
            break;
        }
        println!("{:<52} {kib:>10}", format!("{dims:?}"));
        memory.push(json!({ "dims": dims, "threads": threads, "kib": kib }));
    }

    if let Some(file) = option("--json") {
        let text = format!("{:#}\n", json!({ "calls": table.0, "memory": memory }));
        std::fs::write(file, text).expect("the file can't be written");
    }
}

/// The option by which this program asks itself for the memory of one shape.
const MEMORY: &str = "--memory";

/// [`memory_beyond`] where nothing has run before: threads keep the memory that they once computed in. 0: unknown.
fn in_own_process(dims: [usize; 3]) -> usize {
    let this = std::env::current_exe().expect("this program has a path");
    let dims = dims.map(|dim| dim.to_string()).join(",");
    let output = std::process::Command::new(this).args([MEMORY, &dims]).output().expect("this program runs");
    String::from_utf8_lossy(&output.stdout).trim().parse().expect("a number of KiB")
}

/// KiB by which a process that has its tensors, workspace and stream grows at most while a few calls run.
fn memory_beyond(dims: [usize; 3]) -> Option<usize> {
    let kib = |name: &str| {
        let status = std::fs::read_to_string("/proc/self/status").ok()?;
        let line = status.lines().find(|line| line.starts_with(name))?;
        line.split_whitespace().nth(1)?.parse::<usize>().ok()
    };
    let call = Call::new(dims);
    let mut workspace = vec![1_u8; kernel::workspace_bytes(dims, true, true)];
    let on = new_stream();
    // Resets the peak.
    std::fs::write("/proc/self/clear_refs", "5").ok()?;
    let before = kib("VmRSS")?;
    let at = if workspace.is_empty() { null_mut() } else { workspace.as_mut_ptr() };
    (0..8).for_each(|_| call.run_with(at, workspace.len() as u64, on));
    Some(kib("VmHWM")?.saturating_sub(before))
}

/// Nanoseconds for one call of all threads together: flat means that they scale, up to the number of cores.
fn from_threads(threads: usize) -> f64 {
    const CALLS: usize = 20_000;
    let barrier = Barrier::new(threads + 1);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(|| {
                    let (on, call) = (new_stream(), Call::new([2, 1, 1]));
                    call.run(on);
                    barrier.wait();
                    for _ in 0..CALLS {
                        call.run(on);
                    }
                    barrier.wait();
                    assert_eq!(stream::aclrtDestroyStream(on), 0);
                })
            })
            .collect();
        barrier.wait();
        let start = Instant::now();
        barrier.wait();
        let time = start.elapsed().as_nanos() as f64 / (CALLS * threads) as f64;
        for worker in workers {
            worker.join().expect("a worker panicked");
        }
        time
    })
}
