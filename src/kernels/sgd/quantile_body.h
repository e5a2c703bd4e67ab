/* Bottleneck: the dependency chain from one position to the next, four operations on integers: addition, clamp (two) and choice.
 * Both candidates are computed before the comparison finishes. A step up can only pass the upper end and a step down only the
 * lower end, so each has one clamp. Values that do not depend on the position (records in units, rates, coins) are computed
 * before the chain, and the sums after it, in vectors. */
#include "simd/doubles_body.h"

typedef struct {
    int64_t value[QUANTILE_PIECE], flip[QUANTILE_PIECE], up[QUANTILE_PIECE], down[QUANTILE_PIECE];
    int64_t place[QUANTILE_PIECE], minus[QUANTILE_PIECE]; /* positions, and a negative number where the bit is 0 */
} NAME(quantile_piece);

/* The chain. With `same`, all people have the steps up[0] and down[0]. */
LDP_INLINE int64_t NAME(walk)(const quantile_sgd *p, NAME(quantile_piece) * s, int64_t at, int same, size_t n)
{
    const int64_t lower = p->lower, upper = p->upper;
    for (size_t i = 0; i < n; i++) {
        const int64_t above = smaller_i64(at + s->up[same ? 0 : i], upper);
        const int64_t below = larger_i64(at + s->down[same ? 0 : i], lower);
        const int64_t minus = (s->value[i] - at) ^ s->flip[i];
        s->place[i] = at;
        s->minus[i] = minus;
        at = choose_i64(minus, below, above);
    }
    return at;
}

/* Adds the powers of the distances from the origin. The order of the additions is the same for all instruction sets. */
static void NAME(add_moments)(const quantile_sgd *p, const NAME(quantile_piece) * s, size_t n, quantile_state *state)
{
    double sum[SUMS][LANES] = {{0}};
    const int64_t origin = integer_of(state->origin * p->per_unit);
    const double unit = p->unit;
    for (size_t i = 0; i < n; i += LANES)
        for (size_t l = 0; l < LANES; l++) { /* vector loop */
            const double u = double_of_integer(s->place[i + l] - origin) * unit, square = u * u;
            const uint64_t yes = ~(uint64_t)(s->minus[i + l] >> 63);
            sum[0][l] += u;
            sum[1][l] += square;
            sum[2][l] += u * square;
            sum[3][l] += square * square;
            sum[4][l] += masked_f64(1, yes);
            sum[5][l] += masked_f64(u, yes);
            sum[6][l] += masked_f64(square, yes);
        }
    for (size_t half = LANES / 2; half; half /= 2)
        for (size_t k = 0; k < SUMS; k++)
            for (size_t l = 0; l < half; l++)
                sum[k][l] += sum[k][l + half];
    for (size_t k = 0; k < 4; k++)
        state->moments[k] += sum[k][0];
    for (size_t k = 0; k < 3; k++)
        state->ones[k] += sum[4 + k][0];
}

/* At most QUANTILE_PIECE people. NaN is below every position. Returns nonzero unless all records are certainly finite. */
static int NAME(piece)(const quantile_sgd *p, const void *words, const REAL *x, size_t n, quantile_state *state)
{
    enum { PER_VECTOR = V_BYTES / 8 };
    NAME(quantile_piece) s LDP_ALIGNED;
    NAME(evidence) e = {0};
    const double first = state->count + 1, up = p->up, down = p->down, per_unit = p->per_unit;
    const double least = (double)(p->lower - 1), most = (double)(p->upper + 1);
    const uint64_t keep = p->keep, *word = words;
    const uint32_t keep32 = (uint32_t)p->keep, *word32 = words;
    for (size_t i = 0; i < n; i += PER_VECTOR) {
        REAL last[PER_VECTOR] = {0};
        const REAL *from = n - i >= PER_VECTOR ? x + i : memcpy(last, x + i, (n - i) * sizeof *x);
        const PER_ISA(doubles) record = NAME(load_doubles)(from);
        const PER_ISA(doubles) v = PER_ISA(floors)(PER_ISA(between)(record * per_unit, least, most));
        NAME(watch_finite)(&e, record);
        const PER_ISA(int64s) whole = NAME(integers)(v);
        memcpy(s.value + i, &whole, sizeof whole);
    }
    if (p->bits == 32)
        for (size_t i = 0; i < n; i++) /* vector loop */
            s.flip[i] = -(int64_t)(word32[i] >= keep32);
    else
        for (size_t i = 0; i < n; i++) /* vector loop */
            s.flip[i] = -(int64_t)(word[i] >= keep);
    int64_t at = integer_of(state->position * per_unit);
    if (p->any_time) {
        for (size_t i = 0; i < n; i++) { /* vector loop */
            const double rate = 1 / __builtin_sqrt(first + (double)(int32_t)i);
            s.up[i] = integer_of(rate * up);
            s.down[i] = integer_of(rate * down);
        }
        at = NAME(walk)(p, &s, at, 0, n);
    } else {
        s.up[0] = integer_of(up);
        s.down[0] = integer_of(down);
        at = NAME(walk)(p, &s, at, 1, n);
    }
    for (size_t i = n; i % LANES; i++) { /* no contribution */
        s.place[i] = integer_of(state->origin * per_unit);
        s.minus[i] = -1;
    }
    NAME(add_moments)(p, &s, n, state);
    state->position = double_of_integer(at) * p->unit;
    state->count += (double)n;
    return NAME(outside)(&e);
}

static int NAME(quantile_steps)(const quantile_sgd *p, const void *words, const REAL *x, size_t n, quantile_state *state)
{
    int invalid = 0;
    for (size_t i = 0; i < n; i += QUANTILE_PIECE)
        invalid |= NAME(piece)(p, (const char *)words + i * (size_t)p->bits / 8, x + i,
                               n - i < QUANTILE_PIECE ? n - i : QUANTILE_PIECE, state);
    return invalid;
}
