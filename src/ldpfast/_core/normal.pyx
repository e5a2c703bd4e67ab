"""Probabilities of periodic and plain cells under a normal distribution."""
from libc.math cimport M_PI, M_SQRT1_2, cos, erfc, exp, floor, isinf, sin, sqrt

# sigma / period below which the distribution is summed over periods, else over harmonics; both are accurate to 1e-14
NARROW = 0.125
cdef double FAR = 12.0         # standard deviations; the tails beyond, 4e-33, are left out
cdef double NEGLIGIBLE = 1e-17  # damping below which harmonics are left out
cdef int HARMONICS = 10


cdef inline double remainder(double x, double period) noexcept nogil:
    """Return x modulo the period, in [0, period]."""
    return x - floor(x / period) * period


cdef struct sums:
    double value, by_mu, by_sigma


cdef inline double density(double x) noexcept nogil:
    return exp(-0.5 * x * x) / sqrt(2 * M_PI)


cdef inline void add_interval(double low, double high, double sigma, bint derive, sums *s) noexcept nogil:
    """Add the probability of low <= X < high for X ~ N(0, sigma^2), and its derivatives by the mean and by sigma."""
    cdef double a = low / sigma, b = high / sigma, at_a, at_b
    if a >= FAR or b <= -FAR:
        return
    a, b = max(a, -FAR), min(b, FAR)  # finite
    # The tail that does not cancel.
    if a > 0:
        s.value += 0.5 * (erfc(a * M_SQRT1_2) - erfc(b * M_SQRT1_2))
    else:
        s.value += 0.5 * (erfc(-b * M_SQRT1_2) - erfc(-a * M_SQRT1_2))
    if derive:
        at_a, at_b = density(a), density(b)
        s.by_mu += (at_a - at_b) / sigma
        s.by_sigma += (a * at_a - b * at_b) / sigma


cdef void fill_by_harmonics(double low, double high, double origin, double period, const double[::1] mean, double sigma,
                            bint derive, Py_ssize_t cell, double[:, ::1] value, double[:, ::1] by_mu,
                            double[:, ::1] by_sigma) noexcept nogil:
    """Fill the column of a cell with sums of a Fourier series, whose harmonics are computed by rotation."""
    cdef double turn = 2 * M_PI / period, share = (high - low) / period, q = exp(-0.5 * (turn * sigma) ** 2)
    cdef double size[10]
    cdef double damped = 1, angle, c, s, wave_c, wave_s, mixed, w
    cdef int h, last = 0
    cdef Py_ssize_t i
    cdef sums total
    for h in range(1, HARMONICS + 1):
        damped *= q ** (2 * h - 1)  # q^(h^2)
        if damped < NEGLIGIBLE:
            break
        size[h - 1] = 2 / (M_PI * h) * sin(M_PI * h * share) * damped
        last = h
    for i in range(mean.shape[0]):
        angle = turn * ((low + high) / 2 - remainder(mean[i] - origin, period))
        c, s = cos(angle), sin(angle)
        wave_c, wave_s = c, s
        total = sums(share, 0, 0)
        for h in range(1, last + 1):
            w = size[h - 1] * wave_c
            total.value += w
            if derive:
                total.by_mu += size[h - 1] * wave_s * (h * turn)
                total.by_sigma -= w * (h * turn) ** 2 * sigma
            mixed = wave_c * c - wave_s * s
            wave_s = wave_s * c + wave_c * s
            wave_c = mixed
        value[i, cell] = total.value
        if derive:
            by_mu[i, cell], by_sigma[i, cell] = total.by_mu, total.by_sigma


def cell_probabilities(const double[::1] low, const double[::1] high, const double[::1] origin, const double[::1] period,
                       const double[::1] mean, double sigma, double[:, ::1] value, double[:, ::1] by_mu=None,
                       double[:, ::1] by_sigma=None, double narrow=NARROW):
    """Write the probability of each cell, and optionally its derivatives by the mean and by sigma, at each mean.

    Cell j is [low, high) + origin, and its copies one period apart; with an infinite period there are none. Rows of the
    tables are means, columns are cells.
    """
    cdef Py_ssize_t cells = low.shape[0], points = mean.shape[0], i, j
    cdef bint derive = by_mu is not None
    cdef double at
    cdef int shift
    cdef sums total
    if (not cells == high.shape[0] == origin.shape[0] == period.shape[0] or value.shape[0] != points
            or value.shape[1] != cells or derive and (by_mu.shape[0] != points or by_mu.shape[1] != cells
                                                      or by_sigma is None or by_sigma.shape[0] != points
                                                      or by_sigma.shape[1] != cells)):
        raise ValueError("cells, means and tables do not fit together")
    with nogil:
        for j in range(cells):
            if sigma >= narrow * period[j]:
                fill_by_harmonics(low[j], high[j], origin[j], period[j], mean, sigma, derive, j, value, by_mu, by_sigma)
                continue
            for i in range(points):
                at = mean[i] - origin[j]
                total = sums(0, 0, 0)
                if isinf(period[j]):
                    add_interval(low[j] - at, high[j] - at, sigma, derive, &total)
                else:
                    at = remainder(at, period[j])
                    for shift in range(-1, 2):
                        add_interval(low[j] - at + shift * period[j], high[j] - at + shift * period[j], sigma, derive,
                                     &total)
                value[i, j] = total.value
                if derive:
                    by_mu[i, j], by_sigma[i, j] = total.by_mu, total.by_sigma
