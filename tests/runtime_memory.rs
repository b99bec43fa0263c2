//! Blocks, copies and sets through the exported functions: wrong input, and what happens to memory that work still uses.

mod runtime;

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use aclnn_modulate::api::memory::*;
use aclnn_modulate::api::stream::{aclrtDestroyStream, aclrtSynchronizeStream};
use aclnn_modulate::api::types::{aclrtMemLocation, aclrtPtrAttributes};
use aclnn_modulate::runtime::memory::{Kind, find_block};
use runtime::*;

fn copy(dst: *mut c_void, dest_max: usize, src: *const c_void, count: usize, kind: i32) -> i32 {
    // SAFETY: the tests pass memory of their own, or blocks, or what is refused before it is touched.
    unsafe { aclrtMemcpy(dst, dest_max, src, count, kind) }
}

fn copy_async(dst: *mut c_void, src: *const c_void, count: usize, kind: i32, stream: *mut c_void) -> i32 {
    // SAFETY: as above; the tests keep the memory until they have synchronised.
    unsafe { aclrtMemcpyAsync(dst, count, src, count, kind, stream) }
}

fn set(dst: *mut c_void, max: usize, value: i32, count: usize) -> i32 {
    // SAFETY: as above.
    unsafe { aclrtMemset(dst, max, value, count) }
}

fn bytes(block: *mut c_void, count: usize) -> Vec<u8> {
    let mut out = vec![0; count];
    expect(copy(out.as_mut_ptr().cast(), count, block, count, D2H), 0, "");
    out
}

#[test]
fn blocks_are_aligned_padded_and_known_by_their_addresses() {
    set_device();
    for size in [1, 31, 32, 33, 4096, (2 << 20) - 33, 2 << 20, (2 << 20) + 1, 5 << 20] {
        let block = malloc(size);
        let start = block.addr();
        assert_eq!(start % 64, 0);
        let found = find_block(start).unwrap();
        let checked = size.next_multiple_of(32) + 32;
        assert_eq!((found.start, found.checked_len, found.kind), (start, checked, Kind::Device));
        assert_eq!(find_block(start + checked - 1), Some(found));
        assert!(find_block(start + checked).is_none_or(|other| other.start != start));
        // Every byte of it is memory.
        expect(set(block, checked, 0x1AB, checked), 0, "");
        assert!(bytes(block, checked).iter().all(|byte| *byte == 0xAB));
        expect(set(block, checked + 1, 0, checked + 1), 107000, "leave its aclrtMalloc block");
        expect(free(block), 0, "");
        assert_eq!(find_block(start), None);
        expect(free(block), 107000, "expected the start of a live block from aclrtMalloc");
    }
}

#[test]
fn align32_has_no_padding() {
    set_device();
    let mut block = null_mut();
    // SAFETY: `block` is writable.
    expect(unsafe { aclrtMallocAlign32(&mut block, 33, 2) }, 0, "");
    assert_eq!(find_block(block.addr()).unwrap().checked_len, 64);
    expect(set(block, 65, 0, 65), 107000, "64 bytes");
    expect(free(block), 0, "");
}

#[test]
fn impossible_sizes_are_refused_quickly_and_change_nothing() {
    set_device();
    let mut block = garbage();
    for size in [1 << 60, 1 << 62, isize::MAX as usize, usize::MAX - 31, usize::MAX] {
        // SAFETY: `block` is writable.
        expect(unsafe { aclrtMalloc(&mut block, size, 0) }, 207001, &size.to_string());
        // SAFETY: `block` is writable.
        expect(unsafe { aclrtMallocHost(&mut block, size) }, 207001, &size.to_string());
        // SAFETY: `block` is writable.
        expect(unsafe { aclrtMallocAlign32(&mut block, size, 0) }, 207001, &size.to_string());
    }
    // SAFETY: `block` is writable.
    expect(unsafe { aclrtMalloc(&mut block, 0, 0) }, 100000, "size is 0");
    // SAFETY: NULL is detected.
    expect(unsafe { aclrtMalloc(null_mut(), 8, 0) }, 100000, "devPtr is NULL");
    // SAFETY: NULL is detected.
    expect(unsafe { aclrtMallocHost(null_mut(), 8) }, 100000, "hostPtr is NULL");
    assert_eq!(block, garbage());
    // Any policy number is taken.
    for policy in [i32::MIN, -1, 1, 2, 7, 8, 256, 4096, 1 << 20, i32::MAX] {
        // SAFETY: `block` is writable.
        expect(unsafe { aclrtMalloc(&mut block, 100, policy) }, 0, "");
        expect(free(block), 0, "");
    }
}

#[test]
fn large_untouched_blocks_cost_no_memory() {
    set_device();
    let resident = || {
        let text = std::fs::read_to_string("/proc/self/statm").unwrap();
        text.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
    };
    let mut sizes = (0, 0);
    // SAFETY: both are writable.
    expect(unsafe { aclrtGetMemInfo(1, &mut sizes.0, &mut sizes.1) }, 0, "");
    let before = resident();
    let size = (sizes.1 / 2).min(8 << 30);
    let block = malloc(size);
    // Other tests of this binary allocate a few MiB at the same time.
    assert!(resident() < before + (64 << 20), "{} bytes were touched", resident() - before);
    expect(free(block), 0, "");
}

#[test]
fn each_kind_is_freed_by_its_own_function() {
    set_device();
    let (device, host) = (malloc(100), malloc_host(100));
    expect(free(host), 107000, "freed by aclrtFreeHost");
    expect(free_host(device), 107000, "freed by aclrtFree");
    expect(free(device.wrapping_byte_add(8)), 107000, "8 bytes into a block");
    expect(free(null_mut()), 100000, "devPtr is NULL");
    expect(free_host(null_mut()), 100000, "hostPtr is NULL");
    expect(free(garbage()), 107000, "expected the start of a live block");
    let local = 0;
    expect(free_host((&raw const local).cast_mut().cast()), 107000, "expected the start of a live block");
    // Freeing needs no context.
    let (device, host) = (Sent(device), Sent(host));
    in_thread(move || {
        expect(free(device.get()), 0, "");
        expect(free_host(host.get()), 0, "");
    });
}

#[test]
fn a_thread_without_a_context_is_told_what_to_call() {
    set_device();
    let block = Sent(malloc(64));
    in_thread(move || {
        let block = block.get();
        let about = "call aclrtSetDevice in this thread";
        let mut other = null_mut();
        let mut local = [0_u8; 8];
        let pointer: *mut c_void = local.as_mut_ptr().cast();
        // SAFETY: `other` is writable.
        expect(unsafe { aclrtMalloc(&mut other, 8, 0) }, 107002, about);
        // SAFETY: `other` is writable.
        expect(unsafe { aclrtMallocHost(&mut other, 8) }, 107002, about);
        expect(copy(pointer, 8, pointer, 8, 0), 107002, about);
        expect(copy(block, 8, pointer, 0, H2D), 107002, about);
        expect(set(block, 8, 0, 8), 107002, about);
        expect(copy_async(block, pointer, 8, H2D, null_mut()), 107002, about);
    });
    expect(free(block.get()), 0, "");
}

#[test]
fn copies_are_checked_against_room_and_blocks_before_a_byte_moves() {
    set_device();
    let block = malloc(64);
    expect(set(block, 96, 7, 96), 0, "");
    let source = [1_u8; 200];
    let from: *const c_void = source.as_ptr().cast();
    expect(copy(block, 15, from, 16, H2D), 107000, "count is 16, expected at most destMax, which is 15");
    expect(copy(block, 200, from, 97, H2D), 107000, "97 bytes from dst");
    expect(copy(block.wrapping_byte_add(90), 200, from, 7, H2D), 107000, "expected at most 6 bytes");
    let mut out = [0_u8; 200];
    expect(copy(out.as_mut_ptr().cast(), 200, block, 97, D2H), 107000, "97 bytes from src");
    assert_eq!(bytes(block, 96), [7; 96]);
    assert_eq!(out, [0; 200]);
    // A destMax beyond the block is fine as long as the count is not.
    expect(copy(block, usize::MAX, from, 96, H2D), 0, "");
    assert_eq!(bytes(block, 96), [1; 96]);

    for (dst, src, name) in [(null_mut(), from, "dst is NULL"), (block, null(), "src is NULL")] {
        expect(copy(dst, 8, src, 8, H2D), 100000, name);
    }
    expect(set(null_mut(), 8, 0, 8), 100000, "devPtr is NULL");
    expect(set(block, 7, 0, 8), 107000, "count is 8");
    for kind in [-1, 6, 7, 8, i32::MIN, i32::MAX] {
        expect(copy(block, 8, from, 8, kind), 100000, "kind is");
    }
    for kind in 0..=5 {
        expect(copy(block, 8, from, 8, kind), 0, "");
    }
    // Nothing to do is success, whatever else is said.
    expect(copy(null_mut(), 0, null(), 0, 99), 0, "");
    expect(set(null_mut(), 0, 0, 0), 0, "");
    for count in [isize::MAX as usize, usize::MAX - 7, usize::MAX] {
        expect(copy(block, usize::MAX, from, count, H2D), 107000, "bytes from dst");
        expect(copy(garbage(), usize::MAX, from, count, H2D), 107000, "address space");
        expect(set(block, usize::MAX, 0, count), 107000, "bytes from devPtr");
    }
    expect(free(block), 0, "");
}

#[test]
fn overlapping_copies_are_those_of_memmove() {
    set_device();
    let block = malloc(64);
    let pattern: Vec<u8> = (0..64).collect();
    for (from, to) in [(0, 5), (5, 0), (3, 3)] {
        expect(copy(block, 64, pattern.as_ptr().cast(), 64, H2D), 0, "");
        expect(copy(block.wrapping_byte_add(to), 59, block.wrapping_byte_add(from), 59, D2D), 0, "");
        let mut expected = pattern.clone();
        expected.copy_within(from..from + 59, to);
        assert_eq!(bytes(block, 64), expected);
    }
    expect(free(block), 0, "");
}

#[test]
fn matrices_are_copied_in_stream_order() {
    set_device();
    let stream = create_stream();
    let (block, host, other) = (malloc(10 * 16), malloc_host(40), malloc_host(28));
    expect(set(block, 160, 0xEE, 160), 0, "");
    let copy_2d = |(dst, dpitch), (src, spitch), width, height, kind, stream| {
        // SAFETY: the rows are inside memory that lives until the stream is synchronised, or refused before they are touched.
        unsafe { aclrtMemcpy2dAsync(dst, dpitch, src, spitch, width, height, kind, stream) }
    };
    let gate = hold(stream);
    expect(copy_2d((block, 16), (host.cast_const(), 10), 7, 4, H2D, stream), 0, "");
    expect(copy_2d((other, 7), (block.cast_const(), 16), 7, 4, D2H, stream), 0, "");
    assert_eq!(bytes(block, 160), [0xEE; 160]);
    // What counts is what the source holds when the stream gets there, and the second copy sees the first one's rows.
    for n in 0..40 {
        // SAFETY: the block has 40 bytes.
        unsafe { host.cast::<u8>().add(n).write(n as u8) };
    }
    gate.open();
    expect(aclrtSynchronizeStream(stream), 0, "");
    let row = |row: usize| (0..7).map(move |column| (row * 10 + column) as u8);
    for (n, found) in bytes(block, 160).chunks(16).enumerate() {
        let expected: Vec<u8> = if n < 4 { row(n).chain([0xEE; 9]).collect() } else { vec![0xEE; 16] };
        assert_eq!(found, expected);
    }
    assert_eq!(bytes(other, 28), (0..4).flat_map(row).collect::<Vec<u8>>());
    let before = bytes(block, 160);
    let from = (host.cast_const(), 10);
    expect(copy_2d((block, 6), from, 7, 4, H2D, stream), 107000, "dpitch");
    expect(copy_2d((block, 16), (host.cast_const(), 6), 7, 4, H2D, stream), 107000, "spitch");
    expect(copy_2d((block, 16), from, 7, 12, H2D, stream), 107000, "from src");
    expect(copy_2d((block, 16), from, 7, 4, 0, stream), 100000, "kind is 0");
    expect(copy_2d((null_mut(), 16), from, 7, 4, H2D, stream), 100000, "dst is NULL");
    expect(copy_2d((block, 16), from, 7, 4, H2D, garbage()), 107017, "stream is");
    expect(aclrtSynchronizeStream(stream), 0, "");
    assert_eq!(bytes(block, 160), before);
    expect(free(block), 0, "");
    expect(free_host(host), 0, "");
    expect(free_host(other), 0, "");
    expect(aclrtDestroyStream(stream), 0, "");
}

#[test]
fn matrices_are_copied_row_by_row() {
    set_device();
    let block = malloc(10 * 16);
    expect(set(block, 160, 0xEE, 160), 0, "");
    let source: Vec<u8> = (0..40).collect();
    let from: *const c_void = source.as_ptr().cast();
    let copy_2d = |dst, dpitch, src, spitch, width, height, kind| {
        // SAFETY: the rows are inside the memory that is passed, or refused before they are touched.
        unsafe { aclrtMemcpy2d(dst, dpitch, src, spitch, width, height, kind) }
    };
    expect(copy_2d(block, 16, from, 10, 7, 4, H2D), 0, "");
    let got = bytes(block, 160);
    for (row, bytes) in got.chunks(16).enumerate() {
        let expected: Vec<u8> = if row < 4 { (0..7).map(|c| (row * 10 + c) as u8).collect() } else { vec![0xEE; 7] };
        assert_eq!(bytes[..7], expected);
        assert_eq!(bytes[7..], [0xEE; 9]);
    }
    expect(copy_2d(block, 6, from, 10, 7, 4, H2D), 107000, "dpitch");
    expect(copy_2d(block, 16, from, 6, 7, 4, H2D), 107000, "spitch");
    expect(copy_2d(block, 16, from, 7, 7, 13, H2D), 107000, "from dst");
    expect(copy_2d(block, 1 << 62, from, 10, 7, 5, H2D), 107000, "address space");
    expect(copy_2d(block, 16, from, 10, 7, 4, 0), 100000, "kind is 0");
    expect(copy_2d(block, 16, from, 10, 7, 4, 6), 100000, "kind is 6");
    expect(copy_2d(null_mut(), 16, from, 10, 7, 4, H2D), 100000, "dst is NULL");
    expect(copy_2d(block, 16, null(), 10, 7, 4, H2D), 100000, "src is NULL");
    expect(copy_2d(null_mut(), 0, null(), 0, 0, 9, H2D), 0, "");
    assert_eq!(bytes(block, 160), got);
    expect(free(block), 0, "");
}

#[test]
fn copies_in_stream_order_wait_for_what_is_before_them() {
    set_device();
    let stream = create_stream();
    let (block, host, other) = (malloc(64), malloc_host(64), malloc_host(64));
    expect(set(host, 64, 3, 64), 0, "");
    expect(set(block, 64, 1, 64), 0, "");
    let gate = hold(stream);
    expect(copy_async(block, host, 64, H2D, stream), 0, "");
    // A wrong kind is corrected between blocks.
    expect(copy_async(other, block, 64, H2D, stream), 0, "");
    // SAFETY: the block lives until the stream was synchronised.
    expect(unsafe { aclrtMemsetAsync(block, 64, 9, 32, stream) }, 0, "");
    assert_eq!(bytes(block, 64), [1; 64]);
    gate.open();
    expect(aclrtSynchronizeStream(stream), 0, "");
    assert_eq!(bytes(other, 64), [3; 64]);
    assert_eq!(bytes(block, 64), [[9; 32], [3; 32]].concat());
    expect(free(block), 0, "");
    expect(free_host(host), 0, "");
    expect(free_host(other), 0, "");
}

#[test]
fn kinds_say_what_other_memory_may_be_in_stream_order() {
    set_device();
    let stream = create_stream();
    let block = malloc(8);
    let mut local = *b"12345678";
    let here: *mut c_void = local.as_mut_ptr().cast();
    expect(copy_async(block, here, 8, 0, stream), 207000, "ACL_MEMCPY_HOST_TO_HOST");
    expect(copy_async(here, block, 8, H2D, stream), 107000, "dst lies in no block");
    expect(copy_async(block, here, 8, D2H, stream), 107000, "src lies in no block");
    expect(copy_async(here, here, 8, 4, stream), 207000, "aclrtMemcpy");
    for kind in [H2D, D2D, 4] {
        expect(copy_async(block, here, 8, kind, stream), 0, "");
        // From memory of other origin it is done when it returns.
        assert_eq!(bytes(block, 8), *b"12345678");
        expect(set(block, 8, 0, 8), 0, "");
    }
    expect(set(block, 8, 0x41, 8), 0, "");
    for kind in [D2H, D2D, 4] {
        local.fill(0);
        expect(copy_async(here, block, 8, kind, stream), 0, "");
        expect(aclrtSynchronizeStream(stream), 0, "");
        assert_eq!(local, [0x41; 8]);
    }
    expect(free(block), 0, "");
}

#[test]
fn a_freed_block_lives_until_queued_work_is_done() {
    // Alone in a process: other tests' blocks could come to lie at the same address.
    if !is_child() {
        in_child("a_freed_block_lives_until_queued_work_is_done", &[]);
        return;
    }
    set_device();
    let (one, two) = (create_stream(), create_stream());
    let size = 4 << 20;
    let (block, target) = (malloc(size), malloc_host(size));
    expect(set(block, size, 0x5C, size), 0, "");
    let (first, second) = (hold(one), hold(two));
    expect(copy_async(target, block, size, D2H, one), 0, "");
    let half = size / 2;
    expect(copy_async(target.wrapping_byte_add(half), block, half, D2H, two), 0, "");
    // The call waits for nobody: the streams are held.
    expect(free(block), 0, "");
    assert_eq!(find_block(block.addr()), None);
    expect(free(block), 107000, "was freed");
    // New work can't have it any more, whatever it thinks it is.
    expect(set(target, size, 0, size), 0, "");
    first.open();
    expect(aclrtSynchronizeStream(one), 0, "");
    assert!(bytes(target, size).iter().all(|byte| *byte == 0x5C));
    expect(set(target, size, 0, size), 0, "");
    second.open();
    expect(aclrtSynchronizeStream(two), 0, "");
    assert!(bytes(target, size)[half..].iter().all(|byte| *byte == 0x5C));
    // Now the last user is done, and the memory is gone.
    assert!(!is_mapped(block.addr()), "the block was not unmapped");
    expect(free_host(target), 0, "");
}

/// Whether an address is in this process's memory map.
fn is_mapped(address: usize) -> bool {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    maps.lines().any(|line| {
        let (start, rest) = line.split_once('-').unwrap();
        let end = rest.split(' ').next().unwrap();
        let parse = |text| usize::from_str_radix(text, 16).unwrap();
        (parse(start)..parse(end)).contains(&address)
    })
}

#[test]
fn freeing_with_synchronisation_waits() {
    set_device();
    let stream = create_stream();
    let (block, target) = (malloc(64), malloc_host(64));
    expect(set(block, 64, 4, 64), 0, "");
    let gate = hold(stream);
    expect(copy_async(target, block, 64, D2H, stream), 0, "");
    // SAFETY: not the start of a block, so nothing is freed.
    expect(unsafe { aclrtFreeWithDevSync(block.wrapping_byte_add(1)) }, 107000, "1 bytes into");
    let sent = Sent(block);
    let freeing = std::thread::spawn(move || {
        set_device();
        // SAFETY: nobody uses the block any more.
        unsafe { aclrtFreeWithDevSync(sent.get()) }
    });
    assert!(find_block(block.addr()).is_some());
    gate.open();
    assert_eq!(freeing.join().unwrap(), 0);
    assert_eq!(find_block(block.addr()), None);
    assert_eq!(bytes(target, 64), [4; 64]);
    expect(free_host(target), 0, "");
}

#[test]
fn addresses_tell_where_they_are() {
    set_device();
    let (block, host) = (malloc(3 << 20), malloc_host(64));
    let local = 0;
    let local: *const c_void = (&raw const local).cast();
    for (pointer, location, page) in [(block, 1, 2 << 20), (host, 0, 4096), (local.cast_mut(), 2, 0)] {
        let location_of = aclrtMemLocation { id: 99, r#type: 99 };
        let mut attributes = aclrtPtrAttributes { location: location_of, pageSize: 99, rsv: [9; 4] };
        // SAFETY: `attributes` is writable.
        expect(unsafe { aclrtPointerGetAttributes(pointer, &mut attributes) }, 0, "");
        assert_eq!((attributes.location.r#type, attributes.location.id), (location, 0));
        assert_eq!((attributes.pageSize, attributes.rsv), (page, [0; 4]));
    }
    // SAFETY: NULL is detected.
    expect(unsafe { aclrtPointerGetAttributes(block, null_mut()) }, 100000, "attributes is NULL");
    expect(free(block), 0, "");
    expect(free_host(host), 0, "");
}

#[test]
fn memory_information_counts_live_blocks() {
    set_device();
    let info = || {
        let mut sizes = (0, 0);
        // SAFETY: both are writable.
        expect(unsafe { aclrtGetMemInfo(0, &mut sizes.0, &mut sizes.1) }, 0, "");
        sizes
    };
    let (free_before, total) = info();
    assert!(free_before <= total);
    let block = malloc(total / 2);
    let (free_after, _) = info();
    assert!(free_after <= total - total / 2, "{free_after} of {total}");
    expect(free(block), 0, "");
    let mut size = 0;
    // SAFETY: `size` is writable, and NULL is detected.
    expect(unsafe { aclrtGetMemInfo(0, null_mut(), &mut size) }, 100000, "free is NULL");
    // SAFETY: as above.
    expect(unsafe { aclrtGetMemInfo(0, &mut size, null_mut()) }, 100000, "total is NULL");
    let mut other = 0;
    for attr in [-1, 18, i32::MAX] {
        // SAFETY: both are writable.
        expect(unsafe { aclrtGetMemInfo(attr, &mut size, &mut other) }, 107000, "attr is");
    }
}

#[test]
fn cache_maintenance_checks_its_range() {
    set_device();
    let mut block = null_mut();
    // SAFETY: `block` is writable.
    expect(unsafe { aclrtMallocCached(&mut block, 64, 0) }, 0, "");
    for function in [aclrtMemFlush, aclrtMemInvalidate] {
        // SAFETY: no byte is touched.
        let call = |pointer, size| unsafe { function(pointer, size) };
        expect(call(block, 96), 0, "");
        expect(call(block, 97), 107000, "from devPtr");
        expect(call(block, 0), 100000, "size is 0");
        expect(call(null_mut(), 1), 100000, "devPtr is NULL");
    }
    expect(free(block), 0, "");
}
