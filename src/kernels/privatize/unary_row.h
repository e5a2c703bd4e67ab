/* One row of unary encoding. Its time does not depend on the record or the coins. */
#ifndef LDP_UNARY_ROW_H
#define LDP_UNARY_ROW_H

#include "privatize/packed_bits.h"
#include "privatize/unary_encoding.h"
#include "random/coins.h"

enum { ROW_PIECE = 1024 }; /* bytes of a row that are finished together */

/* Clears bit `truth` of a row if `clear` is all ones, then flips it if `flip` is all ones. The mask is applied to all words, so
 * that no address depends on the record. `piece` holds bits first .. first + n - 1 of the row, where first is a multiple of 64.
 * The padding of the last, shorter word becomes zeros. */
LDP_INLINE void set_own_bit(uint64_t truth, uint64_t clear, uint64_t flip, size_t first, size_t n, uint8_t *piece)
{
    const uint64_t bit = (uint64_t)1 << truth % 64, at = truth / 64;
    for (size_t w = 0; 64 * w < n; w++) {
        const size_t left = n - 64 * w, size = word_bytes(left);
        const uint64_t own = bit & -(uint64_t)(first / 64 + w == at);
        const uint64_t word = (load_bytes(piece + 8 * w, size) & ~(own & clear)) ^ (own & flip);
        store_bytes(piece + 8 * w, word & word_mask(left), size);
    }
}

/* Writes the row of a record below k. 64 bits of every lane are compared, which takes the same time for every outcome. Each piece is
 * finished before it is copied to `out`, so that `out` never holds coins without the person's own bit. */
LDP_INLINE void encode_row(const unary_encoding *p, stream_key *key, uint64_t block, uint64_t truth, uint8_t *out)
{
    const size_t bytes = (p->k + 7) / 8;
    const uint64_t clear = -(uint64_t)(p->optimized != 0);
    uint64_t fair[AES_BLOCK / 8], piece[ROW_PIECE / 8] LDP_ALIGNED;
    reader r;
    reader_open(&r, key, STREAM_UNARY_BITS, block, (8 * bytes + CHUNK_WORDS - 1) / CHUNK_WORDS * CHUNK_WORDS);
    stream own = stream_open(key, STREAM_UNARY_OWN, block);
    stream_draw(&own, fair, 1);
    const uint64_t heads = -(fair[0] & 1);
    for (size_t done = 0; done < bytes; done += ROW_PIECE) {
        const size_t size = bytes - done < ROW_PIECE ? bytes - done : ROW_PIECE, left = p->k - 8 * done;
        coins_direct(&r, p->other, piece, size * 8);
        set_own_bit(truth, clear, ~clear | heads, 8 * done, left < 8 * size ? left : 8 * size, (uint8_t *)piece);
        memcpy(out + done, piece, size);
    }
}

#endif
