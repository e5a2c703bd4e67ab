/* The digits of `groups` groups; `word` holds m indices, of which the low five bits select an entry, and then the first 16 bits
 * of m coins per group. Marks numbers of which a coin is equal to its threshold, which has the probability 2^-16, and returns
 * whether there are any. */
LDP_INLINE int NAME(draw_digits)(const digit_group *group, size_t groups, const uint16_t *word, size_t m, uint16_t *value,
                                 uint16_t *tie)
{
    PER_ISA(uint16s) all = {0};
    for (size_t i = 0; i < m; i += V_BYTES / 2) {
        PER_ISA(uint16s) index, digits = {0}, ties = {0};
        memcpy(&index, word + i, sizeof index);
#pragma GCC unroll 3
        for (size_t k = 0; k < groups; k++) {
            const PER_ISA(uint16s) threshold = PER_ISA(lookup_16)(group[k].threshold, index);
            const PER_ISA(uint16s) alias = PER_ISA(lookup_16)(group[k].alias, index);
            PER_ISA(uint16s) coin;
            memcpy(&coin, word + (1 + k) * m + i, sizeof coin);
            const PER_ISA(uint16s) keep = (PER_ISA(uint16s))(coin < threshold);
            ties |= (PER_ISA(uint16s))(coin == threshold);
            digits |= (alias ^ ((alias ^ (index & group[k].mask)) & keep)) << (GROUP_DIGITS * (int)k);
            index >>= GROUP_DIGITS;
        }
        all |= ties;
        memcpy(value + i, &digits, sizeof digits);
        memcpy(tie + i, &ties, sizeof ties);
    }
    uint16_t any = 0;
    for (size_t l = 0; l < V_BYTES / 2; l++)
        any |= all[l];
    return any != 0;
}

/* Appends the digits of up to three groups to m numbers. The top digits are signed by bit 15 of `sign`. */
static void NAME(append_digits)(const digit_group *group, size_t groups, const uint16_t *word, const uint16_t *sign, size_t m,
                                int top, reader *rest, double *out)
{
    uint16_t value[NOISE_PIECE] LDP_ALIGNED, tie[NOISE_PIECE] LDP_ALIGNED;
    const int bits = GROUP_DIGITS * (int)groups;
    const double base = (double)(1 << bits);
    const uint16_t used = (uint16_t)((1 << bits) - 1);
    if (groups == SET_GROUPS ? NAME(draw_digits)(group, SET_GROUPS, word, m, value, tie)
                             : NAME(draw_digits)(group, groups, word, m, value, tie))
        settle_ties(group, groups, word, m, tie, rest, value);
    if (top)
        for (size_t i = 0; i < m; i++) /* vector loop */
            out[i] = (double)(int16_t)(value[i] ^ -(sign[i] >> 15));
    else
        for (size_t i = 0; i < m; i++) /* vector loop */
            out[i] = out[i] * base + (double)((value[i] ^ -(sign[i] >> 15)) & used);
}

/* Bit i of `mask` is byte[i] <= most, for n bytes rounded up to whole words. */
static void NAME(bytes_at_most)(const uint8_t *byte, size_t n, uint8_t most, uint64_t *mask)
{
    for (size_t i = 0; i < n; i += 64) {
        uint8_t low[64];
        for (size_t l = 0; l < 64; l++) /* vector loop */
            low[l] = byte[i + l] <= most;
        uint64_t any = 0, word = 0;
        for (size_t l = 0; l < 8; l++) {
            uint64_t eight;
            memcpy(&eight, low + 8 * l, 8);
            any |= eight;
            word |= (eight * 0x0102040810204080u >> 56) << 8 * l;
        }
        mask[i / 64] = any ? word : 0;
    }
}
