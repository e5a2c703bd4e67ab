/* Steps of a report: y times a constant, rounded to an integer, to even, by adding and subtracting a large number: the same
 * integer everywhere. They are summed as doubles, exactly, for at most MOST_ROWS rows: 2^40 steps times 2^12 rows stay
 * below 2^53. A tile of columns keeps its sums in registers while the rows go by. */
enum { NAME(PER_VECTOR) = V_BYTES / 8 };
typedef double NAME(sums) __attribute__((vector_size(V_BYTES)));
typedef REAL NAME(reals) __attribute__((vector_size(V_BYTES / 8 * sizeof(REAL))));

#define ROUNDED(v) ((v) * scale + 0x1.8p52 - 0x1.8p52)

LDP_INLINE void NAME(tile)(size_t dim, double scale, const REAL *y, size_t n, double *total, size_t vectors)
{
    NAME(sums) sum[8] = {0};
    for (size_t i = 0; i < n; i++) {
#pragma GCC unroll 8
        for (size_t v = 0; v < vectors; v++) {
            NAME(reals) report;
            memcpy(&report, y + i * dim + v * NAME(PER_VECTOR), sizeof report);
            sum[v] += ROUNDED(__builtin_convertvector(report, NAME(sums)));
        }
    }
    memcpy(total, sum, vectors * V_BYTES);
}

/* Column sums of n <= MOST_ROWS rows, columns `first` to `first + width - 1`. */
static void NAME(vectors)(const vector_format *p, const void *reports, size_t n, size_t first, size_t width, double *total)
{
    const REAL *y = (const REAL *)reports + first;
    /* float: steps of 2^-30, double: steps of 2^-40 */
    const double scale = (sizeof(REAL) == 4 ? 0x1p30 : 0x1p40) / p->bound;
    size_t j = 0;
    for (; j + 8 * NAME(PER_VECTOR) <= width; j += 8 * NAME(PER_VECTOR))
        NAME(tile)(p->dim, scale, y + j, n, total + j, 8);
    for (; j + NAME(PER_VECTOR) <= width; j += NAME(PER_VECTOR))
        NAME(tile)(p->dim, scale, y + j, n, total + j, 1);
    for (; j < width; j++) {
        total[j] = 0;
        for (size_t i = 0; i < n; i++)
            total[j] += ROUNDED((double)y[i * p->dim + j]);
    }
}

#undef ROUNDED
