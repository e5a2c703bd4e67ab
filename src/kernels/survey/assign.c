#include "survey/assign.h"

enum { PIECE = 1024 };

#define KERNEL_BODY "survey/assign_body.h"
#include "simd/each_isa.h"

void assign_one(stream_key *key, uint64_t block, const uint32_t *threshold, size_t thresholds, size_t n, uint16_t *question)
{
    uint32_t word[PIECE] LDP_ALIGNED;
    stream s = stream_open(key, STREAM_SURVEY_ASSIGNMENT, block);
    for (size_t i = 0; i < n; i += PIECE) {
        const size_t now = n - i < PIECE ? n - i : PIECE;
        stream_draw(&s, word, blocks_for(now, 4));
        LDP_BEST(count_thresholds)(word, threshold, thresholds, now, question + i);
    }
}

void assign_step(stream_key *key, uint64_t block, size_t step, uint32_t of, size_t n, uint16_t *left, uint8_t *picked)
{
    uint32_t word[PIECE] LDP_ALIGNED;
    stream s = stream_open(key, STREAM_SURVEY_ASSIGNMENT, block);
    s.next = step * blocks_for(SURVEY_ROWS, 4);
    for (size_t i = 0; i < n; i += PIECE) {
        const size_t now = n - i < PIECE ? n - i : PIECE;
        stream_draw(&s, word, blocks_for(now, 4));
        LDP_BEST(pick)(word, of, now, left + i, picked + i);
    }
}
