"""Sums over people of the likelihood of randomized answers with a multinomial logit model."""
from libc.math cimport exp, log
from libc.stdlib cimport free, malloc
from libc.string cimport memset

cdef enum:
    LARGEST = 4096  # coefficients

ctypedef fused number:
    float
    double


cdef double person(const double *x, Py_ssize_t columns, const double[:, ::1] params, const double[:, ::1] table, Py_ssize_t code,
                   double *before, double *after) noexcept nogil:
    """Write the shares of the categories before and after the report of a person; return the probability of the report."""
    cdef Py_ssize_t y, j, k = table.shape[0]
    cdef double odds, highest = 0, total = 0, seen = 0
    before[0] = 0
    for y in range(1, k):
        odds = 0
        for j in range(columns):
            odds += params[y - 1, j] * x[j]
        before[y] = odds
        highest = odds if odds > highest else highest
    for y in range(k):
        before[y] = exp(before[y] - highest)
        total += before[y]
    for y in range(k):
        before[y] /= total
        after[y] = before[y] * table[y, code]
        seen += after[y]
    seen = seen if seen > 2.2250738585072014e-308 else 2.2250738585072014e-308
    for y in range(k):
        after[y] /= seen
    return seen


def sums(const number[:, :] rows, const double[::1] shift, const double[::1] scale, bint intercept,
         const Py_ssize_t[:] codes, const double[:, ::1] table, weights: NDArray[np.float64] | None,
         const double[:, ::1] params, bint observed, double[::1] score, double[:, ::1] information) -> float:
    """Add the gradient and the information of people to `score` and `information`; return their log-likelihood.

    Row i of `rows` is made (row - shift) / scale, after a one if `intercept`. `information` is minus the Hessian if `observed`,
    else its mean over the reports; entries above the diagonal of blocks are not written. The arguments of a class y are in
    blocks of columns, in the order of `params`.
    """
    cdef Py_ssize_t n = rows.shape[0], k = table.shape[0], given = rows.shape[1], columns = given + intercept
    cdef Py_ssize_t i, j, l, y, z, code, size = (k - 1) * columns
    cdef double value = 0, w = 1, factor, ratio
    cdef const double[:] each = weights if weights is not None else None
    cdef bint weighted = weights is not None
    if shift.shape[0] != given or scale.shape[0] != given or codes.shape[0] != n or (weighted and each.shape[0] != n):
        raise ValueError("there must be a shift and a scale for each column, and a code and a weight for each row")
    if k < 2 or params.shape[0] != k - 1 or params.shape[1] != columns or not 0 < size <= LARGEST:
        raise ValueError("there must be coefficients of each category and column")
    if score.shape[0] != size or information.shape[0] != size or information.shape[1] != size:
        raise ValueError("score and information must have the coefficients")
    for i in range(n):
        if not 0 <= codes[i] < table.shape[1]:
            raise ValueError("a code is outside of the table")
    # covariates; shares before and after; probabilities of two categories and each code, over that of the code
    cdef double *x = <double *>malloc((columns + 2 * k + k * k) * sizeof(double))
    if x == NULL:
        raise MemoryError
    cdef double *before = x + columns
    cdef double *after = before + k
    cdef double *both = after + k
    with nogil:
        x[0] = 1
        for i in range(n):
            for j in range(given):
                x[j + intercept] = (rows[i, j] - shift[j]) / scale[j]
            code, w = codes[i], each[i] if weighted else 1
            value += w * log(person(x, columns, params, table, code, before, after))
            if not observed:
                expected(table, before, both)
            for y in range(1, k):
                factor = w * (after[y] - before[y])
                for j in range(columns):
                    score[(y - 1) * columns + j] += factor * x[j]
                for z in range(1, y + 1):
                    if observed:
                        factor = after[y] * after[z] - before[y] * before[z]
                        if y == z:
                            factor += before[y] - after[y]
                    else:
                        factor = before[y] * before[z] * (both[y * k + z] - 1)
                    factor *= w
                    for j in range(columns):
                        ratio = factor * x[j]
                        for l in range(j + 1):
                            information[(y - 1) * columns + j, (z - 1) * columns + l] += ratio * x[l]
    free(x)
    return value


cdef void expected(const double[:, ::1] table, const double *before, double *both) noexcept nogil:
    """Write the sums over the codes of the probabilities for two categories, over the probability of the code."""
    cdef Py_ssize_t c, y, z, k = table.shape[0]
    cdef double chance
    memset(both, 0, k * k * sizeof(double))
    for c in range(table.shape[1]):
        chance = 0
        for y in range(k):
            chance += before[y] * table[y, c]
        if chance > 0:
            for y in range(1, k):
                for z in range(1, y + 1):
                    both[y * k + z] += table[y, c] * table[z, c] / chance
