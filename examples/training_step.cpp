// SPDX-License-Identifier: Apache-2.0
//
// Is it scale or 1 + scale? A model computes  y = x * (1 + scale) + shift  and a loss from y. This sketch of a training
// step asks the operator for the gradients, and then measures them: each parameter is moved a little up and down, and the
// change of the loss must be what the gradient said. It is so when 1 + scale is passed, and not with scale.
#include <cmath>

#include "support.hpp"

constexpr int64_t BATCH = 2, SEQUENCE = 5, HIDDEN = 3;
constexpr size_t BIG = BATCH * SEQUENCE * HIDDEN, SMALL = BATCH * HIDDEN;

struct Model {
    std::vector<double> x, scale, shift, target;

    double y(size_t i) const
    {
        const size_t s = i / (SEQUENCE * HIDDEN) * HIDDEN + i % HIDDEN;
        return x[i] * (1 + scale[s]) + shift[s];
    }
    // Half the squared distance from the target, whose gradient with respect to y is simply y - target.
    double loss() const
    {
        double sum = 0;
        for (size_t i = 0; i < BIG; i++)
            sum += (y(i) - target[i]) * (y(i) - target[i]) / 2;
        return sum;
    }
};

// How the loss changes with one number of the model: the slope between a little below and a little above.
static double slope(Model &model, double &number)
{
    const double step = 1e-4, here = number;
    number = here + step;
    const double above = model.loss();
    number = here - step;
    const double below = model.loss();
    number = here;
    return (above - below) / (2 * step);
}

// The largest difference between the operator's gradients and the measured slopes.
static double largest_difference(Model &model, double added_to_scale)
{
    const std::vector<int64_t> big = {BATCH, SEQUENCE, HIDDEN}, small = {BATCH, HIDDEN};
    std::vector<float> g(BIG), x(BIG), factor(SMALL);
    for (size_t i = 0; i < BIG; i++) {
        g[i] = static_cast<float>(model.y(i) - model.target[i]);
        x[i] = static_cast<float>(model.x[i]);
    }
    for (size_t s = 0; s < SMALL; s++)
        factor[s] = static_cast<float>(added_to_scale + model.scale[s]);
    const Tensor grad_output(big, g), input(big, x), scale(small, factor), shift(small, 0.f);
    const Tensor grad_input(big), grad_scale(small), grad_shift(small);
    const Plan plan(grad_output, input, scale, shift, grad_input, grad_scale, grad_shift);
    plan.launch(nullptr);
    CHECK(aclrtSynchronizeStream(nullptr));

    double worst = 0;
    const std::vector<float> dx = grad_input.get(), dscale = grad_scale.get(), dshift = grad_shift.get();
    for (size_t i = 0; i < BIG; i++)
        worst = std::fmax(worst, std::fabs(slope(model, model.x[i]) - static_cast<double>(dx[i])));
    for (size_t s = 0; s < SMALL; s++) {
        worst = std::fmax(worst, std::fabs(slope(model, model.scale[s]) - static_cast<double>(dscale[s])));
        worst = std::fmax(worst, std::fabs(slope(model, model.shift[s]) - static_cast<double>(dshift[s])));
    }
    return worst;
}

int main()
{
    CHECK(aclInit(nullptr));
    CHECK(aclrtSetDevice(0));
    Model model;
    for (size_t i = 0; i < BIG; i++) {
        model.x.push_back(std::sin(static_cast<double>(i)));
        model.target.push_back(std::cos(static_cast<double>(3 * i)));
    }
    for (size_t s = 0; s < SMALL; s++) {
        model.scale.push_back(0.1 * std::sin(static_cast<double>(2 * s)));
        model.shift.push_back(0.1 * std::cos(static_cast<double>(s)));
    }
    // The loss is quadratic in each number, so the measured slopes are exact but for rounding; the gradients are sums of at
    // most 5 terms of size 3 or less in float.
    const double right = largest_difference(model, 1), wrong = largest_difference(model, 0);
    std::printf("difference from the measured slopes: %.1e with 1 + scale, %.1e with scale\n", right, wrong);
    expect(right < 1e-5, "1 + scale gives the gradients of x * (1 + scale) + shift");
    expect(wrong > 0.1, "scale alone does not");
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    std::puts("training_step: ok");
    return 0;
}
