"""k-ary responses (Warner, k-ary, Residue, Bins), sign bits, and histograms of codes."""
from kernels cimport (
    CODE_ROWS, DBL_MIN, PURPOSE_BINS, PURPOSE_RANDOMIZED_RESPONSE, PURPOSE_RESIDUE, PURPOSE_WARNER, privatize_bins_f32,
    privatize_bins_f64, privatize_residue_f32, privatize_residue_f64, privatize_response_u8, privatize_response_u16,
    privatize_response_u32, privatize_response_u64, privatize_sign_bit_f32, privatize_sign_bit_f64, response, sign_bit,
    symbol_rule, tally_codes_u8, tally_codes_u16, tally_codes_u32, tally_codes_u64,
)

from blocks cimport tally_reports

include "isa.pxi"
include "kernel_class.pxi"

cdef tally_fn tally_codes[4]
tally_codes[:] = [tally_codes_u8, tally_codes_u16, tally_codes_u32, tally_codes_u64]


cdef response make_response(coin, int use):
    """From the integers of a `_coins.ResponseCoin`."""
    return response(coin.k, coin.keep, coin.share, coin.reciprocal, coin.bits, use)


cdef class CodeKernel(Kernel):
    cdef size_t k

    cdef void count(self, size_t k):
        """Reports are single codes below k; the state is int64 counts[k]."""
        self.k = k
        self.format = &self.k
        self.state_bytes = 8 * k
        self.items = self.report_items = 1
        self.rows = CODE_ROWS
        self.tally_by_size = tally_codes


cdef class Response(CodeKernel):
    """k-ary response to categories in the smallest unsigned dtype that holds k - 1 (`warner`: its own stream)."""
    cdef response p

    def __init__(self, coin, bint warner=False):
        self.p = make_response(coin, PURPOSE_WARNER if warner else PURPOSE_RANDOMIZED_RESPONSE)
        self.params = &self.p
        self.count(coin.k)
        self.by_size = [privatize_response_u8, privatize_response_u16, privatize_response_u32, privatize_response_u64]


cdef class Symbols(CodeKernel):
    cdef symbol_rule p

    cdef int answer(self, coin, int use) except -1:
        """Records are float or double, reports one byte."""
        self.p.answer = make_response(coin, use)
        self.params = &self.p
        self.count(coin.k)
        self.report_size = 1
        self.tally_by_size = [NULL, NULL, tally_codes_u8, tally_codes_u8]
        return 0


cdef class Residue(Symbols):
    """Response to floor((x - offset) / width) mod k."""

    def __init__(self, double width, double offset, coin):
        self.answer(coin, PURPOSE_RESIDUE)
        self.p.width = width
        self.p.offset = offset
        self.by_size = [NULL, NULL, privatize_residue_f32, privatize_residue_f64]


cdef class Bins(Symbols):
    """Response to the number of cuts <= x."""

    def __init__(self, cuts, coin):
        self.answer(coin, PURPOSE_BINS)
        for i, cut in enumerate(cuts):
            self.p.cuts[i] = cut
        self.by_size = [NULL, NULL, privatize_bins_f32, privatize_bins_f64]


cdef class SignBit(CodeKernel):
    """One bit toward upper; `heads` is its integer at the upper end."""
    cdef sign_bit p

    def __init__(self, double lower, double upper, uint64_t heads):
        cdef uint64_t low = -heads  # 2^64 - heads
        self.p = sign_bit(lower, 1 / (upper - lower), max(2.0**-60 * (upper - lower), DBL_MIN), low, heads - low)
        self.params = &self.p
        self.count(2)
        self.report_size = 1
        self.by_size = [NULL, NULL, privatize_sign_bit_f32, privatize_sign_bit_f64]
        self.tally_by_size = [NULL, NULL, tally_codes_u8, tally_codes_u8]


def tally(reports, counts):
    """Add the histogram of `reports` (unsigned codes below len(counts)) to `counts` (int64)."""
    cdef size_t k = len(counts)
    tally_reports(tally_codes[size_index(reports.itemsize)], &k, 1, reports, counts, 8 * k)
