/* Reading a document with expat. Everything of a tree is in a store that is released as a whole. */
#include <errno.h>
#include <expat.h>
#include <stdio.h>
#include <string.h>

#include "base/input.h"
#include "base/text.h"
#include "interop/import/xml.h"
#include "model/yaml_tree.h"

enum { BYTES_MAX = 64 << 20, DEPTH_MAX = 256, ELEMENTS_MAX = 1 << 20, CHUNK_BYTES = 1 << 16 };

struct yk_xml {
    yk_store store;
    yk_xml_element *root;
};

typedef struct reader {
    yk_xml *xml;
    XML_Parser parser;
    const char *file;
    yk_xml_element *open[DEPTH_MAX]; /* elements that have not ended */
    yk_xml_element *last[DEPTH_MAX]; /* their last children */
    int depth;
    int element_count;
    bool no_memory;
    const char *problem; /* NULL: none but those of the syntax */
} reader;

static void *take(reader *r, size_t bytes)
{
    void *block = yk_store_take(&r->xml->store, bytes);
    if (!block) {
        r->no_memory = true;
        XML_StopParser(r->parser, XML_FALSE);
    }

    return block;
}

static const char *keep(reader *r, const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = take(r, bytes);
    if (copy)
        memcpy(copy, text, bytes);
    return copy;
}

static void refuse(reader *r, const char *problem)
{
    r->problem = problem;
    XML_StopParser(r->parser, XML_FALSE);
}

static void begin_element(void *user, const char *name, const char **list)
{
    /* Expat may call a few times more after it was stopped. */
    reader *r = user;
    if (r->no_memory || r->problem)
        return;

    /* Limits against documents that would exhaust memory or stack. */
    if (r->depth == DEPTH_MAX) {
        refuse(r, "elements are nested more than 256 deep");
        return;
    }
    if (++r->element_count > ELEMENTS_MAX) {
        refuse(r, "the document has more than a million elements");
        return;
    }

    /* Expat gives names and values in turn, up to a NULL. */
    int count = 0;
    while (list[count])
        count++;

    yk_xml_element *element = take(r, sizeof *element);
    const char **attributes = take(r, (size_t)(count + 1) * sizeof *attributes);
    if (!element || !attributes)
        return;

    *element = (yk_xml_element){.name = keep(r, name),
                                .file = r->file,
                                .line = (int)XML_GetCurrentLineNumber(r->parser),
                                .attributes = attributes};

    for (int i = 0; i < count; i++)
        attributes[i] = keep(r, list[i]);

    /* Behind its elder sibling, or as the first child. */
    if (r->depth == 0)
        r->xml->root = element;
    else if (r->last[r->depth - 1])
        r->last[r->depth - 1]->next = element;
    else
        r->open[r->depth - 1]->first = element;

    if (r->depth > 0)
        r->last[r->depth - 1] = element;

    /* It is open now, without children. */
    r->open[r->depth] = element;
    r->last[r->depth] = NULL;
    r->depth++;
}

static void end_element(void *user, const char *name)
{
    reader *r = user;
    (void)name;
    if (r->depth > 0)
        r->depth--;
}

static void begin_doctype(void *user, const char *name, const char *system, const char *public,
                          int has_subset)
{
    (void)name, (void)system, (void)public, (void)has_subset;
    /* Entities can name files of the reader's machine, or grow without bound. */
    refuse(user, "a document type declaration is not read; take it out");
}

yk_status yk_xml_read(yk_context *context, const char *path, yk_xml **xml)
{
    *xml = NULL;
    FILE *file = yk_input_open(context, path, YK_ERROR_FILE);
    if (!file)
        return YK_ERROR_FILE;

    /* The document owns all texts, also the name of its file. */
    yk_status status = YK_ERROR_MEMORY;
    reader r = {.xml = yk_allocate(context, 1, sizeof *r.xml), .parser = XML_ParserCreate(NULL)};

    if (r.xml)
        r.xml->store.context = context;
    if (r.xml && r.parser)
        r.file = keep(&r, path);

    if (r.file) {
        XML_SetUserData(r.parser, &r);
        XML_SetElementHandler(r.parser, begin_element, end_element);
        XML_SetStartDoctypeDeclHandler(r.parser, begin_doctype);
        status = YK_OK;
    } else {
        yk_fail(context, status, "out of memory");
    }

    /* Chunk by chunk; a short read is the end of the file. */
    size_t total = 0;
    bool done = false;
    while (status == YK_OK && !done) {
        void *buffer = XML_GetBuffer(r.parser, CHUNK_BYTES);
        size_t count = 0;
        if (buffer)
            count = fread(buffer, 1, CHUNK_BYTES, file);
        total += count;
        done = count < CHUNK_BYTES;

        /* Files that cannot be read or are too large are not even parsed. */
        if (!buffer)
            status = yk_fail(context, YK_ERROR_MEMORY, "out of memory");
        else if (ferror(file))
            status = yk_fail(context, YK_ERROR_FILE, "%s: %s", r.file, strerror(errno));
        else if (total > BYTES_MAX)
            status = yk_fail(context, YK_ERROR_INPUT, "%s: larger than 64 MiB", r.file);
        if (status != YK_OK || XML_ParseBuffer(r.parser, (int)count, done) == XML_STATUS_OK)
            continue;

        /* Out of memory, a limit, or the syntax. */
        const char *problem = r.problem;
        if (!problem)
            problem = XML_ErrorString(XML_GetErrorCode(r.parser));
        if (r.no_memory)
            status = yk_fail(context, YK_ERROR_MEMORY, "out of memory");
        else
            status = yk_fail(context, YK_ERROR_INPUT, "%s:%d: not read as XML: %s", r.file,
                             (int)XML_GetCurrentLineNumber(r.parser), problem);
    }

    fclose(file);
    if (r.parser)
        XML_ParserFree(r.parser);
    if (status != YK_OK) {
        yk_xml_destroy(r.xml);
        return status;
    }
    *xml = r.xml;
    return YK_OK;
}

void yk_xml_destroy(yk_xml *xml)
{
    if (!xml)
        return;

    yk_context *context = xml->store.context;
    yk_store_destroy(&xml->store);
    yk_free(context, xml);
}

yk_xml_element *yk_xml_root(const yk_xml *xml)
{
    return xml->root;
}

const char *yk_xml_attribute_of(const yk_xml_element *element, const char *name)
{
    const char **at = element->attributes;
    for (; at && *at; at += 2)
        if (strcmp(at[0], name) == 0)
            return at[1];
    return NULL;
}

bool yk_xml_is(const yk_xml_element *element, const char *name)
{
    return strcmp(element->name, name) == 0;
}

const yk_xml_element *yk_xml_child(const yk_xml_element *element, const char *name)
{
    for (const yk_xml_element *child = element->first; child; child = child->next)
        if (yk_xml_is(child, name))
            return child;
    return NULL;
}

const char *yk_xml_local_name(const char *name)
{
    const char *colon = strrchr(name, ':');
    return colon ? colon + 1 : name;
}
