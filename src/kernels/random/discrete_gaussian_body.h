/* exp(-x) for 0 <= x <= FARTHEST, times 2^power: a power of two times the Taylor polynomial of degree 13 on [-log 2 / 2, log 2 / 2],
 * whose remainder is 5e-18. */
LDP_INLINE double NAME(exponential)(double x, int64_t power)
{
    const double shifted = x * PER_LOG2 + LDP_MIDDLE, k = shifted - LDP_MIDDLE;
    const double r = (k * LOG2_HIGH - x) + k * LOG2_LOW;
    const double tail =
        1.0 / 5040 +
        r * (1.0 / 40320 +
             r * (1.0 / 362880 + r * (1.0 / 3628800 + r * (1.0 / 39916800 + r * (1.0 / 479001600 + r * (1.0 / 6227020800))))));
    const double value =
        1.0 + r * (1.0 + r * (0.5 + r * (1.0 / 6 + r * (1.0 / 24 + r * (1.0 / 120 + r * (1.0 / 720 + r * tail))))));
    const uint64_t exponent = (uint64_t)power + bits_f64(LDP_MIDDLE) - bits_f64(shifted);
    return double_of(bits_f64(value) + (exponent << 52));
}

/* Of the first word, the low half is the position in a step, by the method of Lemire, bit 63 the sign, and the number of zeros
 * before the first one in the other bits the step. The second word holds the digits of the uniform number. */
static void NAME(gaussian_propose)(const gaussian_steps *p, const uint64_t *words, gaussian_proposals *out)
{
    const double width = (double)p->width, below = 1 - p->margin, above = 1 + p->margin;
    for (size_t i = 0; i < GAUSSIAN_PROPOSALS; i++) { /* vector loop */
        const uint64_t product = (words[i] & 0xffffffffu) * p->width, digits = words[GAUSSIAN_PROPOSALS + i] >> 12;
        const double position = double_of(product >> 32 | bits_f64(0x1p52)) - 0x1p52;
        const double bits = double_of((words[i] >> 32 & 0x7fffffffu) | bits_f64(0x1p52)) - 0x1p52;
        const int64_t step = 1023 + 30 - (int64_t)(bits_f64(bits) >> 52), minus = (int64_t)(words[i] >> 63);
        const double size = double_of_integer(step) * width + position, x = size * size * p->per_variance;
        const double probability = NAME(exponential)(x < FARTHEST ? x : FARTHEST, step);
        const double least = double_of(digits | bits_f64(1)) - 1, most = least + 0x1p-52;
        const int64_t redrawn = -(int64_t)((product & 0xffffffffu) < p->limit) | -(int64_t)(bits == 0) |
                                (-minus & -(int64_t)(size == 0)); /* zero has one sign */
        const int64_t decision = most <= probability * below ? ACCEPTED : least >= probability * above ? REJECTED : UNDECIDED;
        out->value[i] = (integer_of(size) ^ -minus) + minus;
        out->step[i] = step;
        out->digits[i] = (int64_t)digits;
        out->decision[i] = decision & ~redrawn;
    }
}
