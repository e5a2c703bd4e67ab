"""Unary encoding, and positional counts of packed bits."""
from kernels cimport (
    privatize_unary_u8, privatize_unary_u16, privatize_unary_u32, privatize_unary_u64, tally_bits, unary, unary_rows,
)

from blocks cimport tally_reports

include "isa.pxi"
include "kernel_class.pxi"


cdef class Unary(Kernel):
    """Unary encoding of categories in the smallest unsigned dtype that holds k - 1; `other` / 2^64 is the chance of a one
    in any place but the own."""
    cdef unary p

    def __init__(self, size_t k, uint64_t other, bint optimized):
        self.p = unary(k, other, optimized)
        self.params = &self.p
        self.format = &self.p.k
        self.state_bytes = 8 * k
        self.items = 1
        self.report_items = (k + 7) // 8
        self.report_size = 1
        self.rows = unary_rows(k)
        self.by_size = [privatize_unary_u8, privatize_unary_u16, privatize_unary_u32, privatize_unary_u64]
        self.tally_by_size = [tally_bits, tally_bits, tally_bits, tally_bits]


def tally(reports, counts):
    """Add to `counts` (int64, one per bit) how many of the packed rows `reports` have that bit."""
    cdef size_t k = len(counts)
    tally_reports(tally_bits, &k, (k + 7) // 8, reports, counts, 8 * k)
