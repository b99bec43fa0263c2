/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * The operator: the gradient of adaptive layer-norm modulation.
 *
 * Generated from src/api (modulate_backward.rs):
 * edit the comments there, then run `make headers`.
 */

#ifndef ACLNNOP_ACLNN_MODULATE_BACKWARD_H
#define ACLNNOP_ACLNN_MODULATE_BACKWARD_H

#include "../aclnn/aclnn_base.h"
#include "aclnn_util.h"

#endif  /* ACLNNOP_ACLNN_MODULATE_BACKWARD_H */
