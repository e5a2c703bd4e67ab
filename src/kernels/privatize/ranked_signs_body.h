/* Bottleneck: the normal numbers and their key stream, then the reflections: one row of the frame for each sign. */
#if !REAL_IS_DOUBLE
#include "random/frames_body.h"
#include "random/sign_patterns_body.h"
#endif

#include "privatize/unit_row_body.h"

/* The inner products of a record with the vectors of the frame, up to a factor. Returns the square of its norm. */
LDP_INLINE double NAME(frame_products)(const ranked_signs *p, stream_key *public_key, uint64_t seed, const REAL *x,
                                       float *product)
{
    float v[MAX_DIRECTION] LDP_ALIGNED, row[MAX_DIRECTION] LDP_ALIGNED;
    const size_t dim = p->frame.dim;
    direction_rows rows = directions_of(public_key, seed, dim, p->frame.signs);
    if (dim <= MAX_DIRECTION) {
        const double square = NAME(load_row)(p->per_radius, x, dim, v);
        for (uint32_t j = 0; j < p->frame.signs; j++)
            product[j] = PER_ISA(reflect)(direction_row(&rows, j, row), v + j, dim - j);
        return square;
    }
    double square = 0, sum[MAX_SIGNS][3] = {0};
    for (size_t first = 0; first < dim; first += MAX_DIRECTION) {
        const size_t now = dim - first < MAX_DIRECTION ? dim - first : MAX_DIRECTION;
        square += NAME(load_row)(p->per_radius, x + first, now, v);
        for (uint32_t j = 0; j < p->frame.signs; j++)
            PER_ISA(add_products_f32)(direction_part(&rows, j, first, now, row), v, 1, now, sum[j]);
    }
    for (uint32_t j = 0; j < p->frame.signs; j++)
        product[j] = (float)sum[j][1];
    return square;
}

static int NAME(privatize_ranked_signs)(const void *params, stream_key *key, uint64_t block, const void *records, size_t n,
                                        void *reports)
{
    const ranked_signs *p = params;
    const double limit = 1 + p->tolerance * (REAL_IS_DOUBLE ? 0x1p-53 : 0x1p-24);
    const size_t words = sign_words(&p->frame);
    uint64_t seed[FRAME_ROWS] LDP_ALIGNED;
    int invalid = 0;
    stream seeds = stream_open(key, STREAM_FRAME_SEEDS, block);
    reader coins;
    stream_key public_key;
    directions_open(&public_key);
    stream_draw(&seeds, seed, blocks_for(n, 8));
    reader_open(&coins, key, STREAM_FRAME_COINS, block, words_of_patterns(&p->patterns, n));
    for (size_t i = 0; i < n; i++) {
        uint64_t *report = (uint64_t *)reports + i * (words + 1);
        float product[MAX_SIGNS];
        const double square = NAME(frame_products)(p, &public_key, seed[i], (const REAL *)records + i * p->frame.dim, product);
        report[0] = seed[i];
        PER_ISA(signs_of_products)(&p->patterns, &coins, square, product, report + 1);
        invalid |= outside_of_ball(square, limit * limit);
    }
    return invalid;
}
