/* The file is put into the program by the assembler: a literal of its size would be slow to
 * compile. CMake defines YOKE_VIEWER_PAGE. */
#include "viewer.h"

#include <string.h>

__asm__(".section .rodata\n"
        ".global yoke_viewer_begin\n"
        ".global yoke_viewer_end\n"
        "yoke_viewer_begin:\n"
        ".incbin \"" YOKE_VIEWER_PAGE "\"\n"
        "yoke_viewer_end:\n"
        ".byte 0\n"
        ".previous\n");

extern const char yoke_viewer_begin[], yoke_viewer_end[];

const char *viewer_page(size_t *length)
{
    *length = (size_t)(yoke_viewer_end - yoke_viewer_begin);
    return yoke_viewer_begin;
}

const char *viewer_mark(const char *page, size_t length)
{
    size_t size = strlen(VIEWER_MARK);
    for (size_t i = 0; i + size <= length; i++)
        if (page[i] == '<' && memcmp(page + i, VIEWER_MARK, size) == 0)
            return page + i;

    return NULL;
}
