"""Terms and values of trigonometric series."""
from libc.stdint cimport uint32_t
from libc.stdlib cimport free, malloc

from ldpfast._core.kernels cimport series, series_terms_f32, series_terms_f64, series_values

ctypedef fused real:
    float
    double


cdef class Series:
    """A trigonometric series on [lower, upper]: a cosine and a sine for each frequency, in ascending order."""
    cdef series p
    cdef uint32_t *tables

    def __cinit__(self, size_t terms, double lower, double upper):
        cdef size_t j
        self.tables = <uint32_t *>malloc(8 * terms)
        if self.tables is NULL:
            raise MemoryError()
        for j in range(terms):
            self.tables[j] = j // 2 + 1
            self.tables[terms + j] = <uint32_t>1 << 30 if j % 2 else 0
        self.p = series(terms, lower, 1 / (upper - lower), self.tables, self.tables + terms)

    def __dealloc__(self):
        free(self.tables)

    def terms(self, const real[::1] x, float[:, ::1] out):
        """Write the terms at x[i] to row i of `out`."""
        if out.shape[0] != x.shape[0] or out.shape[1] != <Py_ssize_t>self.p.terms:
            raise ValueError("numbers and terms do not fit together")
        if x.shape[0] == 0:
            return
        with nogil:
            if real is float:
                series_terms_f32(&self.p, &x[0], x.shape[0], &out[0, 0])
            else:
                series_terms_f64(&self.p, &x[0], x.shape[0], &out[0, 0])

    def values(self, const double[::1] coefficients, const double[::1] x, double[::1] out):
        """Write 1 plus the sum of the terms times the coefficients, at each number, to `out`."""
        if coefficients.shape[0] != <Py_ssize_t>self.p.terms or x.shape[0] != out.shape[0]:
            raise ValueError("coefficients, numbers and values do not fit together")
        if x.shape[0] == 0:
            return
        with nogil:
            series_values(&self.p, &coefficients[0], &x[0], x.shape[0], &out[0])
