/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * The name under which older call sites include the basic types.
 */
#ifndef ACL_ACL_BASE_H
#define ACL_ACL_BASE_H

#include "acl_base_rt.h"

#endif
