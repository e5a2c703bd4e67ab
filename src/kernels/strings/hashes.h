/* Hash functions of strings: rows of a fixed number of bytes, padded with zeros.
 *
 * A row has a fingerprint, the keyed hash SipHash-2-4 (J.-P. Aumasson, D. J. Bernstein, "SipHash: a fast short-input PRF",
 * INDOCRYPT 2012) modulo the prime 2^61 - 1. A hash function is a polynomial of degree 2 of the fingerprint over that field, so that
 * three different fingerprints have independent hashes if the coefficients are random. The field is cut into equal parts, the
 * buckets. */
#ifndef LDP_STRINGS_HASHES_H
#define LDP_STRINGS_HASHES_H

#include "random/stream.h"

#define FIELD_PRIME ((UINT64_C(1) << 61) - 1)

enum { MAX_FUNCTIONS = 64, COEFFICIENTS = 3, MAX_STRING_BYTES = 256 };

/* Hash functions with a common fingerprint. */
typedef struct {
    uint64_t key[2];
    const uint64_t *coefficient; /* COEFFICIENTS per function, below FIELD_PRIME; that of the square first */
    uint32_t functions, buckets; /* buckets <= 2^24 */
    uint32_t bytes;              /* of a row that are hashed */
} string_hashes;

#define SIP_ROTATE(x, b) (x) = (x) << (b) | (x) >> (64 - (b))

LDP_INLINE void sip_round(uint64_t *v)
{
    v[0] += v[1];
    v[2] += v[3];
    SIP_ROTATE(v[1], 13);
    SIP_ROTATE(v[3], 16);
    v[1] ^= v[0];
    v[3] ^= v[2];
    SIP_ROTATE(v[0], 32);
    v[2] += v[1];
    v[0] += v[3];
    SIP_ROTATE(v[1], 17);
    SIP_ROTATE(v[3], 21);
    v[1] ^= v[2];
    v[3] ^= v[0];
    SIP_ROTATE(v[2], 32);
}

LDP_INLINE void sip_absorb(uint64_t *v, uint64_t word)
{
    v[3] ^= word;
    sip_round(v);
    sip_round(v);
    v[0] ^= word;
}

/* SipHash-2-4 of n bytes. */
LDP_INLINE uint64_t siphash(const uint64_t key[2], const uint8_t *data, size_t n)
{
    uint64_t v[4] = {key[0] ^ UINT64_C(0x736f6d6570736575), key[1] ^ UINT64_C(0x646f72616e646f6d),
                     key[0] ^ UINT64_C(0x6c7967656e657261), key[1] ^ UINT64_C(0x7465646279746573)};
    uint64_t last = (uint64_t)n << 56, word;
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        memcpy(&word, data + i, 8);
        sip_absorb(v, word);
    }
    for (uint32_t shift = 0; i < n; i++, shift += 8)
        last |= (uint64_t)data[i] << shift;
    sip_absorb(v, last);
    v[2] ^= 0xff;
    for (int round = 0; round < 4; round++)
        sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* A number below 2^62 modulo the prime. */
LDP_INLINE uint64_t field_reduced(uint64_t x)
{
    x = (x & FIELD_PRIME) + (x >> 61);
    return x - (x >= FIELD_PRIME ? FIELD_PRIME : 0);
}

/* A product of two numbers below the prime, without integers of 128 bits. */
LDP_INLINE uint64_t field_product(uint64_t a, uint64_t b)
{
    const uint64_t al = (uint32_t)a, ah = a >> 32, bl = (uint32_t)b, bh = b >> 32;
    const uint64_t low = al * bl, middle = ah * bl + al * bh; /* below 2^64 and 2^62; a b = ah bh 2^64 + middle 2^32 + low */
    const uint64_t sum = 8 * ah * bh + (middle >> 29) + ((middle & 0x1fffffff) << 32) + (low >> 61) + (low & FIELD_PRIME);
    return field_reduced((sum & FIELD_PRIME) + (sum >> 61));
}

/* A keyed hash of the row, as an element of the field. */
LDP_INLINE uint64_t fingerprint(const string_hashes *h, const uint8_t *row)
{
    const uint64_t hash = siphash(h->key, row, h->bytes);
    return field_reduced((hash & FIELD_PRIME) + (hash >> 61));
}

/* Bucket of a fingerprint by the function of a number. */
LDP_INLINE uint32_t bucket_of(const string_hashes *h, uint32_t function, uint64_t x)
{
    const uint64_t *c = h->coefficient + COEFFICIENTS * (size_t)function;
    const uint64_t y = field_reduced(field_product(field_reduced(field_product(c[0], x) + c[1]), x) + c[2]);
    const uint64_t high = y >> 29, low = y & 0x1fffffff; /* y buckets / 2^61, rounded down */
    return (uint32_t)((high * h->buckets + (low * h->buckets >> 29)) >> 32);
}

#endif
