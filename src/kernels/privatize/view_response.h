/* View response: the answers to a random view of many questions, by k-ary response. docs/proofs/view_response.md.
 *
 * Privacy: the view is drawn without the record. The true symbol of its answers is kept with the probability of the private
 * coin, else replaced by a uniform one; both are computed, and the coin selects one. No branch and no address depends on the record or the
 * coin, but for the rejection of words. */
#ifndef LDP_VIEW_RESPONSE_H
#define LDP_VIEW_RESPONSE_H

#include "random/digits.h"
#include "tally/views.h"

enum { MAX_ANSWER_NUMBERS = 64, VIEW_ROWS = 1024 }; /* different numbers of answers; people per block */

typedef struct {
    view_format format;
    uint32_t plain;  /* of 256: probability of a plain view */
    uint32_t flips;  /* whether there are flip views, so that the kind is drawn */
    uint32_t places; /* questions that are drawn one by one, of which a view has the first ones */
    uint32_t number[MAX_QUESTIONS]; /* of each question: the place of its number of answers among the different ones */
    /* Of 2^64 words: the true symbol. For plain views of two questions by the places of their numbers of answers; for all others the entry [0][0]. */
    uint64_t direct[MAX_ANSWER_NUMBERS][MAX_ANSWER_NUMBERS];
    uint64_t direct_flip;
    digit_plan drawn; /* kind, then places */
} view_response;

/* Fills `places` and the plan of digits from the other parameters. */
void view_response_plan(view_response *p);

/* Records: one answer per question. The report of an answer that is too large is that of the last one. Reports: tally/views.h. */
privatize_fn privatize_view_response_u16;

/* The three steps of it: write the view of each report, write the true symbol, and put a random symbol in its place. */
typedef void view_fn(const view_response *p, stream_key *key, uint64_t block, size_t n, uint8_t *reports);
view_fn draw_views, respond_views;
int encode_views(const view_response *p, const uint16_t *records, size_t n, uint8_t *reports);

#endif
