/* Words that engineers use elsewhere for those of a scenario: "hinge" for "revolute", "dt" for
 * "step". They are not accepted, so that a scenario reads the same everywhere, but a message
 * names the word that is meant. */
#ifndef YK_MODEL_SYNONYMS_H
#define YK_MODEL_SYNONYMS_H

/* The one of `valid` (NULL-terminated) that is meant by a word: another name for it, else the
 * nearest by its letters (base/text.h). NULL: none. */
const char *yk_word_meant(const char *word, const char *const *valid);

#endif
