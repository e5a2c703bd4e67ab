/* The results of exact_below for all words with few free bits, one line for each number of results: how often each result comes without
 * another word. The next words of the reader are all ones, which are never refused. */
#include <stdio.h>
#include <stdlib.h>

#include "privatize/level_codes.h"

void stream_draw(stream *s, void *out, size_t blocks) { abort(); }

int main(void)
{
    enum { FREE = 7, BITS = 64 - FREE, WORDS = 1 << FREE };
    static reader words;
    static stream_key key;
    for (uint32_t n = 1; n <= WORDS; n++) {
        uint32_t count[WORDS] = {0}, refused = 0;
        for (uint64_t i = 0; i < WORDS; i++) {
            words.source.key = &key;
            words.used = READER_WORDS - 1;
            words.word[READER_WORDS - 1] = ~(uint64_t)0;
            const uint32_t found = exact_below(i << BITS, BITS, n, &words);
            const int again = words.used == READER_WORDS;
            if (again && !is_inexact(i << BITS, BITS, n))
                return 1;
            refused += (uint32_t)again;
            count[found] += (uint32_t)!again;
        }
        for (uint32_t i = 0; i < n; i++)
            printf("%u ", count[i]);
        printf("%u\n", refused);
    }
    return 0;
}
