/* Histogram of few distinct codes: one comparison per code and vector. A byte holds the count of 255 rounds of 64 codes. */
typedef uint8_t NAME(bytes) __attribute__((vector_size(V_BYTES)));

static void NAME(count_few)(size_t k, const uint8_t *codes, size_t rounds, int64_t *counts)
{
    enum { MOST = 255, LANES = 64, VECTORS = LANES / V_BYTES };
    for (; rounds; codes += LANES * MOST, rounds -= rounds < MOST ? rounds : MOST)
        for (size_t c = 0; c < k; c++) {
            NAME(bytes) seen[VECTORS] = {0};
            for (size_t r = 0; r < (rounds < MOST ? rounds : MOST); r++)
#pragma GCC unroll 4
                for (size_t v = 0; v < VECTORS; v++) {
                    NAME(bytes) code;
                    memcpy(&code, codes + r * LANES + v * V_BYTES, V_BYTES);
                    seen[v] -= (NAME(bytes))(code == (uint8_t)c); /* true is all ones */
                }
            uint8_t lane[LANES];
            memcpy(lane, seen, LANES);
            for (size_t l = 0; l < LANES; l++)
                counts[c] += lane[l];
        }
}
