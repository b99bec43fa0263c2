/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * The runtime: initialisation, devices, contexts, memory, streams, events, callbacks, errors.
 *
 * Generated from src/api (runtime.rs, memory.rs, stream.rs, event.rs):
 * edit the comments there, then run `make headers`.
 */

#ifndef ACL_ACL_RT_H
#define ACL_ACL_RT_H

#include "acl_base_rt.h"
#include "../aclnn_modulate/runtime_types.h"

#endif  /* ACL_ACL_RT_H */
