/* Client of a survey of ldpfast: turns the answers of a person into a message. docs/clients.md has the formats and the threats.
 *
 * Nothing is allocated, and no function of a C library is called but memcpy and memset. No branch and no address depends on an
 * answer or a private coin, except for texts: their time depends on the number of bytes, and on the characters. */
#ifndef LDPFAST_CLIENT_H
#define LDPFAST_CLIENT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LDPFAST_KEY_BYTES 32
#define LDPFAST_ID_BYTES 16
#define LDPFAST_FINGERPRINT_BYTES 32
#define LDPFAST_NO_CATEGORY 0xffffffffu
#define LDPFAST_TICKS 0xfffffffeu

enum ldpfast_status {
    LDPFAST_OK,
    LDPFAST_DAMAGED, /* the table is damaged or incomplete */
    LDPFAST_VERSION, /* the table is of another version */
    LDPFAST_NO_ROOM, /* the capacity is less than ldpfast_message_bytes */
    LDPFAST_PERSON, /* the person is not one of the three kinds */
    LDPFAST_ENTROPY, /* the operating system gave no random bytes */
    LDPFAST_TURN, /* it is not the turn of the person; or the survey has waves or rounds, which need a secret, and there is none */
    LDPFAST_LEDGER, /* the ledger is damaged, or belongs to another series */
    LDPFAST_PROMISE, /* another version was answered in this wave or round, or the answer would exceed the promise of the series */
    LDPFAST_EPSILON, /* the loss of a person is larger than `max_epsilon` */
    LDPFAST_FINGERPRINT /* the table is not the one of the fingerprint */
};

/* A survey. The table must stay where it is, unchanged. Several threads may use the same client. */
typedef struct {
    const uint8_t *table;
    size_t message_bytes;
    uint32_t values, questions, answers;
    uint32_t thresholds; /* offset in the table */
    uint32_t waves, panel; /* number of waves, or 0; offset of the turns in the table */
    uint32_t rounds; /* largest number of rounds that a person answers, or 0 */
    double epsilon;
} ldpfast_client;

/* The answer to a declared question: a number, for `Mean`, `Number` and `Histogram`; the index of a category, for `YesNo` (0 is no) and
 * `Choice`; a text, for `Text`; or ticks, for `Several` and `Together`. A number that is NaN, an index of a category that does not exist, a
 * text without bytes, ticks of another number of options and more ticks than allowed are "no answer". */
typedef struct {
    double number;
    uint32_t category;
    const void *text;
    size_t text_bytes;
} ldpfast_value;

static inline ldpfast_value ldpfast_number(double number)
{
    const ldpfast_value value = {number, LDPFAST_NO_CATEGORY, NULL, 0};
    return value;
}

static inline ldpfast_value ldpfast_category(uint32_t category)
{
    const ldpfast_value value = {__builtin_nan(""), category, NULL, 0};
    return value;
}

/* Valid UTF-8, or any bytes if the question has no alphabet. It must stay where it is until the message is written. What is too long
 * is cut, and a character that the alphabet lacks is replaced by its first. */
static inline ldpfast_value ldpfast_text(const void *text, size_t bytes)
{
    const ldpfast_value value = {__builtin_nan(""), LDPFAST_NO_CATEGORY, text, bytes};
    return value;
}

/* One byte for each option, 1 if it is ticked and 0 if not. They must stay where they are until the message is written. Any other byte
 * makes them "no answer", in the same time as all other ticks. */
static inline ldpfast_value ldpfast_ticks(const uint8_t *ticks, size_t options)
{
    const ldpfast_value value = {__builtin_nan(""), LDPFAST_TICKS, ticks, options};
    return value;
}

static inline ldpfast_value ldpfast_no_answer(void) { return ldpfast_category(LDPFAST_NO_CATEGORY); }

/* The identifier of a person. Two kinds are two persons, even if they look alike. */
typedef struct {
    uint32_t kind; /* 16: integer, 17: text, 18: bytes */
    int64_t integer;
    const void *data;
    size_t bytes;
} ldpfast_person;

static inline ldpfast_person ldpfast_person_integer(int64_t integer)
{
    const ldpfast_person person = {16, integer, NULL, 0};
    return person;
}

/* Valid UTF-8. A zero byte at the end is not counted. */
static inline ldpfast_person ldpfast_person_text(const char *text, size_t bytes)
{
    const ldpfast_person person = {17, 0, text, bytes};
    return person;
}

static inline ldpfast_person ldpfast_person_bytes(const void *data, size_t bytes)
{
    const ldpfast_person person = {18, 0, data, bytes};
    return person;
}

/* Checks a table, the result of `Survey.client_table()`. Nothing outside of its `bytes` bytes is ever read.
 *
 * `max_epsilon` is the largest loss of a person that your program accepts: a table with a larger loss is refused.
 * `fingerprint` has the LDPFAST_FINGERPRINT_BYTES bytes of ldpfast_fingerprint, and any other table is refused. NULL accepts every
 * table, and is only for a table that is a part of your program or whose signature it has checked: values are passed by position, so
 * that they would be the answers to other questions if the table has other questions. */
int ldpfast_open(ldpfast_client *client, const void *table, size_t bytes, double max_epsilon, const uint8_t *fingerprint);

/* Writes the SHA-256 of a table, which `sha256sum` prints as well. */
void ldpfast_fingerprint(const void *table, size_t bytes, uint8_t fingerprint[LDPFAST_FINGERPRINT_BYTES]);

/* Largest loss of a person, computed from the coins of the table and rounded up: that of all turns if there are waves, and in rounds that
 * of all rounds while the answers of the person do not change. A second message with a fresh key is not counted. */
double ldpfast_epsilon(const ldpfast_client *client);

/* Number of answers that are passed to the functions below: one per declared question, in the order of the survey. `Cross` and
 * `Pairs` are not counted. */
size_t ldpfast_values(const ldpfast_client *client);

/* Largest number of bytes of a message. */
size_t ldpfast_message_bytes(const ldpfast_client *client);

/* The 32 bytes that the table has for the SHA-256 of the schema, of which messages begin with 8. They are not checked: whoever makes a
 * table can copy them from another one. */
const uint8_t *ldpfast_digest(const ldpfast_client *client);

/* Writes the message of a person and its length. The key has 32 random bytes, is used once and then erased: whoever has it and
 * the message can compute the answers. */
int ldpfast_answer(const ldpfast_client *client, const ldpfast_value *values, const uint8_t key[LDPFAST_KEY_BYTES],
                   uint8_t *message, size_t capacity, size_t *length);

/* The same with coins that belong to the person and the answers: equal answers always give the same message. The secret has 32
 * random bytes. */
int ldpfast_answer_person(const ldpfast_client *client, const ldpfast_value *values, const uint8_t secret[LDPFAST_KEY_BYTES],
                          const ldpfast_person *person, uint8_t *message, size_t capacity, size_t *length);

/* Tells whether it is the turn of a person in the wave of the survey: always, if the survey has no waves. It does not depend on an
 * answer. A person whose turn it is should always answer, and nobody else can. */
int ldpfast_is_turn(const ldpfast_client *client, const uint8_t secret[LDPFAST_KEY_BYTES], const ldpfast_person *person,
                    int *turn);

/* Returns the wave of a calendar that is open now, from 1 on; 0 before the first and after the last one, or if every < 1. The start of
 * wave 1 and now are seconds since the epoch, every is the length of a wave in seconds, and waves is their number, UINT32_MAX in a
 * series that goes on. The calendar comes with the program, and not from a server. */
uint32_t ldpfast_wave_at(int64_t start, int64_t every, uint32_t waves, int64_t now);

/* Writes the id of the report of a person, by which a server finds out that it was sent again: the same in one wave or round, or for one
 * survey without them, and independent of the answers. Without a secret, take 16 fresh random bytes, store them with the message, and
 * send both again until the server has confirmed them. */
int ldpfast_report_id(const ldpfast_client *client, const uint8_t secret[LDPFAST_KEY_BYTES], const ldpfast_person *person,
                      uint8_t id[LDPFAST_ID_BYTES]);

/* A ledger is what one person has answered in a series of surveys: bytes in a buffer of the caller, who stores them on the device.
 * It holds a secret of the person, and must not be put back to an older content. Two devices with ledgers of their own are two
 * persons. The client of the next wave or version takes the same ledger. */
#define LDPFAST_NEW_LEDGER_BYTES 92

/* Writes a new ledger and its number of bytes. The secret has 32 random bytes, and is kept in the ledger alone. */
int ldpfast_ledger_new(const ldpfast_client *client, const uint8_t secret[LDPFAST_KEY_BYTES], uint8_t *ledger, size_t capacity,
                       size_t *bytes);

/* Largest number of bytes by which an answer makes a ledger longer. */
size_t ldpfast_ledger_room(const ldpfast_client *client);

/* As ldpfast_is_turn, for the person of a ledger. */
int ldpfast_ledger_is_turn(const ldpfast_client *client, const uint8_t *ledger, size_t bytes, int *turn);

/* Writes the message of the person of a ledger, and adds it to the ledger, whose number of bytes changes. Store the ledger, and wait
 * until it has reached the disk, before the message is sent. A second call writes the same message again, whatever the values are, and
 * what would exceed the promise of the series is refused. Unless the result is LDPFAST_OK, the ledger is unchanged. */
int ldpfast_answer_once(const ldpfast_client *client, const ldpfast_value *values, uint8_t *ledger, size_t capacity,
                        size_t *bytes, uint8_t *message, size_t message_capacity, size_t *length);

/* As ldpfast_report_id, for the person of a ledger. */
int ldpfast_ledger_report_id(const ldpfast_client *client, const uint8_t *ledger, size_t bytes, uint8_t id[LDPFAST_ID_BYTES]);

/* Overwrites a key with zeros. The compiler does not drop the call. */
void ldpfast_erase(void *secret, size_t bytes);

/* In ldpfast_entropy.c, which is not needed elsewhere: 32 random bytes from the operating system. */
int ldpfast_system_key(uint8_t key[LDPFAST_KEY_BYTES]);

#ifdef __cplusplus
}
#endif

#endif
