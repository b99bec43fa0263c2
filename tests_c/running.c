/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Phase two: its table of conditions, the life of an executor, and what may happen to tensors and memory between the
 * phases and before the stream is done.
 */
#include "call.h"
#include "gate.h"

static Call small(void)
{
    return prepare(ACL_FLOAT, 2, 3, 4);
}

/* Memory of the library for one of the call's views, with the view's elements copied into it. */
static void *on_device(Call *call, int i)
{
    void *block = NULL;
    REQUIRE(aclrtMalloc(&block, bytes_of(call, i), ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
    REQUIRE(aclrtMemcpy(block, bytes_of(call, i), call->view[i].data, bytes_of(call, i), ACL_MEMCPY_HOST_TO_DEVICE) ==
            ACL_SUCCESS);
    call->view[i].data = block;
    return block;
}

TEST(executor_null)
{
    start();
    CHECK_EQ(aclnnModulateBackward(NULL, 0, NULL, NULL), 161001);
    CHECK_HAS(messages(), "executor");
}

TEST(executor_not_live)
{
    start();
    Call call = small();
    make_tensors(&call);
    int local = 0;
    const int64_t number = 1;
    aclIntArray *array = aclCreateIntArray(&number, 1);
    void *const bad[] = {(void *)(uintptr_t)1, (void *)(uintptr_t)0xdeadbeef, (void *)UINTPTR_MAX,
                         &local,               call.tensor[0],                array};
    for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
        (void)aclGetRecentErrMsg();
        CHECK_EQ(aclnnModulateBackward(NULL, 0, (aclOpExecutor *)bad[k], NULL), 561103);
        CHECK_HAS(messages(), "executor");
    }
    CHECK_EQ(aclDestroyIntArray(array), 0);
    finish(&call);
}

TEST(case_17_second_run_of_a_one_shot_executor)
{
    start();
    Call call = small();
    CHECK_EQ(plan_and_run(&call), 0);
    CHECK_EQ(aclnnModulateBackward(call.workspace, call.workspace_size, call.executor, NULL), 561103);
    CHECK_HAS(messages(), "executor");
    CHECK_EQ(aclrtSynchronizeStream(NULL), ACL_SUCCESS);
    CHECK(right(&call));
    finish(&call);
}

TEST(executor_destroyed)
{
    start();
    Call call = small();
    CHECK_EQ(plan(&call), 0);
    CHECK_EQ(aclDestroyAclOpExecutor(call.executor), 0);
    CHECK_EQ(aclnnModulateBackward(NULL, 0, call.executor, NULL), 561103);
    CHECK_EQ(aclDestroyAclOpExecutor(call.executor), 561103);
    CHECK(fences_hold(&call));
    finish(&call);
}

TEST(case_19_destroy_a_spent_executor)
{
    start();
    Call call = small();
    CHECK_EQ(plan_and_run(&call), 0);
    CHECK_EQ(aclDestroyAclOpExecutor(call.executor), 561103);
    CHECK_EQ(aclDestroyAclOpExecutor(call.executor), 561103);
    CHECK(right(&call));
    finish(&call);
}

/* A failing run consumes a one-shot executor too. */
TEST(workspace_null_but_size_given)
{
    start();
    Call call = small();
    CHECK_EQ(plan(&call), 0);
    CHECK_EQ(aclnnModulateBackward(NULL, 64, call.executor, NULL), 161001);
    CHECK_HAS(messages(), "workspace");
    CHECK_EQ(aclnnModulateBackward(NULL, 0, call.executor, NULL), 561103);
    finish(&call);
}

/* A shape whose L is split, so that there is a workspace to be too small; the size is the library's to decide. */
static Call split(void)
{
    Call call = prepare(ACL_FLOAT, 1, 1 << 17, 8);
    for (int i = GRAD_OUTPUT; i <= INPUT; i++)
        memset(call.view[i].data, 0, bytes_of(&call, i));
    return call;
}

TEST(workspace_too_small)
{
    start();
    Call call = split();
    CHECK_EQ(plan(&call), 0);
    if (call.workspace_size == 0)
        SKIP("this shape needs no workspace here");
    need_workspace(&call);
    CHECK_EQ(aclnnModulateBackward(call.workspace, call.workspace_size - 1, call.executor, NULL), 161002);
    CHECK_HAS(messages(), "workspace");
    CHECK_EQ(plan(&call), 0);
    CHECK_EQ(aclnnModulateBackward(NULL, 0, call.executor, NULL), 161002);
    finish(&call);
}

TEST(workspace_leaves_its_block)
{
    start();
    Call call = small();
    void *block = NULL;
    REQUIRE(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
    CHECK_EQ(plan(&call), 0);
    CHECK_EQ(aclnnModulateBackward(block, 1000, call.executor, NULL), 161002);
    CHECK_HAS(messages(), "workspace");
    CHECK_EQ(plan(&call), 0);
    CHECK_EQ(aclnnModulateBackward(block, 64, call.executor, NULL), 0);
    CHECK_EQ(plan(&call), 0);
    CHECK_EQ(aclnnModulateBackward(block, UINT64_MAX, call.executor, NULL), 161002);
    CHECK_EQ(aclrtSynchronizeStream(NULL), ACL_SUCCESS);
    CHECK(right(&call));
    finish(&call);
    CHECK_EQ(aclrtFree(block), ACL_SUCCESS);
}

TEST(workspace_overlaps_a_tensor)
{
    start();
    for (int i = 0; i < TENSORS; i++) {
        if (i == SHIFT)
            continue;
        Call call = small();
        CHECK_EQ(plan(&call), 0);
        CHECK_EQ(aclnnModulateBackward(call.view[i].data, 32, call.executor, NULL), 161002);
        CHECK_HAS(messages(), "workspace");
        CHECK(fences_hold(&call));
        finish(&call);
    }
}

TEST(case_27_data_null_in_phase_two)
{
    static const char *const names[TENSORS] = {"grad_output", "input",      "scale",     NULL,
                                               "grad_input",  "grad_scale", "grad_shift"};
    start();
    for (int i = 0; i < TENSORS; i++) {
        if (i == SHIFT)
            continue;
        Call call = small();
        call.view[i].data = NULL;
        CHECK_EQ(plan(&call), 0);
        CHECK_EQ(aclSetAclOpExecutorRepeatable(call.executor), 0);
        CHECK_EQ(aclnnModulateBackward(NULL, 0, call.executor, NULL), 161002);
        CHECK_HAS(messages(), names[i]);
        /* Intact: with the address it runs. */
        call.view[i].data = call.memory[i] + FENCE;
        CHECK_EQ(aclSetTensorAddr(call.executor, (size_t)i, call.tensor[i], call.view[i].data), 0);
        CHECK_EQ(run(&call), 0);
        CHECK(right(&call));
        CHECK(fences_hold(&call));
        CHECK_EQ(aclDestroyAclOpExecutor(call.executor), 0);
        finish(&call);
    }
}

TEST(case_29_block_freed_between_the_phases)
{
    start();
    for (int i = 0; i < TENSORS; i++) {
        if (i == SHIFT)
            continue;
        Call call = small();
        void *block = on_device(&call, i);
        CHECK_EQ(plan(&call), 0);
        CHECK_EQ(aclrtFree(block), ACL_SUCCESS);
        (void)aclGetRecentErrMsg();
        CHECK_EQ(aclnnModulateBackward(NULL, 0, call.executor, NULL), 161002);
        const char *text = messages();
        CHECK(strstr(text, "aclnnModulateBackward") != NULL);
        finish(&call);
    }
}

/* A new block at the old address that ends too early. It may come to lie elsewhere: refused either way. */
TEST(block_replaced_by_a_smaller_one)
{
    start();
    Call call = prepare(ACL_FLOAT, 1, 64, 64);
    void *block = on_device(&call, GRAD_OUTPUT);
    CHECK_EQ(plan(&call), 0);
    CHECK_EQ(aclrtFree(block), ACL_SUCCESS);
    void *smaller = NULL;
    REQUIRE(aclrtMalloc(&smaller, 64, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
    CHECK_EQ(aclnnModulateBackward(NULL, 0, call.executor, NULL), 161002);
    CHECK_HAS(messages(), "grad_output");
    CHECK_EQ(aclrtFree(smaller), ACL_SUCCESS);
    finish(&call);
}

TEST(repeatable_addresses_overlap)
{
    start();
    Call call = small();
    CHECK_EQ(plan(&call), 0);
    CHECK_EQ(aclSetAclOpExecutorRepeatable(call.executor), 0);
    CHECK_EQ(aclSetOutputTensorAddr(call.executor, 0, call.tensor[GRAD_INPUT], (char *)call.view[INPUT].data + 4), 0);
    CHECK_EQ(aclnnModulateBackward(NULL, 0, call.executor, NULL), 161002);
    CHECK_EQ(aclSetOutputTensorAddr(call.executor, 0, call.tensor[GRAD_INPUT], call.view[GRAD_INPUT].data), 0);
    CHECK_EQ(run(&call), 0);
    CHECK(right(&call));
    CHECK_EQ(aclDestroyAclOpExecutor(call.executor), 0);
    finish(&call);
}

TEST(stream_not_live)
{
    start();
    aclrtStream dead = NULL;
    aclrtContext context = NULL;
    REQUIRE(aclrtCreateStream(&dead) == ACL_SUCCESS);
    REQUIRE(aclrtDestroyStream(dead) == ACL_SUCCESS);
    REQUIRE(aclrtCreateContext(&context, 0) == ACL_SUCCESS);
    Call call = small();
    make_tensors(&call);
    int local = 0;
    void *const bad[] = {dead, context, &local, (void *)(uintptr_t)1, (void *)UINTPTR_MAX, call.tensor[0]};
    for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
        CHECK_EQ(plan(&call), 0);
        (void)aclGetRecentErrMsg();
        CHECK_EQ(aclnnModulateBackward(NULL, 0, call.executor, bad[k]), 361001);
        CHECK_HAS(messages(), "stream");
        CHECK_EQ(aclnnModulateBackward(NULL, 0, call.executor, NULL), 561103);
    }
    finish(&call);
    CHECK_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
}

TEST(stream_of_another_context)
{
    aclrtContext one = NULL, two = NULL;
    aclrtStream stream = NULL;
    REQUIRE(aclrtCreateContext(&one, 0) == ACL_SUCCESS);
    REQUIRE(aclrtCreateStream(&stream) == ACL_SUCCESS);
    REQUIRE(aclrtCreateContext(&two, 0) == ACL_SUCCESS);
    Call call = small();
    CHECK_EQ(plan(&call), 0);
    CHECK_EQ(aclnnModulateBackward(NULL, 0, call.executor, stream), 361001);
    CHECK_HAS(messages(), "107003");
    CHECK_EQ(aclrtDestroyStream(stream), 107003);
    /* Waiting works from any context; the stream is unharmed. */
    CHECK_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
    finish(&call);
    CHECK_EQ(aclrtDestroyContext(two), ACL_SUCCESS);
    CHECK_EQ(aclrtDestroyContext(one), ACL_SUCCESS);
}

TEST(no_context)
{
    Call call = small();
    CHECK_EQ(plan(&call), 0);
    CHECK_EQ(aclnnModulateBackward(NULL, 0, call.executor, NULL), 361001);
    CHECK_HAS(messages(), "aclrtSetDevice");
    finish(&call);
}

TEST(case_18_repeatable)
{
    start();
    for (int t = 0; t < 3; t++) {
        const aclDataType types[3] = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
        Call call = prepare(types[t], 2, 9, 5);
        CHECK_EQ(plan(&call), 0);
        CHECK_EQ(aclSetAclOpExecutorRepeatable(call.executor), 0);
        /* Saying it twice changes nothing. */
        CHECK_EQ(aclSetAclOpExecutorRepeatable(call.executor), 0);
        for (int round = 0; round < 3; round++) {
            for (int i = GRAD_OUTPUT; i <= SCALE; i++)
                fill(call.type, call.view[i].data, call.elements[i], (uint64_t)(100 * round + i));
            CHECK_EQ(run(&call), 0);
            CHECK(right(&call));
        }
        CHECK_EQ(aclDestroyAclOpExecutor(call.executor), 0);
        CHECK_EQ(aclnnModulateBackward(call.workspace, call.workspace_size, call.executor, NULL), 561103);
        CHECK(fences_hold(&call));
        finish(&call);
    }
}

/* Everything planned with NULL, every address set afterwards: once by kind and index, once by the common index. */
static void plan_then_set_addresses(int common)
{
    start();
    Call call = prepare(ACL_FLOAT, 2, 9, 5);
    for (int i = 0; i < TENSORS; i++)
        call.view[i].data = NULL;
    CHECK_EQ(plan(&call), 0);
    CHECK_EQ(aclSetAclOpExecutorRepeatable(call.executor), 0);
    CHECK_EQ(aclnnModulateBackward(NULL, 0, call.executor, NULL), 161002);
    CHECK_HAS(messages(), "grad_output");
    for (int i = 0; i < TENSORS; i++) {
        void *const address = call.view[i].data = call.memory[i] + FENCE;
        if (common)
            CHECK_EQ(aclSetTensorAddr(call.executor, (size_t)i, call.tensor[i], address), 0);
        else if (i <= SHIFT)
            CHECK_EQ(aclSetInputTensorAddr(call.executor, (size_t)i, call.tensor[i], address), 0);
        else
            CHECK_EQ(aclSetOutputTensorAddr(call.executor, (size_t)(i - GRAD_INPUT), call.tensor[i], address), 0);
        /* The tensor's own address is changed with it. */
        void *recorded = NULL;
        CHECK_EQ(aclGetRawTensorAddr(call.tensor[i], &recorded), 0);
        CHECK(recorded == address);
    }
    CHECK_EQ(run(&call), 0);
    CHECK(right(&call));
    CHECK(fences_hold(&call));
    CHECK_EQ(aclDestroyAclOpExecutor(call.executor), 0);
    finish(&call);
}

TEST(case_27_addresses_set_by_kind)
{
    plan_then_set_addresses(0);
}

TEST(case_27_addresses_set_by_common_index)
{
    plan_then_set_addresses(1);
}

typedef aclnnStatus (*SetAddress)(aclOpExecutor *, const size_t, aclTensor *, void *);
typedef aclnnStatus (*SetDynamic)(aclOpExecutor *, size_t, const size_t, aclTensorList *, void *);

TEST(set_address_refuses)
{
    static const SetAddress set[6] = {aclSetInputTensorAddr, aclSetOutputTensorAddr, aclSetTensorAddr,
                                      AclSetInputTensorAddr, AclSetOutputTensorAddr, AclSetTensorAddr};
    static const size_t slots[3] = {4, 3, 7};
    static const int first[3] = {GRAD_OUTPUT, GRAD_INPUT, GRAD_OUTPUT};
    start();
    char memory[4096];
    void *block = NULL;
    REQUIRE(aclrtMalloc(&block, 32, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
    for (int f = 0; f < 6; f++) {
        const int kind = f % 3;
        Call call = small();
        CHECK_EQ(plan(&call), 0);
        aclTensor *const tensor = call.tensor[first[kind]];
        aclTensor *const stranger = make_tensor(&call.view[first[kind]]);
        /* Not repeatable yet. */
        CHECK_EQ(set[f](call.executor, 0, tensor, memory), 161002);
        CHECK_EQ(aclSetAclOpExecutorRepeatable(call.executor), 0);
        CHECK_EQ(set[f](NULL, 0, tensor, memory), 561103);
        CHECK_EQ(set[f](call.executor, 0, NULL, memory), 561103);
        CHECK_EQ(set[f](call.executor, slots[kind], tensor, memory), 161002);
        CHECK_EQ(set[f](call.executor, SIZE_MAX, tensor, memory), 161002);
        CHECK_EQ(set[f](call.executor, 0, stranger, memory), 161002);
        CHECK_EQ(set[f](call.executor, 0, (aclTensor *)(uintptr_t)0xdeadbeef, memory), 161002);
        CHECK_EQ(set[f](call.executor, 0, tensor, NULL), 161002);
        CHECK_EQ(set[f](call.executor, 0, tensor, block), 161002);
        CHECK(set[f]((aclOpExecutor *)(uintptr_t)0xdeadbeef, 0, tensor, memory) != 0);
        CHECK(set[f]((aclOpExecutor *)tensor, 0, tensor, memory) != 0);
        /* After all that the old addresses hold. */
        CHECK_EQ(run(&call), 0);
        CHECK(right(&call));
        CHECK_EQ(set[f](call.executor, 0, tensor, memory), 0);
        CHECK_EQ(aclDestroyAclOpExecutor(call.executor), 0);
        CHECK(set[f](call.executor, 0, tensor, memory) != 0);
        CHECK_EQ(aclDestroyTensor(stranger), 0);
        finish(&call);
    }
    CHECK_EQ(aclrtFree(block), ACL_SUCCESS);
}

TEST(set_address_of_an_absent_argument)
{
    start();
    char memory[4096];
    Call call = small();
    drop(&call, SCALE);
    drop(&call, GRAD_SCALE);
    CHECK_EQ(plan(&call), 0);
    CHECK_EQ(aclSetAclOpExecutorRepeatable(call.executor), 0);
    CHECK_EQ(aclSetInputTensorAddr(call.executor, 2, call.tensor[SHIFT], memory), 161002);
    CHECK_EQ(aclSetOutputTensorAddr(call.executor, 1, call.tensor[GRAD_SHIFT], memory), 161002);
    CHECK_EQ(aclSetTensorAddr(call.executor, 2, call.tensor[SHIFT], memory), 161002);
    /* Absent ones are counted: shift is still number 3. */
    CHECK_EQ(aclSetInputTensorAddr(call.executor, 3, call.tensor[SHIFT], memory), 0);
    CHECK_EQ(aclDestroyAclOpExecutor(call.executor), 0);
    finish(&call);
}

/* One handle in two places is the in-place case: both take the new address. */
TEST(set_address_of_a_shared_handle)
{
    start();
    Call call = small();
    make_tensors(&call);
    REQUIRE(aclDestroyTensor(call.tensor[GRAD_INPUT]) == 0);
    call.tensor[GRAD_INPUT] = call.tensor[GRAD_OUTPUT];
    CHECK_EQ(plan(&call), 0);
    CHECK_EQ(aclSetAclOpExecutorRepeatable(call.executor), 0);
    const Inputs before = remember(&call);
    void *const copy = malloc(bytes_of(&call, GRAD_OUTPUT));
    memcpy(copy, call.view[GRAD_OUTPUT].data, bytes_of(&call, GRAD_OUTPUT));
    void *const old = call.view[GRAD_OUTPUT].data;
    CHECK_EQ(aclSetInputTensorAddr(call.executor, 0, call.tensor[GRAD_OUTPUT], copy), 0);
    CHECK_EQ(run(&call), 0);
    call.view[GRAD_INPUT].data = copy;
    CHECK(memcmp(old, before.g, bytes_of(&call, GRAD_OUTPUT)) == 0);
    CHECK(right_for(&call, before));
    CHECK_EQ(aclDestroyAclOpExecutor(call.executor), 0);
    call.tensor[GRAD_INPUT] = NULL;
    finish(&call);
    free(copy);
}

TEST(set_dynamic_refuses)
{
    static const SetDynamic set[6] = {aclSetDynamicInputTensorAddr, aclSetDynamicOutputTensorAddr,
                                      aclSetDynamicTensorAddr,      AclSetDynamicInputTensorAddr,
                                      AclSetDynamicOutputTensorAddr, AclSetDynamicTensorAddr};
    start();
    char memory[64];
    Call call = small();
    CHECK_EQ(plan(&call), 0);
    CHECK_EQ(aclSetAclOpExecutorRepeatable(call.executor), 0);
    aclTensor *member = make_tensor(&call.view[SCALE]);
    const aclTensor *members[1];
    members[0] = member;
    aclTensorList *list = aclCreateTensorList(members, 1);
    REQUIRE(list != NULL);
    for (int f = 0; f < 6; f++) {
        CHECK_EQ(set[f](call.executor, 0, 0, list, memory), 161002);
        CHECK_EQ(set[f](call.executor, 0, 1, list, memory), 161002);
        CHECK_EQ(set[f](call.executor, SIZE_MAX, SIZE_MAX, list, memory), 161002);
        CHECK_EQ(set[f](NULL, 0, 0, list, memory), 561103);
        CHECK_EQ(set[f](call.executor, 0, 0, NULL, memory), 561103);
        CHECK(set[f](call.executor, 0, 0, (aclTensorList *)(uintptr_t)0xdeadbeef, memory) != 0);
        CHECK(set[f]((aclOpExecutor *)(uintptr_t)0xdeadbeef, 0, 0, list, memory) != 0);
    }
    CHECK_EQ(aclDestroyTensorList(list), 0);
    CHECK_EQ(run(&call), 0);
    CHECK(right(&call));
    CHECK_EQ(aclDestroyAclOpExecutor(call.executor), 0);
    finish(&call);
}

TEST(repeatable_refuses)
{
    start();
    Call call = small();
    CHECK_EQ(plan(&call), 0);
    CHECK_EQ(aclSetAclOpExecutorRepeatable(NULL), 561103);
    CHECK_EQ(aclDestroyAclOpExecutor(NULL), 561103);
    void *const bad[] = {(void *)(uintptr_t)1, (void *)UINTPTR_MAX, &call, call.tensor[0]};
    for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
        CHECK_EQ(aclSetAclOpExecutorRepeatable((aclOpExecutor *)bad[k]), 561103);
        CHECK_EQ(aclDestroyAclOpExecutor((aclOpExecutor *)bad[k]), 561103);
    }
    CHECK_EQ(run(&call), 0);
    CHECK_EQ(aclSetAclOpExecutorRepeatable(call.executor), 561103);
    finish(&call);
}

/* The executor keeps what it needs of a tensor. */
TEST(case_21_tensors_destroyed_between_the_phases)
{
    start();
    Call call = prepare(ACL_BF16, 3, 17, 11);
    CHECK_EQ(plan(&call), 0);
    destroy_tensors(&call);
    CHECK_EQ(run(&call), 0);
    CHECK(right(&call));
    finish(&call);
}

TEST(tensors_changed_between_the_phases)
{
    start();
    Call call = prepare(ACL_FLOAT, 3, 17, 11);
    const int64_t one = 1;
    CHECK_EQ(plan(&call), 0);
    CHECK_EQ(aclSetRawTensorAddr(call.tensor[GRAD_OUTPUT], NULL), 0);
    CHECK_EQ(aclSetRawTensorAddr(call.tensor[GRAD_INPUT], (void *)(uintptr_t)64), 0);
    CHECK_EQ(aclInitTensor(call.tensor[INPUT], &one, 1, ACL_INT8, NULL, 0, ACL_FORMAT_NCHW, &one, 1, NULL), 0);
    CHECK_EQ(run(&call), 0);
    CHECK(right(&call));
    finish(&call);
}

/* Phase two only queues: while the stream is held, it returns and nothing is written. */
TEST(phase_two_does_not_wait)
{
    start();
    Gate gate = GATE_INITIALIZER;
    aclrtStream stream = NULL;
    REQUIRE(aclrtCreateStream(&stream) == ACL_SUCCESS);
    Call call = prepare(ACL_FLOAT, 2, 3, 4);
    CHECK_EQ(plan(&call), 0);
    gate_hold(&gate, stream);
    CHECK_EQ(aclnnModulateBackward(NULL, 0, call.executor, stream), 0);
    for (size_t k = 0; k < bytes_of(&call, GRAD_INPUT); k++)
        CHECK_EQ(((unsigned char *)call.view[GRAD_INPUT].data)[k], POISON);
    gate_open(&gate);
    CHECK_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
    CHECK(right(&call));
    CHECK_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
    finish(&call);
}

/* One stream stands still, another goes on. */
TEST(streams_are_independent)
{
    start();
    Gate gate = GATE_INITIALIZER;
    aclrtStream held = NULL, other = NULL;
    REQUIRE(aclrtCreateStream(&held) == ACL_SUCCESS && aclrtCreateStream(&other) == ACL_SUCCESS);
    Call call = prepare(ACL_FLOAT, 4, 256, 512);
    gate_hold(&gate, held);
    CHECK_EQ(plan(&call), 0);
    CHECK_EQ(run_on(&call, other), 0);
    CHECK(right(&call));
    gate_open(&gate);
    CHECK_EQ(aclrtDestroyStream(held), ACL_SUCCESS);
    CHECK_EQ(aclrtDestroyStream(other), ACL_SUCCESS);
    finish(&call);
}

/* Data, workspace and tensors all go while the call is still waiting in its stream. */
TEST(case_21_memory_freed_before_the_stream_is_done)
{
    start();
    for (int split_rows = 0; split_rows < 2; split_rows++) {
        Gate gate = GATE_INITIALIZER;
        Call call = split_rows ? prepare(ACL_FLOAT, 1, 40000, 8) : prepare(ACL_FLOAT, 2, 300, 64);
        Inputs before = remember(&call);
        void *block[3];
        aclrtStream stream = NULL;
        REQUIRE(aclrtCreateStream(&stream) == ACL_SUCCESS);
        for (int i = GRAD_OUTPUT; i <= SCALE; i++)
            block[i] = on_device(&call, i);
        CHECK_EQ(plan(&call), 0);
        need_workspace(&call);
        gate_hold(&gate, stream);
        CHECK_EQ(aclnnModulateBackward(call.workspace, call.workspace_size, call.executor, stream), 0);
        for (int i = GRAD_OUTPUT; i <= SCALE; i++) {
            CHECK_EQ(aclrtFree(block[i]), ACL_SUCCESS);
            /* Gone for the caller at once. */
            CHECK_EQ(aclrtFree(block[i]), 107000);
        }
        if (call.workspace) {
            CHECK_EQ(aclrtFree(call.workspace), ACL_SUCCESS);
            call.workspace = NULL;
        }
        destroy_tensors(&call);
        /* Whoever gets memory now must not get this. */
        void *again[8];
        for (int k = 0; k < 8; k++) {
            const size_t size = bytes_of(&call, k % 2 ? GRAD_OUTPUT : SCALE);
            REQUIRE(aclrtMalloc(&again[k], size, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
            CHECK_EQ(aclrtMemset(again[k], size, 0xff, size), ACL_SUCCESS);
        }
        gate_open(&gate);
        CHECK_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
        for (int k = 0; k < 8; k++)
            CHECK_EQ(aclrtFree(again[k]), ACL_SUCCESS);
        for (int i = GRAD_OUTPUT; i <= SCALE; i++)
            call.view[i].data = call.memory[i] + FENCE;
        CHECK(right_for(&call, before));
        CHECK_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
        finish(&call);
    }
}

/* Runs that are queued keep the addresses that were set when they were launched. */
TEST(queued_runs_keep_their_addresses)
{
    start();
    Gate gate = GATE_INITIALIZER;
    aclrtStream stream = NULL;
    REQUIRE(aclrtCreateStream(&stream) == ACL_SUCCESS);
    Call call = small();
    void *const second = malloc(bytes_of(&call, GRAD_INPUT));
    CHECK_EQ(plan(&call), 0);
    CHECK_EQ(aclSetAclOpExecutorRepeatable(call.executor), 0);
    gate_hold(&gate, stream);
    CHECK_EQ(aclnnModulateBackward(NULL, 0, call.executor, stream), 0);
    CHECK_EQ(aclSetOutputTensorAddr(call.executor, 0, call.tensor[GRAD_INPUT], second), 0);
    CHECK_EQ(aclnnModulateBackward(NULL, 0, call.executor, stream), 0);
    /* Ended while both are still queued. */
    CHECK_EQ(aclDestroyAclOpExecutor(call.executor), 0);
    gate_open(&gate);
    CHECK_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
    CHECK(right(&call));
    call.view[GRAD_INPUT].data = second;
    CHECK(right(&call));
    CHECK_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
    finish(&call);
    free(second);
}

/* Each call reads what the one before it wrote; all are queued before the first begins. */
TEST(a_stream_runs_in_order)
{
    start();
    const int64_t n = 64 * 1024;
    const int links = 24;
    Gate gate = GATE_INITIALIZER;
    aclrtStream stream = NULL;
    REQUIRE(aclrtCreateStream(&stream) == ACL_SUCCESS);
    Call call = prepare(ACL_FLOAT, 1, n / 64, 64);
    drop(&call, SHIFT);
    drop(&call, GRAD_SHIFT);
    drop(&call, GRAD_SCALE);
    for (int64_t k = 0; k < n; k++)
        store_value(ACL_FLOAT, call.view[GRAD_OUTPUT].data, k, 1);
    for (int64_t k = 0; k < 64; k++)
        store_value(ACL_FLOAT, call.view[SCALE].data, k, 2);
    void *const from = call.view[GRAD_OUTPUT].data, *const to = call.view[GRAD_INPUT].data;
    gate_hold(&gate, stream);
    for (int link = 0; link < links; link++) {
        call.view[GRAD_OUTPUT].data = link % 2 ? to : from;
        call.view[GRAD_INPUT].data = link % 2 ? from : to;
        CHECK_EQ(plan(&call), 0);
        CHECK_EQ(aclnnModulateBackward(NULL, call.workspace_size, call.executor, stream), 0);
        destroy_tensors(&call);
    }
    gate_open(&gate);
    CHECK_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
    for (int64_t k = 0; k < n; k++) {
        if (load_value(ACL_FLOAT, from, k) != ldexp(1, links)) {
            CHECK(!"the chain of calls is broken");
            break;
        }
    }
    call.view[GRAD_OUTPUT].data = from;
    call.view[GRAD_INPUT].data = to;
    CHECK_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
    finish(&call);
}

static void *open_gate(void *gate)
{
    gate_open((Gate *)gate);
    return NULL;
}

/* Destroying a stream, or resetting the device, waits for what is queued: the gate opens while they do. */
static void queue_then_end(int reset)
{
    start();
    Gate gate = GATE_INITIALIZER;
    pthread_t opener;
    aclrtStream stream = NULL;
    REQUIRE(aclrtCreateStream(&stream) == ACL_SUCCESS);
    Call call = prepare(ACL_FLOAT16, 4, 512, 128);
    CHECK_EQ(plan(&call), 0);
    need_workspace(&call);
    gate_hold(&gate, stream);
    CHECK_EQ(aclnnModulateBackward(call.workspace, call.workspace_size, call.executor, stream), 0);
    REQUIRE(pthread_create(&opener, NULL, open_gate, &gate) == 0);
    CHECK_EQ(reset ? aclrtResetDevice(0) : aclrtDestroyStream(stream), ACL_SUCCESS);
    CHECK(right(&call));
    pthread_join(opener, NULL);
    CHECK_EQ(aclrtDestroyStream(stream), 107017);
    finish(&call);
}

TEST(destroying_a_stream_waits)
{
    queue_then_end(0);
}

TEST(resetting_the_device_waits)
{
    queue_then_end(1);
}

/*
 * Pages by which 100,000 calls may make the process grow: memory that is given back late comes and goes, but what stays,
 * even 8 bytes of each call, would be 195 pages.
 */
enum { FLAT = 128 };

/* An executor that is not run costs little and is given back. */
TEST(case_20_unused_executors)
{
    Call call = small();
    CHECK_EQ(plan(&call), 0);
    CHECK_EQ(aclDestroyAclOpExecutor(call.executor), 0);
    long before = 0, after = 0, ignored;
    FILE *statm = fopen("/proc/self/statm", "r");
    if (!statm)
        SKIP("no /proc here");
    /* Tables and the allocator grow to their working size first. */
    for (int k = 0; k < 50000; k++) {
        REQUIRE(plan(&call) == 0);
        REQUIRE(aclDestroyAclOpExecutor(call.executor) == 0);
    }
    REQUIRE(fscanf(statm, "%ld %ld", &ignored, &before) == 2);
    fclose(statm);
    for (int k = 0; k < 100000; k++) {
        REQUIRE(plan(&call) == 0);
        REQUIRE(aclDestroyAclOpExecutor(call.executor) == 0);
    }
    statm = fopen("/proc/self/statm", "r");
    REQUIRE(statm && fscanf(statm, "%ld %ld", &ignored, &after) == 2);
    fclose(statm);
    CHECK_EQ(after - before < FLAT ? 0 : after - before, 0);
    finish(&call);
}

/* Neither do failing calls leave anything behind. */
TEST(failing_calls_stay_flat)
{
    start();
    long before = 0, after = 0, ignored;
    Call call = small();
    make_tensors(&call);
    aclTensor *const real = call.tensor[SCALE];
    for (int k = 0; k < 150000; k++) {
        if (k == 50000) {
            FILE *statm = fopen("/proc/self/statm", "r");
            if (!statm)
                SKIP("no /proc here");
            REQUIRE(fscanf(statm, "%ld %ld", &ignored, &before) == 2);
            fclose(statm);
        }
        call.tensor[SCALE] = (aclTensor *)(uintptr_t)0xdeadbeef;
        REQUIRE(plan(&call) == 161002);
        call.tensor[SCALE] = real;
        REQUIRE(plan(&call) == 0);
        REQUIRE(aclnnModulateBackward(NULL, 64, call.executor, NULL) == 161001);
        REQUIRE(aclDestroyTensor((aclTensor *)(uintptr_t)0xdeadbeef) == 161002);
    }
    FILE *statm = fopen("/proc/self/statm", "r");
    REQUIRE(statm && fscanf(statm, "%ld %ld", &ignored, &after) == 2);
    fclose(statm);
    CHECK_EQ(after - before < FLAT ? 0 : after - before, 0);
    finish(&call);
}
