//! `ACLCPU_CHECK=1`: what it finds, and that nothing is said without it.

mod runtime;

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use aclnn_modulate::api::memory::*;
use aclnn_modulate::api::modulate_backward::*;
use aclnn_modulate::api::runtime::*;
use aclnn_modulate::api::stream::*;
use aclnn_modulate::api::tensor::*;
use aclnn_modulate::api::types::aclTensor;
use runtime::*;

fn tensor(data: *mut c_void) -> *mut aclTensor {
    let dims = [1_i64, 2, 3];
    // SAFETY: the arrays have three elements; the data is not touched.
    let tensor = unsafe { aclCreateTensor(dims.as_ptr(), 3, 0, null(), 0, 2, dims.as_ptr(), 3, data) };
    assert!(!tensor.is_null(), "{}", message());
    tensor
}

/// grad_input = grad_output, for tensors of 6 floats.
fn run_operator(grad_output: *mut c_void, input: *mut c_void, grad_input: *mut c_void, stream: *mut c_void) {
    let [a, b, c] = [grad_output, input, grad_input].map(tensor);
    let (mut size, mut executor) = (0, null_mut());
    let none = null();
    // SAFETY: the results are writable, and the data lives until the stream is synchronised.
    let status = unsafe {
        let planned = aclnnModulateBackwardGetWorkspaceSize(a, b, none, none, c, none, none, &mut size, &mut executor);
        expect(planned, 0, "");
        aclnnModulateBackward(null_mut(), 0, executor, stream)
    };
    expect(status, 0, "");
    for tensor in [a, b, c] {
        assert_eq!(aclDestroyTensor(tensor), 0);
    }
}

fn reports(stderr: &str) -> Vec<&str> {
    stderr.lines().filter(|line| line.starts_with("[Check]")).collect()
}

#[test]
fn mistakes_that_do_no_harm_here_are_reported_at_synchronise() {
    const TEST: &str = "mistakes_that_do_no_harm_here_are_reported_at_synchronise";
    if !is_child() {
        let (stdout, stderr) = in_child(TEST, &[("ACLCPU_CHECK", "1")]);
        let lines = reports(&stderr);
        assert_eq!(lines.len(), 3, "{stderr}");
        assert!(lines[0].contains("24 bytes at 0x") && lines[0].contains("aclrtMalloc did not give"), "{stderr}");
        assert!(lines[1].contains("24 bytes at 0x") && lines[1].contains("memory of aclrtMallocHost"), "{stderr}");
        assert!(lines[2].contains("freed while queued work still needed it"), "{stderr}");
        assert!(lines[2].contains("96 bytes of aclrtMalloc"), "{stderr}");
        assert!(!stdout.contains("[Check]"), "{stdout}");
        for value in ["0", ""] {
            let (_, stderr) = in_child(TEST, &[("ACLCPU_CHECK", value)]);
            assert_eq!(reports(&stderr).len(), 0, "{stderr}");
        }
        return;
    }
    set_device();
    let stream = create_stream();
    let [one, two, three] = [64, 64, 64].map(malloc);
    let zeros = |block| {
        // SAFETY: the block has 64 bytes.
        expect(unsafe { aclrtMemset(block, 64, 0, 64) }, 0, "");
    };
    [one, two, three].into_iter().for_each(zeros);
    // All in device memory: nothing to report.
    run_operator(one, two, three, stream);
    expect(aclrtSynchronizeStream(stream), 0, "");
    // One tensor in the program's memory, one in host memory, twice: told once each.
    let mut local = [1_f32; 6];
    let host = malloc_host(24);
    for _ in 0..2 {
        run_operator(one, two, local.as_mut_ptr().cast(), stream);
        run_operator(one, two, host, stream);
    }
    expect(aclrtSynchronizeStream(stream), 0, "");
    assert_eq!(local, [0.0; 6]);
    // The last of those that need a block keeps it: checked blocks are unmapped when they go, so a write would fault.
    let gate = hold(stream);
    run_operator(one, two, three, stream);
    run_operator(one, two, three, stream);
    expect(free(three), 0, "");
    gate.open();
    expect(aclrtSynchronizeStream(stream), 0, "");
    // Told once.
    expect(aclrtSynchronizeStream(stream), 0, "");
}

/// The gradients of 2048 rows of one column: their chunks' sums need a workspace.
#[test]
fn a_workspace_that_is_freed_too_early_is_reported_and_lives_on() {
    const TEST: &str = "a_workspace_that_is_freed_too_early_is_reported_and_lives_on";
    const ROWS: usize = 2048;
    if !is_child() {
        let (stdout, stderr) = in_child(TEST, &[("ACLCPU_CHECK", "1")]);
        let number = |about: &str| {
            let line = stdout.lines().find_map(|line| line.strip_prefix(about));
            line.unwrap_or_else(|| panic!("no {about:?} in\n{stdout}")).to_owned()
        };
        let lines = reports(&stderr);
        // One that was freed while queued work needed it, one in the program's memory; none for that freed after its work.
        assert_eq!(lines.len(), 2, "{stderr}");
        assert!(lines[0].contains("freed while queued work still needed it"), "{stderr}");
        let block = format!("{}, {} bytes of aclrtMalloc", number("at "), number("length "));
        assert!(lines[0].ends_with(&block), "expected {block} in\n{stderr}");
        assert!(lines[1].contains(&format!("{} bytes at 0x", number("size "))), "{stderr}");
        assert!(lines[1].contains("aclrtMalloc did not give"), "{stderr}");
        return;
    }
    set_device();
    let stream = create_stream();
    let (whole, column) = ([1_i64, ROWS as i64, 1], [1_i64, 1]);
    let tensor = |dims: &[i64], value: f32| {
        let count = dims.iter().product::<i64>() as usize;
        let block = malloc(count * 4);
        let values = vec![value; count];
        // SAFETY: the block has room for the values, and the arrays are as long as is said.
        unsafe {
            expect(aclrtMemcpy(block, count * 4, values.as_ptr().cast(), count * 4, H2D), 0, "");
            let rank = dims.len() as u64;
            (aclCreateTensor(dims.as_ptr(), rank, 0, null(), 0, 2, dims.as_ptr(), rank, block), block)
        }
    };
    let [(g, _), (x, _), (dx, _)] = [2.0, 3.0, 0.0].map(|value| tensor(&whole, value));
    let [(scale, _), (shift, _), (d_scale, scale_sums), (d_shift, shift_sums)] =
        [5.0, 7.0, 0.0, 0.0].map(|value| tensor(&column, value));
    let plan = || {
        let (mut size, mut executor) = (0, null_mut());
        // SAFETY: the results are writable.
        let planned = unsafe {
            aclnnModulateBackwardGetWorkspaceSize(g, x, scale, shift, dx, d_scale, d_shift, &mut size, &mut executor)
        };
        expect(planned, 0, "");
        assert!(size > 0);
        (size, executor)
    };
    let sums_are_right = || {
        // SAFETY: both blocks hold one float.
        let sums = unsafe { [scale_sums, shift_sums].map(|block| block.cast::<f32>().replace(0.0)) };
        assert_eq!(sums, [ROWS as f32 * 6.0, ROWS as f32 * 2.0]);
    };
    let (size, executor) = plan();
    let bytes = size as usize;
    println!("\nsize {size}\nlength {}", bytes.next_multiple_of(32) + 32);
    let workspace = malloc(bytes);
    println!("at {:#x}", workspace.addr());
    let gate = hold(stream);
    // SAFETY: the workspace is kept by the library, which is under test.
    expect(unsafe { aclnnModulateBackward(workspace, size, executor, stream) }, 0, "");
    expect(free(workspace), 0, "");
    gate.open();
    expect(aclrtSynchronizeStream(stream), 0, "");
    sums_are_right();
    // The next one is freed when its work is done.
    let (size, executor) = plan();
    let workspace = malloc(bytes);
    // SAFETY: the workspace lives until the stream is synchronised.
    expect(unsafe { aclnnModulateBackward(workspace, size, executor, stream) }, 0, "");
    expect(aclrtSynchronizeStream(stream), 0, "");
    expect(free(workspace), 0, "");
    sums_are_right();
    let (size, executor) = plan();
    let mut own = vec![0_u64; bytes.div_ceil(8)];
    // SAFETY: the workspace lives until the stream is synchronised.
    expect(unsafe { aclnnModulateBackward(own.as_mut_ptr().cast(), size, executor, stream) }, 0, "");
    expect(aclrtSynchronizeStream(stream), 0, "");
    sums_are_right();
}

#[test]
fn new_memory_is_nan_and_ends_at_a_page_that_nobody_may_touch() {
    const TEST: &str = "new_memory_is_nan_and_ends_at_a_page_that_nobody_may_touch";
    if !is_child() {
        in_child(TEST, &[("ACLCPU_CHECK", "1")]);
        return;
    }
    set_device();
    type Allocate = unsafe extern "C" fn(*mut *mut c_void, usize, i32) -> i32;
    let functions: [(Allocate, usize); 3] = [(aclrtMalloc, 32), (aclrtMallocCached, 32), (aclrtMallocAlign32, 0)];
    let sizes = [1, 100, 4096, 70_000, 3 << 20];
    for (size, (allocate, padding)) in sizes.into_iter().flat_map(|size| functions.map(|function| (size, function))) {
        let mut block = null_mut();
        // SAFETY: `block` is writable.
        expect(unsafe { allocate(&mut block, size, 0) }, 0, "");
        assert_eq!(block.addr() % 64, 0);
        let len = (size.next_multiple_of(32) + padding) / 4;
        let floats = block.cast::<f32>();
        // SAFETY: inside the block.
        assert!((0..len).all(|n| unsafe { floats.add(n).read().is_nan() }));
        // SAFETY: inside the block, up to its end.
        (0..len).for_each(|n| unsafe { floats.add(n).write(0.0) });
        // The page begins where the next block could at the earliest.
        let page = floats.wrapping_byte_add((len * 4).next_multiple_of(64));
        // SAFETY: the child writes one byte where it may not, and dies of it.
        let status = unsafe {
            let child = libc::fork();
            if child == 0 {
                libc::signal(libc::SIGSEGV, libc::SIG_DFL);
                page.cast::<u8>().write_volatile(1);
                libc::_exit(0);
            }
            let mut status = 0;
            libc::waitpid(child, &mut status, 0);
            status
        };
        assert!(libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGSEGV, "{size}: {status:#x}");
        expect(free(block), 0, "");
    }
}

#[test]
fn what_is_alive_is_listed_at_the_end() {
    const TEST: &str = "what_is_alive_is_listed_at_the_end";
    if !is_child() {
        let (_, stderr) = in_child(TEST, &[("ACLCPU_CHECK", "1")]);
        assert!(stderr.contains("aclFinalize: 20 live tensors"), "{stderr}");
        assert!(stderr.contains("FLOAT FORMAT_ND [1, 2, 3]") && stderr.contains("and 4 more"), "{stderr}");
        assert!(stderr.contains("aclFinalize: 1 live executors"), "{stderr}");
        assert!(stderr.contains("aclFinalize: 1 live blocks"), "{stderr}");
        assert!(stderr.contains("256 bytes of aclrtMalloc"), "{stderr}");
        assert!(stderr.contains("aclFinalize: 1 live streams"), "{stderr}");
        assert_eq!(reports(&stderr).len(), 4, "the second aclFinalize had nothing to list:\n{stderr}");
        return;
    }
    // SAFETY: NULL is allowed.
    expect(unsafe { aclInit(null()) }, 0, "");
    set_device();
    let block = malloc(224);
    let stream = create_stream();
    let tensors: Vec<_> = (0..20).map(|n| tensor(block.wrapping_byte_add(n))).collect();
    let (mut size, mut executor) = (0, null_mut());
    let [a, b] = [0, 1].map(|n| tensors[n].cast_const());
    let none = null();
    let c = tensors[0];
    // SAFETY: the results are writable.
    let planned =
        unsafe { aclnnModulateBackwardGetWorkspaceSize(a, b, none, none, c, none, none, &mut size, &mut executor) };
    expect(planned, 0, "");
    expect(aclFinalize(), 0, "");
    for tensor in tensors {
        assert_eq!(aclDestroyTensor(tensor), 0);
    }
    assert_eq!(aclnn_modulate::api::executor::aclDestroyAclOpExecutor(executor), 0);
    expect(free(block), 0, "");
    expect(aclrtDestroyStream(stream), 0, "");
    // SAFETY: NULL is allowed.
    expect(unsafe { aclInit(null()) }, 0, "");
    expect(aclFinalize(), 0, "");
}
