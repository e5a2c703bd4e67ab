/* The row of normals is read twice, by the sums and by the scaling, from cache. Sums go to LANES accumulators whatever
 * the vector width, pieces are added in double: the same bits everywhere. Bottleneck: the normals and their key stream. */
typedef REAL NAME(vector) __attribute__((vector_size(V_BYTES)));
enum { NAME(LANES) = 128 / sizeof(REAL), NAME(PER_VECTOR) = V_BYTES / sizeof(REAL), NAME(VECTORS) = 128 / V_BYTES };

/* The lanes of all vectors: every lane to the one half of the lanes further on, until one is left. */
LDP_INLINE double NAME(lane_sum)(NAME(vector) *sum)
{
    for (size_t half = NAME(VECTORS) / 2; half; half /= 2)
        for (size_t v = 0; v < half; v++)
            sum[v] += sum[v + half];
    REAL lane[NAME(PER_VECTOR)];
    memcpy(lane, sum, sizeof lane);
#pragma GCC unroll 4
    for (size_t half = NAME(PER_VECTOR) / 2; half; half /= 2)
#pragma GCC unroll 8
        for (size_t l = 0; l < half; l++)
            lane[l] += lane[l + half];
    return (double)lane[0];
}

/* Adds sum u^2, sum u y and sum y^2 to sum[0..2]. */
static void NAME(products)(const REAL *u, const REAL *y, size_t n, double sum[3])
{
    NAME(vector) uu[NAME(VECTORS)] = {0}, uy[NAME(VECTORS)] = {0}, yy[NAME(VECTORS)] = {0};
    REAL rest[2][NAME(LANES)] = {{0}};
    for (size_t j = 0; j < n; j += NAME(LANES)) {
        const REAL *left = u + j, *right = y + j;
        if (n - j < NAME(LANES)) /* what is left, with zeros behind */
            left = memcpy(rest[0], left, (n - j) * sizeof *u), right = memcpy(rest[1], right, (n - j) * sizeof *y);
#pragma GCC unroll 8
        for (size_t v = 0; v < NAME(VECTORS); v++) {
            NAME(vector) a, b;
            memcpy(&a, left + v * NAME(PER_VECTOR), sizeof a);
            memcpy(&b, right + v * NAME(PER_VECTOR), sizeof b);
            uu[v] += a * a;
            uy[v] += a * b;
            yy[v] += b * b;
        }
    }
    sum[0] += NAME(lane_sum)(uu);
    sum[1] += NAME(lane_sum)(uy);
    sum[2] += NAME(lane_sum)(yy);
}

/* One row: `u` holds normals and becomes the report. */
static void NAME(row)(const l2_ball *p, const void *record, uint64_t rounding_word, uint64_t coin_word, void *row)
{
    const REAL *x = record;
    REAL *u = row;
    const REAL per_radius = (REAL)p->per_radius, tiny = (REAL)p->tiny, far = (REAL)p->far;
    REAL y[L2_PIECE];
    double sum[3] = {0};
    for (size_t at = 0; at < p->dim; at += L2_PIECE) {
        size_t n = p->dim - at < L2_PIECE ? p->dim - at : L2_PIECE;
        for (size_t j = 0; j < n; j++) /* vector loop */
            y[j] = TAME(FLUSH(x[at + j], tiny), far) * per_radius;
        NAME(products)(u + at, y, n, sum);
    }
    const REAL factor = (REAL)factor_of(p, sum, 1, rounding_word, coin_word);
    for (size_t j = 0; j < p->dim; j++) /* vector loop */
        u[j] *= factor;
}
