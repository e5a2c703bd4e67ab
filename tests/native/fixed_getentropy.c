/* A stand-in for the random bytes of the operating system, so that a test knows the key. Preload it. */
#include <stddef.h>

int getentropy(void *to, size_t bytes)
{
    volatile unsigned char *byte = to; /* the pattern is nowhere in the program */
    for (size_t i = 0; i < bytes; i++)
        byte[i] = (unsigned char)(73 * i + 19);
    return 0;
}
