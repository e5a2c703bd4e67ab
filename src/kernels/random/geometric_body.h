/* Bottleneck: the coins (5 random bytes and 15 deposits of a quarter of a lane per value), then the transposition of 16
 * bit planes to 16-bit numbers, 64 swaps for 16 vectors. The order of the values within a piece does not matter, because they
 * are independent and identically distributed. */
typedef uint16_t NAME(v16) __attribute__((vector_size(V_BYTES)));

/* For rows a = p[k] and b = p[k + J], swaps the high J bits of every 2J bits of a with the low J bits of b. */
#define SWAP_STAGE(J, MASK)                                             \
    _Pragma("GCC unroll 16") for (int k = 0; k < 16; k++) if (!(k & J)) \
    {                                                                   \
        NAME(v16) t = ((p[k] >> J) ^ p[k + J]) & MASK;                  \
        p[k + J] ^= t;                                                  \
        p[k] ^= t << J;                                                 \
    }

/* Bit l of plane[k][w] becomes bit k of value[l][w], for 16 planes and 16 rows of values, each of `words` 16-bit words. */
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

/* Appends a group of 16 bits to the numbers: the top group (signed) or a lower one. */
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
