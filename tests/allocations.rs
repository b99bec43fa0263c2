//! How often a call allocates: once in phase one, for the executor, and never on the data path.
//!
//! One test, since the allocator counts for the whole process.

#[path = "common/counting.rs"]
mod counting;
mod runtime;

use std::ptr::{null, null_mut};
use std::time::Duration;

use aclnn_modulate::api::executor::{aclDestroyAclOpExecutor, aclSetAclOpExecutorRepeatable};
use aclnn_modulate::api::modulate_backward::{aclnnModulateBackward, aclnnModulateBackwardGetWorkspaceSize};
use aclnn_modulate::api::stream::aclrtSynchronizeStream;
use aclnn_modulate::api::tensor::aclCreateTensor;
use aclnn_modulate::api::types::{aclOpExecutor, aclTensor, aclrtStream};
use counting::allocations;
use runtime::*;

/// Contiguous f32 tensors in blocks, on a stream, with a workspace.
struct Call {
    tensors: [*mut aclTensor; 7],
    workspace: (*mut std::ffi::c_void, u64),
    stream: aclrtStream,
}

impl Call {
    fn new([b, l, d]: [i64; 3], stream: aclrtStream) -> Self {
        let (large, small) = (vec![b, l, d], vec![b, d]);
        let tensors = [&large, &large, &small, &small, &large, &small, &small].map(|dims| {
            let block = malloc(4 * dims.iter().product::<i64>() as usize);
            let rank = dims.len() as u64;
            // SAFETY: the arrays have `rank` elements.
            unsafe { aclCreateTensor(dims.as_ptr(), rank, 0, null(), 0, 2, dims.as_ptr(), rank, block) }
        });
        let mut call = Self { tensors, workspace: (null_mut(), 0), stream };
        let (size, executor) = call.plan();
        expect(aclDestroyAclOpExecutor(executor), 0, "");
        if size > 0 {
            call.workspace = (malloc(size as usize), size);
        }
        call
    }

    fn plan(&self) -> (u64, *mut aclOpExecutor) {
        let [a, b, c, d, e, f, g] = self.tensors;
        let (mut size, mut executor) = (0, null_mut());
        // SAFETY: the results go to two locals.
        let status = unsafe { aclnnModulateBackwardGetWorkspaceSize(a, b, c, d, e, f, g, &mut size, &mut executor) };
        assert_eq!(status, 0);
        (size, executor)
    }

    fn run(&self, executor: *mut aclOpExecutor) {
        let (workspace, size) = self.workspace;
        // SAFETY: the blocks live until the process ends.
        assert_eq!(unsafe { aclnnModulateBackward(workspace, size, executor, self.stream) }, 0);
    }

    fn synchronize(&self) {
        assert_eq!(aclrtSynchronizeStream(self.stream), 0);
    }
}

/// Waits for what was used for the first time: a thread that was started for it allocates when it begins to run, in its own
/// time. Half a second without any allocation says that none is about to.
fn settle() {
    let mut quiet = 0;
    for _ in 0..200 {
        let count = allocations(|| std::thread::sleep(Duration::from_millis(50)));
        quiet = if count == 0 { quiet + 1 } else { 0 };
        if quiet == 10 {
            return;
        }
    }
    panic!("something allocates all the time, though no call is made");
}

#[test]
fn a_call_allocates_once_and_the_data_path_never() {
    set_device();
    let stream = create_stream();

    // The smallest call, a million times: no allocation now and then either, as for lists that grow or are handed over.
    const CALLS: usize = 1_000_000;
    let smallest = Call::new([2, 1, 1], stream);
    let whole = || {
        smallest.run(smallest.plan().1);
        smallest.synchronize();
    };
    whole();
    settle();
    let count = allocations(|| (0..CALLS).for_each(|_| whole()));
    assert!(count <= CALLS, "{count} allocations in {CALLS} calls");

    // Phase two alone, where it runs in the call, on the worker, with helpers, and with a workspace.
    for dims in [[2, 1, 1], [2, 64, 256], [2, 256, 128], [8, 512, 256], [1, 9000, 64]] {
        let call = Call::new(dims, stream);
        let executors: Vec<_> = (0..50).map(|_| call.plan().1).collect();
        let (first, rest) = executors.split_at(20);
        let run = |executors: &[_]| {
            executors.iter().for_each(|executor| call.run(*executor));
            call.synchronize();
        };
        // What is made at first use: threads and their working memory, room in the queue.
        first.chunks(10).for_each(run);
        settle();
        let count = allocations(|| rest.chunks(10).for_each(run));
        assert_eq!(count, 0, "{dims:?}");
    }

    // A repeatable executor.
    let executor = smallest.plan().1;
    expect(aclSetAclOpExecutorRepeatable(executor), 0, "");
    let count = allocations(|| {
        for _ in 0..1_000 {
            smallest.run(executor);
            smallest.synchronize();
        }
    });
    assert_eq!(count, 0);
    expect(aclDestroyAclOpExecutor(executor), 0, "");
}
