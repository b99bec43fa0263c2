//! `fork` under load: the child uses the library afresh, and never hangs.

mod runtime;

use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use aclnn_modulate::api::event::*;
use aclnn_modulate::api::executor::aclDestroyAclOpExecutor;
use aclnn_modulate::api::memory::*;
use aclnn_modulate::api::modulate_backward::*;
use aclnn_modulate::api::runtime::*;
use aclnn_modulate::api::stream::*;
use aclnn_modulate::api::tensor::{aclCreateTensor, aclDestroyTensor};
use aclnn_modulate::api::types::aclTensor;
use runtime::*;

fn create_tensor(data: *mut std::ffi::c_void) -> *mut aclTensor {
    let dims = [2_i64, 3];
    // SAFETY: both arrays have two elements; the data is not touched.
    unsafe { aclCreateTensor(dims.as_ptr(), 2, 0, std::ptr::null(), 0, 2, dims.as_ptr(), 2, data) }
}

/// A call that is large enough for several threads, with the memory for it.
struct Call {
    blocks: [Sent; 3],
}

impl Call {
    const DIMS: [i64; 3] = [2, 256, 2048];
    const COUNT: usize = 2 * 256 * 2048;

    fn new() -> Self {
        let blocks = [(); 3].map(|()| malloc(Self::COUNT * 4));
        for n in 0..Self::COUNT {
            // SAFETY: both blocks have that many floats.
            unsafe {
                blocks[0].cast::<f32>().add(n).write(n as f32);
                blocks[2].cast::<f32>().add(n).write(-1.0);
            }
        }
        Self { blocks: blocks.map(Sent) }
    }

    /// grad_input = grad_output, in a stream; checks the numbers, and wipes them out for the next time.
    fn run(&self, stream: *mut std::ffi::c_void) {
        let [g, x, dx] = self.blocks.map(Sent::get);
        let tensors = [g, x, dx].map(|data| {
            let dims = Self::DIMS.as_ptr();
            // SAFETY: three dims; the data is not touched.
            unsafe { aclCreateTensor(dims, 3, 0, std::ptr::null(), 0, 2, dims, 3, data) }
        });
        let [a, b, c] = tensors.map(<*mut aclTensor>::cast_const);
        let none = std::ptr::null();
        let (mut size, mut executor) = (0, null_mut());
        // SAFETY: the results are writable, and the blocks outlive the synchronisation.
        unsafe {
            let planned =
                aclnnModulateBackwardGetWorkspaceSize(a, b, none, none, c, none, none, &mut size, &mut executor);
            expect(planned, 0, "");
            expect(aclnnModulateBackward(null_mut(), 0, executor, stream), 0, "");
        }
        expect(aclrtSynchronizeStream(stream), 0, "");
        for n in 0..Self::COUNT {
            // SAFETY: inside the block, and the work is done.
            assert_eq!(unsafe { dx.cast::<f32>().add(n).replace(-1.0) }, n as f32);
        }
        tensors.iter().for_each(|tensor| assert_eq!(aclDestroyTensor(*tensor), 0));
    }
}

/// Forks; the child runs `body` and ends. Returns the child's exit status, 0 where `body` did not panic.
fn in_fork(body: impl FnOnce()) -> i32 {
    // SAFETY: the child uses nothing but this library, whose promise is under test, and ends without unwinding.
    match unsafe { libc::fork() } {
        0 => {
            // A child that hangs is killed by the alarm's signal.
            // SAFETY: sets a timer, takes no pointers.
            unsafe { libc::alarm(20) };
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body));
            // SAFETY: ends the process at once.
            unsafe { libc::_exit(outcome.is_err().into()) }
        }
        child => {
            assert!(child > 0);
            let mut status = -1;
            // SAFETY: `status` is writable.
            assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
            status
        }
    }
}

/// Tells the load to stop, also where the test has failed: its scope waits for the threads.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The operator with all its threads, until told to stop.
fn compute(stop: &AtomicBool) {
    set_device();
    let (stream, call) = (create_stream(), Call::new());
    while !stop.load(Ordering::Relaxed) {
        call.run(stream);
    }
}

/// Everything that takes a lock, until told to stop.
fn load(stop: &AtomicBool) {
    set_device();
    let stream = create_stream();
    let (block, host) = (malloc(4096), malloc_host(4096));
    while !stop.load(Ordering::Relaxed) {
        let temporary = malloc(64);
        let tensor = create_tensor(temporary);
        let event = create_event();
        // SAFETY: the blocks live until the stream was synchronised.
        unsafe { aclrtMemcpyAsync(host, 4096, block, 4096, D2H, stream) };
        launch(stream, || ());
        aclrtRecordEvent(event, stream);
        aclrtSynchronizeEvent(event);
        aclrtSetDevice(99);
        message();
        free(temporary);
        aclDestroyTensor(tensor);
        aclrtDestroyEvent(event);
        let short = create_stream();
        launch(short, || ());
        aclrtDestroyStream(short);
        // SAFETY: takes nothing.
        let me = unsafe { libc::pthread_self() };
        aclrtSubscribeReport(me, stream);
        aclrtUnSubscribeReport(me, stream);
    }
}

#[test]
fn a_child_of_a_busy_parent_uses_the_library_afresh() {
    const TEST: &str = "a_child_of_a_busy_parent_uses_the_library_afresh";
    if !is_child() {
        // Two threads to a call also where there is one processor.
        in_child(TEST, &[("ACLCPU_THREADS", "2")]);
        return;
    }
    set_device();
    // SAFETY: NULL is allowed.
    assert_eq!(unsafe { aclInit(std::ptr::null()) }, 0);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _stop = Stop(&stop);
        for _ in 0..3 {
            scope.spawn(|| load(&stop));
        }
        scope.spawn(|| compute(&stop));
        let call = Call::new();
        let stream = create_stream();
        let context = create_context();
        set_device();
        let event = create_event();
        let block = malloc(4096);
        let held = create_stream();
        let gate = hold(held);
        let ran = Arc::new(AtomicUsize::new(0));
        let count = ran.clone();
        launch(held, move || {
            count.fetch_add(1, Ordering::SeqCst);
        });
        expect(aclrtRecordEvent(event, held), 0, "");
        let tensor = create_tensor(block);
        for round in 0..30 {
            let status = in_fork(|| {
                // What the parent's threads served is dead.
                expect(aclrtSynchronizeStream(null_mut()), 107002, "parent process");
                expect(aclrtSynchronizeStream(stream), 107017, "stream is");
                expect(aclrtSynchronizeStream(held), 107017, "stream is");
                expect(aclrtSynchronizeEvent(event), 107017, "event is");
                expect(aclrtDestroyEvent(event), 107017, "event is");
                expect(aclrtSetCurrentContext(context), 107002, "context is");
                expect(aclrtResetDevice(0), 507007, "not set");
                // SAFETY: NULL is allowed.
                expect(unsafe { aclInit(std::ptr::null()) }, 0, "");
                set_device();
                // Nothing that the parent has queued runs here.
                assert_eq!(ran.load(Ordering::SeqCst), 0);
                // All that is new works, and blocks and tensors are those of the parent.
                let mut available = 0;
                // SAFETY: `available` is writable.
                expect(unsafe { aclrtGetStreamAvailableNum(&mut available) }, 0, "");
                assert_eq!(available, 1984);
                let (mine, mark) = (create_stream(), create_event());
                // SAFETY: the block has 4096 bytes.
                expect(unsafe { aclrtMemsetAsync(block, 4096, 7, 4096, mine) }, 0, "");
                expect(aclrtRecordEvent(mark, mine), 0, "");
                launch(mine, || ());
                expect(aclrtSynchronizeDevice(), 0, "");
                expect(aclrtSynchronizeEvent(mark), 0, "");
                let bytes = block.cast::<u8>();
                // SAFETY: inside the block, which was set above.
                assert!((0..4096).all(|n| unsafe { *bytes.add(n) } == 7));
                assert_eq!(aclDestroyTensor(tensor), 0);
                expect(free(block), 0, "");
                let fresh: Vec<_> = (0..200).map(|_| malloc(100)).collect();
                fresh.into_iter().for_each(|block| expect(free(block), 0, ""));
                call.run(mine);
                expect(aclrtDestroyStream(mine), 0, "");
                expect(aclrtResetDevice(0), 0, "");
                // A child's child.
                assert_eq!(in_fork(set_device), 0);
            });
            assert_eq!(status, 0, "round {round}");
        }
        // The parent has noticed nothing.
        gate.open();
        expect(aclrtSynchronizeEvent(event), 0, "");
        assert_eq!(ran.load(Ordering::SeqCst), 1);
        assert_eq!(aclDestroyTensor(tensor), 0);
        expect(free(block), 0, "");
        expect(aclrtDestroyStream(held), 0, "");
        call.run(stream);
    });
}

/// Memory that a child shares with its parent: one number.
fn shared_number() -> &'static AtomicUsize {
    let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping, which is never unmapped.
    let mapped = unsafe { libc::mmap(null_mut(), size_of::<AtomicUsize>(), access, kind, -1, 0) };
    assert_ne!(mapped, libc::MAP_FAILED);
    // SAFETY: aligned to a page, writable, and 0 as new mappings are.
    unsafe { &*mapped.cast() }
}

/// Forks and lets both processes go on; the child's number in the parent, 0 in the child.
fn fork_and_go_on() -> i32 {
    // SAFETY: the child uses nothing but this library, whose promise is under test.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: sets a timer, takes no pointers: a child that hangs is killed.
        unsafe { libc::alarm(20) };
    }
    child
}

fn exit_status(child: i32) -> i32 {
    let mut status = -1;
    // SAFETY: `status` is writable.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    status
}

/// The child's only thread is the one that served the parent's stream: what is queued there is not for it.
#[test]
fn a_child_of_a_host_function_leaves_the_queue_to_its_parent() {
    set_device();
    let (first, second) = (shared_number(), shared_number());
    let stream = create_stream();
    for round in 1..=20 {
        let gate = hold(stream);
        let (sender, receiver) = std::sync::mpsc::channel();
        launch(stream, move || {
            let child = fork_and_go_on();
            if child != 0 {
                sender.send(child).unwrap();
                return;
            }
            // The child may use the library before it ends with this function.
            std::mem::forget(sender);
            set_device();
            let own = create_stream();
            launch(own, || {
                first.fetch_add(1, Ordering::SeqCst);
            });
            expect(aclrtSynchronizeStream(own), 0, "");
        });
        for _ in 0..10 {
            launch(stream, || {
                second.fetch_add(1, Ordering::SeqCst);
            });
        }
        gate.open();
        expect(aclrtSynchronizeStream(stream), 0, "");
        assert_eq!(exit_status(receiver.recv().unwrap()), 0, "round {round}");
        assert_eq!(first.load(Ordering::SeqCst), round);
        assert_eq!(second.load(Ordering::SeqCst), 10 * round);
    }
    expect(aclrtDestroyStream(stream), 0, "");
}

/// Nobody in the child waits for the callback that forked; the locks of those who do are the parent's.
#[test]
fn a_child_of_a_callback_returns_from_processing() {
    set_device();
    let stream = create_stream();
    // SAFETY: takes nothing.
    let me = unsafe { libc::pthread_self() };
    for round in 0..20 {
        expect(aclrtSubscribeReport(me, stream), 0, "");
        let child = Arc::new(AtomicUsize::new(0));
        let forked = child.clone();
        let (function, argument) = c_callback(move || {
            forked.store(usize::try_from(fork_and_go_on()).unwrap(), Ordering::SeqCst);
        });
        // SAFETY: the function takes the closure back, once.
        expect(unsafe { aclrtLaunchCallback(Some(function), argument, 1, stream) }, 0, "");
        expect(aclrtProcessReport(-1), 0, "");
        let child = i32::try_from(child.load(Ordering::SeqCst)).unwrap();
        if child == 0 {
            let told = aclrtProcessReport(-1) == 107012 && aclrtSynchronizeStream(stream) == 107017;
            // SAFETY: ends the child at once.
            unsafe { libc::_exit((!told).into()) }
        }
        assert_eq!(exit_status(child), 0, "round {round}");
        expect(aclrtUnSubscribeReport(me, stream), 0, "");
        expect(aclrtSynchronizeStream(stream), 0, "");
    }
    expect(aclrtDestroyStream(stream), 0, "");
}

/// Forks while threads do nothing but one kind of work; the child does the same, in more threads than a table has parts, so that
/// each part is used there.
fn is_whole_in_a_child(test: &str, work: fn()) {
    if !is_child() {
        in_child(test, &[]);
        return;
    }
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _stop = Stop(&stop);
        for _ in 0..4 {
            scope.spawn(|| {
                set_device();
                while !stop.load(Ordering::Relaxed) {
                    work();
                }
            });
        }
        for round in 0..60 {
            let status = in_fork(|| {
                let threads = [(); 20].map(|()| {
                    std::thread::spawn(move || {
                        set_device();
                        work();
                    })
                });
                threads.into_iter().for_each(|thread| thread.join().unwrap());
            });
            assert_eq!(status, 0, "round {round}");
        }
    });
}

#[test]
fn the_table_of_tensors_is_whole_in_a_child() {
    is_whole_in_a_child("the_table_of_tensors_is_whole_in_a_child", || {
        let tensors: [_; 8] = std::array::from_fn(|_| create_tensor(null_mut()));
        tensors.iter().for_each(|tensor| assert_eq!(aclDestroyTensor(*tensor), 0));
    });
}

#[test]
fn the_table_of_executors_is_whole_in_a_child() {
    is_whole_in_a_child("the_table_of_executors_is_whole_in_a_child", || {
        let dims = [1_i64, 0, 3];
        // SAFETY: three dims, and no data.
        let tensor =
            unsafe { aclCreateTensor(dims.as_ptr(), 3, 0, std::ptr::null(), 0, 2, dims.as_ptr(), 3, null_mut()) };
        let (t, none) = (tensor.cast_const(), std::ptr::null());
        let executors: [_; 8] = std::array::from_fn(|_| {
            let (mut size, mut executor) = (0, null_mut());
            // SAFETY: the results are writable.
            let planned = unsafe {
                aclnnModulateBackwardGetWorkspaceSize(t, t, none, none, t, none, none, &mut size, &mut executor)
            };
            assert_eq!(planned, 0);
            executor
        });
        executors.iter().for_each(|executor| assert_eq!(aclDestroyAclOpExecutor(*executor), 0));
        assert_eq!(aclDestroyTensor(tensor), 0);
    });
}

#[test]
fn the_registry_of_blocks_is_whole_in_a_child() {
    is_whole_in_a_child("the_registry_of_blocks_is_whole_in_a_child", || {
        let blocks: [_; 8] = std::array::from_fn(|_| malloc(100));
        blocks.into_iter().for_each(|block| assert_eq!(free(block), 0));
    });
}

#[test]
fn messages_are_whole_in_a_child() {
    is_whole_in_a_child("messages_are_whole_in_a_child", || {
        assert_eq!(aclrtSetDevice(99), 107001);
        assert!(message().contains("deviceId is 99"));
    });
}

/// With one list for all threads.
#[test]
fn the_process_wide_messages_are_whole_in_a_child() {
    if is_child() {
        expect(init_with("{\"err_msg_mode\": \"1\"}"), 0, "");
    }
    is_whole_in_a_child("the_process_wide_messages_are_whole_in_a_child", || {
        for _ in 0..8 {
            assert_eq!(aclrtSetDevice(99), 107001);
            // Another thread may have taken it.
            let text = message();
            assert!(text.is_empty() || text.contains("deviceId is 99"), "{text}");
        }
    });
}

#[test]
fn parameters_are_whole_in_a_child() {
    is_whole_in_a_child("parameters_are_whole_in_a_child", || {
        for _ in 0..8 {
            let mut value = -1;
            // SAFETY: `value` is writable.
            let read = unsafe { (aclrtSetSysParamOpt(0, 1), aclrtGetSysParamOpt(0, &mut value)) };
            assert_eq!((read, value), ((0, 0), 1));
        }
    });
}

#[test]
fn initialisation_is_whole_in_a_child() {
    is_whole_in_a_child("initialisation_is_whole_in_a_child", || {
        for _ in 0..8 {
            let (first, last) = (init(None), aclFinalize());
            // Other threads come in between.
            assert!([0, 100002].contains(&first) && [0, 100037].contains(&last), "{first} {last}");
        }
    });
}

#[test]
fn the_table_of_streams_is_whole_in_a_child() {
    is_whole_in_a_child("the_table_of_streams_is_whole_in_a_child", || {
        let streams: [_; 8] = std::array::from_fn(|_| create_stream());
        streams.iter().for_each(|stream| assert_eq!(aclrtDestroyStream(*stream), 0));
    });
}

#[test]
fn the_table_of_events_is_whole_in_a_child() {
    is_whole_in_a_child("the_table_of_events_is_whole_in_a_child", || {
        let events: [_; 8] = std::array::from_fn(|_| create_event());
        events.iter().for_each(|event| assert_eq!(aclrtDestroyEvent(*event), 0));
    });
}

#[test]
fn the_table_of_contexts_is_whole_in_a_child() {
    is_whole_in_a_child("the_table_of_contexts_is_whole_in_a_child", || {
        let contexts: [_; 8] = std::array::from_fn(|_| create_context());
        contexts.iter().for_each(|context| assert_eq!(aclrtDestroyContext(*context), 0));
        set_device();
    });
}

#[test]
fn the_counts_of_devices_are_whole_in_a_child() {
    // Each thread has set the device once more than it resets it, so nothing ends.
    is_whole_in_a_child("the_counts_of_devices_are_whole_in_a_child", || {
        for _ in 0..8 {
            set_device();
            assert_eq!(aclrtResetDevice(0), 0);
        }
    });
}
