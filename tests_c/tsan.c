/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program under ThreadSanitizer: what streams and events order is no race, and what they don't is one. The library
 * itself is not instrumented; it tells what its locks order (src/tsan.rs).
 */
#include <pthread.h>
#include <sched.h>

#include "acl/acl.h"
#include "aclnnop/aclnn_modulate_backward.h"
#include "check.h"

enum { THREADS = 3, ROUNDS = 100, COUNT = 64 };

static void count_up(void *argument)
{
    int *numbers = (int *)argument;
    for (int i = 0; i < COUNT; i++)
        numbers[i]++;
}

static void run_operator(aclrtStream stream)
{
    const int64_t dims[3] = {1, 2, 3};
    float grad_output[6] = {1, 2, 3, 4, 5, 6}, grad_input[6];
    aclTensor *a = aclCreateTensor(dims, 3, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, dims, 3, grad_output);
    aclTensor *b = aclCreateTensor(dims, 3, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, dims, 3, grad_input);
    uint64_t size;
    aclOpExecutor *executor;
    REQUIRE(aclnnModulateBackwardGetWorkspaceSize(a, a, NULL, NULL, b, NULL, NULL, &size, &executor) == 0);
    CHECK_EQ(aclnnModulateBackward(NULL, 0, executor, stream), 0);
    CHECK_EQ(aclrtSynchronizeStream(stream), 0);
    CHECK(grad_input[5] == 6);
    aclDestroyTensor(a);
    aclDestroyTensor(b);
}

static void *one_thread(void *unused)
{
    aclrtStream stream;
    int numbers[COUNT];
    void *block;
    (void)unused;
    REQUIRE(aclrtSetDevice(0) == 0);
    REQUIRE(aclrtCreateStream(&stream) == 0);
    REQUIRE(aclrtMalloc(&block, sizeof(numbers), ACL_MEM_MALLOC_HUGE_FIRST) == 0);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < COUNT; i++)
            numbers[i] = round;
        CHECK_EQ(aclrtLaunchHostFunc(stream, count_up, numbers), 0);
        CHECK_EQ(aclrtSynchronizeStream(stream), 0);
        CHECK_EQ(numbers[COUNT - 1], round + 1);
        CHECK_EQ(aclrtMemcpyAsync(block, sizeof(numbers), numbers, sizeof(numbers), ACL_MEMCPY_HOST_TO_DEVICE, stream), 0);
        run_operator(stream);
    }
    CHECK_EQ(aclrtFree(block), 0);
    CHECK_EQ(aclrtDestroyStream(stream), 0);
    return NULL;
}

TEST(what_streams_and_events_order_is_no_race)
{
    static int numbers[COUNT];
    pthread_t threads[THREADS];
    aclrtStream one, two;
    aclrtEvent event;
    REQUIRE(aclrtSetDevice(0) == 0);
    for (int i = 0; i < THREADS; i++)
        REQUIRE(pthread_create(&threads[i], NULL, one_thread, NULL) == 0);
    REQUIRE(aclrtCreateStream(&one) == 0 && aclrtCreateStream(&two) == 0 && aclrtCreateEvent(&event) == 0);
    for (int round = 0; round < ROUNDS; round++) {
        CHECK_EQ(aclrtLaunchHostFunc(one, count_up, numbers), 0);
        CHECK_EQ(aclrtRecordEvent(event, one), 0);
        CHECK_EQ(aclrtStreamWaitEvent(two, event), 0);
        CHECK_EQ(aclrtLaunchHostFunc(two, count_up, numbers), 0);
        CHECK_EQ(aclrtRecordEvent(event, two), 0);
        CHECK_EQ(aclrtSynchronizeEvent(event), 0);
        numbers[0]++;
    }
    CHECK_EQ(numbers[0], 3 * ROUNDS);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK_EQ(aclrtDestroyEvent(event), 0);
    CHECK_EQ(aclrtDestroyStream(one), 0);
    CHECK_EQ(aclrtDestroyStream(two), 0);
}

static int told;

static void count_up_and_tell(void *argument)
{
    count_up(argument);
    __atomic_store_n(&told, 1, __ATOMIC_RELAXED);
}

/* Must be reported: the host function's writes come before the reads here, but nothing says so: a relaxed flag orders nothing. */
TEST(a_race_is_found)
{
    static int numbers[COUNT];
    aclrtStream stream;
    REQUIRE(aclrtSetDevice(0) == 0);
    REQUIRE(aclrtCreateStream(&stream) == 0);
    CHECK_EQ(aclrtLaunchHostFunc(stream, count_up_and_tell, numbers), 0);
    while (!__atomic_load_n(&told, __ATOMIC_RELAXED))
        sched_yield();
    printf("%d\n", numbers[0]);
    CHECK_EQ(aclrtSynchronizeStream(stream), 0);
}
