/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that links nothing of ours: it opens the library under every name it is known by, finds the functions by
 * name, and mixes them. All names must lead to one library with one state.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "acl/acl.h"
#include "aclnnop/aclnn_modulate_backward.h"

enum { NAMES = 7 };

static void *library[NAMES];
static int failures;

/* A function of a library as a pointer of the type that the caller wants. */
static void find(void *from, const char *name, void *pointer)
{
    void *const symbol = dlsym(from, name);
    if (!symbol) {
        fprintf(stderr, "no %s: %s\n", name, dlerror());
        failures++;
    }
    memcpy(pointer, &symbol, sizeof(symbol));
}

int main(int argc, char **argv)
{
    static const char *const names[NAMES] = {"libopapi_nn.so", "libacl_rt.so",     "libascendcl.so",       "libnnopbase.so",
                                             "libopapi.so",    "libopapi_math.so", "libaclnn_modulate.so"};
    char path[4096];
    if (argc != 2)
        return 2;
    for (int k = 0; k < NAMES; k++) {
        snprintf(path, sizeof(path), "%s/lib64/%s", argv[1], names[k]);
        library[k] = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!library[k]) {
            fprintf(stderr, "%s\n", dlerror());
            return 1;
        }
    }
    for (int k = 0; k < NAMES; k++) {
        /* Each function from another name. */
        aclError (*set_device)(int32_t);
        aclTensor *(*create)(const int64_t *, uint64_t, aclDataType, const int64_t *, int64_t, aclFormat, const int64_t *,
                             uint64_t, void *);
        aclnnStatus (*first)(const aclTensor *, const aclTensor *, const aclTensor *, const aclTensor *,
                             const aclTensor *, const aclTensor *, const aclTensor *, uint64_t *, aclOpExecutor **);
        aclnnStatus (*second)(void *, uint64_t, aclOpExecutor *, aclrtStream);
        aclError (*synchronize)(aclrtStream);
        find(library[k], "aclrtSetDevice", &set_device);
        find(library[(k + 1) % NAMES], "aclCreateTensor", &create);
        find(library[(k + 2) % NAMES], "aclnnModulateBackwardGetWorkspaceSize", &first);
        find(library[(k + 3) % NAMES], "aclnnModulateBackward", &second);
        find(library[(k + 4) % NAMES], "aclrtSynchronizeStream", &synchronize);
        if (failures)
            return 1;
        const int64_t big[3] = {2, 1, 1}, flat[2] = {2, 1};
        float g[2] = {10, 20}, x[2] = {10, 20}, scale[2] = {20, 30}, shift[2] = {30, 40}, out[3][2];
        float *const data[7] = {g, x, scale, shift, out[0], out[1], out[2]};
        const float expected[3][2] = {{200, 600}, {100, 400}, {10, 20}};
        aclTensor *t[7];
        uint64_t size = 0;
        aclOpExecutor *executor = NULL;
        for (int i = 0; i < 7; i++) {
            const int three = i == 0 || i == 1 || i == 4;
            t[i] = create(three ? big : flat, three ? 3 : 2, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, three ? big : flat,
                          three ? 3 : 2, data[i]);
        }
        memset(out, 0, sizeof(out));
        if (set_device(0) != 0 || first(t[0], t[1], t[2], t[3], t[4], t[5], t[6], &size, &executor) != 0 || size != 0 ||
            second(NULL, 0, executor, NULL) != 0 || synchronize(NULL) != 0 ||
            memcmp(out, expected, sizeof(out)) != 0) {
            fprintf(stderr, "wrong result through %s and its neighbours\n", names[k]);
            failures++;
        }
    }
    /* Closing them all leaves the code where it is: workers may still run in it. */
    for (int k = 0; k < NAMES; k++)
        dlclose(library[k]);
    return failures != 0;
}
