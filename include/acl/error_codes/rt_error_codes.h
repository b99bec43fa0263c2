/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * Status codes of the runtime functions that are not among the ACL_ERROR_* of acl/acl_base_rt.h.
 */
#ifndef ACL_ERROR_CODES_RT_ERROR_CODES_H
#define ACL_ERROR_CODES_RT_ERROR_CODES_H

#define ACL_RT_SUCCESS 0 /**< success */

#define ACL_ERROR_RT_PARAM_INVALID 107000 /**< an argument has no meaning here, or a range leaves its block */
#define ACL_ERROR_RT_INVALID_DEVICEID 107001 /**< there is no such device */
#define ACL_ERROR_RT_CONTEXT_NULL 107002 /**< the calling thread has no current context, or a dead one */
#define ACL_ERROR_RT_STREAM_CONTEXT 107003 /**< the stream belongs to another context */
#define ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID 107006 /**< the event takes no time stamps */
#define ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL 107007 /**< the end was recorded before the start */
#define ACL_ERROR_RT_ADDR_UNALIGNED 107008 /**< not returned by this library */
#define ACL_ERROR_RT_STREAM_SUBSCRIBE 107011 /**< a thread serves the stream's callbacks already, or none does */
#define ACL_ERROR_RT_THREAD_SUBSCRIBE 107012 /**< another thread serves the stream, or this one serves none */
#define ACL_ERROR_RT_STREAM_NO_CB_REG 107015 /**< no thread serves the stream's callbacks */
#define ACL_ERROR_RT_INVALID_MEMORY_TYPE 107016 /**< not returned by this library */
#define ACL_ERROR_RT_INVALID_HANDLE 107017 /**< a stream, context or event that was destroyed or never was */
#define ACL_ERROR_RT_INVALID_MALLOC_TYPE 107018 /**< not returned by this library */
#define ACL_ERROR_RT_WAIT_TIMEOUT 107019 /**< no callback came in time */
#define ACL_ERROR_RT_TASK_TIMEOUT 107020 /**< not returned by this library */
#define ACL_ERROR_RT_SYSPARAMOPT_NOT_SET 107021 /**< the system parameter was never set */
#define ACL_ERROR_RT_STREAM_ABORT 107023 /**< the stream was aborted while it was waited for */
#define ACL_ERROR_RT_FEATURE_NOT_SUPPORT 207000 /**< what the device could not do either */
#define ACL_ERROR_RT_MEMORY_ALLOCATION 207001 /**< there is not so much memory */
#define ACL_ERROR_RT_MEMORY_FREE 207002 /**< not returned by this library */
#define ACL_ERROR_RT_RESOURCE_ALLOC_FAIL 207005 /**< the system has no more threads */
#define ACL_ERROR_RT_NO_EVENT_RESOURCE 207007 /**< there are as many events as there can be */
#define ACL_ERROR_RT_NO_STREAM_RESOURCE 207008 /**< there are as many streams as there can be */
#define ACL_ERROR_RT_INTERNAL_ERROR 507000 /**< the call would wait for itself, or comes at the wrong time; or a defect */
#define ACL_ERROR_RT_STREAM_NOT_COMPLETE 507004 /**< not returned by this library */
#define ACL_ERROR_RT_EVENT_NOT_COMPLETE 507006 /**< the event has been recorded but not reached */
#define ACL_ERROR_RT_CONTEXT_RELEASE_ERROR 507007 /**< the device was reset more often than set */
#define ACL_ERROR_RT_AICORE_EXCEPTION 507015 /**< not returned by this library */
#define ACL_ERROR_RT_VECTOR_CORE_EXCEPTION 507035 /**< a task of the stream failed */
#define ACL_ERROR_RT_STREAM_SYNC_TIMEOUT 507046 /**< the stream's work was not done in time */
#define ACL_ERROR_RT_EVENT_SYNC_TIMEOUT 507047 /**< the event was not reached in time */

#endif
