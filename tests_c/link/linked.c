/* SPDX-License-Identifier: Apache-2.0 */
/* Uses a function of each of the vendor's libraries; linked in various ways (see CMakeLists.txt). */
#include "acl/acl.h"
#include "aclnnop/aclnn_modulate_backward.h"

int main(void)
{
    uint64_t size = 0;
    aclOpExecutor *executor = 0;
    aclrtStream stream = 0;
    const int64_t dims[3] = {1, 0, 4};
    if (aclInit(0) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS || aclrtCreateStream(&stream) != ACL_SUCCESS ||
        aclnnInit(0) != OK)
        return 1;
    aclTensor *tensor = aclCreateTensor(dims, 3, ACL_FLOAT, 0, 0, ACL_FORMAT_ND, dims, 3, 0);
    if (aclnnModulateBackwardGetWorkspaceSize(tensor, tensor, 0, 0, tensor, 0, 0, &size, &executor) != OK ||
        aclnnModulateBackward(0, size, executor, stream) != OK || aclrtSynchronizeStream(stream) != ACL_SUCCESS)
        return 2;
    if (aclDestroyTensor(tensor) != OK || aclrtDestroyStream(stream) != ACL_SUCCESS ||
        aclrtResetDevice(0) != ACL_SUCCESS || aclFinalize() != ACL_SUCCESS)
        return 3;
    return 0;
}
