/* SPDX-License-Identifier: Apache-2.0 */
/* Events, callbacks, copies in stream order, and what else orders work. */
#include "call.h"
#include "gate.h"

static aclrtStream new_stream(void)
{
    aclrtStream stream = NULL;
    REQUIRE(aclrtCreateStream(&stream) == ACL_SUCCESS);
    return stream;
}

/* One stream waits for another: without the event the second call would read what is not there yet. */
TEST(a_stream_waits_for_an_event)
{
    start();
    for (int flavour = 0; flavour < 3; flavour++) {
        Gate gate = GATE_INITIALIZER;
        aclrtStream first = new_stream(), second = new_stream();
        aclrtEvent event = NULL;
        if (flavour == 0)
            REQUIRE(aclrtCreateEvent(&event) == ACL_SUCCESS);
        else if (flavour == 1)
            REQUIRE(aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC) == ACL_SUCCESS);
        else
            REQUIRE(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC) == ACL_SUCCESS);
        Call a = prepare(ACL_FLOAT, 2, 30, 40), b = prepare(ACL_FLOAT, 2, 30, 40);
        b.view[GRAD_OUTPUT].data = a.view[GRAD_INPUT].data;
        CHECK_EQ(plan(&a), 0);
        CHECK_EQ(plan(&b), 0);
        need_workspace(&a);
        need_workspace(&b);
        gate_hold(&gate, first);
        CHECK_EQ(aclnnModulateBackward(a.workspace, a.workspace_size, a.executor, first), 0);
        CHECK_EQ(aclrtRecordEvent(event, first), ACL_SUCCESS);
        CHECK_EQ(aclrtStreamWaitEvent(second, event), ACL_SUCCESS);
        CHECK_EQ(aclnnModulateBackward(b.workspace, b.workspace_size, b.executor, second), 0);
        aclrtEventRecordedStatus recorded = ACL_EVENT_RECORDED_STATUS_COMPLETE;
        CHECK_EQ(aclrtQueryEventStatus(event, &recorded), ACL_SUCCESS);
        CHECK_EQ(recorded, ACL_EVENT_RECORDED_STATUS_NOT_READY);
        aclrtStreamStatus status = ACL_STREAM_STATUS_COMPLETE;
        CHECK_EQ(aclrtStreamQuery(second, &status), ACL_SUCCESS);
        CHECK_EQ(status, ACL_STREAM_STATUS_NOT_READY);
        gate_open(&gate);
        CHECK_EQ(aclrtSynchronizeStream(second), ACL_SUCCESS);
        CHECK(right(&a));
        CHECK(right(&b));
        CHECK_EQ(aclrtQueryEventStatus(event, &recorded), ACL_SUCCESS);
        CHECK_EQ(recorded, ACL_EVENT_RECORDED_STATUS_COMPLETE);
        CHECK_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
        CHECK_EQ(aclrtDestroyEvent(event), 107017);
        CHECK_EQ(aclrtDestroyStream(first), ACL_SUCCESS);
        CHECK_EQ(aclrtDestroyStream(second), ACL_SUCCESS);
        finish(&a);
        finish(&b);
    }
}

TEST(event_never_recorded)
{
    start();
    aclrtStream stream = new_stream();
    aclrtEvent plain = NULL, ex = NULL;
    float ms = 0;
    uint64_t stamp = 0;
    aclrtEventRecordedStatus recorded;
    REQUIRE(aclrtCreateEvent(&plain) == ACL_SUCCESS);
    REQUIRE(aclrtCreateEventExWithFlag(&ex, ACL_EVENT_SYNC) == ACL_SUCCESS);
    CHECK_EQ(aclrtSynchronizeEvent(plain), ACL_SUCCESS);
    CHECK_EQ(aclrtSynchronizeEvent(ex), ACL_SUCCESS);
    CHECK_EQ(aclrtQueryEventStatus(plain, &recorded), ACL_SUCCESS);
    CHECK_EQ(recorded, ACL_EVENT_RECORDED_STATUS_NOT_READY);
    CHECK_EQ(aclrtQueryEventStatus(ex, &recorded), ACL_SUCCESS);
    CHECK_EQ(recorded, ACL_EVENT_RECORDED_STATUS_COMPLETE);
    CHECK_EQ(aclrtStreamWaitEvent(stream, plain), 107000);
    CHECK_EQ(aclrtStreamWaitEvent(stream, ex), ACL_SUCCESS);
    CHECK_EQ(aclrtEventElapsedTime(&ms, plain, plain), 507000);
    CHECK_EQ(aclrtEventGetTimestamp(plain, &stamp), 507000);
    CHECK_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
    CHECK_EQ(aclrtDestroyEvent(plain), ACL_SUCCESS);
    CHECK_EQ(aclrtDestroyEvent(ex), ACL_SUCCESS);
    CHECK_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
}

TEST(event_times)
{
    start();
    aclrtStream stream = new_stream();
    aclrtEvent begin = NULL, end = NULL, untimed = NULL;
    float ms = -1;
    uint64_t a = 0, b = 0;
    REQUIRE(aclrtCreateEventWithFlag(&begin, ACL_EVENT_TIME_LINE) == ACL_SUCCESS);
    REQUIRE(aclrtCreateEvent(&end) == ACL_SUCCESS);
    REQUIRE(aclrtCreateEventWithFlag(&untimed, ACL_EVENT_SYNC) == ACL_SUCCESS);
    Call call = prepare(ACL_FLOAT, 4, 256, 256);
    CHECK_EQ(plan(&call), 0);
    need_workspace(&call);
    CHECK_EQ(aclrtRecordEvent(begin, stream), ACL_SUCCESS);
    CHECK_EQ(aclnnModulateBackward(call.workspace, call.workspace_size, call.executor, stream), 0);
    CHECK_EQ(aclrtRecordEvent(end, stream), ACL_SUCCESS);
    CHECK_EQ(aclrtRecordEvent(untimed, stream), ACL_SUCCESS);
    CHECK_EQ(aclrtSynchronizeEvent(end), ACL_SUCCESS);
    CHECK_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
    CHECK(right(&call));
    CHECK_EQ(aclrtEventElapsedTime(&ms, begin, end), ACL_SUCCESS);
    CHECK(ms > 0);
    CHECK_EQ(aclrtEventGetTimestamp(begin, &a), ACL_SUCCESS);
    CHECK_EQ(aclrtEventGetTimestamp(end, &b), ACL_SUCCESS);
    CHECK(b > a);
    CHECK_EQ(aclrtEventElapsedTime(&ms, end, begin), 107007);
    CHECK_EQ(aclrtEventElapsedTime(&ms, begin, untimed), 107006);
    CHECK_EQ(aclrtEventGetTimestamp(untimed, &a), 107006);
    finish(&call);
}

TEST(event_rules_of_the_kinds)
{
    start();
    aclrtStream stream = new_stream();
    aclrtEvent plain = NULL, flagged = NULL, unsynced = NULL, ex = NULL;
    aclrtEventStatus status;
    aclrtEventWaitStatus waited;
    REQUIRE(aclrtCreateEvent(&plain) == ACL_SUCCESS);
    REQUIRE(aclrtCreateEventWithFlag(&flagged, ACL_EVENT_SYNC) == ACL_SUCCESS);
    REQUIRE(aclrtCreateEventWithFlag(&unsynced, ACL_EVENT_TIME_LINE) == ACL_SUCCESS);
    REQUIRE(aclrtCreateEventExWithFlag(&ex, ACL_EVENT_SYNC) == ACL_SUCCESS);
    aclrtEvent all[4];
    all[0] = plain;
    all[1] = flagged;
    all[2] = unsynced;
    all[3] = ex;
    for (int k = 0; k < 4; k++)
        CHECK_EQ(aclrtRecordEvent(all[k], stream), ACL_SUCCESS);
    CHECK_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
    CHECK_EQ(aclrtQueryEvent(plain, &status), ACL_SUCCESS);
    CHECK_EQ(status, ACL_EVENT_STATUS_COMPLETE);
    CHECK_EQ(aclrtQueryEvent(ex, &status), 107000);
    CHECK_EQ(aclrtQueryEventWaitStatus(ex, &waited), 107000);
    CHECK_EQ(aclrtResetEvent(ex, stream), 107000);
    CHECK_EQ(aclrtResetEvent(plain, stream), 107000);
    CHECK_EQ(aclrtResetEvent(unsynced, stream), 107000);
    CHECK_EQ(aclrtResetEvent(flagged, stream), ACL_SUCCESS);
    CHECK_EQ(aclrtStreamWaitEvent(stream, unsynced), 107000);
    CHECK_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
    for (int k = 0; k < 4; k++)
        CHECK_EQ(aclrtDestroyEvent(all[k]), ACL_SUCCESS);
}

/* An unfinished event may go. */
TEST(event_destroyed_before_it_is_reached)
{
    start();
    Gate gate = GATE_INITIALIZER;
    aclrtStream stream = new_stream();
    aclrtEvent event = NULL;
    REQUIRE(aclrtCreateEvent(&event) == ACL_SUCCESS);
    gate_hold(&gate, stream);
    CHECK_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
    CHECK_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
    CHECK_EQ(aclrtSynchronizeEvent(event), 107017);
    gate_open(&gate);
    CHECK_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
}

TEST(timeouts)
{
    start();
    Gate gate = GATE_INITIALIZER;
    aclrtStream stream = new_stream();
    aclrtEvent event = NULL;
    REQUIRE(aclrtCreateEvent(&event) == ACL_SUCCESS);
    gate_hold(&gate, stream);
    CHECK_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
    CHECK_EQ(aclrtSynchronizeStreamWithTimeout(stream, 1), 507046);
    CHECK_EQ(aclrtSynchronizeEventWithTimeout(event, 1), 507047);
    CHECK_EQ(aclrtSynchronizeDeviceWithTimeout(1), 507046);
    CHECK_EQ(aclrtSynchronizeStreamWithTimeout(stream, 0), 107000);
    CHECK_EQ(aclrtSynchronizeStreamWithTimeout(stream, -2), 107000);
    CHECK_EQ(aclrtSynchronizeEventWithTimeout(event, 0), 107000);
    CHECK_EQ(aclrtSynchronizeEventWithTimeout(event, INT32_MIN), 107000);
    CHECK_EQ(aclrtSynchronizeDeviceWithTimeout(0), 107000);
    gate_open(&gate);
    CHECK_EQ(aclrtSynchronizeStreamWithTimeout(stream, -1), ACL_SUCCESS);
    CHECK_EQ(aclrtSynchronizeEventWithTimeout(event, -1), ACL_SUCCESS);
    CHECK_EQ(aclrtSynchronizeDeviceWithTimeout(-1), ACL_SUCCESS);
    CHECK_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
}

static aclrtStream waited_for;
static aclError from_inside[3];

static void wait_for_myself(void *arg)
{
    (void)arg;
    start();
    from_inside[0] = aclrtSynchronizeStream(waited_for);
    from_inside[1] = aclrtDestroyStream(waited_for);
}

TEST(synchronising_from_inside_its_own_stream)
{
    start();
    waited_for = new_stream();
    CHECK_EQ(aclrtLaunchHostFunc(waited_for, wait_for_myself, NULL), ACL_SUCCESS);
    CHECK_EQ(aclrtSynchronizeStream(waited_for), ACL_SUCCESS);
    CHECK_EQ(from_inside[0], 507000);
    CHECK_EQ(from_inside[1], 507000);
    CHECK_EQ(aclrtDestroyStream(waited_for), ACL_SUCCESS);
}

TEST(async_copy_and_set)
{
    start();
    Gate gate = GATE_INITIALIZER;
    aclrtStream stream = new_stream();
    /* So large that memory freed too early is gone from the address space. */
    const size_t n = 4 << 20, half = n / 2;
    void *a = NULL, *b = NULL, *host = NULL;
    REQUIRE(aclrtMalloc(&a, n, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
    REQUIRE(aclrtMalloc(&b, n, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
    REQUIRE(aclrtMallocHost(&host, n) == ACL_SUCCESS);
    memset(host, 1, n);
    CHECK_EQ(aclrtMemset(a, n, 2, n), ACL_SUCCESS);
    gate_hold(&gate, stream);
    CHECK_EQ(aclrtMemsetAsync(a, n, 3, half, stream), ACL_SUCCESS);
    CHECK_EQ(aclrtMemcpyAsync(b, n, a, n, ACL_MEMCPY_DEVICE_TO_DEVICE, stream), ACL_SUCCESS);
    CHECK_EQ(aclrtMemcpyAsync(host, n, b, n, ACL_MEMCPY_DEVICE_TO_HOST, stream), ACL_SUCCESS);
    /* Both are freed while the copies wait. */
    CHECK_EQ(aclrtFree(a), ACL_SUCCESS);
    CHECK_EQ(aclrtFree(b), ACL_SUCCESS);
    CHECK_EQ(((char *)host)[0], 1);
    gate_open(&gate);
    CHECK_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
    CHECK_EQ(((char *)host)[0], 3);
    CHECK_EQ(((char *)host)[half - 1], 3);
    CHECK_EQ(((char *)host)[half], 2);
    CHECK_EQ(aclrtFreeHost(host), ACL_SUCCESS);
}

TEST(async_copy_refuses)
{
    start();
    char mine[64], other[64];
    aclrtStream stream = new_stream();
    void *a = NULL;
    REQUIRE(aclrtMalloc(&a, 64, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
    CHECK_EQ(aclrtMemcpyAsync(mine, 64, other, 64, ACL_MEMCPY_HOST_TO_HOST, stream), 207000);
    CHECK_EQ(aclrtMemcpyAsync(a, 64, mine, 97, ACL_MEMCPY_HOST_TO_DEVICE, stream), 107000);
    CHECK_EQ(aclrtMemcpyAsync(a, 1000, mine, 97, ACL_MEMCPY_HOST_TO_DEVICE, stream), 107000);
    CHECK_EQ(aclrtMemcpyAsync(NULL, 64, mine, 64, ACL_MEMCPY_HOST_TO_DEVICE, stream), 100000);
    CHECK_EQ(aclrtMemcpyAsync(a, 64, NULL, 64, ACL_MEMCPY_HOST_TO_DEVICE, stream), 100000);
    CHECK_EQ(aclrtMemcpyAsync(a, 64, mine, 64, (aclrtMemcpyKind)99, stream), 100000);
    CHECK_EQ(aclrtMemcpyAsync(a, 64, mine, 64, ACL_MEMCPY_HOST_TO_DEVICE, (aclrtStream)a), 107017);
    /* Memory that nobody told us of: the source of host to device, and not the destination. */
    CHECK_EQ(aclrtMemcpyAsync(mine, 64, a, 64, ACL_MEMCPY_HOST_TO_DEVICE, stream), 107000);
    CHECK_EQ(aclrtMemcpyAsync(a, 64, mine, 64, ACL_MEMCPY_DEVICE_TO_HOST, stream), 107000);
    CHECK_EQ(aclrtMemsetAsync(NULL, 64, 0, 64, stream), 100000);
    CHECK_EQ(aclrtMemsetAsync(a, 32, 0, 33, stream), 107000);
    CHECK_EQ(aclrtMemsetAsync(a, 1000, 0, 97, stream), 107000);
    CHECK_EQ(aclrtMemcpy2d(NULL, 8, mine, 8, 8, 2, ACL_MEMCPY_HOST_TO_DEVICE), 100000);
    CHECK(aclrtMemcpy2d(a, 4, mine, 8, 8, 2, ACL_MEMCPY_HOST_TO_DEVICE) != ACL_SUCCESS);
    CHECK(aclrtMemcpy2d(a, SIZE_MAX, mine, SIZE_MAX, SIZE_MAX, SIZE_MAX, ACL_MEMCPY_HOST_TO_DEVICE) != ACL_SUCCESS);
    CHECK_EQ(aclrtFree(a), ACL_SUCCESS);
}

TEST(copy_2d)
{
    start();
    unsigned char from[6 * 10], to[6 * 7];
    void *block = NULL;
    REQUIRE(aclrtMalloc(&block, 6 * 16, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
    for (int k = 0; k < 60; k++)
        from[k] = (unsigned char)k;
    memset(to, POISON, sizeof(to));
    CHECK_EQ(aclrtMemcpy2d(block, 16, from, 10, 5, 6, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
    CHECK_EQ(aclrtMemcpy2d(to, 7, block, 16, 5, 6, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
    for (int row = 0; row < 6; row++)
        for (int column = 0; column < 7; column++)
            CHECK_EQ(to[row * 7 + column], column < 5 ? row * 10 + column : POISON);
    CHECK_EQ(aclrtFree(block), ACL_SUCCESS);
}

/* Every function that takes a stream or an event, with what is neither. */
TEST(wrong_handles)
{
    start();
    Call call = prepare(ACL_FLOAT, 2, 3, 4);
    make_tensors(&call);
    aclrtStream stream = new_stream(), dead_stream = new_stream();
    aclrtEvent event = NULL, dead_event = NULL;
    REQUIRE(aclrtCreateEvent(&event) == ACL_SUCCESS && aclrtCreateEvent(&dead_event) == ACL_SUCCESS);
    REQUIRE(aclrtDestroyStream(dead_stream) == ACL_SUCCESS && aclrtDestroyEvent(dead_event) == ACL_SUCCESS);
    void *const bad[] = {dead_stream, dead_event, call.tensor[0], &call, (void *)(uintptr_t)1, (void *)UINTPTR_MAX, stream,
                         event};
    for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
        void *const h = bad[k];
        int32_t id;
        uint32_t number;
        uint64_t stamp;
        float ms;
        aclrtStreamStatus stream_status;
        aclrtEventStatus event_status;
        aclrtEventRecordedStatus recorded;
        aclrtEventWaitStatus waited;
        if (h != stream) {
            CHECK_EQ(aclrtSynchronizeStream(h), 107017);
            CHECK_EQ(aclrtSynchronizeStreamWithTimeout(h, 1), 107017);
            CHECK_EQ(aclrtStreamQuery(h, &stream_status), 107017);
            CHECK_EQ(aclrtStreamGetId(h, &id), 107017);
            CHECK_EQ(aclrtStreamGetPriority(h, &number), 107017);
            CHECK_EQ(aclrtStreamGetFlags(h, &number), 107017);
            CHECK_EQ(aclrtSetStreamFailureMode(h, 0), 107017);
            CHECK_EQ(aclrtStreamAbort(h), 107017);
            CHECK_EQ(aclrtDestroyStream(h), 107017);
            CHECK_EQ(aclrtDestroyStreamForce(h), 107017);
            CHECK_EQ(aclrtRecordEvent(event, h), 107017);
            CHECK_EQ(aclrtStreamWaitEvent(h, event), 107017);
            CHECK_EQ(aclrtLaunchHostFunc(h, gate_pass, &call), 107017);
            CHECK_EQ(aclrtLaunchCallback(gate_pass, &call, ACL_CALLBACK_NO_BLOCK, h), 107017);
            CHECK_EQ(aclrtSubscribeReport(1, h), 107017);
            CHECK(aclrtUnSubscribeReport(1, h) != ACL_SUCCESS);
        }
        if (h != event) {
            CHECK_EQ(aclrtRecordEvent(h, stream), 107017);
            CHECK_EQ(aclrtResetEvent(h, stream), 107017);
            CHECK_EQ(aclrtQueryEvent(h, &event_status), 107017);
            CHECK_EQ(aclrtQueryEventStatus(h, &recorded), 107017);
            CHECK_EQ(aclrtQueryEventWaitStatus(h, &waited), 107017);
            CHECK_EQ(aclrtSynchronizeEvent(h), 107017);
            CHECK_EQ(aclrtSynchronizeEventWithTimeout(h, 1), 107017);
            CHECK_EQ(aclrtStreamWaitEvent(stream, h), 107017);
            CHECK_EQ(aclrtStreamWaitEventWithTimeout(stream, h, 1), 107017);
            CHECK_EQ(aclrtEventElapsedTime(&ms, h, event), 107017);
            CHECK_EQ(aclrtEventElapsedTime(&ms, event, h), 107017);
            CHECK_EQ(aclrtEventGetTimestamp(h, &stamp), 107017);
            CHECK_EQ(aclrtGetEventId(h, &number), 107017);
            CHECK_EQ(aclrtDestroyEvent(h), 107017);
        }
        CHECK_EQ(aclrtSetCurrentContext(h), 107002);
    }
    CHECK_EQ(aclrtDestroyEvent(NULL), 100000);
    CHECK_EQ(aclrtDestroyStreamForce(NULL), 100000);
    CHECK_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
    CHECK_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
    finish(&call);
}

/* Every out parameter as NULL. */
TEST(null_out_parameters)
{
    start();
    aclrtStream stream = new_stream();
    aclrtEvent event = NULL;
    REQUIRE(aclrtCreateEvent(&event) == ACL_SUCCESS);
    int32_t number = 0;
    size_t bytes = 0;
    CHECK_EQ(aclrtCreateEvent(NULL), 100000);
    CHECK_EQ(aclrtCreateEventWithFlag(NULL, 1), 100000);
    CHECK_EQ(aclrtCreateEventExWithFlag(NULL, 1), 100000);
    CHECK_EQ(aclrtCreateStreamWithConfig(NULL, 0, 0), 100000);
    CHECK_EQ(aclrtGetVersion(NULL, &number, &number), 100000);
    CHECK_EQ(aclrtGetDevice(NULL), 100000);
    CHECK_EQ(aclrtGetDeviceCount(NULL), 100000);
    CHECK_EQ(aclrtGetRunMode(NULL), 100000);
    CHECK_EQ(aclrtDeviceCanAccessPeer(NULL, 0, 0), 100000);
    CHECK_EQ(aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, NULL), 100000);
    CHECK_EQ(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, NULL), 100000);
    CHECK_EQ(aclrtGetCurrentContext(NULL), 100000);
    CHECK_EQ(aclrtCtxGetCurrentDefaultStream(NULL), 100000);
    CHECK_EQ(aclrtStreamQuery(stream, NULL), 100000);
    CHECK_EQ(aclrtStreamGetId(stream, NULL), 100000);
    CHECK_EQ(aclrtStreamGetPriority(stream, NULL), 100000);
    CHECK_EQ(aclrtStreamGetFlags(stream, NULL), 100000);
    CHECK_EQ(aclrtGetStreamAvailableNum(NULL), 100000);
    CHECK_EQ(aclrtQueryEvent(event, NULL), 100000);
    CHECK_EQ(aclrtQueryEventStatus(event, NULL), 100000);
    CHECK_EQ(aclrtQueryEventWaitStatus(event, NULL), 100000);
    CHECK_EQ(aclrtEventElapsedTime(NULL, event, event), 100000);
    CHECK_EQ(aclrtEventGetTimestamp(event, NULL), 100000);
    CHECK_EQ(aclrtGetEventId(event, NULL), 100000);
    CHECK_EQ(aclrtGetMemInfo(ACL_HBM_MEM, NULL, &bytes), 100000);
    CHECK_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &bytes, NULL), 100000);
    CHECK_EQ(aclrtPointerGetAttributes(&number, NULL), 100000);
    CHECK_EQ(aclrtGetErrorVerbose(0, NULL), 100000);
    CHECK_EQ(aclrtLaunchHostFunc(stream, NULL, NULL), 100000);
    CHECK_EQ(aclrtMallocAlign32(NULL, 64, ACL_MEM_MALLOC_HUGE_FIRST), 100000);
    CHECK_EQ(aclrtMallocCached(NULL, 64, ACL_MEM_MALLOC_HUGE_FIRST), 100000);
    CHECK_EQ(aclrtFreeWithDevSync(NULL), 100000);
    CHECK_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
    CHECK_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
}

TEST(last_error)
{
    CHECK_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
    CHECK_EQ(aclrtSetDevice(99), 107001);
    CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    CHECK_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), 107001);
    CHECK_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), 107001);
    CHECK_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), 107001);
    CHECK_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
}

TEST(finalize_reference)
{
    uint64_t count = 77;
    CHECK_EQ(aclFinalizeReference(&count), 100037);
    CHECK_EQ(aclInit(NULL), ACL_SUCCESS);
    CHECK_EQ(aclInit(NULL), 100002);
    CHECK_EQ(aclFinalizeReference(&count), ACL_SUCCESS);
    CHECK_EQ(count, 1);
    CHECK_EQ(aclFinalizeReference(&count), ACL_SUCCESS);
    CHECK_EQ(count, 0);
    CHECK_EQ(aclFinalizeReference(&count), 100037);
}

static void *serve_reports(void *arg)
{
    int *stop = (int *)arg;
    start();
    while (!__atomic_load_n(stop, __ATOMIC_ACQUIRE))
        (void)aclrtProcessReport(10);
    return NULL;
}

static void set_flag(void *flag)
{
    __atomic_store_n((int *)flag, 1, __ATOMIC_RELEASE);
}

/* A blocking callback holds up its stream until the subscribed thread has run it. */
TEST(callback_runs_in_its_thread)
{
    start();
    int stop = 0, called = 0;
    pthread_t server;
    aclrtStream stream = new_stream();
    CHECK_EQ(aclrtLaunchCallback(set_flag, &called, ACL_CALLBACK_BLOCK, stream), 107015);
    REQUIRE(pthread_create(&server, NULL, serve_reports, &stop) == 0);
    CHECK_EQ(aclrtSubscribeReport((uint64_t)server, stream), ACL_SUCCESS);
    CHECK_EQ(aclrtLaunchCallback(set_flag, &called, ACL_CALLBACK_BLOCK, stream), ACL_SUCCESS);
    CHECK_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
    CHECK_EQ(called, 1);
    CHECK_EQ(aclrtUnSubscribeReport((uint64_t)server, stream), ACL_SUCCESS);
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    pthread_join(server, NULL);
    CHECK_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
}
