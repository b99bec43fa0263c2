/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * The opaque objects that an operator call is made of.
 * Written by hand; aclnn/acl_meta.h includes it, and adds the functions.
 */
#ifndef ACLNN_MODULATE_META_TYPES_H
#define ACLNN_MODULATE_META_TYPES_H

#include "../acl/acl_base.h"

/** A status of the aclnn functions and of those that make and destroy their arguments: 0 or a code of opdev/op_errno.h. */
typedef int32_t aclnnStatus;

#ifdef __cplusplus
/** The status of success. */
constexpr aclnnStatus OK = 0;
#else
/** The status of success. */
enum { OK = 0 };
#endif

/** A view of memory: type, shape, strides, offset, and the address of the first element of its storage. */
typedef struct aclTensor aclTensor;
/** One number with its type. */
typedef struct aclScalar aclScalar;
/** A list of 64-bit integers. */
typedef struct aclIntArray aclIntArray;
/** A list of floats. */
typedef struct aclFloatArray aclFloatArray;
/** A list of booleans. */
typedef struct aclBoolArray aclBoolArray;
/** A list of tensors; it owns them. */
typedef struct aclTensorList aclTensorList;
/** A list of scalars; it owns them. */
typedef struct aclScalarList aclScalarList;
/** A planned call of an operator: what phase one makes and phase two runs. */
typedef struct aclOpExecutor aclOpExecutor;

#endif
