"""Probabilities of periodic and plain cells under a normal distribution."""
from libc.math cimport M_PI, M_SQRT1_2, cos, erfc, exp, fabs, floor, isinf, sin, sqrt

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


cdef struct endpoint:
    double at, tail, density  # `at` in standard deviations from the mean; `tail` is the probability beyond it, away from the mean


cdef inline endpoint endpoint_of(double at, bint derive) noexcept nogil:
    """Return the endpoint of an interval; it is moved to at most `FAR` from the mean."""
    if at <= -FAR or at >= FAR:
        return endpoint(-FAR if at < 0 else FAR, 0, 0)
    return endpoint(at, 0.5 * erfc(fabs(at) * M_SQRT1_2), density(at) if derive else 0)


cdef inline double between(const endpoint *a, const endpoint *b) noexcept nogil:
    """Return the probability between two endpoints, as a difference of tails that do not cancel."""
    if a.at > 0:
        return a.tail - b.tail
    return b.tail - a.tail if b.at < 0 else 1 - b.tail - a.tail


cdef void fill_by_intervals(const double *low, const double *high, Py_ssize_t cells, double origin, double period,
                            const double[::1] mean, double sigma, bint derive, Py_ssize_t first, double[:, ::1] value,
                            double[:, ::1] by_mu, double[:, ::1] by_sigma) noexcept nogil:
    """Fill the columns of neighboring cells with sums of their intervals in three periods; an infinite period has one."""
    cdef Py_ssize_t i, j
    cdef double at, shift
    cdef int turn, turns = 0 if isinf(period) else 1
    cdef endpoint a, b
    for i in range(mean.shape[0]):
        for j in range(first, first + cells):
            value[i, j] = 0
            if derive:
                by_mu[i, j] = by_sigma[i, j] = 0
        at = mean[i] - origin
        if turns:
            at = remainder(at, period)
        for turn in range(-turns, turns + 1):
            shift = turn * period if turn else 0
            a = endpoint_of((low[0] - at + shift) / sigma, derive)
            for j in range(cells):
                if a.at >= FAR:
                    break
                b = endpoint_of((high[j] - at + shift) / sigma, derive)
                if b.at > -FAR:
                    value[i, first + j] += between(&a, &b)
                    if derive:
                        by_mu[i, first + j] += (a.density - b.density) / sigma
                        by_sigma[i, first + j] += (a.at * a.density - b.at * b.density) / sigma
                a = b


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
                       double[:, ::1] by_sigma=None, double narrow=NARROW) -> None:
    """Write the probability of each cell, and optionally its derivatives by the mean and by sigma, at each mean.

    Cell j is [low, high) + origin, and its copies one period apart; with an infinite period there are none. Rows of the
    tables are means, columns are cells.
    """
    cdef Py_ssize_t cells = low.shape[0], points = mean.shape[0], j = 0, end
    cdef bint derive = by_mu is not None
    if (not cells == high.shape[0] == origin.shape[0] == period.shape[0] or value.shape[0] != points
            or value.shape[1] != cells or derive and (by_mu.shape[0] != points or by_mu.shape[1] != cells
                                                      or by_sigma is None or by_sigma.shape[0] != points
                                                      or by_sigma.shape[1] != cells)):
        raise ValueError("cells, means and tables do not fit together")
    with nogil:
        while j < cells:
            end = j + 1
            if sigma >= narrow * period[j]:
                fill_by_harmonics(low[j], high[j], origin[j], period[j], mean, sigma, derive, j, value, by_mu, by_sigma)
            else:
                while end < cells and low[end] == high[end - 1] and origin[end] == origin[j] and period[end] == period[j]:
                    end += 1
                fill_by_intervals(&low[j], &high[j], end - j, origin[j], period[j], mean, sigma, derive, j, value, by_mu,
                                  by_sigma)
            j = end
