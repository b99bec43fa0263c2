/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One call of the operator as the tests see it: seven views with their memory, planned and run in one line each.
 */
#ifndef CALL_H
#define CALL_H

#include "acl/acl.h"
#include "aclnnop/aclnn_modulate_backward.h"
#include "check.h"
#include "numbers.h"

/* In the order of phase one's arguments. */
enum { GRAD_OUTPUT, INPUT, SCALE, SHIFT, GRAD_INPUT, GRAD_SCALE, GRAD_SHIFT, TENSORS };

/* Bytes before and after each array that nobody may write. */
enum { FENCE = 96, POISON = 0xA5 };

typedef struct View {
    int given;
    aclDataType type;
    aclFormat format;
    int64_t dims[8];
    uint64_t dims_num;
    int64_t strides[8];
    int has_strides;
    int64_t offset;
    int64_t storage[8];
    uint64_t storage_num;
    void *data;
} View;

typedef struct Call {
    aclDataType type;
    int64_t B, L, D;
    View view[TENSORS];
    /* What view[i].data points to at first: elements[i] elements between two fences; freed by finish. */
    char *memory[TENSORS];
    int64_t elements[TENSORS];
    aclTensor *tensor[TENSORS];
    uint64_t workspace_size;
    void *workspace;
    aclOpExecutor *executor;
} Call;

/* A context for this thread, as every caller needs it. */
static inline void start(void)
{
    REQUIRE(aclrtSetDevice(0) == ACL_SUCCESS);
}

/* The messages of the thread since the last look, never NULL. */
static inline const char *messages(void)
{
    const char *text = aclGetRecentErrMsg();
    return text ? text : "";
}

static inline size_t bytes_of(const Call *call, int i)
{
    return (size_t)call->elements[i] * width_of(call->type);
}

/* Contiguous, ND, storage as the view, everything given, inputs filled, outputs poisoned. */
static inline Call prepare(aclDataType type, int64_t B, int64_t L, int64_t D)
{
    Call call;
    memset(&call, 0, sizeof(call));
    call.type = type;
    call.B = B;
    call.L = L;
    call.D = D;
    for (int i = 0; i < TENSORS; i++) {
        View *view = &call.view[i];
        const int big = i == GRAD_OUTPUT || i == INPUT || i == GRAD_INPUT;
        view->given = 1;
        view->type = type;
        view->format = ACL_FORMAT_ND;
        view->dims[0] = B;
        view->dims[1] = big ? L : D;
        view->dims[2] = D;
        view->dims_num = big ? 3 : 2;
        memcpy(view->storage, view->dims, sizeof(view->dims));
        view->storage_num = view->dims_num;
        call.elements[i] = big ? B * L * D : B * D;
        call.memory[i] = (char *)malloc(bytes_of(&call, i) + 2 * FENCE);
        REQUIRE(call.memory[i] != NULL);
        memset(call.memory[i], POISON, bytes_of(&call, i) + 2 * FENCE);
        view->data = call.memory[i] + FENCE;
        if (i <= SHIFT)
            fill(type, view->data, call.elements[i], (uint64_t)(i + 1));
    }
    return call;
}

/*
 * The order of summation shows in a result only where the sum is small beside its terms. So here each large term meets its
 * opposite half the rows away, and what is left depends on where the sums were rounded in between. Every second row is
 * small. For contiguous inputs.
 */
static inline void make_sums_cancel(Call *call)
{
    const aclDataType type = call->type;
    const double large = type == ACL_FLOAT16 ? 4096 : ldexp(1, 40);
    void *const g = call->view[GRAD_OUTPUT].data, *const x = call->view[INPUT].data;
    for (int64_t b = 0; b < call->B; b++) {
        for (int64_t row = 0; row < call->L / 2; row += 2) {
            for (int64_t d = 0; d < call->D; d++) {
                const int64_t here = (b * call->L + row) * call->D + d, there = here + call->L / 2 * call->D;
                const double value = load_value(type, g, here) * large;
                store_value(type, g, here, value);
                store_value(type, g, there, -value);
                store_bits(type, x, there, load_bits(type, x, here));
            }
        }
    }
}

static inline void drop(Call *call, int i)
{
    call->view[i].given = 0;
}

static inline aclTensor *make_tensor(const View *view)
{
    return aclCreateTensor(view->dims, view->dims_num, view->type, view->has_strides ? view->strides : NULL,
                           view->offset, view->format, view->storage, view->storage_num, view->data);
}

static inline void make_tensors(Call *call)
{
    for (int i = 0; i < TENSORS; i++) {
        if (call->view[i].given && !call->tensor[i]) {
            call->tensor[i] = make_tensor(&call->view[i]);
            REQUIRE(call->tensor[i] != NULL);
        }
    }
}

static inline aclnnStatus plan_with(Call *call, uint64_t *size, aclOpExecutor **executor)
{
    aclTensor **t = call->tensor;
    return aclnnModulateBackwardGetWorkspaceSize(t[0], t[1], t[2], t[3], t[4], t[5], t[6], size, executor);
}

/* Phase one. The executor pointer holds rubbish before, as an uninitialised variable would. */
static inline aclnnStatus plan(Call *call)
{
    make_tensors(call);
    call->executor = (aclOpExecutor *)(uintptr_t)0x5a5a5a5a5a5aULL;
    call->workspace_size = 0;
    return plan_with(call, &call->workspace_size, &call->executor);
}

static inline void need_workspace(Call *call)
{
    if (call->workspace_size > 0 && !call->workspace)
        REQUIRE(aclrtMalloc(&call->workspace, (size_t)call->workspace_size, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
}

/* Phase two, and the wait for it. */
static inline aclnnStatus run_on(Call *call, aclrtStream stream)
{
    need_workspace(call);
    const aclnnStatus status = aclnnModulateBackward(call->workspace, call->workspace_size, call->executor, stream);
    if (status != 0)
        return status;
    CHECK_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
    return status;
}

static inline aclnnStatus run(Call *call)
{
    return run_on(call, NULL);
}

static inline aclnnStatus plan_and_run(Call *call)
{
    const aclnnStatus status = plan(call);
    return status == 0 ? run(call) : status;
}

static inline void destroy_tensors(Call *call)
{
    for (int i = 0; i < TENSORS; i++) {
        if (call->tensor[i])
            CHECK_EQ(aclDestroyTensor(call->tensor[i]), 0);
        call->tensor[i] = NULL;
    }
}

static inline void finish(Call *call)
{
    destroy_tensors(call);
    for (int i = 0; i < TENSORS; i++)
        free(call->memory[i]);
    if (call->workspace)
        CHECK_EQ(aclrtFree(call->workspace), ACL_SUCCESS);
}

/* Where element (b, l, d) of view i stands, counted in elements from its data address. */
static inline int64_t place(const View *view, int64_t b, int64_t l, int64_t d)
{
    const int rank3 = view->dims_num == 3;
    int64_t s0 = rank3 ? view->dims[1] * view->dims[2] : view->dims[1], s1 = rank3 ? view->dims[2] : 1, s2 = 1;
    if (view->has_strides) {
        s0 = view->strides[0];
        s1 = view->strides[1];
        s2 = view->strides[2];
    }
    return view->offset + b * s0 + (rank3 ? l * s1 + d * s2 : d * s1);
}

/* The elements of a view, gathered into a new contiguous array. */
static inline void *gather(const Call *call, int i)
{
    const View *view = &call->view[i];
    const int64_t L = view->dims_num == 3 ? call->L : 1;
    void *copy = malloc((size_t)(call->B * L * call->D) * width_of(call->type) + 1);
    REQUIRE(copy != NULL);
    int64_t at = 0;
    for (int64_t b = 0; b < call->B; b++)
        for (int64_t l = 0; l < L; l++)
            for (int64_t d = 0; d < call->D; d++)
                store_bits(call->type, copy, at++, load_bits(call->type, view->data, place(view, b, l, d)));
    return copy;
}

static inline int same_number(aclDataType type, uint32_t a, uint32_t b)
{
    /* A NaN is a NaN, whatever its payload. */
    return a == b || (isnan(value_of_bits(type, a)) && isnan(value_of_bits(type, b)));
}

/* The inputs as they were when the call was planned, for a comparison after an in-place run. */
typedef struct Inputs {
    void *g, *x, *scale;
} Inputs;

static inline Inputs remember(const Call *call)
{
    Inputs inputs;
    inputs.g = gather(call, GRAD_OUTPUT);
    inputs.x = gather(call, INPUT);
    inputs.scale = call->view[SCALE].given ? gather(call, SCALE) : NULL;
    return inputs;
}

/* Are all outputs bit for bit what the plain loop gives for these inputs? Frees them. */
static inline int right_for(const Call *call, Inputs in)
{
    int wrong = 0;
    void *expected[TENSORS] = {NULL, NULL, NULL, NULL, NULL, NULL, NULL};
    for (int i = GRAD_INPUT; i < TENSORS; i++) {
        if (call->view[i].given)
            expected[i] = malloc((size_t)(call->B * call->D * (i == GRAD_INPUT ? call->L : 1)) * width_of(call->type) + 1);
    }
    modulate_backward(call->type, call->B, call->L, call->D, in.g, in.x, in.scale, expected[GRAD_INPUT],
                      expected[GRAD_SCALE], expected[GRAD_SHIFT]);
    for (int i = GRAD_INPUT; i < TENSORS; i++) {
        if (!expected[i])
            continue;
        void *got = gather(call, i);
        const int64_t count = call->B * call->D * (i == GRAD_INPUT ? call->L : 1);
        for (int64_t at = 0; at < count; at++) {
            const uint32_t e = load_bits(call->type, expected[i], at), o = load_bits(call->type, got, at);
            if (!same_number(call->type, e, o) && wrong++ == 0)
                fprintf(stderr, "output %d, element %" PRId64 " is %.17g (0x%x), expected %.17g (0x%x)\n",
                        i - GRAD_INPUT, at, value_of_bits(call->type, o), o, value_of_bits(call->type, e), e);
        }
        free(got);
        free(expected[i]);
    }
    free(in.g);
    free(in.x);
    free(in.scale);
    return wrong == 0;
}

static inline int right(const Call *call)
{
    return right_for(call, remember(call));
}

/* Are the bytes around every array still poison? */
static inline int fences_hold(const Call *call)
{
    for (int i = 0; i < TENSORS; i++) {
        const unsigned char *m = (const unsigned char *)call->memory[i];
        for (size_t k = 0; k < FENCE; k++) {
            if (m[k] != POISON || m[FENCE + bytes_of(call, i) + k] != POISON) {
                fprintf(stderr, "a byte next to tensor %d was written\n", i);
                return 0;
            }
        }
    }
    return 1;
}

/* Phase one must refuse the call with `status`, say `part`, and leave its outputs as they were. */
static inline void check_refused(const char *file, int line, Call *call, aclnnStatus status, const char *part)
{
    aclOpExecutor *const before = (aclOpExecutor *)(uintptr_t)0x5a5a5a5a5a5aULL;
    aclOpExecutor *executor = before;
    uint64_t size = 12345;
    make_tensors(call);
    (void)aclGetRecentErrMsg();
    check_numbers(file, line, "phase one's status", plan_with(call, &size, &executor), status);
    check_numbers(file, line, "the workspace size of a refused call", (long long)size, 12345);
    check_numbers(file, line, "the executor is untouched", executor == before, 1);
    const char *text = aclGetRecentErrMsg();
    check_texts(file, line, "the message", text, "aclnnModulateBackwardGetWorkspaceSize");
    check_texts(file, line, "the message", text, part);
}

#define CHECK_REFUSED(call, status, part) check_refused(__FILE__, __LINE__, (call), (status), (part))

#endif
