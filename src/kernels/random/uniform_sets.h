/* Sizes of random/uniform_sets_body.h. */
#ifndef LDP_UNIFORM_SETS_H
#define LDP_UNIFORM_SETS_H

#include "random/indices.h"

enum { SET_WORDS = 1024, SET_PIECE = 256 }; /* of a block of rows; that are drawn together, an even number */
enum { SET_DIGITS = 6 };                    /* of the density of the first draw */

#endif
