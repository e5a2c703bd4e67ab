/* The row of normals is read twice, by the sums and by the scaling, from cache. Sums go to LANES accumulators whatever
 * the vector width, pieces are added in double: the same bits everywhere. Bottleneck: the normals and their key stream. */
typedef REAL NAME(vector) __attribute__((vector_size(V_BYTES)));
enum { NAME(LANES) = 128 / sizeof(REAL), NAME(PER_VECTOR) = V_BYTES / sizeof(REAL), NAME(VECTORS) = 128 / V_BYTES };

/* Adds sum u^2, sum u y and sum y^2 to sum[0..2]. */
static void NAME(products)(const REAL *u, const REAL *y, size_t n, double sum[3])
{
    NAME(vector) uu[NAME(VECTORS)] = {0}, uy[NAME(VECTORS)] = {0}, yy[NAME(VECTORS)] = {0};
    size_t whole = n / NAME(LANES) * NAME(LANES);
    for (size_t j = 0; j < whole; j += NAME(LANES)) {
#pragma GCC unroll 8
        for (size_t v = 0; v < NAME(VECTORS); v++) {
            NAME(vector) a, b;
            memcpy(&a, u + j + v * NAME(PER_VECTOR), sizeof a);
            memcpy(&b, y + j + v * NAME(PER_VECTOR), sizeof b);
            uu[v] += a * a;
            uy[v] += a * b;
            yy[v] += b * b;
        }
    }
    REAL lane[3][NAME(LANES)];
    memcpy(lane[0], uu, sizeof uu);
    memcpy(lane[1], uy, sizeof uy);
    memcpy(lane[2], yy, sizeof yy);
    for (size_t j = whole; j < n; j++) {
        lane[0][j - whole] += u[j] * u[j];
        lane[1][j - whole] += u[j] * y[j];
        lane[2][j - whole] += y[j] * y[j];
    }
    for (int s = 0; s < 3; s++) {
        for (int width = NAME(LANES) / 2; width; width /= 2)
            for (int l = 0; l < width; l++)
                lane[s][l] += lane[s][l + width];
        sum[s] += (double)lane[s][0];
    }
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
