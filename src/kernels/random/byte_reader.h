/* Reads a stream in pieces of any number of bytes. The stream is drawn in larger parts, just before it is used. */
#ifndef LDP_BYTE_READER_H
#define LDP_BYTE_READER_H

#include "random/stream.h"

enum { READER_BYTES = 1024 };

typedef struct {
    stream source;
    size_t used, end, ahead; /* `ahead`: AES blocks of a refill */
    uint8_t byte[2 * READER_BYTES + 64] LDP_ALIGNED;
} byte_reader;

/* `total` is the number of bytes that will be read. */
LDP_INLINE void bytes_open(byte_reader *r, stream_key *key, enum stream_id id, uint64_t block, size_t total)
{
    r->source = stream_open(key, id, block);
    r->used = r->end = 0;
    r->ahead = blocks_for(total < READER_BYTES ? total : READER_BYTES, 1);
    memset(r->byte + AES_BLOCK * r->ahead, 0, 64);
}

/* The next n <= READER_BYTES bytes, which begin at a multiple of 16 if all pieces do. 64 bytes can be read. */
LDP_INLINE const uint8_t *bytes_take(byte_reader *r, size_t n)
{
    if (r->end - r->used < n) {
        const size_t left = r->end - r->used;
        memmove(r->byte, r->byte + r->used, left);
        stream_draw(&r->source, r->byte + left, r->ahead);
        r->used = 0;
        r->end = left + AES_BLOCK * r->ahead;
    }
    r->used += n;
    return r->byte + r->used - n;
}

#endif
