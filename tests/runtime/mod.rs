//! What the tests of the runtime's exported functions share.
#![allow(dead_code)] // every test binary uses a part of it

use std::ffi::{CStr, CString, c_void};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::ptr::null_mut;
use std::sync::{Condvar, Mutex};

use aclnn_modulate::api::types::{aclrtContext, aclrtEvent, aclrtStream};
use aclnn_modulate::api::{event, memory, runtime, stream};

pub const H2D: i32 = 1;
pub const D2H: i32 = 2;
pub const D2D: i32 = 3;

/// Something that is no handle and never was.
pub const GARBAGE: usize = 0x5a5a_5a5a_5a58;

pub fn garbage() -> *mut c_void {
    std::ptr::without_provenance_mut(GARBAGE)
}

/// Binds the calling thread to device 0.
pub fn set_device() {
    assert_eq!(runtime::aclrtSetDevice(0), 0, "{}", message());
}

/// The thread's messages since the last call.
pub fn message() -> String {
    let text = runtime::aclGetRecentErrMsg();
    if text.is_null() {
        return String::new();
    }
    // SAFETY: a message is a C string that lives until the thread's next call, and is copied here.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// Checks a status, and that a failure left one line in the thread's messages that says `about`.
#[track_caller]
pub fn expect(status: i32, expected: i32, about: &str) {
    let message = message();
    assert_eq!(status, expected, "{message}");
    if expected == 0 {
        assert_eq!(message, "");
    } else {
        assert!(message.contains(about), "{message:?} does not say {about:?}");
        assert_eq!(message.lines().count(), 1, "{message}");
    }
}

pub fn malloc(size: usize) -> *mut c_void {
    let mut block = null_mut();
    // SAFETY: `block` is writable.
    let status = unsafe { memory::aclrtMalloc(&mut block, size, 0) };
    assert_eq!(status, 0, "{}", message());
    block
}

pub fn malloc_host(size: usize) -> *mut c_void {
    let mut block = null_mut();
    // SAFETY: `block` is writable.
    let status = unsafe { memory::aclrtMallocHost(&mut block, size) };
    assert_eq!(status, 0, "{}", message());
    block
}

pub fn free(block: *mut c_void) -> i32 {
    // SAFETY: the tests don't use a block after this.
    unsafe { memory::aclrtFree(block) }
}

pub fn free_host(block: *mut c_void) -> i32 {
    // SAFETY: the tests don't use a block after this.
    unsafe { memory::aclrtFreeHost(block) }
}

pub fn create_stream() -> aclrtStream {
    let mut handle = null_mut();
    // SAFETY: `handle` is writable.
    let status = unsafe { stream::aclrtCreateStream(&mut handle) };
    assert_eq!(status, 0, "{}", message());
    handle
}

pub fn create_context() -> aclrtContext {
    let mut handle = null_mut();
    // SAFETY: `handle` is writable.
    let status = unsafe { runtime::aclrtCreateContext(&mut handle, 0) };
    assert_eq!(status, 0, "{}", message());
    handle
}

pub fn create_event() -> aclrtEvent {
    let mut handle = null_mut();
    // SAFETY: `handle` is writable.
    let status = unsafe { event::aclrtCreateEvent(&mut handle) };
    assert_eq!(status, 0, "{}", message());
    handle
}

pub fn create_flagged(flag: u32) -> aclrtEvent {
    let mut handle = null_mut();
    // SAFETY: `handle` is writable.
    let status = unsafe { event::aclrtCreateEventWithFlag(&mut handle, flag) };
    assert_eq!(status, 0, "{}", message());
    handle
}

pub fn create_ex(flag: u32) -> aclrtEvent {
    let mut handle = null_mut();
    // SAFETY: `handle` is writable.
    let status = unsafe { event::aclrtCreateEventExWithFlag(&mut handle, flag) };
    assert_eq!(status, 0, "{}", message());
    handle
}

/// Queues a closure on a stream; it is called once, or leaked if the stream drops it.
#[track_caller]
pub fn launch(stream: aclrtStream, body: impl FnOnce() + Send + 'static) {
    let (function, argument) = c_callback(body);
    // SAFETY: the function takes the closure back, once.
    let status = unsafe { stream::aclrtLaunchHostFunc(stream, Some(function), argument) };
    assert_eq!(status, 0, "{}", message());
}

/// A closure as C's function and argument.
pub fn c_callback(body: impl FnOnce() + Send + 'static) -> (unsafe extern "C" fn(*mut c_void), *mut c_void) {
    type Body = Box<dyn FnOnce() + Send>;
    unsafe extern "C" fn call(argument: *mut c_void) {
        // SAFETY: the argument comes from `into_raw` below, and is passed once.
        let body = unsafe { Box::from_raw(argument.cast::<Body>()) };
        body();
    }
    let body: Body = Box::new(body);
    (call, Box::into_raw(Box::new(body)).cast())
}

/// What holds a stream's work up until a test lets it go on. No test sleeps.
#[derive(Default)]
pub struct Gate {
    open: Mutex<bool>,
    changed: Condvar,
}

impl Gate {
    pub fn open(&self) {
        *self.open.lock().unwrap() = true;
        self.changed.notify_all();
    }

    pub fn wait(&self) {
        let mut open = self.open.lock().unwrap();
        while !*open {
            open = self.changed.wait(open).unwrap();
        }
    }
}

/// Queues a wait for a gate on a stream, and returns when the stream has got there.
pub fn hold(stream: aclrtStream) -> &'static Gate {
    let reached: &'static Gate = Box::leak(Box::default());
    let gate: &'static Gate = Box::leak(Box::default());
    launch(stream, move || {
        reached.open();
        gate.wait();
    });
    reached.wait();
    gate
}

/// Runs a test of this binary again in a process of its own, with variables of the environment; returns what it wrote to
/// stdout and stderr. The test sees `ACLCPU_TEST_CHILD`.
pub fn in_child(test: &str, variables: &[(&str, &str)]) -> (String, String) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]).env("ACLCPU_TEST_CHILD", "1");
    command.envs(variables.iter().copied());
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{test} failed in the child: {:?}\n{stdout}\n{stderr}", output.status);
    assert!(stdout.contains("1 passed"), "{test} is no test here:\n{stdout}");
    (stdout, stderr)
}

/// A path for a file of this process's tests: another run in the same target directory must not see it half-written.
pub fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}_{name}", std::process::id()))
}

/// aclInit with a file, or with NULL.
pub fn init(path: Option<&str>) -> i32 {
    let path = path.map(|path| CString::new(path).unwrap());
    // SAFETY: a C string or NULL.
    unsafe { runtime::aclInit(path.as_ref().map_or(std::ptr::null(), |path| path.as_ptr())) }
}

/// aclInit with a file that has this text.
pub fn init_with(text: &str) -> i32 {
    let path = scratch("acl.json");
    std::fs::write(&path, text).unwrap();
    let status = init(path.to_str());
    std::fs::remove_file(path).unwrap();
    status
}

/// Whether this process is the one that [`in_child`] started.
pub fn is_child() -> bool {
    std::env::var_os("ACLCPU_TEST_CHILD").is_some()
}

/// Runs a body in a thread of its own, which starts without a context.
pub fn in_thread<R: Send + 'static>(body: impl FnOnce() -> R + Send + 'static) -> R {
    std::thread::spawn(body).join().unwrap()
}

/// A handle that may cross threads.
#[derive(Clone, Copy)]
pub struct Sent(pub *mut c_void);
// SAFETY: handles are numbers, and the tests' blocks outlive their threads.
unsafe impl Send for Sent {}
impl Sent {
    pub fn get(self) -> *mut c_void {
        self.0
    }
}
