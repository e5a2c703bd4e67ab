"""Half-space mechanisms: a direction drawn without looking at the record, and one private sign."""
from kernels cimport (
    FLT_MAX, FLT_MIN, l2_ball, l2_rows, linf_ball, linf_rows, privatize_l2_f32, privatize_l2_f64, privatize_linf_f32,
    privatize_linf_f64, tally_bits, tally_vectors_f32, tally_vectors_f64, vector_format,
)

include "isa.pxi"
include "kernel_class.pxi"


cdef double tiny(double radius):
    """Coordinates below this are taken as 0: see select.h."""
    return max(2.0**-60 * radius, <double>FLT_MIN)


cdef double far(double radius):
    """Coordinates beyond this, far outside of the ball, are taken as this."""
    return min(2.0**40 * radius, <double>FLT_MAX)


cdef class LinfBall(Kernel):
    """Packed signs; `keep_tie` / 2^64 is the chance to keep a tie, 0 means always."""
    cdef linf_ball p

    def __init__(self, size_t dim, double radius, uint64_t heads, uint64_t keep_tie):
        self.p = linf_ball(dim, 128 / radius, tiny(radius), heads, keep_tie)
        self.params = &self.p
        self.format = &self.p.dim
        self.state_bytes = 8 * dim
        self.items = dim
        self.report_items = (dim + 7) // 8
        self.report_size = 1
        self.rows = linf_rows(dim)
        self.by_size = [NULL, NULL, privatize_linf_f32, privatize_linf_f64]
        self.tally_by_size = [NULL, NULL, tally_bits, tally_bits]


cdef class L2Ball(Kernel):
    """Directions of norm `scale`, in the dtype of the records."""
    cdef l2_ball p
    cdef vector_format sums

    def __init__(self, size_t dim, double radius, double scale, uint64_t heads):
        self.p = l2_ball(dim, 1 / radius, tiny(radius), far(radius), scale, heads)
        self.sums = vector_format(dim, scale)
        self.params = &self.p
        self.format = &self.sums
        self.state_bytes = 16 * dim
        self.items = self.report_items = dim
        self.rows = l2_rows(dim)
        self.by_size = [NULL, NULL, privatize_l2_f32, privatize_l2_f64]
        self.tally_by_size = [NULL, NULL, tally_vectors_f32, tally_vectors_f64]
