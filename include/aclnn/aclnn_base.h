/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * What every operator's header includes.
 *
 * Generated from src/api (init.rs):
 * edit the comments there, then run `make headers`.
 */

#ifndef ACLNN_ACLNN_BASE_H
#define ACLNN_ACLNN_BASE_H

#include "acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Initialises the operator library. There is nothing to do here: it may be called any number of times, or not at all.
 *
 * @param [in] configPath ignored, may be NULL
 * @retval 0 always
 */
ACL_FUNC_VISIBILITY aclnnStatus aclnnInit(const char *configPath);

/**
 * Ends the use of the operator library. There is nothing to do here: it may be called any number of times, or not at all.
 *
 * @retval 0 always
 */
ACL_FUNC_VISIBILITY
aclnnStatus aclnnFinalize(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* ACLNN_ACLNN_BASE_H */
