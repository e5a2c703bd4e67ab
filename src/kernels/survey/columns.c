#include "survey/columns.h"

#include "simd/branchless.h"

enum { PIECE = 1024, MISSING = 1, OUTSIDE = 2 };

#define KERNEL_BODY "survey/columns_body.h"
#include "simd/each_isa.h"

LDP_INLINE int bit_at(const uint8_t *bits, size_t i) { return bits[i / 8] >> i % 8 & 1; }

/* Whether one of n bits is 0. */
static int any_zero(const uint8_t *bits, size_t first, size_t n)
{
    uint8_t all = 0xff;
    size_t i = first, end = first + n;
    for (; i < end && i % 8; i++)
        all &= bit_at(bits, i) ? 0xff : 0;
    for (; i + 8 <= end; i += 8)
        all &= bits[i / 8];
    for (; i < end; i++)
        all &= bit_at(bits, i) ? 0xff : 0;
    return all != 0xff;
}

static int has_missing(const column *c, size_t first, size_t n)
{
    return c->valid != NULL && any_zero(c->valid, c->offset + first, n);
}

#define FOR_TYPES(define)                                                                                                \
    define(INT8, int8, int8_t) define(INT16, int16, int16_t) define(INT32, int32, int32_t) define(INT64, int64, int64_t) \
        define(UINT8, uint8, uint8_t) define(UINT16, uint16, uint16_t) define(UINT32, uint32, uint32_t)                  \
            define(UINT64, uint64, uint64_t)

/* Bytes per value. */
static const uint8_t value_bytes[COLUMN_KINDS] = {0, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8};

#define CHECK_CASE(KIND, name, type) \
    case COLUMN_##KIND:              \
        return LDP_BEST(check_##name)((const type *)c->values + at, n, lower, upper);

/* MISSING or OUTSIDE, for a column that is not of bits, and whose validity is not read. */
static int check_numbers(const column *c, size_t first, size_t n, double lower, double upper)
{
    const size_t at = c->offset + first;
    switch (c->kind) {
        FOR_TYPES(CHECK_CASE)
    case COLUMN_FLOAT32:
        return LDP_BEST(check_float)((const float *)c->values + at, n, lower, upper);
    default:
        return LDP_BEST(check_double)((const double *)c->values + at, n, lower, upper);
    }
}

#define READ_CASE(KIND, name, type)                        \
    case COLUMN_##KIND:                                    \
        for (size_t i = 0; i < n; i++)                     \
            out[i] = (double)((const type *)from)[row[i]]; \
        break;

void column_numbers(const column *c, size_t first, const uint16_t *row, size_t n, double *out)
{
    const size_t at = c->offset + first;
    const char *from = (const char *)c->values + at * value_bytes[c->kind];
    switch (c->kind) {
        FOR_TYPES(READ_CASE)
        READ_CASE(FLOAT32, float, float)
        READ_CASE(FLOAT64, double, double)
    default:
        for (size_t i = 0; i < n; i++)
            out[i] = bit_at(c->values, at + row[i]);
    }
    if (c->valid != NULL)
        for (size_t i = 0; i < n; i++)
            out[i] = bit_at(c->valid, at + row[i]) ? out[i] : __builtin_nan("");
}

#define INDEX_CASE(KIND, name, type)                                                           \
    case COLUMN_##KIND:                                                                        \
        for (size_t i = 0; i < n; i++) {                                                       \
            const uint64_t index = (uint64_t)((const type *)from)[row[i]] - (uint64_t)c->base; \
            out[i] = index < c->size ? c->table[index] : SYMBOL_UNDECLARED;                    \
        }                                                                                      \
        break;

void column_symbols(const column *c, size_t first, const uint16_t *row, size_t n, uint32_t *out)
{
    const size_t at = c->offset + first;
    const char *from = (const char *)c->values + at * value_bytes[c->kind];
    switch (c->kind) {
        FOR_TYPES(INDEX_CASE)
    default:
        for (size_t i = 0; i < n; i++)
            out[i] = c->table[bit_at(c->values, at + row[i])];
    }
    if (c->valid != NULL)
        for (size_t i = 0; i < n; i++)
            out[i] = bit_at(c->valid, at + row[i]) ? out[i] : c->table[c->size];
}

/* The slow form of both checks, for columns with missing values or undeclared categories. */
static int any_invalid(const column *c, size_t first, size_t n, double lower, double upper, int optional, int numbers)
{
    uint16_t row[PIECE];
    double number[PIECE];
    uint32_t symbol[PIECE];
    for (size_t i = 0; i < PIECE; i++)
        row[i] = (uint16_t)i;
    for (size_t at = 0; at < n; at += PIECE) {
        const size_t now = n - at < PIECE ? n - at : PIECE;
        int invalid = 0;
        if (numbers) {
            column_numbers(c, first + at, row, now, number);
            const int found = LDP_BEST(check_double)(number, now, lower, upper);
            invalid = found & (optional ? OUTSIDE : OUTSIDE | MISSING);
        } else {
            column_symbols(c, first + at, row, now, symbol);
            for (size_t i = 0; i < now; i++)
                invalid |= symbol[i] >= SYMBOL_MISSING;
        }
        if (invalid)
            return 1;
    }
    return 0;
}

int column_numbers_invalid(const column *c, size_t first, size_t n, double lower, double upper, int optional)
{
    if (c->kind != COLUMN_BITS && !has_missing(c, first, n)) {
        const int found = check_numbers(c, first, n, lower, upper);
        return (found & (optional ? OUTSIDE : OUTSIDE | MISSING)) != 0;
    }
    return any_invalid(c, first, n, lower, upper, optional, 1);
}

#define SYMBOL_CASE(KIND, name, type) \
    case COLUMN_##KIND:               \
        return LDP_BEST(check_index_##name)((const type *)c->values + at, n, c->base, c->size);

int column_symbols_invalid(const column *c, size_t first, size_t n)
{
    const size_t at = c->offset + first;
    if (!c->declared || has_missing(c, first, n))
        return any_invalid(c, first, n, 0, 0, 0, 0);
    switch (c->kind) {
        FOR_TYPES(SYMBOL_CASE)
    default:
        return 0;
    }
}
