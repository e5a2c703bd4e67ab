#include "tally/views.h"

int view_format_open(view_format *p, uint32_t questions, const uint32_t *answers, uint32_t plain, uint32_t flip)
{
    uint64_t most = 1;
    uint32_t largest[MAX_VIEW] = {0}; /* numbers of answers of the view with the most symbols */
    memset(p, 0, sizeof *p);
    if (questions < 2 || questions > MAX_QUESTIONS || plain < 1 || plain > MAX_VIEW || flip > MAX_VIEW || flip == 1 ||
        plain > questions || flip > questions)
        return 1;
    p->questions = questions;
    p->size[PLAIN_VIEW] = plain;
    p->size[FLIP_VIEW] = flip;
    for (uint32_t i = 0; i < questions; i++) {
        uint32_t count = answers[i];
        if (count < 2 || count > MAX_ANSWERS - p->first[i] || (flip && count != 2))
            return 1;
        p->answers[i] = count;
        p->first[i + 1] = p->first[i] + count;
        for (uint32_t j = 0; j < plain; j++)
            if (count > largest[j]) {
                const uint32_t smaller = largest[j];
                largest[j] = count;
                count = smaller;
            }
    }
    for (uint32_t j = 0; j < plain; j++)
        if ((most *= largest[j]) > (uint64_t)1 << 16)
            return 1;
    p->symbols = (uint32_t)most;
    if (flip && most < (uint64_t)1 << (flip - 1))
        most = (uint64_t)1 << (flip - 1);
    p->symbol_bytes = most <= 256 ? 1 : 2;
    return 0;
}

int read_view(const view_format *p, const uint8_t *report, uint32_t *question)
{
    const size_t mask_bytes = view_mask_bytes(p);
    const int kind = report[mask_bytes];
    uint32_t found = 0;
    if (kind >= VIEW_KINDS || p->size[kind] == 0)
        return -1;
    for (uint32_t byte = 0; byte < mask_bytes; byte++)
        for (uint32_t bits = report[byte]; bits; bits &= bits - 1) {
            const uint32_t place = 8 * byte + (uint32_t)__builtin_ctz(bits);
            if (found == p->size[kind] || place >= p->questions)
                return -1;
            question[found++] = place;
        }
    return found == p->size[kind] ? kind : -1;
}

/* Reads the view and the symbol of a report. Returns the kind of the view, or -1 if the report is not valid. */
static int read_report(const view_format *p, const uint8_t *report, uint32_t *question, uint32_t *symbol)
{
    const int kind = read_view(p, report, question);
    *symbol = read_symbol(p, report);
    return kind >= 0 && *symbol < view_symbols(p, kind, question) ? kind : -1;
}

int add_views(const view_format *p, const uint8_t *reports, size_t n, int64_t *state)
{
    const size_t all = p->first[p->questions], bytes = view_report_bytes(p);
    int64_t *pairs = state + all * all;
    uint32_t question[MAX_VIEW], answer[MAX_VIEW];
    int valid = 1;
    for (size_t r = 0; r < n; r++) {
        uint32_t symbol;
        const int kind = read_report(p, reports + r * bytes, question, &symbol);
        const uint32_t size = kind < 0 ? 0 : p->size[kind];
        valid &= kind >= 0;
        if (kind == FLIP_VIEW) {
            symbol <<= 1; /* bit j: whether the answers to the questions 0 and j of the view differ */
            for (uint32_t i = 0; i < size; i++)
                for (uint32_t j = i + 1; j < size; j++) {
                    pairs[question[i] * p->questions + question[j]]++;
                    pairs[question[j] * p->questions + question[i]] += !((symbol >> i ^ symbol >> j) & 1);
                }
            continue;
        }
        for (uint32_t i = 0; i < size; i++) {
            answer[i] = p->first[question[i]] + symbol % p->answers[question[i]];
            symbol /= p->answers[question[i]];
            for (uint32_t j = 0; j <= i; j++)
                state[answer[j] * all + answer[i]]++;
        }
    }
    return valid;
}

void tally_views(const void *format, const void *reports, size_t n, void *state) { add_views(format, reports, n, state); }

size_t first_invalid_view(const view_format *p, const uint8_t *reports, size_t n)
{
    const size_t bytes = view_report_bytes(p);
    uint32_t question[MAX_VIEW], symbol;
    for (size_t r = 0; r < n; r++)
        if (read_report(p, reports + r * bytes, question, &symbol) < 0)
            return r;
    return n;
}
