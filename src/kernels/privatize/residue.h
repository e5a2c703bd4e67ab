/* k-ary randomized response to the residue floor((x - offset) / width) mod k. docs/proofs/residue.md. */
#ifndef LDP_RESIDUE_H
#define LDP_RESIDUE_H

#include "privatize/randomized_response.h"

typedef struct {
    randomized_response answer; /* k <= 256: codes of one byte */
    double width, offset;
} residue;

privatize_fn privatize_residue_f32, privatize_residue_f64;

#endif
