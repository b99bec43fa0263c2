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

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Tells the size of an element.
 *
 * @param [in] dataType an aclDataType
 * @return bytes; 1 for the integers that are smaller than a byte, 8 for the fp6 and fp4 types; 0 for ACL_STRING,
 *         ACL_DT_UNDEFINED and numbers that no type has
 */
ACL_FUNC_VISIBILITY size_t aclDataTypeSize(aclDataType dataType);

/**
 * Converts to half precision, rounding to nearest, ties to even. It saturates: what is too large, infinity and NaN become
 * the largest number, 65504 (negative for negative numbers, but not for NaN).
 *
 * @param [in] value any value
 * @return the bits
 */
ACL_FUNC_VISIBILITY
aclFloat16 aclFloatToFloat16(float value);

/**
 * Converts from half precision. The bits of infinity and NaN are read as numbers: 65536 and beyond.
 *
 * @param [in] value bits of a half-precision number
 * @return its value
 */
ACL_FUNC_VISIBILITY float aclFloat16ToFloat(aclFloat16 value);

/**
 * Tells the name of the device that this library stands in for: call sites choose code paths by it.
 *
 * @return "Ascend910B1", or what the environment variable ACLCPU_SOC_NAME says. It lives as long as the process
 */
ACL_FUNC_VISIBILITY const char *aclrtGetSocName(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* ACL_ACL_BASE_RT_H */
