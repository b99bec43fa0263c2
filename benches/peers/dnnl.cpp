// SPDX-License-Identifier: Apache-2.0
//
// The operator in oneDNN: two products and two sums over L. Prepared once for a shape, so that only the work itself counts.
// The sums are products with a row of ones: oneDNN's matmul has fast kernels, its reduction only a plain loop.
#include <dnnl.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <unordered_map>
#include <vector>

using dnnl::memory;

namespace {

struct Step {
    dnnl::primitive primitive;
    std::unordered_map<int, memory> arguments;
};

struct Prepared {
    dnnl::engine engine{dnnl::engine::kind::cpu, 0};
    dnnl::stream stream{engine};
    std::vector<Step> steps;

    Prepared(memory::data_type type, const memory::dims &bld, void *const data[6])
    {
        const memory::dims row{bld[0], 1, bld[2]};
        const memory::desc large(bld, type, memory::format_tag::abc), small(row, type, memory::format_tag::abc);
        const memory g(large, engine, data[0]), x(large, engine, data[1]), s(small, engine, data[2]);
        const memory grad_input(large, engine, data[3]), grad_scale(small, engine, data[4]), grad_shift(small, engine, data[5]);
        const memory product(large, engine), ones = row_of_ones(type, bld);
        multiply(g, s, grad_input);
        multiply(g, x, product);
        sum(ones, product, grad_scale);
        sum(ones, g, grad_shift);
    }

    void multiply(const memory &a, const memory &b, const memory &to)
    {
        const dnnl::binary::desc desc(dnnl::algorithm::binary_mul, a.get_desc(), b.get_desc(), to.get_desc());
        const dnnl::binary primitive(dnnl::binary::primitive_desc(desc, engine));
        steps.push_back({primitive, {{DNNL_ARG_SRC_0, a}, {DNNL_ARG_SRC_1, b}, {DNNL_ARG_DST, to}}});
    }

    memory row_of_ones(memory::data_type type, const memory::dims &bld)
    {
        const memory row({{bld[0], 1, bld[1]}, type, memory::format_tag::abc}, engine);
        const std::uint32_t one = type == memory::data_type::f32 ? 0x3f800000 : type == memory::data_type::f16 ? 0x3c00 : 0x3f80;
        const std::size_t size = memory::data_type_size(type);
        for (std::size_t i = 0; i < row.get_desc().get_size() / size; i++)
            std::memcpy(static_cast<char *>(row.get_data_handle()) + i * size, &one, size);
        return row;
    }

    void sum(const memory &ones, const memory &from, const memory &to)
    {
        const dnnl::matmul::desc desc(ones.get_desc(), from.get_desc(), to.get_desc());
        const dnnl::matmul primitive(dnnl::matmul::primitive_desc(desc, engine));
        steps.push_back({primitive, {{DNNL_ARG_SRC, ones}, {DNNL_ARG_WEIGHTS, from}, {DNNL_ARG_DST, to}}});
    }
};

} // namespace

/* kind: 0 f32, 1 f16, 27 bf16. data: grad_output, input, scale, grad_input, grad_scale, grad_shift. Null where the CPU or the
 * version of oneDNN can't do it. */
extern "C" void *dnnl_prepare(int kind, std::ptrdiff_t B, std::ptrdiff_t L, std::ptrdiff_t D, void *const data[6])
{
    const auto type = kind == 0 ? memory::data_type::f32 : kind == 1 ? memory::data_type::f16 : memory::data_type::bf16;
    try {
        return new Prepared(type, {B, L, D}, data);
    } catch (const dnnl::error &) {
        return nullptr;
    }
}

extern "C" void dnnl_run(void *handle)
{
    auto &prepared = *static_cast<Prepared *>(handle);
    for (const Step &step : prepared.steps)
        step.primitive.execute(prepared.stream, step.arguments);
    prepared.stream.wait();
}

extern "C" void dnnl_end(void *handle)
{
    delete static_cast<Prepared *>(handle);
}
