#include "codes.h"
#include "select.h"

#include <float.h>

#define KERNEL_REALS
#define KERNEL_BODY "symbols_body.h"
#include "each_isa.h"

#define DEFINE_SYMBOLS(name, build)                                                                               \
    int name(const void *params, const stream_key *key, uint64_t block, const void *x, size_t n, void *out)       \
    {                                                                                                             \
        static void (*const symbols[LDP_ISA_COUNT])(const symbol_rule *, const void *, size_t, uint8_t *) =       \
            LDP_DISPATCH(build);                                                                                  \
        const symbol_rule *p = params;                                                                            \
        uint8_t symbol[CODE_ROWS] LDP_ALIGNED;                                                                    \
        symbols[ldp_isa()](p, x, n, symbol);                                                                      \
        return privatize_response_u8(&p->answer, key, block, symbol, n, out);                                     \
    }

DEFINE_SYMBOLS(privatize_residue_f32, residues_f32)
DEFINE_SYMBOLS(privatize_residue_f64, residues_f64)
DEFINE_SYMBOLS(privatize_bins_f32, bins_f32)
DEFINE_SYMBOLS(privatize_bins_f64, bins_f64)

#define DEFINE_SIGN_BIT(name, build)                                                                              \
    int name(const void *params, const stream_key *key, uint64_t block, const void *x, size_t n, void *out)       \
    {                                                                                                             \
        static void (*const bits[LDP_ISA_COUNT])(const sign_bit *, const uint64_t *, const void *, size_t,        \
                                                 uint8_t *) = LDP_DISPATCH(build);                                \
        uint64_t word[CODE_ROWS] LDP_ALIGNED;                                                                     \
        stream s = stream_open(key, PURPOSE_SIGN_BIT, block);                                                     \
        stream_groups(&s, word, groups_for(n, 8));                                                                \
        bits[ldp_isa()](params, word, x, n, out);                                                                 \
        return (int)s.exhausted;                                                                                  \
    }

DEFINE_SIGN_BIT(privatize_sign_bit_f32, sign_bits_f32)
DEFINE_SIGN_BIT(privatize_sign_bit_f64, sign_bits_f64)
