/* ChaCha20 (RFC 8439) in counter mode: the only source of randomness.
 *
 * State: words 4-11 key, word 12 block counter, word 13 purpose, words 14-15 record block (low word first).
 * A stream is the tuple (key, purpose, record block). It is produced in groups of 16 ChaCha blocks, interleaved word by
 * word on every instruction set: word w of the block with counter 16 g + l is at word 256 g + 16 w + l. So the group of
 * 1024 bytes needs no transposition, and the bits do not depend on the width of the vectors that made them. */
#ifndef LDP_CHACHA_H
#define LDP_CHACHA_H

#include "platform.h"

enum { GROUP_BYTES = 1024, GROUP_WORDS = 256 };

typedef struct {
    uint32_t word[8];
} stream_key;

/* One constant per kernel and use: mechanisms of two classes share no coin under one key. Never reuse or renumber. Gradients,
 * which the kernel of a ball privatizes, have the record blocks from 2^63 on. */
enum purpose {
    PURPOSE_RAW = 0,
    PURPOSE_WARNER = 1,
    PURPOSE_RANDOMIZED_RESPONSE = 2,
    PURPOSE_RESIDUE = 3,
    PURPOSE_BINS = 4,
    PURPOSE_SIGN_BIT = 5,
    PURPOSE_UNARY_BITS = 6,
    PURPOSE_UNARY_OWN = 7, /* the fair coin of the optimized variant */
    PURPOSE_LINF_DIRECTION = 8,
    PURPOSE_LINF_VERTEX = 9,
    PURPOSE_LINF_PATCH = 10, /* fine coins of the vertex rounding */
    PURPOSE_LINF_SIGN = 11,
    PURPOSE_LINF_TIE = 12, /* keep coins of ties = "thin" */
    PURPOSE_L2_DIRECTION = 13,
    PURPOSE_L2_SIGN = 14, /* rounding coin, then privacy coin */
    PURPOSE_LAPLACE = 15, /* 15 digits and sign, 16 carries, 17 rounding */
    PURPOSE_LAPLACE_VECTOR = 18, /* 18, 19, 20 likewise */
    PURPOSE_MEDIAN = 21,
    PURPOSE_LAPLACE_ONE_HOT = 22, /* 22, 23, 24 likewise */
    PURPOSE_LAPLACE_RESIDUE = 25, /* 25, 26, 27 likewise */
    PURPOSE_DISCRETE_GAUSSIAN = 28,
    PURPOSE_SELECTION = 29,
    PURPOSE_LAPLACE_CENTRAL = 30, /* 30, 31, 32 likewise */
    PURPOSE_CENTRAL_WORDS = 33 /* 33 to 36: words for Python */
};

/* A stream is read forwards and once. Past the end of the 32-bit counter it is exhausted: nothing is written any more
 * and the flag stays up; kernels return it. */
typedef struct {
    const stream_key *key;
    uint64_t block;
    uint32_t purpose;
    uint32_t exhausted;
    uint64_t next; /* group */
} stream;

LDP_INLINE stream stream_open(const stream_key *key, enum purpose purpose, uint64_t block)
{
    return (stream){key, block, (uint32_t)purpose, 0, 0};
}

/* Writes the next `groups` groups to out (faster where that is 64-byte aligned). */
void stream_groups(stream *s, void *out, size_t groups);

/* Groups that hold n items of `bytes` bytes. */
LDP_INLINE size_t groups_for(size_t n, size_t bytes) { return (n * bytes + GROUP_BYTES - 1) / GROUP_BYTES; }

/* A fresh key from the operating system: 0, or -1 where it has none to give. */
int key_from_system(stream_key *key);
void key_wipe(stream_key *key);

#endif
