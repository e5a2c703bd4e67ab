/* Prints the name of the instruction set that is chosen without a request, for each instruction set of this machine its name and the
 * name of the function that LDP_BEST takes for it, and whether the numbers next to those of instruction sets are supported. */
#include <stdio.h>

#include "simd/dispatch.h"

#define DEFINE_NAME(isa) \
    static const char *name_##isa(void) { return #isa; }

DEFINE_NAME(plain)
#if LDP_X86
DEFINE_NAME(avx2)
DEFINE_NAME(avx512)
#endif

int main(void)
{
    printf("%s\n", ldp_isa_name(ldp_isa()));
    for (int isa = 0; isa < LDP_ISA_COUNT; isa++)
        if (ldp_isa_set(isa) == 0)
            printf("%s %s\n", ldp_isa_name(isa), LDP_BEST(name)());
    printf("%d %d\n", ldp_isa_supported(-1), ldp_isa_supported(LDP_ISA_COUNT));
    return 0;
}
