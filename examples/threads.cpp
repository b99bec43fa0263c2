// SPDX-License-Identifier: Apache-2.0
//
// Many threads. Every function may be called from any thread, on objects of any thread; but the device is chosen for each
// thread by itself, and so is the text of its last errors.
#include <thread>

#include "support.hpp"

static void worker(int number)
{
    // Without this, memory and streams answer 107002 in this thread, whatever other threads have done.
    CHECK(aclrtSetDevice(0));
    aclrtStream stream = nullptr;
    CHECK(aclrtCreateStream(&stream));
    {
        const auto value = static_cast<float>(number + 1);
        const std::vector<int64_t> big = {2, 16, 64}, small = {2, 64};
        const Tensor g(big, value), x(big, 3.f), scale(small, 2.f), shift(small, 0.f);
        const Tensor grad_input(big), grad_scale(small), grad_shift(small);
        for (int k = 0; k < 10; k++) {
            const Plan plan(g, x, scale, shift, grad_input, grad_scale, grad_shift);
            plan.launch(stream);
            CHECK(aclrtSynchronizeStream(stream));
            expect(grad_input.get()[0] == 2.f * value, "grad_input");
            expect(grad_scale.get()[0] == 16.f * 3.f * value, "grad_scale");
            expect(grad_shift.get()[0] == 16.f * value, "grad_shift");
        }
    }
    CHECK(aclrtDestroyStream(stream));
    // Each aclrtSetDevice has its aclrtResetDevice; the last one ends the device's default context.
    CHECK(aclrtResetDevice(0));
}

int main()
{
    CHECK(aclInit(nullptr));
    CHECK(aclrtSetDevice(0));
    std::vector<std::thread> threads;
    for (int k = 0; k < 4; k++)
        threads.emplace_back(worker, k);
    for (std::thread &thread : threads)
        thread.join();
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    std::puts("threads: ok");
    return 0;
}
