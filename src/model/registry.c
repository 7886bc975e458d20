#include "model/registry.h"

#define YK_KIND_SECTION(word) &yk_##word##_section,
const yk_section *const yk_kind_sections[] = {YK_KIND_LIST(YK_KIND_SECTION) NULL};

#define YK_KIND_ROW(word) {&yk_##word##_section, yk_##word##_build},
static const yk_kind kinds[] = {YK_KIND_LIST(YK_KIND_ROW)};

const yk_kind *yk_kind_at(int index)
{
    return &kinds[index];
}
