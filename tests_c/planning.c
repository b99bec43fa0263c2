/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Phase one: its table of checks, row by row. A refused call must give the row's status, say what is wrong, and leave
 * the caller's variables alone; CHECK_REFUSED looks at all three.
 */
#include "call.h"

static const aclDataType TYPES[3] = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
static const char *const NAMES[TENSORS] = {"grad_output", "input",      "scale",     "shift",
                                           "grad_input",  "grad_scale", "grad_shift"};

static Call small(void)
{
    return prepare(ACL_FLOAT, 2, 3, 4);
}

static void set_dims(View *view, uint64_t n, int64_t a, int64_t b, int64_t c, int64_t d)
{
    view->dims[0] = a;
    view->dims[1] = b;
    view->dims[2] = c;
    view->dims[3] = d;
    view->dims_num = n;
    memcpy(view->storage, view->dims, sizeof(view->dims));
    view->storage_num = n;
}

static void set_strides(View *view, int64_t a, int64_t b, int64_t c)
{
    view->strides[0] = a;
    view->strides[1] = b;
    view->strides[2] = c;
    view->has_strides = 1;
}

TEST(row_01_null_outputs)
{
    Call call = small();
    aclOpExecutor *executor = NULL;
    uint64_t size = 12345;
    make_tensors(&call);
    (void)aclGetRecentErrMsg();
    CHECK_EQ(plan_with(&call, NULL, &executor), 161001);
    CHECK_HAS(aclGetRecentErrMsg(), "workspaceSize");
    CHECK(executor == NULL);
    CHECK_EQ(plan_with(&call, &size, NULL), 161001);
    CHECK_HAS(aclGetRecentErrMsg(), "executor");
    CHECK_EQ(size, 12345);
    CHECK_EQ(plan_with(&call, NULL, NULL), 161001);
    finish(&call);
}

TEST(row_02_required_tensor_null)
{
    const int required[3] = {GRAD_OUTPUT, INPUT, GRAD_INPUT};
    for (int i = 0; i < 3; i++) {
        Call call = small();
        drop(&call, required[i]);
        CHECK_REFUSED(&call, 161001, NAMES[required[i]]);
        finish(&call);
    }
}

/* Every later check is violated as well: the NULL is still what is reported. */
TEST(row_02_comes_before_the_rest)
{
    Call call = small();
    drop(&call, INPUT);
    call.view[SCALE].type = ACL_INT32;
    call.view[GRAD_SCALE].format = ACL_FORMAT_NCHW;
    set_dims(&call.view[GRAD_OUTPUT], 2, 2, 3, 0, 0);
    drop(&call, SHIFT);
    CHECK_REFUSED(&call, 161001, "input");
    destroy_tensors(&call);
    /* Even where another pointer is no tensor at all. */
    make_tensors(&call);
    aclTensor *const real = call.tensor[SCALE];
    call.tensor[SCALE] = (aclTensor *)(uintptr_t)0xdeadbeef;
    CHECK_REFUSED(&call, 161001, "input");
    call.tensor[SCALE] = real;
    finish(&call);
}

TEST(row_03_not_a_live_tensor)
{
    start();
    const int64_t number = 7;
    aclIntArray *array = aclCreateIntArray(&number, 1);
    aclTensorList *list = aclCreateTensorList(NULL, 0);
    Call other = small();
    REQUIRE(plan(&other) == 0);
    aclTensor *dead = make_tensor(&other.view[SCALE]);
    REQUIRE(dead && aclDestroyTensor(dead) == 0);
    int local = 0;
    void *const bad[] = {(void *)(uintptr_t)1,    (void *)(uintptr_t)0xdeadbeef, (void *)UINTPTR_MAX, &local,
                         (void *)(uintptr_t)main, dead,                          array,               list,
                         other.executor};
    for (int i = 0; i < TENSORS; i++) {
        for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
            Call call = small();
            make_tensors(&call);
            aclTensor *const real = call.tensor[i];
            call.tensor[i] = (aclTensor *)bad[k];
            CHECK_REFUSED(&call, 161002, NAMES[i]);
            call.tensor[i] = real;
            finish(&call);
        }
    }
    CHECK_EQ(aclDestroyAclOpExecutor(other.executor), 0);
    finish(&other);
    CHECK_EQ(aclDestroyIntArray(array), 0);
    CHECK_EQ(aclDestroyTensorList(list), 0);
}

TEST(row_04_unsupported_type)
{
    const aclDataType wrong[] = {ACL_DOUBLE, ACL_INT32, ACL_DT_UNDEFINED, ACL_BOOL, ACL_STRING, ACL_COMPLEX64,
                                 ACL_HIFLOAT8, ACL_FLOAT4_E1M2};
    for (int i = 0; i < TENSORS; i++) {
        for (size_t k = 0; k < sizeof(wrong) / sizeof(wrong[0]); k++) {
            Call call = small();
            call.view[i].type = wrong[k];
            CHECK_REFUSED(&call, 161002, NAMES[i]);
            finish(&call);
        }
    }
}

TEST(row_05_types_differ)
{
    for (int i = 1; i < TENSORS; i++) {
        for (int a = 0; a < 3; a++) {
            for (int b = 0; b < 3; b++) {
                Call call = prepare(TYPES[a], 2, 3, 4);
                call.view[i].type = TYPES[b];
                call.view[i].data = NULL;
                if (a == b) {
                    CHECK_EQ(plan(&call), 0);
                    CHECK_EQ(aclDestroyAclOpExecutor(call.executor), 0);
                } else {
                    CHECK_REFUSED(&call, 161002, NAMES[i]);
                }
                finish(&call);
            }
        }
    }
}

TEST(row_06_not_rank_3)
{
    for (int i = GRAD_OUTPUT; i <= INPUT; i++) {
        for (uint64_t rank = 0; rank <= 8; rank++) {
            if (rank == 3)
                continue;
            Call call = small();
            for (int k = 0; k < 8; k++)
                call.view[i].dims[k] = call.view[i].storage[k] = 1;
            call.view[i].dims_num = call.view[i].storage_num = rank;
            CHECK_REFUSED(&call, 161002, NAMES[i]);
            finish(&call);
        }
    }
}

TEST(row_07_empty_but_scale_given)
{
    for (int empty = GRAD_OUTPUT; empty <= INPUT; empty++) {
        for (int given = SCALE; given <= SHIFT; given++) {
            Call call = prepare(ACL_FLOAT, 32, 8, 16);
            set_dims(&call.view[empty], 3, 0, 8, 16, 0);
            drop(&call, given == SCALE ? SHIFT : SCALE);
            drop(&call, given == SCALE ? GRAD_SHIFT : GRAD_SCALE);
            CHECK_REFUSED(&call, 161002, NAMES[given]);
            finish(&call);
        }
    }
}

TEST(row_08_format)
{
    const aclFormat wrong[] = {ACL_FORMAT_UNDEFINED, ACL_FORMAT_NCHW, ACL_FORMAT_NHWC, ACL_FORMAT_NCL,
                               ACL_FORMAT_FRACTAL_NZ, ACL_FORMAT_FRACTAL_NZ_C0_8};
    for (int i = 0; i < TENSORS; i++) {
        for (size_t k = 0; k < sizeof(wrong) / sizeof(wrong[0]); k++) {
            Call call = small();
            call.view[i].format = wrong[k];
            CHECK_REFUSED(&call, 161002, "ACL_FORMAT_ND");
            finish(&call);
        }
    }
}

TEST(row_09_shape_of_scale_and_shift)
{
    /* B = 2, D = 4. Here and in case_06 below: [B,1,D], [D], [B,2,D], [B], and neighbours of [B, D]. */
    const struct {
        uint64_t rank;
        int64_t dims[3];
    } wrong[] = {{3, {2, 1, 4}}, {1, {4, 0, 0}}, {3, {2, 2, 4}}, {1, {2, 0, 0}}, {0, {0, 0, 0}}, {2, {2, 3, 0}},
                 {2, {2, 5, 0}}, {2, {1, 4, 0}}, {2, {3, 4, 0}}, {2, {4, 2, 0}}, {2, {2, 0, 0}}, {2, {2, 1, 0}}};
    for (int i = SCALE; i <= SHIFT; i++) {
        for (size_t k = 0; k < sizeof(wrong) / sizeof(wrong[0]); k++) {
            Call call = small();
            set_dims(&call.view[i], wrong[k].rank, wrong[k].dims[0], wrong[k].dims[1], wrong[k].dims[2], 0);
            /* A larger view than its memory would be another mistake: here only the shape is wrong. */
            call.view[i].data = NULL;
            CHECK_REFUSED(&call, 161002, NAMES[i]);
            finish(&call);
        }
    }
}

TEST(case_06_message_gives_rank_and_expected_shape)
{
    Call call = small();
    set_dims(&call.view[SCALE], 3, 2, 1, 4, 0);
    CHECK_REFUSED(&call, 161002, "[2, 4]");
    CHECK_REFUSED(&call, 161002, "rank 3");
    CHECK_REFUSED(&call, 161002, "[2, 1, 4]");
    finish(&call);
}

static void check_empty(Call *call)
{
    CHECK_EQ(plan(call), 0);
    CHECK_EQ(call->workspace_size, 0);
    char rubbish[16];
    /* An empty call takes any workspace. */
    CHECK_EQ(aclnnModulateBackward(rubbish, sizeof(rubbish), call->executor, NULL), 0);
    CHECK_EQ(aclnnModulateBackward(NULL, 0, call->executor, NULL), 561103);
    CHECK(fences_hold(call));
    finish(call);
}

/* This thread has no context: an empty call needs none. */
TEST(row_10_empty_succeeds)
{
    for (int zero = 0; zero < 3; zero++) {
        Call call = prepare(ACL_FLOAT, zero == 0 ? 0 : 2, zero == 1 ? 0 : 3, zero == 2 ? 0 : 4);
        if (zero == 1) {
            /* scale and shift would have elements: row 7. */
            for (int i = SCALE; i <= GRAD_SHIFT; i++)
                if (i != GRAD_INPUT)
                    drop(&call, i);
        }
        check_empty(&call);
    }
    /* An empty grad_input alone makes the call empty too, and nothing is written. */
    Call call = small();
    set_dims(&call.view[GRAD_INPUT], 3, 0, 3, 4, 0);
    check_empty(&call);
}

/* After a context, a stream that is not NULL must be live even for an empty call. */
TEST(row_10_empty_but_dead_stream)
{
    Call call = prepare(ACL_FLOAT, 0, 3, 4);
    CHECK_EQ(plan(&call), 0);
    CHECK_EQ(aclnnModulateBackward(NULL, 0, call.executor, (aclrtStream)(uintptr_t)0xdeadbeef), 361001);
    finish(&call);
}

TEST(case_04_empty_grad_output)
{
    Call call = prepare(ACL_FLOAT, 32, 8, 1024);
    set_dims(&call.view[GRAD_OUTPUT], 3, 0, 8, 1024, 0);
    set_dims(&call.view[GRAD_INPUT], 3, 0, 8, 1024, 0);
    drop(&call, SCALE);
    drop(&call, SHIFT);
    drop(&call, GRAD_SCALE);
    drop(&call, GRAD_SHIFT);
    check_empty(&call);
}

TEST(case_05_empty_grad_output_with_scale)
{
    Call call = prepare(ACL_FLOAT, 32, 8, 1024);
    set_dims(&call.view[GRAD_OUTPUT], 3, 0, 8, 1024, 0);
    set_dims(&call.view[GRAD_INPUT], 3, 0, 8, 1024, 0);
    CHECK_REFUSED(&call, 161002, "scale");
    finish(&call);
}

TEST(row_11_shapes_differ)
{
    const int64_t big[][3] = {{1, 3, 4}, {2, 2, 4}, {2, 3, 3}, {2, 4, 3}, {4, 3, 2}};
    const int64_t flat[][2] = {{1, 4}, {2, 3}, {4, 2}, {8, 1}};
    for (size_t k = 0; k < sizeof(big) / sizeof(big[0]); k++) {
        const int which[2] = {INPUT, GRAD_INPUT};
        for (int w = 0; w < 2; w++) {
            Call call = small();
            set_dims(&call.view[which[w]], 3, big[k][0], big[k][1], big[k][2], 0);
            CHECK_REFUSED(&call, 161002, NAMES[which[w]]);
            finish(&call);
        }
    }
    for (size_t k = 0; k < sizeof(flat) / sizeof(flat[0]); k++) {
        for (int i = GRAD_SCALE; i <= GRAD_SHIFT; i++) {
            Call call = small();
            set_dims(&call.view[i], 2, flat[k][0], flat[k][1], 0, 0);
            CHECK_REFUSED(&call, 161002, NAMES[i]);
            finish(&call);
        }
    }
    /* Of the same shape in elements, but not in rank. */
    Call call = small();
    set_dims(&call.view[GRAD_SCALE], 3, 2, 1, 4, 0);
    CHECK_REFUSED(&call, 161002, "grad_scale");
    finish(&call);
    call = small();
    set_dims(&call.view[GRAD_INPUT], 4, 1, 2, 3, 4);
    CHECK_REFUSED(&call, 161002, "grad_input");
    finish(&call);
}

TEST(row_12_gradient_without_its_input)
{
    Call call = small();
    drop(&call, SCALE);
    CHECK_REFUSED(&call, 161002, "grad_scale");
    finish(&call);
    call = small();
    drop(&call, SHIFT);
    CHECK_REFUSED(&call, 161002, "grad_shift");
    finish(&call);
}

/* The other way round is allowed and leaves no message. */
TEST(row_12_input_without_its_gradient)
{
    start();
    Call call = small();
    drop(&call, GRAD_SCALE);
    drop(&call, GRAD_SHIFT);
    CHECK_EQ(plan_and_run(&call), 0);
    CHECK(right(&call));
    CHECK(fences_hold(&call));
    CHECK(aclGetRecentErrMsg() == NULL);
    finish(&call);
}

TEST(row_13_null_data_is_no_error)
{
    Call call = small();
    for (int i = 0; i < TENSORS; i++)
        call.view[i].data = NULL;
    CHECK_EQ(plan(&call), 0);
    CHECK_EQ(aclDestroyAclOpExecutor(call.executor), 0);
    finish(&call);
}

TEST(row_14_view_leaves_storage)
{
    for (int i = 0; i < TENSORS; i++) {
        const int64_t exact = i == GRAD_OUTPUT || i == INPUT || i == GRAD_INPUT ? 24 : 8;
        Call call = small();
        View *view = &call.view[i];
        view->data = NULL;
        view->storage_num = 1;
        view->storage[0] = exact - 1;
        CHECK_REFUSED(&call, 161002, NAMES[i]);
        destroy_tensors(&call);
        view->storage[0] = exact;
        CHECK_EQ(plan(&call), 0);
        CHECK_EQ(aclDestroyAclOpExecutor(call.executor), 0);
        destroy_tensors(&call);
        view->offset = 1;
        CHECK_REFUSED(&call, 161002, NAMES[i]);
        destroy_tensors(&call);
        view->storage[0] = exact + 1;
        CHECK_EQ(plan(&call), 0);
        CHECK_EQ(aclDestroyAclOpExecutor(call.executor), 0);
        destroy_tensors(&call);
        /* An unknown extent is not judged. */
        view->storage_num = 0;
        CHECK_EQ(plan(&call), 0);
        CHECK_EQ(aclDestroyAclOpExecutor(call.executor), 0);
        finish(&call);
    }
}

TEST(row_14_extent_overflows)
{
    Call call = small();
    View *view = &call.view[GRAD_OUTPUT];
    view->data = NULL;
    view->storage_num = 0;
    set_strides(view, INT64_MAX, 4, 1);
    CHECK_REFUSED(&call, 161002, "grad_output");
    destroy_tensors(&call);
    set_strides(view, INT64_MAX / 2, INT64_MAX / 2, 1);
    CHECK_REFUSED(&call, 161002, "grad_output");
    destroy_tensors(&call);
    set_strides(view, 12, 4, 1);
    view->offset = INT64_MAX;
    CHECK_REFUSED(&call, 161002, "grad_output");
    destroy_tensors(&call);
    /* Elements fit into 63 bits, bytes don't. */
    view->offset = INT64_MAX / 2;
    CHECK_REFUSED(&call, 161002, "grad_output");
    finish(&call);
}

/* The address plus the extent wraps around: not known to be in a block, still refused or at least harmless. */
TEST(row_14_huge_offset_on_real_memory)
{
    start();
    void *block = NULL;
    REQUIRE(aclrtMalloc(&block, 4096, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
    for (int i = 0; i < TENSORS; i++) {
        Call call = small();
        call.view[i].data = block;
        call.view[i].storage_num = 0;
        call.view[i].offset = INT64_MAX / 8;
        CHECK_REFUSED(&call, 161002, NAMES[i]);
        finish(&call);
    }
    CHECK_EQ(aclrtFree(block), ACL_SUCCESS);
}

TEST(row_15_view_leaves_its_block)
{
    start();
    for (int i = 0; i < TENSORS; i++) {
        const int64_t exact = i == GRAD_OUTPUT || i == INPUT || i == GRAD_INPUT ? 96 : 32;
        /* 96 and 32 are multiples of 32: the checked length is 32 bytes more than the block. */
        void *block = NULL;
        REQUIRE(aclrtMalloc(&block, (size_t)exact, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
        Call call = small();
        call.view[i].data = block;
        call.view[i].storage_num = 0;
        CHECK_EQ(plan(&call), 0);
        CHECK_EQ(aclDestroyAclOpExecutor(call.executor), 0);
        destroy_tensors(&call);
        call.view[i].offset = 8;
        CHECK_EQ(plan(&call), 0);
        CHECK_EQ(aclDestroyAclOpExecutor(call.executor), 0);
        destroy_tensors(&call);
        call.view[i].offset = 9;
        CHECK_REFUSED(&call, 161002, NAMES[i]);
        destroy_tensors(&call);
        /* The same by the address instead of the offset. */
        call.view[i].offset = 0;
        call.view[i].data = (char *)block + 36;
        CHECK_REFUSED(&call, 161002, NAMES[i]);
        finish(&call);
        CHECK_EQ(aclrtFree(block), ACL_SUCCESS);
    }
}

TEST(row_15_storage_beyond_the_block_does_not_matter)
{
    start();
    void *block = NULL;
    REQUIRE(aclrtMalloc(&block, 96, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
    Call call = small();
    call.view[GRAD_OUTPUT].data = block;
    call.view[GRAD_OUTPUT].storage_num = 1;
    call.view[GRAD_OUTPUT].storage[0] = 1000000;
    CHECK_EQ(plan(&call), 0);
    CHECK_EQ(aclDestroyAclOpExecutor(call.executor), 0);
    finish(&call);
    CHECK_EQ(aclrtFree(block), ACL_SUCCESS);
}

TEST(row_16_output_overlaps_itself)
{
    for (int i = GRAD_INPUT; i < TENSORS; i++) {
        Call call = small();
        if (i == GRAD_INPUT)
            set_strides(&call.view[i], 12, 0, 1);
        else
            set_strides(&call.view[i], 0, 1, 0);
        CHECK_REFUSED(&call, 161002, NAMES[i]);
        destroy_tensors(&call);
        /* No zero stride, and still an element twice. */
        if (i == GRAD_INPUT)
            set_strides(&call.view[i], 4, 4, 1);
        else
            set_strides(&call.view[i], 1, 1, 0);
        CHECK_REFUSED(&call, 161002, NAMES[i]);
        finish(&call);
    }
}

TEST(row_16_outputs_overlap_each_other)
{
    Call call = small();
    call.view[GRAD_SHIFT].data = call.view[GRAD_SCALE].data;
    CHECK_REFUSED(&call, 161002, "overlap");
    destroy_tensors(&call);
    call.view[GRAD_SHIFT].data = (char *)call.view[GRAD_SCALE].data + 28;
    CHECK_REFUSED(&call, 161002, "overlap");
    destroy_tensors(&call);
    call.view[GRAD_SHIFT].data = (char *)call.view[GRAD_INPUT].data + 64;
    CHECK_REFUSED(&call, 161002, "overlap");
    finish(&call);
}

TEST(row_16_output_overlaps_an_input)
{
    const struct {
        int output, input, bytes;
    } wrong[] = {{GRAD_INPUT, GRAD_OUTPUT, 4}, {GRAD_INPUT, INPUT, 4},   {GRAD_INPUT, SCALE, 0}, {GRAD_SCALE, INPUT, 0},
                 {GRAD_SCALE, GRAD_OUTPUT, 0}, {GRAD_SHIFT, INPUT, 64},  {GRAD_SHIFT, GRAD_OUTPUT, 0},
                 {GRAD_SCALE, SCALE, 4},       {GRAD_SHIFT, SCALE, -28}, {GRAD_SCALE, SCALE, 2}};
    for (size_t k = 0; k < sizeof(wrong) / sizeof(wrong[0]); k++) {
        Call call = small();
        call.view[wrong[k].output].data = (char *)call.view[wrong[k].input].data + wrong[k].bytes;
        CHECK_REFUSED(&call, 161002, NAMES[wrong[k].output]);
        finish(&call);
    }
}

/* Six [B, D] chunks of one [B, 6*D] parent lie between each other and share nothing. */
TEST(row_16_interleaved_views_pass)
{
    start();
    for (int t = 0; t < 3; t++) {
        Call call = prepare(TYPES[t], 2, 3, 4);
        char *parent = (char *)calloc(2 * 6 * 4, 4);
        const int chunk[4] = {SCALE, SHIFT, GRAD_SCALE, GRAD_SHIFT};
        for (int c = 0; c < 4; c++) {
            View *view = &call.view[chunk[c]];
            set_strides(view, 24, 1, 0);
            view->offset = 4 * c + 4;
            view->data = parent;
            view->storage_num = 2;
            view->storage[0] = 2;
            view->storage[1] = 24;
        }
        fill(call.type, parent, 48, 9);
        void *before = malloc(48 * 4);
        memcpy(before, parent, 48 * width_of(call.type));
        CHECK_EQ(plan_and_run(&call), 0);
        CHECK(right(&call));
        /* Chunks 0, 1, 2 and 5 are not outputs. */
        for (int k = 0; k < 48; k++) {
            const int c = k % 24 / 4;
            if (c != 3 && c != 4)
                CHECK_EQ(load_bits(call.type, parent, k), load_bits(call.type, before, k));
        }
        free(before);
        finish(&call);
        free(parent);
    }
}

static void check_alias(int output, int input)
{
    for (int t = 0; t < 3; t++) {
        Call call = prepare(TYPES[t], 3, 19, 21);
        const Inputs before = remember(&call);
        call.view[output].data = call.view[input].data;
        CHECK_EQ(plan_and_run(&call), 0);
        CHECK(right_for(&call, before));
        CHECK(fences_hold(&call));
        finish(&call);
    }
}

TEST(case_16_grad_input_on_grad_output)
{
    start();
    check_alias(GRAD_INPUT, GRAD_OUTPUT);
}

TEST(case_16_grad_input_on_input)
{
    start();
    check_alias(GRAD_INPUT, INPUT);
}

TEST(case_16_grad_scale_on_scale)
{
    start();
    check_alias(GRAD_SCALE, SCALE);
}

TEST(case_16_grad_shift_on_shift)
{
    start();
    check_alias(GRAD_SHIFT, SHIFT);
}

TEST(case_16_grad_shift_on_scale)
{
    start();
    check_alias(GRAD_SHIFT, SCALE);
}

/* Shift is never read: anything may lie over it, at any displacement. */
TEST(case_16_anything_over_shift)
{
    start();
    Call call = prepare(ACL_FLOAT, 2, 3, 4);
    call.view[SHIFT].data = (char *)call.view[GRAD_INPUT].data + 20;
    CHECK_EQ(plan_and_run(&call), 0);
    CHECK(right(&call));
    finish(&call);
}

/* In place with all three at once. */
TEST(case_16_all_in_place)
{
    start();
    Call call = prepare(ACL_FLOAT, 2, 70, 33);
    const Inputs before = remember(&call);
    call.view[GRAD_INPUT].data = call.view[GRAD_OUTPUT].data;
    call.view[GRAD_SCALE].data = call.view[SCALE].data;
    call.view[GRAD_SHIFT].data = call.view[SHIFT].data;
    CHECK_EQ(plan_and_run(&call), 0);
    CHECK(right_for(&call, before));
    finish(&call);
}

/* Strides of dims of length 1 don't count: these two views are the same. */
TEST(case_16_same_view_by_other_strides)
{
    start();
    Call call = prepare(ACL_FLOAT, 1, 5, 6);
    const Inputs before = remember(&call);
    call.view[GRAD_INPUT].data = call.view[GRAD_OUTPUT].data;
    set_strides(&call.view[GRAD_INPUT], 777, 6, 1);
    CHECK_EQ(plan_and_run(&call), 0);
    CHECK(right_for(&call, before));
    finish(&call);
}

TEST(case_16_shifted_and_stride_0)
{
    Call call = small();
    call.view[GRAD_INPUT].data = (char *)call.view[GRAD_OUTPUT].data + 4;
    CHECK_REFUSED(&call, 161002, "grad_input");
    destroy_tensors(&call);
    call.view[GRAD_INPUT].data = call.memory[GRAD_INPUT] + FENCE;
    set_strides(&call.view[GRAD_INPUT], 0, 0, 0);
    CHECK_REFUSED(&call, 161002, "grad_input");
    finish(&call);
}

TEST(case_07_types)
{
    Call call = prepare(ACL_FLOAT16, 2, 3, 4);
    call.view[SCALE].type = ACL_FLOAT;
    call.view[SCALE].data = NULL;
    CHECK_REFUSED(&call, 161002, "scale");
    finish(&call);
    call = small();
    call.view[SHIFT].type = (aclDataType)9999;
    CHECK(make_tensor(&call.view[SHIFT]) == NULL);
    CHECK_HAS(messages(), "9999");
    finish(&call);
}

TEST(case_08_each_required_null)
{
    start();
    uint64_t size;
    aclOpExecutor *executor;
    CHECK_EQ(aclnnModulateBackwardGetWorkspaceSize(NULL, NULL, NULL, NULL, NULL, NULL, NULL, &size, &executor), 161001);
    CHECK_EQ(aclnnModulateBackwardGetWorkspaceSize(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), 161001);
    Call call = small();
    drop(&call, GRAD_OUTPUT);
    call.view[INPUT].type = ACL_INT8;
    drop(&call, GRAD_INPUT);
    CHECK_REFUSED(&call, 161001, "grad_output");
    finish(&call);
}

/* Phase one reads no data and needs no context: any address will do while it only plans. */
TEST(phase_one_needs_no_context)
{
    Call call = small();
    CHECK_EQ(plan(&call), 0);
    CHECK_EQ(aclDestroyAclOpExecutor(call.executor), 0);
    finish(&call);
}

TEST(sizes_near_2_63)
{
    const int64_t huge[] = {INT64_MAX, INT64_MAX - 1, INT64_MAX / 2, INT64_MAX / 3, (int64_t)1 << 62, (int64_t)1 << 32};
    const size_t n = sizeof(huge) / sizeof(huge[0]);
    for (size_t a = 0; a < n; a++) {
        for (int dim = 0; dim < 3; dim++) {
            for (int other = 0; other < 3; other++) {
                Call call = prepare(ACL_FLOAT, 1, 1, 1);
                aclTensor *made[TENSORS] = {NULL, NULL, NULL, NULL, NULL, NULL, NULL};
                int all = 1;
                for (int i = 0; i < TENSORS; i++) {
                    View *view = &call.view[i];
                    int64_t dims[3] = {1, 1, 1};
                    dims[dim] = huge[a];
                    dims[other] = huge[(a + 1) % n];
                    if (view->dims_num == 3)
                        set_dims(view, 3, dims[0], dims[1], dims[2], 0);
                    else
                        set_dims(view, 2, dims[0], dims[2], 0, 0);
                    view->data = NULL;
                    made[i] = make_tensor(view);
                    call.tensor[i] = made[i];
                    all &= made[i] != NULL;
                }
                if (all) {
                    uint64_t size = 0;
                    aclOpExecutor *executor = NULL;
                    const aclnnStatus status = plan_with(&call, &size, &executor);
                    CHECK(status == 0 || status == 161002);
                    if (status == 0)
                        CHECK_EQ(aclDestroyAclOpExecutor(executor), 0);
                }
                finish(&call);
            }
        }
    }
}
