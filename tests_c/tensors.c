/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors as objects: what can't be created, what the getters give back, what every function does with a wrong handle. */
#include "call.h"

static const int64_t DIMS[3] = {2, 3, 4};

static aclTensor *plain(void)
{
    aclTensor *tensor = aclCreateTensor(DIMS, 3, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, DIMS, 3, NULL);
    REQUIRE(tensor != NULL);
    return tensor;
}

/* The arguments of creation that must fail, each with all others right. */
typedef struct Wrong {
    const char *what;
    const int64_t *dims;
    uint64_t dims_num;
    aclDataType type;
    const int64_t *strides;
    int64_t offset;
    aclFormat format;
    const int64_t *storage;
    uint64_t storage_num;
} Wrong;

static const int64_t NEGATIVE[3] = {2, -1, 4};
static const int64_t LOWEST[3] = {INT64_MIN, 3, 4};
static const int64_t MANY[26] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
static const int64_t HUGE_[3] = {INT64_MAX, INT64_MAX, 4};
static const int64_t BYTES_OVERFLOW[3] = {(int64_t)1 << 62, 2, 1};

static const Wrong WRONG[] = {
    {"viewDims NULL", NULL, 3, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, DIMS, 3},
    {"storageDims NULL", DIMS, 3, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, NULL, 3},
    {"a negative dim", NEGATIVE, 3, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, DIMS, 3},
    {"the lowest dim", LOWEST, 3, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, DIMS, 3},
    {"a negative storage dim", DIMS, 3, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, NEGATIVE, 3},
    {"a negative stride", DIMS, 3, ACL_FLOAT, NEGATIVE, 0, ACL_FORMAT_ND, DIMS, 3},
    {"a negative offset", DIMS, 3, ACL_FLOAT, NULL, -1, ACL_FORMAT_ND, DIMS, 3},
    {"the lowest offset", DIMS, 3, ACL_FLOAT, NULL, INT64_MIN, ACL_FORMAT_ND, DIMS, 3},
    {"26 dims", MANY, 26, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, DIMS, 3},
    {"2^64-1 dims", MANY, UINT64_MAX, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, DIMS, 3},
    {"26 storage dims", DIMS, 3, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, MANY, 26},
    {"2^63 storage dims", DIMS, 3, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, MANY, (uint64_t)1 << 63},
    {"type 9999", DIMS, 3, (aclDataType)9999, NULL, 0, ACL_FORMAT_ND, DIMS, 3},
    {"type 5", DIMS, 3, (aclDataType)5, NULL, 0, ACL_FORMAT_ND, DIMS, 3},
    {"type -2", DIMS, 3, (aclDataType)-2, NULL, 0, ACL_FORMAT_ND, DIMS, 3},
    {"type 42", DIMS, 3, (aclDataType)42, NULL, 0, ACL_FORMAT_ND, DIMS, 3},
    {"format 9999", DIMS, 3, ACL_FLOAT, NULL, 0, (aclFormat)9999, DIMS, 3},
    {"format 5", DIMS, 3, ACL_FLOAT, NULL, 0, (aclFormat)5, DIMS, 3},
    {"format -2", DIMS, 3, ACL_FLOAT, NULL, 0, (aclFormat)-2, DIMS, 3},
    {"a size past 2^64", HUGE_, 3, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, DIMS, 3},
    {"a size in bytes of 2^65", BYTES_OVERFLOW, 3, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, DIMS, 3},
};

TEST(what_cannot_be_created)
{
    for (size_t k = 0; k < sizeof(WRONG) / sizeof(WRONG[0]); k++) {
        const Wrong *w = &WRONG[k];
        (void)aclGetRecentErrMsg();
        if (aclCreateTensor(w->dims, w->dims_num, w->type, w->strides, w->offset, w->format, w->storage,
                            w->storage_num, NULL) != NULL) {
            fprintf(stderr, "created with %s\n", w->what);
            CHECK(!"created");
        }
        CHECK_HAS(aclGetRecentErrMsg(), "aclCreateTensor");
    }
}

/* aclInitTensor looks as closely, and a refusal leaves the tensor as it was. */
TEST(what_cannot_be_initialised)
{
    aclTensor *tensor = plain();
    for (size_t k = 0; k < sizeof(WRONG) / sizeof(WRONG[0]); k++) {
        const Wrong *w = &WRONG[k];
        (void)aclGetRecentErrMsg();
        const aclnnStatus status = aclInitTensor(tensor, w->dims, w->dims_num, w->type, w->strides, w->offset,
                                                 w->format, w->storage, w->storage_num, (void *)(uintptr_t)64);
        if (status != 161002)
            fprintf(stderr, "with %s:\n", w->what);
        CHECK_EQ(status, 161002);
        CHECK_HAS(aclGetRecentErrMsg(), "aclInitTensor");
        void *address = tensor;
        CHECK_EQ(aclGetRawTensorAddr(tensor, &address), 0);
        CHECK(address == NULL);
    }
    CHECK_EQ(aclInitTensor(NULL, DIMS, 3, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, DIMS, 3, NULL), 161001);
    CHECK_EQ(aclDestroyTensor(tensor), 0);
    CHECK_EQ(aclInitTensor(tensor, DIMS, 3, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, DIMS, 3, NULL), 161002);
}

/* All members of both enumerations. */
TEST(every_type_and_format_can_be_created)
{
    const int types[] = {-1, 0,  1,  2,  3,  4,  6,  7,  8,  9,  10, 11, 12, 13,
                         16, 17, 27, 29, 30, 33, 34, 35, 36, 37, 38, 39, 40, 41};
    const int formats[] = {-1, 0, 1, 2, 3, 4, 12, 16, 27, 29, 30, 32, 33, 35, 47, 50, 51, 52, 53, 54};
    for (size_t k = 0; k < sizeof(types) / sizeof(types[0]); k++) {
        aclTensor *tensor =
            aclCreateTensor(DIMS, 3, (aclDataType)types[k], NULL, 0, ACL_FORMAT_ND, DIMS, 3, NULL);
        aclDataType type = ACL_INT8;
        REQUIRE(tensor != NULL);
        CHECK_EQ(aclGetDataType(tensor, &type), 0);
        CHECK_EQ(type, types[k]);
        CHECK_EQ(aclDestroyTensor(tensor), 0);
    }
    for (size_t k = 0; k < sizeof(formats) / sizeof(formats[0]); k++) {
        aclTensor *tensor =
            aclCreateTensor(DIMS, 3, ACL_FLOAT, NULL, 0, (aclFormat)formats[k], DIMS, 3, NULL);
        aclFormat format = ACL_FORMAT_NC;
        REQUIRE(tensor != NULL);
        CHECK_EQ(aclGetFormat(tensor, &format), 0);
        CHECK_EQ(format, formats[k]);
        CHECK_EQ(aclDestroyTensor(tensor), 0);
    }
}

TEST(raw_address)
{
    aclTensor *tensor = plain();
    int here = 0;
    void *address = NULL;
    CHECK_EQ(aclSetRawTensorAddr(tensor, &here), 0);
    CHECK_EQ(aclGetRawTensorAddr(tensor, &address), 0);
    CHECK(address == &here);
    CHECK_EQ(aclSetRawTensorAddr(tensor, NULL), 0);
    CHECK_EQ(aclGetRawTensorAddr(tensor, &address), 0);
    CHECK(address == NULL);
    CHECK_EQ(aclSetRawTensorAddr(NULL, &here), 161001);
    CHECK_EQ(aclGetRawTensorAddr(NULL, &address), 161001);
    CHECK_EQ(aclGetRawTensorAddr(tensor, NULL), 161001);
    CHECK_EQ(aclDestroyTensor(tensor), 0);
}

TEST(getters_refuse_null)
{
    aclTensor *tensor = plain();
    int64_t *array = NULL, offset = 0;
    uint64_t number = 0;
    aclFormat format;
    aclDataType type;
    CHECK_EQ(aclGetViewShape(NULL, &array, &number), 161001);
    CHECK_EQ(aclGetViewShape(tensor, NULL, &number), 161001);
    CHECK_EQ(aclGetViewShape(tensor, &array, NULL), 161001);
    CHECK_EQ(aclGetStorageShape(NULL, &array, &number), 161001);
    CHECK_EQ(aclGetStorageShape(tensor, NULL, &number), 161001);
    CHECK_EQ(aclGetStorageShape(tensor, &array, NULL), 161001);
    CHECK_EQ(aclGetViewStrides(NULL, &array, &number), 161001);
    CHECK_EQ(aclGetViewStrides(tensor, NULL, &number), 161001);
    CHECK_EQ(aclGetViewStrides(tensor, &array, NULL), 161001);
    CHECK_EQ(aclGetViewOffset(NULL, &offset), 161001);
    CHECK_EQ(aclGetViewOffset(tensor, NULL), 161001);
    CHECK_EQ(aclGetFormat(NULL, &format), 161001);
    CHECK_EQ(aclGetFormat(tensor, NULL), 161001);
    CHECK_EQ(aclGetDataType(NULL, &type), 161001);
    CHECK_EQ(aclGetDataType(tensor, NULL), 161001);
    CHECK(array == NULL && number == 0);
    CHECK_EQ(aclDestroyTensor(tensor), 0);
}

TEST(destroy_twice_and_null)
{
    aclTensor *tensor = plain();
    CHECK_EQ(aclDestroyTensor(NULL), 0);
    CHECK_EQ(aclDestroyScalar(NULL), 0);
    CHECK_EQ(aclDestroyIntArray(NULL), 0);
    CHECK_EQ(aclDestroyFloatArray(NULL), 0);
    CHECK_EQ(aclDestroyBoolArray(NULL), 0);
    CHECK_EQ(aclDestroyTensorList(NULL), 0);
    CHECK_EQ(aclDestroyScalarList(NULL), 0);
    CHECK(aclGetRecentErrMsg() == NULL);
    CHECK_EQ(aclDestroyTensor(tensor), 0);
    CHECK_EQ(aclDestroyTensor(tensor), 161002);
    CHECK_HAS(messages(), "aclDestroyTensor");
    /* A new tensor in the same slot doesn't wake the old handle. */
    aclTensor *next = plain();
    CHECK(next != tensor);
    CHECK_EQ(aclDestroyTensor(tensor), 161002);
    CHECK_EQ(aclDestroyTensor(next), 0);
}

/* Every function that takes an object, with everything that is not a live object of its kind. */
TEST(wrong_handles_everywhere)
{
    start();
    Call call = prepare(ACL_FLOAT, 2, 3, 4);
    REQUIRE(plan(&call) == 0);
    const int64_t number = 3;
    const float real = 3;
    const bool truth = true;
    double value = 1.5;
    aclTensor *tensor = plain();
    aclScalar *scalar = aclCreateScalar(&value, ACL_DOUBLE);
    aclIntArray *ints = aclCreateIntArray(&number, 1);
    aclFloatArray *floats = aclCreateFloatArray(&real, 1);
    aclBoolArray *bools = aclCreateBoolArray(&truth, 1);
    aclTensorList *tensors = aclCreateTensorList(NULL, 0);
    aclScalarList *scalars = aclCreateScalarList(NULL, 0);
    aclrtStream stream = NULL;
    REQUIRE(aclrtCreateStream(&stream) == ACL_SUCCESS);
    aclTensor *dead = plain();
    REQUIRE(aclDestroyTensor(dead) == 0);
    REQUIRE(tensor && scalar && ints && floats && bools && tensors && scalars);
    void *const handles[] = {tensor, scalar, ints, floats, bools, tensors, scalars, call.executor, stream};
    enum { KINDS = sizeof(handles) / sizeof(handles[0]), RUBBISH = 8 };
    void *bad[KINDS + RUBBISH];
    memcpy(bad, handles, sizeof(handles));
    bad[KINDS] = dead;
    bad[KINDS + 1] = (void *)(uintptr_t)1;
    bad[KINDS + 2] = (void *)UINTPTR_MAX;
    bad[KINDS + 3] = (void *)(UINTPTR_MAX / 2 + 1);
    bad[KINDS + 4] = &call;
    bad[KINDS + 5] = (void *)(uintptr_t)main;
    bad[KINDS + 6] = (void *)((uintptr_t)tensor + 1);
    bad[KINDS + 7] = (void *)((uintptr_t)tensor ^ (uintptr_t)1 << 63);
    for (int k = 0; k < KINDS + RUBBISH; k++) {
        void *const h = bad[k];
        int64_t *array = NULL, offset;
        uint64_t size = 0;
        aclFormat format;
        aclDataType type;
        void *address;
        if (h != tensor) {
            CHECK_EQ(aclDestroyTensor((aclTensor *)h), 161002);
            CHECK_EQ(aclGetViewShape((aclTensor *)h, &array, &size), 161002);
            CHECK_EQ(aclGetStorageShape((aclTensor *)h, &array, &size), 161002);
            CHECK_EQ(aclGetViewStrides((aclTensor *)h, &array, &size), 161002);
            CHECK_EQ(aclGetViewOffset((aclTensor *)h, &offset), 161002);
            CHECK_EQ(aclGetFormat((aclTensor *)h, &format), 161002);
            CHECK_EQ(aclGetDataType((aclTensor *)h, &type), 161002);
            CHECK_EQ(aclSetRawTensorAddr((aclTensor *)h, NULL), 161002);
            CHECK_EQ(aclGetRawTensorAddr((aclTensor *)h, &address), 161002);
            CHECK_EQ(aclInitTensor((aclTensor *)h, DIMS, 3, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, DIMS, 3, NULL), 161002);
            CHECK(array == NULL);
        }
        if (h != scalar)
            CHECK_EQ(aclDestroyScalar((aclScalar *)h), 161002);
        if (h != ints) {
            CHECK_EQ(aclDestroyIntArray((aclIntArray *)h), 161002);
            CHECK_EQ(aclGetIntArraySize((aclIntArray *)h, &size), 161002);
        }
        if (h != floats) {
            CHECK_EQ(aclDestroyFloatArray((aclFloatArray *)h), 161002);
            CHECK_EQ(aclGetFloatArraySize((aclFloatArray *)h, &size), 161002);
        }
        if (h != bools) {
            CHECK_EQ(aclDestroyBoolArray((aclBoolArray *)h), 161002);
            CHECK_EQ(aclGetBoolArraySize((aclBoolArray *)h, &size), 161002);
        }
        if (h != tensors) {
            CHECK_EQ(aclDestroyTensorList((aclTensorList *)h), 161002);
            CHECK_EQ(aclGetTensorListSize((aclTensorList *)h, &size), 161002);
        }
        if (h != scalars) {
            CHECK_EQ(aclDestroyScalarList((aclScalarList *)h), 161002);
            CHECK_EQ(aclGetScalarListSize((aclScalarList *)h, &size), 161002);
        }
        if (h != call.executor) {
            CHECK_EQ(aclSetAclOpExecutorRepeatable((aclOpExecutor *)h), 561103);
            CHECK_EQ(aclDestroyAclOpExecutor((aclOpExecutor *)h), 561103);
        }
        if (h != stream) {
            CHECK_EQ(aclrtDestroyStream(h), 107017);
            CHECK_EQ(aclrtSynchronizeStream(h), 107017);
        }
        CHECK(aclrtDestroyContext(h) != 0);
        CHECK(aclrtFree(h) != 0);
        CHECK(aclrtFreeHost(h) != 0);
        CHECK_EQ(size, 0);
    }
    /* All of them still live. */
    CHECK_EQ(aclDestroyTensor(tensor), 0);
    CHECK_EQ(aclDestroyScalar(scalar), 0);
    CHECK_EQ(aclDestroyIntArray(ints), 0);
    CHECK_EQ(aclDestroyFloatArray(floats), 0);
    CHECK_EQ(aclDestroyBoolArray(bools), 0);
    CHECK_EQ(aclDestroyTensorList(tensors), 0);
    CHECK_EQ(aclDestroyScalarList(scalars), 0);
    CHECK_EQ(aclDestroyAclOpExecutor(call.executor), 0);
    CHECK_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
    finish(&call);
}

TEST(arrays)
{
    int64_t ints[3] = {1, 2, 3};
    float floats[2] = {1, 2};
    bool bools[4] = {true, false, true, true};
    uint64_t size = 77;
    aclIntArray *i = aclCreateIntArray(ints, 3);
    aclFloatArray *f = aclCreateFloatArray(floats, 2);
    aclBoolArray *b = aclCreateBoolArray(bools, 4);
    REQUIRE(i && f && b);
    CHECK_EQ(aclGetIntArraySize(i, &size), 0);
    CHECK_EQ(size, 3);
    CHECK_EQ(aclGetFloatArraySize(f, &size), 0);
    CHECK_EQ(size, 2);
    CHECK_EQ(aclGetBoolArraySize(b, &size), 0);
    CHECK_EQ(size, 4);
    CHECK_EQ(aclGetIntArraySize(NULL, &size), 161001);
    CHECK_EQ(aclGetIntArraySize(i, NULL), 161001);
    CHECK_EQ(aclGetFloatArraySize(NULL, &size), 161001);
    CHECK_EQ(aclGetFloatArraySize(f, NULL), 161001);
    CHECK_EQ(aclGetBoolArraySize(NULL, &size), 161001);
    CHECK_EQ(aclGetBoolArraySize(b, NULL), 161001);
    CHECK_EQ(aclDestroyIntArray(i), 0);
    CHECK_EQ(aclDestroyIntArray(i), 161002);
    CHECK_EQ(aclDestroyFloatArray(f), 0);
    CHECK_EQ(aclDestroyFloatArray(f), 161002);
    CHECK_EQ(aclDestroyBoolArray(b), 0);
    CHECK_EQ(aclDestroyBoolArray(b), 161002);
}

TEST(arrays_without_values)
{
    uint64_t size = 77;
    aclIntArray *i = aclCreateIntArray(NULL, 0);
    aclFloatArray *f = aclCreateFloatArray(NULL, 0);
    aclBoolArray *b = aclCreateBoolArray(NULL, 0);
    REQUIRE(i && f && b);
    CHECK_EQ(aclGetIntArraySize(i, &size), 0);
    CHECK_EQ(size, 0);
    CHECK_EQ(aclDestroyIntArray(i), 0);
    CHECK_EQ(aclDestroyFloatArray(f), 0);
    CHECK_EQ(aclDestroyBoolArray(b), 0);
    CHECK(aclCreateIntArray(NULL, 1) == NULL);
    CHECK_HAS(messages(), "aclCreateIntArray");
    CHECK(aclCreateFloatArray(NULL, 1) == NULL);
    CHECK(aclCreateBoolArray(NULL, 1) == NULL);
    CHECK(aclCreateTensorList(NULL, 1) == NULL);
    CHECK(aclCreateScalarList(NULL, 1) == NULL);
    const int64_t one = 1;
    CHECK(aclCreateIntArray(&one, UINT64_MAX) == NULL);
    CHECK(aclCreateIntArray(&one, (uint64_t)1 << 61) == NULL);
}

TEST(lists_own_their_members)
{
    double value = 1;
    const aclTensor *tensors[3];
    const aclScalar *scalars[2];
    uint64_t size = 0;
    tensors[0] = plain();
    tensors[1] = NULL;
    tensors[2] = plain();
    scalars[0] = aclCreateScalar(&value, ACL_DOUBLE);
    scalars[1] = NULL;
    aclTensorList *list = aclCreateTensorList(tensors, 3);
    aclScalarList *others = aclCreateScalarList(scalars, 2);
    REQUIRE(list && others);
    CHECK_EQ(aclGetTensorListSize(list, &size), 0);
    CHECK_EQ(size, 3);
    CHECK_EQ(aclGetScalarListSize(others, &size), 0);
    CHECK_EQ(size, 2);
    CHECK_EQ(aclGetTensorListSize(NULL, &size), 161001);
    CHECK_EQ(aclGetTensorListSize(list, NULL), 161001);
    CHECK_EQ(aclGetScalarListSize(NULL, &size), 161001);
    CHECK_EQ(aclGetScalarListSize(others, NULL), 161001);
    /* One dies before the list: skipped. */
    CHECK_EQ(aclDestroyTensor(tensors[0]), 0);
    CHECK_EQ(aclDestroyTensorList(list), 0);
    CHECK_EQ(aclDestroyTensor(tensors[2]), 161002);
    CHECK_EQ(aclDestroyTensorList(list), 161002);
    CHECK_EQ(aclDestroyScalarList(others), 0);
    CHECK_EQ(aclDestroyScalar(scalars[0]), 161002);
    CHECK_EQ(aclDestroyScalarList(others), 161002);
}

TEST(scalars)
{
    char room[16] = {0};
    const int types[] = {0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 16, 17, 27, 33};
    for (size_t k = 0; k < sizeof(types) / sizeof(types[0]); k++) {
        aclScalar *scalar = aclCreateScalar(room, (aclDataType)types[k]);
        CHECK(scalar != NULL);
        CHECK_EQ(aclDestroyScalar(scalar), 0);
        CHECK_EQ(aclDestroyScalar(scalar), 161002);
    }
    CHECK(aclCreateScalar(NULL, ACL_FLOAT) == NULL);
    CHECK_HAS(messages(), "aclCreateScalar");
    CHECK(aclCreateScalar(room, (aclDataType)9999) == NULL);
    CHECK_HAS(messages(), "aclCreateScalar");
}

TEST(init_and_finalize_of_the_operator_library)
{
    CHECK_EQ(aclnnInit(NULL), 0);
    CHECK_EQ(aclnnInit("/no/such/file"), 0);
    CHECK_EQ(aclnnFinalize(), 0);
    CHECK_EQ(aclnnFinalize(), 0);
    CHECK_EQ(aclInit(NULL), ACL_SUCCESS);
    CHECK_EQ(aclnnInit(NULL), 0);
    CHECK_EQ(aclnnFinalize(), 0);
    CHECK_EQ(aclFinalize(), ACL_SUCCESS);
}
