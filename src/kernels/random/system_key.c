#include "random/stream.h"

#if defined(_WIN64)
/* clang-format off: the second header needs the first */
#include <windows.h>
#include <bcrypt.h>
/* clang-format on */

int key_from_system(uint8_t *bytes)
{
    return BCryptGenRandom(NULL, bytes, KEY_BYTES, BCRYPT_USE_SYSTEM_PREFERRED_RNG) ? -1 : 0;
}
#else
#include <sys/random.h>
#include <unistd.h>

int key_from_system(uint8_t *bytes) { return getentropy(bytes, KEY_BYTES); }
#endif
