// SPDX-License-Identifier: Apache-2.0
//
// One call of aclnnModulateBackward from C++, from aclInit to aclFinalize. Build it with
//
//     c++ -std=c++11 call.cpp -I$PREFIX/include -L$PREFIX/lib64 -lascendcl -lnnopbase -lopapi_nn
//
// The forward step of adaptive layer norm is  y = x * s + t,  with x of shape [batch, sequence, hidden] and s, t of shape
// [batch, hidden], the same for all tokens of a sample. Given the gradient g of the loss with respect to y, the operator
// computes the gradients with respect to x, s and t:
//
//     grad_input[b,l,d] = g[b,l,d] * s[b,d]
//     grad_scale[b,d]   = sum over l of g[b,l,d] * x[b,l,d]
//     grad_shift[b,d]   = sum over l of g[b,l,d]
//
// The factor is s as you pass it. If your model computes x * (1 + scale) + shift, pass s = 1 + scale.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_modulate_backward.h"

// Every function returns a status, and a failed one leaves a text in this thread that says what was wrong.
static void check(int status, const char *what)
{
    if (status != 0) {
        const char *text = aclGetRecentErrMsg();
        std::fprintf(stderr, "%s gave %d\n%s\n", what, status, text ? text : "");
        std::exit(1);
    }
}
#define CHECK(call) check((call), #call)

// A tensor is two things: memory on the device, and an aclTensor that describes how to read it.
struct Tensor {
    void *memory = nullptr;
    aclTensor *view = nullptr;

    Tensor(const std::vector<int64_t> &shape, const std::vector<float> &values)
    {
        const size_t bytes = values.size() * sizeof(float);
        CHECK(aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
        CHECK(aclrtMemcpy(memory, bytes, values.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE));
        // Row-major: the last dimension lies closest together. Any other non-negative strides would do as well.
        std::vector<int64_t> strides(shape.size(), 1);
        for (size_t d = shape.size() - 1; d > 0; d--)
            strides[d - 1] = strides[d] * shape[d];
        // The view, and then the storage that it lies in: here they are the same.
        view = aclCreateTensor(shape.data(), shape.size(), ACL_FLOAT, strides.data(), 0, ACL_FORMAT_ND, shape.data(),
                               shape.size(), memory);
        check(view ? 0 : -1, "aclCreateTensor");
    }
    ~Tensor()
    {
        aclDestroyTensor(view);
        aclrtFree(memory);
    }
    Tensor(const Tensor &) = delete;
    Tensor &operator=(const Tensor &) = delete;
};

static void print(const char *name, const Tensor &tensor, size_t count)
{
    std::vector<float> values(count);
    CHECK(aclrtMemcpy(values.data(), count * sizeof(float), tensor.memory, count * sizeof(float),
                      ACL_MEMCPY_DEVICE_TO_HOST));
    std::printf("%-10s", name);
    for (float value : values)
        std::printf(" %g", value);
    std::printf("\n");
}

static void call(aclrtStream stream)
{
    const int64_t batch = 2, sequence = 1, hidden = 1;
    const std::vector<int64_t> big = {batch, sequence, hidden}, small = {batch, hidden};

    const Tensor grad_output(big, {10, 20}), input(big, {10, 20}), scale(small, {20, 30}), shift(small, {30, 40});
    const Tensor grad_input(big, {0, 0}), grad_scale(small, {0, 0}), grad_shift(small, {0, 0});

    // Phase one checks the tensors and plans the work, without touching their data. It tells how much scratch memory the
    // work needs, and gives an executor that stands for the planned call.
    uint64_t workspace_size = 0;
    aclOpExecutor *executor = nullptr;
    CHECK(aclnnModulateBackwardGetWorkspaceSize(grad_output.view, input.view, scale.view, shift.view, grad_input.view,
                                                grad_scale.view, grad_shift.view, &workspace_size, &executor));
    void *workspace = nullptr;
    if (workspace_size > 0)
        CHECK(aclrtMalloc(&workspace, workspace_size, ACL_MEM_MALLOC_HUGE_FIRST));

    // Phase two only queues the work on the stream, and consumes the executor. The results are there when the stream is
    // done with what was queued.
    CHECK(aclnnModulateBackward(workspace, workspace_size, executor, stream));
    CHECK(aclrtSynchronizeStream(stream));

    print("grad_input", grad_input, 2); // 200 600
    print("grad_scale", grad_scale, 2); // 100 400
    print("grad_shift", grad_shift, 2); // 10 20
    if (workspace)
        CHECK(aclrtFree(workspace));
}

int main()
{
    aclrtStream stream = nullptr;
    CHECK(aclInit(nullptr));
    // Binds the calling thread to a device: each thread that uses memory or streams has to do it.
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtCreateStream(&stream));

    call(stream);

    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return 0;
}
