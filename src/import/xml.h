/* A small XML document in memory, as a tree of elements that know their file and line.
 *
 * Documents come from strangers: a document type declaration is refused, so that there are no
 * entities and nothing to look up, and size, depth and number of elements have limits. */
#ifndef YK_IMPORT_XML_H
#define YK_IMPORT_XML_H

#include "yoke/base.h"

typedef struct yk_xml_attribute {
    const char *name, *value;
} yk_xml_attribute;

typedef struct yk_xml_element yk_xml_element;
struct yk_xml_element {
    const char *name;
    const char *file; /* as it was opened */
    int line;
    int attribute_count;
    const yk_xml_attribute *attributes;
    yk_xml_element *first, *next; /* child, sibling */
};

typedef struct yk_xml yk_xml;

/* The file, with a message that names file and line where it is not well-formed. */
yk_status yk_xml_read(yk_context *context, const char *path, yk_xml **xml);
void yk_xml_destroy(yk_xml *xml);
yk_xml_element *yk_xml_root(const yk_xml *xml);

/* NULL where it is absent. */
const char *yk_xml_attribute_of(const yk_xml_element *element, const char *name);
/* The first child of that name; NULL where there is none. */
const yk_xml_element *yk_xml_child(const yk_xml_element *element, const char *name);
bool yk_xml_is(const yk_xml_element *element, const char *name);

#endif
