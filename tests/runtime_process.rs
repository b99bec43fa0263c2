//! What concerns the process: initialisation, environment variables, messages, failures on demand, the application's log
//! lines, versions. Tests that need a fresh process run themselves again in a child.

mod runtime;

use std::ffi::{CString, c_char};
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use aclnn_modulate::api::base::*;
use aclnn_modulate::api::memory::{aclrtMalloc, aclrtMallocHost};
use aclnn_modulate::api::runtime::*;
use aclnn_modulate::api::stream::*;
use aclnn_modulate::api::types::aclrtErrorInfo;
use runtime::*;

/// Runs a test in a process of its own; `true` there.
fn alone(test: &str) -> bool {
    if !is_child() {
        in_child(test, &[]);
    }
    is_child()
}

#[test]
fn initialisation_is_counted() {
    if !alone("initialisation_is_counted") {
        return;
    }
    let mut left = 99;
    expect(aclFinalize(), 0, "");
    // SAFETY: `left` is writable.
    expect(unsafe { aclFinalizeReference(&mut left) }, 100037, "no aclInit left");
    expect(init(None), 0, "");
    expect(init(None), 100002, "already called");
    expect(aclFinalize(), 0, "");
    expect(aclFinalize(), 100037, "already called");
    expect(init(None), 0, "");
    expect(init(None), 100002, "already called");
    expect(init(None), 100002, "already called");
    for expected in [2, 1, 0] {
        // SAFETY: `left` is writable.
        expect(unsafe { aclFinalizeReference(&mut left) }, 0, "");
        assert_eq!(left, expected);
    }
    // SAFETY: NULL is allowed.
    expect(unsafe { aclFinalizeReference(null_mut()) }, 100037, "no aclInit left");
    expect(init(None), 0, "");
    // SAFETY: NULL is allowed.
    expect(unsafe { aclFinalizeReference(null_mut()) }, 0, "");
    // Devices and streams outlive it.
    set_device();
    let stream = create_stream();
    expect(init(None), 0, "");
    expect(aclFinalize(), 0, "");
    launch(stream, || ());
    expect(aclrtSynchronizeStream(stream), 0, "");
    expect(aclrtDestroyStream(stream), 0, "");
}

#[test]
fn configuration_files_are_read_or_refused() {
    if !alone("configuration_files_are_read_or_refused") {
        return;
    }
    expect(init(Some("/nonexistent/acl.json")), 100003, "/nonexistent/acl.json");
    expect(init(Some(env!("CARGO_TARGET_TMPDIR"))), 100003, "configPath is");
    for text in ["", "{", "[1,", "\"", "[]", "\"x\"", "7", "null"] {
        expect(init_with(text), 100006, "acl.json");
    }
    for (text, about) in [
        ("{\"err_msg_mode\": \"x\"}", "err_msg_mode is \"x\""),
        ("{\"err_msg_mode\": \"7\"}", "err_msg_mode is 7, expected 0 or 1"),
        ("{\"defaultDevice\": 1}", "defaultDevice is 1, expected an object"),
        ("{\"defaultDevice\": {\"default_device\": 1.5}}", "default_device is 1.5"),
        ("{\"defaultDevice\": {\"default_device\": 4294967296}}", "default_device is 4294967296"),
    ] {
        expect(init_with(text), 100006, about);
    }
    // A failed call initialises nothing.
    for text in [
        "{}",
        "{\"unknown\": [1, {}], \"dump\": {\"dump_mode\": \"all\"}}",
        "{\"err_msg_mode\": 0, \"defaultDevice\": {}, \"dump\": {}}",
    ] {
        expect(init_with(text), 0, "");
        expect(aclFinalize(), 0, "");
    }
    expect(init_with("{\"defaultDevice\": {\"default_device\": 7}}"), 107001, "deviceId is 7");
}

#[test]
fn the_default_device_serves_threads_without_a_context() {
    if !alone("the_default_device_serves_threads_without_a_context") {
        return;
    }
    let try_malloc = || {
        let mut block = null_mut();
        // SAFETY: `block` is writable.
        let status = unsafe { aclrtMalloc(&mut block, 8, 0) };
        message();
        status
    };
    assert_eq!(in_thread(try_malloc), 107002);
    expect(init_with("{\"defaultDevice\": {\"default_device\": \"0\"}}"), 0, "");
    assert_eq!(in_thread(try_malloc), 0);
    assert_eq!(in_thread(|| aclrtSynchronizeStream(null_mut())), 0);
    let mut device = -1;
    // SAFETY: `device` is writable.
    expect(unsafe { aclrtGetDevice(&mut device) }, 0, "");
    assert_eq!(device, 0);
    // However many threads adopted it: one reset takes it back.
    expect(aclrtResetDevice(0), 0, "");
    expect(aclrtResetDevice(0), 507007, "not set");
    expect(aclFinalize(), 0, "");
    assert_eq!(in_thread(try_malloc), 107002);
}

#[test]
fn messages_are_the_threads_own_newest_first() {
    set_device();
    in_thread(|| {
        assert!(aclGetRecentErrMsg().is_null());
        expect(aclrtSynchronizeStream(garbage()), 107017, "aclrtSynchronizeStream: stream is 0x5a5a5a5a5a58");
        for n in 0..40 {
            assert_ne!(aclrtSetDevice(1000 + n), 0);
        }
        let text = message();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 32);
        for (n, line) in lines.iter().enumerate() {
            assert!(line.contains(&format!("aclrtSetDevice: deviceId is {},", 1039 - n)), "{line}");
        }
        assert!(aclGetRecentErrMsg().is_null());
        // A success adds none, and takes none away.
        assert_ne!(aclrtSetDevice(1000), 0);
        assert_eq!(aclrtSetDevice(0), 0);
        assert_eq!(in_thread(message), "");
        assert!(message().contains("deviceId is 1000"));
    });
}

#[test]
fn messages_have_the_documented_form() {
    in_thread(|| {
        assert_eq!(aclrtSynchronizeStream(null_mut()), 107002);
        let text = message();
        let (head, rest) = text.split_once("] ").unwrap();
        assert_eq!(head, format!("EE1001: [PID: {}", std::process::id()));
        let (stamp, rest) = rest.split_once(' ').unwrap();
        // 2026-12-01-10:00:00.123.456
        let shape: String = stamp.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
        assert_eq!(shape, "0000-00-00-00:00:00.000.000");
        assert!(rest.starts_with("aclrtSynchronizeStream: this thread has no current context"), "{rest}");
        // SAFETY: NULL is detected.
        assert_eq!(unsafe { aclrtMalloc(null_mut(), 8, 0) }, 100000);
        assert!(message().starts_with("EZ1001: [PID: "));
    });
}

#[test]
fn messages_of_all_threads_where_the_configuration_says_so() {
    if !alone("messages_of_all_threads_where_the_configuration_says_so") {
        return;
    }
    expect(init_with("{\"err_msg_mode\": \"1\"}"), 0, "");
    in_thread(|| assert_ne!(aclrtSetDevice(77), 0));
    assert!(message().contains("deviceId is 77"));
    expect(aclFinalize(), 0, "");
    in_thread(|| assert_ne!(aclrtSetDevice(77), 0));
    assert_eq!(message(), "");
}

#[test]
fn the_last_error_is_the_threads_own() {
    in_thread(|| {
        assert_eq!(aclrtPeekAtLastError(0), 0);
        assert_eq!(aclrtSetDevice(5), 107001);
        assert_eq!(aclrtSetDevice(0), 0);
        assert_eq!(aclrtPeekAtLastError(0), 107001);
        assert_eq!(in_thread(|| aclrtGetLastError(0)), 0);
        assert_eq!(aclrtGetLastError(0), 107001);
        assert_eq!(aclrtGetLastError(0), 0);
        assert_eq!(aclrtGetLastError(1), 107000);
        assert_eq!(aclrtPeekAtLastError(-1), 107000);
    });
}

#[test]
fn a_failing_task_is_told_once_and_the_stream_goes_on() {
    if !is_child() {
        in_child("a_failing_task_is_told_once_and_the_stream_goes_on", &[("ACLCPU_FAULT", "task:2")]);
        return;
    }
    set_device();
    let stream = create_stream();
    let ran = Arc::new(AtomicUsize::new(0));
    for _ in 0..3 {
        let ran = ran.clone();
        launch(stream, move || {
            ran.fetch_add(1, Ordering::SeqCst);
        });
    }
    expect(aclrtSynchronizeStream(stream), 507035, "ACLCPU_FAULT=task");
    assert_eq!(ran.load(Ordering::SeqCst), 2);
    assert_eq!(aclrtPeekAtLastError(0), 507035);
    expect(aclrtSynchronizeStream(stream), 0, "");
}

#[test]
fn a_stopping_stream_drops_work_until_the_failure_is_told() {
    if !is_child() {
        in_child("a_stopping_stream_drops_work_until_the_failure_is_told", &[("ACLCPU_FAULT", "task:2")]);
        return;
    }
    set_device();
    let stream = create_stream();
    expect(aclrtSetStreamFailureMode(stream, 1), 0, "");
    let event = create_event();
    let ran = Arc::new(AtomicUsize::new(0));
    let task = |stream| {
        let ran = ran.clone();
        launch(stream, move || {
            ran.fetch_add(1, Ordering::SeqCst);
        });
    };
    (0..4).for_each(|_| task(stream));
    // Who waits for an event behind the failure is let through.
    expect(aclnn_modulate::api::event::aclrtRecordEvent(event, stream), 0, "");
    expect(aclnn_modulate::api::event::aclrtSynchronizeEvent(event), 0, "");
    expect(aclrtSynchronizeDevice(), 507035, "ACLCPU_FAULT=task");
    assert_eq!(ran.load(Ordering::SeqCst), 1);
    task(stream);
    expect(aclrtSynchronizeStream(stream), 0, "");
    assert_eq!(ran.load(Ordering::SeqCst), 2);
}

#[test]
fn a_failing_record_hangs_nobody() {
    if !is_child() {
        in_child("a_failing_record_hangs_nobody", &[("ACLCPU_FAULT", "task:1")]);
        return;
    }
    set_device();
    let event = create_event();
    expect(aclnn_modulate::api::event::aclrtRecordEvent(event, null_mut()), 0, "");
    let status = aclnn_modulate::api::event::aclrtSynchronizeEvent(event);
    assert!(status == 0 || status == 107023, "{status}");
    message();
    expect(aclrtSynchronizeStream(null_mut()), 507035, "ACLCPU_FAULT=task");
}

#[test]
fn a_failing_allocation() {
    if !is_child() {
        in_child("a_failing_allocation", &[("ACLCPU_FAULT", "malloc:2")]);
        return;
    }
    set_device();
    let mut block = null_mut();
    // SAFETY: `block` is writable.
    let mut device = || unsafe { aclrtMalloc(&mut block, 8, 0) };
    expect(device(), 0, "");
    // SAFETY: `host` is writable.
    let mut host = null_mut();
    // SAFETY: `host` is writable.
    expect(unsafe { aclrtMallocHost(&mut host, 8) }, 0, "");
    expect(device(), 207001, "ACLCPU_FAULT=malloc");
    expect(device(), 0, "");
}

#[test]
fn variables_that_make_no_sense_are_warnings() {
    const VARIABLES: [(&str, &str); 4] = [
        ("ACLCPU_FAULT", "task:none"),
        ("ACLCPU_DEVICE_COUNT", "0"),
        ("ACLCPU_SOC_NAME", ""),
        ("ASCEND_GLOBAL_LOG_LEVEL", "2"),
    ];
    if !is_child() {
        let (stdout, stderr) = in_child("variables_that_make_no_sense_are_warnings", &VARIABLES);
        for (name, value) in &VARIABLES[..3] {
            assert!(stderr.contains("[Warning] ACLCPU("), "{stderr}");
            assert!(stderr.contains(&format!("{name}={value} is ignored")), "{name}: {stderr}");
        }
        assert!(stderr.contains("aclrtSetDevice without aclInit"), "{stderr}");
        assert!(!stdout.contains("ACLCPU"), "{stdout}");
        return;
    }
    set_device();
    launch(null_mut(), || ());
    expect(aclrtSynchronizeStream(null_mut()), 0, "");
    let mut count = 0;
    // SAFETY: `count` is writable.
    expect(unsafe { aclrtGetDeviceCount(&mut count) }, 0, "");
    assert_eq!(count, 1);
    assert_eq!(soc_name(), "Ascend910B1");
}

fn soc_name() -> String {
    // SAFETY: a C string that lives as long as the process.
    unsafe { std::ffi::CStr::from_ptr(aclrtGetSocName()) }.to_str().unwrap().to_owned()
}

#[test]
fn the_device_has_the_name_that_the_environment_gives() {
    if !is_child() {
        assert_eq!(soc_name(), "Ascend910B1");
        in_child("the_device_has_the_name_that_the_environment_gives", &[("ACLCPU_SOC_NAME", "Ascend910_9392")]);
        return;
    }
    assert_eq!(soc_name(), "Ascend910_9392");
}

/// Digits as 0, and numbers of any length alike.
fn form(text: &str) -> String {
    let mut form = String::new();
    for c in text.chars() {
        match c.is_ascii_digit() {
            true if form.ends_with('0') => {}
            true => form.push('0'),
            false => form.push(c),
        }
    }
    form
}

/// Whether a text is how long something took: "12.5µs".
fn is_duration(text: &str) -> bool {
    ["0ns", "0.0µs", "0µs", "0.0ms", "0ms", "0.0s", "0s"].contains(&form(text).as_str())
}

#[test]
fn the_log_shows_calls_with_their_arguments_and_times() {
    const TEST: &str = "the_log_shows_calls_with_their_arguments_and_times";
    if !is_child() {
        let (_, stderr) = in_child(TEST, &[("ASCEND_GLOBAL_LOG_LEVEL", "1")]);
        let line = |about: &str| {
            let found = stderr.lines().find(|line| line.contains(about));
            found.unwrap_or_else(|| panic!("no {about:?} in\n{stderr}"))
        };
        assert!(line("aclrtMalloc(devPtr=0x").contains(", size=64, policy=2) = 0, "));
        assert!(line("aclrtSetDevice(").contains("aclrtSetDevice(deviceId=9) = 107001, "));
        let created = line("aclCreateTensor(");
        let arguments = "(viewDims=[2, 3], viewDimsNum=2, dataType=0, stride=[5, 1], offset=4, format=2, \
                         storageDims=[14], storageDimsNum=1, tensorData=0x";
        assert!(created.contains(arguments), "{created}");
        let tensor = "(FLOAT FORMAT_ND [2, 3] strides [5, 1] offset 4 storage [14] at 0x";
        let planned = line("aclnnModulateBackwardGetWorkspaceSize(grad_output=0x");
        assert!(planned.contains(tensor), "{planned}");
        assert!(planned.contains("input=NULL, ") && planned.contains(" = 161001, "), "{planned}");
        // What it was when the call began.
        let destroyed = line("aclDestroyTensor(");
        assert!(destroyed.contains(tensor) && destroyed.contains(" = 0, "), "{destroyed}");
        assert!(line("aclInit(").contains("aclInit(configPath=NULL) = 0, "));
        assert!(line("aclDumpOpTensors(").contains("(opType=\"Modulate\", opName=\"one\", tensors=[0x"));
        assert!(line("aclCreateIntArray(").contains("(value=[7, -8], size=2) = 0x"));
        assert!(line("aclDataTypeSize(").contains("(dataType=27) = 2, "));
        // Every line begins with the time of day, that of a call ends with what it took.
        let thread = form(&format!("ACLCPU({},", std::process::id()));
        let lines: Vec<_> = stderr.lines().filter(|line| line.contains(" ACLCPU(")).collect();
        assert!(lines.len() > 10, "{stderr}");
        for line in lines {
            let (_, rest) = line.split_once("] ").unwrap();
            assert!(form(rest).starts_with(&format!("{thread}0) 0-0-0-0:0:0.0.0 ")), "{line}");
            if let Some((_, result)) = line.rsplit_once(") = ") {
                let (_, took) = result.rsplit_once(", ").unwrap_or_else(|| panic!("no time in {line}"));
                assert!(is_duration(took), "{took} in {line}");
            }
        }
        // A failure also says what to do.
        line("[Error] ACLCPU(");
        // Level 0 also shows a call when it begins: the last one is the one that hangs.
        assert!(!stderr.contains(") begins"), "{stderr}");
        let (_, talkative) = in_child(TEST, &[("ASCEND_GLOBAL_LOG_LEVEL", "0")]);
        let begins = talkative.find("aclrtSetDevice(deviceId=9) begins").expect("the call begins");
        let ends = talkative.find("aclrtSetDevice(deviceId=9) = 107001").expect("the call ends");
        assert!(begins < ends, "{talkative}");
        let (_, quiet) = in_child(TEST, &[("ASCEND_GLOBAL_LOG_LEVEL", "2")]);
        assert!(!quiet.contains("aclrtMalloc("), "{quiet}");
        return;
    }
    expect(init(None), 0, "");
    assert_eq!(aclrtSetDevice(9), 107001);
    set_device();
    let mut block = null_mut();
    // SAFETY: `block` is writable.
    assert_eq!(unsafe { aclrtMalloc(&mut block, 64, 2) }, 0);
    let (dims, strides, storage) = ([2_i64, 3], [5_i64, 1], [14_i64]);
    // SAFETY: the arrays are as long as is said.
    let tensor = unsafe {
        aclnn_modulate::api::tensor::aclCreateTensor(
            dims.as_ptr(),
            2,
            0,
            strides.as_ptr(),
            4,
            2,
            storage.as_ptr(),
            1,
            block,
        )
    };
    let none = std::ptr::null();
    let (mut size, mut executor) = (0, null_mut());
    // SAFETY: both results are writable.
    let status = unsafe {
        aclnn_modulate::api::modulate_backward::aclnnModulateBackwardGetWorkspaceSize(
            tensor,
            none,
            none,
            none,
            none,
            none,
            none,
            &mut size,
            &mut executor,
        )
    };
    assert_eq!(status, 161001);
    let mut tensors = [tensor];
    // SAFETY: C strings, and an array of one tensor, which is not read: dumping is off.
    let dumped = unsafe {
        let (kind, name) = (c"Modulate".as_ptr(), c"one".as_ptr());
        aclnn_modulate::api::dump::aclDumpOpTensors(kind, name, tensors.as_mut_ptr(), 1, 0, null_mut())
    };
    assert_eq!(dumped, 0);
    // SAFETY: two numbers.
    let array = unsafe { aclnn_modulate::api::list::aclCreateIntArray([7, -8].as_ptr(), 2) };
    assert!(!array.is_null());
    assert_eq!(aclDataTypeSize(27), 2);
    assert_eq!(aclnn_modulate::api::tensor::aclDestroyTensor(tensor), 0);
}

/// `aclAppLog` as C sees it.
fn app_log() -> unsafe extern "C" fn(i32, *const c_char, *const c_char, u32, *const c_char, ...) {
    // SAFETY: the function behind the symbol has this type; Rust can't spell its definition.
    unsafe { std::mem::transmute(aclAppLog as *const ()) }
}

#[test]
fn the_applications_log_lines() {
    let write = || {
        let log = app_log();
        let long = CString::new("x".repeat(100_000)).unwrap();
        // SAFETY: C strings or NULL, and arguments as the formats say.
        unsafe {
            log(1, c"main".as_ptr(), c"a.c".as_ptr(), 7, c"%d of %s, %.2f".as_ptr(), 3, c"four".as_ptr(), 1.5_f64);
            log(3, std::ptr::null(), std::ptr::null(), 0, std::ptr::null());
            log(3, c"f".as_ptr(), c"b.c".as_ptr(), 9, c"%s".as_ptr(), long.as_ptr());
            log(0, c"hidden".as_ptr(), c"a.c".as_ptr(), 8, c"not shown".as_ptr());
            log(99, c"odd".as_ptr(), c"a.c".as_ptr(), 8, c"level".as_ptr());
        }
    };
    const TEST: &str = "the_applications_log_lines";
    if is_child() {
        return write();
    }
    let (stdout, stderr) = in_child(TEST, &[("ASCEND_GLOBAL_LOG_LEVEL", "1")]);
    assert!(stderr.contains("main (a.c:7): 3 of four, 1.50\n"), "{stderr}");
    assert!(stderr.contains(&format!("f (b.c:9): {}\n", "x".repeat(4095))), "{stderr}");
    assert!(stderr.contains("odd (a.c:8): level\n"), "{stderr}");
    assert!(!stderr.contains("not shown"), "{stderr}");
    assert!(!stdout.contains("3 of four"), "{stdout}");
    let both = [("ASCEND_GLOBAL_LOG_LEVEL", "0"), ("ASCEND_SLOG_PRINT_TO_STDOUT", "1")];
    let (stdout, stderr) = in_child(TEST, &both);
    assert!(stdout.contains("3 of four") && stdout.contains("not shown"), "{stdout}");
    assert!(!stderr.contains("3 of four"), "{stderr}");
    let (stdout, stderr) = in_child(TEST, &[]);
    assert!(!stdout.contains("3 of four") && !stderr.contains("3 of four"), "{stdout}{stderr}");
}

#[test]
fn sizes_and_halves() {
    let sizes = [
        (-1, 0),
        (0, 4),
        (1, 2),
        (2, 1),
        (3, 4),
        (4, 1),
        (5, 0),
        (6, 2),
        (9, 8),
        (13, 0),
        (17, 16),
        (27, 2),
        (29, 1),
        (30, 1),
        (33, 4),
        (38, 8),
        (41, 8),
        (42, 0),
        (i32::MAX, 0),
        (i32::MIN, 0),
    ];
    for (dtype, size) in sizes {
        assert_eq!(aclDataTypeSize(dtype), size, "{dtype}");
    }
    assert_eq!(aclFloatToFloat16(f32::INFINITY), 0x7BFF);
    assert_eq!(aclFloatToFloat16(f32::NEG_INFINITY), 0xFBFF);
    assert_eq!(aclFloatToFloat16(f32::NAN), 0x7BFF);
    assert_eq!(aclFloat16ToFloat(0x7C00), 65536.0);
    assert_eq!(aclFloat16ToFloat(0xFE00), -98304.0);
}

#[test]
fn versions() {
    let (mut major, mut minor, mut patch) = (0, 0, 0);
    // SAFETY: all are writable.
    expect(unsafe { aclrtGetVersion(&mut major, &mut minor, &mut patch) }, 0, "");
    assert_eq!((major, minor, patch), (1, 17, 0));
    // SAFETY: NULL is detected.
    expect(unsafe { aclrtGetVersion(&mut major, null_mut(), &mut patch) }, 100000, "minorVersion is NULL");
    let name = |text: &std::ffi::CStr| text.as_ptr().cast_mut();
    let mut text = [b'?' as c_char; 128];
    let mut number = 0;
    // SAFETY: C strings, a buffer of 128 characters and a writable number; the names are not written.
    unsafe {
        expect(aclsysGetVersionStr(name(c"aclnn_modulate"), text.as_mut_ptr()), 0, "");
        let text = std::ffi::CStr::from_ptr(text.as_ptr()).to_str().unwrap();
        assert_eq!(text, env!("CARGO_PKG_VERSION"));
        expect(aclsysGetVersionNum(name(c"runtime"), &mut number), 0, "");
        assert_eq!(number, 11_700_000);
        expect(aclsysGetVersionNum(name(c"driver"), &mut number), 100003, "driver");
        expect(aclsysGetVersionStr(name(c"driver"), null_mut()), 100000, "versionStr is NULL");
        expect(aclsysGetVersionStr(null_mut(), null_mut()), 100000, "pkgName is NULL");
        expect(aclsysGetVersionNum(name(c"runtime"), null_mut()), 100000, "versionNum is NULL");
    }
}

#[test]
fn devices_are_well() {
    let mut info = std::mem::MaybeUninit::<aclrtErrorInfo>::zeroed();
    // SAFETY: `info` is writable; the call fills it.
    let info = unsafe {
        expect(aclrtGetErrorVerbose(1, info.as_mut_ptr()), 107001, "deviceId is 1");
        (*info.as_mut_ptr()).errorType = 9;
        expect(aclrtGetErrorVerbose(0, info.as_mut_ptr()), 0, "");
        expect(aclrtGetErrorVerbose(0, null_mut()), 100000, "errorInfo is NULL");
        info.assume_init()
    };
    assert_eq!((info.errorType, info.hasDetail, info.tryRepair, info.detail.arraySize), (0, 0, 0, 0));
    assert_eq!(size_of::<aclrtErrorInfo>(), 8 + 8 + 20 * 128);
    let mut mode = -1;
    // SAFETY: `mode` is writable.
    expect(unsafe { aclrtGetRunMode(&mut mode) }, 0, "");
    assert_eq!(mode, 1);
    // SAFETY: NULL is detected.
    expect(unsafe { aclrtGetRunMode(null_mut()) }, 100000, "runMode is NULL");
    // SAFETY: NULL is detected.
    expect(unsafe { aclrtGetDeviceCount(null_mut()) }, 100000, "count is NULL");
}

/// What runs after `main`, when the thread's locals are gone: C++ programs destroy their last objects there.
extern "C" fn after_main() {
    use aclnn_modulate::api::event::{aclrtDestroyEvent, aclrtSynchronizeEvent};
    let handles = LEFT.lock().unwrap().take().unwrap();
    let [stream, event, block, host, tensor] = handles.map(Sent::get);
    let mut other = null_mut();
    let answers = [
        // The test's thread had the device; the one that ends the process has not.
        aclrtSetDevice(0),
        aclrtDestroyStream(stream),
        aclrtSynchronizeEvent(event),
        aclrtDestroyEvent(event),
        free(block),
        free_host(host),
        aclnn_modulate::api::tensor::aclDestroyTensor(tensor.cast()),
        i32::from(aclrtSynchronizeStream(garbage()) != 107017),
        // SAFETY: `other` is writable.
        unsafe { aclrtMalloc(&mut other, 64, 0) },
        aclrtResetDevice(0),
        aclFinalize(),
    ];
    // The messages may be there or not, but asking for them is fine.
    message();
    let text = format!("after main: {answers:?}\n");
    // SAFETY: a text of that length, for a descriptor that is open.
    unsafe { libc::write(2, text.as_ptr().cast(), text.len()) };
    if answers != [0; 11] {
        // SAFETY: ends the process at once.
        unsafe { libc::_exit(3) };
    }
}

static LEFT: std::sync::Mutex<Option<[Sent; 5]>> = std::sync::Mutex::new(None);

#[test]
fn destroying_after_main_works_and_exit_waits_for_nobody() {
    const TEST: &str = "destroying_after_main_works_and_exit_waits_for_nobody";
    if !is_child() {
        let (_, stderr) = in_child(TEST, &[]);
        assert!(stderr.contains("after main"), "{stderr}");
        return;
    }
    // SAFETY: the handler lives as long as the process.
    assert_eq!(unsafe { libc::atexit(after_main) }, 0);
    set_device();
    let (stream, event, block, host) = (create_stream(), create_event(), malloc(64), malloc_host(64));
    let dims = [4_i64];
    // SAFETY: the arrays are as long as is said.
    let tensor = unsafe {
        let none = std::ptr::null();
        aclnn_modulate::api::tensor::aclCreateTensor(dims.as_ptr(), 1, 0, none, 0, 2, dims.as_ptr(), 1, block)
    };
    expect(aclnn_modulate::api::event::aclrtRecordEvent(event, stream), 0, "");
    *LEFT.lock().unwrap() = Some([stream, event, block, host, tensor.cast()].map(Sent));
    // One stream is busy for ever: exit must not wait for it.
    hold(create_stream());
}

#[test]
fn a_thread_past_its_locals_keeps_its_context() {
    if !alone("a_thread_past_its_locals_keeps_its_context") {
        return;
    }
    static ANSWER: AtomicUsize = AtomicUsize::new(0);
    unsafe extern "C" fn at_the_very_end(stream: *mut std::ffi::c_void) {
        ANSWER.store(1 + aclrtDestroyStream(stream).unsigned_abs() as usize, Ordering::SeqCst);
    }
    in_thread(|| {
        set_device();
        let mut key = 0;
        // SAFETY: `key` is writable. Destructors of keys run after those of thread-locals.
        unsafe {
            assert_eq!(libc::pthread_key_create(&mut key, Some(at_the_very_end)), 0);
            assert_eq!(libc::pthread_setspecific(key, create_stream()), 0);
        }
    });
    assert_eq!(ANSWER.load(Ordering::SeqCst), 1);
}

#[test]
fn a_second_copy_of_the_library_is_noticed_at_load() {
    const TEST: &str = "a_second_copy_of_the_library_is_noticed_at_load";
    const COPIES: [&str; 2] = ["ACLCPU_TEST_COPY_0", "ACLCPU_TEST_COPY_1"];
    if !is_child() {
        let library = std::env::current_exe().unwrap().with_file_name("libaclnn_modulate.so");
        let copies = [0, 1].map(|n| scratch(&format!("libcopy_{n}.so")));
        for copy in &copies {
            std::fs::copy(&library, copy).unwrap();
        }
        let [first, second] = [0, 1].map(|n| copies[n].to_str().unwrap());
        let variables = [("ASCEND_GLOBAL_LOG_LEVEL", "2"), (COPIES[0], first), (COPIES[1], second)];
        let (_, stderr) = in_child(TEST, &variables);
        copies.iter().for_each(|copy| std::fs::remove_file(copy).unwrap());
        let warnings: Vec<_> = stderr.lines().filter(|line| line.contains("is loaded, too")).collect();
        assert_eq!(warnings.len(), 1, "{stderr}");
        assert!(warnings[0].contains("libcopy_0.so"), "{stderr}");
        return;
    }
    for n in [0, 0, 1] {
        let path = CString::new(std::env::var(COPIES[n]).unwrap()).unwrap();
        // SAFETY: a C string; what the library does at load is under test.
        assert!(!unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW) }.is_null());
    }
}
