/* XML documents in memory, as trees of elements that know their file and line.
 *
 * Documents are untrusted: a document type declaration is refused, so that there are no entities and
 * no external references, and the size, the depth and the number of elements are limited. */
#ifndef YK_INTEROP_IMPORT_XML_H
#define YK_INTEROP_IMPORT_XML_H

#include "yoke/base.h"

typedef struct yk_xml_element yk_xml_element;
struct yk_xml_element {
    const char *name;
    const char *file; /* as it was opened */
    int line;
    const char **attributes;      /* names and values in turn, ended by NULL */
    yk_xml_element *first, *next; /* child, sibling */
};

typedef struct yk_xml yk_xml;

/* Reads a file. A message names file and line if the document is not well-formed. */
yk_status yk_xml_read(yk_context *context, const char *path, yk_xml **xml);
void yk_xml_destroy(yk_xml *xml);
yk_xml_element *yk_xml_root(const yk_xml *xml);

/* NULL if the attribute is absent. */
const char *yk_xml_attribute_of(const yk_xml_element *element, const char *name);
/* The first child with that name; NULL if there is none. */
const yk_xml_element *yk_xml_child(const yk_xml_element *element, const char *name);
bool yk_xml_is(const yk_xml_element *element, const char *name);
/* The part of an XML name behind its prefix: "System" of "ssd:System". */
const char *yk_xml_local_name(const char *name);

#endif
