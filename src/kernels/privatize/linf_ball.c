#include "privatize/linf_ball.h"

#include "random/coins.h"
#include "simd/branchless.h"

LDP_INLINE uint64_t word_mask(size_t bits) { return bits >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << bits) - 1; }
LDP_INLINE size_t word_bytes(size_t bits) { return bits >= 64 ? 8 : (bits + 7) / 8; }

/* Streams of one block. `sign` has the private coins, one 64-bit word per row. */
typedef struct {
    stream direction, vertex;
    reader patch, sign, tie;
} linf_ball_streams;

/* Draws packed directions, `bytes` bytes in total. */
static void draw_directions(stream *s, uint8_t *out, size_t bytes)
{
    uint8_t piece[4096] LDP_ALIGNED;
    for (size_t done = 0; done < bytes; done += sizeof piece) {
        size_t size = bytes - done < sizeof piece ? bytes - done : sizeof piece;
        stream_draw(s, piece, blocks_for(size, 1));
        memcpy(out + done, piece, size);
    }
}

/* Flips the row if most of its signs disagree with the vertex (a tie keeps U), then again if the private coin is tails. The
 * padding becomes zeros. */
static void finish_row(const linf_ball *p, size_t agree, reader *sign, uint8_t *row)
{
    const uint64_t minus = -(uint64_t)(2 * agree < p->dim), tails = -(uint64_t)(reader_word(sign) >= p->heads);
    for (size_t j = 0; j < p->dim; j += 64) {
        uint64_t u = 0;
        memcpy(&u, row + j / 8, word_bytes(p->dim - j));
        u = (u ^ minus ^ tails) & word_mask(p->dim - j);
        memcpy(row + j / 8, &u, word_bytes(p->dim - j));
    }
}

#define KERNEL_REALS
#define KERNEL_BODY "privatize/linf_ball_body.h"
#include "simd/each_isa.h"

DEFINE_PRIVATIZE(linf_ball_f32)
DEFINE_PRIVATIZE(linf_ball_f64)
