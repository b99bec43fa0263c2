/* SPDX-License-Identifier: Apache-2.0 */
/* The cases from the field that are about values and views. */
#include <fenv.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "call.h"

static const aclDataType TYPES[3] = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};

static void run_and_check(Call *call)
{
    const Inputs before = remember(call);
    CHECK_EQ(plan_and_run(call), 0);
    CHECK(right_for(call, before));
    CHECK(fences_hold(call));
    finish(call);
}

TEST(case_02_scale_zero)
{
    start();
    for (int t = 0; t < 3; t++) {
        Call call = prepare(TYPES[t], 2, 9, 33);
        memset(call.view[SCALE].data, 0, bytes_of(&call, SCALE));
        CHECK_EQ(plan_and_run(&call), 0);
        for (int64_t k = 0; k < call.elements[GRAD_INPUT]; k++)
            CHECK(load_value(TYPES[t], call.view[GRAD_INPUT].data, k) == 0);
        CHECK(right(&call));
        finish(&call);
    }
}

TEST(case_03_absent_arguments)
{
    start();
    for (int t = 0; t < 3; t++) {
        for (int absent = 0; absent < 16; absent++) {
            Call call = prepare(TYPES[t], 3, 10, 13);
            /* Bits: scale with its gradient, shift with its gradient, only the gradients. */
            if (absent & 1)
                drop(&call, SCALE);
            if (absent & 5)
                drop(&call, GRAD_SCALE);
            if (absent & 2)
                drop(&call, SHIFT);
            if (absent & 10)
                drop(&call, GRAD_SHIFT);
            const int copied = absent & 1;
            const Inputs before = remember(&call);
            CHECK_EQ(plan_and_run(&call), 0);
            if (copied)
                CHECK(memcmp(call.view[GRAD_INPUT].data, call.view[GRAD_OUTPUT].data, bytes_of(&call, GRAD_INPUT)) ==
                      0);
            CHECK(right_for(&call, before));
            CHECK(fences_hold(&call));
            CHECK(aclGetRecentErrMsg() == NULL);
            finish(&call);
        }
    }
}

/* A copy keeps every bit, of a NaN too. */
TEST(case_03_copy_keeps_every_f16_pattern)
{
    start();
    Call call = prepare(ACL_FLOAT16, 1, 256, 256);
    drop(&call, SCALE);
    drop(&call, SHIFT);
    drop(&call, GRAD_SCALE);
    drop(&call, GRAD_SHIFT);
    for (int64_t k = 0; k < 65536; k++)
        store_bits(ACL_FLOAT16, call.view[GRAD_OUTPUT].data, k, (uint32_t)k);
    CHECK_EQ(plan_and_run(&call), 0);
    CHECK(memcmp(call.view[GRAD_INPUT].data, call.view[GRAD_OUTPUT].data, 131072) == 0);
    finish(&call);
}

/* A copy keeps every bit; of a NaN, that it is one. */
TEST(case_03_copy_keeps_every_16_bit_pattern)
{
    start();
    for (int t = 1; t < 3; t++) {
        Call call = prepare(TYPES[t], 1, 256, 256);
        drop(&call, SCALE);
        drop(&call, SHIFT);
        drop(&call, GRAD_SCALE);
        drop(&call, GRAD_SHIFT);
        for (int64_t k = 0; k < 65536; k++)
            store_bits(TYPES[t], call.view[GRAD_OUTPUT].data, k, (uint32_t)k);
        CHECK_EQ(plan_and_run(&call), 0);
        for (int64_t k = 0; k < 65536; k++)
            CHECK(same_number(TYPES[t], load_bits(TYPES[t], call.view[GRAD_INPUT].data, k), (uint32_t)k));
        finish(&call);
    }
}

TEST(case_09_lengths)
{
    static const int64_t lengths[] = {1,  2,  7,   8,   9,   15,  16,  17,  31,  32,  33,   63,
                                      64, 65, 127, 128, 129, 383, 384, 385, 511, 512, 1023, 1024, 1025};
    static const int64_t widths[] = {1, 7, 8, 63, 64, 65};
    start();
    for (int t = 0; t < 3; t++)
        for (size_t l = 0; l < sizeof(lengths) / sizeof(lengths[0]); l++)
            for (size_t d = 0; d < sizeof(widths) / sizeof(widths[0]); d++) {
                Call call = prepare(TYPES[t], 2, lengths[l], widths[d]);
                run_and_check(&call);
            }
}

TEST(case_09_widths)
{
    static const int64_t widths[] = {15,  16,  17,  31,   32,   33,   95,   96,   97,   127,  128, 129,
                                     255, 256, 257, 1023, 1024, 1025, 1151, 1152, 1153, 8191, 8192, 8193};
    start();
    for (int t = 0; t < 3; t++)
        for (size_t d = 0; d < sizeof(widths) / sizeof(widths[0]); d++) {
            Call call = prepare(TYPES[t], 1, 11, widths[d]);
            run_and_check(&call);
        }
}

TEST(case_09_chunks)
{
    static const int64_t lengths[] = {2047, 2048, 2049, 3 * 1024 + 5};
    start();
    for (int t = 0; t < 3; t++)
        for (size_t l = 0; l < sizeof(lengths) / sizeof(lengths[0]); l++) {
            Call call = prepare(TYPES[t], 1, lengths[l], 5);
            run_and_check(&call);
        }
}

TEST(order_of_summation)
{
    static const int64_t lengths[] = {16, 100, 1025, 2048, 3000, 5000};
    static const int64_t widths[] = {1, 5, 64, 70};
    start();
    for (int t = 0; t < 3; t++) {
        for (size_t l = 0; l < sizeof(lengths) / sizeof(lengths[0]); l++) {
            for (size_t w = 0; w < sizeof(widths) / sizeof(widths[0]); w++) {
                const int64_t L = lengths[l], D = widths[w];
                Call call = prepare(TYPES[t], 1, L, D);
                make_sums_cancel(&call);
                run_and_check(&call);
            }
        }
    }
}

TEST(case_11_nan_with_a_low_payload)
{
    start();
    for (int where = 0; where < 3; where++) {
        Call call = prepare(ACL_FLOAT, 1, 9, 20);
        const int which[3] = {GRAD_OUTPUT, INPUT, SCALE};
        store_bits(ACL_FLOAT, call.view[which[where]].data, 3, 0x7f800001);
        store_bits(ACL_FLOAT, call.view[which[where]].data, 17, 0xff800010);
        CHECK_EQ(plan_and_run(&call), 0);
        if (where != 1)
            CHECK(isnan(load_value(ACL_FLOAT, call.view[GRAD_INPUT].data, 3)));
        if (where != 2)
            CHECK(isnan(load_value(ACL_FLOAT, call.view[GRAD_SCALE].data, 17)));
        if (where == 0)
            CHECK(isnan(load_value(ACL_FLOAT, call.view[GRAD_SHIFT].data, 3)));
        CHECK(right(&call));
        finish(&call);
    }
}

/* In the 16-bit types a NaN is made by inf * 0 and by inf - inf, with whatever payload the CPU gives it. */
TEST(case_11_nan_in_16_bits)
{
    start();
    for (int t = 1; t < 3; t++) {
        Call call = prepare(TYPES[t], 1, 9, 20);
        const uint32_t infinity = TYPES[t] == ACL_BF16 ? 0x7f80 : 0x7c00;
        store_bits(TYPES[t], call.view[GRAD_OUTPUT].data, 3, infinity | 1);
        store_bits(TYPES[t], call.view[GRAD_OUTPUT].data, 5, infinity);
        store_bits(TYPES[t], call.view[SCALE].data, 5, 0);
        store_bits(TYPES[t], call.view[GRAD_OUTPUT].data, 7, infinity);
        store_bits(TYPES[t], call.view[GRAD_OUTPUT].data, 27, infinity | 0x8000);
        CHECK_EQ(plan_and_run(&call), 0);
        CHECK(isnan(load_value(TYPES[t], call.view[GRAD_INPUT].data, 3)));
        CHECK(isnan(load_value(TYPES[t], call.view[GRAD_INPUT].data, 5)));
        CHECK(isnan(load_value(TYPES[t], call.view[GRAD_SHIFT].data, 7)));
        CHECK(right(&call));
        finish(&call);
    }
}

TEST(infinities_propagate)
{
    start();
    for (int t = 0; t < 3; t++) {
        Call call = prepare(TYPES[t], 1, 30, 20);
        store_value(TYPES[t], call.view[GRAD_OUTPUT].data, 3, (double)INFINITY);
        store_value(TYPES[t], call.view[INPUT].data, 44, -(double)INFINITY);
        store_value(TYPES[t], call.view[SCALE].data, 5, (double)INFINITY);
        run_and_check(&call);
    }
}

TEST(case_12_one_sample_alone_and_in_a_batch)
{
    start();
    for (int t = 0; t < 3; t++) {
        Call batch = prepare(TYPES[t], 4, 37, 130);
        CHECK_EQ(plan_and_run(&batch), 0);
        for (int64_t b = 0; b < 4; b++) {
            Call one = prepare(TYPES[t], 1, 37, 130);
            for (int i = GRAD_OUTPUT; i <= SHIFT; i++)
                memcpy(one.view[i].data, (char *)batch.view[i].data + (size_t)b * bytes_of(&one, i), bytes_of(&one, i));
            CHECK_EQ(plan_and_run(&one), 0);
            for (int i = GRAD_INPUT; i < TENSORS; i++)
                CHECK(memcmp(one.view[i].data, (char *)batch.view[i].data + (size_t)b * bytes_of(&one, i),
                             bytes_of(&one, i)) == 0);
            finish(&one);
        }
        finish(&batch);
    }
}

static void strides(Call *call, int i, int64_t s0, int64_t s1, int64_t s2, int64_t offset, int64_t elements)
{
    View *view = &call->view[i];
    view->strides[0] = s0;
    view->strides[1] = s1;
    view->strides[2] = s2;
    view->has_strides = 1;
    view->offset = offset;
    /* Memory of the size that the view needs, between fences of its own. */
    free(call->memory[i]);
    call->elements[i] = elements;
    call->memory[i] = (char *)malloc(bytes_of(call, i) + 2 * FENCE);
    REQUIRE(call->memory[i] != NULL);
    memset(call->memory[i], POISON, bytes_of(call, i) + 2 * FENCE);
    view->data = call->memory[i] + FENCE;
    if (i <= SHIFT)
        fill(call->type, view->data, elements, (uint64_t)(50 + i));
    view->storage_num = 1;
    view->storage[0] = elements;
}

/* Every element of view i's memory that the view doesn't contain must still be poison. */
static void check_gaps(const Call *call, int i)
{
    const View *view = &call->view[i];
    const size_t width = width_of(call->type);
    char *mine = (char *)calloc((size_t)call->elements[i] + 1, 1);
    const int64_t L = view->dims_num == 3 ? call->L : 1;
    for (int64_t b = 0; b < call->B; b++)
        for (int64_t l = 0; l < L; l++)
            for (int64_t d = 0; d < call->D; d++)
                mine[place(view, b, l, d)] = 1;
    for (int64_t k = 0; k < call->elements[i]; k++)
        for (size_t byte = 0; byte < width && !mine[k]; byte++)
            if (((unsigned char *)view->data)[(size_t)k * width + byte] != POISON) {
                CHECK(!"a byte between the elements of an output was written");
                free(mine);
                return;
            }
    free(mine);
}

TEST(case_13_expanded_grad_output)
{
    start();
    for (int t = 0; t < 3; t++) {
        Call call = prepare(TYPES[t], 3, 20, 35);
        strides(&call, GRAD_OUTPUT, 0, 0, 0, 0, 1);
        run_and_check(&call);
        call = prepare(TYPES[t], 3, 20, 35);
        strides(&call, INPUT, 0, 35, 1, 0, 700);
        strides(&call, SCALE, 0, 1, 0, 0, 35);
        run_and_check(&call);
    }
}

TEST(case_14_column_step)
{
    start();
    for (int t = 0; t < 3; t++) {
        for (int i = GRAD_OUTPUT; i < TENSORS; i++) {
            Call call = prepare(TYPES[t], 3, 20, 35);
            if (call.view[i].dims_num == 3)
                strides(&call, i, 1400, 70, 2, 0, 4200);
            else
                strides(&call, i, 70, 2, 0, 0, 210);
            const Inputs before = remember(&call);
            CHECK_EQ(plan_and_run(&call), 0);
            CHECK(right_for(&call, before));
            CHECK(fences_hold(&call));
            if (i >= GRAD_INPUT)
                check_gaps(&call, i);
            finish(&call);
        }
    }
}

TEST(case_14_transposed)
{
    start();
    for (int t = 0; t < 3; t++) {
        for (int i = GRAD_OUTPUT; i < TENSORS; i++) {
            Call call = prepare(TYPES[t], 3, 20, 35);
            if (call.view[i].dims_num == 3)
                strides(&call, i, 700, 1, 20, 0, 2100);
            else
                strides(&call, i, 1, 3, 0, 0, 105);
            run_and_check(&call);
        }
        /* All seven at once, and B innermost. */
        Call call = prepare(TYPES[t], 3, 20, 35);
        for (int i = GRAD_OUTPUT; i < TENSORS; i++) {
            if (call.view[i].dims_num == 3)
                strides(&call, i, 1, 105, 3, 0, 2100);
            else
                strides(&call, i, 1, 3, 0, 0, 105);
        }
        run_and_check(&call);
    }
}

TEST(case_14_offset_and_row_pitch)
{
    start();
    for (int t = 0; t < 3; t++) {
        Call call = prepare(TYPES[t], 3, 20, 35);
        for (int i = GRAD_OUTPUT; i < TENSORS; i++) {
            if (call.view[i].dims_num == 3)
                strides(&call, i, 20 * 41 + 3, 41, 1, 5, 3 * (20 * 41 + 3) + 5);
            else
                strides(&call, i, 38, 1, 0, 7, 3 * 38 + 7);
        }
        const Inputs before = remember(&call);
        CHECK_EQ(plan_and_run(&call), 0);
        CHECK(right_for(&call, before));
        for (int i = GRAD_INPUT; i < TENSORS; i++)
            check_gaps(&call, i);
        CHECK(fences_hold(&call));
        finish(&call);
    }
}

/* One handle may be several inputs. */
TEST(one_tensor_as_several_inputs)
{
    start();
    Call call = prepare(ACL_FLOAT, 2, 9, 7);
    make_tensors(&call);
    CHECK_EQ(aclDestroyTensor(call.tensor[INPUT]), 0);
    CHECK_EQ(aclDestroyTensor(call.tensor[SHIFT]), 0);
    call.tensor[INPUT] = call.tensor[GRAD_OUTPUT];
    call.tensor[SHIFT] = call.tensor[SCALE];
    call.view[INPUT].data = call.view[GRAD_OUTPUT].data;
    CHECK_EQ(plan_and_run(&call), 0);
    CHECK(right(&call));
    call.tensor[INPUT] = call.tensor[SHIFT] = NULL;
    finish(&call);
}

/* No address need be aligned, not even to its own element. */
TEST(unaligned_addresses)
{
    start();
    for (int t = 0; t < 3; t++) {
        for (int shift = 1; shift < 4; shift++) {
            Call call = prepare(TYPES[t], 2, 17, 67);
            for (int i = 0; i < TENSORS; i++) {
                char *const moved = call.memory[i] + FENCE + shift;
                memmove(moved, call.view[i].data, bytes_of(&call, i));
                memset(call.memory[i], POISON, (size_t)(FENCE + shift));
                call.view[i].data = moved;
            }
            CHECK_EQ(plan_and_run(&call), 0);
            CHECK(right(&call));
            for (int i = 0; i < TENSORS; i++) {
                const unsigned char *m = (const unsigned char *)call.memory[i];
                for (size_t k = 0; k < (size_t)(FENCE + shift); k++)
                    CHECK(m[k] == POISON);
                for (size_t k = (size_t)(FENCE + shift) + bytes_of(&call, i); k < bytes_of(&call, i) + 2 * FENCE; k++)
                    CHECK(m[k] == POISON);
            }
            finish(&call);
        }
    }
}

TEST(case_15_storage_dims)
{
    start();
    for (int way = 0; way < 4; way++) {
        Call call = prepare(ACL_FLOAT, 2, 6, 10);
        for (int i = 0; i < TENSORS; i++) {
            View *view = &call.view[i];
            const int64_t count = call.elements[i];
            const int64_t ways[4][4] = {{count, 1, 1, 1}, {count * 3, 1, 1, 1}, {count / 2, 1, 2, 1}, {1, count, 1, 5}};
            memcpy(view->storage, ways[way], sizeof(ways[way]));
            view->storage_num = way == 2 || way == 3 ? 4 : 1;
        }
        run_and_check(&call);
    }
}

TEST(case_28_pooled_memory)
{
    start();
    void *pool = NULL;
    const size_t size = 1 << 20;
    REQUIRE(aclrtMalloc(&pool, size, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
    REQUIRE(aclrtMemset(pool, size, POISON, size) == ACL_SUCCESS);
    Call call = prepare(ACL_FLOAT, 2, 30, 40);
    char *next = (char *)pool + 1000;
    for (int i = 0; i < TENSORS; i++) {
        memcpy(next, call.view[i].data, bytes_of(&call, i));
        call.view[i].data = next;
        call.view[i].storage_num = 1;
        call.view[i].storage[0] = (int64_t)(size / 4);
        next += bytes_of(&call, i) + 500;
    }
    CHECK_EQ(plan_and_run(&call), 0);
    CHECK(right(&call));
    finish(&call);
    CHECK_EQ(aclrtFree(pool), ACL_SUCCESS);
}

TEST(case_30_one_row_keeps_minus_zero)
{
    start();
    for (int t = 0; t < 3; t++) {
        Call call = prepare(TYPES[t], 2, 1, 19);
        for (int64_t k = 0; k < 38; k++)
            store_value(TYPES[t], call.view[GRAD_OUTPUT].data, k, -0.0);
        CHECK_EQ(plan_and_run(&call), 0);
        CHECK_EQ(load_bits(TYPES[t], call.view[GRAD_SHIFT].data, 7), TYPES[t] == ACL_FLOAT ? 0x80000000u : 0x8000u);
        CHECK(right(&call));
        finish(&call);
    }
}

TEST(case_30_one_column_and_many_rows)
{
    start();
    Call call = prepare(ACL_FLOAT, 1, 1000000, 1);
    run_and_check(&call);
}

TEST(case_30_five_columns_transposed)
{
    start();
    for (int t = 0; t < 3; t++) {
        Call call = prepare(TYPES[t], 2, 3000, 5);
        for (int i = 0; i < TENSORS; i++)
            if (call.view[i].dims_num == 3)
                strides(&call, i, 15000, 1, 3000, 0, 30000);
        run_and_check(&call);
    }
}

static void subnormal(Call *call)
{
    for (int64_t k = 0; k < call->elements[GRAD_OUTPUT]; k++)
        store_bits(call->type, call->view[GRAD_OUTPUT].data, k, (uint32_t)(1 + k % 100) | (k % 3 ? 0 : 0x8000u));
    if (call->type == ACL_FLOAT)
        for (int64_t k = 0; k < call->elements[GRAD_OUTPUT]; k++)
            store_bits(ACL_FLOAT, call->view[GRAD_OUTPUT].data, k, (uint32_t)(1 + k * 77) & 0x7fffff);
    for (int64_t k = 0; k < call->elements[INPUT]; k++)
        store_value(call->type, call->view[INPUT].data, k, 1);
    for (int64_t k = 0; k < call->elements[SCALE]; k++)
        store_value(call->type, call->view[SCALE].data, k, k % 2 ? 1 : 0.5);
}

TEST(subnormals_are_kept)
{
    start();
    for (int t = 0; t < 3; t++) {
        Call call = prepare(TYPES[t], 2, 21, 40);
        subnormal(&call);
        run_and_check(&call);
    }
}

/* The mode of the calling thread must neither reach the kernels nor be changed by them, nor by their threads' birth. */
TEST(case_31_flush_to_zero_in_the_caller)
{
#if defined(__x86_64__)
    const unsigned flush = 0x8040;
    const unsigned usual = _mm_getcsr();
    start();
    for (int size = 0; size < 2; size++) {
        for (int t = 0; t < 3; t++) {
            Call call = size ? prepare(TYPES[t], 4, 256, 512) : prepare(TYPES[t], 2, 21, 40);
            subnormal(&call);
            const Inputs before = remember(&call);
            _mm_setcsr(usual | flush);
            const aclnnStatus status = plan_and_run(&call);
            const unsigned after = _mm_getcsr();
            _mm_setcsr(usual);
            CHECK_EQ(status, 0);
            CHECK_EQ(after & flush, flush);
            CHECK(right_for(&call, before));
            finish(&call);
        }
    }
#else
    SKIP("written for x86-64");
#endif
}

/* Nor does a rounding mode. */
TEST(rounding_mode_of_the_caller)
{
    start();
    for (int size = 0; size < 2; size++) {
        Call call = size ? prepare(ACL_FLOAT, 4, 256, 512) : prepare(ACL_FLOAT, 2, 21, 40);
        const Inputs before = remember(&call);
        fesetround(FE_UPWARD);
        const aclnnStatus status = plan_and_run(&call);
        const int after = fegetround();
        fesetround(FE_TONEAREST);
        CHECK_EQ(status, 0);
        CHECK_EQ(after, FE_UPWARD);
        CHECK(right_for(&call, before));
        finish(&call);
    }
}

/* Big enough for several threads and for stores past the caches. */
TEST(large)
{
    start();
    for (int t = 0; t < 3; t++) {
        Call call = prepare(TYPES[t], 3, 700, 1160);
        run_and_check(&call);
    }
}
