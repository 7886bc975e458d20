/* The word that was probably meant by a misspelled one: edit distance in which the exchange of two adjacent letters counts
 * once (Damerau and Levenshtein, optimal string alignment). */
#include <ctype.h>
#include <string.h>

#include "base/text.h"

enum { WORD_MAX = 63 };

static int lower(char c)
{
    return tolower((unsigned char)c);
}

int yk_text_distance(const char *a, const char *b, int limit)
{
    size_t length_a = strlen(a);
    size_t length_b = strlen(b);

    if (length_a > WORD_MAX || length_b > WORD_MAX)
        return limit + 1;

    /* The last three rows of the table of distances between prefixes of both words. */
    int rows[3][WORD_MAX + 1];
    int *before = rows[0];
    int *last = rows[1];
    int *now = rows[2];

    for (size_t j = 0; j <= length_b; j++)
        last[j] = (int)j;

    for (size_t i = 1; i <= length_a; i++) {
        now[0] = (int)i;
        for (size_t j = 1; j <= length_b; j++) {
            int changed = lower(a[i - 1]) != lower(b[j - 1]);
            int either = last[j] < now[j - 1] ? last[j] : now[j - 1];

            /* Insert or delete a letter, or replace it. */
            int replaced = last[j - 1] + changed;
            now[j] = either + 1 < replaced ? either + 1 : replaced;
            if (i < 2 || j < 2)
                continue;

            /* Exchange two adjacent letters. */
            bool first = lower(a[i - 1]) == lower(b[j - 2]);
            bool swapped = first && lower(a[i - 2]) == lower(b[j - 1]);
            if (swapped && before[j - 2] + 1 < now[j])
                now[j] = before[j - 2] + 1;
        }

        int *spare = before;
        before = last;
        last = now;
        now = spare;
    }

    return last[length_b] > limit ? limit + 1 : last[length_b];
}

/* The only word of `words` that starts with `word`: "position" for "pos". */
static const char *only_longer(const char *word, const char *const *words)
{
    const char *found = NULL;
    size_t length = strlen(word);

    for (; *words; words++) {
        size_t i = 0;
        while (i < length && lower(word[i]) == lower((*words)[i]))
            i++;
        if (i < length)
            continue;
        if (found)
            return NULL;

        found = *words;
    }

    return found;
}

const char *yk_text_nearest(const char *word, const char *const *words)
{
    size_t length = strlen(word);

    /* An abbreviation has a large distance, but may have only one completion. */
    const char *longer = length > 0 ? only_longer(word, words) : NULL;
    if (longer)
        return longer;

    /* Number of letters that may differ. */
    int limit = 3;
    if (length <= 6)
        limit = 2;
    if (length <= 3)
        limit = 1;
    if (length <= 1)
        limit = 0;

    const char *nearest = NULL;
    for (; *words; words++) {
        int distance = yk_text_distance(word, *words, limit);
        if (distance > limit)
            continue;

        limit = distance - 1;
        nearest = *words;
        if (limit < 0)
            break;
    }

    return nearest;
}
