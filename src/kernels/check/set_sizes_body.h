/* Numbers of ones of packed rows. Short rows whose lengths are powers of two are groups of bytes of a vector. Rows of more than 16
 * bytes are vectors, and four of their sums are added together. Other rows are one or two words. */
LDP_INLINE NAME(words) NAME(load_words)(const uint8_t *at)
{
    NAME(words) v;
    memcpy(&v, at, sizeof v);
    return v;
}

LDP_INLINE uint64_t NAME(lanes_or)(NAME(words) v)
{
    uint64_t all = 0;
    for (size_t l = 0; l < V_BYTES / 8; l++)
        all |= v[l];
    return all;
}

/* Number of ones of a row of any length. */
LDP_INLINE uint64_t NAME(set_size)(const uint8_t *row, size_t bytes)
{
    uint64_t ones = 0, word = 0;
    size_t at = 0;
    for (; at + 8 <= bytes; at += 8) {
        memcpy(&word, row + at, 8);
        ones += NAME(ones)(word);
    }
    for (word = 0; at < bytes; at++)
        word = word << 8 | row[at];
    return ones + NAME(ones)(word);
}

/* Bits by which the sizes of n groups of `group` bytes differ from `size`: 1, 2, 4, 8 or 16 bytes, a constant. */
LDP_INLINE uint64_t NAME(groups_differ)(const uint8_t *rows, size_t n, size_t group, uint64_t size)
{
    NAME(words) other = {0};
    const size_t per = V_BYTES / group;
    const uint64_t wanted = size * (group == 1   ? 0x0101010101010101u
                                    : group == 2 ? 0x0001000100010001u
                                    : group == 4 ? 0x0000000100000001u
                                                 : 1);
    for (; n >= per; n -= per, rows += V_BYTES) {
        NAME(words) v = NAME(byte_ones)(NAME(load_words)(rows));
        if (group == 2 || group == 4)
            v = (v & 0x00ff00ff00ff00ffu) + (v >> 8 & 0x00ff00ff00ff00ffu);
        if (group == 4)
            v = (v & 0x0000ffff0000ffffu) + (v >> 16 & 0x0000ffff0000ffffu);
        if (group >= 8)
            v = NAME(byte_sums)(v);
        if (group == 16)
            v = NAME(pair_sums)(v);
        other |= v ^ wanted;
    }
    uint64_t all = NAME(lanes_or)(other);
    for (size_t i = 0; i < n; i++)
        all |= NAME(set_size)(rows + i * group, group) ^ size;
    return all;
}

/* Zeros, ones, zeros: masks of the first and the last bytes of a vector. */
static const uint8_t NAME(byte_masks)[3 * V_BYTES] = {[V_BYTES... 2 * V_BYTES - 1] = 0xff};

/* Lanes whose sum is the number of ones of a row, for which V_BYTES bytes can be read. */
LDP_INLINE NAME(words) NAME(partial_sizes)(const uint8_t *row, size_t bytes)
{
    enum { MAX_BYTE_SUMS = 31 };
    NAME(words) sums = {0}, counts = {0};
    size_t at = 0;
    for (size_t now = 0; at + V_BYTES <= bytes; at += V_BYTES) {
        counts += NAME(byte_ones)(NAME(load_words)(row + at));
        if (++now == MAX_BYTE_SUMS) {
            sums += NAME(byte_sums)(counts);
            counts ^= counts;
            now = 0;
        }
    }
    if (at < bytes) {
        sums += NAME(byte_sums)(counts);
        const uint8_t *mask = NAME(byte_masks) + (bytes < V_BYTES ? 2 * V_BYTES - bytes : bytes - at);
        counts = NAME(byte_ones)(NAME(load_words)(bytes < V_BYTES ? row : row + bytes - V_BYTES) & NAME(load_words)(mask));
    }
    return sums + NAME(byte_sums)(counts);
}

/* The same as `groups_differ` for rows of more than 16 bytes. Memory up to `end` can be read. */
LDP_INLINE uint64_t NAME(rows_differ)(const uint8_t *rows, size_t n, size_t bytes, uint64_t size, const uint8_t *end)
{
    enum { TOGETHER = 4, MAX_BYTES = 8191 }; /* sums of a row have 16 bits */
    const size_t reach = bytes < V_BYTES ? V_BYTES : bytes;
    uint64_t all = 0;
    for (; n >= TOGETHER && bytes <= MAX_BYTES; n -= TOGETHER, rows += TOGETHER * bytes) {
        if ((size_t)(end - rows) < (TOGETHER - 1) * bytes + reach)
            break;
        NAME(words) sums = NAME(partial_sizes)(rows, bytes);
#pragma GCC unroll 4
        for (size_t r = 1; r < TOGETHER; r++)
            sums += NAME(partial_sizes)(rows + r * bytes, bytes) << 16 * r;
        all |= NAME(sum_words)(sums) ^ size * 0x0001000100010001u;
    }
    for (size_t i = 0; i < n; i++)
        all |= NAME(set_size)(rows + i * bytes, bytes) ^ size;
    return all;
}

/* The same for rows of less than 16 bytes: the first 8, and the bytes after them. */
LDP_INLINE uint64_t NAME(short_rows_differ)(const uint8_t *rows, size_t n, size_t bytes, uint64_t size, const uint8_t *end)
{
    const int shift = (int)(bytes < 8 ? 8 * (8 - bytes) : 8 * (16 - bytes));
    uint64_t all = 0;
    for (; n && end - rows >= 8; n--, rows += bytes) {
        uint64_t first, last;
        memcpy(&first, rows, 8);
        memcpy(&last, rows + (bytes < 8 ? 0 : bytes - 8), 8);
        all |= (bytes < 8 ? NAME(ones)(first << shift) : NAME(ones)(first) + NAME(ones)(last >> shift)) ^ size;
    }
    for (size_t i = 0; i < n; i++)
        all |= NAME(set_size)(rows + i * bytes, bytes) ^ size;
    return all;
}

/* Whether some of n rows do not have `size` ones. Memory up to `end` can be read. */
LDP_INLINE int NAME(any_other_size)(const uint8_t *rows, size_t n, size_t bytes, uint64_t size, const uint8_t *end)
{
    switch (bytes) {
    case 1:
        return NAME(groups_differ)(rows, n, 1, size) != 0;
    case 2:
        return NAME(groups_differ)(rows, n, 2, size) != 0;
    case 4:
        return NAME(groups_differ)(rows, n, 4, size) != 0;
    case 8:
        return NAME(groups_differ)(rows, n, 8, size) != 0;
    case 16:
        return NAME(groups_differ)(rows, n, 16, size) != 0;
    default:
        return (bytes > 16 ? NAME(rows_differ) : NAME(short_rows_differ))(rows, n, bytes, size, end) != 0;
    }
}
