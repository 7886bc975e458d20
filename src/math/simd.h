/* Four doubles at a time with the compiler's vector types. Code is written once as inline functions
 * and compiled twice, for the baseline machine and for AVX2; without contraction both give the same
 * bits. */
#ifndef YK_MATH_SIMD_H
#define YK_MATH_SIMD_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define YK_INLINE static inline __attribute__((always_inline))

#if defined(__x86_64__)
#define YK_HAVE_AVX2 1
#define YK_TARGET_AVX2 __attribute__((target("avx2")))
#else
#define YK_HAVE_AVX2 0
#define YK_TARGET_AVX2
#endif

typedef double yk_v4 __attribute__((vector_size(32)));
typedef int64_t yk_mask4 __attribute__((vector_size(32)));
/* The same for addresses that are aligned for doubles only. */
typedef double yk_v4_unaligned __attribute__((vector_size(32), aligned(8)));

YK_INLINE yk_v4 yk_v4_set(double value)
{
    return (yk_v4){value, value, value, value};
}

YK_INLINE yk_v4 yk_v4_load(const double *from)
{
    return *(const yk_v4_unaligned *)from;
}

YK_INLINE void yk_v4_store(double *to, yk_v4 value)
{
    *(yk_v4_unaligned *)to = value;
}

/* mask ? a : b, lane by lane */
YK_INLINE yk_v4 yk_v4_select(yk_mask4 mask, yk_v4 a, yk_v4 b)
{
    return (yk_v4)((mask & (yk_mask4)a) | (~mask & (yk_mask4)b));
}

/* Returns a if it is not a number. */
YK_INLINE yk_v4 yk_v4_max(yk_v4 a, yk_v4 b)
{
    return yk_v4_select(b > a, b, a);
}

static inline bool yk_have_avx2(void)
{
#if YK_HAVE_AVX2
    return __builtin_cpu_supports("avx2");
#else
    return false;
#endif
}

#endif
