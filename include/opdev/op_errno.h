/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * Status codes of the aclnn functions, for call sites that want names for them. No other header here includes this one,
 * because many call sites define the same names themselves.
 */
#ifndef OPDEV_OP_ERRNO_H
#define OPDEV_OP_ERRNO_H

#define ACLNN_SUCCESS 0 /**< success */
#define ACLNN_ERR_PARAM_NULLPTR 161001 /**< a required pointer is NULL */
#define ACLNN_ERR_PARAM_INVALID 161002 /**< a tensor, or another argument, is not what it must be */
#define ACLNN_ERR_RUNTIME_ERROR 361001 /**< no context in this thread, or a stream that it can't use */
#define ACLNN_ERR_INNER 561000 /**< a defect of this library */
#define ACLNN_ERR_INNER_INFERSHAPE_ERROR 561001 /**< not returned by this library */
#define ACLNN_ERR_INNER_TILING_ERROR 561002 /**< not returned by this library */
#define ACLNN_ERR_INNER_FIND_KERNEL_ERROR 561003 /**< not returned by this library */
#define ACLNN_ERR_INNER_CREATE_EXECUTOR 561101 /**< not returned by this library */
#define ACLNN_ERR_INNER_NOT_TRANS_EXECUTOR 561102 /**< not returned by this library */
#define ACLNN_ERR_INNER_NULLPTR 561103 /**< the executor is NULL, used up or destroyed */
#define ACLNN_ERR_INNER_WRONG_ATTR_INFO_SIZE 561104 /**< not returned by this library */
#define ACLNN_ERR_INNER_KEY_CONFLICT 561105 /**< not returned by this library */
#define ACLNN_ERR_INNER_KEY_CONFILICT 561105 /**< the same, as it is misspelt in older call sites */
#define ACLNN_ERR_INNER_INVALID_IMPL_MODE 561106 /**< not returned by this library */
#define ACLNN_ERR_INNER_OPP_PATH_NOT_FOUND 561107 /**< not returned by this library */
#define ACLNN_ERR_INNER_LOAD_JSON_FAILED 561108 /**< not returned by this library */
#define ACLNN_ERR_INNER_JSON_VALUE_NOT_FOUND 561109 /**< not returned by this library */
#define ACLNN_ERR_INNER_JSON_FORMAT_INVALID 561110 /**< not returned by this library */
#define ACLNN_ERR_INNER_JSON_DTYPE_INVALID 561111 /**< not returned by this library */
#define ACLNN_ERR_INNER_OPP_KERNEL_PKG_NOT_FOUND 561112 /**< not returned by this library */
#define ACLNN_ERR_INNER_OP_FILE_INVALID 561113 /**< not returned by this library */
#define ACLNN_ERR_INNER_ATTR_NUM_OUT_OF_BOUND 561114 /**< not returned by this library */
#define ACLNN_ERR_INNER_ATTR_LEN_NOT_ENOUGH 561115 /**< not returned by this library */
#define ACLNN_ERR_INNER_INPUT_NUM_IN_JSON_TOO_LARGE 561116 /**< not returned by this library */
#define ACLNN_ERR_INNER_INPUT_JSON_IS_NULL 561117 /**< not returned by this library */
#define ACLNN_ERR_INNER_STATIC_WORKSPACE_INVALID 561118 /**< not returned by this library */
#define ACLNN_ERR_INNER_STATIC_BLOCK_DIM_INVALID 561119 /**< not returned by this library */

#endif
