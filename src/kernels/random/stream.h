/* The only source of randomness: ChaCha20 (RFC 8439) in counter mode.
 *
 * Words 4-11 of the state are the key, word 12 is the block counter, word 13 the stream id, words 14-15 are the record block
 * (low word first). A stream is the triple (key, stream id, record block). It is produced in groups of 16 ChaCha blocks,
 * interleaved word by word on every instruction set: word w of the block with counter 16 g + l is at word 256 g + 16 w + l.
 * So a group of 1024 bytes needs no transposition, and the bits do not depend on the width of the vectors. */
#ifndef LDP_STREAM_H
#define LDP_STREAM_H

#include "simd/platform.h"

enum { GROUP_BYTES = 1024, GROUP_WORDS = 256 };

typedef struct {
    uint32_t word[8];
} stream_key;

/* Domain separation: one constant for each kernel and use, so that two mechanisms share no coin under one key. Never reuse or
 * renumber a constant. Gradients, which are privatized by the kernel of a ball, use the record blocks from 2^63 on. */
enum stream_id {
    STREAM_RAW = 0,
    STREAM_WARNER = 1,
    STREAM_RANDOMIZED_RESPONSE = 2,
    STREAM_RESIDUE = 3,
    STREAM_BINS = 4,
    STREAM_SIGN_BIT = 5,
    STREAM_UNARY_BITS = 6,
    STREAM_UNARY_OWN = 7, /* the fair coin of the optimized variant */
    STREAM_LINF_DIRECTION = 8,
    STREAM_LINF_VERTEX = 9,
    STREAM_LINF_PATCH = 10, /* fine coins of the vertex rounding */
    STREAM_LINF_SIGN = 11,
    STREAM_LINF_TIE = 12, /* keep coins of ties = "thin" */
    STREAM_L2_DIRECTION = 13,
    STREAM_L2_SIGN = 14, /* rounding coin, then privacy coin */
    STREAM_LAPLACE = 15, /* 15 digits and sign, 16 carries, 17 rounding */
    STREAM_LAPLACE_VECTOR = 18, /* 18, 19, 20 likewise */
    STREAM_MEDIAN = 21,
    STREAM_LAPLACE_ONE_HOT = 22, /* 22, 23, 24 likewise */
    STREAM_LAPLACE_RESIDUE = 25, /* 25, 26, 27 likewise */
    STREAM_DISCRETE_GAUSSIAN = 28,
    STREAM_SELECTION = 29,
    STREAM_LAPLACE_CENTRAL = 30, /* 30, 31, 32 likewise */
    STREAM_CENTRAL_WORDS = 33, /* 33 to 36: words for Python */
    STREAM_PYTHON = 37 /* mechanisms written in Python */
};

/* A stream is read forward and once. Past the end of the 32-bit counter it is exhausted: nothing is written, and the flag stays
 * set. Kernels return the flag. */
typedef struct {
    const stream_key *key;
    uint64_t block;
    uint32_t id;
    uint32_t exhausted;
    uint64_t next; /* group */
} stream;

LDP_INLINE stream stream_open(const stream_key *key, enum stream_id id, uint64_t block)
{
    return (stream){key, block, (uint32_t)id, 0, 0};
}

/* Writes the next `groups` groups to `out`, faster if it is 64-byte aligned. */
void stream_groups(stream *s, void *out, size_t groups);

/* Number of groups that hold n items of `bytes` bytes. */
LDP_INLINE size_t groups_for(size_t n, size_t bytes) { return (n * bytes + GROUP_BYTES - 1) / GROUP_BYTES; }

/* Takes a fresh key from the operating system. Returns 0, or -1 on failure. */
int key_from_system(stream_key *key);
void key_wipe(stream_key *key);

#endif
