/* The only source of randomness: AES-256 in counter mode (aes.h).
 *
 * A stream is the triple (key, stream id, record block). Its bytes are the encryptions of the 128-bit inputs (counter, stream
 * id, record block) in the order of the counter, little-endian words: 32, 32 and 64 bits.
 *
 * The key itself encrypts nothing but the inputs of the reserved stream id, whose outputs are subkeys. A subkey serves the
 * counters of one segment in the record blocks of one span: 2^23 inputs per stream id, and no kernel uses more than 8 ids, so
 * at most 2^26. docs/proofs/README.md says what follows from that. */
#ifndef LDP_STREAM_H
#define LDP_STREAM_H

#include "random/aes.h"

enum { KEY_BYTES = 32, SPAN_BITS = 12, SEGMENT_BITS = 11 };

/* A key and the subkey in use. Each thread has a copy of its own. */
typedef struct {
    aes_schedule master, subkey;
    uint64_t span;      /* of the subkey: record block >> SPAN_BITS */
    uint32_t segment;   /* of the subkey: counter >> SEGMENT_BITS; all ones where there is none yet */
    uint32_t exhausted; /* a stream has reached the end of its counter */
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
    STREAM_LINF_SIGN = 11, /* low bits of the vertex rounding, then privacy coin */
    STREAM_LINF_TIE = 12,  /* ties = "thin": keep coin, then low bits */
    STREAM_L2_DIRECTION = 13,
    STREAM_L2_SIGN = 14, /* rounding coin, then privacy coin */
    STREAM_LAPLACE = 15, /* 15 digits and sign, 16 ties and carries, 17 rounding */
    STREAM_LAPLACE_VECTOR = 18, /* 18, 19, 20 likewise */
    STREAM_MEDIAN = 21,
    STREAM_LAPLACE_ONE_HOT = 22, /* 22, 23, 24 likewise */
    STREAM_LAPLACE_RESIDUE = 25, /* 25, 26, 27 likewise */
    STREAM_DISCRETE_GAUSSIAN = 28,
    STREAM_SELECTION = 29,
    STREAM_LAPLACE_CENTRAL = 30, /* 30, 31, 32 likewise */
    STREAM_CENTRAL_WORDS = 33, /* 33 to 36: words for Python */
    STREAM_PYTHON = 37, /* mechanisms written in Python */
    STREAM_SERIES = 38, /* of 16 people: rounding words, privacy coins, then directions */
    STREAM_GAUSSIAN_DIGITS = 39, /* more digits for undecided proposals of discrete Gaussian noise */
    STREAM_SURVEY_KEYS = 40, /* one key per question of a survey */
    STREAM_SURVEY_ASSIGNMENT = 41, /* who is asked what */
    STREAM_SURVEY_ROUNDING = 42, /* 42 and 43: random rounding of the two parts of an answer */
    STREAM_MEDIAN_OFFSET = 44, /* offsets of records with few different values: words for Python */
    STREAM_HADAMARD_RESPONSE = 45, /* of 256 people: codes, then coins */
    STREAM_PROJECTIVE_RESPONSE = 46,
    STREAM_SUBSET_BITS = 47,
    STREAM_SUBSET_INDICES = 48, /* 48: members that are added or removed, 49: coins and ranks */
    STREAM_SUBSET_COINS = 49,
    STREAM_WINDOW = 50,
    STREAM_CUBE_COORDINATES = 51, /* sampled coordinates */
    STREAM_CUBE_ROUNDING = 52, /* signs of the sampled coordinates */
    STREAM_CUBE_SIGNS = 53, /* coin, then number of disagreements, or signs */
    STREAM_CUBE_MEMBERS = 54, /* coordinates that disagree */
    STREAM_CUBE_OTHERS = 55, /* sampled coordinates in the place of repeated ones */
    STREAM_CODEBOOK_SEEDS = 56, /* public seeds */
    STREAM_CODEBOOK_COINS = 57, /* rounding, private coin and rank */
    STREAM_CODEBOOK_DIRECTION = 58, /* with a public key and the seed as the record block: directions */
    STREAM_SUBKEY = 0x7fffffff /* reserved: subkeys */
};

/* A stream is read forward and once, in units of AES blocks. Past the end of the 32-bit counter nothing is written, and the
 * flag `exhausted` of the key is set. */
typedef struct {
    stream_key *key;
    uint64_t block, next; /* record block, counter */
    uint32_t id;
} stream;

LDP_INLINE stream stream_open(stream_key *key, enum stream_id id, uint64_t block)
{
    return (stream){key, block, 0, (uint32_t)id};
}

/* Number of AES blocks that hold n items of `bytes` bytes. */
LDP_INLINE size_t blocks_for(size_t n, size_t bytes) { return (n * bytes + AES_BLOCK - 1) / AES_BLOCK; }

/* Writes the next `blocks` AES blocks to `out`. */
void stream_draw(stream *s, void *out, size_t blocks);

/* Takes 32 fresh bytes from the operating system. Returns 0, or -1 on failure. */
int key_from_system(uint8_t *bytes);
/* Expands 32 bytes. */
void key_open(stream_key *key, const uint8_t *bytes);
/* Overwrites secrets with zeros, in memory and in the vector registers. */
void key_wipe(void *secret, size_t bytes);

#endif
