#include "random/stream.h"

enum { NO_SEGMENT = -1 };

/* Returns the subkey of a span and segment; derives it unless it is in use. */
LDP_INLINE const aes_schedule *use_subkey(stream_key *key, uint64_t span, uint32_t segment)
{
    stream_subkey *subkey = &key->subkey[segment > 0];
    if (subkey->span == span && subkey->segment == segment)
        return &subkey->schedule;
    uint8_t bytes[KEY_BYTES];
    const aes_input input = {2 * segment | (uint64_t)STREAM_SUBKEY << 32, span};
    aes_counter(&key->master, input, bytes, KEY_BYTES / AES_BLOCK);
    aes_expand(bytes, &subkey->schedule);
    key_wipe(bytes, sizeof bytes);
    subkey->span = span;
    subkey->segment = segment;
    return &subkey->schedule;
}

void stream_draw(stream *s, void *out, size_t blocks)
{
    if (blocks > ((uint64_t)1 << 32) - s->next) {
        s->key->exhausted = 1;
        return;
    }
    uint8_t *to = out;
    while (blocks) {
        const uint64_t left = ((uint64_t)1 << SEGMENT_BITS) - s->next % ((uint64_t)1 << SEGMENT_BITS);
        const uint64_t now = blocks < left ? blocks : left;
        const aes_input input = {s->next | (uint64_t)s->id << 32, s->block};
        aes_counter(use_subkey(s->key, s->block >> SPAN_BITS, (uint32_t)(s->next >> SEGMENT_BITS)), input, to, now);
        s->next += now;
        to += now * AES_BLOCK;
        blocks -= now;
    }
}

void key_open(stream_key *key, const uint8_t *bytes)
{
    aes_expand(bytes, &key->master);
    for (int i = 0; i < 2; i++) {
        key->subkey[i].span = 0;
        key->subkey[i].segment = (uint32_t)NO_SEGMENT;
    }
    key->exhausted = 0;
}

void key_wipe(void *secret, size_t bytes)
{
    memset(secret, 0, bytes);
    __asm__ volatile("" : : "r"(secret) : "memory"); /* the compiler may not drop the memset */
    aes_forget();
}
