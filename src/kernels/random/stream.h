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

typedef struct {
    aes_schedule schedule;
    uint64_t span;    /* record block >> SPAN_BITS */
    uint32_t segment; /* counter >> SEGMENT_BITS; all ones where there is no subkey yet */
} stream_subkey;

/* A key and the subkeys in use: of the first segment, and of another one, for long and short streams take turns. Each thread has
 * a copy of its own. */
typedef struct {
    aes_schedule master;
    stream_subkey subkey[2];
    uint32_t exhausted; /* a stream has reached the end of its counter */
} stream_key;

/* Domain separation: one constant for each kernel and use, so that two mechanisms share no coin under one key. Never reuse or
 * renumber a constant. Gradients, which are privatized by the kernel of a ball, use the record blocks from 2^63 on. This is the
 * only list: ldpfast._core.stream.StreamId is made from it. */
#define STREAM_IDS(ID)                                                                                     \
    ID(STREAM_RAW, 0)                                                                                      \
    ID(STREAM_WARNER, 1)                                                                                   \
    ID(STREAM_RANDOMIZED_RESPONSE, 2)                                                                      \
    ID(STREAM_RESIDUE, 3)                                                                                  \
    ID(STREAM_BINS, 4)                                                                                     \
    ID(STREAM_SIGN_BIT, 5)                                                                                 \
    ID(STREAM_UNARY_BITS, 6)                                                                               \
    ID(STREAM_UNARY_OWN, 7) /* the fair coin of the optimized method */                                    \
    ID(STREAM_LINF_DIRECTION, 8)                                                                           \
    ID(STREAM_LINF_VERTEX, 9)                                                                              \
    ID(STREAM_LINF_SIGN, 11) /* low bits of the vertex rounding, then privacy coin */                      \
    ID(STREAM_LINF_TIE, 12) /* ties = "thin": keep coin, then low bits */                                  \
    ID(STREAM_L2_DIRECTION, 13)                                                                            \
    ID(STREAM_L2_SIGN, 14) /* rounding coin, then privacy coin */                                          \
    ID(STREAM_LAPLACE, 15) /* digits and sign; the kernel adds 1 for ties and carries, 2 for rounding */   \
    ID(STREAM_LAPLACE_TIES, 16)                                                                            \
    ID(STREAM_LAPLACE_ROUNDING, 17)                                                                        \
    ID(STREAM_LAPLACE_VECTOR, 18)                                                                          \
    ID(STREAM_LAPLACE_VECTOR_TIES, 19)                                                                     \
    ID(STREAM_LAPLACE_VECTOR_ROUNDING, 20)                                                                 \
    ID(STREAM_MEDIAN, 21)                                                                                  \
    ID(STREAM_LAPLACE_ONE_HOT, 22)                                                                         \
    ID(STREAM_LAPLACE_ONE_HOT_TIES, 23)                                                                    \
    ID(STREAM_LAPLACE_ONE_HOT_ROUNDING, 24)                                                                \
    ID(STREAM_LAPLACE_RESIDUE, 25)                                                                         \
    ID(STREAM_LAPLACE_RESIDUE_TIES, 26)                                                                    \
    ID(STREAM_LAPLACE_RESIDUE_ROUNDING, 27)                                                                \
    ID(STREAM_DISCRETE_GAUSSIAN, 28)                                                                       \
    ID(STREAM_SELECTION, 29)                                                                               \
    ID(STREAM_LAPLACE_CENTRAL, 30)                                                                         \
    ID(STREAM_LAPLACE_CENTRAL_TIES, 31)                                                                    \
    ID(STREAM_LAPLACE_CENTRAL_ROUNDING, 32)                                                                \
    ID(STREAM_SMOOTH_SENSITIVITY, 33) /* 33 to 36: words for Python */                                     \
    ID(STREAM_M_ESTIMATE, 34)                                                                              \
    ID(STREAM_CENTRAL_ROUNDING, 35)                                                                        \
    ID(STREAM_CENTRAL_BALL, 36)                                                                            \
    ID(STREAM_PYTHON, 37) /* mechanisms written in Python */                                               \
    ID(STREAM_SERIES, 38) /* of 16 people: rounding words, privacy coins, then directions */               \
    ID(STREAM_GAUSSIAN_DIGITS, 39) /* more digits for undecided proposals of discrete Gaussian noise */    \
    ID(STREAM_SURVEY_KEYS, 40) /* one key per question of a survey */                                      \
    ID(STREAM_SURVEY_ASSIGNMENT, 41) /* who is asked what */                                               \
    ID(STREAM_SURVEY_ROUNDING, 42) /* random rounding of an answer */                                      \
    ID(STREAM_SURVEY_ROUNDING_SECOND, 43) /* of the second part of a question */                           \
    ID(STREAM_MEDIAN_OFFSET, 44) /* offsets of records with few different values: words for Python */      \
    ID(STREAM_HADAMARD_RESPONSE, 45) /* of 256 people: codes, then coins */                                \
    ID(STREAM_PROJECTIVE_RESPONSE, 46)                                                                     \
    ID(STREAM_SUBSET_BITS, 47)                                                                             \
    ID(STREAM_SUBSET_INDICES, 48) /* members that are added or removed */                                  \
    ID(STREAM_SUBSET_COINS, 49) /* coins and ranks */                                                      \
    ID(STREAM_WINDOW, 50)                                                                                  \
    ID(STREAM_CUBE_COORDINATES, 51) /* sampled coordinates */                                              \
    ID(STREAM_CUBE_ROUNDING, 52) /* signs of the sampled coordinates */                                    \
    ID(STREAM_CUBE_SIGNS, 53) /* coin, then number of disagreements, or signs */                           \
    ID(STREAM_CUBE_MEMBERS, 54) /* coordinates that disagree */                                            \
    ID(STREAM_CUBE_OTHERS, 55) /* sampled coordinates in the place of repeated ones */                     \
    ID(STREAM_CODEBOOK_SEEDS, 56) /* public seeds */                                                       \
    ID(STREAM_CODEBOOK_COINS, 57) /* rounding, private coin and rank */                                    \
    ID(STREAM_CODEBOOK_DIRECTION, 58) /* with a public key and the seed as the record block: directions */ \
    ID(STREAM_FRAME_SEEDS, 59) /* public seeds of frames */                                                \
    ID(STREAM_FRAME_COINS, 60) /* of 64 people: rounding, private coin and pattern of signs */             \
    ID(STREAM_SURVEY_ROUNDING_MORE, 61) /* of the third part of a question and those after it */           \
    ID(STREAM_SKETCH_PARTS, 62) /* part and hash function that a person reports */                         \
    ID(STREAM_SET_BITS, 63)                                                                                \
    ID(STREAM_SET_INDICES, 64) /* members of the set of other positions, and which of them leave */        \
    ID(STREAM_SET_COINS, 65) /* private coin, number of the person's positions, and which */               \
    ID(STREAM_SET_CUBE_COORDINATES, 66)                                                                    \
    ID(STREAM_SET_CUBE_SIGNS, 67)                                                                          \
    ID(STREAM_SET_CUBE_MEMBERS, 68)                                                                        \
    ID(STREAM_SET_CUBE_OTHERS, 69)                                                                         \
    ID(STREAM_WHOLE_SETS, 70)                                                                              \
    ID(STREAM_VIEWS, 71) /* which of many questions a report is about */                                   \
    ID(STREAM_VIEW_COINS, 72) /* private coin and uniform symbol */                                        \
    ID(STREAM_TREE, 73) /* private coin, level and code */                                                 \
    ID(STREAM_DISTRIBUTION, 74)                                                                            \
    ID(STREAM_ROTATION, 75) /* with a public key and the seed as the record block: signs of a rotation */  \
    ID(STREAM_ROTATED_ROWS, 76) /* with a public key and the seed as the record block: rows of a report */ \
    ID(STREAM_ROTATED_SEEDS, 77) /* public seeds of rows */                                                \
    ID(STREAM_ROTATED_COINS, 78) /* rounding, private coin and pattern of signs */                         \
    ID(STREAM_SUBKEY, 0x7fffffff) /* reserved: subkeys */

#define STREAM_ID_CONSTANT(name, number) name = number,
enum stream_id { STREAM_IDS(STREAM_ID_CONSTANT) };

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
