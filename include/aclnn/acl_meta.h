/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * Tensors, scalars, arrays, lists and executors: what an operator call is made of.
 *
 * Generated from src/api (tensor.rs, scalar.rs, list.rs, executor.rs):
 * edit the comments there, then run `make headers`.
 */

#ifndef ACLNN_ACL_META_H
#define ACLNN_ACL_META_H

#include "../aclnn_modulate/meta_types.h"

#endif  /* ACLNN_ACL_META_H */
