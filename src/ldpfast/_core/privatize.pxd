"""Declarations of the kernels that other compiled modules use."""
from libc.stdint cimport uint64_t

from ldpfast._core.kernel cimport Kernel
from ldpfast._core.kernels cimport (direction_format, frame_format, grid_format, l2_ball, laplace, rank_codebook,
                                    ranked_signs, row_range, vector_format)


cdef class CodeKernel(Kernel):
    cdef size_t k
    cdef void configure_counts(self, size_t k)


cdef class L2Ball(Kernel):
    cdef l2_ball p
    cdef row_range valid
    cdef vector_format sums


cdef class RankCodebook(Kernel):
    cdef rank_codebook p
    cdef row_range valid
    cdef direction_format sums


cdef class RankedSigns(Kernel):
    cdef ranked_signs p
    cdef row_range valid
    cdef frame_format sums
    cdef const uint64_t[::1] limits


cdef class Laplace(Kernel):
    cdef laplace p
    cdef row_range rows_in_ball
    cdef grid_format sums
