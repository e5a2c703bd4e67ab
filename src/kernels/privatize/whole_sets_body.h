/* Bottleneck: the table, all of whose rows are compared. */

/* The code of a set; the last one for rows of numbers that would have a larger one. */
LDP_INLINE uint32_t NAME(code_of)(const whole_sets *p, const uint16_t *x)
{
    const uint32_t own = p->own, k = p->k, last = (uint32_t)p->response.k - 1;
    uint32_t code = (1 + x[0]) & -(uint32_t)(x[0] < k);
    for (uint32_t i = 1; i < own; i++) {
        const uint16_t option = x[i], *rank = p->rank + (i - 1) * k;
        uint16_t found = 0;
        for (uint32_t q = 0; q < k; q++) /* vector loop */
            found |= (uint16_t)(rank[q] & -(option == q));
        code += (uint32_t)(p->smaller[i] + found) & -(uint32_t)(option < k);
    }
    const uint32_t missing = -(uint32_t)(p->optional & (x[own - 1] == k + own));
    code = (code & ~missing) | (last & missing);
    return code < last ? code : last;
}

#define DEFINE_BODY(type)                                                                                                  \
    static int NAME2(privatize_whole_sets, type)(const void *params, stream_key *key, uint64_t block, const void *records, \
                                                 size_t n, void *reports)                                                  \
    {                                                                                                                      \
        const whole_sets *p = params;                                                                                      \
        const uint16_t *x = records;                                                                                       \
        const uint32_t positions = p->k + p->own + p->optional;                                                            \
        uint##type##_t code[CODE_PIECE];                                                                                   \
        int invalid = 0;                                                                                                   \
        stream s = stream_open(key, p->response.stream, block);                                                            \
        for (size_t at = 0; at < n; at += CODE_PIECE) {                                                                    \
            const size_t now = n - at < CODE_PIECE ? n - at : CODE_PIECE;                                                  \
            for (size_t i = 0; i < now; i++, x += p->own) {                                                                \
                code[i] = (uint##type##_t)NAME(code_of)(p, x);                                                             \
                invalid |= x[p->own - 1] >= positions;                                                                     \
            }                                                                                                              \
            invalid |= respond_u##type(&p->response, &s, code, now, (uint##type##_t *)reports + at);                       \
        }                                                                                                                  \
        return invalid;                                                                                                    \
    }

#define NAME2(stem, type) PER_ISA(LDP_PASTE(stem, u##type))
DEFINE_BODY(8)
DEFINE_BODY(16)
#undef DEFINE_BODY
#undef NAME2
