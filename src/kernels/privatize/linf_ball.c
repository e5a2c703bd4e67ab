#include "privatize/linf_ball.h"

#include "random/coins.h"
#include "simd/branchless.h"

LDP_INLINE uint64_t word_mask(size_t bits) { return bits >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << bits) - 1; }
LDP_INLINE size_t word_bytes(size_t bits) { return bits >= 64 ? 8 : (bits + 7) / 8; }

/* The next 1 to 8 bytes as a word, by loads that may overlap; a call of memcpy would take longer than the row. */
LDP_INLINE uint64_t load_bytes(const uint8_t *p, size_t n)
{
    uint64_t word = 0;
    uint32_t low = 0, high = 0;
    if (n == 8) {
        memcpy(&word, p, 8);
    } else if (n >= 4) {
        memcpy(&low, p, 4);
        memcpy(&high, p + n - 4, 4);
        word = low | (uint64_t)high << 8 * (n - 4);
    } else {
        word = p[0] | (uint64_t)p[n / 2] << 8 * (n / 2) | (uint64_t)p[n - 1] << 8 * (n - 1);
    }
    return word;
}

LDP_INLINE void store_bytes(uint8_t *p, uint64_t word, size_t n)
{
    const uint32_t low = (uint32_t)word;
    if (n == 8) {
        memcpy(p, &word, 8);
    } else if (n >= 4) {
        const uint32_t high = (uint32_t)(word >> 8 * (n - 4));
        memcpy(p, &low, 4);
        memcpy(p + n - 4, &high, 4);
    } else {
        p[0] = (uint8_t)word;
        p[n / 2] = (uint8_t)(word >> 8 * (n / 2));
        p[n - 1] = (uint8_t)(word >> 8 * (n - 1));
    }
}

/* The bytes of the vertex rounding. They are drawn just before they are used. */
enum { VERTEX_BYTES = 1024 };

typedef struct {
    stream source;
    size_t used, end, ahead; /* `ahead`: AES blocks of a refill */
    uint8_t byte[2 * VERTEX_BYTES] LDP_ALIGNED;
} byte_reader;

static void bytes_open(byte_reader *r, stream_key *key, enum stream_id id, uint64_t block, size_t total)
{
    r->source = stream_open(key, id, block);
    r->used = r->end = 0;
    r->ahead = blocks_for(total < VERTEX_BYTES ? total : VERTEX_BYTES, 1);
    memset(r->byte + 16 * r->ahead, 0, 64);
}

/* The next n <= 64 bytes. 64 bytes can be read. */
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

/* Flips the row if most of its signs disagree with the vertex (a tie keeps U), then again if the private coin is tails. The
 * padding becomes zeros. */
LDP_INLINE void finish_row(const linf_ball *p, size_t agree, uint64_t coin, uint8_t *row)
{
    const uint64_t minus = -(uint64_t)(2 * agree < p->dim), tails = -(uint64_t)(coin >= p->heads);
    for (size_t j = 0; j < p->dim; j += 64) {
        const size_t bits = p->dim - j, bytes = word_bytes(bits);
        store_bytes(row + j / 8, (load_bytes(row + j / 8, bytes) ^ minus ^ tails) & word_mask(bits), bytes);
    }
}

#define KERNEL_REALS
#define KERNEL_BODY "privatize/linf_ball_body.h"
#include "simd/each_isa.h"

DEFINE_PRIVATIZE(linf_ball_f32)
DEFINE_PRIVATIZE(linf_ball_f64)
