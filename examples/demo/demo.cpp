// SPDX-License-Identifier: Apache-2.0
//
// What `make demo` shows: the operator on known values, on the tensors of a real training step, and at the size of a
// DiT-XL/2 step, in all three element types. Every number is checked against a bound that is derived here, not chosen;
// one wrong element makes the program fail.
//
// For a first look at the API read ../call.cpp.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_modulate_backward.h"
#include "elements.hpp"
#include "npy.hpp"

namespace {

void check(int status, const char *what)
{
    if (status != 0) {
        const char *text = aclGetRecentErrMsg();
        throw std::runtime_error(std::string(what) + " gave " + std::to_string(status) + "\n" + (text ? text : ""));
    }
}

struct Shape {
    int64_t batch, sequence, hidden;
    size_t big() const { return static_cast<size_t>(batch * sequence * hidden); }
    size_t small() const { return static_cast<size_t>(batch * hidden); }
};

// The operator's inputs, as exact numbers.
struct Inputs {
    Shape shape;
    std::vector<double> grad_output, input, scale;
};

constexpr int OUTPUTS = 3;
const char *const OUTPUT_NAMES[OUTPUTS] = {"grad_input", "grad_scale", "grad_shift"};

// For each output its elements, and for each of the two sums over the sequence the sum of its terms' sizes too, from
// which the bound of its error follows.
struct Values {
    std::vector<double> output[OUTPUTS];
};
struct Reference {
    Values exact, sizes;
};

// The formula, in double, in the plainest way.
Reference reference(const Inputs &in)
{
    const Shape s = in.shape;
    Reference r;
    for (Values *v : {&r.exact, &r.sizes}) {
        v->output[0].resize(s.big());
        v->output[1].assign(s.small(), 0.0);
        v->output[2].assign(s.small(), 0.0);
    }
    for (int64_t b = 0; b < s.batch; b++) {
        for (int64_t l = 0; l < s.sequence; l++) {
            for (int64_t d = 0; d < s.hidden; d++) {
                const auto big = static_cast<size_t>((b * s.sequence + l) * s.hidden + d);
                const auto small = static_cast<size_t>(b * s.hidden + d);
                const double g = in.grad_output[big], gx = g * in.input[big], gs = g * in.scale[small];
                r.exact.output[0][big] = gs;
                r.exact.output[1][small] += gx;
                r.exact.output[2][small] += g;
                r.sizes.output[0][big] = std::fabs(gs);
                r.sizes.output[1][small] += std::fabs(gx);
                r.sizes.output[2][small] += std::fabs(g);
            }
        }
    }
    return r;
}

// One aclTensor with memory of its own, gone at the end of its scope.
template <typename E>
class Tensor {
public:
    Tensor(const std::vector<int64_t> &shape, size_t count, const typename E::Bits *values)
        : bytes_(count * sizeof(typename E::Bits))
    {
        check(aclrtMalloc(&memory_, bytes_, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
        if (values)
            check(aclrtMemcpy(memory_, bytes_, values, bytes_, ACL_MEMCPY_HOST_TO_DEVICE), "aclrtMemcpy");
        else
            check(aclrtMemset(memory_, bytes_, 0xff, bytes_), "aclrtMemset"); // NaN: what is not written shows
        view_ = aclCreateTensor(shape.data(), shape.size(), E::type, nullptr, 0, ACL_FORMAT_ND, shape.data(),
                                shape.size(), memory_);
        check(view_ ? 0 : -1, "aclCreateTensor");
    }
    ~Tensor()
    {
        aclDestroyTensor(view_);
        aclrtFree(memory_);
    }
    Tensor(const Tensor &) = delete;
    Tensor &operator=(const Tensor &) = delete;

    const aclTensor *view() const { return view_; }
    std::vector<double> values() const
    {
        std::vector<typename E::Bits> bits(bytes_ / sizeof(typename E::Bits));
        check(aclrtMemcpy(bits.data(), bytes_, memory_, bytes_, ACL_MEMCPY_DEVICE_TO_HOST), "aclrtMemcpy");
        return values_of<E>(bits);
    }

private:
    size_t bytes_;
    void *memory_ = nullptr;
    aclTensor *view_ = nullptr;
};

struct Run {
    Values values;
    double seconds; // of one whole call, the median of `repeats`
};

// Both phases on a stream; the inputs must be exact in the type E.
template <typename E>
Run run(const Inputs &in, int repeats)
{
    const Shape s = in.shape;
    const std::vector<int64_t> big = {s.batch, s.sequence, s.hidden}, small = {s.batch, s.hidden};
    const Tensor<E> grad_output(big, s.big(), rounded<E>(in.grad_output).data());
    const Tensor<E> input(big, s.big(), rounded<E>(in.input).data());
    const Tensor<E> scale(small, s.small(), rounded<E>(in.scale).data());
    const Tensor<E> shift(small, s.small(), nullptr); // its values are never read
    const Tensor<E> grad_input(big, s.big(), nullptr), grad_scale(small, s.small(), nullptr),
        grad_shift(small, s.small(), nullptr);

    aclrtStream stream = nullptr;
    check(aclrtCreateStream(&stream), "aclrtCreateStream");
    std::vector<double> seconds;
    for (int k = 0; k < repeats; k++) {
        const auto begin = std::chrono::steady_clock::now();
        uint64_t size = 0;
        aclOpExecutor *executor = nullptr;
        check(aclnnModulateBackwardGetWorkspaceSize(grad_output.view(), input.view(), scale.view(), shift.view(),
                                                    grad_input.view(), grad_scale.view(), grad_shift.view(), &size,
                                                    &executor),
              "aclnnModulateBackwardGetWorkspaceSize");
        void *workspace = nullptr;
        if (size > 0)
            check(aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
        check(aclnnModulateBackward(workspace, size, executor, stream), "aclnnModulateBackward");
        check(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
        if (workspace)
            check(aclrtFree(workspace), "aclrtFree");
        seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    check(aclrtDestroyStream(stream), "aclrtDestroyStream");
    std::sort(seconds.begin(), seconds.end());

    Run result;
    result.seconds = seconds[seconds.size() / 2];
    result.values.output[0] = grad_input.values();
    result.values.output[1] = grad_scale.values();
    result.values.output[2] = grad_shift.values();
    return result;
}

// How far element k of an output may be from the exact result of the same inputs: half an ulp for the last rounding, and
// for the sums what the order of summation may lose: (L/8 + 16) roundings in double, and for the 16-bit types those of a
// group of 8 rows in float. To this the error of the reference's own sum is added, one rounding in double for each term.
template <typename E>
double bound(const Reference &r, int output, size_t k, int64_t sequence)
{
    double allowed = E::ulp(r.exact.output[output][k]) / 2;
    if (output > 0) {
        const auto length = static_cast<double>(sequence);
        double relative = (length / 8 + 16) * 0x1p-53 + length * 0x1p-53;
        if (sizeof(typename E::Bits) == 2)
            relative += 8 * 0x1p-24;
        allowed += relative * r.sizes.output[output][k];
        if (E::type == ACL_BF16)
            allowed += length * 0x1p-149; // products below float's range
    }
    return allowed;
}

// The largest error of an output in ulps; throws where an element is further off than `allowed(k)`.
template <typename E, typename Allowed>
double largest_error(const Values &got, const Values &expected, int output, Allowed allowed)
{
    double worst = 0;
    for (size_t k = 0; k < got.output[output].size(); k++) {
        const double g = got.output[output][k], e = expected.output[output][k], error = std::fabs(g - e);
        if (!(error <= allowed(k))) {
            char text[200];
            std::snprintf(text, sizeof(text), "%s[%zu] is %.17g, expected %.17g, off by %g of %g allowed",
                          OUTPUT_NAMES[output], k, g, e, error, allowed(k));
            throw std::runtime_error(text);
        }
        worst = std::max(worst, error / E::ulp(e));
    }
    return worst;
}

template <typename E>
const char *name()
{
    return E::type == ACL_FLOAT ? "f32" : E::type == ACL_FLOAT16 ? "f16" : "bf16";
}

template <typename E>
void print_row(const char *data, const Shape &shape, const double errors[OUTPUTS], double seconds)
{
    // What must move: two tensors in, one out, and four small ones.
    const double bytes = static_cast<double>(3 * shape.big() + 3 * shape.small()) * sizeof(typename E::Bits);
    std::printf("%-34s %-4s  %10.3f  %10.3f  %10.3f  %9.3f  %6.1f\n", data, name<E>(), errors[0], errors[1], errors[2],
                seconds * 1e3, bytes / seconds * 1e-9);
}

// Runs the operator on `in` as it is in type E, and compares with the reference.
template <typename E>
Run measure(const char *data, const Inputs &in, int repeats)
{
    const Run result = run<E>(in, repeats);
    const Reference r = reference(in);
    double errors[OUTPUTS];
    for (int o = 0; o < OUTPUTS; o++)
        errors[o] = largest_error<E>(result.values, r.exact, o,
                                     [&](size_t k) { return bound<E>(r, o, k, in.shape.sequence); });
    print_row<E>(data, in.shape, errors, result.seconds);
    return result;
}

template <typename E>
Inputs rounded_inputs(const Inputs &in)
{
    Inputs out = in;
    out.grad_output = values_of<E>(rounded<E>(in.grad_output));
    out.input = values_of<E>(rounded<E>(in.input));
    out.scale = values_of<E>(rounded<E>(in.scale));
    return out;
}

// The two calls of the vendor's documentation, whose results are known and exact.
template <typename E>
void known_values()
{
    const Inputs page = {{2, 1, 1}, {10, 20}, {10, 20}, {20, 30}};
    const Inputs sample = {{2, 3, 4}, std::vector<double>(24, 2), std::vector<double>(24, 2), std::vector<double>(8, 2)};
    const Values expected[2] = {{{{200, 600}, {100, 400}, {10, 20}}},
                                {{std::vector<double>(24, 4), std::vector<double>(8, 12), std::vector<double>(8, 6)}}};
    const Inputs *const inputs[2] = {&page, &sample};
    const char *const names[2] = {"known values [2,1,1]", "known values [2,3,4]"};
    for (int k = 0; k < 2; k++) {
        const Run result = run<E>(*inputs[k], 9);
        double errors[OUTPUTS];
        for (int o = 0; o < OUTPUTS; o++)
            errors[o] = largest_error<E>(result.values, expected[k], o, [](size_t) { return 0.0; });
        print_row<E>(names[k], inputs[k]->shape, errors, result.seconds);
    }
}

// A real step, against the gradients that torch.autograd computed in float64. For f16 the gradient is scaled up first,
// as training in f16 does (most of it would be below f16's range); a power of two, so it loses nothing.
template <typename E>
double real_step(const Inputs &in, const Values &autograd, double loss_scale)
{
    Inputs scaled = in;
    for (double &g : scaled.grad_output)
        g *= loss_scale;
    const Inputs narrow = rounded_inputs<E>(scaled);
    const Run result = measure<E>("training step [16,16,96]", narrow, 9);

    // The operator saw rounded inputs, autograd the f32 ones. Each product differs by what the rounding of its factors
    // makes of it, and each sum by the sum of that; then come the operator's own bound and autograd's rounding.
    const Shape s = in.shape;
    const Reference r = reference(narrow);
    Values moved;
    for (int o = 0; o < OUTPUTS; o++)
        moved.output[o].assign(o == 0 ? s.big() : s.small(), 0.0);
    for (size_t big = 0; big < s.big(); big++) {
        const size_t small = big / static_cast<size_t>(s.sequence * s.hidden) * static_cast<size_t>(s.hidden) +
                             big % static_cast<size_t>(s.hidden);
        const double g = narrow.grad_output[big], x = narrow.input[big], f = narrow.scale[small];
        const double dg = std::fabs(g - scaled.grad_output[big]), dx = std::fabs(x - in.input[big]),
                     df = std::fabs(f - in.scale[small]);
        moved.output[0][big] = dg * std::fabs(f) + std::fabs(g) * df + dg * df;
        moved.output[1][small] += dg * std::fabs(x) + std::fabs(g) * dx + dg * dx;
        moved.output[2][small] += dg;
    }
    double worst = 0;
    Values expected = autograd;
    for (int o = 0; o < OUTPUTS; o++) {
        double largest = 0;
        for (double &value : expected.output[o]) {
            value *= loss_scale;
            largest = std::max(largest, std::fabs(value));
        }
        largest_error<E>(result.values, expected, o, [&](size_t k) {
            const double torch = static_cast<double>(s.sequence + 1) * 0x1p-52 * (r.sizes.output[o][k] + moved.output[o][k]);
            return bound<E>(r, o, k, s.sequence) + moved.output[o][k] + torch;
        });
        for (size_t k = 0; k < expected.output[o].size(); k++)
            worst = std::max(worst, std::fabs(result.values.output[o][k] - expected.output[o][k]) / largest);
    }
    return worst;
}

// Made-up values at the size of a DiT-XL/2 step: 256 tokens of width 1152, a batch of 32.
Inputs dit_xl()
{
    Inputs in = {{32, 256, 1152}, {}, {}, {}};
    std::mt19937 random(1);
    // The mean of four uniform numbers: close enough to a bell curve, and the same on every machine.
    const auto number = [&random] {
        double sum = 0;
        for (int k = 0; k < 4; k++)
            sum += random() * 0x1p-32 - 0.5;
        return sum;
    };
    in.grad_output.resize(in.shape.big());
    in.input.resize(in.shape.big());
    in.scale.resize(in.shape.small());
    for (double &g : in.grad_output)
        g = number() * 0.01;
    for (double &x : in.input)
        x = number() * 2;
    for (double &f : in.scale)
        f = 1 + number() * 0.2;
    return in;
}

void demo(const std::string &data)
{
    std::printf("%-34s %-4s  %34s  %9s  %6s\n", "", "", "largest error in ulps", "time (ms)", "GB/s");
    std::printf("%-34s %-4s  %10s  %10s  %10s\n", "data", "type", OUTPUT_NAMES[0], OUTPUT_NAMES[1], OUTPUT_NAMES[2]);

    known_values<F32>();
    known_values<F16>();
    known_values<BF16>();

    Inputs step = {{16, 16, 96}, {}, {}, {}};
    step.grad_output = read_npy(data + "/grad_output.npy", step.shape.big());
    step.input = read_npy(data + "/input.npy", step.shape.big());
    step.scale = read_npy(data + "/scale.npy", step.shape.small());
    Values autograd;
    autograd.output[0] = read_npy(data + "/expected_grad_input.npy", step.shape.big());
    autograd.output[1] = read_npy(data + "/expected_grad_scale.npy", step.shape.small());
    autograd.output[2] = read_npy(data + "/expected_grad_shift.npy", step.shape.small());
    const double against[3] = {real_step<F32>(step, autograd, 1), real_step<F16>(step, autograd, 0x1p16),
                               real_step<BF16>(step, autograd, 1)};

    const Inputs big = dit_xl();
    measure<F32>("DiT-XL/2 step [32,256,1152]", rounded_inputs<F32>(big), 9);
    measure<F16>("DiT-XL/2 step [32,256,1152]", rounded_inputs<F16>(big), 9);
    measure<BF16>("DiT-XL/2 step [32,256,1152]", rounded_inputs<BF16>(big), 9);

    std::printf("\nErrors above are against the formula in double, on the inputs as the type holds them.\n"
                "The training step was compared with torch.autograd's float64 gradients of the f32 inputs too:\n"
                "largest difference, relative to the tensor's largest element: f32 %.1e, f16 %.1e, bf16 %.1e.\n"
                "For f16 and bf16 that is mostly the rounding of the inputs, and within what it can explain.\n"
                "Every element is within its bound.\n",
                against[0], against[1], against[2]);
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 2) {
        std::fprintf(stderr, "usage: %s DIRECTORY   (that holds grad_output.npy and the others)\n", argv[0]);
        return 2;
    }
    try {
        check(aclInit(nullptr), "aclInit");
        check(aclrtSetDevice(0), "aclrtSetDevice");
        demo(argv[1]);
        check(aclrtResetDevice(0), "aclrtResetDevice");
        check(aclFinalize(), "aclFinalize");
    } catch (const std::exception &error) {
        std::fflush(stdout);
        std::fprintf(stderr, "FAILED: %s\n", error.what());
        return 1;
    }
    return 0;
}
