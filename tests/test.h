/* Included by every test program: cmocka with the headers that it needs before it, and comparisons
 * of doubles that print both numbers. */
#ifndef YOKE_TESTS_TEST_H
#define YOKE_TESTS_TEST_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h> /* wants the headers above before it */

/* Sanitizers bring an allocator of their own, which fails and forks in other ways. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#define SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define SANITIZED 0
#endif

#define assert_near(actual, expected, tolerance) \
    yk_assert_near((actual), (expected), (tolerance), #actual, __FILE__, __LINE__)

/* |actual - expected| <= tolerance * |expected| */
#define assert_relative(actual, expected, tolerance) \
    yk_assert_near((actual), (expected), (tolerance)*fabs(expected), #actual, __FILE__, __LINE__)

static inline void yk_assert_near(double actual, double expected, double tolerance,
                                  const char *what, const char *file, int line)
{
    if (fabs(actual - expected) <= tolerance)
        return;
    print_error("%s = %.17g, expected %.17g within %.3g (off by %.3g)\n", what, actual, expected,
                tolerance, actual - expected);
    _fail(file, line);
}

#endif
