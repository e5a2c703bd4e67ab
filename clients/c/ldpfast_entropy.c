/* Random bytes from the operating system: Linux, the BSDs, macOS and iOS, Android, Windows (link with bcrypt). */
#if defined(__linux__) && !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE
#endif
#include "ldpfast_client.h"

#if defined(_WIN32)
#include <windows.h>

#include <bcrypt.h>

int ldpfast_system_key(uint8_t key[LDPFAST_KEY_BYTES])
{
    return BCryptGenRandom(NULL, key, LDPFAST_KEY_BYTES, BCRYPT_USE_SYSTEM_PREFERRED_RNG) == 0 ? LDPFAST_OK : LDPFAST_ENTROPY;
}
#elif defined(__linux__)
#include <errno.h>
#include <sys/random.h>

int ldpfast_system_key(uint8_t key[LDPFAST_KEY_BYTES])
{
    ssize_t got;
    do /* waits until the generator has been seeded; up to 256 bytes are never cut short after that */
        got = getrandom(key, LDPFAST_KEY_BYTES, 0);
    while (got < 0 && errno == EINTR);
    return got == LDPFAST_KEY_BYTES ? LDPFAST_OK : LDPFAST_ENTROPY;
}
#else
#include <stdlib.h>

int ldpfast_system_key(uint8_t key[LDPFAST_KEY_BYTES])
{
    arc4random_buf(key, LDPFAST_KEY_BYTES);
    return LDPFAST_OK;
}
#endif
