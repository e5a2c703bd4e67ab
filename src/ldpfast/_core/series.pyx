"""Values of trigonometric series."""
from ldpfast._core.kernels cimport series_interval, series_values


cdef class Series:
    """A trigonometric series on [lower, upper]: a cosine and a sine for each frequency, in ascending order."""
    cdef series_interval p

    def __init__(self, size_t terms, double lower, double upper):
        self.p = series_interval(terms, lower, 1 / (upper - lower))

    def values(self, const double[::1] coefficients, const double[::1] x, double[::1] out) -> None:
        """Write 1 plus the sum of the terms times the coefficients, at each number, to `out`."""
        if coefficients.shape[0] != <Py_ssize_t>self.p.terms or x.shape[0] != out.shape[0]:
            raise ValueError("coefficients, numbers and values do not fit together")
        if x.shape[0] == 0:
            return
        with nogil:
            series_values(&self.p, &coefficients[0], &x[0], x.shape[0], &out[0])
