//! `aclDumpOpTensors`: files in stream order, only where aclInit's file says so, and every wrong argument.

mod runtime;

use std::ffi::{CString, c_void};
use std::path::{Path, PathBuf};
use std::ptr::{null, null_mut};

use aclnn_modulate::api::dump::aclDumpOpTensors;
use aclnn_modulate::api::memory::aclrtMemcpy;
use aclnn_modulate::api::runtime::*;
use aclnn_modulate::api::stream::*;
use aclnn_modulate::api::tensor::*;
use aclnn_modulate::api::types::aclTensor;
use runtime::*;

fn tensor(data: *mut c_void, data_type: i32, dims: &[i64], strides: &[i64], offset: i64) -> *mut aclTensor {
    let count = dims.len() as u64;
    // SAFETY: the arrays are as long as is said; the data is not touched.
    let tensor = unsafe {
        aclCreateTensor(dims.as_ptr(), count, data_type, strides.as_ptr(), offset, 2, dims.as_ptr(), 0, data)
    };
    assert!(!tensor.is_null(), "{}", message());
    tensor
}

fn dump(name: &str, tensors: &mut [*mut aclTensor], inputs: usize, stream: *mut c_void) -> i32 {
    let name = CString::new(name).unwrap();
    let outputs = tensors.len() - inputs;
    // SAFETY: C strings, an array as long as is said, and tensors whose data lives until the stream is synchronised.
    unsafe { aclDumpOpTensors(c"Modulate".as_ptr(), name.as_ptr(), tensors.as_mut_ptr(), inputs, outputs, stream) }
}

/// A fresh directory, and aclInit with a file that names it.
fn init_dump(test: &str, mode: &str) -> PathBuf {
    let directory = scratch(&format!("dump_{test}"));
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir(&directory).unwrap();
    let text = format!("{{\"dump\": {{\"dump_path\": \"{}\"{mode}}}}}", directory.display());
    expect(init_with(&text), 0, "");
    set_device();
    directory
}

fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Checks a file's header, and returns what follows it.
fn data(file: &Path, about: &str) -> Vec<u8> {
    let bytes = std::fs::read(file).unwrap();
    assert_eq!(bytes[..8], *b"\x93NUMPY\x01\x00");
    let end = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    assert_eq!(end % 64, 0);
    let header = String::from_utf8(bytes[10..end].to_vec()).unwrap();
    assert!(header.contains(about) && header.contains("'fortran_order': False"), "{header}");
    bytes[end..].to_vec()
}

fn floats(block: *mut c_void, values: &[f32]) {
    let bytes = size_of_val(values);
    // SAFETY: both are memory of that many bytes.
    expect(unsafe { aclrtMemcpy(block, bytes, values.as_ptr().cast(), bytes, H2D) }, 0, "");
}

fn le_bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// Runs a test in a process of its own; `true` there.
fn alone(test: &str) -> bool {
    if !is_child() {
        in_child(test, &[]);
    }
    is_child()
}

#[test]
fn tensors_are_written_in_stream_order_whatever_their_view() {
    if !alone("tensors_are_written_in_stream_order_whatever_their_view") {
        return;
    }
    let directory = init_dump("order", ", \"dump_mode\": \"all\"");
    let stream = create_stream();
    let block = malloc(4 * 32);
    let values: Vec<f32> = (0..32).map(|n| n as f32).collect();
    floats(block, &values);
    let dense = tensor(block, 0, &[2, 3], &[3, 1], 0);
    let strided = tensor(block, 0, &[2, 3], &[1, 4], 5);
    let empty = tensor(null_mut(), 0, &[0, 3], &[3, 1], 0);
    let bf16 = tensor(block, 27, &[4], &[1], 0);
    let f16 = tensor(block, 1, &[], &[], 3);
    let gate = hold(stream);
    let mut tensors = [dense, null_mut(), strided, empty, bf16, f16];
    expect(dump("../op 1", &mut tensors, 3, stream), 0, "");
    // The tensors and even the block may go; what counts is the data when the stream gets there.
    for tensor in [dense, strided, empty, bf16, f16] {
        assert_eq!(aclDestroyTensor(tensor), 0);
    }
    assert_eq!(names(&directory), [""; 0]);
    let doubled: Vec<f32> = values.iter().map(|value| value * 2.0).collect();
    floats(block, &doubled);
    expect(free(block), 0, "");
    gate.open();
    expect(aclrtSynchronizeStream(stream), 0, "");
    let name = |rest: &str| format!("Modulate.___op_1_79e5b646.{rest}");
    let expected = ["input.0.npy", "input.2.npy", "output.0.npy", "output.1.json", "output.1.npy", "output.2.npy"];
    assert_eq!(names(&directory), expected.map(name));
    let read = |rest: &str, about: &str| data(&directory.join(name(rest)), about);
    assert_eq!(
        read("input.0.npy", "'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"),
        le_bytes(&doubled[..6])
    );
    assert_eq!(read("input.2.npy", "'shape': (2, 3), }"), le_bytes(&[10.0, 18.0, 26.0, 12.0, 20.0, 28.0]));
    assert_eq!(read("output.0.npy", "'shape': (0, 3), }"), [0; 0]);
    assert_eq!(
        read("output.1.npy", "'descr': '<u2', 'fortran_order': False, 'shape': (4,), }"),
        le_bytes(&doubled[..2])
    );
    assert_eq!(
        read("output.2.npy", "'descr': '<f2', 'fortran_order': False, 'shape': (), }"),
        le_bytes(&doubled)[6..8]
    );
    let note = std::fs::read_to_string(directory.join(name("output.1.json"))).unwrap();
    assert!(note.contains("\"dtype\":\"bfloat16\"") && note.contains("\"shape\":[4]"), "{note}");
    std::fs::remove_dir_all(directory).unwrap();
}

#[test]
fn the_mode_says_which_side_is_written() {
    if !alone("the_mode_says_which_side_is_written") {
        return;
    }
    let block = || {
        let block = malloc(16);
        floats(block, &[1.0; 4]);
        block
    };
    for (mode, side) in
        [("", "output"), (", \"dump_mode\": \"output\"", "output"), (", \"dump_mode\": \"input\"", "input")]
    {
        let directory = init_dump("mode", mode);
        let mut tensors = [block(), block()].map(|block| tensor(block, 0, &[4], &[1], 0));
        expect(dump("op", &mut tensors, 1, null_mut()), 0, "");
        expect(aclrtSynchronizeStream(null_mut()), 0, "");
        assert_eq!(names(&directory), [format!("Modulate.op.{side}.0.npy")]);
        // Nothing is written any more once aclFinalize was called.
        std::fs::remove_file(directory.join(&names(&directory)[0])).unwrap();
        expect(aclFinalize(), 0, "");
        expect(dump("op", &mut tensors, 1, null_mut()), 0, "");
        expect(aclrtSynchronizeStream(null_mut()), 0, "");
        assert_eq!(names(&directory), [""; 0]);
        std::fs::remove_dir_all(directory).unwrap();
    }
    let wrong = [
        ("{\"dump\": {\"dump_path\": \"/nonexistent/dump\"}}", "/nonexistent/dump"),
        ("{\"dump\": {\"dump_path\": \".\", \"dump_mode\": \"some\"}}", "dump_mode is some"),
        ("{\"dump\": {\"dump_mode\": \"some\"}}", "dump_mode is some"),
        ("{\"dump\": {\"dump_path\": \".\", \"dump_mode\": 1}}", "dump_mode is 1, expected a string"),
        ("{\"dump\": {\"dump_path\": [\".\"]}}", "dump_path is [\".\"], expected a string"),
        ("{\"dump\": 5}", "dump is 5, expected an object"),
    ];
    for (text, about) in wrong {
        expect(init_with(text), 100009, about);
    }
}

#[test]
fn a_file_that_cant_be_written_is_told_at_synchronise() {
    if !alone("a_file_that_cant_be_written_is_told_at_synchronise") {
        return;
    }
    let directory = init_dump("gone", ", \"dump_mode\": \"all\"");
    let block = malloc(16);
    let mut tensors = [tensor(block, 0, &[4], &[1], 0)];
    std::fs::remove_dir_all(directory).unwrap();
    expect(dump("op", &mut tensors, 1, null_mut()), 0, "");
    expect(aclrtSynchronizeStream(null_mut()), 507035, "can't be written");
    expect(aclrtSynchronizeStream(null_mut()), 0, "");
}

#[test]
fn wrong_arguments_queue_nothing() {
    set_device();
    let block = malloc(64);
    let good = tensor(block, 0, &[4], &[1], 0);
    let text = c"x".as_ptr();
    let call = |op_type, op_name, tensors, inputs, outputs, stream| {
        // SAFETY: what is not as promised is detected before it is used.
        unsafe { aclDumpOpTensors(op_type, op_name, tensors, inputs, outputs, stream) }
    };
    let mut list = [good];
    let tensors = list.as_mut_ptr();
    let stream = null_mut();
    expect(call(null(), text, tensors, 1, 0, stream), 161001, "opType is NULL");
    expect(call(text, null(), tensors, 1, 0, stream), 161001, "opName is NULL");
    expect(call(text, text, null_mut(), 1, 0, stream), 161001, "tensors is NULL");
    expect(call(text, text, null_mut(), 0, 0, stream), 0, "");
    expect(call(text, text, tensors, usize::MAX, 2, stream), 161002, "more than memory can hold");
    expect(call(text, text, tensors, 1 << 61, 0, stream), 161002, "more than memory can hold");
    expect(call(text, text, tensors, 1, 0, garbage()), 361001, "stream is");
    let dead = tensor(block, 0, &[4], &[1], 0);
    assert_eq!(aclDestroyTensor(dead), 0);
    let cases = [
        (dead, "not live"),
        (garbage().cast(), "never returned"),
        (tensor(null_mut(), 0, &[4], &[1], 0), "address is NULL"),
        (tensor(block, 13, &[4], &[1], 0), "ACL_STRING"),
        (tensor(block, 0, &[4], &[8], 0), "leaves its block"),
        (tensor(block, 0, &[2], &[i64::MAX], 0), "address space"),
    ];
    for (wrong, about) in cases {
        expect(dump("op", &mut [good, wrong], 1, stream), 161002, about);
    }
    in_thread(|| expect(dump("op", &mut [], 0, null_mut()), 361001, "aclrtSetDevice"));
    expect(free(block), 0, "");
}
