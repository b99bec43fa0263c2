// SPDX-License-Identifier: Apache-2.0
//
// What the examples share: a check of each status, and a float tensor with memory of its own. call.cpp, which is the one to
// read first, has it all in its own text.
#ifndef EXAMPLES_SUPPORT_HPP
#define EXAMPLES_SUPPORT_HPP

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_modulate_backward.h"

inline void check(int status, const char *what)
{
    if (status != 0) {
        const char *text = aclGetRecentErrMsg();
        std::fprintf(stderr, "%s gave %d\n%s\n", what, status, text ? text : "");
        std::exit(1);
    }
}
#define CHECK(call) check((call), #call)

// Ends the example if a result is not what it must be.
inline void expect(bool right, const char *what)
{
    if (!right) {
        std::fprintf(stderr, "wrong: %s\n", what);
        std::exit(1);
    }
}

class Tensor {
public:
    explicit Tensor(const std::vector<int64_t> &shape) : count_(1)
    {
        for (int64_t length : shape)
            count_ *= static_cast<size_t>(length);
        CHECK(aclrtMalloc(&memory_, bytes(), ACL_MEM_MALLOC_HUGE_FIRST));
        // No strides: row-major.
        view_ = aclCreateTensor(shape.data(), shape.size(), ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, shape.data(),
                                shape.size(), memory_);
        check(view_ ? 0 : -1, "aclCreateTensor");
    }
    Tensor(const std::vector<int64_t> &shape, float value) : Tensor(shape) { set(std::vector<float>(count_, value)); }
    Tensor(const std::vector<int64_t> &shape, const std::vector<float> &values) : Tensor(shape) { set(values); }
    ~Tensor()
    {
        aclDestroyTensor(view_);
        aclrtFree(memory_);
    }
    Tensor(const Tensor &) = delete;
    Tensor &operator=(const Tensor &) = delete;

    aclTensor *view() const { return view_; }
    void *memory() const { return memory_; }
    void set(const std::vector<float> &values)
    {
        CHECK(aclrtMemcpy(memory_, bytes(), values.data(), values.size() * sizeof(float), ACL_MEMCPY_HOST_TO_DEVICE));
    }
    std::vector<float> get() const
    {
        std::vector<float> values(count_);
        CHECK(aclrtMemcpy(values.data(), bytes(), memory_, bytes(), ACL_MEMCPY_DEVICE_TO_HOST));
        return values;
    }

private:
    size_t bytes() const { return count_ * sizeof(float); }

    size_t count_;
    void *memory_ = nullptr;
    aclTensor *view_ = nullptr;
};

// A planned call: phase one, and the workspace that it asked for.
class Plan {
public:
    Plan(const Tensor &grad_output, const Tensor &input, const Tensor &scale, const Tensor &shift,
         const Tensor &grad_input, const Tensor &grad_scale, const Tensor &grad_shift)
    {
        CHECK(aclnnModulateBackwardGetWorkspaceSize(grad_output.view(), input.view(), scale.view(), shift.view(),
                                                    grad_input.view(), grad_scale.view(), grad_shift.view(), &size_,
                                                    &executor_));
        if (size_ > 0)
            CHECK(aclrtMalloc(&workspace_, size_, ACL_MEM_MALLOC_HUGE_FIRST));
    }
    // Work that is still queued keeps the memory until it is done.
    ~Plan()
    {
        if (workspace_)
            aclrtFree(workspace_);
    }
    Plan(const Plan &) = delete;
    Plan &operator=(const Plan &) = delete;

    aclOpExecutor *executor() const { return executor_; }
    void launch(aclrtStream stream) const { CHECK(aclnnModulateBackward(workspace_, size_, executor_, stream)); }

private:
    uint64_t size_ = 0;
    void *workspace_ = nullptr;
    aclOpExecutor *executor_ = nullptr;
};

#endif
