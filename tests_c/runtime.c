/* SPDX-License-Identifier: Apache-2.0 */
/* Init, device, context and stream: who has what when, and what is refused. */
#include <unistd.h>

#include "call.h"

TEST(case_23_init_and_finalize)
{
    CHECK_EQ(aclInit(NULL), ACL_SUCCESS);
    CHECK_EQ(aclInit(NULL), 100002);
    CHECK_HAS(messages(), "aclInit");
    CHECK_EQ(aclFinalize(), ACL_SUCCESS);
    CHECK_EQ(aclFinalize(), 100037);
    /* And again. */
    CHECK_EQ(aclInit(NULL), ACL_SUCCESS);
    CHECK_EQ(aclFinalize(), ACL_SUCCESS);
    CHECK_EQ(aclFinalize(), 100037);
}

TEST(finalize_without_init)
{
    CHECK_EQ(aclFinalize(), ACL_SUCCESS);
}

/* The state survives the second, refused call. */
TEST(second_init_changes_nothing)
{
    aclrtStream stream = NULL;
    CHECK_EQ(aclInit(NULL), ACL_SUCCESS);
    start();
    CHECK_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
    CHECK_EQ(aclInit(NULL), 100002);
    CHECK_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
    CHECK_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
}

static aclError init_with(const char *text)
{
    char path[] = "/tmp/aclnn-modulate-XXXXXX";
    const int file = mkstemp(path);
    REQUIRE(file >= 0);
    REQUIRE(write(file, text, strlen(text)) == (ssize_t)strlen(text));
    close(file);
    const aclError status = aclInit(path);
    unlink(path);
    if (status == ACL_SUCCESS)
        CHECK_EQ(aclFinalize(), ACL_SUCCESS);
    return status;
}

TEST(init_with_a_file)
{
    CHECK_EQ(aclInit("/no/such/file.json"), 100003);
    CHECK_HAS(messages(), "/no/such/file.json");
    CHECK_EQ(aclInit("/"), 100003);
    CHECK_EQ(init_with("{}"), ACL_SUCCESS);
    CHECK_EQ(init_with("{\"profiler\": {\"switch\": \"on\"}, \"unknown\": [1, 2, {}]}"), ACL_SUCCESS);
    CHECK_EQ(init_with(""), 100006);
    CHECK_EQ(init_with("{"), 100006);
    CHECK_EQ(init_with("err_msg_mode = 1"), 100006);
    CHECK_EQ(init_with("\xff\xfe\x00"), 100006);
    /* None of the failures left it initialised. */
    CHECK_EQ(aclInit(NULL), ACL_SUCCESS);
    CHECK_EQ(aclFinalize(), ACL_SUCCESS);
}

TEST(device_ids)
{
    const int32_t wrong[] = {-1, 1, 2, 64, INT32_MAX, INT32_MIN};
    aclrtContext context = NULL;
    for (size_t k = 0; k < sizeof(wrong) / sizeof(wrong[0]); k++) {
        CHECK_EQ(aclrtSetDevice(wrong[k]), 107001);
        CHECK_HAS(messages(), "aclrtSetDevice");
        CHECK_EQ(aclrtResetDevice(wrong[k]), 107001);
        CHECK_EQ(aclrtCreateContext(&context, wrong[k]), 107001);
        CHECK(context == NULL);
    }
    CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
}

TEST(two_devices)
{
    setenv("ACLCPU_DEVICE_COUNT", "2", 1);
    CHECK_EQ(aclrtSetDevice(1), ACL_SUCCESS);
    CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    CHECK_EQ(aclrtSetDevice(2), 107001);
    Call call = prepare(ACL_FLOAT, 2, 3, 4);
    CHECK_EQ(aclrtSetDevice(1), ACL_SUCCESS);
    CHECK_EQ(plan_and_run(&call), 0);
    CHECK(right(&call));
    finish(&call);
}

TEST(reset_without_set)
{
    CHECK_EQ(aclrtResetDevice(0), 507007);
    CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    CHECK_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    CHECK_EQ(aclrtResetDevice(0), 507007);
}

/* Set twice, reset twice: the streams end with the second reset. */
TEST(device_counts)
{
    aclrtStream stream = NULL;
    CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    CHECK_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
    CHECK_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    CHECK_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
    CHECK_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    CHECK(aclrtSynchronizeStream(stream) != ACL_SUCCESS);
    /* Without a context the stream is still known to be dead. */
    CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    CHECK_EQ(aclrtSynchronizeStream(stream), 107017);
    CHECK_EQ(aclrtDestroyStream(stream), 107017);
    CHECK_EQ(aclrtSynchronizeStream(NULL), ACL_SUCCESS);
}

/* Memory and explicit contexts outlive a reset. */
TEST(what_a_reset_leaves)
{
    aclrtContext context = NULL;
    aclrtStream stream = NULL;
    void *block = NULL;
    CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    CHECK_EQ(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    CHECK_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
    CHECK_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
    CHECK_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    CHECK_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
    CHECK_EQ(aclrtMemset(block, 64, 1, 64), ACL_SUCCESS);
    CHECK_EQ(aclrtFree(block), ACL_SUCCESS);
    CHECK_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
    CHECK_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
}

TEST(contexts)
{
    aclrtContext one = NULL, two = NULL;
    aclrtStream stream = NULL;
    CHECK_EQ(aclrtCreateContext(NULL, 0), 100000);
    CHECK_EQ(aclrtDestroyContext(NULL), 100000);
    CHECK_EQ(aclrtDestroyContext((aclrtContext)(uintptr_t)0xdeadbeef), 107002);
    CHECK_EQ(aclrtCreateContext(&one, 0), ACL_SUCCESS);
    CHECK_EQ(aclrtCreateContext(&two, 0), ACL_SUCCESS);
    CHECK(one != NULL && two != NULL && one != two);
    /* The second is current: destroying the first leaves it so. */
    CHECK_EQ(aclrtDestroyContext(one), ACL_SUCCESS);
    CHECK_EQ(aclrtDestroyContext(one), 107002);
    CHECK_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
    CHECK_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
    /* Destroying the current one leaves the thread without any. */
    CHECK_EQ(aclrtDestroyContext(two), ACL_SUCCESS);
    CHECK_EQ(aclrtCreateStream(&stream), 107002);
    /* aclrtSetDevice gives it the default context. */
    CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    CHECK_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
    CHECK_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
}

/* The default context becomes current also after another was created. */
TEST(set_device_after_create_context)
{
    aclrtContext context = NULL;
    aclrtStream mine = NULL, other = NULL;
    CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    CHECK_EQ(aclrtCreateStream(&mine), ACL_SUCCESS);
    CHECK_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
    CHECK_EQ(aclrtCreateStream(&other), ACL_SUCCESS);
    CHECK_EQ(aclrtDestroyStream(mine), 107003);
    CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    CHECK_EQ(aclrtDestroyStream(other), 107003);
    CHECK_EQ(aclrtDestroyStream(mine), ACL_SUCCESS);
    /* Destroying a context ends its streams. */
    CHECK_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
    CHECK_EQ(aclrtDestroyStream(other), 107017);
}

TEST(streams)
{
    aclrtStream stream = NULL;
    start();
    CHECK_EQ(aclrtCreateStream(NULL), 100000);
    CHECK_EQ(aclrtDestroyStream(NULL), 100000);
    CHECK_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
    CHECK(stream != NULL);
    CHECK_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
    CHECK_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
    CHECK_EQ(aclrtDestroyStream(stream), 107017);
    CHECK_EQ(aclrtSynchronizeStream(stream), 107017);
    CHECK_EQ(aclrtSynchronizeStream(NULL), ACL_SUCCESS);
}

TEST(many_streams)
{
    enum { MANY = 500 };
    static aclrtStream stream[MANY];
    start();
    Call call = prepare(ACL_FLOAT, 2, 3, 4);
    for (int k = 0; k < MANY; k++) {
        REQUIRE(aclrtCreateStream(&stream[k]) == ACL_SUCCESS);
        CHECK(k == 0 || stream[k] != stream[k - 1]);
    }
    for (int k = 0; k < MANY; k += 50) {
        CHECK_EQ(plan(&call), 0);
        CHECK_EQ(run_on(&call, stream[k]), 0);
    }
    CHECK(right(&call));
    for (int k = 0; k < MANY; k++)
        CHECK_EQ(aclrtDestroyStream(stream[k]), ACL_SUCCESS);
    finish(&call);
}

TEST(case_22_no_context)
{
    void *memory = NULL;
    aclrtStream stream = NULL;
    char a[8] = {0}, b[8] = {0};
    CHECK_EQ(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST), 107002);
    CHECK_HAS(messages(), "aclrtSetDevice");
    CHECK_EQ(aclrtMallocHost(&memory, 64), 107002);
    CHECK_HAS(messages(), "aclrtSetDevice");
    CHECK_EQ(aclrtCreateStream(&stream), 107002);
    CHECK_HAS(messages(), "aclrtSetDevice");
    CHECK_EQ(aclrtMemcpy(a, 8, b, 8, ACL_MEMCPY_HOST_TO_HOST), 107002);
    CHECK_HAS(messages(), "aclrtSetDevice");
    CHECK_EQ(aclrtMemset(a, 8, 0, 8), 107002);
    CHECK_HAS(messages(), "aclrtSetDevice");
    CHECK_EQ(aclrtSynchronizeStream(NULL), 107002);
    CHECK_HAS(messages(), "aclrtSetDevice");
    CHECK(memory == NULL && stream == NULL);
}

TEST(soc_name)
{
    CHECK(strcmp(aclrtGetSocName(), "Ascend910B1") == 0);
    CHECK(aclrtGetSocName() == aclrtGetSocName());
}

TEST(soc_name_from_the_environment)
{
    setenv("ACLCPU_SOC_NAME", "Ascend310P3", 1);
    CHECK(strcmp(aclrtGetSocName(), "Ascend310P3") == 0);
}

/* Destroying and freeing still works when all is over. */
TEST(after_finalize)
{
    aclrtStream stream = NULL;
    void *block = NULL;
    CHECK_EQ(aclInit(NULL), ACL_SUCCESS);
    start();
    Call call = prepare(ACL_FLOAT, 2, 3, 4);
    CHECK_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
    CHECK_EQ(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    CHECK_EQ(plan_and_run(&call), 0);
    CHECK_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    CHECK_EQ(aclFinalize(), ACL_SUCCESS);
    CHECK_EQ(aclrtFree(block), ACL_SUCCESS);
    CHECK_EQ(aclrtFree(block), 107000);
    CHECK(aclrtDestroyStream(stream) != ACL_SUCCESS);
    CHECK(right(&call));
    finish(&call);
}

/* With work still queued, a process must end all the same, and not hang or crash. */
static aclrtStream last_stream;
static void *last_block;

static void at_exit(void)
{
    const aclError freed = aclrtFree(last_block), ended = aclrtDestroyStream(last_stream);
    (void)freed;
    (void)ended;
    (void)aclGetRecentErrMsg();
}

TEST(exit_with_work_queued)
{
    atexit(at_exit);
    start();
    REQUIRE(aclrtCreateStream(&last_stream) == ACL_SUCCESS);
    REQUIRE(aclrtMalloc(&last_block, 64, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
    for (int k = 0; k < 10; k++) {
        Call call = prepare(ACL_FLOAT, 4, 512, 256);
        CHECK_EQ(plan(&call), 0);
        need_workspace(&call);
        CHECK_EQ(aclnnModulateBackward(call.workspace, call.workspace_size, call.executor, last_stream), 0);
    }
}
