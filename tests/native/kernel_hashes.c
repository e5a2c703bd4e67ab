/* Prints a hash of the output of every kernel, for fixed records and a fixed key. tools/equal_bits.py compares the hashes of
 * instruction sets and processors.
 *
 * usage: kernel_hashes [isa], a number of simd/dispatch.h */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "privatize/bins.h"
#include "privatize/clip.h"
#include "privatize/hadamard_response.h"
#include "privatize/l2_ball.h"
#include "privatize/laplace.h"
#include "privatize/linf_ball.h"
#include "privatize/coded_levels.h"
#include "privatize/projective_response.h"
#include "privatize/rank_codebook.h"
#include "privatize/ranked_signs.h"
#include "privatize/residue.h"
#include "privatize/rotated_signs.h"
#include "privatize/sampled_cube.h"
#include "privatize/series.h"
#include "privatize/sign_bit.h"
#include "privatize/set_cube.h"
#include "privatize/set_positions.h"
#include "privatize/set_selection.h"
#include "privatize/subset_selection.h"
#include "privatize/unary_encoding.h"
#include "privatize/view_response.h"
#include "privatize/whole_sets.h"
#include "privatize/window.h"
#include "random/cmac.h"
#include "random/discrete_gaussian.h"
#include "sgd/glm.h"
#include "sgd/quantile.h"
#include "simd/dispatch.h"
#include "strings/sketch_response.h"
#include "survey/assign.h"
#include "survey/columns.h"
#include "survey/encode.h"
#include "tally/directions.h"
#include "tally/frames.h"
#include "tally/rotated.h"
#include "transform/line_sums.h"
#include "transform/walsh.h"

enum { NUMBERS = 40960, CODES = 2048 };

static uint8_t codes[CODES], out[1 << 20];
static uint16_t codes_16[CODES]; /* the same codes */
static uint32_t codes_32[CODES];
static uint64_t codes_64[CODES];
static uint16_t set_records[60 * 3];
static float floats[NUMBERS], small_floats[NUMBERS];
static double doubles[NUMBERS], small_doubles[NUMBERS];
static stream_key key;
static uint64_t state = 1;

/* splitmix64 */
static uint64_t word(void)
{
    uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static double uniform(void) { return (double)(word() >> 11) * 0x1p-53; }

/* FNV-1a */
static void print_hash(const char *name, int value, const void *data, size_t bytes)
{
    uint64_t hash = 1469598103934665603u;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ ((const uint8_t *)data)[i]) * 1099511628211u;
    printf("%s %d %016llx\n", name, value, (unsigned long long)hash);
}

static void privatize(const char *name, privatize_fn *kernel, const void *params, const void *x, size_t n, size_t report_bytes)
{
    memset(out, 0, sizeof out);
    const int invalid = kernel(params, &key, 3, x, n, out) != 0;
    print_hash(name, invalid, out, n * report_bytes);
}

static void codes_and_bits(void)
{
    const uint32_t each = 33000000, fifth = 500000000;
    const randomized_response many = {128, ((uint64_t)1 << 32) - 128 * (uint64_t)each, each, 0x90000000u, 23, 32, 2};
    const randomized_response warner = {2, (uint64_t)1 << 61, (uint64_t)1 << 62, 4, 0, 64, 1};
    const randomized_response five = {5, ((uint64_t)1 << 32) - 5 * (uint64_t)fifth, fifth, 0x90000000u, 27, 32, 3};
    const residue odd = {five, 1.3, 0.1, 0.2, 0};
    residue even = {five, 1.3, 0.1, 0.25, 1};
    even.answer.k = 4;
    const bins cuts = {five, {{0.1, 0.3, 0.5, 0.9}, {0.1, 0.3, 0.5, 0.9}}};
    const sign_bit narrow = {-1, 1, 0.5, 1155000000u, ((uint64_t)1 << 32) - 2 * 1155000000ull, 32};
    const sign_bit wide = {-1, 1, 0.5, (uint64_t)1 << 62, (uint64_t)1 << 63, 64};
    unary_encoding unary = {130, (uint64_t)1 << 62, 0};
    privatize("randomized response", privatize_randomized_response_u8, &many, codes, 2001, 1);
    privatize("Warner", privatize_randomized_response_u8, &warner, codes, 2001, 1);
    privatize("randomized response, u16", privatize_randomized_response_u16, &many, codes_16, 2001, 2);
    privatize("randomized response, u32", privatize_randomized_response_u32, &many, codes_32, 2001, 4);
    privatize("randomized response, u64", privatize_randomized_response_u64, &many, codes_64, 2001, 8);
    privatize("residue modulo 5", privatize_residue_f64, &odd, doubles, 2001, 1);
    privatize("residue modulo 4", privatize_residue_f32, &even, floats, 2001, 1);
    privatize("bins, float", privatize_bins_f32, &cuts, floats, 2001, 1);
    privatize("bins", privatize_bins_f64, &cuts, doubles, 2001, 1);
    privatize("sign bit, float", privatize_sign_bit_f32, &narrow, floats, 2001, 1);
    privatize("sign bit", privatize_sign_bit_f64, &narrow, doubles, 2001, 1);
    privatize("sign bit, 64 bits", privatize_sign_bit_f64, &wide, doubles, 2001, 1);
    privatize("unary encoding", privatize_unary_encoding_u8, &unary, codes, 400, 17);
    privatize("unary encoding, u16", privatize_unary_encoding_u16, &unary, codes_16, 400, 17);
    privatize("unary encoding, u32", privatize_unary_encoding_u32, &unary, codes_32, 400, 17);
    privatize("unary encoding, u64", privatize_unary_encoding_u64, &unary, codes_64, 400, 17);
    unary.optimized = 1;
    privatize("unary encoding, one row", privatize_unary_encoding_u8, &unary, codes, 1, 17);
}

static void balls(void)
{
    static const size_t dims[] = {1, 10, 64, 100, 128, 1000, 5000};
    for (size_t i = 0; i < sizeof dims / sizeof *dims; i++) {
        const size_t dim = dims[i], bytes = (dim + 7) / 8;
        const linf_ball cube = {dim, 1, 1 << 30, 0xbb00000000000000u, i % 2 ? 0 : (uint64_t)1 << 62};
        const l2_ball ball = {dim, 1, 40, 3, 0xbb00000000000000u};
        printf("dim %zu\n", dim);
        privatize("l-infinity, float", privatize_linf_ball_f32, &cube, floats, linf_ball_rows(dim), bytes);
        privatize("l-infinity", privatize_linf_ball_f64, &cube, small_doubles, linf_ball_rows(dim), bytes);
        privatize("l2, float", privatize_l2_ball_f32, &ball, small_floats, l2_ball_rows(dim), 4 * dim);
        privatize("l2", privatize_l2_ball_f64, &ball, small_doubles, l2_ball_rows(dim), 8 * dim);
    }
}

static void sets(void)
{
    for (int bits = 20; bits <= 64; bits += bits == 20 ? 12 : 32) {
        const hadamard_response p = {(uint64_t)0xbb << (bits - 8), 130, 255, bits};
        privatize("Hadamard response", privatize_hadamard_response_u8_u8, &p, codes, 2001, 1);
        privatize("Hadamard response, u8 u16", privatize_hadamard_response_u8_u16, &p, codes, 2001, 2);
        privatize("Hadamard response, u16 u16", privatize_hadamard_response_u16_u16, &p, codes_16, 2001, 2);
        privatize("Hadamard response, u16 u32", privatize_hadamard_response_u16_u32, &p, codes_16, 2001, 4);
        privatize("Hadamard response, u32 u32", privatize_hadamard_response_u32_u32, &p, codes_32, 2001, 4);
    }
    projective_response plane = {.heads = (uint64_t)11 << 60, .k = 127, .order = 2, .length = 7};
    for (uint32_t i = 0; i <= plane.length; i++) { /* integers modulo 2 */
        plane.power[i] = 1u << i;
        plane.first[i] = (1u << i) - 1;
        plane.sum[i & 1][i >> 1 & 1] = (uint8_t)((i ^ i >> 1) & 1);
        plane.product[i & 1][i >> 1 & 1] = (uint8_t)(i & i >> 1 & 1);
        plane.negative[i & 1] = plane.inverse[i & 1] = i & 1;
    }
    privatize("projective response", privatize_projective_response_u8_u8, &plane, codes, 2001, 1);
    projective_response prime = {.heads = (uint64_t)11 << 60, .k = 130, .order = 67, .length = 3, .prime = 67};
    for (uint32_t i = 1, power = 1; i <= prime.length; i++, power *= prime.order) {
        prime.power[i - 1] = power;
        prime.first[i] = prime.first[i - 1] + power;
    }
    privatize("projective response, u8 u16", privatize_projective_response_u8_u16, &prime, codes, 2001, 2);
    privatize("projective response, u16 u16", privatize_projective_response_u16_u16, &prime, codes_16, 2001, 2);
    privatize("projective response, u16 u32", privatize_projective_response_u16_u32, &prime, codes_16, 2001, 4);
    privatize("projective response, u32 u32", privatize_projective_response_u32_u32, &prime, codes_32, 2001, 4);
    static uint32_t rows[33 * 7];
    for (uint32_t i = 0; i < 33 * 7; i++)
        rows[i] = i % 7;
    for (uint32_t slots = 4; slots <= 5; slots++) { /* a window, a table, parities and points, which are the symbols */
        const uint64_t whole = (uint64_t)1 << SPAN_SHIFT;
        coded_levels p = {
            .k = 130, .slots = slots, .slot_bits = slots == 4 ? 2 : 0, .sign_bits = slots - 4, .stream = STREAM_TREE};
        p.level[0] = (coded_level){(uint64_t)11 << 60, whole, WINDOW_CODES, 0, {9, 129}, 138, rows, NULL};
        p.level[1] = (coded_level){(uint64_t)9 << 60, whole / 4, TABLED_CODES, 138, {3, 4}, 7, rows, NULL};
        p.level[2] = (coded_level){(uint64_t)10 << 60, whole, PARITY_CODES, 145, {256, 256}, 512, rows, NULL};
        p.level[3] = (coded_level){(uint64_t)11 << 60, whole, POINT_CODES, 657, {68, 67 * 67}, 4557, rows, &prime};
        for (uint32_t i = 0; i < slots; i++)
            p.slot[i] = (uint8_t)(i % 4);
        p.level[3].reciprocal = whole / 4;
        privatize("coded levels, u8 u16", privatize_coded_levels_u8_u16, &p, codes, 2001, 2);
        privatize("coded levels, u8 u32", privatize_coded_levels_u8_u32, &p, codes, 2001, 4);
        privatize("coded levels, u16 u16", privatize_coded_levels_u16_u16, &p, codes_16, 2001, 2);
        privatize("coded levels, u16 u32", privatize_coded_levels_u16_u32, &p, codes_16, 2001, 4);
        privatize("coded levels, u32 u32", privatize_coded_levels_u32_u32, &p, codes_32, 2001, 4);
        p.slots = 4 - slots % 4; /* without the points, the codes are smaller */
        p.slot[2] = p.slot[3] = 0;
        p.level[0].codes[0] = 2;
        privatize("coded levels, u8 u8", privatize_coded_levels_u8_u8, &p, codes, 2001, 1);
    }
    static const uint32_t k[] = {2, 64, 65, 130, 1000}, size[] = {1, 20, 64, 35, 180}, density[] = {0, 16, 63, 13, 10};
    for (size_t i = 0; i < sizeof k / sizeof *k; i++) {
        const subset_selection p = {(uint64_t)9 << 60, k[i], size[i], density[i]};
        privatize("subset selection", privatize_subset_selection_u8, &p, codes, 60, (k[i] + 7) / 8);
        privatize("subset selection, u16", privatize_subset_selection_u16, &p, codes_16, 60, (k[i] + 7) / 8);
    }
    static uint8_t ticks[60 * 130];
    for (size_t i = 0; i < sizeof ticks; i++)
        ticks[i] = i % 130 % 60 == i / 130 % 60;
    for (int packed = 0; packed < 2; packed++) {
        static uint16_t positions[60 * 3];
        set_positions(ticks, 60, packed ? 1040 : 130, 3, packed, positions);
        print_hash("positions of ticks", packed, positions, sizeof positions);
    }
    set_positions(ticks, 60, 130, 3, 0, set_records);
    for (size_t i = 0; i < 5; i++) {
        static const uint32_t positions[] = {133, 133, 133, 200, 1003}, set_size[] = {2, 9, 40, 20, 90};
        static set_selection p;
        memset(&p, 0, sizeof p);
        p.heads = (uint64_t)11 << 60;
        p.positions = positions[i];
        p.own = 3;
        p.size = set_size[i];
        p.threshold = 1 + i % 2;
        p.density = 11;
        if (i < 2) { /* any ascending numbers, short and long ones */
            for (uint64_t c = 0; c < 4; c++)
                p.up_to[c] = (c + 1) * (i ? (uint64_t)1 << 55 : 1000);
            p.reports = p.up_to[3];
        }
        set_selection_plan(&p);
        privatize("set selection", privatize_set_selection_u16, &p, set_records, 60, (p.positions + 7) / 8);
        privatize("set of one position", privatize_set_codes_u8, &p, set_records, 60, 1);
        privatize("set of one position, u16", privatize_set_codes_u16, &p, set_records, 60, 2);
    }
    static const set_cube few = {{1, 0x1p31, (uint64_t)11 << 60, 5, {1, 5}, 131, 4, 3}, 130, 3};
    static const set_cube some = {{1, 0x1p31, (uint64_t)11 << 60, 41, {1, 41}, 40, 40, 39}, 40, 3};
    static const set_cube all = {{1, 0x1p31, (uint64_t)11 << 60, 0, {0}, 131, 131, 68}, 130, 3};
    privatize("set cube, u8", privatize_set_cube_u8, &few, set_records, 60, 4);
    privatize("set cube, u16", privatize_set_cube_u16, &few, set_records, 60, 8);
    privatize("set cube, u32", privatize_set_cube_u32, &few, set_records, 60, 16);
    privatize("set cube, all signs", privatize_set_cap_cube, &some, set_records, 60, 5);
    privatize("set cube, all signs", privatize_set_cap_cube, &all, set_records, 60, 17);
    static whole_sets whole = {.response = {1 << 16, 3ull << 62, 1ull << 46, 1 << 18, 0, 64, STREAM_WHOLE_SETS},
                               .smaller = {1, 130, 8385},
                               .k = 130,
                               .own = 3,
                               .optional = 1};
    for (uint32_t q = 0; q < 130; q++) { /* any numbers */
        whole.rank[q] = (uint16_t)(q * (q - 1) / 2);
        whole.rank[130 + q] = (uint16_t)(300 * q);
    }
    privatize("whole sets, u16", privatize_whole_sets_u16, &whole, set_records, 60, 2);
    whole.response =
        (randomized_response){200, ((uint64_t)1 << 32) - 200 * 16000000ull, 16000000, 0, 22, 32, STREAM_WHOLE_SETS};
    whole.response.reciprocal = 0x8637bd06u;
    privatize("whole sets, u8", privatize_whole_sets_u8, &whole, set_records, 60, 1);
    for (size_t i = 0; i < 3; i++) {
        static const uint32_t questions[] = {9, 20, 10}, plain[] = {2, 4, 2}, flip[] = {3, 10, 0};
        static int64_t state[40 * 40 + 20 * 20];
        static view_response p;
        uint32_t answers[20];
        memset(&p, 0, sizeof p);
        memset(state, 0, sizeof state);
        for (uint32_t j = 0; j < questions[i]; j++) {
            answers[j] = flip[i] ? 2 : 2 + j % 3;
            p.number[j] = flip[i] ? 0 : j % 3;
        }
        view_format_open(&p.format, questions[i], answers, plain[i], flip[i]);
        for (uint32_t a = 0; a < 9; a++)
            p.direct[a / 3][a % 3] = (uint64_t)(5 + a) << 60;
        p.direct_flip = (uint64_t)7 << 60;
        p.plain = 100;
        p.flips = flip[i] > 0;
        view_response_plan(&p);
        privatize("view response", privatize_view_response_u16, &p, codes_16, 60, view_report_bytes(&p.format));
        tally_views(&p.format, out, 60, state);
        print_hash("views", (int)i, state, sizeof state);
    }
    static int64_t counts[1 << 16];
    for (int log = 0; log <= 16; log += 4) {
        for (size_t i = 0; i < (size_t)1 << log; i++)
            counts[i] = (int64_t)(word() >> 40);
        walsh_i64(counts, (size_t)1 << log);
        print_hash("Walsh transform", log, counts, sizeof *counts << log);
    }
}

static void sketches(void)
{
    /* Whole strings of 9 bytes and prefixes of 4, with 2 functions and 5 buckets each. */
    static const uint64_t coefficient[] = {12345678901234567u, 98765432109876543u, 5, 7, 11, 1u << 30};
    const string_hashes strings = {{1, 2}, coefficient, 2, 5, 9}, prefixes = {{3, 4}, coefficient, 2, 5, 4};
    const randomized_response five = {5, ((uint64_t)1 << 32) - 5 * 500000000ull, 500000000, 0x90000000u, 27, 32, 2};
    const sketch_response p = {{strings, prefixes}, 2, 2, 10, 5, &five, privatize_randomized_response_u8, 1, 1, 1};
    privatize("sketch response", privatize_sketch_response, &p, codes, 200, 1);
}

static void hyperplanes(void)
{
    enum { PRIME = 67, VECTORS = PRIME * PRIME, POINTS = VECTORS + PRIME + 1 };
    static uint32_t counts[VECTORS], wider[(PRIME + 1) * PRIME], below[PRIME + 1], hits[VECTORS], scratch[1 << 17];
    static int64_t sums[POINTS];
    for (size_t i = 0; i < VECTORS; i++)
        counts[i] = (uint32_t)word();
    for (size_t i = 0; i <= PRIME; i++)
        below[i] = (uint32_t)word();
    add_coordinate_u32((line_space){PRIME, 1, 1}, counts, wider, scratch);
    hyperplane_sums_u32((line_space){PRIME, 2, PRIME + 1}, wider, below, 7, hits, scratch);
    print_hash("sums over lines", PRIME, wider, sizeof wider);
    print_hash("sums over hyperplanes", PRIME, hits, sizeof hits);
    for (size_t code = 0; code < POINTS; code += 97)
        add_hyperplane_i64(PRIME, code, (int64_t)code, POINTS - 1, sums);
    print_hash("sums over few hyperplanes", PRIME, sums, sizeof sums);
}

static void windows(void)
{
    const window moving = {
        -1, 1, 7.0 * (1 << 28), 29, 7u * (1u << 29) - 1, 5, 149536196, 747680980, 3854991419u, 26, 3311980810u, 25, 1, 0, 0,
        0,  12};
    window mixed = {-1,
                    1,
                    12.0 * (1 << 27),
                    28,
                    12u * (1u << 28) - 1,
                    4,
                    971444922,
                    3885779688u,
                    2373621970u,
                    28,
                    3975679574u,
                    23,
                    0,
                    119194040,
                    2143850,
                    0,
                    16};
    mixed.bit_slope = (uint32_t)(((uint64_t)(117050190 - 2143850) << 32) / (12ull << 28));
    privatize("window, float", privatize_window_f32, &moving, floats, 2001, 1);
    privatize("window", privatize_window_f64, &moving, doubles, 2001, 1);
    privatize("window with a bit, float", privatize_window_f32, &mixed, floats, 2001, 1);
    privatize("window with a bit", privatize_window_f64, &mixed, doubles, 2001, 1);
}

static void cubes_and_codebooks(void)
{
    const sampled_cube few = {1, 0x1p31, (uint64_t)11 << 60, 5, {1, 5}, 10, 4, 3};
    const sampled_cube some = {1, 0x1p31, (uint64_t)11 << 60, 11, {1, 11}, 10, 10, 9};
    const sampled_cube all = {1, 0x1p31, (uint64_t)11 << 60, 0, {0}, 70, 70, 38};
    privatize("sampled cube, float u8", privatize_sampled_cube_f32_u8, &few, floats, 500, 4);
    privatize("sampled cube, float u16", privatize_sampled_cube_f32_u16, &few, floats, 500, 8);
    privatize("sampled cube, float u32", privatize_sampled_cube_f32_u32, &few, floats, 500, 16);
    privatize("sampled cube, u8", privatize_sampled_cube_f64_u8, &few, doubles, 500, 4);
    privatize("sampled cube, u16", privatize_sampled_cube_f64_u16, &few, doubles, 500, 8);
    privatize("sampled cube, u32", privatize_sampled_cube_f64_u32, &few, doubles, 500, 16);
    privatize("cap cube, float", privatize_cap_cube_f32, &some, floats, 500, 2);
    privatize("cap cube", privatize_cap_cube_f64, &all, doubles, 500, 9);
    static const uint32_t dims[] = {1, 10, 100, 5000, 20}, vectors[] = {16, 1, 64, 16, 200}, top[] = {8, 1, 28, 7, 9},
                          bits[] = {5, 1, 7, 5, 9};
    static float rows[4 * 5000];
    for (size_t i = 0; i < sizeof dims / sizeof *dims; i++) {
        const uint32_t dim = dims[i], n = dim > 1000 ? 4 : 40;
        const rank_codebook p = {1, 400, (uint64_t)11 << 60, dim, vectors[i], top[i], bits[i]};
        const direction_format format = {dim, 3.7, bits[i]};
        privatize("rank codebook, float", privatize_rank_codebook_f32, &p, small_floats, n, 8);
        privatize("rank codebook", privatize_rank_codebook_f64, &p, small_doubles, n, 8);
        expand_directions(&format, (const uint64_t *)out, 4, rows);
        print_hash("directions", (int)dim, rows, 4 * dim * sizeof *rows);
    }
}

/* Sizes 1 to `signs`, each a member for about half of the words, whatever must still be reached. */
static void open_patterns(sign_patterns *p, uint32_t signs)
{
    static uint64_t limit[70 * 71 * 72 / 6 + 70];
    uint32_t sum = 0;
    for (uint32_t i = 0; i < signs; i++) {
        sum += i + 1;
        p->size[i] = i + 1, p->sum[i] = sum, p->rank[i] = (37 * i + 5) % signs, p->negative[i] = i & 1;
    }
    for (size_t i = 0; i < sizeof limit / sizeof *limit; i++)
        limit[i] = i * 0x9e3779b97f4a7c15u;
    p->heads = (uint64_t)11 << 60, p->limit = limit, p->signs = signs;
    p->least[0] = 9 * signs * signs / 49, p->least[1] = 13 * signs * signs / 49;
}

static void frames(void)
{
    static ranked_signs p;
    static float rows[4 * 100];
    open_patterns(&p.patterns, 70);
    p.per_radius = 1, p.tolerance = 400;
    for (uint32_t dim = 70; dim <= 100; dim += 30) {
        p.frame = (frame){dim, 70};
        const frame_format format = {p.frame, 1.5, 20};
        privatize("ranked signs, float", privatize_ranked_signs_f32, &p, small_floats, 40, 24);
        privatize("ranked signs", privatize_ranked_signs_f64, &p, small_doubles, 40, 24);
        expand_frames(&format, (const uint64_t *)out, 4, rows);
        print_hash("frames", (int)dim, rows, 4 * dim * sizeof *rows);
    }
}

static void rotations(void)
{
    static sign_patterns patterns;
    static uint64_t signs[(2 << 14) / 64];
    static float workspace[(1 << 14) + (COLUMNS << 2)];
    static int64_t sums[1 << 14];
    open_patterns(&patterns, 64);
    for (uint32_t bits = 12; bits <= 14; bits += 2) {
        const uint32_t dim = bits == 12 ? 300 : 9000;
        const rotated_signs p = {1, 400, dim, bits, &patterns, signs, workspace};
        const rotated_format format = {bits, 64};
        rotation_signs(bits, bits, signs);
        privatize("rotated signs, float", privatize_rotated_signs_f32, &p, small_floats, 4, 16);
        privatize("rotated signs", privatize_rotated_signs_f64, &p, small_doubles, 4, 16);
        memset(sums, 0, sizeof sums);
        tally_rotated(&format, out, 4, sums);
        rotate_back_i64(signs, bits, sums);
        print_hash("rotations", (int)bits, sums, sizeof *sums << bits);
    }
}

static void grids(void)
{
    static laplace p;
    p.noise.digits = 5 * SET_GROUPS;
    p.noise.groups = SET_GROUPS;
    p.noise.stream = STREAM_LAPLACE;
    p.noise.carry.high = (uint64_t)1 << 57;
    for (size_t k = 0; k < SET_GROUPS; k++) {
        digit_group *g = p.noise.group + k;
        g->mask = GROUP_VALUES - 1;
        for (size_t i = 0; i < GROUP_VALUES; i++) {
            g->threshold[i] = (uint16_t)word();
            g->rest[i].high = word();
            g->alias[i] = (uint16_t)((i + 7) % GROUP_VALUES);
        }
    }
    p.dim = 1;
    p.upper = 1;
    p.grid = 1.0 / 1024;
    p.per_grid = p.span = 1024;
    privatize("Laplace", privatize_laplace_f64, &p, doubles, 8001, 8);
    privatize("Laplace, float", privatize_laplace_f32, &p, floats, 4001, 8);
    p.dim = 10;
    p.l1_limit = 900;
    p.radius = 1;
    p.tolerance = 12;
    privatize("Laplace, rows", privatize_laplace_f32, &p, small_floats, 400, 80);
}

static void steps_and_series(void)
{
    static uint32_t coins[4096];
    for (size_t i = 0; i < 4096; i++)
        coins[i] = (uint32_t)word();
    for (int any_time = 0; any_time < 2; any_time++) {
        quantile_sgd p;
        quantile_state at = {0.5, 1, 0.5, {0}, {0}};
        quantile_open(&p, 0, 1, 0.01, -0.012, 3u << 30, 32, any_time);
        const int invalid = quantile_steps_f64(&p, coins, doubles, 4001, &at);
        print_hash("quantile", invalid, &at, sizeof at);
    }
    static const size_t terms[] = {5, 32, 33, 1000};
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++) {
        const series p = {terms[i], 0, 1, 0x1p32, 0xbb00000000000000u};
        printf("terms %zu\n", terms[i]);
        privatize("series, float", privatize_series_terms_f32, &p, floats, 600 < series_rows(terms[i]) ? 600 : 16,
                  (terms[i] + 7) / 8);
        privatize("series", privatize_series_terms_f64, &p, doubles, series_rows(terms[i]), (terms[i] + 7) / 8);
    }
}

static void gaussians(void)
{
    static const uint64_t variances[] = {1, 100, 1000003, MAX_VARIANCE};
    for (size_t i = 0; i < sizeof variances / sizeof *variances; i++) {
        const gaussian_steps steps = gaussian_open(variances[i], 0x1p-40);
        stream s = stream_open(&key, STREAM_DISCRETE_GAUSSIAN, i);
        static gaussian_proposals found[40];
        for (size_t k = 0; k < 40; k++)
            gaussian_propose(&steps, &s, found + k);
        print_hash("discrete Gaussian", (int)i, found, sizeof found);
    }
}

static void descents(void)
{
    static const char *names[] = {"logistic descent", "linear descent", "Poisson descent"};
    static const size_t dims[] = {5, 50, 100};
    static float rows[4096], normals[4096 + 64], direction[4096], squares[128];
    static double size[128], level[128], low[128], middle[128], high[128], y[128], positions[129 * 128], sums[4 * 128];
    const l2_ball_reports reports = {normals, direction, size, level};
    const glm_steps steps = {size, low, middle, high};
    for (int family = LOGISTIC; family <= POISSON; family++)
        for (size_t d = 0; d < 3; d++) {
            const size_t dim = dims[d], padded = (dim + GLM_PAD - 1) / GLM_PAD * GLM_PAD, n = l2_ball_rows(padded);
            const glm model = {dim - 1, dim, padded, 1, 0.5, 2, 3, family, 0};
            const l2_ball ball = {dim, 1 / 2.3, 40, 3, 0xbb00000000000000u};
            memset(positions, 0, sizeof positions);
            memset(sums, 0, sizeof sums);
            glm_rows_f64(&model, small_doubles + 100, NULL, n, rows, squares);
            glm_rows_f32(&model, floats, NULL, n / 2, rows, squares);
            for (size_t i = 0; i < n; i++)
                y[i] = family == LINEAR ? doubles[i] : (double)(i % 2);
            l2_ball_parts(&ball, &key, 5, rows, squares, n, padded, &reports);
            glm_limits(&model, y, level, n, &steps);
            glm_descend(&model, &steps, rows, direction, n, positions, NULL, 0);
            glm_add(&model, positions + padded, n, 7, sums);
            print_hash(names[family], (int)dim, positions, (n + 1) * padded * sizeof *positions);
            print_hash("sums", (int)dim, sums, sizeof sums);
        }
}

static void clips(void)
{
    const row_range rows = {10, 0.9};
    small_floats[13] = __builtin_nanf("");
    clip_rows_f32(&rows, small_floats, 60, out);
    print_hash("rows", 0, out, 600 * sizeof *small_floats);
}

static void surveys(void)
{
    const uint32_t thresholds[] = {1u << 28, 1u << 30, 3u << 29, 4000000000u}, table[] = {2, 0, 1, 5, 4, 3, 7};
    uint16_t *question = (uint16_t *)out, row[2000], left[2000];
    uint64_t words[2000];
    for (uint16_t i = 0; i < 2000; i++) {
        row[i] = (uint16_t)(i * 17 % 2000);
        left[i] = i % 3;
        words[i] = word();
    }
    assign_one(&key, 7, thresholds, 4, 5000, question);
    print_hash("one question", 0, question, 5000 * sizeof *question);
    assign_step(&key, 7, 2, 5, 2000, left, out);
    print_hash("some questions", 0, out, 2000);
    print_hash("questions left", 0, left, sizeof left);
    const column numbers = {floats, codes, 3, COLUMN_FLOAT32, 0, 0, 0, NULL};
    const column whole = {doubles, NULL, 100, COLUMN_FLOAT64, 0, 0, 0, NULL};
    const column labels = {codes, NULL, 5, COLUMN_UINT8, 1, 6, 1, table};
    column_numbers(&numbers, 4, row, 2000, (double *)out);
    print_hash("numbers of rows", column_numbers_invalid(&numbers, 0, 2000, -1, 1, 1), out, 2000 * sizeof(double));
    column_symbols(&labels, 4, row, 2000, (uint32_t *)out);
    print_hash("symbols of rows", column_symbols_invalid(&labels, 0, 2000), out, 2000 * sizeof(uint32_t));
    encode_low_high(words, doubles + 100, 2000, 0.2, 1 / 0.6, 2, (uint32_t *)out);
    print_hash("low or high", column_numbers_invalid(&whole, 0, 2000, 0, 1, 0), out, 2000 * sizeof(uint32_t));
    encode_bins(doubles, 2000, small_doubles, 7, 9, (uint32_t *)out);
    print_hash("bins of numbers", 0, out, 2000 * sizeof(uint32_t));
    memcpy(out, doubles, 2000 * sizeof(double));
    encode_steps((double *)out, 2000, 0.2, 0.8, 37);
    print_hash("steps of numbers", 0, out, 2000 * sizeof(double));
    key_prefix prefix;
    prefix_open(&prefix, codes, codes + 40, 3);
    prefix_derive(&prefix, codes + 200, 25, out);
    print_hash("derived key", 0, out, KEY_BYTES);
}

int main(int count, char **arguments)
{
    if (count > 1 && ldp_isa_set(atoi(arguments[1])))
        return 2; /* not supported by this processor */
    const uint8_t bytes[KEY_BYTES] = {1, 2, 3};
    key_open(&key, bytes);
    for (size_t i = 0; i < CODES; i++)
        codes_16[i] = codes_32[i] = codes_64[i] = codes[i] = (uint8_t)(word() % 130);
    for (size_t i = 0; i < NUMBERS; i++) {
        doubles[i] = uniform();
        floats[i] = (float)(2 * doubles[i] - 1);
        small_doubles[i] = 0.01 * (2 * uniform() - 1);
        small_floats[i] = (float)small_doubles[i];
    }
    const float strange[] = {__builtin_nanf(""), -__builtin_inff(), __builtin_inff(), 5};
    for (size_t i = 0; i < 4; i++)
        floats[5 * i] = strange[i], doubles[1990 + i] = (double)strange[i];
    codes_and_bits();
    sets();
    sketches();
    hyperplanes();
    windows();
    balls();
    cubes_and_codebooks();
    frames();
    rotations();
    grids();
    steps_and_series();
    gaussians();
    descents();
    clips();
    surveys();
    return 0;
}
