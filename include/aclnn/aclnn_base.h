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

#endif  /* ACLNN_ACLNN_BASE_H */
