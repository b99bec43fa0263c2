/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints a hash over every output bit of a set of calls. ctest runs it under several thread counts and instruction sets
 * (compare_bits.cmake) and compares what it prints.
 */
#include "call.h"

static uint64_t hash = UINT64_C(14695981039346656037);

static void add(const void *data, size_t bytes)
{
    const unsigned char *byte = (const unsigned char *)data;
    for (size_t k = 0; k < bytes; k++)
        hash = (hash ^ byte[k]) * UINT64_C(1099511628211);
}

TEST(print)
{
    static const aclDataType types[3] = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
    static const int64_t shapes[][3] = {{2, 1, 1},    {1, 1, 4099},  {3, 7, 65},    {4, 70, 1152}, {1, 5000, 64},
                                        {2, 3001, 5}, {1, 70000, 1}, {1, 2500, 90}, {64, 9, 33},   {1, 25, 9000}};
    start();
    for (int t = 0; t < 3; t++) {
        for (size_t s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++) {
            Call call = prepare(types[t], shapes[s][0], shapes[s][1], shapes[s][2]);
            make_sums_cancel(&call);
            REQUIRE(plan_and_run(&call) == 0);
            for (int i = GRAD_INPUT; i < TENSORS; i++)
                add(call.view[i].data, bytes_of(&call, i));
            finish(&call);
        }
    }
    printf("hash %016" PRIx64 "\n", hash);
}
