// SPDX-License-Identifier: Apache-2.0
//
// One plan, many runs. An executor normally serves a single phase two; made repeatable, it serves any number, and its
// tensors can be pointed at other memory between the runs. That saves the checks of phase one in a training loop whose
// shapes stay the same.
#include "support.hpp"

int main()
{
    CHECK(aclInit(nullptr));
    CHECK(aclrtSetDevice(0));
    aclrtStream stream = nullptr;
    CHECK(aclrtCreateStream(&stream));
    {
        const std::vector<int64_t> big = {2, 3, 4}, small = {2, 4};
        Tensor grad_output(big), input(big, 1.f), scale(small, 2.f), shift(small, 0.f);
        Tensor grad_input(big), grad_scale(small), grad_shift(small);
        const Plan plan(grad_output, input, scale, shift, grad_input, grad_scale, grad_shift);
        CHECK(aclSetAclOpExecutorRepeatable(plan.executor()));

        // The same memory, with new numbers in it each time.
        for (int step = 1; step <= 3; step++) {
            grad_output.set(std::vector<float>(24, static_cast<float>(step)));
            plan.launch(stream);
            CHECK(aclrtSynchronizeStream(stream));
            expect(grad_input.get()[0] == 2.f * static_cast<float>(step), "grad_input of a step");
            expect(grad_shift.get()[0] == 3.f * static_cast<float>(step), "grad_shift of a step");
        }

        // Other memory for the first output: outputs and inputs are counted from 0 in the order of phase one's arguments.
        // Runs that are queued already keep the address that they were launched with.
        const Tensor elsewhere(big, 0.f);
        plan.launch(stream);
        CHECK(aclSetOutputTensorAddr(plan.executor(), 0, grad_input.view(), elsewhere.memory()));
        plan.launch(stream);
        CHECK(aclrtSynchronizeStream(stream));
        expect(elsewhere.get()[23] == 6.f, "grad_input in its new place");

        // A repeatable executor lives until it is destroyed.
        CHECK(aclDestroyAclOpExecutor(plan.executor()));
    }
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    std::puts("repeatable: ok");
    return 0;
}
