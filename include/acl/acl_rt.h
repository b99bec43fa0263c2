/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * The runtime: initialisation, devices, contexts, memory, streams, events, callbacks, errors.
 *
 * Generated from src/api (runtime.rs, memory.rs, stream.rs, event.rs):
 * edit the comments there, then run `make headers`.
 */

#ifndef ACL_ACL_RT_H
#define ACL_ACL_RT_H

#include "acl_base_rt.h"
#include "../aclnn_modulate/runtime_types.h"

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Initialises the process. Everything works without, too; the device does not.
 *
 * @param [in] configPath path of a JSON file, or NULL. Known keys: err_msg_mode ("1": aclGetRecentErrMsg shows the
 *             messages of all threads), defaultDevice.default_device (the device of threads that call no aclrtSetDevice),
 *             dump.dump_path and dump.dump_mode (see aclDumpOpTensors); others are ignored
 * @retval 0 success
 * @retval 100002 it is initialised already: counted, see aclFinalizeReference, and nothing changes
 * @retval 100003 the file can't be read
 * @retval 100006 the file is no JSON object, or one of its known keys has a value that makes no sense
 * @retval 100009 dump.dump_path is no directory, or dump.dump_mode is not input, output or all
 * @retval 107001 the file's default device does not exist
 *
 * @pre `configPath` must be a C string or NULL.
 */
ACL_FUNC_VISIBILITY
aclError aclInit(const char *configPath);

/**
 * Undoes every aclInit. Devices, streams and memory stay as they are.
 *
 * @retval 0 success, also where aclInit was never called
 * @retval 100037 it was undone already
 */
ACL_FUNC_VISIBILITY aclError aclFinalize(void);

/**
 * Undoes one aclInit.
 *
 * @param [out] refCount how many are left; NULL if nobody wants to know
 * @retval 0 success
 * @retval 100037 there is none to undo
 *
 * @pre `refCount` must be writable, or NULL.
 */
ACL_FUNC_VISIBILITY aclError aclFinalizeReference(uint64_t *refCount);

/**
 * Tells the version of the interface that this library has: ACL_MAJOR_VERSION and so on of its headers.
 *
 * @param [out] majorVersion grows with incompatible changes
 * @param [out] minorVersion grows with additions
 * @param [out] patchVersion grows with corrections
 * @retval 0 success
 * @retval 100000 an argument is NULL
 *
 * @pre The arguments must be writable.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetVersion(int32_t *majorVersion, int32_t *minorVersion, int32_t *patchVersion);

/**
 * Tells the version of a package as a text.
 *
 * @param [in] pkgName "aclnn_modulate" for this library; "runtime" for the interface, see aclrtGetVersion
 * @param [out] versionStr for instance 0.1.0; room for 128 characters
 * @retval 0 success
 * @retval 100000 an argument is NULL
 * @retval 100003 no such package is installed
 *
 * @pre `pkgName` must be a C string, `versionStr` writable for 128 characters.
 */
ACL_FUNC_VISIBILITY aclError aclsysGetVersionStr(char *pkgName, char *versionStr);

/**
 * Tells the version of a package as a number that grows with it.
 *
 * @param [in] pkgName as for aclsysGetVersionStr
 * @param [out] versionNum major * 10000000 + minor * 100000 + patch * 1000
 * @retval 0 success
 * @retval 100000 an argument is NULL
 * @retval 100003 no such package is installed
 *
 * @pre `pkgName` must be a C string, `versionNum` writable.
 */
ACL_FUNC_VISIBILITY aclError aclsysGetVersionNum(char *pkgName, int32_t *versionNum);

/**
 * Tells what went wrong in the calling thread since this was last called: a line for each failed call, newest first, the
 * newest 32 at most. Then it forgets them.
 *
 * @return the text, or NULL where nothing went wrong. It lives until the thread's next call of this function
 */
ACL_FUNC_VISIBILITY
const char *aclGetRecentErrMsg(void);

/**
 * Tells the calling thread's last error, and keeps it.
 *
 * @param [in] level ACL_RT_THREAD_LEVEL
 * @return the last code other than 0 that an acl function returned in this thread; 0 where there is none; 107000 where
 *         level is another
 */
ACL_FUNC_VISIBILITY
aclError aclrtPeekAtLastError(aclrtLastErrLevel level);

/**
 * Tells the calling thread's last error, and forgets it.
 *
 * @param [in] level ACL_RT_THREAD_LEVEL
 * @return the last code other than 0 that an acl function returned in this thread; 0 where there is none; 107000 where
 *         level is another
 */
ACL_FUNC_VISIBILITY
aclError aclrtGetLastError(aclrtLastErrLevel level);

/**
 * Tells what is wrong with a device. Nothing ever is with this one.
 *
 * @param [in] deviceId the device
 * @param [out] errorInfo errorType is ACL_RT_NO_ERROR, everything else 0
 * @retval 0 success
 * @retval 100000 errorInfo is NULL
 * @retval 107001 there is no such device
 *
 * @pre `errorInfo` must be writable.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetErrorVerbose(int32_t deviceId, aclrtErrorInfo *errorInfo);

/**
 * Makes a device's default context the calling thread's current one. Every thread has to, before it uses the device.
 *
 * Counts for the process: as many aclrtResetDevice take it back.
 *
 * @param [in] deviceId 0, or below what aclrtGetDeviceCount tells
 * @retval 0 success
 * @retval 107001 there is no such device
 */
ACL_FUNC_VISIBILITY aclError aclrtSetDevice(int32_t deviceId);

/**
 * Takes back one aclrtSetDevice. The last one waits for the work of the device's default context, and ends the context with
 * its default stream and the streams and events that were created under it. Memory and other contexts stay.
 *
 * @param [in] deviceId the device
 * @retval 0 success
 * @retval 107001 there is no such device
 * @retval 507000 it would wait for itself: called from inside a callback of one of its streams, or in the thread that has to call one
 * @retval 507007 the device is not set
 */
ACL_FUNC_VISIBILITY
aclError aclrtResetDevice(int32_t deviceId);

/**
 * Takes back every aclrtSetDevice at once; see aclrtResetDevice.
 *
 * @param [in] deviceId the device
 * @retval 0 success
 * @retval 107001 there is no such device
 * @retval 507000 it would wait for itself: called from inside a callback of one of its streams, or in the thread that has to call one
 * @retval 507007 the device is not set
 */
ACL_FUNC_VISIBILITY
aclError aclrtResetDeviceForce(int32_t deviceId);

/**
 * Tells the device of the calling thread's current context.
 *
 * @param [out] deviceId the device
 * @retval 0 success
 * @retval 100000 deviceId is NULL
 * @retval 107002 the thread has no current context: call aclrtSetDevice in it
 *
 * @pre `deviceId` must be writable.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetDevice(int32_t *deviceId);

/**
 * Tells how many devices there are: one, unless the environment variable ACLCPU_DEVICE_COUNT says more.
 *
 * @param [out] count how many
 * @retval 0 success
 * @retval 100000 count is NULL
 *
 * @pre `count` must be writable.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetDeviceCount(uint32_t *count);

/**
 * Tells on which side the program runs: the host's, always.
 *
 * @param [out] runMode ACL_HOST
 * @retval 0 success
 * @retval 100000 runMode is NULL
 *
 * @pre `runMode` must be writable.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetRunMode(aclrtRunMode *runMode);

/**
 * Waits until all streams of the current context's device have done their work, those of other contexts included.
 *
 * @retval 0 success
 * @retval 107002 the thread has no current context: call aclrtSetDevice in it
 * @retval 107023 a stream was aborted meanwhile
 * @retval 507000 it would wait for itself: called from inside a callback of one of the streams, or in the thread that has to call one
 * @retval 507035 work failed while running; aclGetRecentErrMsg says why
 */
ACL_FUNC_VISIBILITY
aclError aclrtSynchronizeDevice(void);

/**
 * Waits as aclrtSynchronizeDevice does, but not longer than a time.
 *
 * @param [in] timeout milliseconds, at least 1; -1 to wait for ever
 * @retval 0 success
 * @retval 107000 timeout is 0 or below -1
 * @retval 107002 the thread has no current context: call aclrtSetDevice in it
 * @retval 107023 a stream was aborted meanwhile
 * @retval 507000 it would wait for itself: called from inside a callback of one of the streams, or in the thread that has to call one
 * @retval 507035 work failed while running; aclGetRecentErrMsg says why
 * @retval 507046 the time is over and the work is not
 */
ACL_FUNC_VISIBILITY
aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout);

/**
 * Tells whether one device can use the memory of another. Here every device can: it is the same memory.
 *
 * @param [out] canAccessPeer 1
 * @param [in] deviceId a device
 * @param [in] peerDeviceId another device
 * @retval 0 success
 * @retval 100000 canAccessPeer is NULL
 * @retval 107001 there is no such device, or both are the same
 *
 * @pre `canAccessPeer` must be writable.
 */
ACL_FUNC_VISIBILITY aclError aclrtDeviceCanAccessPeer(int32_t *canAccessPeer, int32_t deviceId, int32_t peerDeviceId);

/**
 * Sets a parameter of the process. None has an effect here: results are the same bits in every case.
 *
 * @param [in] opt an aclSysParamOpt
 * @param [in] value 0 or 1
 * @retval 0 success
 * @retval 107000 opt or value is another
 */
ACL_FUNC_VISIBILITY aclError aclrtSetSysParamOpt(aclSysParamOpt opt, int64_t value);

/**
 * Tells what a parameter of the process was set to.
 *
 * @param [in] opt an aclSysParamOpt
 * @param [out] value 0 or 1
 * @retval 0 success
 * @retval 100000 value is NULL
 * @retval 107000 opt is another
 * @retval 107021 it was never set
 *
 * @pre `value` must be writable.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetSysParamOpt(aclSysParamOpt opt, int64_t *value);

/**
 * Sets a parameter of the thread's current context. None has an effect here: results are the same bits in every case.
 *
 * @param [in] opt an aclSysParamOpt
 * @param [in] value 0 or 1
 * @retval 0 success
 * @retval 107000 opt or value is another
 * @retval 107002 the thread has no current context: call aclrtSetDevice in it
 */
ACL_FUNC_VISIBILITY aclError aclrtCtxSetSysParamOpt(aclSysParamOpt opt, int64_t value);

/**
 * Tells what a parameter of the thread's current context was set to.
 *
 * @param [in] opt an aclSysParamOpt
 * @param [out] value 0 or 1
 * @retval 0 success
 * @retval 100000 value is NULL
 * @retval 107000 opt is another
 * @retval 107002 the thread has no current context: call aclrtSetDevice in it
 * @retval 107021 it was never set
 *
 * @pre `value` must be writable.
 */
ACL_FUNC_VISIBILITY aclError aclrtCtxGetSysParamOpt(aclSysParamOpt opt, int64_t *value);

/**
 * Creates a context on a device and makes it the calling thread's current one. It has a default stream of its own.
 *
 * @param [out] context the context; destroy it with aclrtDestroyContext
 * @param [in] deviceId the device, which need not be set
 * @retval 0 success
 * @retval 100000 context is NULL
 * @retval 107001 there is no such device
 *
 * @pre `context` must be writable.
 */
ACL_FUNC_VISIBILITY aclError aclrtCreateContext(aclrtContext *context, int32_t deviceId);

/**
 * Waits for a context's work, then destroys it with its streams and events. A thread whose current context it was has none
 * any more.
 *
 * @param [in] context from aclrtCreateContext
 * @retval 0 success
 * @retval 100000 context is NULL
 * @retval 107002 the context is not live, or a device's default context
 * @retval 507000 it would wait for itself: called from inside a callback of one of its streams, or in the thread that has to call one
 */
ACL_FUNC_VISIBILITY
aclError aclrtDestroyContext(aclrtContext context);

/**
 * Makes a context the calling thread's current one.
 *
 * @param [in] context any live context
 * @retval 0 success
 * @retval 100000 context is NULL
 * @retval 107002 the context is not live
 */
ACL_FUNC_VISIBILITY aclError aclrtSetCurrentContext(aclrtContext context);

/**
 * Tells the calling thread's current context, which may be a device's default context.
 *
 * @param [out] context the context
 * @retval 0 success
 * @retval 100000 context is NULL
 * @retval 107002 the thread has none: call aclrtSetDevice in it
 *
 * @pre `context` must be writable.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetCurrentContext(aclrtContext *context);

/**
 * Tells the default stream of the calling thread's current context: the one that NULL stands for.
 *
 * @param [out] stream the stream; it ends with its context and can't be destroyed
 * @retval 0 success
 * @retval 100000 stream is NULL
 * @retval 107002 the thread has no current context: call aclrtSetDevice in it
 *
 * @pre `stream` must be writable.
 */
ACL_FUNC_VISIBILITY aclError aclrtCtxGetCurrentDefaultStream(aclrtStream *stream);

/**
 * Allocates device memory, which on this machine is plain memory: host code may read and write it, too.
 *
 * The start is aligned to 64 bytes. The size is rounded up to 32 bytes, and 32 more may be used. Blocks of 2 MiB and more
 * are backed by huge pages where the system has them. The contents are undefined, and no page is touched.
 *
 * @param [out] devPtr start of the block; free it with aclrtFree
 * @param [in] size bytes, at least 1
 * @param [in] policy the NORMAL_ONLY ones turn huge pages off; everything else is taken and means nothing here
 * @retval 0 success
 * @retval 100000 devPtr is NULL, or size is 0
 * @retval 107002 the thread has no current context: call aclrtSetDevice in it
 * @retval 207001 there is no memory, or all live blocks would be more than the machine (or the cgroup) has
 *
 * Any thread may call this, and use or free the block.
 *
 * @pre `devPtr` must be writable.
 */
ACL_FUNC_VISIBILITY
aclError aclrtMalloc(void **devPtr,
                     size_t size,
                     aclrtMemMallocPolicy policy);

/**
 * Allocates device memory as aclrtMalloc does, without the extra 32 bytes: exactly size, rounded up to 32, may be used.
 *
 * @param [out] devPtr start of the block; free it with aclrtFree
 * @param [in] size bytes, at least 1
 * @param [in] policy as for aclrtMalloc
 * @retval 0 success
 * @retval 100000 devPtr is NULL, or size is 0
 * @retval 107002 the thread has no current context: call aclrtSetDevice in it
 * @retval 207001 there is not enough memory
 *
 * @pre `devPtr` must be writable.
 */
ACL_FUNC_VISIBILITY
aclError aclrtMallocAlign32(void **devPtr,
                            size_t size,
                            aclrtMemMallocPolicy policy);

/**
 * Allocates device memory as aclrtMalloc does. All memory of this machine is cached: aclrtMemFlush and aclrtMemInvalidate
 * have nothing to do.
 *
 * @param [out] devPtr start of the block; free it with aclrtFree
 * @param [in] size bytes, at least 1
 * @param [in] policy as for aclrtMalloc
 * @retval 0 success
 * @retval 100000 devPtr is NULL, or size is 0
 * @retval 107002 the thread has no current context: call aclrtSetDevice in it
 * @retval 207001 there is not enough memory
 *
 * @pre `devPtr` must be writable.
 */
ACL_FUNC_VISIBILITY
aclError aclrtMallocCached(void **devPtr,
                           size_t size,
                           aclrtMemMallocPolicy policy);

/**
 * Frees a block of device memory. Work that is queued and uses it still finishes; this call waits for nothing.
 *
 * @param [in] devPtr start of a block from aclrtMalloc, aclrtMallocAlign32 or aclrtMallocCached
 * @retval 0 success
 * @retval 100000 devPtr is NULL
 * @retval 107000 devPtr is not the start of a live block of device memory
 *
 * Any thread may call this, with or without a context.
 *
 * @pre Nobody may use the block afterwards, except work that is queued already.
 */
ACL_FUNC_VISIBILITY aclError aclrtFree(void *devPtr);

/**
 * Waits until the current context's device has done all its work, then frees a block of device memory.
 *
 * @param [in] devPtr start of a block from aclrtMalloc, aclrtMallocAlign32 or aclrtMallocCached
 * @retval 0 success
 * @retval 100000 devPtr is NULL
 * @retval 107000 devPtr is not the start of a live block of device memory; nothing was waited for
 * @retval 107002 the thread has no current context: call aclrtSetDevice in it
 * @retval 507000 it would wait for itself: called from inside a callback of a stream of this device, or in the thread that has to call one
 * @retval 507035 work failed while running; the block is freed
 *
 * @pre Nobody may use the block afterwards.
 */
ACL_FUNC_VISIBILITY
aclError aclrtFreeWithDevSync(void *devPtr);

/**
 * Allocates host memory that copies in stream order may use without waiting.
 *
 * @param [out] hostPtr start of the block, aligned to 64 bytes; free it with aclrtFreeHost
 * @param [in] size bytes, at least 1
 * @retval 0 success
 * @retval 100000 hostPtr is NULL, or size is 0
 * @retval 107002 the thread has no current context: call aclrtSetDevice in it
 * @retval 207001 there is no memory, or all live blocks would be more than the machine (or the cgroup) has
 *
 * @pre `hostPtr` must be writable.
 */
ACL_FUNC_VISIBILITY aclError aclrtMallocHost(void **hostPtr, size_t size);

/**
 * Frees a block of host memory. Work that is queued and uses it still finishes; this call waits for nothing.
 *
 * @param [in] hostPtr start of a block from aclrtMallocHost
 * @retval 0 success
 * @retval 100000 hostPtr is NULL
 * @retval 107000 hostPtr is not the start of a live block of host memory
 *
 * Any thread may call this, with or without a context.
 *
 * @pre Nobody may use the block afterwards, except work that is queued already.
 */
ACL_FUNC_VISIBILITY aclError aclrtFreeHost(void *hostPtr);

/**
 * Copies at once. It does not wait for streams.
 *
 * @param [in] dst where to; may overlap src
 * @param [in] destMax bytes that dst has room for, at least count
 * @param [in] src where from
 * @param [in] count bytes; with 0 nothing happens
 * @param [in] kind an aclrtMemcpyKind; it is not held against the addresses, since all memory is the same here
 * @retval 0 success
 * @retval 100000 dst or src is NULL, or kind is none that can be used (6, 7 or unknown)
 * @retval 107000 count is more than destMax, or leaves the block that dst or src lies in; nothing is copied
 * @retval 107002 the thread has no current context: call aclrtSetDevice in it
 *
 * @pre `src` must be readable and `dst` writable for `count` bytes.
 */
ACL_FUNC_VISIBILITY
aclError aclrtMemcpy(void *dst,
                     size_t destMax,
                     const void *src,
                     size_t count,
                     aclrtMemcpyKind kind);

/**
 * Copies in stream order.
 *
 * From memory that aclrtMallocHost did not give it returns only when the copy is done; otherwise as soon as it is queued,
 * and src and dst have to stay as they are until then. Blocks may be freed with aclrtFree or aclrtFreeHost at once.
 *
 * @param [in] dst where to; may overlap src
 * @param [in] destMax bytes that dst has room for, at least count
 * @param [in] src where from
 * @param [in] count bytes; with 0 nothing happens
 * @param [in] kind an aclrtMemcpyKind. Between blocks of this library a wrong one is corrected. Other memory may be the
 *             source of host-to-device and device-to-device, and the destination of device-to-host and device-to-device
 * @param [in] stream NULL for the default stream of the thread's current context
 * @retval 0 success
 * @retval 100000 dst or src is NULL, or kind is none that can be used (6, 7 or unknown)
 * @retval 107000 count is more than destMax, or leaves the block that dst or src lies in; or kind does not allow memory
 *         of other origin
 * @retval 107002 the thread has no current context: call aclrtSetDevice in it
 * @retval 107003 the stream belongs to another context
 * @retval 107017 the stream is not live
 * @retval 207000 kind is ACL_MEMCPY_HOST_TO_HOST
 * @retval 507000 it would wait for itself: called from inside a callback of the stream, or in the thread that has to call one
 *
 * @pre `src` must be readable and `dst` writable for `count` bytes until the copy is done.
 */
ACL_FUNC_VISIBILITY
aclError aclrtMemcpyAsync(void *dst,
                          size_t destMax,
                          const void *src,
                          size_t count,
                          aclrtMemcpyKind kind,
                          aclrtStream stream);

/**
 * Copies a matrix at once: height rows of width bytes. It does not wait for streams.
 *
 * @param [in] dst first row's start; rows may overlap those of src
 * @param [in] dpitch bytes from one row of dst to the next, at least width
 * @param [in] src first row's start
 * @param [in] spitch bytes from one row of src to the next, at least width
 * @param [in] width bytes of a row; with 0 nothing happens
 * @param [in] height rows; with 0 nothing happens
 * @param [in] kind ACL_MEMCPY_HOST_TO_DEVICE, ACL_MEMCPY_DEVICE_TO_HOST, ACL_MEMCPY_DEVICE_TO_DEVICE or
 *             ACL_MEMCPY_DEFAULT
 * @retval 0 success
 * @retval 100000 dst or src is NULL, or kind is another
 * @retval 107000 width is more than a pitch, or the rows leave the block that dst or src lies in; nothing is copied
 * @retval 107002 the thread has no current context: call aclrtSetDevice in it
 *
 * @pre Each row of `src` must be readable, and of `dst` writable, for `width` bytes.
 */
ACL_FUNC_VISIBILITY
aclError aclrtMemcpy2d(void *dst,
                       size_t dpitch,
                       const void *src,
                       size_t spitch,
                       size_t width,
                       size_t height,
                       aclrtMemcpyKind kind);

/**
 * Copies a matrix in stream order: height rows of width bytes. See aclrtMemcpyAsync for when it returns, and for which
 * memory kind allows.
 *
 * @param [in] dst first row's start; rows may overlap those of src
 * @param [in] dpitch bytes from one row of dst to the next, at least width
 * @param [in] src first row's start
 * @param [in] spitch bytes from one row of src to the next, at least width
 * @param [in] width bytes of a row; with 0 nothing happens
 * @param [in] height rows; with 0 nothing happens
 * @param [in] kind as for aclrtMemcpy2d
 * @param [in] stream NULL for the default stream of the thread's current context
 * @retval 0 success
 * @retval 100000 dst or src is NULL, or kind is another
 * @retval 107000 width is more than a pitch, the rows leave the block that dst or src lies in, or kind does not allow
 *         memory of other origin
 * @retval 107002 the thread has no current context: call aclrtSetDevice in it
 * @retval 107003 the stream belongs to another context
 * @retval 107017 the stream is not live
 * @retval 507000 it would wait for itself: called from inside a callback of the stream, or in the thread that has to call one
 *
 * @pre Each row of `src` must be readable, and of `dst` writable, for `width` bytes until the copy is done.
 */
ACL_FUNC_VISIBILITY
aclError aclrtMemcpy2dAsync(void *dst,
                            size_t dpitch,
                            const void *src,
                            size_t spitch,
                            size_t width,
                            size_t height,
                            aclrtMemcpyKind kind,
                            aclrtStream stream);

/**
 * Sets bytes at once. It does not wait for streams.
 *
 * @param [in] devPtr the first byte
 * @param [in] maxCount bytes that devPtr has room for, at least count
 * @param [in] value each byte becomes (unsigned char)value
 * @param [in] count bytes; with 0 nothing happens
 * @retval 0 success
 * @retval 100000 devPtr is NULL
 * @retval 107000 count is more than maxCount, or leaves the block that devPtr lies in; nothing is set
 * @retval 107002 the thread has no current context: call aclrtSetDevice in it
 *
 * @pre `devPtr` must be writable for `count` bytes.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemset(void *devPtr, size_t maxCount, int32_t value, size_t count);

/**
 * Sets bytes in stream order.
 *
 * @param [in] devPtr the first byte
 * @param [in] maxCount bytes that devPtr has room for, at least count
 * @param [in] value each byte becomes (unsigned char)value
 * @param [in] count bytes; with 0 nothing happens
 * @param [in] stream NULL for the default stream of the thread's current context
 * @retval 0 success
 * @retval 100000 devPtr is NULL
 * @retval 107000 count is more than maxCount, or leaves the block that devPtr lies in
 * @retval 107002 the thread has no current context: call aclrtSetDevice in it
 * @retval 107003 the stream belongs to another context
 * @retval 107017 the stream is not live
 *
 * @pre `devPtr` must be writable for `count` bytes until it is done.
 */
ACL_FUNC_VISIBILITY
aclError aclrtMemsetAsync(void *devPtr,
                          size_t maxCount,
                          int32_t value,
                          size_t count,
                          aclrtStream stream);

/**
 * Makes what the host wrote visible to the device. On this machine it is visible already: only the arguments are checked.
 *
 * @param [in] devPtr the first byte
 * @param [in] size bytes, at least 1
 * @retval 0 success
 * @retval 100000 devPtr is NULL, or size is 0
 * @retval 107000 the bytes leave the block that devPtr lies in
 * @retval 107002 the thread has no current context: call aclrtSetDevice in it
 *
 * @pre None of the bytes is touched.
 */
ACL_FUNC_VISIBILITY
aclError aclrtMemFlush(void *devPtr,
                       size_t size);

/**
 * Makes what the device wrote visible to the host. On this machine it is visible already: only the arguments are checked.
 *
 * @param [in] devPtr the first byte
 * @param [in] size bytes, at least 1
 * @retval 0 success
 * @retval 100000 devPtr is NULL, or size is 0
 * @retval 107000 the bytes leave the block that devPtr lies in
 * @retval 107002 the thread has no current context: call aclrtSetDevice in it
 *
 * @pre None of the bytes is touched.
 */
ACL_FUNC_VISIBILITY
aclError aclrtMemInvalidate(void *devPtr,
                            size_t size);

/**
 * Tells how much memory there is: this machine's, or less where a cgroup limits it.
 *
 * @param [in] attr an aclrtMemAttr; all mean the same memory here
 * @param [out] free bytes that are free now
 * @param [out] total bytes that there are
 * @retval 0 success
 * @retval 100000 free or total is NULL
 * @retval 107000 attr is no aclrtMemAttr
 * @retval 107002 the thread has no current context: call aclrtSetDevice in it
 *
 * @pre `free` and `total` must be writable.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t *free, size_t *total);

/**
 * Tells what kind of memory an address lies in.
 *
 * @param [in] ptr any address
 * @param [out] attributes location.type is ACL_MEM_LOCATION_TYPE_DEVICE or _HOST inside a block of this library, and
 *              _UNREGISTERED elsewhere; location.id is the device; pageSize is 2 MiB for large blocks, else the system's, 0 elsewhere
 * @retval 0 success
 * @retval 100000 ptr or attributes is NULL
 *
 * @pre `attributes` must be writable. Nothing is read at `ptr`.
 */
ACL_FUNC_VISIBILITY
aclError aclrtPointerGetAttributes(const void *ptr,
                                   aclrtPtrAttributes *attributes);

/**
 * Creates a stream under the thread's current context: work on it runs in order, and beside that of other streams.
 *
 * @param [out] stream the stream; destroy it with aclrtDestroyStream
 * @retval 0 success
 * @retval 100000 stream is NULL
 * @retval 107002 the thread has no current context: call aclrtSetDevice in it
 * @retval 207008 the device has 1984 streams already
 *
 * Any thread may use the stream whose current context is the same.
 *
 * @pre `stream` must be writable.
 */
ACL_FUNC_VISIBILITY aclError aclrtCreateStream(aclrtStream *stream);

/**
 * Creates a stream with a priority and flags, which aclrtStreamGetPriority and aclrtStreamGetFlags give back. They have no
 * other effect here.
 *
 * @param [out] stream the stream; destroy it with aclrtDestroyStream
 * @param [in] priority 0 (highest) to 7; anything above counts as 7
 * @param [in] flag 0, or ACL_STREAM_* bits
 * @retval 0 success
 * @retval 100000 stream is NULL
 * @retval 107000 flag has bits that no ACL_STREAM_* has
 * @retval 107002 the thread has no current context: call aclrtSetDevice in it
 * @retval 207008 the device has 1984 streams already
 *
 * @pre `stream` must be writable.
 */
ACL_FUNC_VISIBILITY
aclError aclrtCreateStreamWithConfig(aclrtStream *stream,
                                     uint32_t priority,
                                     uint32_t flag);

/**
 * Waits for what is queued on a stream, then destroys it.
 *
 * @param [in] stream a stream of the thread's current context
 * @retval 0 success, also where work had failed
 * @retval 100000 stream is NULL
 * @retval 107002 the thread has no current context: call aclrtSetDevice in it
 * @retval 107003 the stream belongs to another context
 * @retval 107017 the stream is not live, or a context's default stream
 * @retval 507000 it would wait for itself: called from inside a callback of the stream, or in the thread that has to call one
 */
ACL_FUNC_VISIBILITY
aclError aclrtDestroyStream(aclrtStream stream);

/**
 * Drops what has not begun on a stream, waits for what runs, then destroys it.
 *
 * @param [in] stream a stream of the thread's current context
 * @retval 0 success, also where work had failed
 * @retval 100000 stream is NULL
 * @retval 107002 the thread has no current context: call aclrtSetDevice in it
 * @retval 107003 the stream belongs to another context
 * @retval 107017 the stream is not live, or a context's default stream
 * @retval 507000 called from inside a callback of the stream, which would wait for itself
 */
ACL_FUNC_VISIBILITY aclError aclrtDestroyStreamForce(aclrtStream stream);

/**
 * Waits until everything that is queued on a stream now is done.
 *
 * @param [in] stream of any context; NULL for the default stream of the thread's current context
 * @retval 0 success
 * @retval 107002 the thread has no current context: call aclrtSetDevice in it
 * @retval 107017 the stream is not live
 * @retval 107023 the stream was aborted meanwhile
 * @retval 507000 it would wait for itself: called from inside a callback of the stream, or in the thread that has to call one
 * @retval 507035 work failed while running; aclGetRecentErrMsg says why. Told once, then the stream is as new
 */
ACL_FUNC_VISIBILITY
aclError aclrtSynchronizeStream(aclrtStream stream);

/**
 * Waits as aclrtSynchronizeStream does, but not longer than a time.
 *
 * @param [in] stream of any context; NULL for the default stream of the thread's current context
 * @param [in] timeout milliseconds, at least 1; -1 to wait for ever
 * @retval 0 success
 * @retval 107000 timeout is 0 or below -1
 * @retval 107002 the thread has no current context: call aclrtSetDevice in it
 * @retval 107017 the stream is not live
 * @retval 107023 the stream was aborted meanwhile
 * @retval 507000 it would wait for itself: called from inside a callback of the stream, or in the thread that has to call one
 * @retval 507035 work failed while running
 * @retval 507046 the time is over and the work is not
 */
ACL_FUNC_VISIBILITY
aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream,
                                           int32_t timeout);

/**
 * Tells whether a stream has work that is not done.
 *
 * @param [in] stream of any context; NULL for the default stream of the thread's current context
 * @param [out] status ACL_STREAM_STATUS_COMPLETE or ACL_STREAM_STATUS_NOT_READY
 * @retval 0 success
 * @retval 100000 status is NULL
 * @retval 107002 the thread has no current context: call aclrtSetDevice in it
 * @retval 107017 the stream is not live
 *
 * @pre `status` must be writable.
 */
ACL_FUNC_VISIBILITY aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus *status);

/**
 * Says what becomes of later work when work fails.
 *
 * @param [in] stream of the thread's current context; NULL for its default stream
 * @param [in] mode ACL_CONTINUE_ON_FAILURE: later work runs (as at first); ACL_STOP_ON_FAILURE: it is dropped until a
 *             synchronise has told of the failure
 * @retval 0 success
 * @retval 107000 mode is another
 * @retval 107002 the thread has no current context: call aclrtSetDevice in it
 * @retval 107003 the stream belongs to another context
 * @retval 107017 the stream is not live
 */
ACL_FUNC_VISIBILITY aclError aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode);

/**
 * Drops what has not begun on a stream, and waits for what runs. Who waits for the stream gets 107023.
 *
 * @param [in] stream of the thread's current context; NULL for its default stream
 * @retval 0 success
 * @retval 107002 the thread has no current context: call aclrtSetDevice in it
 * @retval 107003 the stream belongs to another context
 * @retval 107017 the stream is not live
 * @retval 507000 called from inside a callback of the stream, which would wait for itself
 */
ACL_FUNC_VISIBILITY aclError aclrtStreamAbort(aclrtStream stream);

/**
 * Tells a stream's number, which no other stream of the process has.
 *
 * @param [in] stream of any context, or of none; NULL for the default stream of the thread's current context
 * @param [out] streamId the number
 * @retval 0 success
 * @retval 100000 streamId is NULL
 * @retval 107002 stream is NULL and the thread has no current context
 * @retval 107017 the stream is not live
 *
 * @pre `streamId` must be writable.
 */
ACL_FUNC_VISIBILITY aclError aclrtStreamGetId(aclrtStream stream, int32_t *streamId);

/**
 * Tells the priority that a stream was created with.
 *
 * @param [in] stream of any context; NULL for the default stream of the thread's current context
 * @param [out] priority 0 (highest) to 7
 * @retval 0 success
 * @retval 100000 priority is NULL
 * @retval 107002 the thread has no current context: call aclrtSetDevice in it
 * @retval 107017 the stream is not live
 *
 * @pre `priority` must be writable.
 */
ACL_FUNC_VISIBILITY aclError aclrtStreamGetPriority(aclrtStream stream, uint32_t *priority);

/**
 * Tells the flags that a stream was created with.
 *
 * @param [in] stream of any context; NULL for the default stream of the thread's current context
 * @param [out] flags ACL_STREAM_* bits
 * @retval 0 success
 * @retval 100000 flags is NULL
 * @retval 107002 the thread has no current context: call aclrtSetDevice in it
 * @retval 107017 the stream is not live
 *
 * @pre `flags` must be writable.
 */
ACL_FUNC_VISIBILITY aclError aclrtStreamGetFlags(aclrtStream stream, uint32_t *flags);

/**
 * Tells how many streams can still be created on the current context's device.
 *
 * @param [out] streamCount how many
 * @retval 0 success
 * @retval 100000 streamCount is NULL
 * @retval 107002 the thread has no current context: call aclrtSetDevice in it
 *
 * @pre `streamCount` must be writable.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetStreamAvailableNum(uint32_t *streamCount);

/**
 * Queues a call of a function on the stream's own thread.
 *
 * @param [in] stream NULL for the default stream of the thread's current context
 * @param [in] fn the function; it may launch work, but not wait for its stream
 * @param [in] args its argument, may be NULL
 * @retval 0 success
 * @retval 100000 fn is NULL
 * @retval 107002 the thread has no current context: call aclrtSetDevice in it
 * @retval 107003 the stream belongs to another context
 * @retval 107017 the stream is not live
 *
 * The function's thread has no current context of its own.
 *
 * @pre `fn` may be called once with `args` from another thread.
 */
ACL_FUNC_VISIBILITY aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc fn, void *args);

/**
 * Makes a thread serve a stream's callbacks: it has to call aclrtProcessReport again and again.
 *
 * @param [in] threadId pthread_self() of the thread, which may serve several streams
 * @param [in] stream of the thread's current context; NULL for its default stream
 * @retval 0 success
 * @retval 107002 the thread has no current context: call aclrtSetDevice in it
 * @retval 107003 the stream belongs to another context
 * @retval 107011 a thread serves the stream already
 * @retval 107017 the stream is not live
 */
ACL_FUNC_VISIBILITY aclError aclrtSubscribeReport(uint64_t threadId, aclrtStream stream);

/**
 * Ends what aclrtSubscribeReport began. Callbacks that were not called by then are dropped.
 *
 * @param [in] threadId as given to aclrtSubscribeReport
 * @param [in] stream as given to aclrtSubscribeReport
 * @retval 0 success
 * @retval 107002 the thread has no current context: call aclrtSetDevice in it
 * @retval 107003 the stream belongs to another context
 * @retval 107011 no thread serves the stream
 * @retval 107012 another thread serves the stream
 * @retval 107017 the stream is not live
 */
ACL_FUNC_VISIBILITY aclError aclrtUnSubscribeReport(uint64_t threadId, aclrtStream stream);

/**
 * Queues a call of a function on the thread that serves the stream's callbacks.
 *
 * @param [in] fn the function; it may launch work, but not wait for its stream
 * @param [in] userData its argument, may be NULL
 * @param [in] blockType ACL_CALLBACK_BLOCK: later work waits until the function has returned; ACL_CALLBACK_NO_BLOCK: it
 *             does not
 * @param [in] stream NULL for the default stream of the thread's current context
 * @retval 0 success
 * @retval 100000 fn is NULL, or blockType is another
 * @retval 107002 the thread has no current context: call aclrtSetDevice in it
 * @retval 107003 the stream belongs to another context
 * @retval 107015 no thread serves the stream: call aclrtSubscribeReport first
 * @retval 107017 the stream is not live
 *
 * With ACL_CALLBACK_BLOCK the stream goes no further until the thread that serves it has called aclrtProcessReport: if it never
 * does, whoever waits for the stream or destroys it waits for ever. aclrtUnSubscribeReport, aclrtStreamAbort and
 * aclrtDestroyStreamForce drop such a callback.
 *
 * @pre `fn` may be called once with `userData` from the thread that serves the stream.
 */
ACL_FUNC_VISIBILITY
aclError aclrtLaunchCallback(aclrtCallback fn,
                             void *userData,
                             aclrtCallbackBlockType blockType,
                             aclrtStream stream);

/**
 * Waits for a callback for the calling thread, and calls it.
 *
 * @param [in] timeout milliseconds, at least 1; -1 to wait for ever
 * @retval 0 a callback was called
 * @retval 107000 timeout is 0 or below -1
 * @retval 107012 the thread serves no stream (any more)
 * @retval 107019 no callback came in time
 */
ACL_FUNC_VISIBILITY aclError aclrtProcessReport(int32_t timeout);

/**
 * Creates an event: a point in a stream's work that others can wait for, with its time.
 *
 * @param [out] event the event; destroy it with aclrtDestroyEvent
 * @retval 0 success
 * @retval 100000 event is NULL
 * @retval 107002 the thread has no current context: call aclrtSetDevice in it
 * @retval 207007 the process has too many events
 *
 * @pre `event` must be writable.
 */
ACL_FUNC_VISIBILITY aclError aclrtCreateEvent(aclrtEvent *event);

/**
 * Creates an event for what its flags say.
 *
 * @param [out] event the event; destroy it with aclrtDestroyEvent
 * @param [in] flag ACL_EVENT_* bits, at least one: with ACL_EVENT_SYNC streams can wait for it and aclrtResetEvent takes
 *             it; with ACL_EVENT_TIME_LINE it takes its time
 * @retval 0 success
 * @retval 100000 event is NULL
 * @retval 107000 flag is 0 or has other bits
 * @retval 107002 the thread has no current context: call aclrtSetDevice in it
 * @retval 207007 the process has too many events
 *
 * @pre `event` must be writable.
 */
ACL_FUNC_VISIBILITY
aclError aclrtCreateEventWithFlag(aclrtEvent *event,
                                  uint32_t flag);

/**
 * Creates an event that may be recorded again and again without a reset. aclrtResetEvent, aclrtQueryEvent and
 * aclrtQueryEventWaitStatus don't take it.
 *
 * @param [out] event the event; destroy it with aclrtDestroyEvent
 * @param [in] flag ACL_EVENT_* bits, at least one: with ACL_EVENT_TIME_LINE it takes its time
 * @retval 0 success
 * @retval 100000 event is NULL
 * @retval 107000 flag is 0 or has other bits
 * @retval 107002 the thread has no current context: call aclrtSetDevice in it
 * @retval 207007 the process has too many events
 *
 * @pre `event` must be writable.
 */
ACL_FUNC_VISIBILITY aclError aclrtCreateEventExWithFlag(aclrtEvent *event, uint32_t flag);

/**
 * Destroys an event. One that is not reached yet is fine: who waits for it goes on waiting, and is let through.
 *
 * @param [in] event the event
 * @retval 0 success
 * @retval 100000 event is NULL
 * @retval 107017 the event is not live
 *
 * Any thread may call this, with or without a context.
 */
ACL_FUNC_VISIBILITY aclError aclrtDestroyEvent(aclrtEvent event);

/**
 * Makes an event stand for everything that is queued on a stream so far. The latest recording counts.
 *
 * @param [in] event of any context
 * @param [in] stream NULL for the default stream of the thread's current context
 * @retval 0 success
 * @retval 100000 event is NULL
 * @retval 107002 the thread has no current context: call aclrtSetDevice in it
 * @retval 107003 the stream belongs to another context
 * @retval 107017 the event or the stream is not live
 */
ACL_FUNC_VISIBILITY aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream);

/**
 * Makes an event as if never recorded, once the stream gets there. A recording that is made after this call stays.
 *
 * @param [in] event from aclrtCreateEventWithFlag with ACL_EVENT_SYNC
 * @param [in] stream NULL for the default stream of the thread's current context
 * @retval 0 success
 * @retval 100000 event is NULL
 * @retval 107000 the event is of another kind
 * @retval 107002 the thread has no current context: call aclrtSetDevice in it
 * @retval 107003 the stream belongs to another context
 * @retval 107017 the event or the stream is not live
 */
ACL_FUNC_VISIBILITY aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream);

/**
 * Tells whether an event was recorded and is reached.
 *
 * @param [in] event not from aclrtCreateEventExWithFlag
 * @param [out] status ACL_EVENT_STATUS_COMPLETE or ACL_EVENT_STATUS_NOT_READY
 * @retval 0 success
 * @retval 100000 event or status is NULL
 * @retval 107000 the event is from aclrtCreateEventExWithFlag
 * @retval 107017 the event is not live
 *
 * Any thread may call this, with or without a context.
 *
 * @pre `status` must be writable.
 */
ACL_FUNC_VISIBILITY aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus *status);

/**
 * Tells whether an event is reached. One that was never recorded is, if it is from aclrtCreateEventExWithFlag; others
 * are not.
 *
 * @param [in] event the event
 * @param [out] status ACL_EVENT_RECORDED_STATUS_COMPLETE or ACL_EVENT_RECORDED_STATUS_NOT_READY
 * @retval 0 success
 * @retval 100000 event or status is NULL
 * @retval 107017 the event is not live
 *
 * Any thread may call this, with or without a context.
 *
 * @pre `status` must be writable.
 */
ACL_FUNC_VISIBILITY aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus *status);

/**
 * Tells whether all streams that were to wait for an event have done so.
 *
 * @param [in] event not from aclrtCreateEventExWithFlag
 * @param [out] status ACL_EVENT_WAIT_STATUS_COMPLETE or ACL_EVENT_WAIT_STATUS_NOT_READY
 * @retval 0 success
 * @retval 100000 event or status is NULL
 * @retval 107000 the event is from aclrtCreateEventExWithFlag
 * @retval 107017 the event is not live
 *
 * Any thread may call this, with or without a context.
 *
 * @pre `status` must be writable.
 */
ACL_FUNC_VISIBILITY aclError aclrtQueryEventWaitStatus(aclrtEvent event, aclrtEventWaitStatus *status);

/**
 * Waits until an event is reached. One that was never recorded is not waited for.
 *
 * @param [in] event the event
 * @retval 0 success
 * @retval 100000 event is NULL
 * @retval 107017 the event is not live
 * @retval 107023 the stream that it is recorded on was aborted before it got there
 * @retval 507000 called from inside a callback of the stream that it is recorded on, which would wait for itself
 *
 * Any thread may call this, with or without a context.
 */
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeEvent(aclrtEvent event);

/**
 * Waits as aclrtSynchronizeEvent does, but not longer than a time.
 *
 * @param [in] event the event
 * @param [in] timeout milliseconds, at least 1; -1 to wait for ever
 * @retval 0 success
 * @retval 100000 event is NULL
 * @retval 107000 timeout is 0 or below -1
 * @retval 107017 the event is not live
 * @retval 107023 the stream that it is recorded on was aborted before it got there
 * @retval 507000 called from inside a callback of the stream that it is recorded on, which would wait for itself
 * @retval 507047 the time is over and the event is not reached
 *
 * Any thread may call this, with or without a context.
 */
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout);

/**
 * Makes later work of a stream wait for an event: for the recording that is the latest now.
 *
 * @param [in] stream NULL for the default stream of the thread's current context
 * @param [in] event of any context
 * @retval 0 success; nothing is waited for where an event from aclrtCreateEventExWithFlag was never recorded
 * @retval 100000 event is NULL
 * @retval 107000 the event was never recorded, or created with flags but without ACL_EVENT_SYNC
 * @retval 107002 the thread has no current context: call aclrtSetDevice in it
 * @retval 107003 the stream belongs to another context
 * @retval 107017 the event or the stream is not live
 */
ACL_FUNC_VISIBILITY aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event);

/**
 * Makes later work of a stream wait as aclrtStreamWaitEvent does, but not longer than a time. When it is over the stream
 * goes on, and its next synchronise returns 507047.
 *
 * @param [in] stream NULL for the default stream of the thread's current context
 * @param [in] event of any context
 * @param [in] timeout milliseconds, at least 1; -1 to wait for ever
 * @retval 0 success
 * @retval 100000 event is NULL
 * @retval 107000 timeout is 0 or below -1; the event was never recorded, or created with flags but without
 *         ACL_EVENT_SYNC
 * @retval 107002 the thread has no current context: call aclrtSetDevice in it
 * @retval 107003 the stream belongs to another context
 * @retval 107017 the event or the stream is not live
 */
ACL_FUNC_VISIBILITY
aclError aclrtStreamWaitEventWithTimeout(aclrtStream stream,
                                         aclrtEvent event,
                                         int32_t timeout);

/**
 * Tells the time between two events.
 *
 * @param [out] ms milliseconds
 * @param [in] startEvent the earlier one, recorded and reached
 * @param [in] endEvent the later one, recorded and reached
 * @retval 0 success
 * @retval 100000 ms, startEvent or endEvent is NULL
 * @retval 107006 an event takes no time: it was created with flags but without ACL_EVENT_TIME_LINE
 * @retval 107007 endEvent was reached before startEvent
 * @retval 107017 an event is not live
 * @retval 507000 an event was never recorded
 * @retval 507006 an event is recorded but not reached
 *
 * Any thread may call this, with or without a context.
 *
 * @pre `ms` must be writable.
 */
ACL_FUNC_VISIBILITY aclError aclrtEventElapsedTime(float *ms, aclrtEvent startEvent, aclrtEvent endEvent);

/**
 * Tells when an event was reached.
 *
 * @param [in] event recorded and reached
 * @param [out] timestamp microseconds since 1970, by a clock that never steps back
 * @retval 0 success
 * @retval 100000 event or timestamp is NULL
 * @retval 107006 the event takes no time: it was created with flags but without ACL_EVENT_TIME_LINE
 * @retval 107017 the event is not live
 * @retval 507000 the event was never recorded
 * @retval 507006 the event is recorded but not reached
 *
 * Any thread may call this, with or without a context.
 *
 * @pre `timestamp` must be writable.
 */
ACL_FUNC_VISIBILITY aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t *timestamp);

/**
 * Tells an event's number, which no other event of the process has.
 *
 * @param [in] event the event
 * @param [out] eventId the number
 * @retval 0 success
 * @retval 100000 event or eventId is NULL
 * @retval 107017 the event is not live
 *
 * Any thread may call this, with or without a context.
 *
 * @pre `eventId` must be writable.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetEventId(aclrtEvent event, uint32_t *eventId);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* ACL_ACL_RT_H */
