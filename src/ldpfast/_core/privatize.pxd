"""Declarations of the kernels that other compiled modules use."""
from ldpfast._core.kernel cimport Kernel
from ldpfast._core.kernels cimport grid_format, l2_ball, laplace, number_range, row_range, vector_format


cdef class CodeKernel(Kernel):
    cdef size_t k
    cdef void configure_counts(self, size_t k)


cdef class L2Ball(Kernel):
    cdef l2_ball p
    cdef row_range valid
    cdef vector_format sums


cdef class Laplace(Kernel):
    cdef laplace p
    cdef number_range numbers_in_interval
    cdef row_range rows_in_ball
    cdef grid_format sums
