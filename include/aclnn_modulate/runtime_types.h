/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * Enumerations, flags and records of the runtime functions.
 * Written by hand; acl/acl_rt.h includes it, and adds the functions.
 */
#ifndef ACLNN_MODULATE_RUNTIME_TYPES_H
#define ACLNN_MODULATE_RUNTIME_TYPES_H

#include "../acl/acl_base_rt.h"

/* The version of the interface that these headers describe. */
#define ACL_MAJOR_VERSION 1 /**< grows with incompatible changes of the interface */
#define ACL_MINOR_VERSION 17 /**< grows with additions to the interface */
#define ACL_PATCH_VERSION 0 /**< grows with corrections of the interface */

/* Flags of aclrtCreateStreamWithConfig. */
#define ACL_STREAM_FAST_LAUNCH 1U /**< kept, without effect */
#define ACL_STREAM_FAST_SYNC 2U /**< kept, without effect */
#define ACL_STREAM_PERSISTENT 4U /**< kept, without effect */
#define ACL_STREAM_HUGE 8U /**< kept, without effect */
#define ACL_STREAM_CPU_SCHEDULE 16U /**< kept, without effect */
#define ACL_STREAM_DEVICE_USE_ONLY 32U /**< kept, without effect */

/* Failure modes of aclrtSetStreamFailureMode. */
#define ACL_CONTINUE_ON_FAILURE 0U /**< later tasks run */
#define ACL_STOP_ON_FAILURE 1U /**< later tasks are dropped until the failure was reported */

/* Flags of aclrtCreateEventWithFlag and aclrtCreateEventExWithFlag. */
#define ACL_EVENT_SYNC 1U /**< streams may wait for the event, and it may be reset */
#define ACL_EVENT_CAPTURE_STREAM_PROGRESS 2U /**< kept, without effect */
#define ACL_EVENT_TIME_LINE 8U /**< the event takes time stamps */
#define ACL_EVENT_DEVICE_USE_ONLY 16U /**< kept, without effect */
#define ACL_EVENT_EXTERNAL 32U /**< kept, without effect */
#define ACL_EVENT_IPC 64U /**< kept, without effect */

/** What kind of pages an allocation asks for. Every number is accepted. */
typedef enum aclrtMemMallocPolicy {
    ACL_MEM_MALLOC_HUGE_FIRST = 0,
    ACL_MEM_MALLOC_HUGE_ONLY = 1,
    ACL_MEM_MALLOC_NORMAL_ONLY = 2,
    ACL_MEM_MALLOC_HUGE_FIRST_P2P = 3,
    ACL_MEM_MALLOC_HUGE_ONLY_P2P = 4,
    ACL_MEM_MALLOC_NORMAL_ONLY_P2P = 5,
    ACL_MEM_MALLOC_HUGE1G_ONLY = 6,
    ACL_MEM_MALLOC_HUGE1G_ONLY_P2P = 7,
    ACL_MEM_TYPE_LOW_BAND_WIDTH = 256,
    ACL_MEM_TYPE_HIGH_BAND_WIDTH = 4096,
    ACL_MEM_ACCESS_USER_SPACE_READONLY = 1048576
} aclrtMemMallocPolicy;

/** From where to where a copy goes. */
typedef enum aclrtMemcpyKind {
    ACL_MEMCPY_HOST_TO_HOST = 0,
    ACL_MEMCPY_HOST_TO_DEVICE = 1,
    ACL_MEMCPY_DEVICE_TO_HOST = 2,
    ACL_MEMCPY_DEVICE_TO_DEVICE = 3,
    ACL_MEMCPY_DEFAULT = 4,
    ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE = 5,
    ACL_MEMCPY_INNER_DEVICE_TO_DEVICE = 6,
    ACL_MEMCPY_INTER_DEVICE_TO_DEVICE = 7
} aclrtMemcpyKind;

/** On which side the calling program runs. */
typedef enum aclrtRunMode {
    ACL_DEVICE = 0,
    ACL_HOST = 1
} aclrtRunMode;

/** Which memory aclrtGetMemInfo is asked about. */
typedef enum aclrtMemAttr {
    ACL_DDR_MEM = 0,
    ACL_HBM_MEM = 1,
    ACL_DDR_MEM_HUGE = 2,
    ACL_DDR_MEM_NORMAL = 3,
    ACL_HBM_MEM_HUGE = 4,
    ACL_HBM_MEM_NORMAL = 5,
    ACL_DDR_MEM_P2P_HUGE = 6,
    ACL_DDR_MEM_P2P_NORMAL = 7,
    ACL_HBM_MEM_P2P_HUGE = 8,
    ACL_HBM_MEM_P2P_NORMAL = 9,
    ACL_HBM_MEM_HUGE1G = 10,
    ACL_HBM_MEM_P2P_HUGE1G = 11,
    ACL_MEM_NORMAL = 12,
    ACL_MEM_HUGE = 13,
    ACL_MEM_HUGE1G = 14,
    ACL_MEM_P2P_NORMAL = 15,
    ACL_MEM_P2P_HUGE = 16,
    ACL_MEM_P2P_HUGE1G = 17
} aclrtMemAttr;

/** Whether a stream's queue is empty. */
typedef enum aclrtStreamStatus {
    ACL_STREAM_STATUS_COMPLETE = 0,
    ACL_STREAM_STATUS_NOT_READY = 1,
    ACL_STREAM_STATUS_RESERVED = 65535
} aclrtStreamStatus;

/** What aclrtQueryEvent found. */
typedef enum aclrtEventStatus {
    ACL_EVENT_STATUS_COMPLETE = 0,
    ACL_EVENT_STATUS_NOT_READY = 1,
    ACL_EVENT_STATUS_RESERVED = 2
} aclrtEventStatus;

/** What aclrtQueryEventStatus found. */
typedef enum aclrtEventRecordedStatus {
    ACL_EVENT_RECORDED_STATUS_NOT_READY = 0,
    ACL_EVENT_RECORDED_STATUS_COMPLETE = 1
} aclrtEventRecordedStatus;

/** What aclrtQueryEventWaitStatus found. */
typedef enum aclrtEventWaitStatus {
    ACL_EVENT_WAIT_STATUS_COMPLETE = 0,
    ACL_EVENT_WAIT_STATUS_NOT_READY = 1,
    ACL_EVENT_WAIT_STATUS_RESERVED = 65535
} aclrtEventWaitStatus;

/** Whether a stream waits for a callback before it goes on. */
typedef enum aclrtCallbackBlockType {
    ACL_CALLBACK_NO_BLOCK = 0,
    ACL_CALLBACK_BLOCK = 1
} aclrtCallbackBlockType;

/** Whose last error is meant. */
typedef enum aclrtLastErrLevel {
    ACL_RT_THREAD_LEVEL = 0
} aclrtLastErrLevel;

/** What kind of fault a device had. */
typedef enum aclrtErrorType {
    ACL_RT_NO_ERROR = 0,
    ACL_RT_ERROR_MEMORY = 1,
    ACL_RT_ERROR_L2 = 2,
    ACL_RT_ERROR_AICORE = 3,
    ACL_RT_ERROR_LINK = 4,
    ACL_RT_ERROR_L3_PORT = 5,
    ACL_RT_ERROR_OTHERS = 65535
} aclrtErrorType;

/** What kind of fault a core had. */
typedef enum aclrtAicoreErrorType {
    ACL_RT_AICORE_ERROR_UNKNOWN = 0,
    ACL_RT_AICORE_ERROR_SW = 1,
    ACL_RT_AICORE_ERROR_HW_LOCAL = 2
} aclrtAicoreErrorType;

/** To which side an address belongs. */
typedef enum aclrtMemLocationType {
    ACL_MEM_LOCATION_TYPE_HOST = 0,
    ACL_MEM_LOCATION_TYPE_DEVICE = 1,
    ACL_MEM_LOCATION_TYPE_UNREGISTERED = 2,
    ACL_MEM_LOCATION_TYPE_MANAGED = 3,
    ACL_MEM_LOCATION_TYPE_HOST_NUMA = 4
} aclrtMemLocationType;

/** The health of a device. */
typedef enum aclrtDeviceStatus {
    ACL_RT_DEVICE_STATUS_NORMAL = 0,
    ACL_RT_DEVICE_STATUS_ABNORMAL = 1,
    ACL_RT_DEVICE_STATUS_END = 65535
} aclrtDeviceStatus;

/** Where a piece of memory lives. */
typedef struct aclrtMemLocation {
    uint32_t id; /**< number of the device, where there is one */
    aclrtMemLocationType type; /**< which side */
} aclrtMemLocation;

/** What aclrtPointerGetAttributes tells about an address. */
typedef struct aclrtPtrAttributes {
    aclrtMemLocation location; /**< where it lives */
    uint32_t pageSize;         /**< bytes in one of its pages */
    uint32_t rsv[4];           /**< 0 */
} aclrtPtrAttributes;

/** One range of faulty memory. */
typedef struct aclrtMemUceInfo {
    void *addr;          /**< its start */
    size_t len;          /**< its bytes */
    size_t reserved[14]; /**< 0 */
} aclrtMemUceInfo;

/** The ranges of faulty memory of a device: the first arraySize entries are meant. */
typedef struct aclrtMemUceInfoArray {
    size_t arraySize;                    /**< how many entries count */
    aclrtMemUceInfo memUceInfoArray[20]; /**< the ranges */
} aclrtMemUceInfoArray;

/** The details of a fault, by its kind. */
typedef union aclrtErrorInfoDetail {
    aclrtMemUceInfoArray uceInfo;       /**< of ACL_RT_ERROR_MEMORY */
    aclrtAicoreErrorType aicoreErrType; /**< of ACL_RT_ERROR_AICORE */
} aclrtErrorInfoDetail;

/** What aclrtGetErrorVerbose tells about a device. */
typedef struct aclrtErrorInfo {
    uint8_t tryRepair;           /**< whether a repair can be tried */
    uint8_t hasDetail;           /**< whether detail is filled in */
    uint8_t reserved[2];         /**< 0 */
    aclrtErrorType errorType;    /**< the kind of the fault */
    aclrtErrorInfoDetail detail; /**< more about it */
} aclrtErrorInfo;

/** A function that aclrtLaunchCallback runs on the thread that serves the stream's callbacks. */
typedef void (*aclrtCallback)(void *userData);

/** A function that aclrtLaunchHostFunc runs in stream order. */
typedef void (*aclrtHostFunc)(void *args);

#endif
