/* Bottleneck: 960 vector operations for each group of 16 lanes, in four dependent chains. On AVX-512 two groups are
 * interleaved, which fills the 32 registers exactly and hides the latency (9 -> 14 GB/s on Zen 5). Sixteen registers
 * hold only one set of lanes. */
enum { NAME(LANES) = V_BYTES / 4, NAME(PARTS) = 16 / NAME(LANES) };
typedef uint32_t NAME(v32) __attribute__((vector_size(V_BYTES)));

#define EACH_WAY _Pragma("GCC unroll 2") for (int w = 0; w < CHACHA_WAYS; w++)
#define QUARTER(a, b, c, d, turn_d, turn_b)       \
    EACH_WAY x[w][a] += x[w][b];                  \
    EACH_WAY x[w][d] = turn_d(x[w][d] ^ x[w][a]); \
    EACH_WAY x[w][c] += x[w][d];                  \
    EACH_WAY x[w][b] = turn_b(x[w][b] ^ x[w][c]);
#define ROTATE(v, n) ((v) << (n) | (v) >> (32 - (n)))
#define TURN12(v) ROTATE(v, 12)
#define TURN7(v) ROTATE(v, 7)
#define HALVES(a0, b0, c0, d0, a1, b1, c1, d1, a2, b2, c2, d2, a3, b3, c3, d3) \
    QUARTER(a0, b0, c0, d0, ROTATE16, TURN12)                                  \
    QUARTER(a1, b1, c1, d1, ROTATE16, TURN12)                                  \
    QUARTER(a2, b2, c2, d2, ROTATE16, TURN12)                                  \
    QUARTER(a3, b3, c3, d3, ROTATE16, TURN12)                                  \
    QUARTER(a0, b0, c0, d0, ROTATE8, TURN7)                                    \
    QUARTER(a1, b1, c1, d1, ROTATE8, TURN7) QUARTER(a2, b2, c2, d2, ROTATE8, TURN7) QUARTER(a3, b3, c3, d3, ROTATE8, TURN7)

/* CHACHA_WAYS vectors of blocks. Way w starts at counter[w] and writes word i to out[w] + 16 i. */
LDP_INLINE void NAME(blocks)(const uint32_t state[16], const uint32_t *counter, uint32_t *const *out)
{
    NAME(v32) x[CHACHA_WAYS][16], lane;
    for (int l = 0; l < NAME(LANES); l++)
        lane[l] = (uint32_t)l;
    EACH_WAY
    {
        for (int i = 0; i < 16; i++)
            x[w][i] = (NAME(v32)){0} + state[i];
        x[w][12] = lane + counter[w];
    }
    for (int round = 0; round < 10; round++) {
        HALVES(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15)
        HALVES(0, 5, 10, 15, 1, 6, 11, 12, 2, 7, 8, 13, 3, 4, 9, 14)
    }
    EACH_WAY for (int i = 0; i < 16; i++)
    {
        x[w][i] += i == 12 ? lane + counter[w] : (NAME(v32)){0} + state[i];
        memcpy(out[w] + 16 * i, &x[w][i], V_BYTES);
    }
}

static void NAME(groups)(const uint32_t state[16], uint32_t counter, uint32_t *out, size_t groups)
{
    uint32_t spare[CHACHA_WAYS > 1 ? GROUP_WORDS : 1] LDP_ALIGNED; /* for the unused way after an odd number of groups */
    size_t units = groups * NAME(PARTS);
    for (size_t u = 0; u < units; u += CHACHA_WAYS) {
        uint32_t start[CHACHA_WAYS], *to[CHACHA_WAYS];
        EACH_WAY
        {
            size_t unit = u + (size_t)w;
            start[w] = counter + (uint32_t)unit * (uint32_t)NAME(LANES);
            to[w] = unit < units ? out + unit / NAME(PARTS) * GROUP_WORDS + unit % NAME(PARTS) * NAME(LANES) : spare;
        }
        NAME(blocks)(state, start, to);
    }
}

#undef EACH_WAY
#undef QUARTER
#undef HALVES
#undef ROTATE
#undef TURN12
#undef TURN7
