/* k-ary randomized response to the residue floor((x - offset) / width) mod k. docs/proofs/residue.md. */
#ifndef LDP_RESIDUE_H
#define LDP_RESIDUE_H

#include "privatize/randomized_response.h"

typedef struct {
    randomized_response answer; /* k <= 256: codes of one byte */
    double per_width, offset; /* per_width: 1 / width */
    double per_modulus;       /* 1 / k */
    int power_of_two;         /* whether k is one */
} residue;

privatize_fn privatize_residue_f32, privatize_residue_f64;

#endif
