#include "random/geometric.h"

#define KERNEL_BODY "random/geometric_body.h"
#include "simd/each_isa.h"

enum { PIECE_WORDS = NOISE_PIECE / 16, FEW_WORDS = 32 }; /* 16-bit words per plane */

/* Index of the number that the bits of a lane belong to. The transposition of planes spreads adjacent lanes over all numbers. A
 * piece of one vector, for example of a single record, uses only its first lanes and is reordered. */
LDP_INLINE size_t number_of_lane(size_t lane, size_t words)
{
    return words <= FEW_WORDS ? lane : lane % 16 * words + lane / 16;
}

static void add_carries(const geometric_noise *p, reader *r, const uint64_t *heads, size_t words, double *noise)
{
    for (size_t w = 0; w < words / 4; w++)
        for (uint64_t left = heads[w]; left; left &= left - 1) { /* probability below 4e-11 per number */
            size_t lane = 64 * w + (size_t)__builtin_ctzll(left);
            double *n = noise + number_of_lane(lane, words), times = 1;
            for (const uint64_t *u = reader_chunk(r);
                 !r->source.key->exhausted && (u[0] < p->carry.high || (u[0] == p->carry.high && u[1] < p->carry.low));
                 u = reader_chunk(r))
                times++;
            *n += (*n < 0 ? -times : times) * (double)((uint64_t)1 << p->digits);
        }
}

void noise_open(noise_source *s, const geometric_noise *noise, stream_key *key, uint64_t block, size_t total)
{
    s->noise = noise;
    const size_t few = CHUNK_WORDS * (noise->digits + 2); /* up to 32 numbers need a chunk for the signs and for each digit */
    reader_open(&s->digits, key, noise->stream, block, total <= 32 ? few : READER_WORDS);
    reader_open(&s->carries, key, noise->stream + 1, block, total <= 32 ? CHUNK_WORDS : READER_WORDS);
}

void noise_draw(noise_source *s, size_t n, double *out)
{
    const geometric_noise *p = s->noise;
    uint64_t plane[16 * PIECE_WORDS / 4] LDP_ALIGNED, sign[PIECE_WORDS / 4], heads[PIECE_WORDS / 4];
    uint16_t value[16 * PIECE_WORDS] LDP_ALIGNED;
    const size_t row = coin_words(n), words = 4 * row; /* 64-bit and 16-bit words per plane */
    const size_t lanes = words <= FEW_WORDS ? n : 64 * row;
    for (size_t w = 0; w < row; w += CHUNK_WORDS)
        memcpy(sign + w, reader_chunk(&s->digits), 8 * (row - w < CHUNK_WORDS ? row - w : CHUNK_WORDS));
    /* From the top group down. Digits xor sign, with signs above the digits, are N in two's complement. */
    for (uint32_t group = p->digits / 16 + 1; group-- > 0;) {
        for (uint32_t k = 0; k < 16; k++) {
            uint64_t *bits = plane + k * row;
            if (16 * group + k < p->digits)
                coins_fill(&s->digits, p->digit[16 * group + k], bits, lanes);
            else
                memset(bits, 0, 8 * row);
            for (size_t w = 0; w < row; w++)
                bits[w] ^= sign[w];
        }
        LDP_BEST(transpose)((const uint16_t *)plane, words, value);
        if (words <= FEW_WORDS) {
            uint16_t transposed[16 * FEW_WORDS];
            memcpy(transposed, value, sizeof transposed);
            for (size_t i = 0; i < n; i++)
                value[i] = transposed[i % 16 * FEW_WORDS + i / 16];
        }
        LDP_BEST(append)(value, n, group == p->digits / 16, out);
    }
    coins_fill(&s->carries, p->carry, heads, lanes);
    add_carries(p, &s->carries, heads, words, out);
}
