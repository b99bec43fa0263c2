// SPDX-License-Identifier: Apache-2.0
//
// A caller shaped like the extension of a deep-learning framework. It links nothing of ours: it looks for libopapi*.so
// where ASCEND_HOME_PATH points and finds all functions by name. It takes memory from a pool of its own and describes
// storage as one-dimensional. One thread plans and destroys the tensors at once, another launches. The results are right
// all the same.
#include <dirent.h>
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_modulate_backward.h"

namespace {

[[noreturn]] void fail(const std::string &what)
{
    std::fprintf(stderr, "%s\n", what.c_str());
    std::exit(1);
}

// As frameworks do it: every library of that name pattern, the first that has the symbol wins.
class Libraries {
public:
    Libraries()
    {
        const char *home = std::getenv("ASCEND_HOME_PATH");
        if (!home)
            fail("ASCEND_HOME_PATH is not set");
        const std::string directory = std::string(home) + "/lib64";
        DIR *dir = opendir(directory.c_str());
        if (!dir)
            fail("no directory " + directory);
        while (const dirent *entry = readdir(dir)) {
            const std::string name = entry->d_name;
            if (name.compare(0, 8, "libopapi") != 0 || name.size() < 3 || name.compare(name.size() - 3, 3, ".so") != 0)
                continue;
            void *handle = dlopen((directory + "/" + name).c_str(), RTLD_LAZY);
            if (!handle)
                fail(dlerror());
            handles_.push_back(handle);
        }
        closedir(dir);
        if (handles_.size() < 3)
            fail("expected three libraries libopapi*.so");
    }
    void *find(const char *name) const
    {
        for (void *handle : handles_)
            if (void *symbol = dlsym(handle, name))
                return symbol;
        fail(std::string("no ") + name);
    }

private:
    std::vector<void *> handles_;
};

const Libraries &libraries()
{
    static const Libraries all;
    return all;
}

// F(aclrtMalloc)(...) calls the function that was found by that name, with the type that its header gives it.
#define F(name)                                                                                                       \
    ([]() {                                                                                                           \
        static const auto function = reinterpret_cast<decltype(&::name)>(libraries().find(#name));                    \
        return function;                                                                                              \
    }())

void check(int status, const char *what)
{
    if (status == 0)
        return;
    const char *text = F(aclGetRecentErrMsg)();
    fail(std::string(what) + " gave " + std::to_string(status) + ": " + (text ? text : ""));
}

// One block from the library, handed out in pieces of 512 bytes and more, as caching allocators do.
class Pool {
public:
    explicit Pool(size_t size) : size_(size)
    {
        void *block = nullptr;
        check(F(aclrtMalloc)(&block, size, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
        block_ = static_cast<char *>(block);
    }
    ~Pool() { check(F(aclrtFree)(block_), "aclrtFree"); }
    float *take(size_t count)
    {
        char *piece = block_ + used_;
        used_ += (count * sizeof(float) + 511) / 512 * 512;
        if (used_ > size_)
            fail("the pool is too small");
        return reinterpret_cast<float *>(piece);
    }

private:
    char *block_;
    size_t size_, used_ = 0;
};

struct Task {
    aclOpExecutor *executor;
    void *workspace;
    uint64_t workspace_size;
};

// Hands planned calls to the thread that launches them.
class Queue {
public:
    void push(const Task &task)
    {
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            tasks_.push_back(task);
        }
        ready_.notify_one();
    }
    Task pop()
    {
        std::unique_lock<std::mutex> lock(mutex_);
        ready_.wait(lock, [this] { return !tasks_.empty(); });
        const Task task = tasks_.front();
        tasks_.pop_front();
        return task;
    }

private:
    std::mutex mutex_;
    std::condition_variable ready_;
    std::deque<Task> tasks_;
};

constexpr int64_t BATCH = 3, SEQUENCE = 50, HIDDEN = 40;
constexpr int CALLS = 50;

// A view at an offset in storage that is described as one dimension of the whole pool's length.
aclTensor *describe(const std::vector<int64_t> &shape, float *data, int64_t storage)
{
    std::vector<int64_t> strides(shape.size(), 1);
    for (size_t d = shape.size() - 1; d > 0; d--)
        strides[d - 1] = strides[d] * shape[d];
    aclTensor *tensor = F(aclCreateTensor)(shape.data(), shape.size(), ACL_FLOAT, strides.data(), 0, ACL_FORMAT_ND,
                                           &storage, 1, data);
    check(tensor ? 0 : -1, "aclCreateTensor");
    return tensor;
}

struct Call {
    float *data[7];
};

} // namespace

int main()
{
    check(F(aclInit)(nullptr), "aclInit");
    check(F(aclrtSetDevice)(0), "aclrtSetDevice");
    aclrtStream stream = nullptr;
    check(F(aclrtCreateStream)(&stream), "aclrtCreateStream");
    {
        const size_t big = BATCH * SEQUENCE * HIDDEN, small = BATCH * HIDDEN;
        const size_t bytes = size_t(CALLS) * 8 * (big * sizeof(float) + 512);
        Pool pool(bytes);
        Queue queue;
        std::thread launcher([&] {
            // A thread of its own, so it needs the device too.
            check(F(aclrtSetDevice)(0), "aclrtSetDevice");
            for (int k = 0; k < CALLS; k++) {
                const Task task = queue.pop();
                check(F(aclnnModulateBackward)(task.workspace, task.workspace_size, task.executor, stream),
                      "aclnnModulateBackward");
            }
        });
        std::vector<Call> calls(CALLS);
        for (int k = 0; k < CALLS; k++) {
            Call &call = calls[static_cast<size_t>(k)];
            for (int i = 0; i < 7; i++) {
                const bool is_big = i == 0 || i == 1 || i == 4;
                call.data[i] = pool.take(is_big ? big : small);
                for (size_t e = 0; i < 4 && e < (is_big ? big : small); e++)
                    call.data[i][e] = static_cast<float>(1 + (e + static_cast<size_t>(k)) % 7);
            }
            aclTensor *t[7];
            for (int i = 0; i < 7; i++) {
                const bool is_big = i == 0 || i == 1 || i == 4;
                const std::vector<int64_t> shape =
                    is_big ? std::vector<int64_t>{BATCH, SEQUENCE, HIDDEN} : std::vector<int64_t>{BATCH, HIDDEN};
                t[i] = describe(shape, call.data[i], static_cast<int64_t>(bytes / sizeof(float)));
            }
            Task task = {nullptr, nullptr, 0};
            check(F(aclnnModulateBackwardGetWorkspaceSize)(t[0], t[1], t[2], t[3], t[4], t[5], t[6], &task.workspace_size,
                                                           &task.executor),
                  "aclnnModulateBackwardGetWorkspaceSize");
            for (aclTensor *tensor : t)
                check(F(aclDestroyTensor)(tensor), "aclDestroyTensor");
            if (task.workspace_size > 0)
                task.workspace = pool.take((static_cast<size_t>(task.workspace_size) + 3) / 4);
            queue.push(task);
        }
        launcher.join();
        check(F(aclrtSynchronizeStream)(stream), "aclrtSynchronizeStream");
        // Small whole numbers: every product and sum is exact.
        for (const Call &call : calls) {
            for (size_t b = 0; b < BATCH; b++) {
                for (size_t d = 0; d < HIDDEN; d++) {
                    float scale = 0, shift = 0;
                    const size_t s = b * HIDDEN + d;
                    for (size_t l = 0; l < SEQUENCE; l++) {
                        const size_t e = (b * SEQUENCE + l) * HIDDEN + d;
                        scale += call.data[0][e] * call.data[1][e];
                        shift += call.data[0][e];
                        if (call.data[4][e] != call.data[0][e] * call.data[2][s])
                            fail("grad_input is wrong");
                    }
                    if (call.data[5][s] != scale || call.data[6][s] != shift)
                        fail("grad_scale or grad_shift is wrong");
                }
            }
        }
    }
    check(F(aclrtDestroyStream)(stream), "aclrtDestroyStream");
    check(F(aclrtResetDevice)(0), "aclrtResetDevice");
    check(F(aclFinalize)(), "aclFinalize");
    return 0;
}
