// SPDX-License-Identifier: Apache-2.0
//
// The three element types: their bits, and how a double is rounded to them.
#ifndef DEMO_ELEMENTS_HPP
#define DEMO_ELEMENTS_HPP

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "acl/acl.h"

// A binary format of Bits with Mantissa explicit bits, whose smallest normal number is 2^MinExponent.
template <typename Storage, int Mantissa, int MinExponent, aclDataType Type>
struct Element {
    using Bits = Storage;
    static constexpr aclDataType type = Type;
    static constexpr int mantissa = Mantissa;

    // The distance between neighbours around a value: one ulp.
    static double ulp(double value)
    {
        const int exponent = value == 0 ? MinExponent : std::max(std::ilogb(value), MinExponent);
        return std::ldexp(1.0, exponent - Mantissa);
    }

    // To nearest, ties to even. The demo's values are far from overflow.
    static Bits round(double value)
    {
        const double unit = ulp(value), units = std::nearbyint(std::fabs(value) / unit);
        const auto exponent = static_cast<Bits>(std::ilogb(unit) + Mantissa - MinExponent);
        // Subnormal numbers have no hidden bit; a carry out of the mantissa goes into the exponent by itself.
        const Bits bits = units < std::ldexp(1.0, Mantissa)
                              ? static_cast<Bits>(units)
                              : static_cast<Bits>((static_cast<uint64_t>(exponent) << Mantissa) + static_cast<uint64_t>(units));
        return static_cast<Bits>(bits | (std::signbit(value) ? Bits(1) << (8 * sizeof(Bits) - 1) : 0));
    }

    // The exact value of finite bits.
    static double value(Bits bits)
    {
        const Bits magnitude = static_cast<Bits>(bits & ~(Bits(1) << (8 * sizeof(Bits) - 1)));
        const int field = static_cast<int>(magnitude >> Mantissa);
        const auto fraction = static_cast<double>(magnitude & ((Bits(1) << Mantissa) - 1));
        const double hidden = field == 0 ? 0.0 : std::ldexp(1.0, Mantissa);
        const double size = std::ldexp(hidden + fraction, std::max(field, 1) - 1 + MinExponent - Mantissa);
        return magnitude == bits ? size : -size;
    }
};

using F32 = Element<uint32_t, 23, -126, ACL_FLOAT>;
using F16 = Element<uint16_t, 10, -14, ACL_FLOAT16>;
using BF16 = Element<uint16_t, 7, -126, ACL_BF16>;

// Whole arrays, both ways.
template <typename E>
std::vector<typename E::Bits> rounded(const std::vector<double> &values)
{
    std::vector<typename E::Bits> bits(values.size());
    std::transform(values.begin(), values.end(), bits.begin(), E::round);
    return bits;
}

template <typename E>
std::vector<double> values_of(const std::vector<typename E::Bits> &bits)
{
    std::vector<double> values(bits.size());
    std::transform(bits.begin(), bits.end(), values.begin(), E::value);
    return values;
}

#endif
