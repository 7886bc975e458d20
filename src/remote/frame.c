#include "remote/frame.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "base/input.h"
#include "base/text.h"
#include "yoke/remote.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "frames are written as the machine has its numbers: little-endian"
#endif

/* Bodies --------------------------------------------------------------------------------------- */

bool yk_body_reserve(yk_body *body, size_t capacity)
{
    if (capacity <= body->capacity)
        return true;

    unsigned char *grown = yk_reallocate(body->context, body->bytes, capacity, 1);
    if (!grown)
        return false;

    body->bytes = grown;
    body->capacity = capacity;
    return true;
}

void yk_put_bytes(yk_body *body, const void *bytes, size_t count)
{
    if (body->failed)
        return;

    /* Allocate twice the needed size, so that a long body is not copied with every number. */
    size_t needed = body->length + count;
    if (needed > body->capacity && !yk_body_reserve(body, 2 * needed)) {
        body->failed = true;
        return;
    }

    if (count > 0)
        memcpy(body->bytes + body->length, bytes, count);
    body->length += count;
}

void yk_put_whole(yk_body *body, uint32_t value)
{
    yk_put_bytes(body, &value, sizeof value);
}

void yk_put_number(yk_body *body, double value)
{
    yk_put_bytes(body, &value, sizeof value);
}

void yk_put_numbers(yk_body *body, const double *values, size_t count)
{
    yk_put_bytes(body, values, count * sizeof *values);
}

void yk_put_text(yk_body *body, const char *text)
{
    size_t length = 0;
    if (text)
        length = strlen(text);
    if (length > YK_TEXT_MAX)
        length = YK_TEXT_MAX;

    yk_put_whole(body, (uint32_t)length);
    yk_put_bytes(body, text, length);
}

void yk_get_bytes(yk_body *body, void *bytes, size_t count)
{
    /* Missing bytes are read as zeros; the reader checks once, at the end, whether the body was
     * complete. */
    if (body->failed || count > body->length - body->at) {
        body->failed = true;
        if (count > 0)
            memset(bytes, 0, count);
        return;
    }

    if (count > 0)
        memcpy(bytes, body->bytes + body->at, count);
    body->at += count;
}

uint32_t yk_get_whole(yk_body *body)
{
    uint32_t value;
    yk_get_bytes(body, &value, sizeof value);
    return value;
}

double yk_get_number(yk_body *body)
{
    double value;
    yk_get_bytes(body, &value, sizeof value);
    return value;
}

void yk_get_numbers(yk_body *body, double *values, size_t count)
{
    yk_get_bytes(body, values, count * sizeof *values);
}

void yk_put_changes(yk_body *body, const double *values, double *kept, size_t count)
{
    /* Alternating counts of unchanged and of changed numbers, followed by the changed ones. They
     * are compared by their bits. */
    size_t at = 0;
    while (at < count) {
        size_t first = at;
        while (first < count && memcmp(&values[first], &kept[first], sizeof *kept) == 0)
            first++;
        size_t end = first;
        while (end < count && memcmp(&values[end], &kept[end], sizeof *kept) != 0)
            end++;

        yk_put_whole(body, (uint32_t)(first - at));
        yk_put_whole(body, (uint32_t)(end - first));
        yk_put_numbers(body, values + first, end - first);
        at = end;
    }

    /* From here on both sides have these numbers. */
    if (count > 0)
        memcpy(kept, values, count * sizeof *kept);
}

void yk_get_changes(yk_body *body, double *kept, size_t count)
{
    size_t at = 0;
    while (at < count && !body->failed) {
        size_t same = yk_get_whole(body);
        size_t changed = yk_get_whole(body);

        /* An empty run would never end, and one longer than the array would write past it. */
        if (same + changed == 0 || same > count - at || changed > count - at - same) {
            body->failed = true;
            return;
        }

        yk_get_numbers(body, kept + at + same, changed);
        at += same + changed;
    }
}

void yk_get_text(yk_body *body, char *text, size_t capacity)
{
    size_t length = yk_get_whole(body);
    text[0] = '\0';
    if (body->failed || length > body->length - body->at || length > YK_TEXT_MAX) {
        body->failed = true;
        return;
    }

    /* Skip the rest of a text that is too long for the buffer. */
    size_t kept = length < capacity ? length : capacity - 1;
    memcpy(text, body->bytes + body->at, kept);
    text[kept] = '\0';
    body->at += length;
}

bool yk_body_is_done(const yk_body *body)
{
    return !body->failed && body->at == body->length;
}

void yk_put_input(yk_body *body, const yk_input *input, bool connected)
{
    /* A port without a partner sends the zeros that the contract specifies. */
    static const yk_input none = {.base_orientation = {1, 0, 0, 0}};
    const yk_input *from = connected ? input : &none;

    yk_put_whole(body, (uint32_t)from->degree);
    for (int i = 0; i <= from->degree; i++) {
        yk_put_numbers(body, &from->linear[i].x, 3);
        yk_put_numbers(body, &from->angular[i].x, 3);
    }

    yk_put_numbers(body, &from->base_orientation.w, 4);
}

void yk_get_input(yk_body *body, yk_input *input)
{
    *input = (yk_input){0};

    /* Reject a larger degree, which would be read past the end of the coefficients. */
    uint32_t degree = yk_get_whole(body);
    if (degree > YK_INPUT_DEGREE_MAX) {
        body->failed = true;
        return;
    }

    input->degree = (int)degree;
    for (uint32_t i = 0; i <= degree; i++) {
        yk_get_numbers(body, &input->linear[i].x, 3);
        yk_get_numbers(body, &input->angular[i].x, 3);
    }

    yk_get_numbers(body, &input->base_orientation.w, 4);
}

size_t yk_wrench_rows(const yk_port *ports, const yk_causality *causalities, int count,
                      size_t marker, size_t scalar)
{
    size_t rows = 0;
    for (int i = 0; i < count; i++) {
        if (causalities[i] != YK_CAUSALITY_WRENCH_INPUT)
            continue;
        if (ports[i].kind == YK_PORT_MARKER)
            rows += marker;
        else
            rows += scalar;
    }

    return rows;
}

/* Frames --------------------------------------------------------------------------------------- */

const char *yk_frame_name(unsigned kind)
{
#define MEETING_NAME(number, id, name) [YK_FRAME_##id] = #name,
#define QUESTION_NAME(number, id, name, when) [YK_FRAME_##id] = #name,
    static const char *const names[YK_FRAME_KIND_END] = {YK_MEETING_FRAMES(MEETING_NAME)
                                                             YK_QUESTION_FRAMES(QUESTION_NAME)};
    return kind < YK_FRAME_KIND_END ? names[kind] : NULL;
}

yk_status yk_frame_send(yk_transport *transport, yk_frame_kind kind, uint64_t number,
                        const yk_body *body, double deadline)
{
    /* A body that could not grow is incomplete. */
    if (body->failed)
        return YK_ERROR_MEMORY;
    if (body->length > YK_FRAME_BODY_MAX)
        return yk_fail(transport->context, YK_ERROR_EXTERNAL,
                       "a frame of %zu bytes is too long, the most are %d", body->length,
                       YK_FRAME_BODY_MAX);

    /* The layout is described in frame.h. */
    unsigned char header[YK_FRAME_HEADER] = {0};
    uint32_t length = (uint32_t)body->length;
    uint16_t word = (uint16_t)kind;
    memcpy(header, &length, sizeof length);
    memcpy(header + 4, &word, sizeof word);
    memcpy(header + 8, &number, sizeof number);

    return transport->ops->send(transport, header, sizeof header, body->bytes, length, deadline);
}

yk_status yk_frame_receive(yk_transport *transport, uint16_t *kind, uint64_t *number, yk_body *body,
                           double deadline)
{
    body->length = 0;
    body->at = 0;
    body->failed = false;

    unsigned char header[YK_FRAME_HEADER];
    yk_status status = transport->ops->receive(transport, header, sizeof header, deadline);
    if (status != YK_OK)
        return status;

    /* See docs/protocol.md: length, kind, two bytes that are zero, and a number. */
    uint32_t length;
    uint16_t zero;
    memcpy(&length, header, sizeof length);
    memcpy(kind, header + 4, sizeof *kind);
    memcpy(&zero, header + 6, sizeof zero);
    memcpy(number, header + 8, sizeof *number);

    /* Detect a partner with another protocol before its numbers are used as sizes. */
    uint32_t most = body->meeting ? YK_MEETING_BODY_MAX : YK_FRAME_BODY_MAX;
    if (*kind == 0 || *kind >= YK_FRAME_KIND_END || zero != 0 || length > most) {
        body->failed = true;
        return yk_fail(transport->context, YK_ERROR_EXTERNAL,
                       "sent what is no frame of this protocol (kind %u, then %u, %u bytes)", *kind,
                       zero, length);
    }

    /* A long body grows as it arrives, so that a large length alone allocates nothing. */
    enum { PIECE = 1 << 20 };

    while (status == YK_OK && body->length < length) {
        size_t piece = length - body->length;
        if (piece > PIECE)
            piece = PIECE;

        size_t needed = body->length + piece;
        if (needed > body->capacity && !yk_body_reserve(body, 2 * needed))
            return YK_ERROR_MEMORY;

        status = transport->ops->receive(transport, body->bytes + body->length, piece, deadline);
        body->length += piece;
    }

    return status;
}

yk_status yk_partner_failed(yk_context *context, yk_status status, const char *partner,
                            char message[YK_PARTNER_MESSAGE])
{
    /* Copy first, because the message of the context is overwritten below. */
    char why[YK_PARTNER_MESSAGE];
    snprintf(why, sizeof why, "%s", yk_last_message(context));
    snprintf(message, YK_PARTNER_MESSAGE, "%.390s %.600s", partner, why);

    return yk_fail(context, status, "%s", message);
}

/* Secrets -------------------------------------------------------------------------------------- */

yk_status yk_read_secret_file(yk_context *context, const char *path, char secret[YK_SECRET_MAX])
{
    FILE *file = yk_regular_open(context, path, YK_ERROR_INPUT);
    if (!file)
        return YK_ERROR_INPUT;

    bool got = fgets(secret, YK_SECRET_MAX, file);
    fclose(file);

    /* A short secret could be found by brute force. */
    if (got)
        secret[strcspn(secret, "\r\n")] = '\0';
    if (got && strlen(secret) >= YK_SECRET_MIN)
        return YK_OK;

    return yk_fail(context, YK_ERROR_INPUT,
                   "the first line of %s is the secret, and has %d letters at least", path,
                   YK_SECRET_MIN);
}

void yk_proof(const char *secret, const char *who, const unsigned char theirs[YK_NONCE],
              const unsigned char own[YK_NONCE], unsigned char proof[YK_PROOF])
{
    /* It contains both nonces: a recorded proof is useless in another handshake. */
    crypto_auth_hmacsha512_state state;
    crypto_auth_hmacsha512_init(&state, (const unsigned char *)secret, strlen(secret));
    crypto_auth_hmacsha512_update(&state, (const unsigned char *)who, strlen(who));
    crypto_auth_hmacsha512_update(&state, theirs, YK_NONCE);
    crypto_auth_hmacsha512_update(&state, own, YK_NONCE);
    crypto_auth_hmacsha512_final(&state, proof);
}
