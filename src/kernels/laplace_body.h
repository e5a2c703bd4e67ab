/* Bottleneck: the coins (5 random bytes and 15 deposits of a quarter of a lane per value), then the transposition of 16
 * bit planes to 16-bit numbers, 64 swaps for 16 vectors. The order of the values inside a piece is free: noise is i.i.d. */
typedef uint16_t NAME(v16) __attribute__((vector_size(V_BYTES)));

/* Rows a, b = p[k], p[k + J]: swaps the high J bits of every 2J of a with the low ones of b. */
#define SWAP_STAGE(J, MASK)                                               \
    _Pragma("GCC unroll 16") for (int k = 0; k < 16; k++) if (!(k & J)) { \
        NAME(v16) t = ((p[k] >> J) ^ p[k + J]) & MASK;                    \
        p[k + J] ^= t;                                                    \
        p[k] ^= t << J;                                                   \
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

/* value is the top group of 16 bits (signed), or one below it. */
static void NAME(append)(const uint16_t *value, size_t n, int top, double *noise)
{
    if (top)
        for (size_t i = 0; i < n; i++) /* vector loop */
            noise[i] = (double)(int16_t)value[i];
    else
        for (size_t i = 0; i < n; i++) /* vector loop */
            noise[i] = noise[i] * 65536 + (double)value[i];
}

static void NAME(add_noise)(const laplace *p, const double *index, const double *noise, size_t n, double *out)
{
    const double lower = p->lower, grid = p->grid, far = GRID_LIMIT;
    for (size_t i = 0; i < n; i++) { /* vector loop */
        double y = index[i] + noise[i]; /* integers */
        y = y < far ? y : far;
        y = y > -far ? y : -far;
        out[i] = lower + grid * (y + 0.5);
    }
}

/* Indices of numbers on the grid, rounded at random: up with the probability that keeps the mean. NaN goes to the centre.
 * Records are multiplied by `factor`, 1 except for the projection on the l2 ball. */
#define ROUND(name, type)                                                                                  \
    static void NAME(name)(const laplace *p, const void *records, double factor, const uint32_t *word, size_t n, \
                           double *index)                                                                  \
    {                                                                                                      \
        const type *x = records;                                                                           \
        const double lower = p->lower, per_grid = p->per_grid, span = p->span, far = p->far;               \
        for (size_t i = 0; i < n; i++) {                                                                   \
            double t = (tame_f64((double)x[i], far)    * factor - lower) * per_grid;                       \
            t = t == t ? t : span / 2;                                                                     \
            t = t > 0 ? t : 0;                                                                             \
            t = t < span ? t : span;                                                                       \
            double whole = (double)(int32_t)t;                                                             \
            index[i] = whole + ((double)(int32_t)(word[i] >> 1) < (t - whole) * 0x1p31 ? 1.0 : 0.0);       \
        }                                                                                                  \
    }
ROUND(round_f32, float)  /* vector loop */
ROUND(round_f64, double) /* vector loop */

/* Euclidean norm of a row; infinities count as the largest size that tame_f64 leaves. */
#define NORM(name, type)                                                                        \
    static double NAME(name)(const laplace *p, const void *row)                                 \
    {                                                                                           \
        enum { LANES = 16 };                                                                    \
        const type *x = row;                                                                    \
        double sum[LANES] = {0}, total = 0;                                                     \
        size_t whole = p->dim / LANES * LANES;                                                  \
        for (size_t j = 0; j < whole; j += LANES)                                               \
            for (size_t l = 0; l < LANES; l++) {                                                \
                double v = tame_f64((double)x[j + l], p->far);                                  \
                sum[l] += v * v;                                                                \
            }                                                                                   \
        for (size_t j = whole; j < p->dim; j++) {                                               \
            double v = tame_f64((double)x[j], p->far);                                          \
            total += v * v;                                                                     \
        }                                                                                       \
        for (size_t l = 0; l < LANES; l++)                                                      \
            total += sum[l];                                                                    \
        return __builtin_sqrt(total);                                                           \
    }
NORM(norm_f32, float)  /* vector loop */
NORM(norm_f64, double) /* vector loop */

#undef NORM
#undef ROUND
#undef SWAP_STAGE
