// SPDX-License-Identifier: Apache-2.0
//
// The operator in Eigen, f32, batches shared out with OpenMP.
#include <Eigen/Core>

extern "C" void eigen_f32(std::ptrdiff_t B, std::ptrdiff_t L, std::ptrdiff_t D, const float *g, const float *x, const float *s,
                          float *gi, float *gs, float *gh) {
    using Rows = Eigen::Array<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    using Row = Eigen::Array<float, 1, Eigen::Dynamic>;
#pragma omp parallel for schedule(static)
    for (std::ptrdiff_t b = 0; b < B; ++b) {
        Eigen::Map<const Rows> gm(g + b * L * D, L, D), xm(x + b * L * D, L, D);
        Eigen::Map<const Row> sm(s + b * D, D);
        Eigen::Map<Rows>(gi + b * L * D, L, D) = gm.rowwise() * sm;
        Eigen::Map<Row>(gs + b * D, D) = (gm * xm).colwise().sum();
        Eigen::Map<Row>(gh + b * D, D) = gm.colwise().sum();
    }
}
