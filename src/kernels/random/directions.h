/* Public random directions: rows of normal numbers, from a seed that everybody may know. They are made by the generator of stream.h
 * with a public key, where the seed is the number of the record block. */
#ifndef LDP_DIRECTIONS_H
#define LDP_DIRECTIONS_H

#include "random/normals.h"

enum { MAX_DIRECTION = 16384 }; /* numbers of a row */

/* The rows of one seed. Short rows are drawn in groups, so that few numbers of a chunk are not used. */
typedef struct {
    stream source;
    size_t dim, together, blocks; /* rows per group, AES blocks per group */
    size_t group; /* that is in the buffer */
} direction_rows;

/* Opens the public key. */
void directions_open(stream_key *key);

/* `most` is at least the number of rows. */
LDP_INLINE direction_rows directions_of(stream_key *key, uint64_t seed, size_t dim, size_t most)
{
    const size_t fit = dim < NORMALS_CHUNK ? NORMALS_CHUNK / dim : 1, together = fit < most ? fit : most;
    const size_t blocks = blocks_for(normals_room(together * dim), 3); /* three bytes per number */
    return (direction_rows){stream_open(key, STREAM_CODEBOOK_DIRECTION, seed), dim, together, blocks, (size_t)-1};
}

/* Row j, in the buffer, which has room for MAX_DIRECTION numbers and is the same for all rows of a seed. */
LDP_INLINE const float *direction_row(direction_rows *d, size_t j, float *buffer)
{
    const size_t group = j / d->together;
    if (group != d->group) {
        d->source.next = group * d->blocks;
        normals_f32(&d->source, buffer, d->together * d->dim);
        d->group = group;
    }
    return buffer + j % d->together * d->dim;
}

/* n <= MAX_DIRECTION numbers of row j from number `first` on, a multiple of NORMALS_CHUNK, in the buffer. For long rows. */
LDP_INLINE const float *direction_part(direction_rows *d, size_t j, size_t first, size_t n, float *buffer)
{
    d->source.next = j * d->blocks + blocks_for(first, 3);
    normals_f32(&d->source, buffer, n);
    return buffer;
}

#endif
