/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * Everything of the runtime in one include.
 */
#ifndef ACL_ACL_H
#define ACL_ACL_H

#include "acl_rt.h"

#endif
