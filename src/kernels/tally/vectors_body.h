/* y times a constant is rounded to an integer, ties to even, by adding and subtracting a large number. The result is the same
 * on every machine. The integers of at most MAX_ROWS rows are summed as doubles, exactly, because 2^40 steps times 2^12 rows
 * stay below 2^53. The sums of a tile of columns are kept in registers over all rows. */
enum { NAME(PER_VECTOR) = V_BYTES / 8 };
typedef double NAME(sums) __attribute__((vector_size(V_BYTES)));
typedef REAL NAME(reals) __attribute__((vector_size(V_BYTES / 8 * sizeof(REAL))));

#define ROUNDED(v) ((v) * scale + 0x1.8p52 - 0x1.8p52)

LDP_INLINE void NAME(sum_tile)(size_t dim, double scale, const REAL *y, size_t n, double *total, size_t vectors)
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

/* Column sums of n <= MAX_ROWS rows of `dim` numbers, over `width` columns starting at y. */
static void NAME(sum_columns)(size_t dim, double scale, const REAL *y, size_t n, size_t width, double *total)
{
    size_t j = 0;
    for (; j + 8 * NAME(PER_VECTOR) <= width; j += 8 * NAME(PER_VECTOR))
        NAME(sum_tile)(dim, scale, y + j, n, total + j, 8);
    for (; j + NAME(PER_VECTOR) <= width; j += NAME(PER_VECTOR))
        NAME(sum_tile)(dim, scale, y + j, n, total + j, 1);
    for (; j < width; j++) {
        total[j] = 0;
        for (size_t i = 0; i < n; i++)
            total[j] += ROUNDED((double)y[i * dim + j]);
    }
}

static void NAME(tally_vectors)(const void *format, const void *reports, size_t n, void *state)
{
    const vector_format *p = format;
    const REAL *y = reports;
    const int single = sizeof(REAL) == 4;
    const double scale = (single ? 0x1p30 : 0x1p40) / p->bound;
    double total[TILE];
    for (size_t done = 0; done < n; done += MAX_ROWS) {
        size_t rows = n - done < MAX_ROWS ? n - done : MAX_ROWS;
        for (size_t first = 0; first < p->dim; first += TILE) {
            size_t width = p->dim - first < TILE ? p->dim - first : TILE;
            NAME(sum_columns)(p->dim, scale, y + done * p->dim + first, rows, width, total);
            for (size_t j = 0; j < width; j++)
                add_wide(state, first + j, (wide)(int64_t)total[j] * (single ? 1 << 10 : 1));
        }
    }
}

#undef ROUNDED
