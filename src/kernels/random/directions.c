#include "random/directions.h"

void directions_open(stream_key *key)
{
    uint8_t bytes[KEY_BYTES];
    for (size_t i = 0; i < KEY_BYTES; i++)
        bytes[i] = (uint8_t)i; /* public: any constant is as good as another */
    key_open(key, bytes);
}
