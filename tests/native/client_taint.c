/* Runs the client of a survey under memcheck, a tool of Valgrind. Answers and keys are marked as undefined, so memcheck reports every
 * conditional jump and every address that depends on them, or on the coins that the keys give. Each person is asked the only
 * question of the survey, because the choice of a question is public. So are the sets of other symbols of subset selection, and views of
 * questions, which are drawn without the answer and the coin: the test puts `declare_drawn` behind `stream_draw`.
 *
 * usage: client_taint FILE, in the form of tests/support/client_vectors.py. Exits with status 1 if the marks do not reach a message. */
#include <stddef.h>
#include <stdint.h>
#include <valgrind/memcheck.h>

static void declare_drawn(uint32_t stream_number, void *words, size_t bytes);

#include "ldpfast_client.c"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 1 << 20, PERSON_KIND = 18, MOST_OPTIONS = 128, MOST_VALUES = 9 };

static uint8_t file[MOST], message[MOST], marks[MOST];

static void declare_drawn(uint32_t stream_number, void *words, size_t bytes)
{
    if (stream_number == STREAM_SUBSET_BITS || stream_number == STREAM_SUBSET_INDICES || stream_number == STREAM_SET_BITS ||
        stream_number == STREAM_SET_INDICES || stream_number == STREAM_VIEWS)
        (void)VALGRIND_MAKE_MEM_DEFINED(words, bytes);
}

int main(int count, char **argument)
{
    FILE *from = count == 2 ? fopen(argument[1], "rb") : NULL;
    if (from == NULL || fread(file, 1, MOST, from) == MOST)
        return 2;
    fclose(from);
    const uint8_t *at = file + 4;
    for (uint32_t left = read_u32(file); left; left--) {
        const uint32_t bytes = read_u32(at);
        ldpfast_client c;
        if (ldpfast_open(&c, at + 4, bytes, INFINITY, NULL) != LDPFAST_OK || c.questions != 1 || c.message_bytes > MOST ||
            c.values > MOST_VALUES)
            return 2;
        at += 4 + bytes;
        for (uint32_t cases = read_u32(at), first = 1; cases; cases--, first = 0) {
            at += first ? 4 : 0;
            ldpfast_value values[MOST_VALUES];
            uint8_t ticks[MOST_VALUES][MOST_OPTIONS];
            uint8_t key[LDPFAST_KEY_BYTES];
            size_t length;
            memcpy(key, at, sizeof key);
            const uint32_t kind = read_u32(at + 32), person_bytes = read_u32(at + 44);
            const ldpfast_person person = {PERSON_KIND, 0, at + 48, person_bytes};
            at += 48 + person_bytes;
            for (uint32_t i = 0; i < c.values; i++) { /* without texts */
                memcpy(&values[i].number, at, 8);
                memcpy(&values[i].category, at + 8, 4);
                const uint32_t options = read_u32(at + 12);
                if (options > MOST_OPTIONS)
                    return 2;
                memcpy(ticks[i], at + 16, options);
                at += 16 + options;
                if (options)
                    values[i] = ldpfast_ticks(ticks[i], options);
                else
                    (void)VALGRIND_MAKE_MEM_UNDEFINED(&values[i], sizeof values[i]);
                (void)VALGRIND_MAKE_MEM_UNDEFINED(ticks[i], options); /* whether there are ticks is public */
            }
            (void)VALGRIND_MAKE_MEM_UNDEFINED(key, sizeof key);
            if (kind == 0)
                ldpfast_answer(&c, values, key, message, MOST, &length);
            else
                ldpfast_answer_person(&c, values, key, &person, message, MOST, &length);
            memset(marks, 0, sizeof marks);
            (void)VALGRIND_GET_VBITS(message, marks, length);
            (void)VALGRIND_MAKE_MEM_DEFINED(message, sizeof message);
            const question q = read_question(&c, 0); /* of a view the symbol is marked alone */
            const size_t start = HEAD + 2 + (q.mechanism == VIEWS ? (q.count + 7) / 8 + 1 : 0);
            for (size_t i = start; i < length; i++)
                if (marks[i] == 0 && !(i == length - 1 && i > start + 2)) /* high bytes of wide codes may be zero */
                    return 1;
        }
    }
    return 0;
}
