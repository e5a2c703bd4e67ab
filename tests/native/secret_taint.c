/* Runs the kernels whose time is claimed to be independent of the record, under memcheck, a tool of Valgrind. Secrets are
 * marked as undefined, so memcheck reports every conditional jump and every address that depends on them.
 * tools/secret_taint.py compiles and runs the program and reads the reports.
 *
 * The secrets are the records and the words of all streams but those of `is_public`, which are drawn without the record and the
 * private coin. The program is linked with --wrap=stream_draw, so that words are marked where they leave the cipher. A case fails
 * if the marks do not reach its output.
 *
 * usage: secret_taint isa [case], a number of simd/dispatch.h; without a case, prints the names of all cases */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <valgrind/memcheck.h>

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
#include "sgd/glm.h"
#include "sgd/quantile.h"
#include "simd/branchless.h"
#include "simd/dispatch.h"
#include "strings/sketch_response.h"

enum { UNSUPPORTED = 2, NO_VALGRIND = 3, UNMARKED = 4 }; /* exit status */
enum { NUMBERS = 16384, ROOM = 1 << 17 };
enum { RECORDS = 1, WORDS = 2 }; /* secrets */

static uint8_t codes[NUMBERS], out[ROOM], defined[ROOM];
static uint16_t codes_16[NUMBERS];
static uint32_t codes_32[NUMBERS];
static uint64_t codes_64[NUMBERS];
static float floats[NUMBERS];
static double doubles[NUMBERS];
static stream_key key;
static const char *wanted;
static int found, marking; /* whether the case exists; secrets that are marked at the moment */

void __real_stream_draw(stream *s, void *to, size_t blocks);
void __wrap_stream_draw(stream *s, void *to, size_t blocks);

/* Directions of the l2 ball, seeds and directions of the rank codebook and of frames, rotations and their rows, sets of others of
 * subset and set selection, and views. */
static int is_public(uint32_t id)
{
    return id == STREAM_L2_DIRECTION || id == STREAM_CODEBOOK_SEEDS || id == STREAM_FRAME_SEEDS ||
           id == STREAM_CODEBOOK_DIRECTION || id == STREAM_ROTATION || id == STREAM_ROTATED_ROWS ||
           id == STREAM_ROTATED_SEEDS || id == STREAM_SUBSET_BITS || id == STREAM_SUBSET_INDICES || id == STREAM_SET_BITS ||
           id == STREAM_SET_INDICES || id == STREAM_VIEWS;
}

void __wrap_stream_draw(stream *s, void *to, size_t blocks)
{
    __real_stream_draw(s, to, blocks);
    if ((marking & WORDS) && !is_public(s->id))
        (void)VALGRIND_MAKE_MEM_UNDEFINED(to, blocks * AES_BLOCK);
}

/* Returns the number of bytes of the reports that depend on the secrets. */
static size_t dependent(privatize_fn *kernel, const void *params, void *x, size_t n, size_t record_bytes, size_t report_bytes,
                        int secrets)
{
    size_t count = 0;
    memset(out, 0, sizeof out);
    memset(defined, 0, sizeof defined);
    marking = secrets;
    if (secrets & RECORDS)
        (void)VALGRIND_MAKE_MEM_UNDEFINED(x, n * record_bytes);
    (void)kernel(params, &key, 3, x, n, out);
    marking = 0;
    (void)VALGRIND_MAKE_MEM_DEFINED(x, n * record_bytes);
    (void)VALGRIND_GET_VBITS(out, defined, n * report_bytes); /* a bit is 1 if it is undefined */
    (void)VALGRIND_MAKE_MEM_DEFINED(out, sizeof out);
    for (size_t i = 0; i < n * report_bytes; i++)
        count += defined[i] != 0;
    return count;
}

/* Runs a case, if it is the one that is wanted: with each of the secrets marked, and with all of them. */
static void run(const char *name, privatize_fn *kernel, const void *params, void *x, size_t n, size_t record_bytes,
                size_t report_bytes, int secrets)
{
    if (wanted == NULL)
        puts(name);
    if (wanted == NULL || strcmp(name, wanted) != 0)
        return;
    found = 1;
    for (int one = RECORDS; one <= WORDS; one *= 2)
        if ((secrets & one) && dependent(kernel, params, x, n, record_bytes, report_bytes, one) == 0) {
            printf("no byte of the report depends on the %s\n", one == RECORDS ? "records" : "words");
            exit(UNMARKED);
        }
    const size_t all = n * report_bytes, count = dependent(kernel, params, x, n, record_bytes, report_bytes, secrets);
    if (count != all) {
        printf("%zu of %zu bytes of the report depend on the secrets\n", count, all);
        exit(UNMARKED);
    }
}

static void privatize(const char *name, privatize_fn *kernel, const void *params, void *x, size_t n, size_t record_bytes,
                      size_t report_bytes)
{
    run(name, kernel, params, x, n, record_bytes, report_bytes, RECORDS | WORDS);
}

/* The low byte of each report: small codes have no more bits, and the seed of the rank codebook is public. */
#define DEFINE_LOW_BYTES(name, kernel, type)                                                              \
    static int name(const void *params, stream_key *k, uint64_t block, const void *x, size_t n, void *to) \
    {                                                                                                     \
        static type reports[2048];                                                                        \
        const int invalid = kernel(params, k, block, x, n, reports);                                      \
        for (size_t i = 0; i < n; i++)                                                                    \
            ((uint8_t *)to)[i] = (uint8_t)reports[i];                                                     \
        return invalid;                                                                                   \
    }

DEFINE_LOW_BYTES(hadamard_u8_u16, privatize_hadamard_response_u8_u16, uint16_t)
DEFINE_LOW_BYTES(hadamard_u16_u16, privatize_hadamard_response_u16_u16, uint16_t)
DEFINE_LOW_BYTES(hadamard_u16_u32, privatize_hadamard_response_u16_u32, uint32_t)
DEFINE_LOW_BYTES(hadamard_u32_u32, privatize_hadamard_response_u32_u32, uint32_t)
DEFINE_LOW_BYTES(indices_f32, privatize_rank_codebook_f32, uint64_t)
DEFINE_LOW_BYTES(indices_f64, privatize_rank_codebook_f64, uint64_t)

static void responses(void)
{
    const uint32_t each = 33000000, fifth = 500000000;
    const uint64_t unit = (uint64_t)1 << 53; /* 2^64 / 2048 */
    const randomized_response many = {128, ((uint64_t)1 << 32) - 128 * (uint64_t)each, each, 0x90000000u, 23, 32, 2};
    const randomized_response bit = {2, 1024 * unit, 512 * unit, 4, 0, 64, STREAM_WARNER};
    const randomized_response narrow = {5, ((uint64_t)1 << 32) - 5 * (uint64_t)fifth, fifth, 0x90000000u, 27, 32, 3};
    const randomized_response wide = {5, 1543 * unit, 101 * unit, UINT64_MAX / (101 * unit), 0, 64, 3};
    const randomized_response large = {1000, 1048 * unit, unit, 2048, 0, 64, STREAM_RANDOMIZED_RESPONSE};
    privatize("Warner's response", privatize_randomized_response_u8, &bit, codes, 300, 1, 1);
    privatize("randomized response, 32 bits", privatize_randomized_response_u8, &many, codes, 300, 1, 1);
    privatize("randomized response, u8", privatize_randomized_response_u8, &wide, codes, 300, 1, 1);
    privatize("randomized response, u16", privatize_randomized_response_u16, &large, codes_16, 300, 2, 2);
    privatize("randomized response, u32", privatize_randomized_response_u32, &large, codes_32, 300, 4, 4);
    privatize("randomized response, u64", privatize_randomized_response_u64, &large, codes_64, 300, 8, 8);

    const residue odd = {narrow, 1.3, 0.1, 0.2, 0}, odd_wide = {wide, 1.3, 0.1, 0.2, 0};
    residue even = {narrow, 1.3, 0.1, 0.25, 1};
    even.answer.k = 4;
    privatize("residue, f32", privatize_residue_f32, &odd, floats, 301, 4, 1);
    privatize("residue, f32", privatize_residue_f32, &even, floats, 301, 4, 1);
    privatize("residue, f64", privatize_residue_f64, &odd_wide, doubles, 301, 8, 1);
    privatize("residue, f64", privatize_residue_f64, &even, doubles, 301, 8, 1);

    const bins cuts = {narrow, {{0.1, 0.3, 0.5, 0.9}, {0.1, 0.3, 0.5, 0.9}}}, one_cut = {bit, {{0.5}, {0.5}}};
    privatize("bins, f32", privatize_bins_f32, &cuts, floats, 301, 4, 1);
    privatize("bins, f32", privatize_bins_f32, &one_cut, floats, 1, 4, 1);
    privatize("bins, f64", privatize_bins_f64, &cuts, doubles, 301, 8, 1);
    privatize("bins, f64", privatize_bins_f64, &one_cut, doubles, 1, 8, 1);
}

static void sign_bits(void)
{
    const sign_bit narrow = {-1, 1, 0.5, 1155000000u, ((uint64_t)1 << 32) - 2 * 1155000000ull, 32};
    const sign_bit wide = {-1, 1, 0.5, (uint64_t)1 << 62, (uint64_t)1 << 63, 64};
    const size_t sizes[] = {1, 256, 301};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        privatize("sign bit, 32 bits, f32", privatize_sign_bit_f32, &narrow, floats, sizes[i], 4, 1);
        privatize("sign bit, 32 bits, f64", privatize_sign_bit_f64, &narrow, doubles, sizes[i], 8, 1);
        privatize("sign bit, 64 bits, f32", privatize_sign_bit_f32, &wide, floats, sizes[i], 4, 1);
        privatize("sign bit, 64 bits, f64", privatize_sign_bit_f64, &wide, doubles, sizes[i], 8, 1);
    }
}

static void hadamard_responses(void)
{
    const uint64_t third = 0x5555555555555555u;
    for (int bits = 20; bits <= 64; bits += bits == 20 ? 12 : 32) {
        const hadamard_response small = {2 * (third >> (64 - bits)), 120, 127, bits};
        const hadamard_response wider = {2 * (third >> (64 - bits)), 130, 255, bits};
        const hadamard_response medium = {2 * (third >> (64 - bits)), 1000, 1023, bits};
        const size_t sizes[] = {1, 256, 301};
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            const size_t n = sizes[i];
            privatize("Hadamard response, u8 u8", privatize_hadamard_response_u8_u8, &small, codes, n, 1, 1);
            run("Hadamard response, u8 u16", hadamard_u8_u16, &wider, codes, n, 1, 1, RECORDS | WORDS);
            run("Hadamard response, u16 u16", hadamard_u16_u16, &medium, codes_16, n, 2, 1, RECORDS | WORDS);
            run("Hadamard response, u16 u32", hadamard_u16_u32, &medium, codes_16, n, 2, 1, RECORDS | WORDS);
            run("Hadamard response, u32 u32", hadamard_u32_u32, &medium, codes_32, n, 4, 1, RECORDS | WORDS);
        }
    }
}

/* A design whose quotients are divisions, and one with comparisons and the bit. */
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
    const size_t sizes[] = {64, 256, 301};
    mixed.bit_slope = (uint32_t)(((uint64_t)(117050190 - 2143850) << 32) / (12ull << 28));
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        privatize("window, f32", privatize_window_f32, &moving, floats, sizes[i], 4, 1);
        privatize("window, f64", privatize_window_f64, &moving, doubles, sizes[i], 8, 1);
        privatize("window with a bit, f32", privatize_window_f32, &mixed, floats, sizes[i], 4, 1);
        privatize("window with a bit, f64", privatize_window_f64, &mixed, doubles, sizes[i], 8, 1);
    }
}

static void subsets(void)
{
    static const uint32_t k[] = {2, 8, 64, 65, 130}, size[] = {1, 3, 20, 64, 35}, density[] = {0, 17, 16, 63, 13};
    for (size_t i = 0; i < sizeof k / sizeof *k; i++) {
        const subset_selection p = {(uint64_t)9 << 60, k[i], size[i], density[i]};
        privatize("subset selection, u8", privatize_subset_selection_u8, &p, codes, 31, 1, (k[i] + 7) / 8);
        privatize("subset selection, u16", privatize_subset_selection_u16, &p, codes_16, 31, 2, (k[i] + 7) / 8);
    }
}

static int positions_of_ticks(const void *packed, stream_key *unused, uint64_t block, const void *x, size_t n, void *to)
{
    (void)unused;
    (void)block;
    set_positions(x, n, 70, 3, *(const int *)packed, to);
    return 0;
}

static void set_selections(void)
{
    static const uint32_t positions[] = {23, 103, 103, 300, 103}, own[] = {3, 3, 3, 40, 3}, size[] = {2, 9, 20, 20, 4};
    static const int both[] = {0, 1};
    for (size_t i = 0; i < sizeof positions / sizeof *positions; i++) {
        static set_selection p;
        memset(&p, 0, sizeof p);
        p.heads = (uint64_t)11 << 60;
        p.positions = positions[i];
        p.own = own[i];
        p.size = size[i];
        p.threshold = i == 3 ? 2 : 1;
        p.density = 11;
        if (i < 2) { /* any ascending numbers, short and long ones */
            for (uint64_t c = 0; c <= own[i]; c++)
                p.up_to[c] = (c + 1) * (i ? (uint64_t)1 << 55 : 1000);
            p.reports = p.up_to[own[i]];
        }
        set_selection_plan(&p);
        privatize("set selection", privatize_set_selection_u16, &p, codes_16, 9, 2 * own[i], (positions[i] + 7) / 8);
        privatize("set selection, position u8", privatize_set_codes_u8, &p, codes_16, 9, 2 * own[i], 1);
    }
    static set_selection wide = {.heads = (uint64_t)11 << 60, .positions = 60003, .own = 3, .size = 1, .threshold = 1};
    privatize("set selection, position u16", privatize_set_codes_u16, &wide, codes_16, 9, 6, 2);
    run("positions of ticks", positions_of_ticks, &both[0], codes, 9, 70, 6, RECORDS);
    run("positions of ticks, packed", positions_of_ticks, &both[1], codes, 9, 9, 6, RECORDS);
}

static void whole(void)
{
    static whole_sets p = {.response = {1351, 0, 1ull << 52, 4096, 0, 64, STREAM_WHOLE_SETS},
                           .smaller = {1, 20, 190},
                           .k = 20,
                           .own = 3,
                           .optional = 1};
    p.response.direct = -1351ull * p.response.words_per_symbol;
    for (uint32_t q = 0; q < 20; q++) {
        p.rank[q] = (uint16_t)(q * (q - 1) / 2);
        p.rank[20 + q] = (uint16_t)(q * (q - 1) * (q - 2) / 6);
    }
    privatize("whole sets, u16", privatize_whole_sets_u16, &p, codes_16, 40, 6, 2);
    p.response =
        (randomized_response){5, ((uint64_t)1 << 32) - 5 * 500000000ull, 500000000, 0x90000000u, 27, 32, STREAM_WHOLE_SETS};
    privatize("whole sets, u8", privatize_whole_sets_u8, &p, codes_16, 40, 6, 1);
}

/* The symbol of each report; the view is public. */
static int symbols_of_views(const void *params, stream_key *k, uint64_t block, const void *x, size_t n, void *to)
{
    static uint8_t reports[4096];
    const view_response *p = params;
    const size_t bytes = view_report_bytes(&p->format), start = view_mask_bytes(&p->format) + 1;
    const int invalid = privatize_view_response_u16(params, k, block, x, n, reports);
    for (size_t i = 0; i < n; i++)
        memcpy((uint8_t *)to + i * p->format.symbol_bytes, reports + i * bytes + start, p->format.symbol_bytes);
    return invalid;
}

static void views(void)
{
    static const uint32_t questions[] = {4, 20, 10}, plain[] = {2, 4, 2}, flip[] = {3, 10, 0};
    for (size_t i = 0; i < 3; i++) {
        static view_response p;
        uint32_t answers[20];
        memset(&p, 0, sizeof p);
        for (uint32_t j = 0; j < questions[i]; j++) {
            answers[j] = flip[i] ? 2 : 2 + j % 3;
            p.number[j] = flip[i] ? 0 : j % 3;
        }
        if (view_format_open(&p.format, questions[i], answers, plain[i], flip[i]))
            exit(UNMARKED);
        for (uint32_t a = 0; a < 9; a++)
            p.direct[a / 3][a % 3] = (uint64_t)(5 + a) << 60;
        p.direct_flip = (uint64_t)7 << 60;
        p.plain = 100;
        p.flips = flip[i] > 0;
        view_response_plan(&p);
        privatize("view response", symbols_of_views, &p, codes_16, 31, 2 * questions[i], p.format.symbol_bytes);
    }
}

static void codebooks(void)
{
    static const uint32_t dims[] = {1, 2, 10, 100, 4}, vectors[] = {16, 1, 16, 64, 160}, top[] = {8, 1, 8, 28, 70},
                          bits[] = {5, 1, 5, 7, 9};
    for (size_t i = 0; i < sizeof dims / sizeof *dims; i++) {
        const rank_codebook p = {1, 40, (uint64_t)11 << 60, dims[i], vectors[i], top[i], bits[i]};
        run("rank codebook, f32", indices_f32, &p, floats, 9, 4 * dims[i], 1, RECORDS | WORDS);
        run("rank codebook, f64", indices_f64, &p, doubles, 9, 8 * dims[i], 1, RECORDS | WORDS);
    }
}

/* The low byte of the signs of each report. */
#define DEFINE_SIGNS(name, kernel, signs_of)                                                              \
    static int name(const void *params, stream_key *k, uint64_t block, const void *x, size_t n, void *to) \
    {                                                                                                     \
        static uint64_t reports[64 * 3];                                                                  \
        const int invalid = kernel(params, k, block, x, n, reports);                                      \
        const size_t words = 1 + words_of_signs(signs_of);                                                \
        for (size_t i = 0; i < n; i++)                                                                    \
            ((uint8_t *)to)[i] = (uint8_t)reports[words * i + 1];                                         \
        return invalid;                                                                                   \
    }

DEFINE_SIGNS(signs_f32, privatize_ranked_signs_f32, ((const ranked_signs *)params)->patterns.signs)
DEFINE_SIGNS(signs_f64, privatize_ranked_signs_f64, ((const ranked_signs *)params)->patterns.signs)
DEFINE_SIGNS(rotated_f32, privatize_rotated_signs_f32, ((const rotated_signs *)params)->patterns->signs)
DEFINE_SIGNS(rotated_f64, privatize_rotated_signs_f64, ((const rotated_signs *)params)->patterns->signs)

/* Sizes 1 to `signs`; what must still be reached decides about each. */
static void open_patterns(sign_patterns *p, uint32_t signs)
{
    static uint64_t limit[70 * 71 * 72 / 6 + 70];
    uint32_t sum = 0;
    for (size_t i = 0; i < sizeof limit / sizeof *limit; i++)
        limit[i] = i * 0x9e3779b97f4a7c15u;
    for (uint32_t j = 0; j < signs; j++) {
        sum += j + 1;
        p->size[j] = j + 1, p->sum[j] = sum, p->rank[j] = j, p->negative[j] = j & 1;
    }
    p->heads = (uint64_t)11 << 60, p->limit = limit, p->signs = signs;
    p->least[0] = sum / 3, p->least[1] = sum / 2;
}

static void frames(void)
{
    static const uint32_t dims[] = {8, 10, 70}, signs[] = {8, 5, 70};
    for (size_t i = 0; i < sizeof dims / sizeof *dims; i++) {
        static ranked_signs p;
        open_patterns(&p.patterns, signs[i]);
        p.per_radius = 1, p.tolerance = 40;
        p.frame = (frame){dims[i], signs[i]};
        run("ranked signs, f32", signs_f32, &p, floats, 9, 4 * dims[i], 1, RECORDS | WORDS);
        run("ranked signs, f64", signs_f64, &p, doubles, 9, 8 * dims[i], 1, RECORDS | WORDS);
    }
}

static void rotations(void)
{
    static const uint32_t dims[] = {10, 5000}, bits[] = {12, 13}, signs[] = {8, 64};
    for (size_t i = 0; i < sizeof dims / sizeof *dims; i++) {
        static sign_patterns patterns;
        static uint64_t rotation[(2 << 13) / 64];
        static float workspace[(1 << 13) + (COLUMNS << 1)];
        open_patterns(&patterns, signs[i]);
        rotation_signs(7, bits[i], rotation);
        const rotated_signs p = {1, 40, dims[i], bits[i], &patterns, rotation, workspace};
        run("rotated signs, f32", rotated_f32, &p, floats, 3, 4 * dims[i], 1, RECORDS | WORDS);
        run("rotated signs, f64", rotated_f64, &p, doubles, 3, 8 * dims[i], 1, RECORDS | WORDS);
    }
}

/* Four of 10 coordinates with at most `wrong` disagreements. */
static sampled_cube few_signs(uint32_t wrong)
{
    sampled_cube p = {1, 0x1p31, (uint64_t)11 << 60, wrong ? 5 : 1, {1, 5}, 10, 4, 4 - wrong};
    return p;
}

static sampled_cube all_signs(uint32_t dim, uint32_t wrong)
{
    sampled_cube p = {1, 0x1p31, (uint64_t)11 << 60, wrong ? dim + 1 : 1, {1, dim + 1}, dim, dim, dim - wrong};
    return p;
}

/* The same for sets of three options. */
static set_cube of_sets(sampled_cube cube)
{
    const set_cube p = {cube, cube.dim - 1, 3};
    return p;
}

/* Given the coin and the coordinates, the time does not depend on the record. */
static void cubes(void)
{
    for (uint32_t wrong = 0; wrong < 2; wrong++) {
        const sampled_cube few = few_signs(wrong), all = all_signs(10, wrong);
        run("sampled cube, the record alone, f32", privatize_sampled_cube_f32_u8, &few, floats, 40, 40, 4, RECORDS);
        run("sampled cube, the record alone, f64", privatize_sampled_cube_f64_u8, &few, doubles, 40, 80, 4, RECORDS);
        run("cap cube, the record alone, f32", privatize_cap_cube_f32, &all, floats, 40, 40, 2, RECORDS);
        run("cap cube, the record alone, f64", privatize_cap_cube_f64, &all, doubles, 40, 80, 2, RECORDS);
        const set_cube options = of_sets(few), every = of_sets(all);
        run("set cube, the record alone, u8", privatize_set_cube_u8, &options, codes_16, 40, 6, 4, RECORDS);
        run("set cube, the record alone, all signs", privatize_set_cap_cube, &every, codes_16, 40, 6, 2, RECORDS);
    }
}

/* One row: symmetric and optimized, of some words, and of more than one piece. */
static void unary_rows(void)
{
    for (int optimized = 0; optimized < 2; optimized++) {
        const unary_encoding small = {130, (uint64_t)1 << 62, optimized}, large = {70000, (uint64_t)1 << 62, optimized};
        privatize("unary encoding, one row, u8", privatize_unary_encoding_u8, &small, codes + 1, 1, 1, 17);
        privatize("unary encoding, one row, u16", privatize_unary_encoding_u16, &small, codes_16 + 1, 1, 2, 17);
        privatize("unary encoding, one row, u32", privatize_unary_encoding_u32, &large, codes_32 + 1, 1, 4, 8750);
        privatize("unary encoding, one row, u64", privatize_unary_encoding_u64, &large, codes_64 + 1, 1, 8, 8750);
    }
}

/* Writes the parts of reports whose sign is chosen later (sgd/glm.h): `level` and the sign of `size`, as a byte, of n rows. */
static int l2_parts(const void *params, stream_key *k, uint64_t block, const void *x, size_t n, void *to)
{
    static float normals[4096 + 64], direction[4096], squares[128];
    static double size[128];
    const size_t padded = GLM_PAD;
    const l2_ball_reports reports = {normals, direction, size, to};
    const float *rows = x;
    uint8_t *sign = (uint8_t *)to + 8 * n;
    for (size_t i = 0; i < n; i++) {
        squares[i] = 0;
        for (size_t j = 0; j < padded; j++)
            squares[i] += rows[i * padded + j] * rows[i * padded + j];
    }
    l2_ball_parts(params, k, block, x, squares, n, padded, &reports);
    for (size_t i = 0; i < n; i++)
        sign[i] = (uint8_t)(bits_f64(size[i]) >> 63);
    return 0;
}

static void balls(void)
{
    static const size_t dims[] = {1, 10, 64, 100, 130, 5000};
    for (size_t i = 0; i < sizeof dims / sizeof *dims; i++) {
        const size_t dim = dims[i], bytes = (dim + 7) / 8, rows = dim > 1000 ? 2 : 9;
        const linf_ball cube = {dim, 1, 1 << 30, 0xbb00000000000000u, 0};
        const l2_ball ball = {dim, 1, 40, 3, 0xbb00000000000000u};
        privatize("l-infinity ball, f32", privatize_linf_ball_f32, &cube, floats, rows, 4 * dim, bytes);
        privatize("l-infinity ball, f64", privatize_linf_ball_f64, &cube, doubles, rows, 8 * dim, bytes);
        privatize("l2 ball, f32", privatize_l2_ball_f32, &ball, floats, rows < l2_ball_rows(dim) ? rows : 1, 4 * dim, 4 * dim);
        privatize("l2 ball, f64", privatize_l2_ball_f64, &ball, doubles, rows < l2_ball_rows(dim) ? rows : 1, 8 * dim, 8 * dim);
    }
    const l2_ball gradients = {10, 1, 40, 3, 0xbb00000000000000u};
    privatize("l2 ball, parts", l2_parts, &gradients, floats, 9, 4 * GLM_PAD, 9);
}

static void series_terms(void)
{
    static const size_t terms[] = {5, 32, 33, 100};
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++) {
        const series p = {terms[i], 0, 1, 0x1p32, 0xbb00000000000000u};
        privatize("series, f32", privatize_series_terms_f32, &p, floats, 37, 4, (terms[i] + 7) / 8);
        privatize("series, f64", privatize_series_terms_f64, &p, doubles, 37, 8, (terms[i] + 7) / 8);
    }
}

/* Copies the part of a state that depends on the answers. */
static void copy_state(const quantile_state *at, double *to)
{
    to[0] = at->position;
    memcpy(to + 1, at->moments, sizeof at->moments);
    memcpy(to + 5, at->ones, sizeof at->ones);
}

/* One record of a case: the numbers of all people, in turn. */
enum { PEOPLE = 301, STATE_BYTES = 8 * 8 };

static int quantile_f32(const void *params, stream_key *k, uint64_t block, const void *x, size_t n, void *to)
{
    static uint64_t words[PEOPLE + 1];
    stream s = stream_open(k, STREAM_MEDIAN, block);
    quantile_state at = {0.5, 1, 0.5, {0}, {0}};
    stream_draw(&s, words, blocks_for(n * PEOPLE, 8));
    const int invalid = quantile_steps_f32(params, words, x, n * PEOPLE, &at);
    copy_state(&at, to);
    return invalid;
}

static int quantile_f64(const void *params, stream_key *k, uint64_t block, const void *x, size_t n, void *to)
{
    static uint64_t words[PEOPLE + 1];
    stream s = stream_open(k, STREAM_MEDIAN, block);
    quantile_state at = {0.5, 1, 0.5, {0}, {0}};
    stream_draw(&s, words, blocks_for(n * PEOPLE, 8));
    const int invalid = quantile_steps_f64(params, words, x, n * PEOPLE, &at);
    copy_state(&at, to);
    return invalid;
}

static void quantiles(void)
{
    for (int any_time = 0; any_time < 2; any_time++)
        for (int bits = 32; bits <= 64; bits += 32) {
            quantile_sgd p;
            quantile_open(&p, 0, 1, 0.01, -0.012, (uint64_t)3 << (bits - 2), bits, any_time);
            privatize("quantile steps, f32", quantile_f32, &p, floats, 1, PEOPLE * 4, STATE_BYTES);
            privatize("quantile steps, f64", quantile_f64, &p, doubles, 1, PEOPLE * 8, STATE_BYTES);
        }
}

#define DEFINE_CLIPPED(name)                                                                              \
    static int name(const void *params, stream_key *k, uint64_t block, const void *x, size_t n, void *to) \
    {                                                                                                     \
        (void)k, (void)block;                                                                             \
        clip_##name(params, x, n, to);                                                                    \
        return 0;                                                                                         \
    }

DEFINE_CLIPPED(rows_f32)
DEFINE_CLIPPED(rows_f64)

static void clips(void)
{
    const row_range rows = {10, 0.9};
    run("clipped rows, f32", rows_f32, &rows, floats, 31, 40, 40, RECORDS);
    run("clipped rows, f64", rows_f64, &rows, doubles, 31, 80, 80, RECORDS);
}

/* Writes n blocks of the key stream of a secret key. */
static int cipher(const void *params, stream_key *k, uint64_t block, const void *x, size_t n, void *to)
{
    stream s = stream_open(k, STREAM_RAW, block);
    (void)params;
    key_open(k, x);
    stream_draw(&s, to, n);
    return 0;
}

/* Derives a key from a secret key, 3 public blocks and 25 secret bytes. */
static int derived_key(const void *params, stream_key *k, uint64_t block, const void *x, size_t n, void *to)
{
    const uint8_t *bytes = x;
    key_prefix prefix;
    (void)params, (void)k, (void)block, (void)n;
    prefix_open(&prefix, bytes, codes + 100, 3);
    prefix_derive(&prefix, bytes + KEY_BYTES, 25, to);
    return 0;
}

static void keys(void)
{
    static const char *names[] = {"AES-256, portable", "AES-256, ARMv8", "AES-256, AES-NI"};
    static const char *derived[] = {"derived key, portable", "derived key, ARMv8", "derived key, AES-NI"};
    for (int form = AES_PORTABLE; form <= AES_NI; form++)
        if (aes_form_set(form) == 0) {
            run(names[form], cipher, NULL, codes, 40, 1, AES_BLOCK, RECORDS);
            run(derived[form], derived_key, NULL, codes, 1, KEY_BYTES + 25, KEY_BYTES, RECORDS);
        }
}

/* Kernels without the claim, in which memcheck must find something. */
static void unclaimed(void)
{
    static laplace p;
    p.noise.digits = 5 * SET_GROUPS;
    p.noise.groups = SET_GROUPS;
    p.noise.stream = STREAM_LAPLACE;
    p.noise.carry.high = (uint64_t)1 << 57;
    for (size_t k = 0; k < SET_GROUPS; k++)
        p.noise.group[k].mask = GROUP_VALUES - 1;
    p.dim = 1;
    p.upper = 1;
    p.grid = 1.0 / 1024;
    p.per_grid = p.span = 1024;
    const linf_ball thin = {10, 1, 1 << 30, 0xbb00000000000000u, (uint64_t)1 << 62};
    const unary_encoding unary = {130, (uint64_t)1 << 62, 0};
    const sampled_cube few = few_signs(1), all = all_signs(70, 32);
    const set_cube options = of_sets(few), every = of_sets(all);
    /* Whole strings of 9 bytes and prefixes of 4, with 2 functions and 5 buckets each. */
    static const uint64_t coefficient[] = {12345678901234567u, 98765432109876543u, 5, 7, 11, 1u << 30};
    const string_hashes strings = {{1, 2}, coefficient, 2, 5, 9}, prefixes = {{3, 4}, coefficient, 2, 5, 4};
    const randomized_response five = {5, ((uint64_t)1 << 32) - 5 * 500000000ull, 500000000, 0x90000000u, 27, 32, 3};
    const sketch_response sketch = {{strings, prefixes}, 2, 2, 10, 5, &five, privatize_randomized_response_u8, 1, 1, 1};
    static projective_response plane = {.heads = (uint64_t)11 << 60, .k = 7, .order = 2, .length = 3};
    for (uint32_t i = 0; i < 4; i++) { /* integers modulo 2 */
        plane.power[i] = 1u << i;
        plane.first[i] = (1u << i) - 1;
        plane.sum[i & 1][i >> 1] = (uint8_t)((i & 1) ^ i >> 1);
        plane.product[i & 1][i >> 1] = (uint8_t)(i & i >> 1);
        plane.negative[i & 1] = plane.inverse[i & 1] = i & 1;
    }
    privatize("not claimed: projective response, u8 u8", privatize_projective_response_u8_u8, &plane, codes, 30, 1, 1);
    privatize("not claimed: projective response, u8 u16", privatize_projective_response_u8_u16, &plane, codes, 30, 1, 2);
    privatize("not claimed: projective response, u16 u16", privatize_projective_response_u16_u16, &plane, codes_16, 30, 2, 2);
    privatize("not claimed: projective response, u16 u32", privatize_projective_response_u16_u32, &plane, codes_16, 30, 2, 4);
    privatize("not claimed: projective response, u32 u32", privatize_projective_response_u32_u32, &plane, codes_32, 30, 4, 4);
    static const uint32_t row[7] = {0, 1, 2, 3, 4, 5, 6};
    const uint64_t whole = (uint64_t)1 << SPAN_SHIFT;
    static coded_levels levels = {.k = 7, .slots = 2, .slot_bits = 1, .stream = STREAM_TREE, .slot = {0, 1}};
    levels.level[0] = (coded_level){(uint64_t)11 << 60, whole, WINDOW_CODES, 0, {2, 6}, 8, row, NULL};
    levels.level[1] = (coded_level){(uint64_t)9 << 60, whole / 7, TABLED_CODES, 8, {3, 4}, 7, row, NULL};
    privatize("not claimed: coded levels, u8 u8", privatize_coded_levels_u8_u8, &levels, codes, 30, 1, 1);
    privatize("not claimed: coded levels, u8 u16", privatize_coded_levels_u8_u16, &levels, codes, 30, 1, 2);
    privatize("not claimed: coded levels, u8 u32", privatize_coded_levels_u8_u32, &levels, codes, 30, 1, 4);
    privatize("not claimed: coded levels, u16 u16", privatize_coded_levels_u16_u16, &levels, codes_16, 30, 2, 2);
    privatize("not claimed: coded levels, u16 u32", privatize_coded_levels_u16_u32, &levels, codes_16, 30, 2, 4);
    privatize("not claimed: coded levels, u32 u32", privatize_coded_levels_u32_u32, &levels, codes_32, 30, 4, 4);
    privatize("not claimed: sampled cube, f32 u8", privatize_sampled_cube_f32_u8, &few, floats, 40, 40, 4);
    privatize("not claimed: sampled cube, f32 u16", privatize_sampled_cube_f32_u16, &few, floats, 40, 40, 8);
    privatize("not claimed: sampled cube, f32 u32", privatize_sampled_cube_f32_u32, &few, floats, 40, 40, 16);
    privatize("not claimed: sampled cube, f64 u8", privatize_sampled_cube_f64_u8, &few, doubles, 40, 80, 4);
    privatize("not claimed: sampled cube, f64 u16", privatize_sampled_cube_f64_u16, &few, doubles, 40, 80, 8);
    privatize("not claimed: sampled cube, f64 u32", privatize_sampled_cube_f64_u32, &few, doubles, 40, 80, 16);
    privatize("not claimed: cap cube, f32", privatize_cap_cube_f32, &all, floats, 9, 280, 9);
    privatize("not claimed: cap cube, f64", privatize_cap_cube_f64, &all, doubles, 9, 560, 9);
    privatize("not claimed: set cube, u8", privatize_set_cube_u8, &options, codes_16, 40, 6, 4);
    privatize("not claimed: set cube, u16", privatize_set_cube_u16, &options, codes_16, 40, 6, 8);
    privatize("not claimed: set cube, u32", privatize_set_cube_u32, &options, codes_16, 40, 6, 16);
    privatize("not claimed: set cube, all signs", privatize_set_cap_cube, &every, codes_16, 9, 6, 9);
    privatize("not claimed: sketch response", privatize_sketch_response, &sketch, codes, 30, 10, 1);
    privatize("not claimed: Laplace, f32", privatize_laplace_f32, &p, floats, 300, 4, 8);
    privatize("not claimed: Laplace, f64", privatize_laplace_f64, &p, doubles, 300, 8, 8);
    privatize("not claimed: l-infinity ball, thin ties", privatize_linf_ball_f32, &thin, floats, 9, 40, 2);
    privatize("not claimed: unary encoding, several rows", privatize_unary_encoding_u8, &unary, codes, 40, 1, 17);
}

/* Fills the records with numbers in [-1, 1] and a few special ones. */
static void fill(void)
{
    static const double special[] = {0.0, -0.0, 1, -1, 5e-324, 1e-40, 1e300, -7.5, __builtin_nan(""), __builtin_inf(), -1.0};
    uint64_t state = 1;
    for (size_t i = 0; i < NUMBERS; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        codes[i] = (uint8_t)((state >> 40) % 130);
        codes_16[i] = (uint16_t)((state >> 40) % 1010);
        codes_32[i] = (uint32_t)((state >> 40) % 1010);
        codes_64[i] = (state >> 40) % 1010;
        doubles[i] = (double)(int64_t)state * 0x1p-63;
        floats[i] = (float)doubles[i];
    }
    for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
        doubles[7 * i] = special[i];
        floats[7 * i] = (float)special[i];
    }
}

int main(int count, char **arguments)
{
    if (count < 2 || ldp_isa_set(atoi(arguments[1])))
        return UNSUPPORTED; /* by this processor, or by Valgrind */
    if (!RUNNING_ON_VALGRIND)
        return NO_VALGRIND;
    wanted = count > 2 ? arguments[2] : NULL;
    const uint8_t bytes[KEY_BYTES] = {1, 2, 3};
    key_open(&key, bytes);
    fill();
    responses();
    sign_bits();
    hadamard_responses();
    windows();
    subsets();
    set_selections();
    whole();
    views();
    codebooks();
    frames();
    rotations();
    cubes();
    unary_rows();
    balls();
    series_terms();
    quantiles();
    clips();
    keys();
    unclaimed();
    return wanted != NULL && !found;
}
