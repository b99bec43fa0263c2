/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * What the functions of this library take and return: handles, numbers, status codes, the log macro.
 * Written by hand; acl/acl_base_rt.h includes it, and adds the functions.
 */
#ifndef ACLNN_MODULATE_BASE_TYPES_H
#define ACLNN_MODULATE_BASE_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../acl/error_codes/rt_error_codes.h"

#if defined(__GNUC__)
/** Marks a function of the library. */
#define ACL_FUNC_VISIBILITY __attribute__((visibility("default")))
/** Marks what new code should not use. */
#define ACL_DEPRECATED __attribute__((deprecated))
/** The same, with the reason. */
#define ACL_DEPRECATED_MESSAGE(message) __attribute__((deprecated(message)))
#else
#define ACL_FUNC_VISIBILITY
#define ACL_DEPRECATED
#define ACL_DEPRECATED_MESSAGE(message)
#endif

/** A status of the acl* functions: ACL_SUCCESS, or one of the codes below or in acl/error_codes/rt_error_codes.h. */
typedef int aclError;

/** The bits of an IEEE binary16 number. */
typedef uint16_t aclFloat16;

/*
 * Handles are opaque values, never addresses: a dead or foreign one is recognised and refused.
 */
/** A queue of work that runs in order; NULL stands for the current context's default stream. */
typedef void *aclrtStream;
/** A set of streams and events on one device; each thread has at most one current context. */
typedef void *aclrtContext;
/** A point in a stream's work. */
typedef void *aclrtEvent;
/** Declared for call sites that name the type; no function here takes one. */
typedef void *aclrtNotify;

/*
 * A named integer. In C++ a typed constant; in C an enumerator, because a C `const int` is no constant expression and
 * could stand neither in a `case` label nor in an array bound. Either way it obeys scope, which a macro would not.
 */
#ifdef __cplusplus
#define ACLNN_MODULATE_CONSTANT(name, value) static const int name = value
#else
#define ACLNN_MODULATE_CONSTANT(name, value) enum { name = value }
#endif

ACLNN_MODULATE_CONSTANT(ACL_SUCCESS, 0); /**< success */
ACLNN_MODULATE_CONSTANT(ACL_ERROR_NONE, 0); /**< success */
ACLNN_MODULATE_CONSTANT(ACL_ERROR_INVALID_PARAM, 100000); /**< an argument is NULL, 0 or unknown where it must not be */
ACLNN_MODULATE_CONSTANT(ACL_ERROR_UNINITIALIZE, 100001); /**< not returned by this library */
ACLNN_MODULATE_CONSTANT(ACL_ERROR_REPEAT_INITIALIZE, 100002); /**< aclInit was called before */
ACLNN_MODULATE_CONSTANT(ACL_ERROR_INVALID_FILE, 100003); /**< the file can't be read */
ACLNN_MODULATE_CONSTANT(ACL_ERROR_WRITE_FILE, 100004); /**< not returned by this library */
ACLNN_MODULATE_CONSTANT(ACL_ERROR_INVALID_FILE_SIZE, 100005); /**< not returned by this library */
ACLNN_MODULATE_CONSTANT(ACL_ERROR_PARSE_FILE, 100006); /**< the file is not JSON */
ACLNN_MODULATE_CONSTANT(ACL_ERROR_INVALID_DUMP_CONFIG, 100009); /**< the dump's path or mode is not usable */
ACLNN_MODULATE_CONSTANT(ACL_ERROR_UNSUPPORTED_DATA_TYPE, 100026); /**< not returned by this library */
ACLNN_MODULATE_CONSTANT(ACL_ERROR_FORMAT_NOT_MATCH, 100027); /**< not returned by this library */
ACLNN_MODULATE_CONSTANT(ACL_ERROR_REPEAT_SUBSCRIBE, 100033); /**< not returned by this library */
ACLNN_MODULATE_CONSTANT(ACL_ERROR_STREAM_NOT_SUBSCRIBE, 100034); /**< not returned by this library */
ACLNN_MODULATE_CONSTANT(ACL_ERROR_THREAD_NOT_SUBSCRIBE, 100035); /**< not returned by this library */
ACLNN_MODULATE_CONSTANT(ACL_ERROR_WAIT_CALLBACK_TIMEOUT, 100036); /**< not returned by this library */
ACLNN_MODULATE_CONSTANT(ACL_ERROR_REPEAT_FINALIZE, 100037); /**< aclFinalize was called before */
ACLNN_MODULATE_CONSTANT(ACL_ERROR_BAD_ALLOC, 200000); /**< not returned by this library */
ACLNN_MODULATE_CONSTANT(ACL_ERROR_API_NOT_SUPPORT, 200001); /**< not returned by this library */
ACLNN_MODULATE_CONSTANT(ACL_ERROR_INVALID_DEVICE, 200002); /**< not returned by this library */
ACLNN_MODULATE_CONSTANT(ACL_ERROR_MEMORY_ADDRESS_UNALIGNED, 200003); /**< not returned by this library */
ACLNN_MODULATE_CONSTANT(ACL_ERROR_RESOURCE_NOT_MATCH, 200004); /**< not returned by this library */
ACLNN_MODULATE_CONSTANT(ACL_ERROR_INVALID_RESOURCE_HANDLE, 200005); /**< not returned by this library */
ACLNN_MODULATE_CONSTANT(ACL_ERROR_FEATURE_UNSUPPORTED, 200006); /**< not returned by this library */
ACLNN_MODULATE_CONSTANT(ACL_ERROR_STORAGE_OVER_LIMIT, 300000); /**< not returned by this library */
ACLNN_MODULATE_CONSTANT(ACL_ERROR_INTERNAL_ERROR, 500000); /**< not returned by this library */
ACLNN_MODULATE_CONSTANT(ACL_ERROR_FAILURE, 500001); /**< not returned by this library */
ACLNN_MODULATE_CONSTANT(ACL_ERROR_RT_FAILURE, 500003); /**< not returned by this library */

/** The type of a tensor's elements. The operator takes ACL_FLOAT, ACL_FLOAT16 and ACL_BF16. */
typedef enum aclDataType {
    ACL_DT_UNDEFINED = -1,
    ACL_FLOAT = 0,
    ACL_FLOAT16 = 1,
    ACL_INT8 = 2,
    ACL_INT32 = 3,
    ACL_UINT8 = 4,
    ACL_INT16 = 6,
    ACL_UINT16 = 7,
    ACL_UINT32 = 8,
    ACL_INT64 = 9,
    ACL_UINT64 = 10,
    ACL_DOUBLE = 11,
    ACL_BOOL = 12,
    ACL_STRING = 13,
    ACL_COMPLEX64 = 16,
    ACL_COMPLEX128 = 17,
    ACL_BF16 = 27,
    ACL_INT4 = 29,
    ACL_UINT1 = 30,
    ACL_COMPLEX32 = 33,
    ACL_HIFLOAT8 = 34,
    ACL_FLOAT8_E5M2 = 35,
    ACL_FLOAT8_E4M3FN = 36,
    ACL_FLOAT8_E8M0 = 37,
    ACL_FLOAT6_E3M2 = 38,
    ACL_FLOAT6_E2M3 = 39,
    ACL_FLOAT4_E2M1 = 40,
    ACL_FLOAT4_E1M2 = 41
} aclDataType;

/** How the dimensions of a tensor are to be read. The operator takes ACL_FORMAT_ND. */
typedef enum aclFormat {
    ACL_FORMAT_UNDEFINED = -1,
    ACL_FORMAT_NCHW = 0,
    ACL_FORMAT_NHWC = 1,
    ACL_FORMAT_ND = 2,
    ACL_FORMAT_NC1HWC0 = 3,
    ACL_FORMAT_FRACTAL_Z = 4,
    ACL_FORMAT_NC1HWC0_C04 = 12,
    ACL_FORMAT_HWCN = 16,
    ACL_FORMAT_NDHWC = 27,
    ACL_FORMAT_FRACTAL_NZ = 29,
    ACL_FORMAT_NCDHW = 30,
    ACL_FORMAT_NDC1HWC0 = 32,
    ACL_FRACTAL_Z_3D = 33,
    ACL_FORMAT_NC = 35,
    ACL_FORMAT_NCL = 47,
    ACL_FORMAT_FRACTAL_NZ_C0_16 = 50,
    ACL_FORMAT_FRACTAL_NZ_C0_32 = 51,
    ACL_FORMAT_FRACTAL_NZ_C0_2 = 52,
    ACL_FORMAT_FRACTAL_NZ_C0_4 = 53,
    ACL_FORMAT_FRACTAL_NZ_C0_8 = 54
} aclFormat;

/** How much a log line matters. */
typedef enum aclLogLevel {
    ACL_DEBUG = 0,
    ACL_INFO = 1,
    ACL_WARNING = 2,
    ACL_ERROR = 3
} aclLogLevel;

/** A system parameter: process-wide, or of one context. */
typedef enum aclSysParamOpt {
    ACL_OPT_DETERMINISTIC = 0,
    ACL_OPT_ENABLE_DEBUG_KERNEL = 1,
    ACL_OPT_STRONG_CONSISTENCY = 2,
    ACL_OPT_ENABLE_KERNEL_EARLY_START = 3
} aclSysParamOpt;

/** Where memory lives. */
typedef enum aclMemType {
    ACL_MEMTYPE_DEVICE = 0,
    ACL_MEMTYPE_HOST = 1,
    ACL_MEMTYPE_HOST_COMPILE_INDEPENDENT = 2
} aclMemType;

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Writes one line to this library's log, if the level set by ASCEND_GLOBAL_LOG_LEVEL lets it through.
 *
 * By hand because a function with a variable number of arguments can't be declared from the Rust sources.
 *
 * @param [in] logLevel how much the line matters.
 * @param [in] func name of the calling function, may be NULL.
 * @param [in] file name of the source file, may be NULL.
 * @param [in] line line in that file.
 * @param [in] fmt format as for printf, then its arguments; NULL writes nothing.
 *
 * May be called from any thread at any time, before aclInit too.
 */
ACL_FUNC_VISIBILITY void aclAppLog(aclLogLevel logLevel, const char *func, const char *file, uint32_t line,
                                   const char *fmt, ...);

#ifdef __cplusplus
}
#endif

/** aclAppLog for the place where it stands: ACL_APP_LOG(level, fmt, ...). The format is the first of the variable
 *  arguments, so that a line without further arguments is standard C too. */
#define ACL_APP_LOG(level, ...) aclAppLog((level), __func__, __FILE__, (uint32_t)__LINE__, __VA_ARGS__)

#endif
