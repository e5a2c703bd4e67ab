#include "median.h"

enum { MEDIAN_PIECE = 256 };

#define KERNEL_REALS
#define KERNEL_BODY "median_body.h"
#include "each_isa.h"

#define DEFINE_STEPS(name, real, build)                                                                             \
    void name(const median_sgd *p, const void *words, const real *x, size_t n, median_state *state)              \
    {                                                                                                               \
        static void (*const steps[LDP_ISA_COUNT])(const median_sgd *, const void *, const real *, size_t,       \
                                                  median_state *) = LDP_DISPATCH(build);                            \
        for (size_t i = 0; i < n; i += MEDIAN_PIECE)                                                                \
            steps[ldp_isa()](p, (const char *)words + i * (size_t)p->bits / 8, x + i, n - i < MEDIAN_PIECE ? n - i : MEDIAN_PIECE, state);               \
    }

DEFINE_STEPS(median_steps_f32, float, steps_f32)
DEFINE_STEPS(median_steps_f64, double, steps_f64)

void median_answer(const median_sgd *p, int bit, median_state *state)
{
    const double x = bit ? __builtin_inf() : -__builtin_inf();
    const uint64_t truth = 0; /* below every threshold */
    median_steps_f64(p, &truth, &x, 1, state);
}
