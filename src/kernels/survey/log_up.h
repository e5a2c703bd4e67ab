/* Logarithms of ratios of integers, rounded up, in integer arithmetic alone: a table that loses more than it may is never accepted
 * because of a rounding error. Numbers are four digits of 32 bits, the lowest first. */
#ifndef LDP_LOG_UP_H
#define LDP_LOG_UP_H

#include "simd/platform.h"

enum { LOG_DIGITS = 4, LOG_FRACTION = 120 }; /* logarithms are multiples of 2^-LOG_FRACTION */

typedef struct {
    uint32_t digit[LOG_DIGITS];
} wide;

static wide wide_product(uint64_t a, uint32_t b)
{
    const uint64_t low = (a & 0xffffffffu) * b, high = (a >> 32) * b + (low >> 32);
    const wide found = {{(uint32_t)low, (uint32_t)high, (uint32_t)(high >> 32), 0}};
    return found;
}

static int wide_below(const wide *a, const wide *b)
{
    for (int i = LOG_DIGITS - 1; i >= 0; i--)
        if (a->digit[i] != b->digit[i])
            return a->digit[i] < b->digit[i];
    return 0;
}

static int wide_is_zero(const wide *a) { return (a->digit[0] | a->digit[1] | a->digit[2] | a->digit[3]) == 0; }

static wide wide_double(const wide *a, uint32_t carry)
{
    wide found;
    for (int i = 0; i < LOG_DIGITS; i++) {
        found.digit[i] = a->digit[i] << 1 | carry;
        carry = a->digit[i] >> 31;
    }
    return found;
}

static wide wide_difference(const wide *a, const wide *b)
{
    wide found;
    uint64_t borrow = 0;
    for (int i = 0; i < LOG_DIGITS; i++) {
        const uint64_t digit = (uint64_t)a->digit[i] - b->digit[i] - borrow;
        found.digit[i] = (uint32_t)digit;
        borrow = digit >> 63;
    }
    return found;
}

/* Adds 0 or 1, and returns whether the sum is 2^128, which becomes 0. */
static uint32_t wide_add(wide *a, uint32_t carry)
{
    for (int i = 0; i < LOG_DIGITS; i++) {
        a->digit[i] += carry;
        carry &= a->digit[i] == 0;
    }
    return carry;
}

/* The product divided by 2^128, or by 2^127 if `twice` is set, rounded down; `*rest` says whether something is left. */
static wide wide_high(const wide *a, const wide *b, int twice, uint32_t *rest)
{
    uint32_t all[2 * LOG_DIGITS] = {0};
    for (int i = 0; i < LOG_DIGITS; i++) {
        uint64_t carry = 0;
        for (int j = 0; j < LOG_DIGITS; j++) {
            carry += (uint64_t)a->digit[i] * b->digit[j] + all[i + j];
            all[i + j] = (uint32_t)carry;
            carry >>= 32;
        }
        all[i + LOG_DIGITS] = (uint32_t)carry;
    }
    wide high;
    memcpy(high.digit, all + LOG_DIGITS, sizeof high.digit);
    const uint32_t next = all[LOG_DIGITS - 1];
    *rest = ((twice ? next << 1 : next) | all[0] | all[1] | all[2]) != 0;
    return twice ? wide_double(&high, next >> 31) : high;
}

/* Upper bound of |ln(a / b)|, 0 < a, b < 2^127, at most 2^-118 too large; of ln(2^more a / b), a >= b, more < 250, if `more` is not 0.
 *
 * a / b is 2^exponent x with 1 <= x < 2. The binary digits of the logarithm of x come one by one from squares: if the square of x is
 * at least 2, the digit is 1, and half of the square takes the place of x. x has 127 digits behind the point and is rounded up. */
static wide log_up(wide a, wide b, uint32_t more)
{
    static const wide ln2 = {{0x03f2f6b0, 0xc9e3b398, 0xd1cf79ab, 0xb17217f7}}; /* 2^128 ln 2, rounded up */
    wide x = {{1, 0, 0, 0}}, found = {{more, 0, 0, 0}};
    uint32_t rest;
    if (wide_below(&a, &b)) {
        const wide other = a;
        a = b;
        b = other;
    }
    a = wide_difference(&a, &b);
    if (wide_is_zero(&a) && more == 0)
        return found;
    while (!wide_below(&a, &b)) { /* a + b, the larger number, is at least 2 b */
        a = wide_difference(&a, &b);
        b = wide_double(&b, 0);
        found.digit[0]++;
    }
    for (int i = 0; i < 127; i++) {
        a = wide_double(&a, 0);
        const int one = !wide_below(&a, &b);
        x = wide_double(&x, (uint32_t)one);
        if (one)
            a = wide_difference(&a, &b);
    }
    if (wide_add(&x, !wide_is_zero(&a))) {
        x.digit[LOG_DIGITS - 1] = 1u << 31;
        found.digit[0]++;
    }
    for (int i = 0; i < LOG_FRACTION; i++) {
        wide square = wide_high(&x, &x, 0, &rest); /* of half the size: 2^126 <= square < 2^128 */
        uint32_t digit = square.digit[LOG_DIGITS - 1] >> 31;
        if (!digit)
            square = wide_high(&x, &x, 1, &rest);
        if (wide_add(&square, rest)) { /* rounded up to 2 */
            square.digit[LOG_DIGITS - 1] = 1u << 31;
            digit = 1;
        }
        x = square;
        found = wide_double(&found, digit);
    }
    wide_add(&found, 1);
    found = wide_high(&found, &ln2, 0, &rest);
    wide_add(&found, rest);
    return found;
}

/* The smallest double that is not below `times` times a logarithm. */
static double wide_to_double(const wide *a, uint32_t times)
{
    uint32_t all[LOG_DIGITS + 1], rest = 0;
    uint64_t carry = 0, mantissa = 0;
    for (int i = 0; i < LOG_DIGITS; i++) {
        carry += (uint64_t)a->digit[i] * times;
        all[i] = (uint32_t)carry;
        carry >>= 32;
    }
    all[LOG_DIGITS] = (uint32_t)carry;
    int top = 32 * (LOG_DIGITS + 1) - 1;
    while (top >= 0 && !(all[top / 32] >> top % 32 & 1))
        top--;
    if (top < 0)
        return 0;
    for (int i = top; i >= 0; i--) {
        const uint32_t bit = all[i / 32] >> i % 32 & 1;
        if (top - i < 53)
            mantissa = mantissa << 1 | bit;
        else
            rest |= bit;
    }
    if (top < 52)
        mantissa <<= 52 - top;
    const uint64_t bits =
        ((uint64_t)(top - LOG_FRACTION + 1022) << 52) + mantissa + rest; /* the mantissa adds 1 to the exponent */
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

#endif
