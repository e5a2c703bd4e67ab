#include "privatize/linf_ball.h"

#include "privatize/packed_bits.h"
#include "random/byte_reader.h"
#include "random/coins.h"
#include "simd/branchless.h"

/* Streams of one block. `sign` holds two words per row: the low bits of the vertex rounding, then the private coin. */
typedef struct {
    stream direction;
    byte_reader vertex;
    reader sign, tie;
} linf_ball_streams;

/* Draws packed directions, `bytes` bytes in total. */
static void draw_directions(stream *s, uint8_t *out, size_t bytes)
{
    uint8_t last[AES_BLOCK];
    const size_t whole = bytes / AES_BLOCK, rest = bytes % AES_BLOCK;
    stream_draw(s, out, whole);
    if (rest) {
        stream_draw(s, last, 1);
        memcpy(out + AES_BLOCK * whole, last, rest);
    }
}

/* Flips the row if most of its signs disagree with the vertex (a tie keeps U), then again if the private coin is tails. */
LDP_INLINE void finish_row(const linf_ball *p, size_t agree, uint64_t coin, uint8_t *row)
{
    flip_bits(row, p->dim, -(uint64_t)(2 * agree < p->dim) ^ -(uint64_t)(coin >= p->heads));
}

#define KERNEL_REALS
#define KERNEL_BODY "privatize/linf_ball_body.h"
#include "simd/each_isa.h"

DEFINE_PRIVATIZE(linf_ball_f32)
DEFINE_PRIVATIZE(linf_ball_f64)
