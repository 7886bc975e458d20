/* The pages of the reference of scenario keys: titles, introductions and examples (reference_topics.c). */
#ifndef YK_MODEL_REFERENCE_H
#define YK_MODEL_REFERENCE_H

typedef struct yk_reference_topic_row {
    const char *name; /* of the page: docs/scenario/NAME.md, the first docs/scenario.md */
    const char *title;
    const char *contents;     /* for the list of pages */
    const char *introduction; /* Markdown */
    const char *example;      /* a complete scenario, or a part of one; NULL: none */
} yk_reference_topic_row;

/* Ended by a row without a name. */
extern const yk_reference_topic_row yk_reference_topics[];

/* Number of the page for a topic or a solver; that of plug-ins if it is not known. */
int yk_reference_topic(const char *name);
/* Number of the page on which a section is described if the page that reaches it is `page`; -1: the same page. */
int yk_reference_topic_of_section(const char *page, const char *path);

#endif
