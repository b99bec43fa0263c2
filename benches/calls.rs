//! What a call costs besides the arithmetic: both phases through the exported functions, allocations counted.
//!
//! Prints medians over rounds of many calls: phase one alone, the smallest whole call ([2, 1, 1]), a call whose data are in
//! cache, and the smallest call from several threads at once, each on a stream of its own.

#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::null_mut;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use aclnn_modulate::api::types::{aclOpExecutor, aclTensor, aclrtStream};
use aclnn_modulate::api::{executor, modulate_backward, runtime, stream, tensor};

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: everything is handed to the system's allocator; counting changes nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Contiguous f32 tensors of one shape, over memory of their own.
struct Call {
    tensors: [*mut aclTensor; 7],
    _memory: Vec<Vec<f32>>,
}

impl Call {
    fn new([b, l, d]: [i64; 3]) -> Self {
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
        Self { tensors, _memory: memory }
    }

    fn plan(&self) -> *mut aclOpExecutor {
        let [a, b, c, d, e, f, g] = self.tensors;
        let (mut size, mut executor) = (0, null_mut());
        // SAFETY: the results go to two locals.
        let status = unsafe {
            modulate_backward::aclnnModulateBackwardGetWorkspaceSize(a, b, c, d, e, f, g, &mut size, &mut executor)
        };
        assert_eq!((status, size), (0, 0));
        executor
    }

    fn run(&self, on: aclrtStream) {
        let planned = self.plan();
        // SAFETY: the tensors' memory lives as long as this.
        assert_eq!(unsafe { modulate_backward::aclnnModulateBackward(null_mut(), 0, planned, on) }, 0);
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

const ROUNDS: usize = 21;

/// Median nanoseconds of one call, and allocations per call.
fn measure(calls: usize, mut call: impl FnMut()) -> (f64, f64) {
    for _ in 0..calls {
        call();
    }
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    let mut times: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            for _ in 0..calls {
                call();
            }
            start.elapsed().as_nanos() as f64 / calls as f64
        })
        .collect();
    let allocations = (ALLOCATIONS.load(Ordering::Relaxed) - before) as f64 / (ROUNDS * calls) as f64;
    times.sort_by(f64::total_cmp);
    (times[ROUNDS / 2], allocations)
}

fn new_stream() -> aclrtStream {
    assert_eq!(runtime::aclrtSetDevice(0), 0);
    let mut created = null_mut();
    // SAFETY: the result goes to a local.
    assert_eq!(unsafe { stream::aclrtCreateStream(&mut created) }, 0);
    created
}

fn main() {
    let on = new_stream();
    println!("{:<44} {:>10} {:>14}", "call", "ns", "allocations");
    let show = |name: &str, (time, allocations): (f64, f64)| println!("{name:<44} {time:>10.0} {allocations:>14.3}");

    for dims in [[2, 1, 1], [32, 256, 1152]] {
        let call = Call::new(dims);
        let planned = measure(2_000, || {
            assert_eq!(executor::aclDestroyAclOpExecutor(call.plan()), 0);
        });
        show(&format!("phase one and destroy, {dims:?}"), planned);
    }
    for (dims, calls) in [([2, 1, 1], 2_000), ([2, 64, 256], 200)] {
        let call = Call::new(dims);
        show(&format!("phase one, phase two, synchronise, {dims:?}"), measure(calls, || call.run(on)));
    }
    for threads in [1, 2, 4, 8] {
        show(&format!("the same, [2, 1, 1], {threads} threads at once"), (from_threads(threads), 0.0));
    }
    assert_eq!(stream::aclrtDestroyStream(on), 0);
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
