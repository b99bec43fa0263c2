/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * Basic types and status codes, and the functions about them.
 *
 * Generated from src/api (base.rs):
 * edit the comments there, then run `make headers`.
 */

#ifndef ACL_ACL_BASE_RT_H
#define ACL_ACL_BASE_RT_H

#include "../aclnn_modulate/base_types.h"

#endif  /* ACL_ACL_BASE_RT_H */
