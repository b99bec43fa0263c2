//! Initialisation, devices, contexts, system parameters, errors, versions.

use std::ffi::c_char;

use super::stream::deadline;
use super::types::{
    aclError, aclSysParamOpt, aclrtContext, aclrtErrorInfo, aclrtLastErrLevel, aclrtMemUceInfo, aclrtMemUceInfoArray,
    aclrtRunMode, aclrtStream,
};
use super::{guard, ptr};
use crate::error::{Error, Result};
use crate::handle::Handle;
use crate::runtime::{context, device, init, messages, parameters, version};
use ptr::Out;

/// Initialises the process. Everything works without, too; the device does not.
///
/// @param [in] configPath path of a JSON file, or NULL. Known keys: err_msg_mode ("1": aclGetRecentErrMsg shows the
///             messages of all threads), defaultDevice.default_device (the device of threads that call no aclrtSetDevice),
///             dump.dump_path and dump.dump_mode (see aclDumpOpTensors); others are ignored
/// @retval 0 success
/// @retval 100002 it is initialised already: counted, see aclFinalizeReference, and nothing changes
/// @retval 100003 the file can't be read
/// @retval 100006 the file is no JSON object, or one of its known keys has a value that makes no sense
/// @retval 100009 dump.dump_path is no directory, or dump.dump_mode is not input, output or all
/// @retval 107001 the file's default device does not exist
///
/// # Safety
///
/// `configPath` must be a C string or NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclInit(configPath: *const c_char) -> aclError {
    // SAFETY: the caller's promise; the path outlives the call.
    let shown = unsafe { ptr::shown_text(configPath) };
    guard::acl("aclInit", format_args!("configPath={shown}"), || {
        // SAFETY: the caller's promise.
        let path = unsafe { ptr::path(configPath) };
        init::init(path.as_deref())
    })
}

/// Undoes every aclInit. Devices, streams and memory stay as they are.
///
/// @retval 0 success, also where aclInit was never called
/// @retval 100037 it was undone already
#[unsafe(no_mangle)]
pub extern "C" fn aclFinalize() -> aclError {
    guard::acl("aclFinalize", format_args!(""), init::finalize)
}

/// Undoes one aclInit.
///
/// @param [out] refCount how many are left; NULL if nobody wants to know
/// @retval 0 success
/// @retval 100037 there is none to undo
///
/// # Safety
///
/// `refCount` must be writable, or NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclFinalizeReference(refCount: *mut u64) -> aclError {
    guard::acl("aclFinalizeReference", format_args!("refCount={refCount:p}"), || {
        let left = init::finalize_one()?;
        // SAFETY: the caller's promise.
        if let Ok(refCount) = unsafe { Out::new(refCount, "refCount") } {
            refCount.set(left);
        }
        Ok(())
    })
}

/// Tells the version of the interface that this library has: ACL_MAJOR_VERSION and so on of its headers.
///
/// @param [out] majorVersion grows with incompatible changes
/// @param [out] minorVersion grows with additions
/// @param [out] patchVersion grows with corrections
/// @retval 0 success
/// @retval 100000 an argument is NULL
///
/// # Safety
///
/// The arguments must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetVersion(
    majorVersion: *mut i32,
    minorVersion: *mut i32,
    patchVersion: *mut i32,
) -> aclError {
    guard::acl(
        "aclrtGetVersion",
        format_args!("majorVersion={majorVersion:p}, minorVersion={minorVersion:p}, patchVersion={patchVersion:p}"),
        || {
            // SAFETY: the caller's promise.
            let majorVersion = unsafe { Out::new(majorVersion, "majorVersion") }?;
            // SAFETY: the caller's promise.
            let minorVersion = unsafe { Out::new(minorVersion, "minorVersion") }?;
            // SAFETY: the caller's promise.
            let patchVersion = unsafe { Out::new(patchVersion, "patchVersion") }?;
            majorVersion.set(version::INTERFACE.0);
            minorVersion.set(version::INTERFACE.1);
            patchVersion.set(version::INTERFACE.2);
            Ok(())
        },
    )
}

/// Tells the version of a package as a text.
///
/// @param [in] pkgName "aclnn_modulate" for this library; "runtime" for the interface, see aclrtGetVersion
/// @param [out] versionStr for instance 0.1.0; room for 128 characters
/// @retval 0 success
/// @retval 100000 an argument is NULL
/// @retval 100003 no such package is installed
///
/// # Safety
///
/// `pkgName` must be a C string, `versionStr` writable for 128 characters.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclsysGetVersionStr(pkgName: *mut c_char, versionStr: *mut c_char) -> aclError {
    // SAFETY: the caller's promise; the name outlives the call.
    let shown = unsafe { ptr::shown_text(pkgName) };
    guard::acl("aclsysGetVersionStr", format_args!("pkgName={shown}, versionStr={versionStr:p}"), || {
        // SAFETY: the caller's promise.
        let name = unsafe { package_name(pkgName) }?;
        // SAFETY: the caller's promise.
        unsafe { Out::new(versionStr, "versionStr") }?;
        let text = version::text(version::of_package(&name)?);
        // SAFETY: not NULL (checked), and writable for 128 characters (promised); three numbers take at most 33.
        unsafe { ptr::write_string(versionStr, &text) };
        Ok(())
    })
}

/// Tells the version of a package as a number that grows with it.
///
/// @param [in] pkgName as for aclsysGetVersionStr
/// @param [out] versionNum major * 10000000 + minor * 100000 + patch * 1000
/// @retval 0 success
/// @retval 100000 an argument is NULL
/// @retval 100003 no such package is installed
///
/// # Safety
///
/// `pkgName` must be a C string, `versionNum` writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclsysGetVersionNum(pkgName: *mut c_char, versionNum: *mut i32) -> aclError {
    // SAFETY: the caller's promise; the name outlives the call.
    let shown = unsafe { ptr::shown_text(pkgName) };
    guard::acl("aclsysGetVersionNum", format_args!("pkgName={shown}, versionNum={versionNum:p}"), || {
        // SAFETY: the caller's promise.
        let name = unsafe { package_name(pkgName) }?;
        // SAFETY: the caller's promise.
        let versionNum = unsafe { Out::new(versionNum, "versionNum") }?;
        versionNum.set(version::number(version::of_package(&name)?));
        Ok(())
    })
}

/// # Safety
///
/// `name` must be a C string or NULL.
unsafe fn package_name(name: *const c_char) -> Result<String> {
    // SAFETY: the caller's promise.
    unsafe { ptr::string(name) }.ok_or(Error::NullArgument { argument: "pkgName", expected: "a package's name" })
}

/// Tells what went wrong in the calling thread since this was last called: a line for each failed call, newest first, the
/// newest 32 at most. Then it forgets them.
///
/// @return the text, or NULL where nothing went wrong. It lives until the thread's next call of this function
#[unsafe(no_mangle)]
pub extern "C" fn aclGetRecentErrMsg() -> *const c_char {
    guard::value("aclGetRecentErrMsg", format_args!(""), std::ptr::null(), || Ok(messages::take()))
}

/// Tells the calling thread's last error, and keeps it.
///
/// @param [in] level ACL_RT_THREAD_LEVEL
/// @return the last code other than 0 that an acl function returned in this thread; 0 where there is none; 107000 where
///         level is another
#[unsafe(no_mangle)]
pub extern "C" fn aclrtPeekAtLastError(level: aclrtLastErrLevel) -> aclError {
    last_error("aclrtPeekAtLastError", level, false)
}

/// Tells the calling thread's last error, and forgets it.
///
/// @param [in] level ACL_RT_THREAD_LEVEL
/// @return the last code other than 0 that an acl function returned in this thread; 0 where there is none; 107000 where
///         level is another
#[unsafe(no_mangle)]
pub extern "C" fn aclrtGetLastError(level: aclrtLastErrLevel) -> aclError {
    last_error("aclrtGetLastError", level, true)
}

fn last_error(function: &'static str, level: aclrtLastErrLevel, forget: bool) -> aclError {
    let mut code = 0;
    // What is read here is no failure of this call: only a wrong level is.
    let status = guard::acl(function, format_args!("level={level}"), || {
        if level != 0 {
            return Err(Error::InvalidValue(format!("level is {level}, expected ACL_RT_THREAD_LEVEL (0)")));
        }
        code = messages::last_error();
        if forget {
            messages::set_last_error(0);
        }
        Ok(())
    });
    if status == 0 { code } else { status }
}

/// Tells what is wrong with a device. Nothing ever is with this one.
///
/// @param [in] deviceId the device
/// @param [out] errorInfo errorType is ACL_RT_NO_ERROR, everything else 0
/// @retval 0 success
/// @retval 100000 errorInfo is NULL
/// @retval 107001 there is no such device
///
/// # Safety
///
/// `errorInfo` must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetErrorVerbose(deviceId: i32, errorInfo: *mut aclrtErrorInfo) -> aclError {
    guard::acl("aclrtGetErrorVerbose", format_args!("deviceId={deviceId}, errorInfo={errorInfo:p}"), || {
        // SAFETY: the caller's promise.
        let errorInfo = unsafe { Out::new(errorInfo, "errorInfo") }?;
        device::check_id(deviceId)?;
        let none = aclrtMemUceInfo { addr: std::ptr::null_mut(), len: 0, reserved: [0; 14] };
        errorInfo.set(aclrtErrorInfo {
            tryRepair: 0,
            hasDetail: 0,
            reserved: [0; 2],
            errorType: 0,
            detail: aclrtMemUceInfoArray { arraySize: 0, memUceInfoArray: [none; 20] },
        });
        Ok(())
    })
}

/// Makes a device's default context the calling thread's current one. Every thread has to, before it uses the device.
///
/// Counts for the process: as many aclrtResetDevice take it back.
///
/// @param [in] deviceId 0, or below what aclrtGetDeviceCount tells
/// @retval 0 success
/// @retval 107001 there is no such device
#[unsafe(no_mangle)]
pub extern "C" fn aclrtSetDevice(deviceId: i32) -> aclError {
    guard::acl("aclrtSetDevice", format_args!("deviceId={deviceId}"), || {
        init::warn_if_missing("aclrtSetDevice");
        device::set(deviceId)
    })
}

/// Takes back one aclrtSetDevice. The last one waits for the work of the device's default context, and ends the context with
/// its default stream and the streams and events that were created under it. Memory and other contexts stay.
///
/// @param [in] deviceId the device
/// @retval 0 success
/// @retval 107001 there is no such device
/// @retval 507000 it would wait for itself: called from inside a callback of one of its streams, or in the thread that has to call one
/// @retval 507007 the device is not set
#[unsafe(no_mangle)]
pub extern "C" fn aclrtResetDevice(deviceId: i32) -> aclError {
    guard::acl("aclrtResetDevice", format_args!("deviceId={deviceId}"), || device::reset(deviceId, false))
}

/// Takes back every aclrtSetDevice at once; see aclrtResetDevice.
///
/// @param [in] deviceId the device
/// @retval 0 success
/// @retval 107001 there is no such device
/// @retval 507000 it would wait for itself: called from inside a callback of one of its streams, or in the thread that has to call one
/// @retval 507007 the device is not set
#[unsafe(no_mangle)]
pub extern "C" fn aclrtResetDeviceForce(deviceId: i32) -> aclError {
    guard::acl("aclrtResetDeviceForce", format_args!("deviceId={deviceId}"), || device::reset(deviceId, true))
}

/// Tells the device of the calling thread's current context.
///
/// @param [out] deviceId the device
/// @retval 0 success
/// @retval 100000 deviceId is NULL
/// @retval 107002 the thread has no current context: call aclrtSetDevice in it
///
/// # Safety
///
/// `deviceId` must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetDevice(deviceId: *mut i32) -> aclError {
    guard::acl("aclrtGetDevice", format_args!("deviceId={deviceId:p}"), || {
        // SAFETY: the caller's promise.
        let deviceId = unsafe { Out::new(deviceId, "deviceId") }?;
        deviceId.set(context::with_current(|context| Ok(context.device()))?);
        Ok(())
    })
}

/// Tells how many devices there are: one, unless the environment variable ACLCPU_DEVICE_COUNT says more.
///
/// @param [out] count how many
/// @retval 0 success
/// @retval 100000 count is NULL
///
/// # Safety
///
/// `count` must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetDeviceCount(count: *mut u32) -> aclError {
    guard::acl("aclrtGetDeviceCount", format_args!("count={count:p}"), || {
        // SAFETY: the caller's promise.
        let count = unsafe { Out::new(count, "count") }?;
        count.set(device::count());
        Ok(())
    })
}

/// Tells on which side the program runs: the host's, always.
///
/// @param [out] runMode ACL_HOST
/// @retval 0 success
/// @retval 100000 runMode is NULL
///
/// # Safety
///
/// `runMode` must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetRunMode(runMode: *mut aclrtRunMode) -> aclError {
    const HOST: aclrtRunMode = 1;
    guard::acl("aclrtGetRunMode", format_args!("runMode={runMode:p}"), || {
        // SAFETY: the caller's promise.
        let runMode = unsafe { Out::new(runMode, "runMode") }?;
        runMode.set(HOST);
        Ok(())
    })
}

/// Waits until all streams of the current context's device have done their work, those of other contexts included.
///
/// @retval 0 success
/// @retval 107002 the thread has no current context: call aclrtSetDevice in it
/// @retval 107023 a stream was aborted meanwhile
/// @retval 507000 it would wait for itself: called from inside a callback of one of the streams, or in the thread that has to call one
/// @retval 507035 work failed while running; aclGetRecentErrMsg says why
#[unsafe(no_mangle)]
pub extern "C" fn aclrtSynchronizeDevice() -> aclError {
    guard::acl("aclrtSynchronizeDevice", format_args!(""), || device::synchronize(None))
}

/// Waits as aclrtSynchronizeDevice does, but not longer than a time.
///
/// @param [in] timeout milliseconds, at least 1; -1 to wait for ever
/// @retval 0 success
/// @retval 107000 timeout is 0 or below -1
/// @retval 107002 the thread has no current context: call aclrtSetDevice in it
/// @retval 107023 a stream was aborted meanwhile
/// @retval 507000 it would wait for itself: called from inside a callback of one of the streams, or in the thread that has to call one
/// @retval 507035 work failed while running; aclGetRecentErrMsg says why
/// @retval 507046 the time is over and the work is not
#[unsafe(no_mangle)]
pub extern "C" fn aclrtSynchronizeDeviceWithTimeout(timeout: i32) -> aclError {
    guard::acl("aclrtSynchronizeDeviceWithTimeout", format_args!("timeout={timeout}"), || {
        device::synchronize(deadline(timeout)?)
    })
}

/// Tells whether one device can use the memory of another. Here every device can: it is the same memory.
///
/// @param [out] canAccessPeer 1
/// @param [in] deviceId a device
/// @param [in] peerDeviceId another device
/// @retval 0 success
/// @retval 100000 canAccessPeer is NULL
/// @retval 107001 there is no such device, or both are the same
///
/// # Safety
///
/// `canAccessPeer` must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtDeviceCanAccessPeer(
    canAccessPeer: *mut i32,
    deviceId: i32,
    peerDeviceId: i32,
) -> aclError {
    guard::acl(
        "aclrtDeviceCanAccessPeer",
        format_args!("canAccessPeer={canAccessPeer:p}, deviceId={deviceId}, peerDeviceId={peerDeviceId}"),
        || {
            // SAFETY: the caller's promise.
            let canAccessPeer = unsafe { Out::new(canAccessPeer, "canAccessPeer") }?;
            device::check_peers(deviceId, peerDeviceId)?;
            canAccessPeer.set(1);
            Ok(())
        },
    )
}

/// Sets a parameter of the process. None has an effect here: results are the same bits in every case.
///
/// @param [in] opt an aclSysParamOpt
/// @param [in] value 0 or 1
/// @retval 0 success
/// @retval 107000 opt or value is another
#[unsafe(no_mangle)]
pub extern "C" fn aclrtSetSysParamOpt(opt: aclSysParamOpt, value: i64) -> aclError {
    guard::acl("aclrtSetSysParamOpt", format_args!("opt={opt}, value={value}"), || parameters::set(opt, value))
}

/// Tells what a parameter of the process was set to.
///
/// @param [in] opt an aclSysParamOpt
/// @param [out] value 0 or 1
/// @retval 0 success
/// @retval 100000 value is NULL
/// @retval 107000 opt is another
/// @retval 107021 it was never set
///
/// # Safety
///
/// `value` must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetSysParamOpt(opt: aclSysParamOpt, value: *mut i64) -> aclError {
    guard::acl("aclrtGetSysParamOpt", format_args!("opt={opt}, value={value:p}"), || {
        // SAFETY: the caller's promise.
        let value = unsafe { Out::new(value, "value") }?;
        value.set(parameters::get(opt)?);
        Ok(())
    })
}

/// Sets a parameter of the thread's current context. None has an effect here: results are the same bits in every case.
///
/// @param [in] opt an aclSysParamOpt
/// @param [in] value 0 or 1
/// @retval 0 success
/// @retval 107000 opt or value is another
/// @retval 107002 the thread has no current context: call aclrtSetDevice in it
#[unsafe(no_mangle)]
pub extern "C" fn aclrtCtxSetSysParamOpt(opt: aclSysParamOpt, value: i64) -> aclError {
    guard::acl("aclrtCtxSetSysParamOpt", format_args!("opt={opt}, value={value}"), || {
        parameters::set_in_context(opt, value)
    })
}

/// Tells what a parameter of the thread's current context was set to.
///
/// @param [in] opt an aclSysParamOpt
/// @param [out] value 0 or 1
/// @retval 0 success
/// @retval 100000 value is NULL
/// @retval 107000 opt is another
/// @retval 107002 the thread has no current context: call aclrtSetDevice in it
/// @retval 107021 it was never set
///
/// # Safety
///
/// `value` must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtCtxGetSysParamOpt(opt: aclSysParamOpt, value: *mut i64) -> aclError {
    guard::acl("aclrtCtxGetSysParamOpt", format_args!("opt={opt}, value={value:p}"), || {
        // SAFETY: the caller's promise.
        let value = unsafe { Out::new(value, "value") }?;
        value.set(parameters::get_in_context(opt)?);
        Ok(())
    })
}

/// Creates a context on a device and makes it the calling thread's current one. It has a default stream of its own.
///
/// @param [out] context the context; destroy it with aclrtDestroyContext
/// @param [in] deviceId the device, which need not be set
/// @retval 0 success
/// @retval 100000 context is NULL
/// @retval 107001 there is no such device
///
/// # Safety
///
/// `context` must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtCreateContext(context: *mut aclrtContext, deviceId: i32) -> aclError {
    guard::acl("aclrtCreateContext", format_args!("context={context:p}, deviceId={deviceId}"), || {
        // SAFETY: the caller's promise.
        let context = unsafe { Out::new(context, "context") }?;
        init::warn_if_missing("aclrtCreateContext");
        context.set(context::create_explicit(deviceId)?.to_void());
        Ok(())
    })
}

/// Waits for a context's work, then destroys it with its streams and events. A thread whose current context it was has none
/// any more.
///
/// @param [in] context from aclrtCreateContext
/// @retval 0 success
/// @retval 100000 context is NULL
/// @retval 107002 the context is not live, or a device's default context
/// @retval 507000 it would wait for itself: called from inside a callback of one of its streams, or in the thread that has to call one
#[unsafe(no_mangle)]
pub extern "C" fn aclrtDestroyContext(context: aclrtContext) -> aclError {
    guard::acl("aclrtDestroyContext", format_args!("context={context:p}"), || {
        context::destroy(Handle::from_ptr(context))
    })
}

/// Makes a context the calling thread's current one.
///
/// @param [in] context any live context
/// @retval 0 success
/// @retval 100000 context is NULL
/// @retval 107002 the context is not live
#[unsafe(no_mangle)]
pub extern "C" fn aclrtSetCurrentContext(context: aclrtContext) -> aclError {
    guard::acl("aclrtSetCurrentContext", format_args!("context={context:p}"), || {
        context::set_current_handle(Handle::from_ptr(context))
    })
}

/// Tells the calling thread's current context, which may be a device's default context.
///
/// @param [out] context the context
/// @retval 0 success
/// @retval 100000 context is NULL
/// @retval 107002 the thread has none: call aclrtSetDevice in it
///
/// # Safety
///
/// `context` must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetCurrentContext(context: *mut aclrtContext) -> aclError {
    guard::acl("aclrtGetCurrentContext", format_args!("context={context:p}"), || {
        // SAFETY: the caller's promise.
        let context = unsafe { Out::new(context, "context") }?;
        context.set(context::with_current(|current| Ok(current.handle()))?.to_void());
        Ok(())
    })
}

/// Tells the default stream of the calling thread's current context: the one that NULL stands for.
///
/// @param [out] stream the stream; it ends with its context and can't be destroyed
/// @retval 0 success
/// @retval 100000 stream is NULL
/// @retval 107002 the thread has no current context: call aclrtSetDevice in it
///
/// # Safety
///
/// `stream` must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtCtxGetCurrentDefaultStream(stream: *mut aclrtStream) -> aclError {
    guard::acl("aclrtCtxGetCurrentDefaultStream", format_args!("stream={stream:p}"), || {
        // SAFETY: the caller's promise.
        let stream = unsafe { Out::new(stream, "stream") }?;
        stream.set(context::with_current(|context| context.default_stream())?.to_void());
        Ok(())
    })
}
