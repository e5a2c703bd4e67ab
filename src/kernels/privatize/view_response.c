#include "privatize/view_response.h"

#include "random/uniform.h"

void view_response_plan(view_response *p)
{
    const uint32_t *size = p->format.size;
    p->places = size[FLIP_VIEW] > size[PLAIN_VIEW] ? size[FLIP_VIEW] : size[PLAIN_VIEW];
    plan_digit(&p->drawn, p->flips ? 256 : 1);
    for (uint32_t i = 0; i < p->places; i++)
        plan_digit(&p->drawn, p->format.questions - i);
}

void draw_views(const view_response *p, stream_key *key, uint64_t block, size_t n, uint8_t *reports)
{
    const size_t mask_bytes = view_mask_bytes(&p->format), bytes = view_report_bytes(&p->format);
    uint32_t digit[MAX_VIEW + 1], question[MAX_VIEW];
    reader source;
    reader_open(&source, key, STREAM_VIEWS, block, p->drawn.batches * n);
    for (size_t r = 0; r < n; r++) {
        uint8_t *report = reports + r * bytes;
        draw_digits(&p->drawn, &source, digit);
        const int kind = digit[0] < p->plain ? PLAIN_VIEW : FLIP_VIEW;
        memset(report, 0, bytes);
        report[mask_bytes] = (uint8_t)kind;
        for (uint32_t i = 0; i < p->format.size[kind]; i++) {
            uint32_t place = digit[1 + i], at = i; /* of the questions that are left */
            for (uint32_t j = 0; j < i; j++)
                place += place >= question[j];
            for (; at > 0 && question[at - 1] > place; at--)
                question[at] = question[at - 1];
            question[at] = place;
            report[place / 8] |= (uint8_t)(1 << place % 8);
        }
    }
}

/* Number of the answers of a record to the questions of a view. Answers that are too large become the last ones. */
LDP_INLINE uint32_t view_symbol(const view_format *p, int kind, const uint32_t *question, const uint16_t *record)
{
    uint32_t symbol = 0, base = 1, first = 0;
    for (uint32_t i = 0; i < p->size[kind]; i++) {
        const uint32_t given = record[question[i]], last = p->answers[question[i]] - 1;
        const uint32_t answer = given < last ? given : last;
        if (kind == FLIP_VIEW && i == 0) {
            first = answer;
            continue;
        }
        symbol += (kind == FLIP_VIEW ? answer ^ first : answer) * base;
        base *= last + 1;
    }
    return symbol;
}

int encode_views(const view_response *p, const uint16_t *records, size_t n, uint8_t *reports)
{
    const view_format *format = &p->format;
    const size_t bytes = view_report_bytes(format);
    uint32_t question[MAX_VIEW] = {0}, invalid = 0;
    for (size_t r = 0; r < n; r++) {
        const uint16_t *record = records + r * format->questions;
        uint8_t *report = reports + r * bytes;
        const int kind = read_view(format, report, question);
        if (kind >= 0)
            write_symbol(format, view_symbol(format, kind, question, record), report);
        for (uint32_t i = 0; i < format->questions; i++)
            invalid |= -(uint32_t)(record[i] >= format->answers[i]);
    }
    return invalid != 0;
}

void respond_views(const view_response *p, stream_key *key, uint64_t block, size_t n, uint8_t *reports)
{
    const view_format *format = &p->format;
    const size_t bytes = view_report_bytes(format);
    uint32_t question[MAX_VIEW] = {0};
    reader coins;
    reader_open(&coins, key, STREAM_VIEW_COINS, block, 2 * n);
    for (size_t r = 0; r < n; r++) {
        uint8_t *report = reports + r * bytes;
        const int kind = read_view(format, report, question);
        if (kind < 0)
            continue; /* no report of this mechanism */
        const int paired = kind == PLAIN_VIEW && format->size[PLAIN_VIEW] == 2;
        const uint64_t direct = kind == FLIP_VIEW ? p->direct_flip
                                : paired          ? p->direct[p->number[question[0]]][p->number[question[1]]]
                                                  : p->direct[0][0];
        const uint32_t replaced = -(uint32_t)(reader_word(&coins) >= direct);
        const uint32_t other = (uint32_t)word_below(&coins, view_symbols(format, kind, question));
        write_symbol(format, (read_symbol(format, report) & ~replaced) | (other & replaced), report);
    }
}

int privatize_view_response_u16(const void *params, stream_key *key, uint64_t block, const void *x, size_t n, void *out)
{
    draw_views(params, key, block, n, out);
    const int invalid = encode_views(params, x, n, out);
    respond_views(params, key, block, n, out);
    return invalid;
}
