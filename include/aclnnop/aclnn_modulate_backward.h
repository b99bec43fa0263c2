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

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Phase one of the gradient of y = x * scale + shift: checks the tensors and plans the call. No data is read or written.
 *
 * With B, L, D the dims of grad_output, phase two computes
 *   grad_input[b,l,d] = grad_output[b,l,d] * scale[b,d]        (a copy of grad_output without scale)
 *   grad_scale[b,d]   = sum over l of grad_output[b,l,d] * input[b,l,d]
 *   grad_shift[b,d]   = sum over l of grad_output[b,l,d]
 * The factor is scale itself, not 1 + scale: for the gradient of x * (1 + s) + t pass 1 + s.
 *
 * All tensors have one type, ACL_FLOAT, ACL_FLOAT16 or ACL_BF16, and the format ACL_FORMAT_ND. Any strides and offsets
 * are taken. Outputs may not share elements with each other or with what is read, except that grad_input may be exactly
 * the view of grad_output or of input, and grad_scale or grad_shift exactly the view of scale.
 *
 * @param [in] grad_output gradient of the loss with respect to y, [B, L, D]
 * @param [in] input x, [B, L, D]
 * @param [in] scale [B, D], or NULL
 * @param [in] shift [B, D], or NULL; its values are never read
 * @param [in] grad_input result, [B, L, D]
 * @param [in] grad_scale result, [B, D]; NULL where it is not wanted, must be NULL without scale
 * @param [in] grad_shift result, [B, D]; NULL where it is not wanted, must be NULL without shift
 * @param [out] workspaceSize bytes that phase two needs besides the tensors, often 0
 * @param [out] executor the planned call, for one phase two; it keeps what it needs, the tensors may be destroyed
 * @retval 0 success
 * @retval 161001 a required pointer is NULL
 * @retval 161002 a tensor is not what it must be; aclGetRecentErrMsg says which and why
 *
 * On failure workspaceSize and executor keep their values. Any thread may call this, with or without a device.
 *
 * @pre `workspaceSize` and `executor` must be writable.
 */
ACLNN_API
aclnnStatus aclnnModulateBackwardGetWorkspaceSize(const aclTensor *grad_output,
                                                  const aclTensor *input,
                                                  const aclTensor *scale,
                                                  const aclTensor *shift,
                                                  const aclTensor *grad_input,
                                                  const aclTensor *grad_scale,
                                                  const aclTensor *grad_shift,
                                                  uint64_t *workspaceSize,
                                                  aclOpExecutor **executor);

/**
 * Phase two: queues the planned call on a stream. aclrtSynchronizeStream waits for the results.
 *
 * The executor of one phase one serves one phase two, also one that fails; after aclSetAclOpExecutorRepeatable it serves
 * any number. Memory of tensors and workspace may be freed with aclrtFree as soon as this returns.
 *
 * @param [in] workspace memory of workspaceSize bytes that nothing else uses until the work is done; NULL with size 0
 * @param [in] workspaceSize at least what phase one asked for
 * @param [in] executor from phase one
 * @param [in] stream where to run; NULL for the default stream of the thread's current context
 * @retval 0 the work is queued, or done
 * @retval 161001 executor is NULL, or workspace is NULL while workspaceSize is not 0
 * @retval 161002 the workspace is too small or in the wrong place; a tensor's address is NULL or was freed
 * @retval 361001 the thread has no current context (call aclrtSetDevice in it), or the stream is not one of its own
 * @retval 561103 the executor is not live: used up, destroyed, or never made
 *
 * A failure while running comes back from the stream's next aclrtSynchronizeStream. Any thread may call this.
 *
 * @pre `workspace` and the data of the tensors must be readable and writable as the tensors describe them, until the work is
 * done.
 */
ACLNN_API
aclnnStatus aclnnModulateBackward(void *workspace,
                                  uint64_t workspaceSize,
                                  aclOpExecutor *executor,
                                  aclrtStream stream);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* ACLNNOP_ACLNN_MODULATE_BACKWARD_H */
