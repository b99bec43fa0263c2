/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One call of aclnnModulateBackward from C, with as little around it as possible. call.cpp is the same for C++, and
 * explains the formula. Build it with
 *
 *     cc -std=c99 call.c -I$PREFIX/include -L$PREFIX/lib64 -lascendcl -lnnopbase -lopapi_nn
 *
 * Here the tensors lie in the program's own memory, which this library allows and an NPU does not; and shift is left out,
 * so there is no grad_shift either.
 */
#include <stdint.h>
#include <stdio.h>

#include "acl/acl.h"
#include "aclnnop/aclnn_modulate_backward.h"

enum { BATCH = 2, SEQUENCE = 3, HIDDEN = 4 };

/* Without strides a view is row-major; without an offset it begins where its memory does. */
static aclTensor *describe(const int64_t *shape, uint64_t rank, float *memory)
{
    return aclCreateTensor(shape, rank, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, shape, rank, memory);
}

/* Prints what went wrong, if anything did; the text is of this thread's last failed calls. */
static int failed(const char *what, int status)
{
    const char *text;
    if (status == 0)
        return 0;
    text = aclGetRecentErrMsg();
    fprintf(stderr, "%s gave %d\n%s\n", what, status, text ? text : "");
    return 1;
}

int main(void)
{
    static float grad_output[BATCH * SEQUENCE * HIDDEN], input[BATCH * SEQUENCE * HIDDEN], scale[BATCH * HIDDEN];
    static float grad_input[BATCH * SEQUENCE * HIDDEN], grad_scale[BATCH * HIDDEN];
    const int64_t big[3] = {BATCH, SEQUENCE, HIDDEN}, small[2] = {BATCH, HIDDEN};
    void *workspace = NULL;
    uint64_t workspace_size = 0;
    aclOpExecutor *executor = NULL;
    aclTensor *tensor[5];
    int k, bad;

    for (k = 0; k < BATCH * SEQUENCE * HIDDEN; k++)
        grad_output[k] = input[k] = 2;
    for (k = 0; k < BATCH * HIDDEN; k++)
        scale[k] = 2;

    bad = failed("aclInit", aclInit(NULL)) || failed("aclrtSetDevice", aclrtSetDevice(0));
    if (bad)
        return 1;

    tensor[0] = describe(big, 3, grad_output);
    tensor[1] = describe(big, 3, input);
    tensor[2] = describe(small, 2, scale);
    tensor[3] = describe(big, 3, grad_input);
    tensor[4] = describe(small, 2, grad_scale);

    /* Phase one: check and plan. An optional argument that is left out is NULL. */
    bad = failed("phase one",
                 aclnnModulateBackwardGetWorkspaceSize(tensor[0], tensor[1], tensor[2], NULL, tensor[3], tensor[4], NULL,
                                                       &workspace_size, &executor));
    if (!bad && workspace_size > 0)
        bad = failed("aclrtMalloc", aclrtMalloc(&workspace, workspace_size, ACL_MEM_MALLOC_HUGE_FIRST));

    /* Phase two: queue it; here on the default stream, which is NULL. Then wait. */
    bad = bad || failed("phase two", aclnnModulateBackward(workspace, workspace_size, executor, NULL)) ||
          failed("aclrtSynchronizeStream", aclrtSynchronizeStream(NULL));

    if (!bad)
        printf("grad_input %g, grad_scale %g\n", grad_input[0], grad_scale[0]); /* 4 and 12 */

    for (k = 0; k < 5; k++)
        aclDestroyTensor(tensor[k]);
    if (workspace)
        aclrtFree(workspace);
    aclrtResetDevice(0);
    aclFinalize();
    return bad;
}
