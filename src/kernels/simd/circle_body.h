/* cos and sin of t pi / 4, |t| <= 1: fits with the least maximum of the error, 3e-8 and 3e-9. */
LDP_INLINE void NAME(eighth)(PER_ISA(floats) t, PER_ISA(floats) * cosine, PER_ISA(floats) * sine)
{
    const PER_ISA(floats) z = t * t;
    *sine = t * (z * (z * (-3.5954508e-5f * z + 2.4900071e-3f) - 0.080745435f) + 0.78539816f);
    *cosine = z * (z * (-3.1888051e-4f * z + 0.015849915f) - 0.30842425f) + 0.99999997f;
}
