/* Version, and names and texts of status codes. */
#include "base/context.h"

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

const char *yk_version(void)
{
    return TEXT(YK_VERSION_MAJOR) "." TEXT(YK_VERSION_MINOR) "." TEXT(YK_VERSION_PATCH);
}

const char *yk_status_name(yk_status status)
{
    switch (status) {
#define NAME_CASE(name, value, text) \
    case name: return #name;
        YK_STATUS_LIST(NAME_CASE)
#undef NAME_CASE
    }

    return "YK_UNKNOWN";
}

bool yk_status_is_known(int value)
{
    switch (value) {
#define KNOWN_CASE(name, value, text) \
    case name: return true;
        YK_STATUS_LIST(KNOWN_CASE)
#undef KNOWN_CASE
    }

    return false;
}

const char *yk_status_text(yk_status status)
{
    switch (status) {
#define TEXT_CASE(name, value, text) \
    case name: return text;
        YK_STATUS_LIST(TEXT_CASE)
#undef TEXT_CASE
    }

    return "unknown status";
}
