/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks, copies, and the numbers that go with them. */
#include "call.h"

static void *block_of(size_t size)
{
    void *block = NULL;
    REQUIRE(aclrtMalloc(&block, size, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
    return block;
}

TEST(malloc_refuses)
{
    void *block = NULL;
    start();
    CHECK_EQ(aclrtMalloc(NULL, 64, ACL_MEM_MALLOC_HUGE_FIRST), 100000);
    CHECK_EQ(aclrtMalloc(&block, 0, ACL_MEM_MALLOC_HUGE_FIRST), 100000);
    CHECK_EQ(aclrtMallocHost(NULL, 64), 100000);
    CHECK_EQ(aclrtMallocHost(&block, 0), 100000);
    const size_t much[] = {SIZE_MAX, SIZE_MAX - 31, SIZE_MAX / 2, (size_t)1 << 60, (size_t)1 << 62, (size_t)1 << 63};
    for (size_t k = 0; k < sizeof(much) / sizeof(much[0]); k++) {
        CHECK_EQ(aclrtMalloc(&block, much[k], ACL_MEM_MALLOC_HUGE_FIRST), 207001);
        CHECK_HAS(messages(), "aclrtMalloc");
        CHECK_EQ(aclrtMallocHost(&block, much[k]), 207001);
    }
    CHECK(block == NULL);
}

TEST(malloc_any_policy)
{
    const int policies[] = {0, 1, 2, 3, 4, 5, 6, 7, 256, 4096, 1048576, -1, 12345, INT32_MAX, INT32_MIN};
    start();
    for (size_t k = 0; k < sizeof(policies) / sizeof(policies[0]); k++) {
        void *block = NULL;
        CHECK_EQ(aclrtMalloc(&block, 100, (aclrtMemMallocPolicy)policies[k]), ACL_SUCCESS);
        CHECK_EQ((uintptr_t)block % 64, 0);
        memset(block, 1, 100);
        CHECK_EQ(aclrtFree(block), ACL_SUCCESS);
    }
}

TEST(malloc_sizes)
{
    const size_t sizes[] = {1, 31, 32, 33, 4096, 65537, (2 << 20) - 1, 2 << 20, (2 << 20) + 1, 50 << 20};
    start();
    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
        char *device = (char *)block_of(sizes[k]);
        void *host = NULL;
        CHECK_EQ((uintptr_t)device % 64, 0);
        device[0] = device[sizes[k] - 1] = 1;
        /* The padding belongs to the block. */
        const size_t padded = (sizes[k] + 31) / 32 * 32 + 32;
        CHECK_EQ(aclrtMemset(device, padded, 7, padded), ACL_SUCCESS);
        CHECK_EQ(aclrtMemset(device, padded + 1, 7, padded + 1), 107000);
        CHECK_EQ(device[padded - 1], 7);
        CHECK_EQ(aclrtMallocHost(&host, sizes[k]), ACL_SUCCESS);
        CHECK_EQ((uintptr_t)host % 64, 0);
        memset(host, 3, sizes[k]);
        CHECK_EQ(aclrtFreeHost(host), ACL_SUCCESS);
        CHECK_EQ(aclrtFree(device), ACL_SUCCESS);
    }
}

/* Memory that nobody touches costs nothing: 64 blocks of 8 GiB would not fit otherwise. */
TEST(untouched_memory_is_free)
{
    void *block = NULL;
    start();
    const aclError status = aclrtMalloc(&block, (size_t)8 << 30, ACL_MEM_MALLOC_HUGE_FIRST);
    if (status == 207001)
        SKIP("this machine has less than 8 GiB");
    CHECK_EQ(status, ACL_SUCCESS);
    FILE *statm = fopen("/proc/self/statm", "r");
    long pages = 0, ignored;
    if (statm && fscanf(statm, "%ld %ld", &ignored, &pages) == 2)
        CHECK(pages < 100000);
    if (statm)
        fclose(statm);
    CHECK_EQ(aclrtFree(block), ACL_SUCCESS);
}

TEST(free_refuses)
{
    start();
    char *device = (char *)block_of(100);
    void *host = NULL;
    int local = 0;
    REQUIRE(aclrtMallocHost(&host, 100) == ACL_SUCCESS);
    CHECK_EQ(aclrtFree(NULL), 100000);
    CHECK_EQ(aclrtFreeHost(NULL), 100000);
    CHECK_EQ(aclrtFree(&local), 107000);
    CHECK_EQ(aclrtFreeHost(&local), 107000);
    CHECK_EQ(aclrtFree((void *)UINTPTR_MAX), 107000);
    CHECK_EQ(aclrtFree(device + 1), 107000);
    CHECK_EQ(aclrtFree(device + 64), 107000);
    /* Each only frees its own kind. */
    CHECK_EQ(aclrtFree(host), 107000);
    CHECK_EQ(aclrtFreeHost(device), 107000);
    CHECK_EQ(aclrtFree(device), ACL_SUCCESS);
    CHECK_EQ(aclrtFree(device), 107000);
    CHECK_EQ(aclrtFreeHost(host), ACL_SUCCESS);
    CHECK_EQ(aclrtFreeHost(host), 107000);
}

TEST(case_24_memcpy)
{
    char host[256], back[256];
    start();
    char *device = (char *)block_of(100);
    for (int k = 0; k < 256; k++)
        host[k] = (char)k;
    CHECK_EQ(aclrtMemcpy(device, 100, host, 100, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
    memset(back, 0, sizeof(back));
    CHECK_EQ(aclrtMemcpy(back, 256, device, 100, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
    CHECK(memcmp(back, host, 100) == 0);
    CHECK_EQ(back[100], 0);
    /* More than the destination is said to hold. */
    CHECK_EQ(aclrtMemcpy(device, 10, host, 11, ACL_MEMCPY_HOST_TO_DEVICE), 107000);
    /* 100 rounded up to 128, plus 32. */
    CHECK_EQ(aclrtMemcpy(device, 256, host, 160, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
    CHECK_EQ(aclrtMemcpy(device, 256, host, 161, ACL_MEMCPY_HOST_TO_DEVICE), 107000);
    CHECK_HAS(messages(), "aclrtMemcpy");
    CHECK_EQ(aclrtMemcpy(back, 256, device, 161, ACL_MEMCPY_DEVICE_TO_HOST), 107000);
    CHECK_EQ(aclrtMemcpy(device + 60, 256, host, 100, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
    CHECK_EQ(aclrtMemcpy(device + 60, 256, host, 101, ACL_MEMCPY_HOST_TO_DEVICE), 107000);
    CHECK_EQ(aclrtMemcpy(back, 256, device + 60, 101, ACL_MEMCPY_DEVICE_TO_HOST), 107000);
    /* A destMax past the block alone is no error. */
    CHECK_EQ(aclrtMemcpy(device, 1000000, host, 8, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
    CHECK_EQ(aclrtMemcpy(NULL, 8, host, 8, ACL_MEMCPY_HOST_TO_DEVICE), 100000);
    CHECK_EQ(aclrtMemcpy(device, 8, NULL, 8, ACL_MEMCPY_HOST_TO_DEVICE), 100000);
    CHECK_EQ(aclrtMemcpy(device, 8, host, 0, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
    CHECK_EQ(aclrtMemcpy(device, SIZE_MAX, host, SIZE_MAX, ACL_MEMCPY_HOST_TO_DEVICE), 107000);
    CHECK_EQ(aclrtMemcpy(device + 100, SIZE_MAX, host, SIZE_MAX - 10, ACL_MEMCPY_HOST_TO_DEVICE), 107000);
    CHECK_EQ(aclrtFree(device), ACL_SUCCESS);
}

TEST(memcpy_errors_copy_nothing)
{
    char zeros[256] = {0};
    start();
    unsigned char *device = (unsigned char *)block_of(100);
    CHECK_EQ(aclrtMemset(device, 160, 0x5a, 160), ACL_SUCCESS);
    CHECK_EQ(aclrtMemcpy(device, 10, zeros, 11, ACL_MEMCPY_HOST_TO_DEVICE), 107000);
    CHECK_EQ(aclrtMemcpy(device, 256, zeros, 161, ACL_MEMCPY_HOST_TO_DEVICE), 107000);
    CHECK_EQ(aclrtMemcpy(device, 100, zeros, 100, (aclrtMemcpyKind)8), 100000);
    for (int k = 0; k < 160; k++)
        CHECK_EQ(device[k], 0x5a);
    CHECK_EQ(aclrtFree(device), ACL_SUCCESS);
}

TEST(memcpy_kinds)
{
    char from[8] = "1234567", to[8];
    const int refused[] = {6, 7, 8, -1, INT32_MAX, INT32_MIN};
    start();
    for (int kind = 0; kind <= 5; kind++) {
        memset(to, 0, sizeof(to));
        /* The kind is not held against the addresses. */
        CHECK_EQ(aclrtMemcpy(to, 8, from, 8, (aclrtMemcpyKind)kind), ACL_SUCCESS);
        CHECK(memcmp(from, to, 8) == 0);
    }
    for (size_t k = 0; k < sizeof(refused) / sizeof(refused[0]); k++)
        CHECK_EQ(aclrtMemcpy(to, 8, from, 8, (aclrtMemcpyKind)refused[k]), 100000);
}

TEST(memcpy_may_overlap)
{
    start();
    char *device = (char *)block_of(1000);
    for (int k = 0; k < 1000; k++)
        device[k] = (char)(k * 7);
    CHECK_EQ(aclrtMemcpy(device + 3, 900, device, 900, ACL_MEMCPY_DEVICE_TO_DEVICE), ACL_SUCCESS);
    for (int k = 0; k < 900; k++)
        CHECK_EQ(device[k + 3], (char)(k * 7));
    CHECK_EQ(aclrtFree(device), ACL_SUCCESS);
}

TEST(memset_)
{
    start();
    unsigned char *device = (unsigned char *)block_of(100);
    CHECK_EQ(aclrtMemset(device, 100, 0x1ff, 100), ACL_SUCCESS);
    CHECK_EQ(device[0], 0xff);
    CHECK_EQ(device[99], 0xff);
    CHECK_EQ(aclrtMemset(device, 100, -2, 10), ACL_SUCCESS);
    CHECK_EQ(device[9], 0xfe);
    CHECK_EQ(device[10], 0xff);
    CHECK_EQ(aclrtMemset(NULL, 100, 0, 10), 100000);
    CHECK_EQ(aclrtMemset(device, 100, 0, 0), ACL_SUCCESS);
    CHECK_EQ(aclrtMemset(device, 10, 0, 11), 107000);
    CHECK_EQ(aclrtMemset(device, 1000, 0, 161), 107000);
    CHECK_EQ(aclrtMemset(device, SIZE_MAX, 0, SIZE_MAX), 107000);
    CHECK_EQ(device[0], 0xfe);
    CHECK_EQ(aclrtFree(device), ACL_SUCCESS);
}

TEST(data_type_size)
{
    const struct {
        int type;
        size_t size;
    } sizes[] = {{-1, 0}, {0, 4},  {1, 2},  {2, 1},  {3, 4},  {4, 1},  {6, 2},   {7, 2},      {8, 4},
                 {9, 8},  {10, 8}, {11, 8}, {12, 1}, {13, 0}, {16, 8}, {17, 16}, {27, 2},     {29, 1},
                 {30, 1}, {33, 4}, {34, 1}, {35, 1}, {36, 1}, {37, 1}, {38, 8},  {39, 8},     {40, 8},
                 {41, 8}, {5, 0},  {14, 0}, {42, 0}, {-2, 0}, {99, 0}, {9999, 0}, {INT32_MAX, 0}, {INT32_MIN, 0}};
    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
        if (aclDataTypeSize((aclDataType)sizes[k].type) != sizes[k].size)
            fprintf(stderr, "type %d:\n", sizes[k].type);
        CHECK_EQ(aclDataTypeSize((aclDataType)sizes[k].type), sizes[k].size);
    }
}

TEST(float_to_float16_saturates)
{
    CHECK_EQ(aclFloatToFloat16(NAN), 0x7bff);
    CHECK_EQ(aclFloatToFloat16(INFINITY), 0x7bff);
    CHECK_EQ(aclFloatToFloat16(-INFINITY), 0xfbff);
    CHECK_EQ(aclFloatToFloat16(1e10f), 0x7bff);
    CHECK_EQ(aclFloatToFloat16(-1e10f), 0xfbff);
    CHECK_EQ(aclFloatToFloat16(65504.0f), 0x7bff);
    CHECK_EQ(aclFloatToFloat16(65519.0f), 0x7bff);
    CHECK_EQ(aclFloatToFloat16(65520.0f), 0x7bff);
    CHECK_EQ(aclFloatToFloat16(1.0f), 0x3c00);
    CHECK_EQ(aclFloatToFloat16(-0.0f), 0x8000);
    CHECK_EQ(aclFloatToFloat16(f32_of_bits(1)), 0);
    /* Ties to even, on both sides of one; and a subnormal. */
    CHECK_EQ(aclFloatToFloat16(1.0f + 1.0f / 2048), 0x3c00);
    CHECK_EQ(aclFloatToFloat16(1.0f + 3.0f / 2048), 0x3c02);
    CHECK_EQ(aclFloatToFloat16(ldexpf(3, -25)), 2);
    CHECK_EQ(aclFloatToFloat16(ldexpf(1, -25)), 0);
}

/* Against our own rounding, over the whole range. */
TEST(float_to_float16_everywhere)
{
    int wrong = 0;
    for (uint64_t bits = 0; bits <= UINT32_MAX; bits += 4099) {
        const float value = f32_of_bits((uint32_t)bits);
        uint32_t expected = bits_of(ACL_FLOAT16, value);
        if ((expected & 0x7fff) >= 0x7c00)
            expected = isnan(value) ? 0x7bff : (expected & 0x8000) | 0x7bff;
        wrong += aclFloatToFloat16(value) != expected;
    }
    CHECK_EQ(wrong, 0);
}

TEST(float16_to_float)
{
    for (uint32_t bits = 0; bits < 65536; bits++) {
        float expected = (float)value_of_bits(ACL_FLOAT16, bits);
        if ((bits & 0x7fff) == 0x7c00)
            expected = bits & 0x8000 ? -65536.0f : 65536.0f;
        const float got = aclFloat16ToFloat((aclFloat16)bits);
        /* The contract names one value for NaN; of a NaN with another payload or sign only that it is finite. */
        if ((bits & 0x7fff) > 0x7c00)
            CHECK(isfinite(got));
        else
            CHECK_EQ(bits_of_f32(got), bits_of_f32(expected));
    }
    CHECK(aclFloat16ToFloat(0x7e00) == 98304.0f);
}
