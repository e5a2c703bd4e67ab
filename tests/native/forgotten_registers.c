/* Fills the vector registers with ones, calls `aes_forget`, and prints the number of bytes that are still set. The argument is the
 * implementation of AES, which decides about the registers. */
#include <stdio.h>

#include "random/aes.h"

#define FIRST_16 "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15"
#define ALL_32 FIRST_16 ",16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31"

/* after(forget, from, to): loads registers, calls `forget`, stores the registers. */
#define DEFINE_AFTER(name, move, kind, bytes, registers)                                         \
    void name(void (*forget)(void), const void *from, void *to);                                 \
    __asm__(".text\n.globl " #name "\n" #name ":\n\tpush %rbx\n\tmov %rdx, %rbx\n"               \
            "\t.irp i," registers "\n\t" #move " " #bytes "*\\i(%rsi), %" #kind "\\i\n\t.endr\n" \
            "\tcall *%rdi\n"                                                                     \
            "\t.irp i," registers "\n\t" #move " %" #kind "\\i, " #bytes "*\\i(%rbx)\n\t.endr\n" \
            "\tpop %rbx\n\tret\n");

DEFINE_AFTER(after_128, movdqu, xmm, 16, FIRST_16)
DEFINE_AFTER(after_256, vmovdqu, ymm, 32, FIRST_16)
DEFINE_AFTER(after_512, vmovdqu64, zmm, 64, ALL_32)

static void nothing(void) {}

int main(int count, char **arguments)
{
    static unsigned char from[32 * 64], to[32 * 64];
    const char *form = count > 1 ? arguments[1] : "";
    const int forgets = count == 2; /* with a second argument nothing is wiped */
    void (*forget)(void) = forgets ? aes_forget : nothing;
    int number = AES_FORM_COUNT - 1;
    while (number > 0 && strcmp(form, aes_form_name(number)) != 0)
        number--;
    if (aes_form_set(number))
        return 2;
    memset(from, 1, sizeof from);
    if (number == AES_NI)
        after_128(forget, from, to);
    else if (number == AES_VAES256)
        after_256(forget, from, to);
    else if (number == AES_VAES512)
        after_512(forget, from, to);
    else
        return 2;
    int left = 0;
    for (size_t i = 0; i < sizeof to; i++)
        left += to[i];
    printf("%d\n", left);
    return 0;
}
