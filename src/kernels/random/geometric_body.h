/* Bottleneck: the coins (5 random bytes and 15 deposits of a quarter of a lane per value), then the transposition of 16
 * bit planes to 16-bit numbers, 64 swaps for 16 vectors. The order of the values inside a piece is free, because they are
 * independent and identically distributed. */
typedef uint16_t NAME(v16) __attribute__((vector_size(V_BYTES)));

/* Rows a, b = p[k], p[k + J]: swaps the high J bits of every 2J of a with the low ones of b. */
#define SWAP_STAGE(J, MASK)                                             \
    _Pragma("GCC unroll 16") for (int k = 0; k < 16; k++) if (!(k & J)) \
    {                                                                   \
        NAME(v16) t = ((p[k] >> J) ^ p[k + J]) & MASK;                  \
        p[k + J] ^= t;                                                  \
        p[k] ^= t << J;                                                 \
    }

/* plane[k][w], bit l, becomes value[l][w], bit k: 16 planes and 16 values of `words` words of 16 bits. */
static void NAME(transpose)(const uint16_t *plane, size_t words, uint16_t *value)
{
    for (size_t w = 0; w < words; w += V_BYTES / 2) {
        NAME(v16) p[16];
        for (size_t k = 0; k < 16; k++)
            memcpy(&p[k], plane + k * words + w, V_BYTES);
        SWAP_STAGE(8, 0x00ff)
        SWAP_STAGE(4, 0x0f0f)
        SWAP_STAGE(2, 0x3333)
        SWAP_STAGE(1, 0x5555)
        for (size_t k = 0; k < 16; k++)
            memcpy(value + k * words + w, &p[k], V_BYTES);
    }
}

/* value is the top group of 16 bits (signed), or a lower one. */
static void NAME(append)(const uint16_t *value, size_t n, int top, double *noise)
{
    if (top)
        for (size_t i = 0; i < n; i++) /* vector loop */
            noise[i] = (double)(int16_t)value[i];
    else
        for (size_t i = 0; i < n; i++) /* vector loop */
            noise[i] = noise[i] * 65536 + (double)value[i];
}

#undef SWAP_STAGE
