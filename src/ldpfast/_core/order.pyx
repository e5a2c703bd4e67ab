"""Algorithms on sorted data: the exponential mechanism for quantiles, and smooth sensitivity."""
from libc.math cimport INFINITY, exp
from libc.stdint cimport int64_t, uint64_t

from ldpfast._core.blocks cimport close_key, load_key
from ldpfast._core.kernels cimport big, big_below, stream_key


def weights(uint64_t ratio, uint64_t[::1] out) -> int:
    """Write W_0 = 2^62 and W_(h+1) = ceil(W_h ratio / 2^64) to `out` until W stops decreasing; return how many were written."""
    cdef Py_ssize_t h = 0
    cdef uint64_t after = <uint64_t>1 << 62
    with nogil:
        while h < out.shape[0] and (h == 0 or after < out[h - 1]):
            out[h] = after
            after = <uint64_t>((<big>after * ratio + <uint64_t>0xFFFFFFFFFFFFFFFF) >> 64)
            h += 1
    return h


cdef inline uint64_t weight(const uint64_t[::1] table, int64_t twice_target, int64_t below, int64_t up_to) noexcept nogil:
    """Return the weight of a point with `below` records below it and `up_to` records at most equal to it.

    The weight depends on the distance from the target rank in half ranks. It is constant beyond the table.
    """
    cdef int64_t distance = max(2 * below - twice_target, twice_target - 2 * up_to, <int64_t>0)
    return table[distance if distance < table.shape[0] else table.shape[0] - 1]


cdef big sweep(const uint64_t[::1] points, int64_t first, uint64_t size, int64_t twice_target, const uint64_t[::1] table,
               big wanted, uint64_t *chosen) noexcept nogil:
    """Return the sum of the weights of the grid points 0, 1, ..., up to the point `chosen` where it exceeds `wanted`."""
    cdef big total = 0, mass
    cdef Py_ssize_t i = 0, run, m = points.shape[0]
    cdef uint64_t start = 0, stop, w
    while True:
        # Grid points between two different records.
        stop = points[i] if i < m else size
        w = weight(table, twice_target, first + i, first + i)
        mass = <big>w * (stop - start)
        if total + mass > wanted:
            chosen[0] = start + <uint64_t>((wanted - total) // w)
            return total
        total += mass
        if i == m:
            return total
        # Grid point of one or more records.
        run = i + 1
        while run < m and points[run] == stop:
            run += 1
        total += weight(table, twice_target, first + i, first + run)
        if total > wanted:
            chosen[0] = stop
            return total
        i, start = run, stop + 1


def choose(key: Stream | bytes, uint64_t block, const uint64_t[::1] points, int64_t first, uint64_t size,
           int64_t twice_target, const uint64_t[::1] table) -> int:
    """Draw a grid point in [0, size), with probability proportional to the weight of its rank.

    `points` are the sorted grid points of the records of rank `first + 1`, `first + 2`, .... Lower and higher ranks are so far
    from the target that their points have the last weight of the table.
    """
    cdef stream_key k
    cdef big total
    cdef uint64_t chosen = 0
    load_key(key, &k)
    with nogil:
        total = sweep(points, first, size, twice_target, table, ~<big>0, &chosen)
        sweep(points, first, size, twice_target, table, big_below(&k, block, total), &chosen)
    close_key(&k)
    return chosen


def masses(const uint64_t[::1] points, int64_t first, uint64_t size, int64_t twice_target, const uint64_t[::1] table) -> int:
    """Return the sum of all weights as a Python integer, for tests of the distribution."""
    cdef uint64_t chosen = 0
    cdef big total = sweep(points, first, size, twice_target, table, ~<big>0, &chosen)
    return (<uint64_t>(total >> 64)) * (1 << 64) + <uint64_t>total


cdef double best_of(const double *z, const double *decay, Py_ssize_t i, Py_ssize_t j_low, Py_ssize_t j_high, Py_ssize_t least,
                    Py_ssize_t *where) noexcept nogil:
    """Return the largest decay[j - i - least] (z[j] - z[i]) over j in [j_low, j_high] with j - i >= least; `where` is its j."""
    cdef Py_ssize_t j
    cdef double best = -INFINITY, value
    where[0] = j_low
    for j in range(max(j_low, i + least), j_high + 1):
        value = (z[j] - z[i]) * decay[j - i - least]
        if value > best:
            best = value
            where[0] = j
    return best


cdef double divide(const double *z, const double *decay, Py_ssize_t i_low, Py_ssize_t i_high, Py_ssize_t j_low,
                   Py_ssize_t j_high, Py_ssize_t least) noexcept nogil:
    """Return the largest value over i in [i_low, i_high] too, by divide and conquer: the best j does not decrease in i."""
    cdef Py_ssize_t middle, at
    cdef double best
    if i_low > i_high:
        return -INFINITY
    middle = (i_low + i_high) // 2
    best = best_of(z, decay, middle, j_low, j_high, least, &at)
    return max(best, divide(z, decay, i_low, middle - 1, j_low, at, least),
               divide(z, decay, middle + 1, i_high, at, j_high, least))


def spread(const double[::1] z, double beta, Py_ssize_t i_low, Py_ssize_t i_high, Py_ssize_t j_low, Py_ssize_t j_high,
           Py_ssize_t least, double[::1] decay) -> float:
    """Return max exp(-beta (j - i - least)) (z[j] - z[i]) over i in [i_low, i_high], j in [j_low, j_high], j - i >= least.

    z is ascending. `decay` is scratch space for j_high - i_low - least + 1 numbers.
    """
    cdef Py_ssize_t d
    cdef double found
    if not (0 <= i_low <= i_high and j_low <= j_high < z.shape[0] and i_high + least <= j_high
            and decay.shape[0] > j_high - i_low - least):
        raise ValueError("the ranks do not fit the data")
    with nogil:
        for d in range(j_high - i_low - least + 1):
            decay[d] = exp(-beta * d)
        found = divide(&z[0], &decay[0], i_low, i_high, j_low, j_high, least)
    return found
