/* Rows that are shifted by different distances are added: every row stands twice, one copy after the other, so that a shifted
 * row is contiguous. Bottleneck: loads from the first two caches, one for each addition of a vector. */
typedef uint32_t NAME(lanes) __attribute__((vector_size(V_BYTES)));

/* sums[v] += the sum over the rows of row[v]. The sums and all rows have `width` readable numbers, whole vectors. */
static void NAME(add_rows)(const uint32_t *const row[LINE_ROWS], size_t width, uint32_t *sums)
{
    enum { LANES = V_BYTES / 4 };
    for (size_t v = 0; v < width; v += LANES) {
        NAME(lanes) total, next;
        memcpy(&total, sums + v, V_BYTES);
#pragma GCC unroll 8
        for (size_t i = 0; i < LINE_ROWS; i++) {
            memcpy(&next, row[i] + v, V_BYTES);
            total += next;
        }
        memcpy(sums + v, &total, V_BYTES);
    }
}
