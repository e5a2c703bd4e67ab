/* The client of a survey. The kernels are those of the Python package; tools/amalgamate.py puts all of this into one file. */
#include "ldpfast_client.h"

#define LDP_FREESTANDING
#define aes_expand aes_expand_portable
#define aes_counter aes_counter_portable
#include "random/aes_portable.c"
#include "random/cmac.c"
#include "random/coins_direct.c"
#include "random/stream.c"
#include "survey/assign.c"
#include "survey/encode.c"
#include "survey/log_up.h"
#include "survey/set_numbers.h"
#include "survey/sha256.h"
#include "survey/subset_codes.h"
#include "privatize/hadamard_response.c"
#include "privatize/level_codes.h"
#include "privatize/projective_response.c"
#include "privatize/randomized_response.c"
#include "privatize/set_cube.c"
#include "privatize/set_positions.c"
#include "privatize/set_selection.c"
#include "privatize/subset_selection.c"
#include "privatize/unary_row.h"
#include "privatize/view_response.c"
#include "privatize/whole_sets.c"
#include "strings/sketch_response.h"
#include "tally/views.c"

void aes_forget(void) {} /* what is left in registers is for the caller to overwrite */

/* The table: header, parts (declared questions), questions that are asked, thresholds, edges, names, checksum. */
enum { HEADER = 88, PART = 32, TEXT_AT = 24, QUESTION = 80, CHECKSUM = AES_BLOCK, HEAD = 9 };
enum { TABLE_VERSION = 7, MESSAGE_VERSION = 1, DIGEST_AT = 16, WAVES_AT = 54, SERIES_AT = 56, DIGEST_BYTES = 32 };
/* Before the checksum, if there are waves: digest, number of turns, whether the series goes on, number of the wave. */
enum { PANEL = 40, TURNS_AT = 32, ENDLESS_AT = 34, WAVE_AT = 36 };
/* The same in rounds: digest, largest number of rounds of a person, number of the round. In the header they are a number of waves. */
enum { ROUNDS_AT = 32, ROUND_AT = 36, IN_ROUNDS = 0xffff };
/* After the numbers of the declared questions of a question in rounds: bits, shift, integers and description of the second response. */
enum { SECOND = 64, SECOND_SHIFT_AT = 2, SECOND_INTEGERS_AT = 8, SECOND_DESCRIPTION_AT = 32 };
/* After the numbers of the declared questions of a text: numbers of functions, buckets, parts and codes; of a projective space its order,
 * length, and whether the tables of the field follow; then of each part the key, number of bytes, and coefficients. */
enum { SKETCH = 32, ORDER_AT = 16, SPACE_LENGTH_AT = 20, TABLES_AT = 24, HASHES = 24, FUNCTION = 8 * COEFFICIENTS };
/* After the numbers of the declared questions of views: their coins, with a number of symbols and the words that keep the true one. */
enum { VIEW_COIN = 16, VIEW_WORDS_AT = 8, ALL_PLAIN = 1 << 8 };
/* After the numbers of the declared questions of levels, of each level: kind, bins per node, words of heads, number of codes in a set and
 * outside of it, and two numbers: members of a set, or order and length of a projective space. Then, of such a space, the tables of the
 * field, and the point of each node. The first level has the slots that the others leave. */
enum { LEVEL = 32, LEVEL_HEADS_AT = 8, LEVEL_CODES_AT = 16, LEVEL_NUMBERS_AT = 24 };
enum { SLOTS = 8, SLOT_BITS = 3, MAX_CELLS = 1 << 12 };
enum level_kind { WINDOW_LEVEL, SUBSET_LEVEL, PARITY_LEVEL, PRIME_LEVEL, FIELD_LEVEL };
enum { MAX_TEXT = MAX_STRING_BYTES - 1, MAX_ALPHABET = 253, MAX_BUCKETS = 1 << 20, MAX_SKETCH_CODES = 1 << 28 };
enum { MAX_SYMBOLS = 1 << 24, MAX_TICKETS = 1 << 12, MAX_DECLARED = 1 << 15, MAX_WAVES = 1 << 10 };
/* Options of pairs; pairs at once; positions of a set and of all parts; positions of parts that are asked together. */
enum { MAX_PAIRED = 1 << 9, MAX_TOGETHER = 23, MAX_POSITIONS = (1 << 16) - 2, MAX_ROWS = MAX_OWN + SURVEY_PARTS - 1 };
#define MAX_STEPS (1u << 31)
enum encoding { AS_SYMBOL, AS_LOW_HIGH, AS_BIN, AS_STEP, AS_STRING, AS_SET, AS_PAIRS };
enum mechanism {
    RANDOMIZED_RESPONSE = 1,
    SYMMETRIC_UNARY = 2,
    OPTIMIZED_UNARY = 3,
    SUBSET_SELECTION = 4,
    TWO_RESPONSES = 5,
    SKETCH_RANDOMIZED = 6, /* reports of buckets by these mechanisms */
    SKETCH_HADAMARD = 7,
    SKETCH_PROJECTIVE = 8,
    SET_SELECTION = 9,
    SET_CUBE = 10,
    WHOLE_SETS = 11,
    VIEWS = 12,
    LEVELS = 13
};

/* Tags of the fields of derived keys. */
enum {
    FIELD_SERIES = 1,
    FIELD_QUESTION = 2,
    FIELD_ASSIGNMENT = 3,
    FIELD_ROUND = 4,
    FIELD_PADDING = 5,
    FIELD_DESCRIPTION = 6,
    FIELD_TICKET = 7,
    FIELD_TURN = 8,
    FIELD_REPORT_ID = 9
};
enum {
    FIELD_INTEGER = 16,
    FIELD_TEXT = 17,
    FIELD_BYTES = 18,
    FIELD_CATEGORY = 32,
    FIELD_NUMBERS = 33,
    FIELD_STRING = 34,
    FIELD_POSITIONS = 35
};

typedef struct {
    uint32_t encoding, k; /* symbols, of which the last is "no answer"; of a text, its largest number of symbols */
    uint32_t steps;
    double lower, upper;
    const uint8_t *edges; /* k - 2 of them */
    const uint8_t *alphabet;
    uint32_t characters; /* of the alphabet; 0: all bytes but 0 */
    uint32_t options, most; /* of a set, or of a set whose pairs are asked */
} part;

typedef struct {
    uint32_t functions, buckets, parts, codes; /* codes of one function */
    uint32_t order, length;
    const uint8_t *tables, *hashes;
} text_sketch;

/* A level that a report may be about: windows of cells, or the nodes of a tree. */
typedef struct {
    uint64_t heads;
    uint32_t kind, span, nodes;
    uint32_t codes[2]; /* in the set of a node, and outside of it */
    uint32_t members;
    uint32_t order, length; /* of a projective space */
    const uint8_t *tables, *points;
} level;

typedef struct {
    uint8_t bits;
    uint16_t shift;
    uint64_t integer[3];
} response_coin;

typedef struct {
    part parts[SURVEY_PARTS]; /* none of views, which have more of them */
    uint32_t count; /* of the parts */
    uint16_t number[SURVEY_PARTS];
    const uint8_t *numbers; /* of all parts; the coins of views, and levels, are behind them */
    uint8_t mechanism;
    uint32_t k, name_bytes, tickets;
    uint32_t own; /* positions of a record, if it is a set */
    const uint8_t *name, *description;
    response_coin coin, second; /* the second response of a round, if there is one */
    const uint8_t *second_description;
    text_sketch sketch;
} question;

static uint16_t read_u16(const uint8_t *from)
{
    uint16_t value;
    memcpy(&value, from, sizeof value);
    return value;
}

static uint32_t read_u32(const uint8_t *from)
{
    uint32_t value;
    memcpy(&value, from, sizeof value);
    return value;
}

static uint64_t read_u64(const uint8_t *from)
{
    uint64_t value;
    memcpy(&value, from, sizeof value);
    return value;
}

static response_coin read_coin(uint8_t bits, const uint8_t *shift, const uint8_t *integers)
{
    const response_coin found = {bits, read_u16(shift), {read_u64(integers), read_u64(integers + 8), read_u64(integers + 16)}};
    return found;
}

static int is_set_part(uint32_t encoding) { return encoding == AS_SET || encoding == AS_PAIRS; }

/* Number of pairs of a number of things. */
static uint32_t pairs_of(uint32_t count) { return count * (count - 1) / 2; }

/* Number of positions of a record. */
static uint32_t width_of(const part *p)
{
    return p->encoding == AS_SET ? p->most : p->encoding == AS_PAIRS ? pairs_of(p->most) : 1;
}

/* Number of the options or pairs that a set is made of. */
static uint32_t asked_options(const part *p) { return p->encoding == AS_SET ? p->options : pairs_of(p->options); }

static part read_part(const ldpfast_client *c, uint32_t number)
{
    const uint8_t *at = c->table + HEADER + (size_t)PART * number;
    part p = {read_u32(at), read_u32(at + 4), 0, 0, 0, NULL, NULL, 0, 0, 0};
    if (p.encoding == AS_LOW_HIGH) {
        p.lower = double_of(read_u64(at + 8));
        p.upper = double_of(read_u64(at + 16));
    } else if (p.encoding == AS_BIN) {
        p.edges = c->table + read_u32(at + 8);
    } else if (p.encoding == AS_STEP) {
        const uint8_t *ends = c->table + read_u32(at + 8);
        p.lower = double_of(read_u64(ends));
        p.upper = double_of(read_u64(ends + 8));
        p.steps = read_u32(at + 12);
    } else if (p.encoding == AS_STRING) {
        p.alphabet = c->table + read_u32(at + 8);
        p.characters = read_u32(at + 12);
    } else if (is_set_part(p.encoding)) {
        p.options = read_u32(at + 8);
        p.most = read_u32(at + 12);
    }
    return p;
}

static int is_sketch(uint32_t mechanism)
{
    return mechanism == SKETCH_RANDOMIZED || mechanism == SKETCH_HADAMARD || mechanism == SKETCH_PROJECTIVE;
}

static int is_set(uint32_t mechanism) { return mechanism == SET_SELECTION || mechanism == SET_CUBE || mechanism == WHOLE_SETS; }

/* Number of bytes of the tables of sums, products, negative and inverse elements of a field. */
static size_t table_bytes(uint32_t order) { return 2 * order * ((size_t)order + 1); }

static text_sketch read_sketch(const uint8_t *at)
{
    text_sketch s = {read_u32(at), read_u32(at + 4), read_u32(at + 8), read_u32(at + 12), 0, 0, NULL, at + SKETCH};
    s.order = read_u32(at + ORDER_AT);
    s.length = read_u32(at + SPACE_LENGTH_AT);
    if (read_u32(at + TABLES_AT)) {
        s.tables = at + SKETCH;
        s.hashes += table_bytes(s.order);
    }
    return s;
}

static question read_question(const ldpfast_client *c, uint32_t number)
{
    const uint8_t *at = c->table + HEADER + (size_t)PART * c->values + (size_t)QUESTION * number;
    const uint8_t *numbers = c->table + read_u32(at + 44);
    question q = {.count = read_u16(at), .mechanism = at[4], .coin = read_coin(at[5], at + 6, at + 16), .k = 1, .own = 1};
    q.name = c->table + read_u32(at + 8);
    q.name_bytes = read_u32(at + 12);
    q.tickets = read_u32(at + 40);
    q.description = at + 48;
    q.numbers = numbers;
    if (q.mechanism == VIEWS)
        return q;
    for (uint32_t i = 0; i < q.count; i++) {
        q.number[i] = read_u16(numbers + 2 * (size_t)i);
        q.parts[i] = read_part(c, q.number[i]);
        q.k *= q.parts[i].k; /* at most MAX_SYMBOLS: ldpfast_open has checked it */
        q.own *= width_of(&q.parts[i]);
    }
    if (q.mechanism == TWO_RESPONSES) {
        const uint8_t *second = numbers + 2 * (size_t)q.count;
        q.second = read_coin(second[0], second + SECOND_SHIFT_AT, second + SECOND_INTEGERS_AT);
        q.second_description = second + SECOND_DESCRIPTION_AT;
    }
    if (is_sketch(q.mechanism))
        q.sketch = read_sketch(numbers + 2);
    return q;
}

/* The level at a place of the table that has its numbers, with what follows them in `points` and `tables`. */
static level read_level(const uint8_t *at, uint32_t k)
{
    level l = {read_u64(at + LEVEL_HEADS_AT), read_u32(at), read_u32(at + 4), 0, {0, 0}, 0, 0, 0, NULL, at + LEVEL};
    l.nodes = l.span ? (k - 1) / l.span + 1 : 0;
    l.codes[0] = read_u32(at + LEVEL_CODES_AT);
    l.codes[1] = read_u32(at + LEVEL_CODES_AT + 4);
    if (l.kind == PRIME_LEVEL || l.kind == FIELD_LEVEL) {
        l.order = read_u32(at + LEVEL_NUMBERS_AT);
        l.length = read_u32(at + LEVEL_NUMBERS_AT + 4);
        if (l.kind == FIELD_LEVEL) {
            l.tables = l.points;
            l.points += table_bytes(l.order);
        }
    } else {
        l.members = read_u32(at + LEVEL_NUMBERS_AT);
    }
    return l;
}

/* Where the level begins that follows another one. */
static const uint8_t *next_level(const level *l) { return l->points + (l->order ? 4 * (size_t)l->nodes : 0); }

static const uint8_t *first_level(const question *q) { return q->numbers + 2 * (size_t)q->count; }

static uint32_t codes_of(const level *l) { return l->codes[0] + l->codes[1]; }

/* Number of codes of all levels. */
static uint64_t codes_of_levels(const question *q)
{
    const uint8_t *at = first_level(q);
    uint64_t codes = 0;
    for (uint64_t i = 0; i < q->coin.integer[0]; i++) {
        const level l = read_level(at, q->k);
        codes += codes_of(&l);
        at = next_level(&l);
    }
    return codes;
}

/* Number of the declared question that is a part of views. */
static uint32_t view_part(const question *q, uint32_t place) { return read_u16(q->numbers + 2 * (size_t)place); }

/* A coin of views. They are in ascending order of the symbols: the coin of a view is the first one with as many as the view has. */
static const uint8_t *view_coin(const question *q, uint64_t place)
{
    return q->numbers + 2 * (size_t)q->count + VIEW_COIN * place;
}

/* Number of symbols of the view with the most. */
static uint32_t view_symbols_at_most(const question *q) { return read_u32(view_coin(q, q->coin.integer[0] - 1)); }

/* Fills the format of the reports about views. Returns nonzero if they do not fit the kernel. */
static int open_views(const ldpfast_client *c, const question *q, view_format *format)
{
    uint32_t answers[SURVEY_ROW_PARTS];
    for (uint32_t i = 0; i < q->count; i++)
        answers[i] = read_part(c, view_part(q, i)).k;
    return view_format_open(format, q->count, answers, q->coin.shift, 0);
}

/* Number of sets, with that of nothing and the missing one; MAX_SYMBOLS if there are too many. */
static uint32_t sets_of(const part *p)
{
    uint64_t size = 1, sum = 2;
    for (uint32_t i = 0; i < width_of(p) && sum <= MAX_SETS; i++) {
        size = size * (asked_options(p) - i) / (i + 1);
        sum += size;
    }
    return sum <= MAX_SETS ? (uint32_t)sum : MAX_SYMBOLS;
}

/* Number of coordinates of a cube of sets, which may be missing. */
static uint32_t dim_of(const question *q) { return asked_options(&q->parts[0]) + 1; }

static size_t report_bytes(const question *q)
{
    if (q->mechanism == SET_SELECTION && q->coin.integer[1] == 1)
        return q->k <= 1 << 8 ? 1 : 2;
    if (q->mechanism == VIEWS)
        return (q->count + 7) / 8 + 1 + (view_symbols_at_most(q) <= 1 << 8 ? 1 : 2);
    if (q->mechanism == WHOLE_SETS)
        return sets_of(&q->parts[0]) <= 1 << 8 ? 1 : 2;
    if (q->mechanism == SET_CUBE) {
        const uint32_t dim = dim_of(q), sampled = (uint32_t)q->coin.integer[1];
        return sampled == dim ? (dim + 7) / 8 : sampled * (2 * dim <= 1 << 8 ? 1 : 2 * dim <= 1 << 16 ? 2 : 4);
    }
    if (is_sketch(q->mechanism) || q->mechanism == LEVELS) {
        const uint64_t codes =
            q->mechanism == LEVELS ? codes_of_levels(q) : (uint64_t)q->sketch.parts * q->sketch.functions * q->sketch.codes;
        return codes <= 1 << 8 ? 1 : codes <= 1 << 16 ? 2 : 4;
    }
    if (q->mechanism != RANDOMIZED_RESPONSE && q->mechanism != TWO_RESPONSES)
        return (q->k + 7) / 8;
    return q->k <= 1 << 8 ? 1 : q->k <= 1 << 16 ? 2 : 4;
}

/* The check of a table ------------------------------------------------------------------------------------------------ */

static int is_equal(const uint8_t *one, const uint8_t *other, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (one[i] != other[i])
            return 0;
    return 1;
}

static int is_finite(double v) { return (bits_f64(v) & LDP_INFINITY_F64) != LDP_INFINITY_F64; }

/* Whether a range of the table is between the fixed part and the checksum. */
static int is_inside(uint64_t start, uint64_t bytes, uint64_t first, uint64_t end)
{
    return first <= start && start <= end && bytes <= end - start;
}

static int is_interval(double lower, double upper)
{
    const double length = upper - lower;
    return is_finite(lower) && is_finite(upper) && is_finite(length) && length > 0 && is_finite(1 / length);
}

static int part_is_valid(const ldpfast_client *c, uint32_t number, uint64_t first, uint64_t end)
{
    const uint8_t *at = c->table + HEADER + (size_t)PART * number;
    const uint32_t encoding = read_u32(at), k = read_u32(at + 4);
    if (read_u32(at + TEXT_AT + 4) == 0 || !is_inside(read_u32(at + TEXT_AT), read_u32(at + TEXT_AT + 4), first, end))
        return 0;
    if (encoding == AS_STRING)
        return 1 <= k && k <= MAX_TEXT && read_u64(at + 16) == 0 && read_u32(at + 12) <= MAX_ALPHABET &&
               is_inside(read_u32(at + 8), 4ull * read_u32(at + 12), first, end);
    if (is_set_part(encoding)) {
        const uint32_t options = read_u32(at + 8), most = read_u32(at + 12);
        if (read_u64(at + 16) != 0 || most == 0 || most > options || k > MAX_POSITIONS)
            return 0;
        if (encoding == AS_SET)
            return options >= 2 && most <= MAX_OWN && options <= MAX_POSITIONS && k == options + most + 1;
        return 2 <= most && most <= MAX_TOGETHER && 3 <= options && options <= MAX_PAIRED &&
               k == pairs_of(options) + pairs_of(most) + 1;
    }
    if (k < 3 || k > MAX_SYMBOLS)
        return 0;
    if (encoding == AS_SYMBOL)
        return (read_u64(at + 8) | read_u64(at + 16)) == 0;
    if (encoding == AS_LOW_HIGH)
        return k == 3 && is_interval(double_of(read_u64(at + 8)), double_of(read_u64(at + 16)));
    if (encoding == AS_STEP) {
        const uint32_t ends = read_u32(at + 8), steps = read_u32(at + 12);
        return k == 3 && read_u64(at + 16) == 0 && is_inside(ends, 16, first, end) && steps > 0 && steps < MAX_STEPS &&
               is_interval(double_of(read_u64(c->table + ends)), double_of(read_u64(c->table + ends + 8))) &&
               is_finite(steps / (double_of(read_u64(c->table + ends + 8)) - double_of(read_u64(c->table + ends))));
    }
    if (encoding != AS_BIN || (read_u32(at + 12) | read_u64(at + 16)) != 0 ||
        !is_inside(read_u32(at + 8), 8 * (k - 2ull), first, end))
        return 0;
    const uint8_t *edge = c->table + read_u32(at + 8);
    for (uint32_t i = 0; i < k - 2; i++)
        if (!is_finite(double_of(read_u64(edge + 8 * i))) ||
            (i > 0 && !(double_of(read_u64(edge + 8 * i - 8)) < double_of(read_u64(edge + 8 * i)))))
            return 0;
    return 1;
}

/* Whether every word gives a symbol, and the factor in the place of the division is that of randomized_response.h. */
static int response_is_valid(uint32_t k, const response_coin *p)
{
    const uint64_t direct = p->integer[0], words = p->integer[1], reciprocal = p->integer[2], half = words / 2;
    if (words == 0 || direct == 0)
        return 0;
    if (p->bits == 64)
        return (0 - direct) / k == words && (0 - direct) % k == 0 && p->shift == 0 &&
               reciprocal == UINT64_MAX / words + (words > 1 && (words & (words - 1)) == 0);
    if (p->bits != 32 || k > 256 || words % 2 || (direct | words) > UINT32_MAX || direct + k * words != (uint64_t)1 << 32 ||
        p->shift > 30)
        return 0;
    return (uint64_t)1 << p->shift < half && half <= (uint64_t)2 << p->shift &&
           reciprocal == (((uint64_t)1 << (32 + p->shift)) + half - 1) / half;
}

/* Whether tables of sums, products, negative and inverse elements are those of a field with the elements 0 and 1. With other tables a
 * point could exclude a record, whatever the coin is. */
static int field_is_valid(const uint8_t *sum, uint32_t order)
{
    const uint8_t *product = sum + order * order, *negative = product + order * order, *inverse = negative + order;
    for (uint32_t i = 0; i < 2 * order * (order + 1); i++)
        if (sum[i] >= order)
            return 0;
    for (uint32_t a = 0; a < order; a++) {
        if (sum[a] != a || product[order + a] != a || sum[a * order + negative[a]] != 0 ||
            (a > 0 && product[a * order + inverse[a]] != 1))
            return 0;
        for (uint32_t b = 0; b < order; b++) {
            const uint32_t ab = sum[a * order + b], times = product[a * order + b];
            if (ab != sum[b * order + a] || times != product[b * order + a])
                return 0;
            for (uint32_t c = 0; c < order; c++)
                if (sum[ab * order + c] != sum[a * order + sum[b * order + c]] ||
                    product[times * order + c] != product[a * order + product[b * order + c]] ||
                    product[ab * order + c] != sum[product[a * order + c] * order + product[b * order + c]])
                    return 0;
        }
    }
    return 1;
}

static int is_prime(uint32_t number)
{
    for (uint32_t divisor = 2; divisor * divisor <= number; divisor++)
        if (number % divisor == 0)
            return 0;
    return number > 1;
}

static int sketch_is_valid(const ldpfast_client *c, const uint8_t *at, uint32_t mechanism, uint32_t symbols,
                           const response_coin *p, uint64_t end)
{
    const uint64_t start = (uint64_t)(at - c->table), order = read_u32(at + ORDER_AT), has_tables = read_u32(at + TABLES_AT);
    const uint64_t tables = has_tables ? 2 * order * (order + 1) : 0;
    projective_response space;
    if (has_tables > 1 || read_u32(at + TABLES_AT + 4) != 0 || order > MAX_PRIME_ORDER ||
        (has_tables && order > MAX_TABLE_ORDER) || tables > end - start - SKETCH)
        return 0;
    const text_sketch s = read_sketch(at);
    if (s.functions == 0 || s.functions > MAX_FUNCTIONS || s.buckets < 2 || s.buckets > MAX_BUCKETS || s.parts == 0 ||
        s.parts > MAX_SKETCH_PARTS || s.codes == 0 || s.codes > MAX_SKETCH_CODES ||
        (uint64_t)s.parts * s.functions * s.codes > MAX_SKETCH_CODES)
        return 0;
    const uint64_t each = HASHES + (uint64_t)FUNCTION * s.functions;
    if (s.parts * each > end - start - SKETCH - tables)
        return 0;
    for (uint32_t i = 0; i < s.parts; i++) {
        const uint8_t *hashes = s.hashes + i * each;
        const uint64_t bytes = read_u64(hashes + 16);
        if (bytes == 0 || bytes > symbols)
            return 0;
        for (uint32_t j = 0; j < COEFFICIENTS * s.functions; j++)
            if (read_u64(hashes + HASHES + 8 * (size_t)j) >= FIELD_PRIME)
                return 0;
    }
    if (mechanism == SKETCH_RANDOMIZED)
        return s.codes == s.buckets && order == 0 && s.length == 0 && !has_tables && response_is_valid(s.buckets, p);
    if (p->shift != 0 || p->integer[0] == 0 || (p->integer[1] | p->integer[2]) != 0)
        return 0;
    if (mechanism == SKETCH_PROJECTIVE)
        return p->bits == 64 && projective_open(&space, s.buckets, s.order, s.length, s.tables != NULL) &&
               s.codes == space.first[s.length] && (has_tables ? field_is_valid(s.tables, s.order) : is_prime(s.order));
    return order == 0 && s.length == 0 && !has_tables && s.codes > s.buckets && (s.codes & (s.codes - 1)) == 0 &&
           (p->bits == 64 || (1 <= p->bits && p->bits <= 32 && p->integer[0] >> p->bits == 0 &&
                              (p->bits == 32 || s.codes <= (uint64_t)1 << (32 - p->bits))));
}

/* Writes an upper bound of the loss of a choice among sets. Returns nonzero if it is none; with `checked` also if one side of the coin is
 * drawn again and again because it is rare. */
__attribute__((noinline)) static int choice_loss(const question *q, int checked, wide *loss)
{
    large inside, outside;
    uint32_t size = (uint32_t)q->coin.integer[1];
    int is_drawn_again;
    if (q->mechanism == SET_CUBE) {
        count_patterns(size, q->coin.shift, &inside, &outside, NULL);
        is_drawn_again = size > CUBE_SAMPLED;
    } else {
        const set_counts counts = {q->k, q->own, size, q->coin.shift};
        uint64_t up_to[MAX_OWN + 1];
        count_sides(&counts, &inside, &outside);
        is_drawn_again = size > 1 && count_sets(&counts, up_to) == 0;
    }
    return (checked && is_drawn_again && is_rare(&inside, &outside)) ||
           choice_log_up(q->coin.integer[0], &inside, &outside, loss);
}

/* Whether a choice among sets, or a randomized response of whole ones, fits the kernels and ends soon. */
static int sets_are_valid(const question *q)
{
    const response_coin *p = &q->coin;
    const part *one = &q->parts[0];
    const uint64_t size = p->integer[1], threshold = p->shift;
    wide loss;
    if (q->mechanism == WHOLE_SETS)
        return q->count == 1 && q->own <= MAX_WHOLE && (q->own - 1) * asked_options(one) <= MAX_RANKS &&
               sets_of(one) <= MAX_SETS && response_is_valid(sets_of(one), p);
    if (p->bits != 64 || p->integer[0] == 0 || threshold == 0 || threshold > size || q->k > MAX_POSITIONS)
        return 0;
    if (q->mechanism == SET_SELECTION)
        return 2 * q->own <= q->k && size <= q->k - q->own && threshold <= q->own && p->integer[2] < 1 << SET_DIGITS &&
               !choice_loss(q, 1, &loss);
    return q->count == 1 && p->integer[2] == 0 && 2 * threshold > size &&
           (size == dim_of(q) ? size <= CUBE_DIM : size < dim_of(q) && size <= CUBE_SAMPLED) && !choice_loss(q, 1, &loss);
}

/* Whether a level has as many codes in the set of each node, and outside of it, as it says, and its bytes end before `end`. */
static int level_is_valid(const level *l, const uint8_t *end)
{
    const uint32_t size = l->codes[0], others = l->codes[1], nodes = l->nodes;
    projective_response space;
    if (nodes < 2 || l->heads == 0 || size == 0 || size > MAX_SYMBOLS || others > MAX_SYMBOLS)
        return 0;
    if (l->kind == SUBSET_LEVEL) {
        const uint32_t sets = l->members <= MAX_MEMBERS && 2 * l->members <= nodes ? ranked_sets(nodes, l->members) : 0;
        return sets > 0 && l->members > 1 && size == sets * l->members / nodes && others == sets - size;
    }
    if (l->members != 0)
        return 0;
    if (l->kind == WINDOW_LEVEL)
        return others == nodes - 1;
    if (l->kind == PARITY_LEVEL)
        return size == others && (size & (size - 1)) == 0 && nodes <= size;
    const size_t room = (size_t)(end - l->points); /* `tables` has been checked */
    if (4 * (size_t)nodes > room || !projective_open(&space, nodes, l->order, l->length, l->tables != NULL) ||
        size != space.first[l->length - 1] || others != space.power[l->length - 1] ||
        !(l->tables ? field_is_valid(l->tables, l->order) : is_prime(l->order)))
        return 0;
    for (uint32_t i = 0; i < nodes; i++) {
        const uint32_t point = read_u32(l->points + 4 * (size_t)i);
        if (point >= space.first[l->length])
            return 0;
        for (uint32_t j = 0; j < i; j++)
            if (point == read_u32(l->points + 4 * (size_t)j))
                return 0;
    }
    return 1;
}

/* Whether the levels of a question fit together and are all in the table. */
static int levels_are_valid(const ldpfast_client *c, const question *q, uint64_t end)
{
    const response_coin *p = &q->coin;
    const uint8_t *at = first_level(q), *stop = c->table + end;
    if (q->count != 1 || q->parts[0].encoding != AS_BIN || q->k > MAX_CELLS || p->bits != 64 || p->shift != 0 ||
        p->integer[0] == 0 || p->integer[0] > SLOTS || (p->integer[1] | p->integer[2]) != 0)
        return 0;
    for (uint64_t i = 0; i < p->integer[0]; i++) {
        if (stop - at < LEVEL)
            return 0;
        const uint32_t kind = read_u32(at), one = read_u32(at + LEVEL_NUMBERS_AT), two = read_u32(at + LEVEL_NUMBERS_AT + 4);
        if (kind > FIELD_LEVEL || (kind < PRIME_LEVEL && two != 0) || (kind >= PRIME_LEVEL && one == 0) ||
            (kind == FIELD_LEVEL && (one > MAX_TABLE_ORDER || table_bytes(one) > (size_t)(stop - at) - LEVEL)))
            return 0;
        const level l = read_level(at, q->k);
        if (!level_is_valid(&l, stop))
            return 0;
        at = next_level(&l);
    }
    return 1;
}

/* Whether views of the parts of a question fit the kernel, and each has a coin. */
static int views_are_valid(const ldpfast_client *c, const question *q, uint64_t end)
{
    const response_coin *p = &q->coin;
    const uint64_t start = (uint64_t)(q->numbers - c->table);
    view_format format;
    uint32_t symbols = 0;
    if (q->count > SURVEY_ROW_PARTS || p->bits != 64 || p->integer[0] == 0 || p->integer[0] > pairs_of(q->count) ||
        (p->integer[1] | p->integer[2]) != 0 || 2 * q->count + VIEW_COIN * p->integer[0] > end - start)
        return 0;
    for (uint32_t i = 0; i < q->count; i++) {
        const uint32_t one = view_part(q, i), encoding = one < c->values ? read_part(c, one).encoding : AS_STRING;
        if (encoding != AS_SYMBOL && encoding != AS_BIN)
            return 0;
        for (uint32_t j = 0; j < i; j++)
            if (one == view_part(q, j))
                return 0;
    }
    for (uint64_t i = 0; i < p->integer[0]; i++) {
        const uint8_t *coin = view_coin(q, i);
        if (read_u32(coin) <= symbols || read_u32(coin + 4) != 0 || read_u64(coin + VIEW_WORDS_AT) == 0)
            return 0;
        symbols = read_u32(coin);
    }
    return !open_views(c, q, &format) && symbols == format.symbols;
}

static int question_is_valid(const ldpfast_client *c, uint32_t number, uint64_t first, uint64_t end)
{
    const uint8_t *at = c->table + HEADER + (size_t)PART * c->values + (size_t)QUESTION * number;
    const uint32_t count = read_u16(at), numbers = read_u32(at + 44);
    const uint32_t second = at[4] == TWO_RESPONSES ? SECOND : is_sketch(at[4]) ? SKETCH : 0;
    if (count == 0 || count > (at[4] == VIEWS ? SURVEY_ROW_PARTS : SURVEY_PARTS) || read_u16(at + 2) != 0 ||
        !is_inside(numbers, 2 * count + second, first, end) || read_u32(at + 12) == 0 ||
        !is_inside(read_u32(at + 8), read_u32(at + 12), first, end))
        return 0;
    uint64_t k = 1, own_positions = 1;
    uint32_t sets = 0;
    for (uint32_t i = 0; i < count && at[4] != VIEWS; i++) {
        const uint16_t one = read_u16(c->table + numbers + 2 * (size_t)i);
        if (one >= c->values || (read_part(c, one).encoding == AS_STRING) != is_sketch(at[4]))
            return 0;
        const part p = read_part(c, one);
        sets += (uint32_t)is_set_part(p.encoding);
        own_positions *= width_of(&p);
        if (own_positions > MAX_OWN)
            return 0;
        for (uint32_t j = 0; j < i; j++)
            if (one == read_u16(c->table + numbers + 2 * (size_t)j))
                return 0;
        k *= p.k;
        if (k > MAX_SYMBOLS)
            return 0;
    }
    if ((sets > 0) != is_set(at[4]))
        return 0;
    const response_coin own = read_coin(at[5], at + 6, at + 16);
    if (is_sketch(at[4]) && (count > 1 || !sketch_is_valid(c, c->table + numbers + 2, at[4], (uint32_t)k, &own, end)))
        return 0;
    const question q = read_question(c, number);
    if (q.tickets == 0 || q.tickets > (c->answers == 1 ? MAX_TICKETS : 1))
        return 0;
    if (is_sketch(q.mechanism))
        return !c->rounds;
    if (q.mechanism == VIEWS)
        return !c->rounds && views_are_valid(c, &q, end);
    if (q.mechanism == LEVELS)
        return !c->rounds && levels_are_valid(c, &q, end);
    const response_coin *p = &q.coin;
    if (is_set(q.mechanism))
        return !c->rounds && sets_are_valid(&q);
    if (c->rounds || q.mechanism == TWO_RESPONSES) /* there are two responses in rounds, and only there */
        return c->rounds && q.mechanism == TWO_RESPONSES && response_is_valid(q.k, p) && response_is_valid(q.k, &q.second);
    if (q.mechanism == RANDOMIZED_RESPONSE)
        return response_is_valid(q.k, p);
    if (q.mechanism == SUBSET_SELECTION)
        return p->bits == 64 && p->shift == 0 && q.k <= 1 << 16 && p->integer[0] != 0 && p->integer[1] > 0 &&
               p->integer[1] < q.k && p->integer[2] < 1 << SET_DIGITS;
    return (q.mechanism == SYMMETRIC_UNARY || q.mechanism == OPTIMIZED_UNARY) && p->bits == 64 && p->shift == 0 &&
           p->integer[0] != 0 && p->integer[0] <= (uint64_t)1 << 63 && (p->integer[1] | p->integer[2]) == 0;
}

static int checksum_is_valid(const uint8_t *table, size_t bytes)
{
    static const uint8_t zero_key[LDPFAST_KEY_BYTES];
    uint8_t state[AES_BLOCK] = {0}, found[AES_BLOCK], differences = 0;
    cmac_key key;
    cmac_open(&key, zero_key);
    cmac_finish(&key, state, table, bytes - CHECKSUM, found);
    for (size_t i = 0; i < CHECKSUM; i++)
        differences |= found[i] ^ table[bytes - CHECKSUM + i];
    return differences == 0;
}

/* Whether the turns of a survey with waves, or the rounds of a repeated one, are possible. */
static int panel_is_valid(const uint8_t *panel, uint32_t waves)
{
    if (waves == IN_ROUNDS)
        return read_u32(panel + ROUNDS_AT) != 0 && read_u32(panel + ROUND_AT) < UINT32_MAX;
    const uint32_t turns = read_u16(panel + TURNS_AT), endless = read_u16(panel + ENDLESS_AT), wave = read_u32(panel + WAVE_AT);
    return 2 <= waves && waves <= MAX_WAVES && 1 <= turns && turns <= waves && endless <= 1 && 1 <= wave &&
           (endless || wave <= waves);
}

/* Whether no earlier question has the name of a question. Two such questions could have the same personal keys, and their reports
 * together could show the answers. */
static int name_is_new(const ldpfast_client *c, uint32_t number)
{
    const uint8_t *at = c->table + HEADER + (size_t)PART * c->values, *own = at + (size_t)QUESTION * number;
    for (; at < own; at += QUESTION)
        if (read_u32(at + 12) == read_u32(own + 12) &&
            is_equal(c->table + read_u32(at + 8), c->table + read_u32(own + 8), read_u32(own + 12)))
            return 0;
    return 1;
}

/* Upper bound of the loss by a report about a view. The coin of the largest loss counts, whatever the view is. */
static wide views_loss(const question *q)
{
    wide most = {{0}};
    for (uint64_t i = 0; i < q->coin.integer[0]; i++) {
        const uint64_t words = read_u64(view_coin(q, i) + VIEW_WORDS_AT);
        wide kept = wide_product(words, read_u32(view_coin(q, i)) - 1);
        kept.digit[2]++; /* and 2^64 */
        const wide loss = log_up(kept, wide_product(0 - words, 1), 0);
        most = wide_below(&most, &loss) ? loss : most;
    }
    return most;
}

/* Upper bound of the loss by a report about a level. The level of the largest loss counts. */
static wide levels_loss(const question *q)
{
    const uint8_t *at = first_level(q);
    wide most = {{0}};
    for (uint64_t i = 0; i < q->coin.integer[0]; i++) {
        const level l = read_level(at, q->k);
        const wide loss = log_up(wide_product(l.heads, l.codes[1]), wide_product(0 - l.heads, l.codes[0]), 0);
        most = wide_below(&most, &loss) ? loss : most;
        at = next_level(&l);
    }
    return most;
}

/* Upper bound of the loss of a person by a report to a question, for any two answers; in a round, by all reports about one permanent
 * answer. docs/clients.md has the formulas. */
static wide loss_of(const question *q)
{
    const response_coin *p = &q->coin;
    const uint64_t coin = p->integer[0], other = p->bits == 64 ? 0 - coin : ((uint64_t)1 << p->bits) - coin;
    uint64_t one = coin, two = other;
    uint32_t one_times = 1, two_times = 1;
    projective_response space;
    wide found;
    if (q->mechanism == SET_SELECTION || q->mechanism == SET_CUBE) {
        choice_loss(q, 0, &found); /* which sets_are_valid has checked */
        return found;
    }
    if (q->mechanism == VIEWS)
        return views_loss(q);
    if (q->mechanism == LEVELS)
        return levels_loss(q);
    if (q->mechanism == RANDOMIZED_RESPONSE || q->mechanism == TWO_RESPONSES || q->mechanism == SKETCH_RANDOMIZED ||
        q->mechanism == WHOLE_SETS) {
        one = coin + p->integer[1];
        two = p->integer[1];
    } else if (q->mechanism == SUBSET_SELECTION) {
        one_times = q->k - (uint32_t)p->integer[1];
        two_times = (uint32_t)p->integer[1];
    } else if (q->mechanism == SKETCH_PROJECTIVE) {
        projective_open(&space, q->sketch.buckets, q->sketch.order, q->sketch.length, q->sketch.tables != NULL);
        one_times = space.power[q->sketch.length - 1];
        two_times = space.first[q->sketch.length - 1];
    }
    const wide loss = log_up(wide_product(one, one_times), wide_product(two, two_times), 0);
    return q->mechanism == SYMMETRIC_UNARY ? wide_double(&loss, 0) : loss; /* two bits differ */
}

/* Reads what follows the digest. A table with a valid checksum can still be wrong, if it was not made by the package. */
static int read_table(ldpfast_client *c, const uint8_t *t, size_t bytes)
{
    const uint32_t values = read_u16(t + 48), questions = read_u16(t + 50), answers = read_u16(t + 52);
    const uint32_t waves = read_u16(t + WAVES_AT);
    const uint64_t thresholds = HEADER + (uint64_t)PART * values + (uint64_t)QUESTION * questions;
    const uint64_t first = thresholds + (answers == 1 ? 4 * (questions - 1ull) : 0),
                   end = bytes - CHECKSUM - (waves ? PANEL : 0);
    if (values == 0 || values > MAX_DECLARED || questions == 0 || answers == 0 || answers > questions || first > end ||
        (t[9] | t[10] | t[11]) != 0 || (waves && !panel_is_valid(t + end, waves)))
        return LDPFAST_DAMAGED;
    const uint32_t rounds = waves == IN_ROUNDS ? read_u32(t + end + ROUNDS_AT) : 0;
    ldpfast_client found = {t,      0, values, questions, answers, (uint32_t)thresholds, rounds ? 0 : waves, (uint32_t)end,
                            rounds, 0};
    wide most_loss = {{0}};
    for (uint32_t i = 0; i < values; i++)
        if (!part_is_valid(&found, i, first, end))
            return LDPFAST_DAMAGED;
    for (uint64_t at = thresholds; at < first; at += 4)
        if (read_u32(t + at) <= (at == thresholds ? 0 : read_u32(t + at - 4)))
            return LDPFAST_DAMAGED;
    uint64_t sum = 0, largest = 0;
    for (uint32_t i = 0; i < questions; i++) {
        if (!question_is_valid(&found, i, first, end) || !name_is_new(&found, i))
            return LDPFAST_DAMAGED;
        const question q = read_question(&found, i);
        const wide loss = loss_of(&q);
        most_loss = wide_below(&most_loss, &loss) ? loss : most_loss;
        const uint64_t size = 2 + report_bytes(&q);
        sum += size;
        largest = size > largest ? size : largest;
    }
    const uint64_t most = HEAD + (answers * largest < sum ? answers * largest : sum);
    if (most > SIZE_MAX)
        return LDPFAST_DAMAGED;
    found.message_bytes = (size_t)most;
    found.epsilon = wide_to_double(&most_loss, answers * (found.waves ? read_u16(t + end + TURNS_AT) : 1));
    *c = found;
    return LDPFAST_OK;
}

void ldpfast_fingerprint(const void *table, size_t bytes, uint8_t fingerprint[LDPFAST_FINGERPRINT_BYTES])
{
    sha256(table, bytes, fingerprint);
}

int ldpfast_open(ldpfast_client *c, const void *table, size_t bytes, double max_epsilon, const uint8_t *fingerprint)
{
    static const uint8_t magic[7] = {'L', 'D', 'P', 'C', 'L', 'N', 'T'};
    const uint8_t *t = table;
    ldpfast_client found;
    memset(c, 0, sizeof *c);
    if (bytes < HEADER + CHECKSUM)
        return LDPFAST_DAMAGED;
    for (size_t i = 0; i < sizeof magic; i++)
        if (t[i] != magic[i])
            return LDPFAST_DAMAGED;
    if (t[7] != TABLE_VERSION || t[8] != MESSAGE_VERSION)
        return LDPFAST_VERSION;
    if (read_u32(t + 12) != bytes || !checksum_is_valid(t, bytes))
        return LDPFAST_DAMAGED;
    if (fingerprint != NULL) {
        uint8_t own[LDPFAST_FINGERPRINT_BYTES];
        ldpfast_fingerprint(t, bytes, own);
        if (!is_equal(own, fingerprint, sizeof own))
            return LDPFAST_FINGERPRINT;
    }
    const int status = read_table(&found, t, bytes);
    if (status != LDPFAST_OK)
        return status;
    if (!(found.epsilon <= max_epsilon)) /* which can be NaN */
        return LDPFAST_EPSILON;
    *c = found;
    return LDPFAST_OK;
}

double ldpfast_epsilon(const ldpfast_client *c) { return c->epsilon; }

size_t ldpfast_values(const ldpfast_client *c) { return c->values; }
size_t ldpfast_message_bytes(const ldpfast_client *c) { return c->message_bytes; }
const uint8_t *ldpfast_digest(const ldpfast_client *c) { return c->table + DIGEST_AT; }
void ldpfast_erase(void *secret, size_t bytes) { key_wipe(secret, bytes); }

/* Keys of persons ----------------------------------------------------------------------------------------------------- */

/* The input of a derived key. Its last 1 to 16 bytes are held back, because the last block is treated differently. */
typedef struct {
    key_prefix prefix;
    uint8_t block[AES_BLOCK];
    size_t held;
} derivation;

static void absorb(derivation *d, const void *data, size_t bytes)
{
    const uint8_t *from = data;
    while (bytes) {
        if (d->held == AES_BLOCK) {
            cmac_absorb(&d->prefix.key, d->prefix.state[0], d->block, 1);
            cmac_absorb(&d->prefix.key, d->prefix.state[1], d->block, 1);
            d->held = 0;
        }
        const size_t now = bytes < AES_BLOCK - d->held ? bytes : AES_BLOCK - d->held;
        memcpy(d->block + d->held, from, now);
        d->held += now;
        from += now;
        bytes -= now;
    }
}

static void absorb_field(derivation *d, uint8_t tag, const void *data, size_t bytes)
{
    const uint32_t length = (uint32_t)bytes;
    absorb(d, &tag, 1);
    absorb(d, &length, sizeof length);
    absorb(d, data, bytes);
}

/* Starts the derivation of a key for a question, in a round if it is not NULL. If the question is NULL, it is for what the tag says: the
 * choice of questions, the turns, or the id of a report, which has 8 bytes in the place of the round. */
static void open_derivation(derivation *d, const uint8_t *secret, const uint8_t *series, uint8_t tag, const question *q,
                            const uint64_t *round, const ldpfast_person *person)
{
    static const uint8_t zeros[AES_BLOCK];
    uint8_t first[AES_BLOCK] = {0, 'l',          'd',          'p', 'f', 'a', 's',       't',
                                0, FIELD_SERIES, DIGEST_BYTES, 0,   0,   0,   series[0], series[1]};
    prefix_open(&d->prefix, secret, first, 1); /* which puts the number of the half in the place of the first byte */
    d->held = 0;
    absorb(d, series + 2, DIGEST_BYTES - 2);
    if (q == NULL) {
        absorb_field(d, tag, round, round == NULL ? 0 : sizeof(uint64_t));
    } else {
        absorb_field(d, FIELD_QUESTION, q->name, q->name_bytes);
        absorb_field(d, FIELD_DESCRIPTION, round == NULL ? q->description : q->second_description, DIGEST_BYTES);
        if (round != NULL)
            absorb_field(d, FIELD_ROUND, round, sizeof *round);
    }
    absorb_field(d, FIELD_PADDING, zeros, (AES_BLOCK - 5 - d->held) % AES_BLOCK);
    if (person->kind == FIELD_INTEGER)
        absorb_field(d, FIELD_INTEGER, &person->integer, sizeof person->integer);
    else
        absorb_field(d, (uint8_t)person->kind, person->data, person->bytes);
}

static const uint8_t key_bits[2] = {1, 0}; /* bits of a key, big-endian */

static void close_derivation(derivation *d, stream_key *key)
{
    uint8_t bytes[KEY_BYTES];
    absorb(d, key_bits, sizeof key_bits);
    prefix_derive(&d->prefix, d->block, d->held, bytes);
    key_open(key, bytes);
    key_wipe(bytes, sizeof bytes);
    key_wipe(d, sizeof *d);
}

/* Answers ------------------------------------------------------------------------------------------------------------- */

/* What random rounding starts from: a symbol, a number, or the number of a step in both forms. */
typedef struct {
    uint32_t symbol;
    double number;
} cell;

static uint32_t bin_of(const part *p, double number)
{
    enum { TOGETHER = 32 };
    double edge[TOGETHER];
    uint32_t bin = 0, more;
    for (uint32_t i = 0; i < p->k - 2; i += TOGETHER) {
        const uint32_t now = p->k - 2 - i < TOGETHER ? p->k - 2 - i : TOGETHER;
        memcpy(edge, p->edges + 8 * (size_t)i, 8 * now);
        encode_bins(&number, 1, edge, now, 0, &more);
        bin += more;
    }
    return choose_u32((uint32_t)nan_mask_f64(number), p->k - 1, bin);
}

static cell cell_of(const part *p, const ldpfast_value *value)
{
    const uint32_t last = p->k - 1;
    cell found = {0, value->number};
    if (p->encoding == AS_SYMBOL)
        found.symbol = choose_u32(-(uint32_t)(value->category < last), value->category, last);
    else if (p->encoding == AS_BIN)
        found.symbol = bin_of(p, value->number);
    if (p->encoding == AS_STEP) {
        const uint32_t none = (uint32_t)nan_mask_f64(value->number);
        encode_steps(&found.number, 1, p->lower, p->upper, p->steps);
        found.symbol = choose_u32(none, p->steps + 1, (uint32_t)unless_nan_f64(found.number, found.number, 0));
    }
    return found;
}

/* Writes the positions of a set that is missing. */
static void write_missing(uint32_t options, uint32_t own, uint16_t *row)
{
    for (uint32_t i = 0; i < own; i++)
        row[i] = (uint16_t)(options + i + (i == own - 1));
}

/* Writes the positions of the pairs of options. All places are compared for each pair, so that no address depends on the options. */
static void write_pairs(const part *p, const uint16_t *option, uint32_t missing, uint16_t *row)
{
    const uint32_t own = width_of(p), options = p->options, pairs = asked_options(p);
    uint32_t size = 0, count = 0;
    for (uint32_t i = 0; i < p->most; i++)
        size += (uint32_t)(option[i] < options);
    write_missing(pairs, own, row);
    for (uint32_t i = 0; i < own; i++) /* what is below the fillers is overwritten */
        row[i] = (uint16_t)choose_u32(missing, row[i], pairs + i - pairs_of(size));
    for (uint32_t i = 0; i < p->most; i++)
        for (uint32_t j = i + 1; j < p->most; j++) {
            const uint32_t first = option[i], second = option[j];
            const uint32_t pair = first * (2 * options - first - 1) / 2 + second - first - 1;
            const uint32_t both = -(uint32_t)(j < size) & ~missing;
            for (uint32_t place = 0; place < own; place++)
                row[place] = (uint16_t)choose_u32(both & -(uint32_t)(place == count), pair, row[place]);
            count += both & 1;
        }
}

/* Writes the positions of a set in ascending order: those of the options, or of their pairs, then fillers. */
__attribute__((noinline)) static void write_positions(const part *p, const ldpfast_value *value, uint16_t *row)
{
    const uint32_t own = width_of(p);
    uint16_t option[MAX_OWN];
    if (value->category != LDPFAST_TICKS || value->text_bytes != p->options || value->text == NULL) {
        write_missing(asked_options(p), own, row);
        return;
    }
    set_positions(value->text, 1, p->options, p->most, 0, option);
    const uint32_t missing = -(uint32_t)(option[p->most - 1] == INVALID_POSITION);
    if (p->encoding == AS_SET) {
        uint16_t none[MAX_OWN];
        write_missing(p->options, own, none);
        for (uint32_t i = 0; i < own; i++)
            row[i] = (uint16_t)choose_u32(missing, none[i], option[i]);
    } else {
        write_pairs(p, option, missing, row);
    }
    key_wipe(option, sizeof option);
}

/* Moves a number to the nearest end, and makes all NaN and both zeros equal. */
static void absorb_cell(derivation *d, const part *p, cell *c)
{
    if (p->encoding != AS_LOW_HIGH) {
        absorb_field(d, FIELD_CATEGORY, &c->symbol, sizeof c->symbol);
        return;
    }
    const doubles_plain number = {c->number, c->number};
    c->number = unless_nan_f64(c->number, between_plain(number, p->lower, p->upper)[0] + 0.0, double_of(0x7ff8000000000000u));
    absorb_field(d, FIELD_NUMBERS, &c->number, sizeof c->number);
}

static uint32_t symbol_of(const part *p, const cell *c, stream_key *key, uint32_t place)
{
    if (p->encoding == AS_SYMBOL || p->encoding == AS_BIN)
        return c->symbol;
    const double start = p->encoding == AS_STEP ? 0 : p->lower;
    const double per_range = 1 / (p->encoding == AS_STEP ? (double)p->steps : p->upper - p->lower);
    uint64_t word[AES_BLOCK / 8];
    uint32_t symbol;
    stream s = rounding_stream(key, place, 0);
    stream_draw(&s, word, 1);
    encode_low_high(word, &c->number, 1, start, per_range, p->k - 1, &symbol);
    key_wipe(word, sizeof word);
    return symbol;
}

static void write_response(uint32_t k, const response_coin *coin, uint32_t stream_number, stream_key *key, uint32_t symbol,
                           uint8_t *report)
{
    const randomized_response p = {k,           coin->integer[0], coin->integer[1], coin->integer[2],
                                   coin->shift, coin->bits,       stream_number};
    const uint8_t byte = (uint8_t)symbol;
    const uint16_t two = (uint16_t)symbol;
    uint16_t reported_two;
    uint32_t reported_four;
    if (k <= 1 << 8) {
        privatize_randomized_response_u8(&p, key, 0, &byte, 1, report);
    } else if (k <= 1 << 16) {
        privatize_randomized_response_u16(&p, key, 0, &two, 1, &reported_two);
        memcpy(report, &reported_two, sizeof reported_two);
    } else {
        privatize_randomized_response_u32(&p, key, 0, &symbol, 1, &reported_four);
        memcpy(report, &reported_four, sizeof reported_four);
    }
}

/* The kernels for records of one and of two bytes make the same reports. */
static void write_set(const question *q, stream_key *key, uint32_t symbol, uint8_t *report)
{
    const subset_selection p = {q->coin.integer[0], q->k, (uint32_t)q->coin.integer[1], (uint32_t)q->coin.integer[2]};
    const uint16_t record = (uint16_t)symbol;
    privatize_subset_selection_u16(&p, key, 0, &record, 1, report);
}

/* Writes the positions of a set, or of the table of several parts, of which a symbol is one position. `rows` has those of each part, one
 * part after another. */
static void join_positions(const question *q, const uint16_t *rows, uint16_t *joined)
{
    uint32_t width = 1;
    joined[0] = 0;
    for (uint32_t i = 0; i < q->count; i++) {
        const uint32_t more = width_of(&q->parts[i]);
        for (uint32_t a = width; a-- > 0;) { /* from the last one, in place */
            const uint32_t before = joined[a] * q->parts[i].k;
            for (uint32_t b = more; b-- > 0;)
                joined[a * more + b] = (uint16_t)(before + rows[b]);
        }
        rows += more;
        width *= more;
    }
}

__attribute__((noinline)) static void write_selection(const question *q, stream_key *key, const uint16_t *row, uint8_t *report)
{
    const uint32_t size = (uint32_t)q->coin.integer[1];
    const set_counts counts = {q->k, q->own, size, q->coin.shift};
    set_selection p;
    memset(&p, 0, sizeof p);
    p.heads = q->coin.integer[0];
    p.positions = q->k;
    p.own = q->own;
    p.size = size;
    p.threshold = q->coin.shift;
    p.density = (uint32_t)q->coin.integer[2];
    if (size > 1) {
        p.reports = count_sets(&counts, p.up_to);
        set_selection_plan(&p);
        privatize_set_selection_u16(&p, key, 0, row, 1, report);
    } else {
        uint16_t code;
        privatize_set_codes_u16(&p, key, 0, row, 1, &code);
        memcpy(report, &code, report_bytes(q));
    }
}

__attribute__((noinline)) static void write_cube(const question *q, stream_key *key, const uint16_t *row, uint8_t *report)
{
    const uint32_t dim = dim_of(q), sampled = (uint32_t)q->coin.integer[1];
    set_cube p;
    memset(&p, 0, sizeof p);
    p.k = dim - 1;
    p.own = q->own;
    p.cube.heads = q->coin.integer[0];
    p.cube.dim = dim;
    p.cube.sampled = sampled;
    p.cube.threshold = q->coin.shift;
    if (sampled <= CUBE_SAMPLED) {
        large inside, outside;
        count_patterns(sampled, p.cube.threshold, &inside, &outside, p.cube.up_to);
        p.cube.patterns = p.cube.up_to[sampled - p.cube.threshold];
    }
    if (sampled == dim) {
        privatize_set_cap_cube(&p, key, 0, row, 1, report);
    } else {
        const size_t bytes = report_bytes(q) / sampled;
        uint32_t items[CUBE_SAMPLED];
        privatize_set_cube_u32(&p, key, 0, row, 1, items);
        for (uint32_t i = 0; i < sampled; i++)
            memcpy(report + i * bytes, items + i, bytes);
    }
}

__attribute__((noinline)) static void write_whole(const question *q, stream_key *key, const uint16_t *row, uint8_t *report)
{
    const uint32_t k = asked_options(&q->parts[0]), sets = sets_of(&q->parts[0]);
    whole_sets p;
    memset(&p, 0, sizeof p);
    p.response.k = sets;
    p.k = k;
    p.own = q->own;
    p.optional = 1;
    for (uint32_t option = 0; option < k; option++) { /* C(option, i) */
        uint32_t sets_below = option;
        for (uint32_t i = 2; i <= q->own; i++) {
            sets_below = sets_below * (option + 1 > i ? option + 1 - i : 0) / i;
            p.rank[(i - 2) * k + option] = (uint16_t)sets_below;
        }
    }
    for (uint32_t i = 0, smaller = 1; i < q->own; i++) {
        p.smaller[i] = (uint16_t)smaller;
        smaller = smaller * (k - i) / (i + 1);
    }
    write_response(sets, &q->coin, STREAM_WHOLE_SETS, key, code_of_plain(&p, row), report);
}

static void write_sets(const question *q, stream_key *key, const uint16_t *rows, uint8_t *report)
{
    uint16_t joined[MAX_OWN];
    join_positions(q, rows, joined);
    if (q->mechanism == SET_SELECTION)
        write_selection(q, key, joined, report);
    else if (q->mechanism == SET_CUBE)
        write_cube(q, key, joined, report);
    else
        write_whole(q, key, joined, report);
    key_wipe(joined, sizeof joined);
}

/* Writes a text as the symbols of its bytes, or of its characters, padded with zeros. */
static void write_symbols(const part *p, const ldpfast_value *value, uint8_t *row)
{
    const uint8_t *text = value->text;
    const size_t bytes = text == NULL || value->category == LDPFAST_TICKS ? 0 : value->text_bytes;
    size_t to = 0;
    memset(row, 0, MAX_STRING_BYTES);
    for (size_t i = 0; i < bytes && to < p->k;) {
        const uint8_t lead = text[i++];
        if (p->characters == 0) {
            if (lead == 0)
                return;
            row[to++] = lead;
            continue;
        }
        if (lead >> 6 == 2) /* without the start of a character */
            continue;
        uint32_t character = lead < 0x80 ? lead : lead < 0xe0 ? lead & 0x1f : lead < 0xf0 ? lead & 0xf : lead & 7u;
        for (; i < bytes && text[i] >> 6 == 2; i++)
            character = character << 6 | (text[i] & 0x3f);
        uint32_t symbol = 1;
        for (uint32_t j = 0; j < p->characters; j++)
            symbol = choose_u32(-(uint32_t)(read_u32(p->alphabet + 4 * (size_t)j) == character), j + 1, symbol);
        row[to++] = (uint8_t)symbol;
    }
}

/* Opens a projective space with k points, by the tables of its field unless they are NULL. */
static void open_space(projective_response *p, uint32_t k, uint32_t order, uint32_t length, const uint8_t *tables)
{
    projective_open(p, k, order, length, tables != NULL);
    if (tables == NULL)
        return;
    const uint8_t *product = tables + order * order, *negative = product + order * order;
    for (uint32_t a = 0; a < order; a++) {
        memcpy(p->sum[a], tables + a * order, order);
        memcpy(p->product[a], product + a * order, order);
    }
    memcpy(p->negative, negative, order);
    memcpy(p->inverse, negative + order, order);
}

/* Writes the report of a bucket, and returns its code. */
static uint32_t bucket_code(const question *q, stream_key *key, uint32_t bucket)
{
    const text_sketch *s = &q->sketch;
    uint32_t code = 0;
    if (q->mechanism == SKETCH_RANDOMIZED) {
        uint8_t report[4] = {0};
        write_response(s->buckets, &q->coin, STREAM_RANDOMIZED_RESPONSE, key, bucket, report);
        code = read_u32(report);
    } else if (q->mechanism == SKETCH_HADAMARD) {
        const hadamard_response p = {q->coin.integer[0], s->buckets, s->codes - 1, q->coin.bits};
        privatize_hadamard_response_u32_u32(&p, key, 0, &bucket, 1, &code);
    } else {
        projective_response p;
        open_space(&p, s->buckets, s->order, s->length, s->tables);
        p.heads = q->coin.integer[0];
        privatize_projective_response_u32_u32(&p, key, 0, &bucket, 1, &code);
    }
    return code;
}

/* A call of its own, so that its memory and that of other reports are not on the stack together. */
__attribute__((noinline)) static void write_sketch(const question *q, stream_key *key, const uint8_t *row, uint8_t *report)
{
    const text_sketch *s = &q->sketch;
    uint64_t coefficient[COEFFICIENTS];
    reader words;
    reader_open(&words, key, STREAM_SKETCH_PARTS, 0, 2);
    const uint32_t number = draw_part(&words, s->parts), function = (uint32_t)word_below(&words, s->functions);
    const uint8_t *hashes = s->hashes + (HASHES + (size_t)FUNCTION * s->functions) * number;
    memcpy(coefficient, hashes + HASHES + (size_t)FUNCTION * function, sizeof coefficient);
    const string_hashes h = {
        {read_u64(hashes), read_u64(hashes + 8)}, coefficient, 1, s->buckets, (uint32_t)read_u64(hashes + 16)};
    uint32_t bucket = bucket_of(&h, 0, fingerprint(&h, row));
    const uint32_t code = (number * s->functions + function) * s->codes + bucket_code(q, key, bucket);
    memcpy(report, &code, report_bytes(q));
    key_wipe(&bucket, sizeof bucket);
    key_wipe(&words, sizeof words);
}

/* The number of the level of a report, which shows it. */
static uint32_t drawn_level(uint64_t word, uint32_t levels)
{
    const uint32_t slot = word & (SLOTS - 1), first = SLOTS - levels + 1;
    return slot < first ? 0 : slot - first + 1;
}

/* A uniform integer below a number of codes. It is drawn again in the same cases for both sides of the coin. */
static uint32_t drawn_code(uint64_t word, const uint32_t *codes, uint32_t tails, reader *words)
{
    const uint32_t n = choose_u32(-tails, codes[1], codes[0]);
    int is_rare = is_inexact(word, SLOT_BITS, codes[0]) | is_inexact(word, SLOT_BITS, codes[1]);
    if (is_rare)
        return exact_below(word, SLOT_BITS, n, words);
    return (uint32_t)high_product_u64(word, n);
}

static uint32_t level_code(const level *l, uint32_t node, uint32_t tails, uint32_t draw)
{
    projective_response space;
    if (l->kind == WINDOW_LEVEL)
        return (uint32_t)window_code(node, l->codes[0], tails, draw);
    if (l->kind == SUBSET_LEVEL)
        return subset_code(l->nodes, l->members, node, tails, draw);
    if (l->kind == PARITY_LEVEL)
        return parity_code(node, 0, l->codes[0], tails, draw);
    open_space(&space, l->nodes, l->order, l->length, l->tables);
    return projective_report(&space, read_u32(l->points + 4 * (size_t)node), tails, draw);
}

/* The same reports as the kernel for arrays, which has tables in the place of sets and spaces. */
__attribute__((noinline)) static void write_level(const question *q, stream_key *key, uint32_t record, uint8_t *report)
{
    enum { SPAN_SHIFT = 42 };
    reader words;
    reader_open(&words, key, STREAM_DISTRIBUTION, 0, 2);
    const uint64_t coin = reader_word(&words), word = reader_word(&words);
    uint32_t number = drawn_level(word, (uint32_t)q->coin.integer[0]), first = 0;
    level l = read_level(first_level(q), q->k);
    for (; number; number--) {
        first += codes_of(&l);
        l = read_level(next_level(&l), q->k);
    }
    const uint64_t reciprocal = (((uint64_t)1 << SPAN_SHIFT) + l.span - 1) / l.span; /* exact for so few cells */
    const uint32_t node = (uint32_t)(record * reciprocal >> SPAN_SHIFT), tails = coin >= l.heads;
    const uint32_t draw = drawn_code(word >> SLOT_BITS << SLOT_BITS, l.codes, tails, &words);
    const uint32_t code = first + level_code(&l, node, tails, draw);
    memcpy(report, &code, report_bytes(q));
    key_wipe(&words, sizeof words);
}

static void write_report(const question *q, stream_key *key, uint32_t symbol, uint8_t *report)
{
    if (q->mechanism == RANDOMIZED_RESPONSE || q->mechanism == TWO_RESPONSES) {
        write_response(q->k, &q->coin, STREAM_RANDOMIZED_RESPONSE, key, symbol, report);
    } else if (q->mechanism == SUBSET_SELECTION) {
        write_set(q, key, symbol, report);
    } else if (q->mechanism == LEVELS) {
        write_level(q, key, symbol, report);
    } else {
        const unary_encoding p = {q->k, q->coin.integer[0], q->mechanism == OPTIMIZED_UNARY};
        encode_row(&p, key, 0, symbol, report);
    }
}

/* The source of the coins of a message: a fresh key, or the secret of a person. */
typedef struct {
    stream_key *master; /* NULL for a person */
    const uint8_t *secret;
    const ldpfast_person *person;
} coin_source;

/* Replaces a permanent answer by the response of the round. */
static void answer_in_round(const ldpfast_client *c, const coin_source *from, const question *q, uint8_t *report)
{
    const uint64_t round = read_u32(c->table + c->panel + ROUND_AT);
    uint32_t answer = 0;
    derivation d;
    stream_key key;
    memcpy(&answer, report, report_bytes(q));
    open_derivation(&d, from->secret, c->table + SERIES_AT, 0, q, &round, from->person);
    absorb_field(&d, FIELD_CATEGORY, &answer, sizeof answer);
    close_derivation(&d, &key);
    write_response(q->k, &q->second, STREAM_RANDOMIZED_RESPONSE, &key, answer, report);
    key_wipe(&key, sizeof key);
    key_wipe(&answer, sizeof answer);
}

/* Opens the key of a question for a message with a fresh key. */
static void open_fresh_key(stream_key *master, uint32_t number, stream_key *key)
{
    uint8_t bytes[KEY_BYTES];
    stream s = stream_open(master, STREAM_SURVEY_KEYS, number);
    stream_draw(&s, bytes, KEY_BYTES / AES_BLOCK);
    key_open(key, bytes);
    key_wipe(bytes, sizeof bytes);
}

/* Opens the key of a person for a question; after the view is drawn, with the report that has it and the true symbol. */
__attribute__((noinline)) static void open_view_key(const ldpfast_client *c, const coin_source *from, const question *q,
                                                    const uint8_t *report, stream_key *key)
{
    derivation d;
    open_derivation(&d, from->secret, c->table + SERIES_AT, 0, q, NULL, from->person);
    if (report != NULL)
        absorb_field(&d, FIELD_STRING, report, report_bytes(q));
    close_derivation(&d, key);
}

/* The view is drawn without the answers. With personal keys, the coin depends on the view and on the answers to its questions alone. */
__attribute__((noinline)) static void answer_views(const ldpfast_client *c, const coin_source *from, uint32_t number,
                                                   const question *q, const ldpfast_value *values, uint8_t *report)
{
    view_response p;
    uint32_t asked[MAX_VIEW];
    uint16_t record[SURVEY_ROW_PARTS];
    stream_key key;
    memset(&p, 0, sizeof p);
    open_views(c, q, &p.format);
    p.plain = ALL_PLAIN;
    view_response_plan(&p);
    for (uint32_t i = 0; i < q->count; i++) {
        const part one = read_part(c, view_part(q, i));
        record[i] = (uint16_t)cell_of(&one, &values[view_part(q, i)]).symbol;
    }
    if (from->master != NULL)
        open_fresh_key(from->master, number, &key);
    else
        open_view_key(c, from, q, NULL, &key);
    draw_views(&p, &key, 0, 1, report);
    read_view(&p.format, report, asked);
    const uint32_t symbols = view_symbols(&p.format, PLAIN_VIEW, asked);
    uint64_t place = 0;
    while (read_u32(view_coin(q, place)) < symbols)
        place++;
    p.direct[0][0] = read_u64(view_coin(q, place) + VIEW_WORDS_AT); /* `number` is 0, and this the coin of every view */
    encode_views(&p, record, 1, report);
    if (from->master == NULL)
        open_view_key(c, from, q, report, &key);
    respond_views(&p, &key, 0, 1, report);
    key_wipe(&key, sizeof key);
    key_wipe(record, sizeof record);
}

static void answer_question(const ldpfast_client *c, const coin_source *from, uint32_t number, const question *q,
                            const ldpfast_value *values, uint8_t *report)
{
    if (q->mechanism == VIEWS) {
        answer_views(c, from, number, q, values, report);
        return;
    }
    uint32_t symbol = 0;
    stream_key key;
    cell cells[SURVEY_PARTS];
    union {
        uint8_t text[MAX_STRING_BYTES];
        uint16_t positions[MAX_ROWS]; /* of all parts */
    } row;
    const int is_text = is_sketch(q->mechanism);
    if (is_text)
        write_symbols(&q->parts[0], &values[q->number[0]], row.text);
    for (uint32_t i = 0, at = 0; i < q->count && !is_text; at += width_of(&q->parts[i++]))
        if (is_set_part(q->parts[i].encoding))
            write_positions(&q->parts[i], &values[q->number[i]], row.positions + at);
        else
            cells[i] = cell_of(&q->parts[i], &values[q->number[i]]);
    if (from->master != NULL) {
        open_fresh_key(from->master, number, &key);
    } else {
        derivation d;
        open_derivation(&d, from->secret, c->table + SERIES_AT, 0, q, NULL, from->person);
        if (is_text)
            absorb_field(&d, FIELD_STRING, row.text, q->parts[0].k + 1);
        for (uint32_t i = 0, at = 0; i < q->count && !is_text; at += width_of(&q->parts[i++]))
            if (is_set_part(q->parts[i].encoding))
                absorb_field(&d, FIELD_POSITIONS, row.positions + at, sizeof(uint16_t) * width_of(&q->parts[i]));
            else
                absorb_cell(&d, &q->parts[i], &cells[i]);
        close_derivation(&d, &key);
    }
    if (is_text) {
        write_sketch(q, &key, row.text, report);
    } else if (is_set(q->mechanism)) {
        for (uint32_t i = 0, at = 0; i < q->count; at += width_of(&q->parts[i++]))
            if (!is_set_part(q->parts[i].encoding))
                row.positions[at] = (uint16_t)symbol_of(&q->parts[i], &cells[i], &key, i);
        write_sets(q, &key, row.positions, report);
    } else {
        for (uint32_t i = 0; i < q->count; i++)
            symbol = symbol * q->parts[i].k + symbol_of(&q->parts[i], &cells[i], &key, i);
        write_report(q, &key, symbol, report);
    }
    if (q->mechanism == TWO_RESPONSES)
        answer_in_round(c, from, q, report);
    key_wipe(&key, sizeof key);
    key_wipe(cells, sizeof cells);
    key_wipe(&row, sizeof row);
    key_wipe(&symbol, sizeof symbol);
}

/* Number of the only question that is asked. The thresholds may have any alignment in the table. */
static uint32_t draw_question(const ldpfast_client *c, stream_key *key)
{
    enum { TOGETHER = 64 };
    uint32_t threshold[TOGETHER], question = 0;
    uint16_t more;
    for (uint32_t i = 0; i < c->questions - 1; i += TOGETHER) { /* the same word each time */
        const uint32_t now = c->questions - 1 - i < TOGETHER ? c->questions - 1 - i : TOGETHER;
        memcpy(threshold, c->table + c->thresholds + 4 * (size_t)i, 4 * now);
        assign_one(key, 0, threshold, now, 1, &more);
        question += more;
    }
    return question;
}

/* Order of two tickets: the public order of their bytes. */
static int compare_tickets(const uint8_t *one, const uint8_t *other)
{
    for (size_t i = 0; i < AES_BLOCK; i++)
        if (one[i] != other[i])
            return one[i] < other[i] ? -1 : 1;
    return 0;
}

/* The questions that are asked. */
typedef struct {
    uint32_t only;           /* number of the only question */
    uint8_t last[AES_BLOCK]; /* for a person, the largest ticket of a question that is asked */
} choice;

/* Writes the smallest ticket of a question, the first half of a derived key. */
static void draw_ticket(const derivation *opened, const question *q, uint8_t *smallest)
{
    uint8_t ticket[AES_BLOCK];
    for (uint32_t i = 0; i < q->tickets; i++) {
        derivation d = *opened;
        absorb_field(&d, FIELD_QUESTION, q->name, q->name_bytes);
        absorb_field(&d, FIELD_TICKET, &i, sizeof i);
        absorb(&d, key_bits, sizeof key_bits);
        prefix_derive_half(&d.prefix, d.block, d.held, ticket);
        if (i == 0 || compare_tickets(ticket, smallest) < 0)
            memcpy(smallest, ticket, AES_BLOCK);
        key_wipe(&d, sizeof d);
    }
}

/* Finds the questions that a person is asked: those with the smallest tickets. Tickets are drawn again for every TOGETHER answers,
 * because there is no memory for all of them. */
static void choose_questions(const ldpfast_client *c, const derivation *opened, choice *chosen)
{
    enum { TOGETHER = 32 };
    uint8_t smallest[TOGETHER][AES_BLOCK], ticket[AES_BLOCK];
    uint32_t number[TOGETHER];
    for (uint32_t left = c->answers, start = 0; left > 0; start = 1) {
        const uint32_t most = left < TOGETHER ? left : TOGETHER;
        uint32_t kept = 0;
        for (uint32_t i = 0; i < c->questions; i++) {
            const question q = read_question(c, i);
            draw_ticket(opened, &q, ticket);
            if (start && compare_tickets(ticket, chosen->last) <= 0)
                continue;
            if (kept == most && compare_tickets(ticket, smallest[most - 1]) >= 0)
                continue;
            uint32_t at = kept < most ? kept : most - 1;
            for (; at > 0 && compare_tickets(ticket, smallest[at - 1]) < 0; at--) {
                memcpy(smallest[at], smallest[at - 1], AES_BLOCK);
                number[at] = number[at - 1];
            }
            memcpy(smallest[at], ticket, AES_BLOCK);
            number[at] = i;
            kept += kept < most;
        }
        memcpy(chosen->last, smallest[most - 1], AES_BLOCK);
        chosen->only = number[0];
        left -= most;
    }
}

static int write_message(const ldpfast_client *c, const coin_source *from, const derivation *opened,
                         const ldpfast_value *values, uint8_t *message, size_t *length)
{
    uint8_t *at = message;
    uint16_t left = (uint16_t)c->answers;
    uint32_t written = 0;
    choice chosen = {0, {0}};
    if (from->master == NULL)
        choose_questions(c, opened, &chosen);
    else if (c->answers == 1)
        chosen.only = draw_question(c, from->master);
    *at = MESSAGE_VERSION;
    memcpy(at + 1, c->table + DIGEST_AT, HEAD - 1);
    at += HEAD;
    for (uint32_t i = 0; i < c->questions; i++) {
        const uint16_t number = (uint16_t)i;
        const question q = read_question(c, i);
        uint8_t asked = i == chosen.only, ticket[AES_BLOCK];
        if (c->answers > 1 && from->master != NULL) {
            assign_step(from->master, 0, i, c->questions - i, 1, &left, &asked);
        } else if (c->answers > 1) {
            draw_ticket(opened, &q, ticket);
            asked = compare_tickets(ticket, chosen.last) <= 0;
        }
        if (!asked || written == c->answers) /* two tickets are equal with probability 2^-128 */
            continue;
        written++;
        memcpy(at, &number, sizeof number);
        answer_question(c, from, i, &q, values, at + sizeof number);
        at += sizeof number + report_bytes(&q);
    }
    *length = (size_t)(at - message);
    return LDPFAST_OK;
}

/* Writes the ticket of the wave with a place in its period. */
static void draw_wave(const derivation *opened, uint32_t place, uint8_t *ticket)
{
    enum { DIGITS = 4 }; /* of MAX_WAVES */
    uint8_t text[DIGITS];
    uint32_t start = DIGITS;
    for (uint32_t number = place + 1; number; number /= 10)
        text[--start] = (uint8_t)('0' + number % 10);
    const question q = {.tickets = 1, .name = text + start, .name_bytes = DIGITS - start};
    draw_ticket(opened, &q, ticket);
}

/* Whether fewer waves than there are turns have a smaller ticket. */
static int has_turn(const ldpfast_client *c, const uint8_t *secret, const ldpfast_person *person)
{
    const uint8_t *panel = c->table + c->panel;
    uint8_t own[AES_BLOCK], other[AES_BLOCK];
    uint32_t before = 0;
    derivation turns;
    open_derivation(&turns, secret, panel, FIELD_TURN, NULL, NULL, person);
    draw_wave(&turns, (read_u32(panel + WAVE_AT) - 1) % c->waves, own);
    for (uint32_t place = 0; place < c->waves; place++) {
        draw_wave(&turns, place, other);
        before += compare_tickets(other, own) < 0;
    }
    key_wipe(&turns, sizeof turns);
    return before < read_u16(panel + TURNS_AT);
}

static int is_person(const ldpfast_person *person)
{
    return person->kind >= FIELD_INTEGER && person->kind <= FIELD_BYTES && person->bytes <= UINT32_MAX;
}

int ldpfast_is_turn(const ldpfast_client *c, const uint8_t secret[LDPFAST_KEY_BYTES], const ldpfast_person *person, int *turn)
{
    *turn = 0;
    if (c->table == NULL)
        return LDPFAST_DAMAGED;
    if (!is_person(person))
        return LDPFAST_PERSON;
    *turn = !c->waves || has_turn(c, secret, person);
    return LDPFAST_OK;
}

uint32_t ldpfast_wave_at(int64_t start, int64_t every, uint32_t waves, int64_t now)
{
    if (every < 1 || now < start)
        return 0;
    const uint64_t before = ((uint64_t)now - (uint64_t)start) / (uint64_t)every;
    return before < waves ? (uint32_t)before + 1 : 0;
}

int ldpfast_answer(const ldpfast_client *c, const ldpfast_value *values, const uint8_t key[LDPFAST_KEY_BYTES], uint8_t *message,
                   size_t capacity, size_t *length)
{
    stream_key master;
    *length = 0;
    if (c->table == NULL)
        return LDPFAST_DAMAGED;
    if (capacity < c->message_bytes)
        return LDPFAST_NO_ROOM;
    if (c->waves || c->rounds)
        return LDPFAST_TURN;
    key_open(&master, key);
    const coin_source from = {&master, NULL, NULL};
    const int status = write_message(c, &from, NULL, values, message, length);
    key_wipe(&master, sizeof master);
    return status;
}

int ldpfast_answer_person(const ldpfast_client *c, const ldpfast_value *values, const uint8_t secret[LDPFAST_KEY_BYTES],
                          const ldpfast_person *person, uint8_t *message, size_t capacity, size_t *length)
{
    const coin_source from = {NULL, secret, person};
    derivation assignment;
    *length = 0;
    if (c->table == NULL)
        return LDPFAST_DAMAGED;
    if (capacity < c->message_bytes)
        return LDPFAST_NO_ROOM;
    if (!is_person(person))
        return LDPFAST_PERSON;
    if (c->waves && !has_turn(c, secret, person))
        return LDPFAST_TURN;
    open_derivation(&assignment, secret, c->table + SERIES_AT, FIELD_ASSIGNMENT, NULL, NULL, person);
    const int status = write_message(c, &from, &assignment, values, message, length);
    key_wipe(&assignment, sizeof assignment);
    return status;
}

static const uint8_t *series_of(const ldpfast_client *c);
static uint32_t occasion_of(const ldpfast_client *c);

int ldpfast_report_id(const ldpfast_client *c, const uint8_t secret[LDPFAST_KEY_BYTES], const ldpfast_person *person,
                      uint8_t id[LDPFAST_ID_BYTES])
{
    memset(id, 0, LDPFAST_ID_BYTES);
    if (c->table == NULL)
        return LDPFAST_DAMAGED;
    if (!is_person(person))
        return LDPFAST_PERSON;
    const uint64_t occasion = occasion_of(c) ? occasion_of(c) : read_u64(c->table + DIGEST_AT);
    derivation d;
    open_derivation(&d, secret, series_of(c), FIELD_REPORT_ID, NULL, &occasion, person);
    absorb(&d, key_bits, sizeof key_bits);
    prefix_derive_half(&d.prefix, d.block, d.held, id);
    key_wipe(&d, sizeof d);
    return LDPFAST_OK;
}

/* Ledgers ------------------------------------------------------------------------------------------------------------- */

/* A ledger: header, answers, checksum. Header: magic and version, bytes, series, secret. An answer: bytes, wave or 0, fingerprint,
 * number of reports; and for each report its question, bytes of the name, bytes of the report, whether it is new, description, name,
 * report. */
enum { LEDGER = 76, SIZE_AT = 8, LEDGER_SERIES_AT = 12, SECRET_AT = 44 };
enum { ANSWER = 18, ANSWER_WAVE_AT = 4, LABEL_AT = 8, REPORTS_AT = 16, LABEL_BYTES = HEAD - 1 };
enum { REPORT = 41, NAME_BYTES_AT = 2, REPORT_BYTES_AT = 4, NEW_AT = 8, DESCRIPTION_AT = 9 };

static const uint8_t ledger_magic[8] = {'L', 'D', 'P', 'L', 'E', 'D', 'G', 1};

static int has_occasions(const ldpfast_client *c) { return c->waves || c->rounds; }
static const uint8_t *series_of(const ldpfast_client *c) { return c->table + (has_occasions(c) ? c->panel : SERIES_AT); }

/* Number of the wave or of the round, from 1 on; 0 without them. */
static uint32_t occasion_of(const ldpfast_client *c)
{
    if (c->rounds)
        return read_u32(c->table + c->panel + ROUND_AT) + 1;
    return c->waves ? read_u32(c->table + c->panel + WAVE_AT) : 0;
}

/* Largest number of times that a person answers. */
static uint64_t most_times(const ldpfast_client *c)
{
    const uint8_t *panel = c->table + c->panel;
    if (c->rounds)
        return c->rounds;
    if (!c->waves)
        return 1;
    return read_u16(panel + ENDLESS_AT) ? UINT32_MAX : read_u16(panel + TURNS_AT);
}

/* A stored report. */
typedef struct {
    uint32_t number, name_bytes, bytes, is_new;
    const uint8_t *description, *name, *report, *end;
} stored;

/* Reads a stored report, and returns whether it ends before `end`. */
static int read_stored(const uint8_t *at, const uint8_t *end, stored *found)
{
    if (end - at < REPORT)
        return 0;
    const uint32_t name_bytes = read_u16(at + NAME_BYTES_AT), bytes = read_u32(at + REPORT_BYTES_AT);
    const uint8_t *name = at + REPORT;
    if ((uint64_t)name_bytes + bytes > (uint64_t)(end - name))
        return 0;
    const uint8_t *report = name + name_bytes;
    const stored one = {read_u16(at), name_bytes, bytes, at[NEW_AT], at + DESCRIPTION_AT, name, report, report + bytes};
    *found = one;
    return 1;
}

/* Whether a ledger is undamaged and belongs to the series of the survey. */
static int ledger_is_valid(const ldpfast_client *c, const uint8_t *ledger, size_t bytes)
{
    if (bytes < LEDGER + CHECKSUM || !is_equal(ledger, ledger_magic, sizeof ledger_magic) ||
        read_u32(ledger + SIZE_AT) != bytes || !checksum_is_valid(ledger, bytes) ||
        !is_equal(ledger + LEDGER_SERIES_AT, series_of(c), DIGEST_BYTES))
        return 0;
    const uint8_t *at = ledger + LEDGER, *end = ledger + bytes - CHECKSUM;
    while (at < end) {
        if (end - at < ANSWER || read_u32(at) < ANSWER || read_u32(at) > (uint64_t)(end - at))
            return 0;
        const uint8_t *next = at + read_u32(at), *report = at + ANSWER;
        stored one = {0};
        for (uint32_t left = read_u16(at + REPORTS_AT); left > 0; left--, report = one.end)
            if (!read_stored(report, next, &one))
                return 0;
        if (report != next)
            return 0;
        at = next;
    }
    return 1;
}

/* Finds the stored report to a question in the wave of the survey; a changed question is another one. */
static int find_stored(const ldpfast_client *c, const uint8_t *ledger, size_t bytes, const question *q, stored *found)
{
    const uint8_t *end = ledger + bytes - CHECKSUM;
    for (const uint8_t *at = ledger + LEDGER; at < end; at += read_u32(at)) {
        found->end = at + ANSWER;
        for (uint32_t left = read_u16(at + REPORTS_AT); left > 0 && read_u32(at + ANSWER_WAVE_AT) == occasion_of(c); left--) {
            read_stored(found->end, end, found);
            if (found->name_bytes == q->name_bytes && is_equal(found->name, q->name, q->name_bytes) &&
                is_equal(found->description, q->description, DIGEST_BYTES) && found->bytes == report_bytes(q))
                return 1;
        }
    }
    return 0;
}

/* Finds the answer to this version of the survey in its wave, or to any version if the fingerprint is NULL. */
static const uint8_t *find_answer(const ldpfast_client *c, const uint8_t *ledger, size_t bytes, const uint8_t *label)
{
    const uint8_t *end = ledger + bytes - CHECKSUM;
    for (const uint8_t *at = ledger + LEDGER; at < end; at += read_u32(at))
        if (read_u32(at + ANSWER_WAVE_AT) == occasion_of(c) && (label == NULL || is_equal(at + LABEL_AT, label, LABEL_BYTES)))
            return at;
    return NULL;
}

static void close_ledger(uint8_t *ledger, size_t bytes)
{
    static const uint8_t zero_key[LDPFAST_KEY_BYTES];
    const uint32_t size = (uint32_t)bytes;
    uint8_t state[AES_BLOCK] = {0};
    cmac_key key;
    memcpy(ledger + SIZE_AT, &size, sizeof size);
    cmac_open(&key, zero_key);
    cmac_finish(&key, state, ledger, bytes - CHECKSUM, ledger + bytes - CHECKSUM);
}

/* Writes the message of a stored answer again, and returns its length; 0 if it is longer than messages of the survey can be. */
static size_t repeat_message(const ldpfast_client *c, const uint8_t *answer, uint8_t *message)
{
    uint8_t *to = message;
    stored one = {.end = answer + ANSWER};
    *to = MESSAGE_VERSION;
    memcpy(to + 1, c->table + DIGEST_AT, HEAD - 1);
    to += HEAD;
    for (uint32_t left = read_u16(answer + REPORTS_AT); left > 0; left--) {
        read_stored(one.end, answer + read_u32(answer), &one);
        const uint16_t number = (uint16_t)one.number;
        if (sizeof number + one.bytes > c->message_bytes - (size_t)(to - message))
            return 0;
        memcpy(to, &number, sizeof number);
        memcpy(to + sizeof number, one.report, one.bytes);
        to += sizeof number + one.bytes;
    }
    return (size_t)(to - message);
}

/* Appends a message to a ledger, after stored reports have replaced new ones, and returns its number of bytes with the answer. */
static size_t append_answer(const ldpfast_client *c, uint8_t *ledger, size_t bytes, uint8_t *message, size_t length)
{
    uint8_t *answer = ledger + bytes - CHECKSUM, *to = answer + ANSWER;
    const uint32_t wave = occasion_of(c);
    uint16_t reports = 0;
    for (uint8_t *at = message + HEAD; at < message + length; reports++) {
        const uint16_t number = read_u16(at), name_bytes = (uint16_t)read_question(c, number).name_bytes;
        const question q = read_question(c, number);
        const uint32_t size = (uint32_t)report_bytes(&q);
        stored old = {0};
        const int is_old = find_stored(c, ledger, bytes, &q, &old);
        if (is_old)
            memcpy(at + 2, old.report, size);
        memcpy(to, &number, 2);
        memcpy(to + NAME_BYTES_AT, &name_bytes, 2);
        memcpy(to + REPORT_BYTES_AT, &size, 4);
        to[NEW_AT] = (uint8_t)!is_old;
        memcpy(to + DESCRIPTION_AT, q.description, DIGEST_BYTES);
        memcpy(to + REPORT, q.name, name_bytes);
        memcpy(to + REPORT + name_bytes, at + 2, size);
        to += REPORT + name_bytes + size;
        at += 2 + size;
    }
    const uint32_t size = (uint32_t)(to - answer);
    memcpy(answer, &size, 4);
    memcpy(answer + ANSWER_WAVE_AT, &wave, 4);
    memcpy(answer + LABEL_AT, c->table + DIGEST_AT, LABEL_BYTES);
    memcpy(answer + REPORTS_AT, &reports, 2);
    return bytes + size;
}

/* Number of new reports between two answers of a ledger. */
static uint32_t count_new(const uint8_t *at, const uint8_t *end)
{
    uint32_t count = 0;
    for (; at < end; at += read_u32(at)) {
        stored one = {.end = at + ANSWER};
        for (uint32_t left = read_u16(at + REPORTS_AT); left > 0; left--) {
            read_stored(one.end, end, &one);
            count += one.is_new;
        }
    }
    return count;
}

size_t ldpfast_ledger_room(const ldpfast_client *c)
{
    size_t names = 0;
    for (uint32_t i = 0; i < c->questions; i++)
        names += read_question(c, i).name_bytes;
    return ANSWER + c->message_bytes + (size_t)c->answers * REPORT + names;
}

int ldpfast_ledger_new(const ldpfast_client *c, const uint8_t secret[LDPFAST_KEY_BYTES], uint8_t *ledger, size_t capacity,
                       size_t *bytes)
{
    *bytes = 0;
    if (c->table == NULL)
        return LDPFAST_DAMAGED;
    if (capacity < LDPFAST_NEW_LEDGER_BYTES)
        return LDPFAST_NO_ROOM;
    memcpy(ledger, ledger_magic, sizeof ledger_magic);
    memcpy(ledger + LEDGER_SERIES_AT, series_of(c), DIGEST_BYTES);
    memcpy(ledger + SECRET_AT, secret, LDPFAST_KEY_BYTES);
    close_ledger(ledger, LDPFAST_NEW_LEDGER_BYTES);
    *bytes = LDPFAST_NEW_LEDGER_BYTES;
    return LDPFAST_OK;
}

static const ldpfast_person alone = {FIELD_BYTES, 0, NULL, 0}; /* the only person of a ledger */

int ldpfast_ledger_is_turn(const ldpfast_client *c, const uint8_t *ledger, size_t bytes, int *turn)
{
    *turn = 0;
    if (c->table == NULL)
        return LDPFAST_DAMAGED;
    if (!ledger_is_valid(c, ledger, bytes))
        return LDPFAST_LEDGER;
    return ldpfast_is_turn(c, ledger + SECRET_AT, &alone, turn);
}

/* Whether all reports of a message answer questions that a ledger has an answer to; a changed question is another one. */
static int are_known(const ldpfast_client *c, const uint8_t *ledger, size_t bytes, const uint8_t *message, size_t length)
{
    const uint8_t *end = ledger + bytes - CHECKSUM;
    for (const uint8_t *at = message + HEAD; at < message + length;) {
        const question q = read_question(c, read_u16(at));
        int is_known = 0;
        for (const uint8_t *answer = ledger + LEDGER; answer < end; answer += read_u32(answer)) {
            stored one = {.end = answer + ANSWER};
            for (uint32_t left = read_u16(answer + REPORTS_AT); left > 0; left--) {
                read_stored(one.end, end, &one);
                is_known |= one.name_bytes == q.name_bytes && is_equal(one.name, q.name, q.name_bytes) &&
                            is_equal(one.description, q.description, DIGEST_BYTES);
            }
        }
        if (!is_known)
            return 0;
        at += 2 + report_bytes(&q);
    }
    return 1;
}

int ldpfast_ledger_report_id(const ldpfast_client *c, const uint8_t *ledger, size_t bytes, uint8_t id[LDPFAST_ID_BYTES])
{
    memset(id, 0, LDPFAST_ID_BYTES);
    if (c->table == NULL)
        return LDPFAST_DAMAGED;
    if (!ledger_is_valid(c, ledger, bytes))
        return LDPFAST_LEDGER;
    return ldpfast_report_id(c, ledger + SECRET_AT, &alone, id);
}

int ldpfast_answer_once(const ldpfast_client *c, const ldpfast_value *values, uint8_t *ledger, size_t capacity, size_t *bytes,
                        uint8_t *message, size_t message_capacity, size_t *length)
{
    *length = 0;
    if (c->table == NULL)
        return LDPFAST_DAMAGED;
    if (!ledger_is_valid(c, ledger, *bytes))
        return LDPFAST_LEDGER;
    if (message_capacity < c->message_bytes || capacity < *bytes || capacity - *bytes < ldpfast_ledger_room(c) ||
        *bytes > UINT32_MAX - ldpfast_ledger_room(c))
        return LDPFAST_NO_ROOM;
    const uint8_t *same = find_answer(c, ledger, *bytes, c->table + DIGEST_AT);
    if (same != NULL) {
        *length = repeat_message(c, same, message);
        return *length ? LDPFAST_OK : LDPFAST_LEDGER;
    }
    if (has_occasions(c) && find_answer(c, ledger, *bytes, NULL) != NULL)
        return LDPFAST_PROMISE;
    const int status = ldpfast_answer_person(c, values, ledger + SECRET_AT, &alone, message, message_capacity, length);
    if (status != LDPFAST_OK)
        return status;
    if (c->rounds && *bytes > LDPFAST_NEW_LEDGER_BYTES && !are_known(c, ledger, *bytes, message, *length)) {
        key_wipe(message, *length);
        *length = 0;
        return LDPFAST_PROMISE;
    }
    const size_t longer = append_answer(c, ledger, *bytes, message, *length);
    if (count_new(ledger + LEDGER, ledger + longer - CHECKSUM) > c->answers * most_times(c)) {
        key_wipe(message, *length);
        key_wipe(ledger + *bytes, longer - *bytes);
        *length = 0;
        close_ledger(ledger, *bytes);
        return LDPFAST_PROMISE;
    }
    close_ledger(ledger, longer);
    *bytes = longer;
    return LDPFAST_OK;
}
