/* Runs the client of a survey. It includes the source, so that damaged tables can be read in spite of their checksums.
 *
 * usage: client answer FILE    writes the message of every case, behind its length in four bytes
 *        client damage FILE    changes and cuts the tables, and answers where they are not refused; meant for sanitizers
 *        client forge FILE     changes ledgers and their checksums, and answers where they are not refused; meant for sanitizers
 *        client speed FILE     prints nanoseconds per message, with a fresh key and for a person
 * FILE has surveys and cases in the form of tests/support/client_vectors.py. */
#define _POSIX_C_SOURCE 199309L
#include "ldpfast_client.c"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MAX_VALUES = 1 << 12 };

static uint8_t *data;
static size_t at;

static const uint8_t *take(size_t bytes)
{
    at += bytes;
    return data + at - bytes;
}

static uint32_t take_u32(void) { return read_u32(take(4)); }

static void fail(const char *what)
{
    fprintf(stderr, "client: %s\n", what);
    exit(1);
}

static void read_all(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0)
        fail("the file cannot be read");
    const size_t bytes = (size_t)ftell(file);
    rewind(file);
    data = malloc(bytes);
    if (data == NULL || fread(data, 1, bytes, file) != bytes)
        fail("the file cannot be read");
    fclose(file);
}

typedef struct {
    const uint8_t *key;
    ldpfast_person person;
    ldpfast_value values[MAX_VALUES];
} person_case;

static void take_case(const ldpfast_client *c, person_case *p)
{
    p->key = take(LDPFAST_KEY_BYTES);
    p->person.kind = take_u32();
    memcpy(&p->person.integer, take(8), 8);
    p->person.bytes = take_u32();
    p->person.data = take(p->person.bytes);
    for (size_t i = 0; i < ldpfast_values(c); i++) {
        memcpy(&p->values[i].number, take(8), 8);
        p->values[i].category = take_u32();
        p->values[i].text_bytes = take_u32();
        p->values[i].text = take(p->values[i].text_bytes);
    }
}

static int answer(const ldpfast_client *c, const person_case *p, uint8_t *message, size_t capacity, size_t *length)
{
    if (p->person.kind == 0)
        return ldpfast_answer(c, p->values, p->key, message, capacity, length);
    return ldpfast_answer_person(c, p->values, p->key, &p->person, message, capacity, length);
}

/* Opens a copy of a table that ends with the memory of its own, at an odd address. */
static uint8_t *copy_of(const uint8_t *table, size_t bytes)
{
    uint8_t *copy = malloc(bytes + 1);
    if (copy == NULL)
        fail("no memory");
    memcpy(copy + 1, table, bytes);
    return copy;
}

static void answer_all(void)
{
    static person_case p;
    for (uint32_t left = take_u32(); left; left--) {
        const uint32_t bytes = take_u32();
        uint8_t *copy = copy_of(take(bytes), bytes);
        ldpfast_client c;
        if (ldpfast_open(&c, copy + 1, bytes, INFINITY, NULL) != LDPFAST_OK)
            fail("a valid table is refused");
        const size_t most = ldpfast_message_bytes(&c);
        uint8_t *message = malloc(most);
        for (uint32_t cases = take_u32(); cases; cases--) {
            size_t length;
            take_case(&c, &p);
            if (answer(&c, &p, message, most - 1, &length) != LDPFAST_NO_ROOM || length != 0)
                fail("a message is written to too little room");
            if (answer(&c, &p, message, most, &length) != LDPFAST_OK || length > most)
                fail("there is no message");
            const uint32_t size = (uint32_t)length;
            fwrite(&size, 4, 1, stdout);
            fwrite(message, 1, length, stdout);
        }
        free(message);
        free(copy);
    }
}

static size_t refused, answered;

/* Reads a table as if its checksum were valid, and answers if it is not refused. */
static void try_table(const uint8_t *table, size_t bytes, person_case *p)
{
    ldpfast_client c = {0};
    if (bytes < HEADER + CHECKSUM || read_table(&c, table, bytes) != LDPFAST_OK) {
        refused++;
        return;
    }
    const size_t most = ldpfast_message_bytes(&c);
    uint8_t *message = malloc(most);
    ldpfast_value *values = malloc(ldpfast_values(&c) * sizeof *values); /* as many as the damaged table asks for */
    size_t length;
    if (message == NULL || values == NULL)
        fail("no memory");
    for (size_t i = 0; i < ldpfast_values(&c); i++)
        values[i] = p->values[i % 4];
    if (ldpfast_answer(&c, values, p->key, message, most, &length) != LDPFAST_OK || length > most ||
        ldpfast_answer_person(&c, values, p->key, &p->person, message, most, &length) != LDPFAST_OK || length > most)
        fail("a table that is not refused gives no message");
    answered++;
    free(values);
    free(message);
}

static void damage_all(void)
{
    static person_case p;
    for (uint32_t left = take_u32(); left; left--) {
        const uint32_t bytes = take_u32();
        const uint8_t *table = take(bytes);
        uint8_t *copy = copy_of(table, bytes), *t = copy + 1;
        ldpfast_client c;
        if (ldpfast_open(&c, t, bytes, INFINITY, NULL) != LDPFAST_OK)
            fail("a valid table is refused");
        for (uint32_t cases = take_u32(); cases; cases--)
            take_case(&c, &p);
        p.person = ldpfast_person_text("person", 6);
        for (size_t i = 0; i < bytes; i++) {
            for (unsigned change = 1; change < 256; change++) {
                t[i] = (uint8_t)(table[i] ^ change);
                if ((change & (change - 1)) == 0 && ldpfast_open(&c, t, bytes, INFINITY, NULL) == LDPFAST_OK)
                    fail("a damaged table is not refused");
                if (i >= DIGEST_AT && i < bytes - CHECKSUM) /* others are not read again */
                    try_table(t, bytes, &p);
            }
            t[i] = table[i];
        }
        for (size_t size = 0; size < bytes; size++) {
            uint8_t *shorter = copy_of(table, size);
            if (ldpfast_open(&c, shorter + 1, size, INFINITY, NULL) == LDPFAST_OK)
                fail("a table that is cut off is not refused");
            try_table(shorter + 1, size, &p);
            free(shorter);
        }
        free(copy);
    }
    printf("%zu refused, %zu answered\n", refused, answered);
}

/* Answers with a ledger that may lie about its lengths, in memory that ends with the room of one more answer. */
static void try_ledger(const ldpfast_client *c, const uint8_t *ledger, size_t bytes, const person_case *p)
{
    const size_t most = ldpfast_message_bytes(c), capacity = bytes + ldpfast_ledger_room(c);
    uint8_t *message = malloc(most), *copy = malloc(capacity);
    size_t now = bytes, length;
    int turn;
    if (message == NULL || copy == NULL)
        fail("no memory");
    memcpy(copy, ledger, bytes);
    close_ledger(copy, bytes);
    const int status = ldpfast_answer_once(c, p->values, copy, capacity, &now, message, most, &length);
    if (length > most || now > capacity || (status != LDPFAST_OK && (length || now != bytes)))
        fail("a forged ledger gives a message that is too long");
    if ((ldpfast_ledger_is_turn(c, copy, now, &turn) == LDPFAST_LEDGER) != (status == LDPFAST_LEDGER) && length)
        fail("a ledger that gave a message is refused");
    if (status == LDPFAST_LEDGER)
        refused++;
    else
        answered++;
    free(copy);
    free(message);
}

static void forge_all(void)
{
    static person_case p;
    for (uint32_t left = take_u32(); left; left--) {
        const uint32_t size = take_u32();
        ldpfast_client c;
        if (ldpfast_open(&c, take(size), size, INFINITY, NULL) != LDPFAST_OK)
            fail("a valid table is refused");
        for (uint32_t cases = take_u32(); cases; cases--)
            take_case(&c, &p);
        uint8_t ledger[1 << 12], message[1 << 12];
        size_t bytes, length;
        ldpfast_ledger_new(&c, p.key, ledger, sizeof ledger, &bytes);
        if (ldpfast_answer_once(&c, p.values, ledger, sizeof ledger, &bytes, message, sizeof message, &length) != LDPFAST_OK)
            fail("there is no message");
        for (size_t i = LEDGER; i < bytes - CHECKSUM; i++)
            for (unsigned change = 1; change < 256; change++) {
                ledger[i] ^= (uint8_t)change;
                try_ledger(&c, ledger, bytes, &p);
                ledger[i] ^= (uint8_t)change;
            }
        for (size_t cut = LEDGER + CHECKSUM; cut < bytes; cut++)
            try_ledger(&c, ledger, cut, &p);
    }
    printf("%zu refused, %zu answered\n", refused, answered);
}

static void measure(void)
{
    static person_case p;
    enum { TIMES = 2000 };
    for (uint32_t left = take_u32(); left; left--) {
        const uint32_t bytes = take_u32();
        ldpfast_client c;
        if (ldpfast_open(&c, take(bytes), bytes, INFINITY, NULL) != LDPFAST_OK)
            fail("a valid table is refused");
        uint8_t *message = malloc(ldpfast_message_bytes(&c));
        for (uint32_t cases = take_u32(); cases; cases--) {
            struct timespec start, end;
            size_t length;
            take_case(&c, &p);
            clock_gettime(CLOCK_MONOTONIC, &start);
            for (int i = 0; i < TIMES; i++)
                if (answer(&c, &p, message, ldpfast_message_bytes(&c), &length) != LDPFAST_OK)
                    fail("there is no message");
            clock_gettime(CLOCK_MONOTONIC, &end);
            const double ns = 1e9 * (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec);
            printf("%s: %zu bytes, %.0f ns\n", p.person.kind ? "person" : "fresh key", length, ns / TIMES);
        }
        free(message);
    }
}

int main(int count, char **argument)
{
    if (count != 3)
        fail("usage: client answer|damage|forge|speed FILE");
    read_all(argument[2]);
    if (strcmp(argument[1], "answer") == 0)
        answer_all();
    else if (strcmp(argument[1], "damage") == 0)
        damage_all();
    else if (strcmp(argument[1], "forge") == 0)
        forge_all();
    else if (strcmp(argument[1], "speed") == 0)
        measure();
    free(data);
    return 0;
}
