/* SPDX-License-Identifier: Apache-2.0 */
/* Many threads at once: each function may be called from any of them, on objects that any of them made. */
#include <pthread.h>

#include "call.h"

enum { THREADS = 8 };

static void in_threads(void *(*body)(void *))
{
    pthread_t thread[THREADS];
    for (intptr_t k = 0; k < THREADS; k++)
        REQUIRE(pthread_create(&thread[k], NULL, body, (void *)k) == 0);
    for (int k = 0; k < THREADS; k++)
        pthread_join(thread[k], NULL);
}

/* Everything that a call site does, in a thread and on a stream of its own. */
static void *whole_flow(void *arg)
{
    const intptr_t me = (intptr_t)arg;
    const aclDataType types[3] = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
    aclrtStream stream = NULL;
    start();
    REQUIRE(aclrtCreateStream(&stream) == ACL_SUCCESS);
    for (int round = 0; round < 40; round++) {
        Call call = prepare(types[(me + round) % 3], 1 + me % 3, 1 + round * 3, 10 + me);
        CHECK_EQ(plan(&call), 0);
        CHECK_EQ(run_on(&call, stream), 0);
        CHECK(right(&call));
        CHECK(fences_hold(&call));
        finish(&call);
    }
    CHECK_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
    CHECK(aclGetRecentErrMsg() == NULL);
    return NULL;
}

TEST(a_stream_for_each_thread)
{
    in_threads(whole_flow);
}

static void *default_stream(void *arg)
{
    const intptr_t me = (intptr_t)arg;
    start();
    for (int round = 0; round < 40; round++) {
        Call call = prepare(ACL_FLOAT, 2, 20 + round, 10 + me);
        CHECK_EQ(plan_and_run(&call), 0);
        CHECK(right(&call));
        finish(&call);
    }
    return NULL;
}

/* All threads share the device's default context, and so one default stream. */
TEST(one_default_stream_for_all)
{
    in_threads(default_stream);
}

static Call shared_calls[THREADS];
static pthread_barrier_t gate;

static void *run_planned(void *arg)
{
    Call *call = &shared_calls[(intptr_t)arg];
    start();
    CHECK_EQ(run(call), 0);
    destroy_tensors(call);
    return NULL;
}

/* Planned in this thread, run and ended in others. */
TEST(objects_cross_threads)
{
    for (int k = 0; k < THREADS; k++) {
        shared_calls[k] = prepare(ACL_FLOAT, 2, 30, 10 + k);
        CHECK_EQ(plan(&shared_calls[k]), 0);
    }
    in_threads(run_planned);
    for (int k = 0; k < THREADS; k++) {
        CHECK(right(&shared_calls[k]));
        finish(&shared_calls[k]);
    }
}

static aclrtStream shared_stream;

static void *use_shared_stream(void *arg)
{
    const intptr_t me = (intptr_t)arg;
    start();
    for (int round = 0; round < 30; round++) {
        Call call = prepare(ACL_FLOAT16, 1, 30 + round, 10 + me);
        CHECK_EQ(plan(&call), 0);
        CHECK_EQ(run_on(&call, shared_stream), 0);
        CHECK(right(&call));
        finish(&call);
    }
    return NULL;
}

TEST(one_stream_for_all_threads)
{
    start();
    REQUIRE(aclrtCreateStream(&shared_stream) == ACL_SUCCESS);
    in_threads(use_shared_stream);
    CHECK_EQ(aclrtDestroyStream(shared_stream), ACL_SUCCESS);
}

static Call repeatable;

static void *run_repeatable(void *arg)
{
    (void)arg;
    aclrtStream stream = NULL;
    void *workspace = NULL;
    start();
    REQUIRE(aclrtCreateStream(&stream) == ACL_SUCCESS);
    if (repeatable.workspace_size > 0)
        REQUIRE(aclrtMalloc(&workspace, repeatable.workspace_size, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
    for (int round = 0; round < 50; round++) {
        CHECK_EQ(aclnnModulateBackward(workspace, repeatable.workspace_size, repeatable.executor, stream), 0);
        CHECK_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
    }
    if (workspace)
        CHECK_EQ(aclrtFree(workspace), ACL_SUCCESS);
    CHECK_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
    return NULL;
}

/* All of them write the same values to the same place. */
TEST(a_repeatable_executor_in_all_threads)
{
    repeatable = prepare(ACL_FLOAT, 2, 40, 50);
    CHECK_EQ(plan(&repeatable), 0);
    CHECK_EQ(aclSetAclOpExecutorRepeatable(repeatable.executor), 0);
    in_threads(run_repeatable);
    CHECK_EQ(aclDestroyAclOpExecutor(repeatable.executor), 0);
    CHECK(right(&repeatable));
    finish(&repeatable);
}

static int winners;

static void *race_to_run(void *arg)
{
    Call *call = &shared_calls[0];
    (void)arg;
    start();
    for (int round = 0; round < 100; round++) {
        if (pthread_barrier_wait(&gate) == PTHREAD_BARRIER_SERIAL_THREAD) {
            winners = 0;
            CHECK_EQ(plan(call), 0);
        }
        pthread_barrier_wait(&gate);
        const aclnnStatus status = aclnnModulateBackward(NULL, 0, call->executor, NULL);
        CHECK(status == 0 || status == 561103);
        if (status == 0)
            __atomic_fetch_add(&winners, 1, __ATOMIC_RELAXED);
        pthread_barrier_wait(&gate);
        CHECK_EQ(winners, 1);
        CHECK_EQ(aclrtSynchronizeStream(NULL), ACL_SUCCESS);
        (void)aclGetRecentErrMsg();
        pthread_barrier_wait(&gate);
    }
    return NULL;
}

/* A one-shot executor is run by exactly one of those who try. */
TEST(one_shot_executor_runs_once)
{
    REQUIRE(pthread_barrier_init(&gate, NULL, THREADS) == 0);
    shared_calls[0] = prepare(ACL_FLOAT, 2, 3, 4);
    in_threads(race_to_run);
    CHECK(right(&shared_calls[0]));
    finish(&shared_calls[0]);
}

static aclTensor *contested;

static void *race_to_destroy(void *arg)
{
    const int64_t dims[3] = {2, 3, 4};
    (void)arg;
    for (int round = 0; round < 300; round++) {
        if (pthread_barrier_wait(&gate) == PTHREAD_BARRIER_SERIAL_THREAD) {
            winners = 0;
            contested = aclCreateTensor(dims, 3, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, dims, 3, NULL);
            CHECK(contested != NULL);
        }
        pthread_barrier_wait(&gate);
        int64_t offset;
        const aclnnStatus seen = aclGetViewOffset(contested, &offset);
        CHECK(seen == 0 || seen == 161002);
        const aclnnStatus status = aclDestroyTensor(contested);
        CHECK(status == 0 || status == 161002);
        if (status == 0)
            __atomic_fetch_add(&winners, 1, __ATOMIC_RELAXED);
        pthread_barrier_wait(&gate);
        CHECK_EQ(winners, 1);
    }
    return NULL;
}

TEST(a_tensor_is_destroyed_once)
{
    REQUIRE(pthread_barrier_init(&gate, NULL, THREADS) == 0);
    in_threads(race_to_destroy);
}

static void *race_to_free(void *arg)
{
    static void *block;
    (void)arg;
    start();
    for (int round = 0; round < 300; round++) {
        if (pthread_barrier_wait(&gate) == PTHREAD_BARRIER_SERIAL_THREAD) {
            winners = 0;
            CHECK_EQ(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
        }
        pthread_barrier_wait(&gate);
        const aclError status = aclrtFree(block);
        CHECK(status == ACL_SUCCESS || status == 107000);
        if (status == ACL_SUCCESS)
            __atomic_fetch_add(&winners, 1, __ATOMIC_RELAXED);
        pthread_barrier_wait(&gate);
        CHECK_EQ(winners, 1);
    }
    return NULL;
}

TEST(a_block_is_freed_once)
{
    REQUIRE(pthread_barrier_init(&gate, NULL, THREADS) == 0);
    in_threads(race_to_free);
}

/* Objects of every kind made and ended in all threads; every handle is used once, and none by two. */
static void *churn(void *arg)
{
    const int64_t dims[2] = {3, (intptr_t)arg + 1};
    start();
    for (int round = 0; round < 2000; round++) {
        aclTensor *tensor = aclCreateTensor(dims, 2, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, dims, 2, (void *)&dims);
        aclIntArray *array = aclCreateIntArray(dims, 2);
        void *block = NULL, *address = NULL;
        uint64_t size = 0;
        CHECK_EQ(aclrtMalloc(&block, 64 + (size_t)round, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
        CHECK_EQ(aclrtMemset(block, 64, (int)(intptr_t)arg, 64), ACL_SUCCESS);
        CHECK_EQ(aclGetRawTensorAddr(tensor, &address), 0);
        CHECK(address == (void *)&dims);
        CHECK_EQ(aclGetIntArraySize(array, &size), 0);
        CHECK_EQ(size, 2);
        CHECK_EQ(((char *)block)[63], (char)(intptr_t)arg);
        CHECK_EQ(aclrtFree(block), ACL_SUCCESS);
        CHECK_EQ(aclDestroyTensor(tensor), 0);
        CHECK_EQ(aclDestroyIntArray(array), 0);
        if (round % 100 == 0) {
            aclrtStream stream = NULL;
            CHECK_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
            CHECK_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
            CHECK_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
        }
    }
    return NULL;
}

TEST(churn_in_all_threads)
{
    in_threads(churn);
}

static void *context_of_my_own(void *arg)
{
    (void)arg;
    for (int round = 0; round < 50; round++) {
        aclrtContext context = NULL;
        aclrtStream stream = NULL;
        CHECK_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
        CHECK_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
        Call call = prepare(ACL_FLOAT, 1, 5, 6);
        CHECK_EQ(plan(&call), 0);
        CHECK_EQ(run_on(&call, stream), 0);
        CHECK(right(&call));
        finish(&call);
        CHECK_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
        CHECK_EQ(aclrtSynchronizeStream(NULL), 107002);
    }
    return NULL;
}

TEST(contexts_in_all_threads)
{
    in_threads(context_of_my_own);
}

static void *without_a_device(void *arg)
{
    void *block = NULL;
    CHECK_EQ(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST), 107002);
    CHECK_HAS(messages(), "aclrtSetDevice");
    /* These need none. */
    Call *call = (Call *)arg;
    CHECK_EQ(plan(call), 0);
    CHECK_EQ(aclDestroyAclOpExecutor(call->executor), 0);
    return NULL;
}

/* aclrtSetDevice binds the thread that called it, and no other. */
TEST(set_device_is_for_one_thread)
{
    pthread_t thread;
    start();
    Call call = prepare(ACL_FLOAT, 2, 3, 4);
    REQUIRE(pthread_create(&thread, NULL, without_a_device, &call) == 0);
    pthread_join(thread, NULL);
    finish(&call);
}

static void *destroy_context(void *context)
{
    CHECK_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
    return NULL;
}

/* A context that is destroyed elsewhere is gone for the thread that had it. */
TEST(context_destroyed_by_another_thread)
{
    pthread_t thread;
    aclrtContext context = NULL;
    aclrtStream stream = NULL;
    CHECK_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
    CHECK_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
    REQUIRE(pthread_create(&thread, NULL, destroy_context, context) == 0);
    pthread_join(thread, NULL);
    CHECK_EQ(aclrtCreateStream(&stream), 107002);
    CHECK_EQ(aclrtSynchronizeStream(NULL), 107002);
    CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    CHECK_EQ(aclrtSynchronizeStream(NULL), ACL_SUCCESS);
}
