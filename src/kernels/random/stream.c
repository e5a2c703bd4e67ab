#include "random/stream.h"

#include <sys/random.h>
#include <unistd.h>

#define KERNEL_BODY "random/chacha_body.h"
#include "simd/each_isa.h"

void stream_groups(stream *s, void *out, size_t groups)
{
    const uint64_t last = ((uint64_t)1 << 32) / 16;
    if (groups > last - s->next) {
        s->exhausted = 1;
        return;
    }
    uint32_t state[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
    memcpy(state + 4, s->key->word, sizeof s->key->word);
    state[13] = s->id;
    state[14] = (uint32_t)s->block;
    state[15] = (uint32_t)(s->block >> 32);
    LDP_BEST(groups)(state, (uint32_t)(16 * s->next), out, groups);
    s->next += groups;
}

int key_from_system(stream_key *key) { return getentropy(key->word, sizeof key->word); }

void key_wipe(stream_key *key)
{
    memset(key, 0, sizeof *key);
    __asm__ volatile("" : : "r"(key) : "memory"); /* prevents the compiler from removing the memset */
}
