/* SPDX-License-Identifier: Apache-2.0
 *
 * What the operator is measured against: a STREAM triad, and the operator as a good C programmer writes it in an hour:
 * plain loops, OpenMP, -O3 -march=native, sums in f32. It takes the best of three ways to share the work out.
 */
#include <omp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef __x86_64__
#include <immintrin.h>
#endif

/* a = b + 2 * c over n floats, all of them 64-byte aligned. */
void triad_plain(float *restrict a, const float *restrict b, const float *restrict c, size_t n)
{
#pragma omp parallel for simd schedule(static)
    for (size_t i = 0; i < n; i++)
        a[i] = b[i] + 2.0f * c[i];
}

void triad_streaming(float *restrict a, const float *restrict b, const float *restrict c, size_t n)
{
#ifdef __AVX__
    const __m256 two = _mm256_set1_ps(2.0f);
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (size_t i = 0; i < n / 8; i++)
            _mm256_stream_ps(a + 8 * i, _mm256_add_ps(_mm256_load_ps(b + 8 * i), _mm256_mul_ps(two, _mm256_load_ps(c + 8 * i))));
        _mm_sfence();
    }
    for (size_t i = n / 8 * 8; i < n; i++)
        a[i] = b[i] + 2.0f * c[i];
#else
    triad_plain(a, b, c, n);
#endif
}

typedef uint16_t bf16;

static inline float from_f32(float v) { return v; }
static inline float to_f32(float v) { return v; }
static inline float from_bf16(bf16 v)
{
    const uint32_t bits = (uint32_t)v << 16;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}
static inline bf16 to_bf16(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return (bf16)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}
static inline float from_f16(_Float16 v) { return (float)v; }
static inline _Float16 to_f16(float v) { return (_Float16)v; }

/* Rows [l0, l1) and columns [d0, d1) of one sample into sums in f32. */
#define DEFINE(NAME, T, IN, OUT)                                                                                       \
    static void NAME##_part(ptrdiff_t l0, ptrdiff_t l1, ptrdiff_t d0, ptrdiff_t d1, ptrdiff_t D, const T *restrict g,  \
                            const T *restrict x, const T *restrict s, T *restrict gi, float *restrict p,               \
                            float *restrict q)                                                                         \
    {                                                                                                                  \
        for (ptrdiff_t l = l0; l < l1; l++)                                                                            \
            for (ptrdiff_t d = d0; d < d1; d++) {                                                                      \
                const float v = IN(g[l * D + d]);                                                                      \
                gi[l * D + d] = OUT(v * IN(s[d]));                                                                     \
                p[d] += v * IN(x[l * D + d]);                                                                          \
                q[d] += v;                                                                                             \
            }                                                                                                          \
    }                                                                                                                  \
    void plain_##NAME(ptrdiff_t B, ptrdiff_t L, ptrdiff_t D, const T *g, const T *x, const T *s, T *gi, T *gs, T *gh,  \
                      float *sums)                                                                                     \
    {                                                                                                                  \
        /* sums: 2 * D floats for each thread */                                                                       \
        const int threads = omp_get_max_threads();                                                                     \
        if (B >= threads) {                                                                                            \
            _Pragma("omp parallel for schedule(static)") for (ptrdiff_t b = 0; b < B; b++)                             \
            {                                                                                                          \
                float *p = sums + (ptrdiff_t)omp_get_thread_num() * 2 * D, *q = p + D;                                 \
                memset(p, 0, 2 * (size_t)D * sizeof *p);                                                               \
                NAME##_part(0, L, 0, D, D, g + b * L * D, x + b * L * D, s + b * D, gi + b * L * D, p, q);             \
                for (ptrdiff_t d = 0; d < D; d++) {                                                                    \
                    gs[b * D + d] = OUT(p[d]);                                                                         \
                    gh[b * D + d] = OUT(q[d]);                                                                         \
                }                                                                                                      \
            }                                                                                                          \
            return;                                                                                                    \
        }                                                                                                              \
        for (ptrdiff_t b = 0; b < B; b++) {                                                                            \
            const T *gb = g + b * L * D, *xb = x + b * L * D;                                                          \
            T *gib = gi + b * L * D;                                                                                   \
            memset(sums, 0, 2 * (size_t)D * (size_t)threads * sizeof *sums);                                           \
            _Pragma("omp parallel for schedule(static)") for (int t = 0; t < threads; t++)                             \
            {                                                                                                          \
                float *p = sums + (ptrdiff_t)t * 2 * D, *q = p + D;                                                    \
                if (L >= threads)                                                                                      \
                    NAME##_part(L * t / threads, L * (t + 1) / threads, 0, D, D, gb, xb, s + b * D, gib, p, q);        \
                else                                                                                                   \
                    NAME##_part(0, L, D * t / threads, D * (t + 1) / threads, D, gb, xb, s + b * D, gib, p, q);        \
            }                                                                                                          \
            for (ptrdiff_t d = 0; d < D; d++) {                                                                        \
                float p = 0, q = 0;                                                                                    \
                for (int t = 0; t < threads; t++) {                                                                    \
                    p += sums[(ptrdiff_t)t * 2 * D + d];                                                               \
                    q += sums[(ptrdiff_t)t * 2 * D + D + d];                                                           \
                }                                                                                                      \
                gs[b * D + d] = OUT(p);                                                                                \
                gh[b * D + d] = OUT(q);                                                                                \
            }                                                                                                          \
        }                                                                                                              \
    }

DEFINE(f32, float, from_f32, to_f32)
DEFINE(f16, _Float16, from_f16, to_f16)
DEFINE(bf16, bf16, from_bf16, to_bf16)
