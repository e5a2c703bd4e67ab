/* The functions that index.mjs calls: one client per instance of the module. */
#include "ldpfast_client.c"

/* One instruction each. The compiler needs these functions, and there is no library. */
#undef memcpy
#undef memset
void *memcpy(void *restrict to, const void *restrict from, size_t bytes) { return __builtin_memcpy(to, from, bytes); }
void *memset(void *to, int value, size_t bytes) { return __builtin_memset(to, value, bytes); }

#define EXPORT(name) __attribute__((export_name(name)))

_Static_assert(sizeof(ldpfast_value) == 24 && offsetof(ldpfast_value, category) == 8 && offsetof(ldpfast_value, text) == 12 &&
                   offsetof(ldpfast_value, text_bytes) == 16,
               "index.mjs writes this layout");

static ldpfast_client client;

EXPORT("open") int wasm_open(const uint8_t *table, size_t bytes, double max_epsilon)
{
    return ldpfast_open(&client, table, bytes, max_epsilon, NULL);
}

EXPORT("fingerprint") void wasm_fingerprint(const uint8_t *table, size_t bytes, uint8_t *fingerprint)
{
    ldpfast_fingerprint(table, bytes, fingerprint);
}

EXPORT("epsilon") double wasm_epsilon(void) { return ldpfast_epsilon(&client); }
EXPORT("values") size_t wasm_values(void) { return ldpfast_values(&client); }
EXPORT("messageBytes") size_t wasm_message_bytes(void) { return ldpfast_message_bytes(&client); }

EXPORT("waves") size_t wasm_waves(void) { return client.waves; }
EXPORT("rounds") size_t wasm_rounds(void) { return client.rounds; }

EXPORT("isTurn")
int wasm_is_turn(const uint8_t *secret, uint32_t kind, int64_t integer, const void *data, size_t bytes)
{
    const ldpfast_person person = {kind, integer, data, bytes};
    int turn;
    ldpfast_is_turn(&client, secret, &person, &turn);
    return turn;
}

/* Return the length of the message, or 0. */
EXPORT("answer") size_t wasm_answer(const ldpfast_value *values, const uint8_t *key, uint8_t *message, size_t capacity)
{
    size_t length;
    ldpfast_answer(&client, values, key, message, capacity, &length);
    return length;
}

EXPORT("answerPerson")
size_t wasm_answer_person(const ldpfast_value *values, const uint8_t *secret, uint32_t kind, int64_t integer, const void *data,
                          size_t bytes, uint8_t *message, size_t capacity)
{
    const ldpfast_person person = {kind, integer, data, bytes};
    size_t length;
    ldpfast_answer_person(&client, values, secret, &person, message, capacity, &length);
    return length;
}

EXPORT("reportId")
void wasm_report_id(const uint8_t *secret, uint32_t kind, int64_t integer, const void *data, size_t bytes, uint8_t *id)
{
    const ldpfast_person person = {kind, integer, data, bytes};
    ldpfast_report_id(&client, secret, &person, id);
}

EXPORT("newLedgerBytes") size_t wasm_new_ledger_bytes(void) { return LDPFAST_NEW_LEDGER_BYTES; }
EXPORT("ledgerRoom") size_t wasm_ledger_room(void) { return ldpfast_ledger_room(&client); }

EXPORT("newLedger") void wasm_new_ledger(const uint8_t *secret, uint8_t *ledger)
{
    size_t bytes;
    ldpfast_ledger_new(&client, secret, ledger, LDPFAST_NEW_LEDGER_BYTES, &bytes);
}

/* Returns 0 or a negative status. */
EXPORT("ledgerReportId") int wasm_ledger_report_id(const uint8_t *ledger, size_t bytes, uint8_t *id)
{
    return -ldpfast_ledger_report_id(&client, ledger, bytes, id);
}

/* Returns 0, 1, or a negative status. */
EXPORT("ledgerIsTurn") int wasm_ledger_is_turn(const uint8_t *ledger, size_t bytes)
{
    int turn;
    const int status = ldpfast_ledger_is_turn(&client, ledger, bytes, &turn);
    return status ? -status : turn;
}

static size_t once[2]; /* numbers of bytes of the ledger and of the message after the last call */

EXPORT("ledgerBytes") size_t wasm_ledger_bytes(void) { return once[0]; }
EXPORT("lengthOnce") size_t wasm_length_once(void) { return once[1]; }

EXPORT("answerOnce")
int wasm_answer_once(const ldpfast_value *values, uint8_t *ledger, size_t capacity, size_t bytes, uint8_t *message,
                     size_t message_capacity)
{
    once[0] = bytes;
    return ldpfast_answer_once(&client, values, ledger, capacity, &once[0], message, message_capacity, &once[1]);
}
