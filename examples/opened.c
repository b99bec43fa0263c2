/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Without linking: the library is opened when the program runs, and the functions are found by name. The headers serve for
 * the types. Give the directory that holds the library, or have LD_LIBRARY_PATH lead there.
 *
 *     cc opened.c -I$PREFIX/include -ldl
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "acl/acl.h"
#include "aclnnop/aclnn_modulate_backward.h"

static void *library;

/* C has no cast from an object's address to a function's, so the bits are copied. */
static int find(const char *name, void *function)
{
    void *const symbol = dlsym(library, name);
    if (!symbol)
        fprintf(stderr, "%s\n", dlerror());
    memcpy(function, &symbol, sizeof(symbol));
    return symbol != NULL;
}

int main(int argc, char **argv)
{
    char path[4096];
    aclError (*set_device)(int32_t);
    aclError (*synchronize)(aclrtStream);
    aclTensor *(*create)(const int64_t *, uint64_t, aclDataType, const int64_t *, int64_t, aclFormat, const int64_t *,
                         uint64_t, void *);
    aclnnStatus (*destroy)(const aclTensor *);
    aclnnStatus (*plan)(const aclTensor *, const aclTensor *, const aclTensor *, const aclTensor *, const aclTensor *,
                        const aclTensor *, const aclTensor *, uint64_t *, aclOpExecutor **);
    aclnnStatus (*run)(void *, uint64_t, aclOpExecutor *, aclrtStream);
    float g[2] = {10, 20}, x[2] = {10, 20}, scale[2] = {20, 30}, grad_input[2] = {0, 0}, grad_scale[2] = {0, 0};
    const int64_t big[3] = {2, 1, 1}, small[2] = {2, 1};
    aclTensor *t[5];
    uint64_t size = 0;
    aclOpExecutor *executor = NULL;
    int k;

    snprintf(path, sizeof(path), "%s%slibopapi_nn.so", argc > 1 ? argv[1] : "", argc > 1 ? "/" : "");
    library = dlopen(path, RTLD_NOW);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    if (!find("aclrtSetDevice", &set_device) || !find("aclrtSynchronizeStream", &synchronize) ||
        !find("aclCreateTensor", &create) || !find("aclDestroyTensor", &destroy) ||
        !find("aclnnModulateBackwardGetWorkspaceSize", &plan) || !find("aclnnModulateBackward", &run))
        return 1;

    t[0] = create(big, 3, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, big, 3, g);
    t[1] = create(big, 3, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, big, 3, x);
    t[2] = create(small, 2, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, small, 2, scale);
    t[3] = create(big, 3, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, big, 3, grad_input);
    t[4] = create(small, 2, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, small, 2, grad_scale);
    /* So few elements never need a workspace. */
    if (set_device(0) != 0 || plan(t[0], t[1], t[2], NULL, t[3], t[4], NULL, &size, &executor) != 0 || size != 0 ||
        run(NULL, 0, executor, NULL) != 0 || synchronize(NULL) != 0) {
        fprintf(stderr, "a call failed\n");
        return 1;
    }
    for (k = 0; k < 5; k++)
        destroy(t[k]);
    printf("grad_input %g %g, grad_scale %g %g\n", grad_input[0], grad_input[1], grad_scale[0], grad_scale[1]);
    return !(grad_input[0] == 200 && grad_input[1] == 600 && grad_scale[0] == 100 && grad_scale[1] == 400);
}
