#include "simd/doubles_body.h"

/* Grid indices of V_BYTES / 8 numbers, from their distance to `lower`: rounded at random, up with the probability that preserves
 * the mean. The sum with 2^36 has steps of 2^-16, and so has the random part w 2^-16 < 1 that is added, so the last 16 bits are
 * what rounding down removes. The sum is clamped first; NaN becomes 2^36. */
LDP_INLINE PER_ISA(doubles) NAME(grid_index)(const laplace *p, PER_ISA(doubles) distance, const uint16_t *word)
{
    const PER_ISA(doubles) part = (PER_ISA(doubles))(PER_ISA(widen_16)(word) | TWO_TO_36);
    const PER_ISA(doubles) sum = PER_ISA(between)(distance * p->per_grid + part, 0x1p36, 0x1p36 + p->span);
    return (PER_ISA(doubles))((PER_ISA(int64s))sum & ~(int64_t)0xffff) - 0x1p36;
}

/* With `far`, the integers of reports are clamped to the limit. */
LDP_INLINE void NAME(add_noise)(const laplace *p, PER_ISA(doubles) index, const double *noise, int far, double *out)
{
    PER_ISA(doubles) y;
    memcpy(&y, noise, sizeof y);
    y += index;
    if (far)
        y = PER_ISA(between)(y, -GRID_LIMIT, GRID_LIMIT);
    y = p->lower + p->grid * (y + 0.5);
    memcpy(out, &y, sizeof y);
}

/* Whole vectors of independent numbers. */
LDP_INLINE void NAME(report_numbers)(const laplace *p, const REAL *x, const uint16_t *word, const double *noise, int far,
                                     size_t n, double *out, NAME(evidence) * e)
{
    for (size_t i = 0; i < n; i += V_BYTES / 8) {
        const PER_ISA(doubles) distance = NAME(distances)(e, NAME(load_doubles)(x + i), p->lower, p->upper);
        write_soon(out + i);
        NAME(add_noise)(p, NAME(grid_index)(p, distance, word + i), noise + i, far, out + i);
    }
}

/* n numbers: the rest of less than a vector goes through buffers. */
static void NAME(report_piece)(const laplace *p, const REAL *x, const uint16_t *word, const double *noise, int far, size_t n,
                               double *out, NAME(evidence) * e)
{
    enum { PER_VECTOR = V_BYTES / 8 };
    const size_t whole = n / PER_VECTOR * PER_VECTOR;
    REAL last[PER_VECTOR];
    double reports[PER_VECTOR];
    if (far)
        NAME(report_numbers)(p, x, word, noise, 1, whole, out, e);
    else
        NAME(report_numbers)(p, x, word, noise, 0, whole, out, e);
    if (whole == n)
        return;
    memcpy(last, x + whole, (n - whole) * sizeof *x);
    for (size_t i = n - whole; i < PER_VECTOR; i++)
        last[i] = (REAL)p->upper;
    NAME(report_numbers)(p, last, word + whole, noise + whole, 1, PER_VECTOR, reports, e);
    memcpy(out + whole, reports, (n - whole) * sizeof *out);
}

/* Where the l1 norm of rows is limited: the row in work, of which a piece of NOISE_PIECE numbers can hold only a part. */
typedef struct {
    double factor; /* projects the row on the l2 ball. Privacy depends on limit_l1 alone. */
    int64_t budget;
    int invalid;
} NAME(row_state);

static void NAME(start_row)(const laplace *p, const REAL *row, NAME(row_state) * state)
{
    const double norm = OF_REAL(row_norm)(row, p->dim),
                 limit = p->radius * (1 + p->tolerance * (REAL_IS_DOUBLE ? 0x1p-53 : 0x1p-24));
    state->factor = norm > p->radius ? p->radius / norm : 1;
    state->budget = (int64_t)p->l1_limit;
    state->invalid |= LDP_OUTSIDE * !(norm <= limit) | LDP_FAR * !(norm < FAR_RADII / 2 * p->radius);
}

/* A piece of NOISE_PIECE numbers, of several rows or of a part of one. */
static void NAME(report_rows)(const laplace *p, const REAL *x, size_t at, size_t n, const uint16_t *word, const double *noise,
                              double *out, NAME(row_state) * row)
{
    enum { PER_VECTOR = V_BYTES / 8 };
    double index[NOISE_PIECE + PER_VECTOR] LDP_ALIGNED = {0}, reports[NOISE_PIECE] LDP_ALIGNED;
    PER_ISA(doubles) v;
    for (size_t j = 0, now; j < n; j += now) {
        const size_t done = (at + j) % p->dim;
        now = p->dim - done < n - j ? p->dim - done : n - j;
        if (done == 0)
            NAME(start_row)(p, x + at + j, row);
        for (size_t i = j; i < j + now; i++) /* vector loop */
            index[i] = (double)x[at + i] * row->factor - p->lower;
        for (size_t i = j; i < j + now; i += PER_VECTOR) {
            memcpy(&v, index + i, sizeof v);
            v = NAME(grid_index)(p, v, word + i);
            memcpy(index + i, &v, sizeof v);
        }
        limit_l1(p, index + j, now, &row->budget);
    }
    for (size_t i = 0; i < n; i += PER_VECTOR) {
        memcpy(&v, index + i, sizeof v);
        NAME(add_noise)(p, v, noise + i, 1, reports + i);
    }
    memcpy(out + at, reports, n * sizeof *out);
}

/* Rounded numbers and noise are in separate buffers, so that `out` never holds a record without noise. */
static int NAME(privatize_laplace)(const void *params, stream_key *key, uint64_t block, const void *records, size_t rows,
                                   void *reports)
{
    const laplace *p = params;
    const REAL *x = records;
    double *out = reports, noise[NOISE_PIECE] LDP_ALIGNED;
    uint16_t word[NOISE_PIECE + V_BYTES / 8] LDP_ALIGNED; /* whole vectors are read from every number of a row on */
    const size_t total = rows * p->dim;
    stream rounding = stream_open(key, p->noise.stream + 2, block);
    noise_source source;
    NAME(evidence) e = {0};
    NAME(row_state) row = {0};
    noise_open(&source, &p->noise, key, block);
    memset(word + NOISE_PIECE, 0, sizeof word - NOISE_PIECE * sizeof *word);
    for (size_t at = 0; at < total; at += NOISE_PIECE) {
        const size_t n = total - at < NOISE_PIECE ? total - at : NOISE_PIECE;
        stream_draw(&rounding, word, blocks_for(n, 2));
        const int far = noise_draw(&source, n, noise);
        if (p->l1_limit > 0)
            NAME(report_rows)(p, x, at, n, word, noise, out, &row);
        else
            NAME(report_piece)(p, x + at, word, noise, far, n, out + at, &e);
    }
    return row.invalid | NAME(outside)(&e);
}
