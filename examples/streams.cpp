// SPDX-License-Identifier: Apache-2.0
//
// Several streams. Within a stream work runs in order; two streams know nothing of each other unless an event ties them
// together. Here a second call reads the first one's result on another stream, and two more events tell how long it took.
#include "support.hpp"

int main()
{
    CHECK(aclInit(nullptr));
    CHECK(aclrtSetDevice(0));
    aclrtStream first = nullptr, second = nullptr;
    aclrtEvent begin = nullptr, written = nullptr, end = nullptr;
    CHECK(aclrtCreateStream(&first));
    CHECK(aclrtCreateStream(&second));
    CHECK(aclrtCreateEvent(&begin));
    CHECK(aclrtCreateEvent(&written));
    CHECK(aclrtCreateEvent(&end));
    {
        const std::vector<int64_t> big = {4, 256, 512}, small = {4, 512};
        const Tensor g(big, 1.f), x(big, 1.f), scale(small, 2.f), shift(small, 0.f);
        const Tensor between(big), result(big), scale_a(small), scale_b(small), shift_a(small), shift_b(small);
        const Plan a(g, x, scale, shift, between, scale_a, shift_a);
        const Plan b(between, x, scale, shift, result, scale_b, shift_b);

        CHECK(aclrtRecordEvent(begin, first));
        a.launch(first);
        // The event stands for all that is queued on the first stream so far ...
        CHECK(aclrtRecordEvent(written, first));
        // ... and what is queued on the second from now on waits for it. This call itself doesn't wait.
        CHECK(aclrtStreamWaitEvent(second, written));
        b.launch(second);
        CHECK(aclrtRecordEvent(end, second));

        CHECK(aclrtSynchronizeStream(second));
        expect(result.get()[0] == 4.f, "the second call saw the first one's result");
        float milliseconds = 0;
        CHECK(aclrtEventElapsedTime(&milliseconds, begin, end));
        std::printf("both calls: %.3f ms\n", static_cast<double>(milliseconds));
    }
    for (aclrtEvent event : {begin, written, end})
        CHECK(aclrtDestroyEvent(event));
    CHECK(aclrtDestroyStream(first));
    CHECK(aclrtDestroyStream(second));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    std::puts("streams: ok");
    return 0;
}
