/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * The mark of an exported operator function.
 */
#ifndef ACLNNOP_ACLNN_UTIL_H
#define ACLNNOP_ACLNN_UTIL_H

#if defined(__GNUC__)
/** Marks a function of an operator. */
#define ACLNN_API __attribute__((visibility("default")))
#else
#define ACLNN_API
#endif

#endif
