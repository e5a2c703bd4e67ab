#include "check/set_sizes_body.h"

static size_t NAME(first_set_of_other_size)(const uint8_t *rows, size_t n, size_t bytes, size_t size)
{
    for (size_t at = 0; at < n; at += PIECE) {
        const size_t now = n - at < PIECE ? n - at : PIECE;
        if (NAME(any_other_size)(rows + at * bytes, now, bytes, size, rows + n * bytes))
            for (size_t i = at; i < at + now; i++)
                if (NAME(set_size)(rows + i * bytes, bytes) != size)
                    return i;
    }
    return n;
}
