/* Columns of a table, in the layout of Arrow: one row per person. They are checked in whole, and read for the people who are
 * asked. */
#ifndef LDP_SURVEY_COLUMNS_H
#define LDP_SURVEY_COLUMNS_H

#include "simd/platform.h"

enum column_kind {
    COLUMN_BITS,
    COLUMN_INT8,
    COLUMN_INT16,
    COLUMN_INT32,
    COLUMN_INT64,
    COLUMN_UINT8,
    COLUMN_UINT16,
    COLUMN_UINT32,
    COLUMN_UINT64,
    COLUMN_FLOAT32,
    COLUMN_FLOAT64,
    COLUMN_KINDS
};

/* Symbols of cells that are not valid answers. */
#define SYMBOL_MISSING 0xfffffffeu
#define SYMBOL_UNDECLARED 0xffffffffu

typedef struct {
    const void *values;
    const uint8_t *valid; /* one bit per row, 0 where the value is missing; NULL if none is */
    size_t offset;        /* number of the first row in both */
    int kind;
    /* Categories: the value base + i, i < size, has the symbol table[i]. table[size] is the symbol of a missing value. `declared`
     * tells that all symbols of values are valid. */
    int64_t base;
    uint32_t size;
    int declared;
    const uint32_t *table;
} column;

/* Whether one of the rows first .. first + n - 1 has no valid answer: a number outside [lower, upper] or, unless `optional`, none;
 * or no valid symbol. Values that are not a number are missing. */
int column_numbers_invalid(const column *c, size_t first, size_t n, double lower, double upper, int optional);
int column_symbols_invalid(const column *c, size_t first, size_t n);

/* Writes the numbers, or the symbols, of the rows first + row[i], i < n. A missing number is NaN. */
void column_numbers(const column *c, size_t first, const uint16_t *row, size_t n, double *out);
void column_symbols(const column *c, size_t first, const uint16_t *row, size_t n, uint32_t *out);

#endif
