#include "privatize/set_positions.h"

#include "privatize/packed_bits.h"

enum { MAX_WORDS = 1024 };

/* Packs n <= 64 bytes with a number 0 or 1 each. Other bits are added to `bad`. */
LDP_INLINE uint64_t packed_word(const uint8_t *bytes, size_t n, uint64_t *bad)
{
    uint64_t word = 0;
    for (size_t i = 0; i < n; i += 8) {
        const uint64_t eight = load_bytes(bytes + i, n - i < 8 ? n - i : 8);
        *bad |= eight & 0xfefefefefefefefeu;
        word |= (eight & 0x0101010101010101u) * 0x0102040810204080u >> 56 << i;
    }
    return word;
}

#define KERNEL_BODY "privatize/set_positions_body.h"
#include "simd/each_isa.h"

void set_positions(const uint8_t *rows, size_t n, uint32_t k, uint32_t own, int packed, uint16_t *out)
{
    LDP_BEST(set_positions)(rows, n, k, own, packed, out);
}
