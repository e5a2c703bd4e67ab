/* For odd n: whether word_below draws again where the low half of the product is one less than the number of words modulo n, and where
 * it is that number. */
#include <stdio.h>
#include <stdlib.h>

#include "random/uniform.h"

void stream_draw(stream *s, void *out, size_t blocks) { abort(); }

static int draws_again(uint64_t word, uint64_t n)
{
    static reader words;
    static stream_key key;
    words.source.key = &key;
    words.used = READER_WORDS - 2;
    words.word[READER_WORDS - 2] = word;
    words.word[READER_WORDS - 1] = ~(uint64_t)0;
    (void)word_below(&words, n);
    return words.used == READER_WORDS;
}

int main(int count, char **arguments)
{
    for (int i = 1; i < count; i++) {
        const uint64_t n = strtoull(arguments[i], NULL, 10), incomplete = -n % n;
        uint64_t inverse = n; /* modulo 2^64, by Newton's method */
        for (int step = 0; step < 6; step++)
            inverse *= 2 - n * inverse;
        printf("%d %d\n", draws_again((incomplete - 1) * inverse, n), draws_again(incomplete * inverse, n));
    }
    return 0;
}
