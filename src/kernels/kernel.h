/* The two shapes of all kernels that Cython loops over.
 *
 * privatize: one record block. `x` holds n >= 1 records and `out` room for n reports, both contiguous; `params` is the
 * kernel's own struct. Returns 0, or 1 if a stream was exhausted.
 * tally: adds n reports to a state of the report format's own layout. */
#ifndef LDP_KERNEL_H
#define LDP_KERNEL_H

#include "chacha.h"

/* Reports on a grid have integers of at most this size: a public clamp, far out in the tails, that lets every report give
 * back its integer and 2^33 squares fit 128 bits. */
#define GRID_LIMIT 0x1p47

/* What another extension module needs to privatize rows of floats; travels in a capsule of the name "ldpfast.kernel". */
enum report_form { REPORT_BITS, REPORT_FLOATS, REPORT_DOUBLES };

typedef int privatize_fn(const void *params, const stream_key *key, uint64_t block, const void *x, size_t n, void *out);
typedef void tally_fn(const void *format, const void *reports, size_t n, void *state);

typedef struct {
    privatize_fn *privatize;
    const void *params;
    size_t dim; /* numbers of a record */
    enum report_form form; /* of a report: packed signs; a direction of floats, and params is an l2_ball; doubles */
} kernel_handle;

#endif
