/* Codes of a level from the symbol of a record, the private coin and a draw: what the kernel for arrays and clients of surveys share. */
#ifndef LDP_LEVEL_CODES_H
#define LDP_LEVEL_CODES_H

#include "random/uniform.h"

/* Whether a word might belong to the incomplete last interval of words, with which integers in [0, n) would not be uniform. Its lowest
 * `bits` are zero: they have been used. */
LDP_INLINE int is_inexact(uint64_t word, uint32_t bits, uint64_t n) { return word * n >> bits < n; }

/* An integer in [0, n) from the bits of a word above the lowest `bits`, which are zero, and from further words where that is not
 * exact. Such words are rare. */
static uint32_t exact_below(uint64_t word, uint32_t bits, uint32_t n, reader *words)
{
    const uint64_t incomplete = ((UINT64_MAX >> bits) % n + 1) % n; /* the number of different words modulo n */
    while (word * n >> bits < incomplete && !words->source.key->exhausted)
        word = reader_word(words) >> bits << bits;
    return (uint32_t)high_product_u64(word, n);
}

/* The set of symbol i is i, ..., i + size - 1. With tails, which is 1, the draw is the number of a code outside of it. */
LDP_INLINE uint64_t window_code(uint64_t symbol, uint64_t size, uint64_t tails, uint64_t draw)
{
    return (symbol & (tails - 1)) + draw + (size & -(tails & (uint64_t)(draw >= symbol)));
}

/* The codes are those whose bits have an even number of ones in common with `size`, a power of two, and the node; an odd one for a minus
 * sign or with tails, and an even one for both. */
LDP_INLINE uint32_t parity_code(uint32_t node, uint32_t minus, uint32_t size, uint32_t tails, uint32_t draw)
{
    uint32_t odd = draw & node;
#if LDP_X86
    odd = (uint32_t)__builtin_parity(odd);
#else /* where a compiler may call a function that looks up a table */
    odd ^= odd >> 16;
    odd ^= odd >> 8;
    odd ^= odd >> 4;
    odd ^= odd >> 2;
    odd = (odd ^ odd >> 1) & 1;
#endif
    return draw + size * (odd ^ minus ^ tails);
}

#endif
