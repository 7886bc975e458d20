#include "contact/kernels.h"

#include "contact/simd.h"

/* 8 x 4 and 4 x 4 tiles in registers, the fringe by scalars. */
YK_INLINE void tile_8x4(int k, const double *a, size_t sa, const double *b, size_t sb, double *c, size_t sc)
{
    yk_v4 sum[4][2] = {{{0}}};
    for (int p = 0; p < k; p++) {
        yk_v4 low = yk_v4_load(a), high = yk_v4_load(a + 4);
        for (int j = 0; j < 4; j++) {
            yk_v4 factor = yk_v4_set(b[j]);
            sum[j][0] += low * factor;
            sum[j][1] += high * factor;
        }
        a += sa;
        b += sb;
    }
    for (int j = 0; j < 4; j++) {
        yk_v4_store(c + (size_t)j * sc, sum[j][0]);
        yk_v4_store(c + (size_t)j * sc + 4, sum[j][1]);
    }
}

YK_INLINE void tile_4xn(int n, int k, const double *a, size_t sa, const double *b, size_t sb, double *c, size_t sc)
{
    yk_v4 sum[4] = {{0}};
    for (int p = 0; p < k; p++) {
        yk_v4 column = yk_v4_load(a);
        for (int j = 0; j < n; j++) sum[j] += column * yk_v4_set(b[j]);
        a += sa;
        b += sb;
    }
    for (int j = 0; j < n; j++) yk_v4_store(c + (size_t)j * sc, sum[j]);
}

YK_INLINE void tile_1xn(int n, int k, const double *a, size_t sa, const double *b, size_t sb, double *c, size_t sc)
{
    double sum[4] = {0};
    for (int p = 0; p < k; p++) {
        for (int j = 0; j < n; j++) sum[j] += *a * b[j];
        a += sa;
        b += sb;
    }
    for (int j = 0; j < n; j++) c[(size_t)j * sc] = sum[j];
}

YK_INLINE void column_strip(int m, int n, int k, const double *a, size_t sa, const double *b, size_t sb, double *c,
                            size_t sc)
{
    int i = 0;
    if (n == 4)
        for (; i + 8 <= m; i += 8) tile_8x4(k, a + i, sa, b, sb, c + i, sc);
    for (; i + 4 <= m; i += 4) tile_4xn(n, k, a + i, sa, b, sb, c + i, sc);
    for (; i < m; i++) tile_1xn(n, k, a + i, sa, b, sb, c + i, sc);
}

YK_INLINE void multiply(int m, int n, int k, const double *a, size_t sa, const double *b, size_t sb, double *c,
                        size_t sc)
{
    int j = 0;
    for (; j + 4 <= n; j += 4) column_strip(m, 4, k, a, sa, b + j, sb, c + (size_t)j * sc, sc);
    switch (n - j) {
    case 3: column_strip(m, 3, k, a, sa, b + j, sb, c + (size_t)j * sc, sc); break;
    case 2: column_strip(m, 2, k, a, sa, b + j, sb, c + (size_t)j * sc, sc); break;
    case 1: column_strip(m, 1, k, a, sa, b + j, sb, c + (size_t)j * sc, sc); break;
    default: break;
    }
}

static void multiply_baseline(int m, int n, int k, const double *a, size_t sa, const double *b, size_t sb, double *c,
                              size_t sc)
{
    multiply(m, n, k, a, sa, b, sb, c, sc);
}

YK_TARGET_AVX2 static void multiply_avx2(int m, int n, int k, const double *a, size_t sa, const double *b, size_t sb,
                                         double *c, size_t sc)
{
    multiply(m, n, k, a, sa, b, sb, c, sc);
}

void yk_multiply_transposed(int m, int n, int k, const double *a, size_t stride_a, const double *b, size_t stride_b,
                            double *c, size_t stride_c)
{
    if (yk_have_avx2())
        multiply_avx2(m, n, k, a, stride_a, b, stride_b, c, stride_c);
    else
        multiply_baseline(m, n, k, a, stride_a, b, stride_b, c, stride_c);
}
