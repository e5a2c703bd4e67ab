/* Natural logarithm of a positive normal double, without library functions, so that compilers vectorize it and all machines
 * give the same bits. log v = e log 2 + 2 atanh((m - 1)/(m + 1)) with v = 2^e m, m in [sqrt 1/2, sqrt 2). The polynomial is a fit
 * with the least maximum of the error, below 3e-18. For other numbers the result has no meaning. */
#ifndef LDP_LOGARITHM_H
#define LDP_LOGARITHM_H

#include "simd/branchless.h"

LDP_INLINE double logarithm(double v)
{
    /* The exponent as a small integer. It is converted to a double by its position after the exponent of 2^52. */
    const uint64_t e = (bits_f64(v) - 0x3fe6a09e667f3bcdu + 0x4000000000000000u) >> 52;
    const double exponent = double_of(e | 0x4330000000000000u) - (0x1p52 + 1024);
    const double m = double_of(bits_f64(v) - (e << 52) + 0x4000000000000000u), s = (m - 1) / (m + 1), z = s * s;
    const double atanh =
        s * (1.0 + z * (0.33333333333333329194 +
                        z * (0.20000000000003746966 +
                             z * (0.14285714284409563472 +
                                  z * (0.11111111338464770133 +
                                       z * (0.090908868690081529074 +
                                            z * (0.076935804630670399495 +
                                                 z * (0.066243815417300579441 + z * 0.066310518370109045488))))))));
    return exponent * 0.6931471805599453 + 2 * atanh;
}

#endif
