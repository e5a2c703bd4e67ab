/* Bottleneck: the chain from one position to the next; what does not depend on the position is done before, what nobody waits
 * for after it. */
typedef double NAME(vector) __attribute__((vector_size(V_BYTES)));
enum { NAME(LANES) = 16, NAME(VECTORS) = 128 / V_BYTES, NAME(PER_VECTOR) = V_BYTES / 8 };

/* Every lane to the one half of the lanes further on, until one is left. */
LDP_INLINE double NAME(lane_sum)(NAME(vector) *sum)
{
    for (size_t half = NAME(VECTORS) / 2; half; half /= 2)
        for (size_t v = 0; v < half; v++)
            sum[v] += sum[v + half];
    double lane[NAME(PER_VECTOR)];
    memcpy(lane, sum, sizeof lane);
#pragma GCC unroll 4
    for (size_t half = NAME(PER_VECTOR) / 2; half; half /= 2)
#pragma GCC unroll 4
        for (size_t l = 0; l < half; l++)
            lane[l] += lane[l + half];
    return lane[0];
}

/* Inner product of doubles and floats. */
static double NAME(inner)(const double *a, const float *b, size_t padded)
{
    NAME(vector) sum[NAME(VECTORS)] = {0};
    for (size_t j = 0; j < padded; j += NAME(LANES)) {
        double wide[NAME(LANES)];
        for (int l = 0; l < NAME(LANES); l++) /* vector loop */
            wide[l] = (double)b[j + l];
#pragma GCC unroll 8
        for (size_t v = 0; v < NAME(VECTORS); v++) {
            NAME(vector) x, y;
            memcpy(&x, a + j + v * NAME(PER_VECTOR), sizeof x);
            memcpy(&y, wide + v * NAME(PER_VECTOR), sizeof y);
            sum[v] += x * y;
        }
    }
    return NAME(lane_sum)(sum);
}

static double NAME(square_norm)(const double *a, size_t padded)
{
    NAME(vector) sum[NAME(VECTORS)] = {0};
    for (size_t j = 0; j < padded; j += NAME(LANES))
#pragma GCC unroll 8
        for (size_t v = 0; v < NAME(VECTORS); v++) {
            NAME(vector) x;
            memcpy(&x, a + j + v * NAME(PER_VECTOR), sizeof x);
            sum[v] += x * x;
        }
    return NAME(lane_sum)(sum);
}

/* Clipping: a record is moved into the ball before anything is done with it. */
static void NAME(shrink)(const descent *p, float *row)
{
    NAME(vector) sum[NAME(VECTORS)] = {0};
    for (size_t j = 0; j < p->padded; j += NAME(LANES)) {
        double wide[NAME(LANES)];
        for (int l = 0; l < NAME(LANES); l++) /* vector loop */
            wide[l] = (double)row[j + l];
#pragma GCC unroll 8
        for (size_t v = 0; v < NAME(VECTORS); v++) {
            NAME(vector) x;
            memcpy(&x, wide + v * NAME(PER_VECTOR), sizeof x);
            sum[v] += x * x;
        }
    }
    const double square = NAME(lane_sum)(sum);
    if (square > p->radius * p->radius) {
        const double factor = p->radius / __builtin_sqrt(square);
        for (size_t j = 0; j < p->padded; j++) /* vector loop */
            row[j] = (float)((double)row[j] * factor);
    }
}

/* All rows are copied before the first is read again: a wide load has to wait for narrow stores to the same place. */
#define ROWS(name, type)                                                                                          \
    static void NAME(name)(const descent *p, const type *x, const int64_t *index, size_t n, float *rows)          \
    {                                                                                                             \
        const double most = p->max_norm ? p->radius : 1e12 * p->radius; /* within single precision */               \
        for (size_t i = 0; i < n; i++) {                                                                          \
            const type *restrict from = x + (index ? (size_t)index[i] : i) * p->features;                         \
            float *restrict row = rows + i * p->padded;                                                           \
            for (size_t j = 0; j < p->features; j++) {                                                            \
                double v = (double)from[j];                                                                       \
                v = v < most ? v : most;                                                                          \
                row[j] = (float)(v > -most ? v : -most);                                                          \
            }                                                                                                     \
            for (size_t j = p->features; j < p->padded; j++)                                                      \
                row[j] = 0;                                                                                       \
        }                                                                                                         \
        for (size_t i = 0; i < n && !p->max_norm; i++)                                                            \
            NAME(shrink)(p, rows + i * p->padded);                                                                \
        for (size_t i = 0; i < n && p->dim > p->features; i++)                                                    \
            rows[i * p->padded + p->features] = (float)p->column;                                                 \
    }
ROWS(rows_f32, float)  /* vector loop */
ROWS(rows_f64, double) /* vector loop */

#define MOVE(name, type)                                                                                          \
    static void NAME(name)(const descent *p, const double *position, const type *report, double factor, double *moved) \
    {                                                                                                             \
        for (size_t j = 0; j < p->padded; j++)                                                                    \
            moved[j] = position[j] - factor * (double)report[j];                                                  \
        const double length = __builtin_sqrt(NAME(square_norm)(moved, p->padded));                                \
        if (length > p->projection) /* the position is public */                                                  \
            for (size_t j = 0; j < p->padded; j++)                                                                \
                moved[j] *= p->projection / length;                                                               \
    }
MOVE(move_f32, float)  /* vector loop */
MOVE(move_f64, double) /* vector loop */

static void NAME(add)(const descent *p, const double *positions, size_t n, double size, double *sums)
{
    const size_t padded = p->padded;
    for (size_t j = 0; j < padded; j += NAME(LANES)) { /* the sums of so many coordinates stay in registers */
        NAME(vector) sum[DESCENT_SUMS][NAME(VECTORS)];
        double s = size;
        for (size_t k = 0; k < DESCENT_SUMS; k++)
            memcpy(sum[k], sums + k * padded + j, sizeof sum[k]);
        for (size_t i = 0; i < n; i++) {
            s += 1;
#pragma GCC unroll 8
            for (size_t v = 0; v < NAME(VECTORS); v++) {
                NAME(vector) position;
                memcpy(&position, positions + i * padded + j + v * NAME(PER_VECTOR), sizeof position);
                sum[0][v] += position;
                sum[1][v] += sum[0][v];
                sum[2][v] += sum[0][v] * sum[0][v];
                sum[3][v] += s * sum[0][v];
            }
        }
        for (size_t k = 0; k < DESCENT_SUMS; k++)
            memcpy(sums + k * padded + j, sum[k], sizeof sum[k]);
    }
}

static void NAME(square)(const descent *p, const double *sums, double *matrix)
{
    for (size_t i = 0; i < p->dim; i++)
        for (size_t j = 0; j < p->dim; j++) /* vector loop */
            matrix[i * p->dim + j] += sums[i] * sums[j];
}
#undef MOVE
#undef ROWS
