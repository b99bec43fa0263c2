/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The getters that hand out an array. Its owner frees it with free() in C, with delete[] in C++; both must be right. So
 * this file is compiled as C and as C++, each also with AddressSanitizer, which reports an array that was allocated one
 * way and freed the other.
 */
#include "call.h"

static void give_back(int64_t *array)
{
#ifdef __cplusplus
    delete[] array;
#else
    free(array);
#endif
}

static void check_array(int64_t *array, uint64_t number, const int64_t *expected, uint64_t expected_number)
{
    CHECK_EQ(number, expected_number);
    REQUIRE(array != NULL);
    for (uint64_t k = 0; k < number; k++)
        CHECK_EQ(array[k], expected[k]);
    give_back(array);
}

TEST(give_back_what_was_passed_in)
{
    const int64_t dims[4] = {2, 3, 4, 5}, strides[4] = {7, 0, 123456789012, 1}, storage[2] = {1000, 0};
    int64_t *array = NULL;
    uint64_t number = 99;
    aclTensor *tensor =
        aclCreateTensor(dims, 4, ACL_BF16, strides, 11, ACL_FORMAT_NCHW, storage, 2, (void *)(uintptr_t)4096);
    REQUIRE(tensor != NULL);
    for (int round = 0; round < 100; round++) {
        CHECK_EQ(aclGetViewShape(tensor, &array, &number), 0);
        check_array(array, number, dims, 4);
        CHECK_EQ(aclGetViewStrides(tensor, &array, &number), 0);
        check_array(array, number, strides, 4);
        CHECK_EQ(aclGetStorageShape(tensor, &array, &number), 0);
        check_array(array, number, storage, 2);
    }
    int64_t offset = 0;
    aclFormat format = ACL_FORMAT_ND;
    aclDataType type = ACL_FLOAT;
    void *address = NULL;
    CHECK_EQ(aclGetViewOffset(tensor, &offset), 0);
    CHECK_EQ(offset, 11);
    CHECK_EQ(aclGetFormat(tensor, &format), 0);
    CHECK_EQ(format, ACL_FORMAT_NCHW);
    CHECK_EQ(aclGetDataType(tensor, &type), 0);
    CHECK_EQ(type, ACL_BF16);
    CHECK_EQ(aclGetRawTensorAddr(tensor, &address), 0);
    CHECK(address == (void *)(uintptr_t)4096);
    CHECK_EQ(aclDestroyTensor(tensor), 0);
}

TEST(contiguous_strides_are_given_back)
{
    const int64_t dims[3] = {2, 3, 4}, expected[3] = {12, 4, 1};
    int64_t *array = NULL;
    uint64_t number = 99;
    aclTensor *tensor = aclCreateTensor(dims, 3, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, dims, 3, NULL);
    CHECK_EQ(aclGetViewStrides(tensor, &array, &number), 0);
    check_array(array, number, expected, 3);
    CHECK_EQ(aclDestroyTensor(tensor), 0);
}

TEST(no_dims_still_give_an_array)
{
    int64_t *array = NULL;
    uint64_t number = 99;
    aclTensor *tensor = aclCreateTensor(NULL, 0, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, NULL, 0, NULL);
    REQUIRE(tensor != NULL);
    CHECK_EQ(aclGetViewShape(tensor, &array, &number), 0);
    check_array(array, number, NULL, 0);
    CHECK_EQ(aclGetViewStrides(tensor, &array, &number), 0);
    check_array(array, number, NULL, 0);
    CHECK_EQ(aclGetStorageShape(tensor, &array, &number), 0);
    check_array(array, number, NULL, 0);
    CHECK_EQ(aclDestroyTensor(tensor), 0);
}

/* The values after aclInitTensor, and the most dims there may be. */
TEST(after_init)
{
    const int64_t one = 1;
    int64_t dims[25];
    int64_t *array = NULL;
    uint64_t number = 99;
    for (int k = 0; k < 25; k++)
        dims[k] = k % 3 + 1;
    aclTensor *tensor = aclCreateTensor(&one, 1, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, &one, 1, NULL);
    CHECK_EQ(aclInitTensor(tensor, dims, 25, ACL_INT8, NULL, 3, ACL_FORMAT_NCL, dims, 25, NULL), 0);
    CHECK_EQ(aclGetViewShape(tensor, &array, &number), 0);
    check_array(array, number, dims, 25);
    CHECK_EQ(aclGetStorageShape(tensor, &array, &number), 0);
    check_array(array, number, dims, 25);
    int64_t offset = 0;
    CHECK_EQ(aclGetViewOffset(tensor, &offset), 0);
    CHECK_EQ(offset, 3);
    CHECK_EQ(aclDestroyTensor(tensor), 0);
}
