//! Memory: blocks, copies, sets.

use std::ffi::c_void;

use super::guard;
use super::ptr::{Out, address};
use super::types::{
    aclError, aclrtMemAttr, aclrtMemLocation, aclrtMemMallocPolicy, aclrtMemcpyKind, aclrtPtrAttributes, aclrtStream,
};
use crate::error::{Error, Result};
use crate::handle::Handle;
use crate::runtime::context;
use crate::runtime::memory::{self, Copy, Kind, Request, Set};

/// Allocates device memory, which on this machine is plain memory: host code may read and write it, too.
///
/// The start is aligned to 64 bytes. The size is rounded up to 32 bytes, and 32 more may be used. Blocks of 2 MiB and more
/// are backed by huge pages where the system has them. The contents are undefined, and no page is touched.
///
/// @param [out] devPtr start of the block; free it with aclrtFree
/// @param [in] size bytes, at least 1
/// @param [in] policy the NORMAL_ONLY ones turn huge pages off; everything else is taken and means nothing here
/// @retval 0 success
/// @retval 100000 devPtr is NULL, or size is 0
/// @retval 107002 the thread has no current context: call aclrtSetDevice in it
/// @retval 207001 there is no memory, or all live blocks would be more than the machine (or the cgroup) has
///
/// Any thread may call this, and use or free the block.
///
/// # Safety
///
/// `devPtr` must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtMalloc(devPtr: *mut *mut c_void, size: usize, policy: aclrtMemMallocPolicy) -> aclError {
    guard::acl("aclrtMalloc", format_args!("devPtr={devPtr:p}, size={size}, policy={policy}"), || {
        // SAFETY: the caller's promise.
        let devPtr = unsafe { Out::new(devPtr, "devPtr") }?;
        allocate(devPtr, Request::device(size, policy))
    })
}

/// Allocates device memory as aclrtMalloc does, without the extra 32 bytes: exactly size, rounded up to 32, may be used.
///
/// @param [out] devPtr start of the block; free it with aclrtFree
/// @param [in] size bytes, at least 1
/// @param [in] policy as for aclrtMalloc
/// @retval 0 success
/// @retval 100000 devPtr is NULL, or size is 0
/// @retval 107002 the thread has no current context: call aclrtSetDevice in it
/// @retval 207001 there is not enough memory
///
/// # Safety
///
/// `devPtr` must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtMallocAlign32(
    devPtr: *mut *mut c_void,
    size: usize,
    policy: aclrtMemMallocPolicy,
) -> aclError {
    guard::acl("aclrtMallocAlign32", format_args!("devPtr={devPtr:p}, size={size}, policy={policy}"), || {
        // SAFETY: the caller's promise.
        let devPtr = unsafe { Out::new(devPtr, "devPtr") }?;
        allocate(devPtr, Request { padding: 0, ..Request::device(size, policy) })
    })
}

/// Allocates device memory as aclrtMalloc does. All memory of this machine is cached: aclrtMemFlush and aclrtMemInvalidate
/// have nothing to do.
///
/// @param [out] devPtr start of the block; free it with aclrtFree
/// @param [in] size bytes, at least 1
/// @param [in] policy as for aclrtMalloc
/// @retval 0 success
/// @retval 100000 devPtr is NULL, or size is 0
/// @retval 107002 the thread has no current context: call aclrtSetDevice in it
/// @retval 207001 there is not enough memory
///
/// # Safety
///
/// `devPtr` must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtMallocCached(
    devPtr: *mut *mut c_void,
    size: usize,
    policy: aclrtMemMallocPolicy,
) -> aclError {
    guard::acl("aclrtMallocCached", format_args!("devPtr={devPtr:p}, size={size}, policy={policy}"), || {
        // SAFETY: the caller's promise.
        let devPtr = unsafe { Out::new(devPtr, "devPtr") }?;
        allocate(devPtr, Request::device(size, policy))
    })
}

fn allocate(pointer: Out<*mut c_void>, request: Request) -> Result<()> {
    let start = memory::allocate(request)?;
    pointer.set(std::ptr::with_exposed_provenance_mut(start));
    Ok(())
}

/// Frees a block of device memory. Work that is queued and uses it still finishes; this call waits for nothing.
///
/// @param [in] devPtr start of a block from aclrtMalloc, aclrtMallocAlign32 or aclrtMallocCached
/// @retval 0 success
/// @retval 100000 devPtr is NULL
/// @retval 107000 devPtr is not the start of a live block of device memory
///
/// Any thread may call this, with or without a context.
///
/// # Safety
///
/// Nobody may use the block afterwards, except work that is queued already.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtFree(devPtr: *mut c_void) -> aclError {
    guard::acl("aclrtFree", format_args!("devPtr={devPtr:p}"), || release(devPtr, Kind::Device, "devPtr"))
}

/// Waits until the current context's device has done all its work, then frees a block of device memory.
///
/// @param [in] devPtr start of a block from aclrtMalloc, aclrtMallocAlign32 or aclrtMallocCached
/// @retval 0 success
/// @retval 100000 devPtr is NULL
/// @retval 107000 devPtr is not the start of a live block of device memory; nothing was waited for
/// @retval 107002 the thread has no current context: call aclrtSetDevice in it
/// @retval 507000 it would wait for itself: called from inside a callback of a stream of this device, or in the thread that has to call one
/// @retval 507035 work failed while running; the block is freed
///
/// # Safety
///
/// Nobody may use the block afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtFreeWithDevSync(devPtr: *mut c_void) -> aclError {
    guard::acl("aclrtFreeWithDevSync", format_args!("devPtr={devPtr:p}"), || {
        context::require()?;
        let start = not_null(devPtr.cast_const(), "devPtr")?;
        memory::check_start(start, Kind::Device, "devPtr")?;
        let outcome = match crate::runtime::device::synchronize(None) {
            Err(error @ Error::WouldDeadlock(_)) => return Err(error),
            other => other,
        };
        memory::release(start, Kind::Device, "devPtr").and(outcome)
    })
}

/// Allocates host memory that copies in stream order may use without waiting.
///
/// @param [out] hostPtr start of the block, aligned to 64 bytes; free it with aclrtFreeHost
/// @param [in] size bytes, at least 1
/// @retval 0 success
/// @retval 100000 hostPtr is NULL, or size is 0
/// @retval 107002 the thread has no current context: call aclrtSetDevice in it
/// @retval 207001 there is no memory, or all live blocks would be more than the machine (or the cgroup) has
///
/// # Safety
///
/// `hostPtr` must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtMallocHost(hostPtr: *mut *mut c_void, size: usize) -> aclError {
    guard::acl("aclrtMallocHost", format_args!("hostPtr={hostPtr:p}, size={size}"), || {
        // SAFETY: the caller's promise.
        let hostPtr = unsafe { Out::new(hostPtr, "hostPtr") }?;
        allocate(hostPtr, Request::host(size))
    })
}

/// Frees a block of host memory. Work that is queued and uses it still finishes; this call waits for nothing.
///
/// @param [in] hostPtr start of a block from aclrtMallocHost
/// @retval 0 success
/// @retval 100000 hostPtr is NULL
/// @retval 107000 hostPtr is not the start of a live block of host memory
///
/// Any thread may call this, with or without a context.
///
/// # Safety
///
/// Nobody may use the block afterwards, except work that is queued already.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtFreeHost(hostPtr: *mut c_void) -> aclError {
    guard::acl("aclrtFreeHost", format_args!("hostPtr={hostPtr:p}"), || release(hostPtr, Kind::Host, "hostPtr"))
}

fn release(pointer: *mut c_void, kind: Kind, argument: &'static str) -> Result<()> {
    memory::release(not_null(pointer.cast_const(), argument)?, kind, argument)
}

/// Copies at once. It does not wait for streams.
///
/// @param [in] dst where to; may overlap src
/// @param [in] destMax bytes that dst has room for, at least count
/// @param [in] src where from
/// @param [in] count bytes; with 0 nothing happens
/// @param [in] kind an aclrtMemcpyKind; it is not held against the addresses, since all memory is the same here
/// @retval 0 success
/// @retval 100000 dst or src is NULL, or kind is none that can be used (6, 7 or unknown)
/// @retval 107000 count is more than destMax, or leaves the block that dst or src lies in; nothing is copied
/// @retval 107002 the thread has no current context: call aclrtSetDevice in it
///
/// # Safety
///
/// `src` must be readable and `dst` writable for `count` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtMemcpy(
    dst: *mut c_void,
    destMax: usize,
    src: *const c_void,
    count: usize,
    kind: aclrtMemcpyKind,
) -> aclError {
    guard::acl(
        "aclrtMemcpy",
        format_args!("dst={dst:p}, destMax={destMax}, src={src:p}, count={count}, kind={kind}"),
        || {
            // SAFETY: the caller's promise.
            let copy = unsafe { Copy::new(address(dst), destMax, address(src), count, kind) }?;
            context::require()?;
            copy.map_or(Ok(()), |copy| copy.run_now())
        },
    )
}

/// Copies in stream order.
///
/// From memory that aclrtMallocHost did not give it returns only when the copy is done; otherwise as soon as it is queued,
/// and src and dst have to stay as they are until then. Blocks may be freed with aclrtFree or aclrtFreeHost at once.
///
/// @param [in] dst where to; may overlap src
/// @param [in] destMax bytes that dst has room for, at least count
/// @param [in] src where from
/// @param [in] count bytes; with 0 nothing happens
/// @param [in] kind an aclrtMemcpyKind. Between blocks of this library a wrong one is corrected. Other memory may be the
///             source of host-to-device and device-to-device, and the destination of device-to-host and device-to-device
/// @param [in] stream NULL for the default stream of the thread's current context
/// @retval 0 success
/// @retval 100000 dst or src is NULL, or kind is none that can be used (6, 7 or unknown)
/// @retval 107000 count is more than destMax, or leaves the block that dst or src lies in; or kind does not allow memory
///         of other origin
/// @retval 107002 the thread has no current context: call aclrtSetDevice in it
/// @retval 107003 the stream belongs to another context
/// @retval 107017 the stream is not live
/// @retval 207000 kind is ACL_MEMCPY_HOST_TO_HOST
/// @retval 507000 it would wait for itself: called from inside a callback of the stream, or in the thread that has to call one
///
/// # Safety
///
/// `src` must be readable and `dst` writable for `count` bytes until the copy is done.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtMemcpyAsync(
    dst: *mut c_void,
    destMax: usize,
    src: *const c_void,
    count: usize,
    kind: aclrtMemcpyKind,
    stream: aclrtStream,
) -> aclError {
    guard::acl(
        "aclrtMemcpyAsync",
        format_args!("dst={dst:p}, destMax={destMax}, src={src:p}, count={count}, kind={kind}, stream={stream:p}"),
        || {
            // SAFETY: the caller's promise.
            let copy = unsafe { Copy::new(address(dst), destMax, address(src), count, kind) }?;
            memory::copy_in_stream(copy, kind, Handle::from_ptr(stream))
        },
    )
}

/// Copies a matrix at once: height rows of width bytes. It does not wait for streams.
///
/// @param [in] dst first row's start; rows may overlap those of src
/// @param [in] dpitch bytes from one row of dst to the next, at least width
/// @param [in] src first row's start
/// @param [in] spitch bytes from one row of src to the next, at least width
/// @param [in] width bytes of a row; with 0 nothing happens
/// @param [in] height rows; with 0 nothing happens
/// @param [in] kind ACL_MEMCPY_HOST_TO_DEVICE, ACL_MEMCPY_DEVICE_TO_HOST, ACL_MEMCPY_DEVICE_TO_DEVICE or
///             ACL_MEMCPY_DEFAULT
/// @retval 0 success
/// @retval 100000 dst or src is NULL, or kind is another
/// @retval 107000 width is more than a pitch, or the rows leave the block that dst or src lies in; nothing is copied
/// @retval 107002 the thread has no current context: call aclrtSetDevice in it
///
/// # Safety
///
/// Each row of `src` must be readable, and of `dst` writable, for `width` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtMemcpy2d(
    dst: *mut c_void,
    dpitch: usize,
    src: *const c_void,
    spitch: usize,
    width: usize,
    height: usize,
    kind: aclrtMemcpyKind,
) -> aclError {
    guard::acl(
        "aclrtMemcpy2d",
        format_args!(
            "dst={dst:p}, dpitch={dpitch}, src={src:p}, spitch={spitch}, width={width}, height={height}, kind={kind}"
        ),
        || {
            let (to, from) = ((address(dst), dpitch), (address(src), spitch));
            // SAFETY: the caller's promise.
            let copy = unsafe { Copy::new_2d(to, from, (width, height), kind) }?;
            context::require()?;
            copy.map_or(Ok(()), |copy| copy.run_now())
        },
    )
}

/// Copies a matrix in stream order: height rows of width bytes. See aclrtMemcpyAsync for when it returns, and for which
/// memory kind allows.
///
/// @param [in] dst first row's start; rows may overlap those of src
/// @param [in] dpitch bytes from one row of dst to the next, at least width
/// @param [in] src first row's start
/// @param [in] spitch bytes from one row of src to the next, at least width
/// @param [in] width bytes of a row; with 0 nothing happens
/// @param [in] height rows; with 0 nothing happens
/// @param [in] kind as for aclrtMemcpy2d
/// @param [in] stream NULL for the default stream of the thread's current context
/// @retval 0 success
/// @retval 100000 dst or src is NULL, or kind is another
/// @retval 107000 width is more than a pitch, the rows leave the block that dst or src lies in, or kind does not allow
///         memory of other origin
/// @retval 107002 the thread has no current context: call aclrtSetDevice in it
/// @retval 107003 the stream belongs to another context
/// @retval 107017 the stream is not live
/// @retval 507000 it would wait for itself: called from inside a callback of the stream, or in the thread that has to call one
///
/// # Safety
///
/// Each row of `src` must be readable, and of `dst` writable, for `width` bytes until the copy is done.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments)] // the vendor's prototype
pub unsafe extern "C" fn aclrtMemcpy2dAsync(
    dst: *mut c_void,
    dpitch: usize,
    src: *const c_void,
    spitch: usize,
    width: usize,
    height: usize,
    kind: aclrtMemcpyKind,
    stream: aclrtStream,
) -> aclError {
    guard::acl(
        "aclrtMemcpy2dAsync",
        format_args!(
            "dst={dst:p}, dpitch={dpitch}, src={src:p}, spitch={spitch}, width={width}, height={height}, kind={kind}, stream={stream:p}"
        ),
        || {
            let (to, from) = ((address(dst), dpitch), (address(src), spitch));
            // SAFETY: the caller's promise.
            let copy = unsafe { Copy::new_2d(to, from, (width, height), kind) }?;
            memory::copy_in_stream(copy, kind, Handle::from_ptr(stream))
        },
    )
}

/// Sets bytes at once. It does not wait for streams.
///
/// @param [in] devPtr the first byte
/// @param [in] maxCount bytes that devPtr has room for, at least count
/// @param [in] value each byte becomes (unsigned char)value
/// @param [in] count bytes; with 0 nothing happens
/// @retval 0 success
/// @retval 100000 devPtr is NULL
/// @retval 107000 count is more than maxCount, or leaves the block that devPtr lies in; nothing is set
/// @retval 107002 the thread has no current context: call aclrtSetDevice in it
///
/// # Safety
///
/// `devPtr` must be writable for `count` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtMemset(devPtr: *mut c_void, maxCount: usize, value: i32, count: usize) -> aclError {
    guard::acl(
        "aclrtMemset",
        format_args!("devPtr={devPtr:p}, maxCount={maxCount}, value={value}, count={count}"),
        || {
            // SAFETY: the caller's promise.
            let set = unsafe { Set::new(address(devPtr), maxCount, value, count) }?;
            context::require()?;
            set.map_or(Ok(()), |set| set.run_now())
        },
    )
}

/// Sets bytes in stream order.
///
/// @param [in] devPtr the first byte
/// @param [in] maxCount bytes that devPtr has room for, at least count
/// @param [in] value each byte becomes (unsigned char)value
/// @param [in] count bytes; with 0 nothing happens
/// @param [in] stream NULL for the default stream of the thread's current context
/// @retval 0 success
/// @retval 100000 devPtr is NULL
/// @retval 107000 count is more than maxCount, or leaves the block that devPtr lies in
/// @retval 107002 the thread has no current context: call aclrtSetDevice in it
/// @retval 107003 the stream belongs to another context
/// @retval 107017 the stream is not live
///
/// # Safety
///
/// `devPtr` must be writable for `count` bytes until it is done.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtMemsetAsync(
    devPtr: *mut c_void,
    maxCount: usize,
    value: i32,
    count: usize,
    stream: aclrtStream,
) -> aclError {
    guard::acl(
        "aclrtMemsetAsync",
        format_args!("devPtr={devPtr:p}, maxCount={maxCount}, value={value}, count={count}, stream={stream:p}"),
        || {
            // SAFETY: the caller's promise.
            let set = unsafe { Set::new(address(devPtr), maxCount, value, count) }?;
            memory::set_in_stream(set, Handle::from_ptr(stream))
        },
    )
}

/// Makes what the host wrote visible to the device. On this machine it is visible already: only the arguments are checked.
///
/// @param [in] devPtr the first byte
/// @param [in] size bytes, at least 1
/// @retval 0 success
/// @retval 100000 devPtr is NULL, or size is 0
/// @retval 107000 the bytes leave the block that devPtr lies in
/// @retval 107002 the thread has no current context: call aclrtSetDevice in it
///
/// # Safety
///
/// None of the bytes is touched.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtMemFlush(devPtr: *mut c_void, size: usize) -> aclError {
    guard::acl("aclrtMemFlush", format_args!("devPtr={devPtr:p}, size={size}"), || cache_range(devPtr, size))
}

/// Makes what the device wrote visible to the host. On this machine it is visible already: only the arguments are checked.
///
/// @param [in] devPtr the first byte
/// @param [in] size bytes, at least 1
/// @retval 0 success
/// @retval 100000 devPtr is NULL, or size is 0
/// @retval 107000 the bytes leave the block that devPtr lies in
/// @retval 107002 the thread has no current context: call aclrtSetDevice in it
///
/// # Safety
///
/// None of the bytes is touched.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtMemInvalidate(devPtr: *mut c_void, size: usize) -> aclError {
    guard::acl("aclrtMemInvalidate", format_args!("devPtr={devPtr:p}, size={size}"), || cache_range(devPtr, size))
}

fn cache_range(pointer: *mut c_void, size: usize) -> Result<()> {
    let start = not_null(pointer.cast_const(), "devPtr")?;
    memory::check_range(start, size)?;
    context::require()
}

/// Tells how much memory there is: this machine's, or less where a cgroup limits it.
///
/// @param [in] attr an aclrtMemAttr; all mean the same memory here
/// @param [out] free bytes that are free now
/// @param [out] total bytes that there are
/// @retval 0 success
/// @retval 100000 free or total is NULL
/// @retval 107000 attr is no aclrtMemAttr
/// @retval 107002 the thread has no current context: call aclrtSetDevice in it
///
/// # Safety
///
/// `free` and `total` must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtGetMemInfo(attr: aclrtMemAttr, free: *mut usize, total: *mut usize) -> aclError {
    guard::acl("aclrtGetMemInfo", format_args!("attr={attr}, free={free:p}, total={total:p}"), || {
        // SAFETY: the caller's promise.
        let free = unsafe { Out::new(free, "free") }?;
        // SAFETY: the caller's promise.
        let total = unsafe { Out::new(total, "total") }?;
        context::require()?;
        let (free_now, in_all) = memory::info(attr)?;
        free.set(free_now);
        total.set(in_all);
        Ok(())
    })
}

/// Tells what kind of memory an address lies in.
///
/// @param [in] ptr any address
/// @param [out] attributes location.type is ACL_MEM_LOCATION_TYPE_DEVICE or _HOST inside a block of this library, and
///              _UNREGISTERED elsewhere; location.id is the device; pageSize is 2 MiB for large blocks, else the system's, 0 elsewhere
/// @retval 0 success
/// @retval 100000 ptr or attributes is NULL
///
/// # Safety
///
/// `attributes` must be writable. Nothing is read at `ptr`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtPointerGetAttributes(
    ptr: *const c_void,
    attributes: *mut aclrtPtrAttributes,
) -> aclError {
    guard::acl("aclrtPointerGetAttributes", format_args!("ptr={ptr:p}, attributes={attributes:p}"), || {
        let start = not_null(ptr, "ptr")?;
        // SAFETY: the caller's promise.
        let attributes = unsafe { Out::new(attributes, "attributes") }?;
        let (location, device, page_size) = memory::location(start);
        attributes.set(aclrtPtrAttributes {
            location: aclrtMemLocation { id: device, r#type: location },
            pageSize: page_size,
            rsv: [0; 4],
        });
        Ok(())
    })
}

fn not_null(pointer: *const c_void, argument: &'static str) -> Result<usize> {
    if pointer.is_null() {
        return Err(Error::NullArgument { argument, expected: "an address" });
    }
    Ok(address(pointer))
}
