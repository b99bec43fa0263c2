/* SPDX-License-Identifier: Apache-2.0
 *
 * One call of the operator as a C program makes it, so that Python's way through three foreign functions does not count.
 */
#include <acl/acl.h>
#include <aclnnop/aclnn_modulate_backward.h>
#include <stdint.h>

/* Both phases and the wait; tensors in the order of phase one's arguments. The first status that is not ACL_SUCCESS. */
int32_t ours(aclTensor *const tensors[7], void *workspace, uint64_t capacity)
{
    uint64_t size = 0;
    aclOpExecutor *executor = NULL;
    aclnnStatus status = aclnnModulateBackwardGetWorkspaceSize(tensors[0], tensors[1], tensors[2], tensors[3], tensors[4],
                                                               tensors[5], tensors[6], &size, &executor);
    if (status != ACL_SUCCESS)
        return status;
    if (size > capacity)
        return ACL_ERROR_INVALID_PARAM;
    status = aclnnModulateBackward(size > 0 ? workspace : NULL, size, executor, NULL);
    return status != ACL_SUCCESS ? status : aclrtSynchronizeStream(NULL);
}
