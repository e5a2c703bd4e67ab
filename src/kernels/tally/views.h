/* Reports about views: some of many questions, and one symbol for the answers to all of them.
 *
 * A report is the mask of the questions (ceil(questions / 8) bytes, little bit order), a byte with its kind, and the symbol in
 * one or two bytes, little-endian.
 *
 * plain: `size[PLAIN]` questions. The symbol is the number of their answers; the answer to the first question is the lowest digit.
 * flip: `size[FLIP]` questions with two answers. Bit j of the symbol tells whether the answers to the first question and to the
 * question with place j + 1 in the view differ. */
#ifndef LDP_TALLY_VIEWS_H
#define LDP_TALLY_VIEWS_H

#include "privatize/kernel.h"

enum { PLAIN_VIEW, FLIP_VIEW, VIEW_KINDS };
enum { MAX_VIEW = 16, MAX_QUESTIONS = 256, MAX_ANSWERS = 1024 }; /* of a view; of all; answers to all questions together */

typedef struct {
    uint32_t questions, symbol_bytes;
    uint32_t symbols;                  /* of a plain view, the most */
    uint32_t size[VIEW_KINDS];         /* questions of a view; 0: there is no such view */
    uint32_t answers[MAX_QUESTIONS];   /* to each question */
    uint32_t first[MAX_QUESTIONS + 1]; /* number of the first answer to each question, among those of all */
} view_format;

LDP_INLINE size_t view_mask_bytes(const view_format *p) { return (p->questions + 7) / 8; }
LDP_INLINE size_t view_report_bytes(const view_format *p) { return view_mask_bytes(p) + 1 + p->symbol_bytes; }

/* The number of symbols of a view. */
LDP_INLINE uint32_t view_symbols(const view_format *p, int kind, const uint32_t *question)
{
    uint32_t symbols = 1;
    if (kind == FLIP_VIEW)
        return (uint32_t)1 << (p->size[FLIP_VIEW] - 1);
    for (uint32_t i = 0; i < p->size[PLAIN_VIEW]; i++)
        symbols *= p->answers[question[i]];
    return symbols;
}

LDP_INLINE uint32_t read_symbol(const view_format *p, const uint8_t *report)
{
    const uint8_t *at = report + view_mask_bytes(p) + 1;
    return p->symbol_bytes == 1 ? at[0] : at[0] | (uint32_t)at[1] << 8;
}

LDP_INLINE void write_symbol(const view_format *p, uint32_t symbol, uint8_t *report)
{
    for (uint32_t b = 0; b < p->symbol_bytes; b++)
        report[view_mask_bytes(p) + 1 + b] = (uint8_t)(symbol >> 8 * b);
}

/* Fills a format from the numbers of answers and the sizes of both kinds of views. Returns nonzero if they do not fit. */
int view_format_open(view_format *p, uint32_t questions, const uint32_t *answers, uint32_t plain, uint32_t flip);

/* Reads the view of a report. Returns its kind, or -1 if it is none. */
int read_view(const view_format *p, const uint8_t *report, uint32_t *question);

/* State, int64: `cells` for plain views and `pairs` for flip views, one after the other.
 * cells[a][b], a <= b answers of all questions: reports with both; on the diagonal with the answer.
 * pairs[i][j], i < j: reports about both questions; pairs[j][i]: those in which their answers agree.
 * Adds n reports. Returns whether all are valid; those that are not are left out. */
int add_views(const view_format *p, const uint8_t *reports, size_t n, int64_t *state);
tally_fn tally_views;

/* Index of the first report that is not valid, or n. */
size_t first_invalid_view(const view_format *p, const uint8_t *reports, size_t n);

#endif
