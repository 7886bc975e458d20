#include "record/hdf5_access.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* HDF5 has one state per process, and not every build of it is safe for threads. Contexts of different threads are
 * independent of each other by our own rule, so the lock has to be the process's too. */
static pthread_mutex_t library_lock = PTHREAD_MUTEX_INITIALIZER;

static herr_t keep_innermost(unsigned n, const H5E_error2_t *error, void *user)
{
    yk_hdf5_session *session = user;
    if (n == 0 && error->desc) snprintf(session->reason, sizeof session->reason, "%s", error->desc);
    return 0;
}

/* The library calls this whenever one of its functions fails. */
static herr_t keep_reason(hid_t stack, void *user)
{
    yk_hdf5_session *session = user;
    if (!*session->reason) H5Ewalk2(stack, H5E_WALK_UPWARD, keep_innermost, session);
    return 0;
}

void yk_hdf5_enter(yk_hdf5_session *session)
{
    pthread_mutex_lock(&library_lock);
    session->reason[0] = '\0';
    H5Eget_auto2(H5E_DEFAULT, &session->print, &session->print_data);
    H5Eset_auto2(H5E_DEFAULT, keep_reason, session);
}

void yk_hdf5_leave(const yk_hdf5_session *session)
{
    /* A damaged file makes the library lose memory, of which it complains on standard error at the exit of the program,
     * but not if printing is off: so it stays off. */
    bool quiet = *session->reason != '\0';
    H5Eset_auto2(H5E_DEFAULT, quiet ? NULL : session->print, quiet ? NULL : session->print_data);
    pthread_mutex_unlock(&library_lock);
}

hid_t yk_hdf5_access(void)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fclose_degree(access, H5F_CLOSE_STRONG); /* closing the file closes all that is open in it */
    H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V18);
    /* No cache of chunks: we read and write large blocks anyway, nothing stays unwritten in it, and its buffers have
     * the size that the file says, right or wrong. */
    H5Pset_cache(access, 0, 0, 0, 0);
    return access;
}

hid_t yk_hdf5_properties(hid_t class)
{
    hid_t properties = H5Pcreate(class);
    H5Pset_obj_track_times(properties, 0); /* equal runs give equal files */
    return properties;
}

/* Texts have a fixed length, filled up with zeros. Those of variable length live in HDF5's global heap, whose reader
 * trusts the file: a few flipped bits there crash the program. */
static hid_t text_type(size_t length)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, length ? length : 1);
    H5Tset_strpad(type, H5T_STR_NULLPAD);
    H5Tset_cset(type, H5T_CSET_UTF8);
    return type;
}

/* Creates, writes and closes an attribute; one that was there is replaced. Takes over type and space. */
static bool write_attribute(hid_t object, const char *name, hid_t type, hid_t space, const void *values)
{
    if (H5Aexists(object, name) > 0) H5Adelete(object, name);
    hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    bool written = attribute >= 0 && H5Awrite(attribute, type, values) >= 0;
    if (attribute >= 0 && H5Aclose(attribute) < 0) written = false;
    H5Sclose(space);
    H5Tclose(type);
    return written;
}

bool yk_hdf5_write_text(hid_t object, const char *name, const char *text)
{
    return write_attribute(object, name, text_type(strlen(text)), H5Screate(H5S_SCALAR), text);
}

bool yk_hdf5_write_texts(yk_context *context, hid_t object, const char *name, const char *const *texts, size_t count)
{
    size_t longest = 1;
    for (size_t i = 0; i < count; i++)
        if (strlen(texts[i]) > longest) longest = strlen(texts[i]);
    if (longest > YK_HDF5_ATTRIBUTE_BYTES / count) return true;
    char *packed = yk_allocate(context, count, longest);
    if (!packed) return false;
    for (size_t i = 0; i < count; i++) memcpy(packed + i * longest, texts[i], strlen(texts[i]));
    hsize_t size = count;
    bool written = write_attribute(object, name, text_type(longest), H5Screate_simple(1, &size, NULL), packed);
    yk_release(context, packed);
    return written;
}

bool yk_hdf5_write_integer(hid_t object, const char *name, int value)
{
    return write_attribute(object, name, H5Tcopy(H5T_NATIVE_INT), H5Screate(H5S_SCALAR), &value);
}

bool yk_hdf5_write_long_text(hid_t file, const char *name, const char *text)
{
    hid_t type = text_type(strlen(text)), space = H5Screate(H5S_SCALAR),
          properties = yk_hdf5_properties(H5P_DATASET_CREATE);
    hid_t dataset = H5Dcreate2(file, name, type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    bool written = dataset >= 0 && H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) >= 0;
    if (dataset >= 0) H5Dclose(dataset);
    H5Pclose(properties);
    H5Sclose(space);
    H5Tclose(type);
    return written;
}

/* Length of the texts of this type; 0 if it is none of ours. */
static size_t text_length(hid_t type)
{
    return H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0 ? H5Tget_size(type) : 0;
}

/* One block: the pointers, then the texts. */
static char **unpack_texts(yk_context *context, const char *packed, size_t count, size_t length)
{
    char **texts = yk_allocate(context, count, sizeof *texts + length + 1);
    if (!texts) return NULL;
    char *place = (char *)(texts + count);
    for (size_t i = 0; i < count; i++, place += length + 1) {
        texts[i] = place;
        memcpy(place, packed + i * length, length);
    }
    return texts;
}

static char **read_texts(yk_context *context, hid_t attribute, hid_t type, hid_t space, size_t count)
{
    size_t length = text_length(type);
    if (length == 0 || length > YK_HDF5_ATTRIBUTE_BYTES / count) return NULL;
    if (H5Sget_simple_extent_npoints(space) != (hssize_t)count) return NULL;
    char *packed = yk_allocate(context, count, length), **texts = NULL;
    if (packed && H5Aread(attribute, type, packed) >= 0) texts = unpack_texts(context, packed, count, length);
    yk_release(context, packed);
    return texts;
}

char **yk_hdf5_read_texts(yk_context *context, hid_t object, const char *name, size_t count)
{
    if (H5Aexists(object, name) <= 0) return NULL;
    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    if (attribute < 0) return NULL;
    hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    char **texts = read_texts(context, attribute, type, space, count);
    if (space >= 0) H5Sclose(space);
    if (type >= 0) H5Tclose(type);
    H5Aclose(attribute);
    return texts;
}

char *yk_hdf5_read_text(yk_context *context, hid_t object, const char *name)
{
    char **texts = yk_hdf5_read_texts(context, object, name, 1);
    if (!texts) return NULL;
    char *text = texts[0];
    /* The one pointer makes way for its text, which is then the block. */
    memmove(texts, text, strlen(text) + 1);
    return (char *)texts;
}

char *yk_hdf5_read_long_text(yk_context *context, hid_t file, const char *name)
{
    if (H5Lexists(file, name, H5P_DEFAULT) <= 0) return NULL;
    hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
    if (dataset < 0) return NULL;
    hid_t type = H5Dget_type(dataset), space = H5Dget_space(dataset);
    size_t length = text_length(type);
    char *text = NULL;
    if (length > 0 && length <= H5Dget_storage_size(dataset) && H5Sget_simple_extent_npoints(space) == 1)
        text = yk_allocate(context, length + 1, 1);
    if (text && H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) < 0) {
        yk_release(context, text);
        text = NULL;
    }
    if (space >= 0) H5Sclose(space);
    if (type >= 0) H5Tclose(type);
    H5Dclose(dataset);
    return text;
}

bool yk_hdf5_read_integer(hid_t object, const char *name, int *value)
{
    if (H5Aexists(object, name) <= 0) return false;
    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    if (attribute < 0) return false;
    hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    bool done = H5Tget_class(type) == H5T_INTEGER && H5Sget_simple_extent_npoints(space) == 1 &&
                H5Aread(attribute, H5T_NATIVE_INT, value) >= 0;
    if (space >= 0) H5Sclose(space);
    if (type >= 0) H5Tclose(type);
    H5Aclose(attribute);
    return done;
}
