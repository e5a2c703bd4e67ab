/* Public random directions: rows of normal numbers, from a seed that everybody may know. They are made by the generator of stream.h
 * with a public key, where the seed is the number of the record block. */
#ifndef LDP_DIRECTIONS_H
#define LDP_DIRECTIONS_H

#include "random/normals.h"

enum { MOST_DIRECTION = 16384 }; /* numbers of a row */

/* The rows of one seed. */
typedef struct {
    stream rows;
    size_t dim, blocks; /* AES blocks per row */
} direction_rows;

/* Opens the public key. */
void directions_open(stream_key *key);

LDP_INLINE direction_rows directions_of(stream_key *key, uint64_t seed, size_t dim)
{
    const size_t blocks = blocks_for(normals_room(dim), 3); /* three bytes per number */
    return (direction_rows){stream_open(key, STREAM_CODEBOOK_DIRECTION, seed), dim, blocks};
}

/* Writes row j; `out` has room for normals_room(dim). */
LDP_INLINE void direction_row(direction_rows *d, size_t j, float *out)
{
    d->rows.next = j * d->blocks;
    normals_f32(&d->rows, out, d->dim);
}

#endif
