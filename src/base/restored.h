/* Checks of values that were restored from a file or received from another process. Code that
 * copies such bytes into a struct checks every count, index and truth value with these functions before
 * anything else reads the struct: an invalid truth value is undefined behaviour, an invalid count
 * leads beyond an array. */
#ifndef YK_BASE_RESTORED_H
#define YK_BASE_RESTORED_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Largest value of a counter that no run reaches: a count of steps, calls or samples may be added to
 * without overflow, and a double represents it exactly. */
#define YK_RESTORED_MOST ((int64_t)1 << 53)

/* Whether the byte is 0 or 1. */
static inline bool yk_is_restored_bool(const bool *value)
{
    unsigned char byte;
    memcpy(&byte, value, sizeof byte);
    return byte <= 1;
}

/* Whether a counter of events can be incremented further. */
static inline bool yk_is_restored_count(int64_t count)
{
    return count >= 0 && count <= YK_RESTORED_MOST;
}

/* The same of an int that a run increments at most once per step. */
static inline bool yk_is_restored_small_count(int count)
{
    return count >= 0 && count <= INT_MAX / 64;
}

/* Whether a word of a state image is a whole number from 0 to `most`. NaN is not. */
static inline bool yk_is_restored_word(double word, int64_t most)
{
    return word >= 0 && word <= (double)most && word == (double)(int64_t)word;
}

#endif
