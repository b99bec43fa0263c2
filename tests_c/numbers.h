/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The element types and the operator, a second time: a plain loop in the documented order of summation, which shares no
 * line with the library. What the library returns must have these bits.
 */
#ifndef NUMBERS_H
#define NUMBERS_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl.h"

static inline size_t width_of(aclDataType type)
{
    return type == ACL_FLOAT ? 4 : 2;
}

static inline float f32_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static inline uint32_t bits_of_f32(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

/*
 * The bits of `value` rounded once, to nearest even, to a binary format with `mantissa` explicit bits and an exponent
 * that reaches from 2^emin (the smallest normal number) to 2^emax. Such formats are cut from the same cloth: sign,
 * biased exponent, mantissa.
 */
static inline uint32_t round_to_format(double value, int mantissa, int emin, int emax)
{
    const uint32_t bias_field = (uint32_t)(emax);
    int exponent_bits = 0;
    while ((1 << exponent_bits) < 2 * (emax + 1))
        exponent_bits++;
    const uint32_t sign = signbit(value) ? 1u << (mantissa + exponent_bits) : 0;
    const uint32_t infinity = ((1u << exponent_bits) - 1) << mantissa;
    if (isnan(value))
        return sign | infinity | 1u << (mantissa - 1);
    if (isinf(value))
        return sign | infinity;
    const double size = fabs(value);
    if (size == 0)
        return sign;
    int exponent = ilogb(size);
    if (exponent < emin)
        exponent = emin;
    /* A power of two divides exactly, and the quotient has at most one bit before the point more than the mantissa. */
    const double units = nearbyint(ldexp(size, mantissa - exponent));
    if (units * ldexp(1.0, exponent - mantissa) >= ldexp(1.0, emax + 1))
        return sign | infinity;
    const uint32_t whole = (uint32_t)units;
    /* Without the hidden bit the number is subnormal; a carry out of the mantissa goes into the exponent by itself. */
    if (whole < 1u << mantissa)
        return sign | whole;
    return sign | (((uint32_t)(exponent + (int)bias_field) << mantissa) + (whole - (1u << mantissa)));
}

static inline uint32_t bits_of(aclDataType type, double value)
{
    if (type == ACL_FLOAT)
        return round_to_format(value, 23, -126, 127);
    return type == ACL_FLOAT16 ? round_to_format(value, 10, -14, 15) : round_to_format(value, 7, -126, 127);
}

static inline double value_of_bits(aclDataType type, uint32_t bits)
{
    if (type == ACL_FLOAT)
        return (double)f32_of_bits(bits);
    if (type == ACL_BF16)
        return (double)f32_of_bits(bits << 16);
    const uint32_t exponent = bits >> 10 & 31, fraction = bits & 1023;
    const double sign = bits & 0x8000 ? -1.0 : 1.0;
    if (exponent == 31)
        return fraction ? (double)NAN : sign * (double)INFINITY;
    return exponent == 0 ? sign * ldexp((double)fraction, -24) : sign * ldexp((double)(fraction + 1024), (int)exponent - 25);
}

static inline uint32_t load_bits(aclDataType type, const void *data, int64_t index)
{
    if (type == ACL_FLOAT) {
        uint32_t bits;
        memcpy(&bits, (const char *)data + 4 * index, 4);
        return bits;
    }
    uint16_t bits;
    memcpy(&bits, (const char *)data + 2 * index, 2);
    return bits;
}

static inline void store_bits(aclDataType type, void *data, int64_t index, uint32_t bits)
{
    const uint16_t half = (uint16_t)bits;
    if (type == ACL_FLOAT)
        memcpy((char *)data + 4 * index, &bits, 4);
    else
        memcpy((char *)data + 2 * index, &half, 2);
}

static inline double load_value(aclDataType type, const void *data, int64_t index)
{
    return value_of_bits(type, load_bits(type, data, index));
}

static inline void store_value(aclDataType type, void *data, int64_t index, double value)
{
    store_bits(type, data, index, bits_of(type, value));
}

/*
 * Sum over l of g*x (x given) or of g (x NULL) for one column of a contiguous [L, D]: groups of 8 rows, f64 for FLOAT
 * and f32 for the 16-bit types; 128 groups make a chunk; groups and chunks are added in order in f64; each sum starts
 * from its first term.
 */
static inline double sum_column(aclDataType type, const void *g, const void *x, int64_t start, int64_t L, int64_t D)
{
    double total = 0, chunk = 0;
    for (int64_t first = 0; first < L; first += 8) {
        const int64_t end = first + 8 < L ? first + 8 : L;
        double group = 0;
        float group32 = 0;
        for (int64_t l = first; l < end; l++) {
            const double gv = load_value(type, g, start + l * D);
            const double xv = x ? load_value(type, x, start + l * D) : 1.0;
            if (type == ACL_FLOAT)
                group = l == first ? gv * xv : fma(gv, xv, group);
            else
                group32 = l == first ? (float)gv * (float)xv : fmaf((float)gv, (float)xv, group32);
        }
        if (type != ACL_FLOAT)
            group = (double)group32;
        chunk = first % 1024 == 0 ? group : chunk + group;
        if (end == L || end % 1024 == 0)
            total = end <= 1024 ? chunk : total + chunk;
    }
    return total;
}

/* The whole operator on contiguous arrays; NULL for what is absent. */
static inline void modulate_backward(aclDataType type, int64_t B, int64_t L, int64_t D, const void *g, const void *x,
                                     const void *scale, void *grad_input, void *grad_scale, void *grad_shift)
{
    for (int64_t b = 0; b < B; b++) {
        for (int64_t i = 0; i < L * D; i++) {
            const int64_t at = b * L * D + i;
            if (scale)
                store_value(type, grad_input, at, load_value(type, g, at) * load_value(type, scale, b * D + i % D));
            else
                store_bits(type, grad_input, at, load_bits(type, g, at));
        }
        for (int64_t d = 0; L > 0 && d < D; d++) {
            if (grad_scale)
                store_value(type, grad_scale, b * D + d, sum_column(type, g, x, b * L * D + d, L, D));
            if (grad_shift)
                store_value(type, grad_shift, b * D + d, sum_column(type, g, NULL, b * L * D + d, L, D));
        }
    }
}

/* A repeatable sequence of numbers in [-2, 2), none of them zero. */
static inline double next_number(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return ((double)(int64_t)(*state >> 11) + 0.5) / (double)(UINT64_C(1) << 51) - 2.0;
}

static inline void fill(aclDataType type, void *data, int64_t count, uint64_t seed)
{
    uint64_t state = seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
    for (int64_t i = 0; i < count; i++)
        store_value(type, data, i, next_number(&state));
}

#endif
