#include "simd/doubles_body.h"

/* The symbols of V_BYTES / 8 records, as integers in the low halves. Cell numbers are limited to +-2^51, where all of them are
 * exact. The quotient by other moduli than powers of two comes from a multiplication and is wrong by at most one. */
LDP_INLINE PER_ISA(int64s) NAME(symbols)(const residue *p, PER_ISA(doubles) distance, double lowest, double highest)
{
    const double k = (double)p->answer.k;
    const PER_ISA(doubles) cell = PER_ISA(floors)(PER_ISA(between)(distance * p->per_width, lowest, highest));
    if (p->power_of_two)
        return (PER_ISA(int64s))(cell + LDP_MIDDLE) & (int64_t)(p->answer.k - 1); /* the low bits of the integer */
    const PER_ISA(doubles) rest = cell - k * PER_ISA(floors)(cell * p->per_modulus);
    const PER_ISA(int64s) symbol = NAME(integers)(rest);
    const int64_t modulus = (int64_t)p->answer.k;
    return symbol + (modulus & (symbol < 0)) - (modulus & (symbol >= modulus));
}

static int NAME(privatize_residue)(const void *params, stream_key *key, uint64_t block, const void *records, size_t n,
                                   void *reports)
{
    enum { LANES = V_BYTES / 4 };
    const residue *p = params;
    const double largest = REAL_IS_DOUBLE ? DBL_MAX : FLT_MAX; /* infinities count as this number */
    const double first = (-largest - p->offset) * p->per_width, last = (largest - p->offset) * p->per_width;
    const double lowest = first > -0x1p51 ? first : -0x1p51, highest = last < 0x1p51 ? last : 0x1p51;
    stream s = stream_open(key, p->answer.stream, block);
    NAME(evidence) e = {0};
    for (size_t at = 0; at < n; at += WIDE_PIECE) {
        const size_t now = n - at < WIDE_PIECE ? n - at : WIDE_PIECE;
        const REAL *x = (const REAL *)records + at;
        REAL padded[WIDE_PIECE];
        int32_t found[WIDE_PIECE] LDP_ALIGNED;
        uint8_t symbol[WIDE_PIECE] LDP_ALIGNED;
        if (now % LANES) {
            memset(padded + now / LANES * LANES, 0, LANES * sizeof *x);
            x = memcpy(padded, x, now * sizeof *x);
        }
        for (size_t i = 0; i < now; i += LANES) {
            PER_ISA(int64s) part[2];
            for (size_t half = 0; half < 2; half++) {
                const PER_ISA(doubles) v = NAME(load_doubles)(x + i + LANES / 2 * half);
                NAME(watch_finite)(&e, v);
                part[half] = NAME(symbols)(p, PER_ISA(unless_nan)(v, v - p->offset, 0), lowest, highest);
            }
            const PER_ISA(int32s) codes = PER_ISA(low_halves)(part[0], part[1]);
            memcpy(found + i, &codes, sizeof codes);
        }
        for (size_t i = 0; i < now; i++) /* vector loop */
            symbol[i] = (uint8_t)found[i];
        respond_u8(&p->answer, &s, symbol, now, (uint8_t *)reports + at);
    }
    return NAME(outside)(&e);
}
