"""Integer noise on a grid: discrete Laplace and discrete Gaussian."""
from libc.stdint cimport int64_t

from kernels cimport (
    MOST_DIGITS, MOST_VARIANCE, PURPOSE_LAPLACE, PURPOSE_LAPLACE_CENTRAL, PURPOSE_LAPLACE_ONE_HOT, PURPOSE_LAPLACE_RESIDUE,
    PURPOSE_LAPLACE_VECTOR, coin, draw_gaussian, grid_format, key_wipe, laplace, laplace_rows, privatize_laplace_f32,
    privatize_laplace_f64, tally_grid,
)

include "isa.pxi"
include "kernel_class.pxi"


cdef class Laplace(Kernel):
    """Rows of `dim` numbers on lower + grid * index, index in [0, span], plus noise with the given 128-bit coins.
    l1_limit > 0: rows of the l2 ball of that radius. `use`: which mechanism, hence which coins."""
    cdef laplace p
    cdef grid_format sums

    def __init__(self, size_t dim, double lower, double grid, int64_t span, int64_t l1_limit, double radius, digits,
                 carry, str use):
        cdef int j
        if not 1 <= len(digits) <= MOST_DIGITS or not 1 <= span < 1 << 31:
            raise ValueError("too many digits or grid steps")
        self.p.noise.digits = len(digits)
        self.p.noise.purpose = {"number": PURPOSE_LAPLACE, "vector": PURPOSE_LAPLACE_VECTOR,
                                "one-hot": PURPOSE_LAPLACE_ONE_HOT, "residue": PURPOSE_LAPLACE_RESIDUE,
                                "central": PURPOSE_LAPLACE_CENTRAL}[use]
        for j in range(len(digits)):
            self.p.noise.digit[j] = coin(digits[j] >> 64, digits[j] & 0xFFFFFFFFFFFFFFFF)
        self.p.noise.carry = coin(carry >> 64, carry & 0xFFFFFFFFFFFFFFFF)
        self.p.dim = dim
        self.p.lower, self.p.grid, self.p.per_grid = lower, grid, 1 / grid
        self.p.span, self.p.l1_limit, self.p.radius = span, l1_limit, radius
        self.p.far = 2.0**40 * max(abs(lower), abs(lower + grid * span))
        self.sums = grid_format(dim, lower, grid)
        self.params = &self.p
        self.format = &self.sums
        self.state_bytes = 32 * dim
        self.items = self.report_items = dim
        self.report_size = 8
        self.rows = laplace_rows(dim)
        self.by_size = [NULL, NULL, privatize_laplace_f32, privatize_laplace_f64]
        self.tally_by_size = [NULL, NULL, tally_grid, tally_grid]


def gaussian(key, uint64_t block, uint64_t variance, int64_t[::1] out):
    """Fill `out` with integers n of chances proportional to exp(-n^2 / (2 variance))."""
    cdef stream_key k
    cdef int exhausted = 0
    if not 1 <= variance <= MOST_VARIANCE:
        raise ValueError("variance must be in [1, 2^48]")
    load_key(key, &k)
    if out.shape[0]:
        with nogil:
            exhausted = draw_gaussian(&k, block, variance, out.shape[0], &out[0])
    key_wipe(&k)
    if exhausted:
        raise OverflowError("a stream of random words is exhausted")
