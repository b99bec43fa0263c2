/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two call flows that every user copies, with the numbers that are known for them; and numbers that tell a careful
 * sum from a careless one. Compiled as C and as C++.
 */
#include "call.h"

/* Every step by hand, device memory and copies included, and both optional arguments given. */
TEST(case_01_page_flow)
{
    const float g[2] = {10, 20}, x[2] = {10, 20}, scale[2] = {20, 30}, shift[2] = {30, 40};
    const float *const inputs[4] = {g, x, scale, shift};
    const float expected[3][2] = {{200, 600}, {100, 400}, {10, 20}};
    const int64_t dims3[3] = {2, 1, 1}, strides3[3] = {1, 1, 1}, dims2[2] = {2, 1}, strides2[2] = {1, 1};
    aclrtStream stream = NULL;
    void *device[7];
    aclTensor *tensor[7];
    uint64_t size = 0;
    void *workspace = NULL;
    aclOpExecutor *executor;

    REQUIRE(aclInit(NULL) == ACL_SUCCESS);
    REQUIRE(aclrtSetDevice(0) == ACL_SUCCESS);
    REQUIRE(aclrtCreateStream(&stream) == ACL_SUCCESS);
    for (int i = 0; i < 7; i++) {
        const int big = i == 0 || i == 1 || i == 4;
        REQUIRE(aclrtMalloc(&device[i], 2 * sizeof(float), ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
        if (i < 4)
            REQUIRE(aclrtMemcpy(device[i], 8, inputs[i], 8, ACL_MEMCPY_HOST_TO_DEVICE) == ACL_SUCCESS);
        tensor[i] = aclCreateTensor(big ? dims3 : dims2, big ? 3 : 2, ACL_FLOAT, big ? strides3 : strides2, 0,
                                    ACL_FORMAT_ND, big ? dims3 : dims2, big ? 3 : 2, device[i]);
        REQUIRE(tensor[i] != NULL);
    }
    REQUIRE(aclnnModulateBackwardGetWorkspaceSize(tensor[0], tensor[1], tensor[2], tensor[3], tensor[4], tensor[5],
                                                  tensor[6], &size, &executor) == 0);
    if (size > 0)
        REQUIRE(aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
    REQUIRE(aclnnModulateBackward(workspace, size, executor, stream) == 0);
    REQUIRE(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
    for (int i = 4; i < 7; i++) {
        float result[2] = {0, 0};
        CHECK_EQ(aclrtMemcpy(result, sizeof(result), device[i], 8, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
        CHECK(result[0] == expected[i - 4][0] && result[1] == expected[i - 4][1]);
    }
    for (int i = 0; i < 7; i++) {
        CHECK_EQ(aclDestroyTensor(tensor[i]), 0);
        CHECK_EQ(aclrtFree(device[i]), ACL_SUCCESS);
    }
    if (workspace)
        CHECK_EQ(aclrtFree(workspace), ACL_SUCCESS);
    CHECK_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
    CHECK_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    CHECK_EQ(aclFinalize(), ACL_SUCCESS);
    CHECK(aclGetRecentErrMsg() == NULL);
}

/* NULL strides, an executor pointer that nobody initialised, the default stream. */
TEST(case_01_sample_flow)
{
    start();
    Call call = prepare(ACL_FLOAT, 2, 3, 4);
    for (int i = GRAD_OUTPUT; i <= SHIFT; i++)
        for (int64_t k = 0; k < call.elements[i]; k++)
            store_value(ACL_FLOAT, call.view[i].data, k, 2);
    CHECK_EQ(plan_and_run(&call), 0);
    const float expected[3] = {4, 12, 6};
    for (int i = GRAD_INPUT; i < TENSORS; i++)
        for (int64_t k = 0; k < call.elements[i]; k++)
            CHECK(load_value(ACL_FLOAT, call.view[i].data, k) == expected[i - GRAD_INPUT]);
    CHECK(fences_hold(&call));
    finish(&call);
}

static Call constant(aclDataType type, int64_t L, double g, double x)
{
    Call call = prepare(type, 1, L, 3);
    for (int64_t k = 0; k < call.elements[GRAD_OUTPUT]; k++) {
        store_value(type, call.view[GRAD_OUTPUT].data, k, g);
        store_value(type, call.view[INPUT].data, k, x);
    }
    return call;
}

/* A bf16 accumulator would stop at 256, an f16 one at 2048. */
TEST(case_10_ones)
{
    const aclDataType types[3] = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
    start();
    for (int t = 0; t < 3; t++) {
        Call call = constant(types[t], 4096, 1, 1);
        CHECK_EQ(plan_and_run(&call), 0);
        for (int d = 0; d < 3; d++) {
            CHECK(load_value(types[t], call.view[GRAD_SCALE].data, d) == 4096);
            CHECK(load_value(types[t], call.view[GRAD_SHIFT].data, d) == 4096);
        }
        finish(&call);
    }
}

/* 4 * 16384 = 65536 is past the largest f16; 3 of them are not. */
TEST(case_26_f16_overflow)
{
    start();
    Call call = constant(ACL_FLOAT16, 4, 16384, 1);
    CHECK_EQ(plan_and_run(&call), 0);
    CHECK_EQ(load_bits(ACL_FLOAT16, call.view[GRAD_SHIFT].data, 0), 0x7c00);
    CHECK_EQ(load_bits(ACL_FLOAT16, call.view[GRAD_SCALE].data, 0), 0x7c00);
    finish(&call);
    call = constant(ACL_FLOAT16, 3, 16384, 1);
    CHECK_EQ(plan_and_run(&call), 0);
    CHECK(load_value(ACL_FLOAT16, call.view[GRAD_SHIFT].data, 0) == 49152);
    finish(&call);
}

TEST(bf16_ties_go_to_even)
{
    start();
    Call call = prepare(ACL_BF16, 1, 1, 2);
    store_value(ACL_BF16, call.view[GRAD_OUTPUT].data, 0, 1.5);
    store_value(ACL_BF16, call.view[GRAD_OUTPUT].data, 1, 1.5);
    store_value(ACL_BF16, call.view[SCALE].data, 0, 129.0 / 128);
    store_value(ACL_BF16, call.view[SCALE].data, 1, 131.0 / 128);
    CHECK_EQ(plan_and_run(&call), 0);
    CHECK(load_value(ACL_BF16, call.view[GRAD_INPUT].data, 0) == 1.515625);
    CHECK(load_value(ACL_BF16, call.view[GRAD_INPUT].data, 1) == 1.53125);
    finish(&call);
}

/* Through f32 this sum would be rounded twice: 1 + 2^-11 is a tie in f16, and 2^-40 above it decides. */
TEST(one_rounding_from_f64)
{
    start();
    Call call = prepare(ACL_FLOAT16, 1, 17, 1);
    for (int l = 0; l < 17; l++) {
        store_value(ACL_FLOAT16, call.view[GRAD_OUTPUT].data, l, 0);
        store_value(ACL_FLOAT16, call.view[INPUT].data, l, 1);
    }
    store_value(ACL_FLOAT16, call.view[GRAD_OUTPUT].data, 0, 1);
    store_value(ACL_FLOAT16, call.view[GRAD_OUTPUT].data, 8, ldexp(1, -11));
    store_value(ACL_FLOAT16, call.view[GRAD_OUTPUT].data, 16, ldexp(1, -20));
    store_value(ACL_FLOAT16, call.view[INPUT].data, 16, ldexp(1, -20));
    CHECK_EQ(plan_and_run(&call), 0);
    CHECK(load_value(ACL_FLOAT16, call.view[GRAD_SCALE].data, 0) == 1 + ldexp(1, -10));
    finish(&call);
}
