/* The questions that people are asked: a public choice that does not depend on their records. */
#ifndef LDP_SURVEY_ASSIGN_H
#define LDP_SURVEY_ASSIGN_H

#include "random/stream.h"

/* Rows of a block of a survey. A block has a number of its own in the streams, whatever the pieces that a table comes in. */
enum { SURVEY_ROWS = 8192 };

/* One question for each of n <= SURVEY_ROWS people: the number of thresholds, of `thresholds` ascending ones, that are at most a
 * random word of 32 bits. */
void assign_one(stream_key *key, uint64_t block, const uint32_t *threshold, size_t thresholds, size_t n, uint16_t *question);

/* One step of the choice of a uniform subset for each of n people. `left` is the number of questions that a person is still to be
 * asked, out of the last `of`, of which this is the first; step numbers count up. picked[i] is 1 if person i is asked it. */
void assign_step(stream_key *key, uint64_t block, size_t step, uint32_t of, size_t n, uint16_t *left, uint8_t *picked);

#endif
