"""Discrete Gaussian noise."""
from decimal import Context, Decimal, localcontext

from cpython.buffer cimport PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport int64_t, uint64_t

from ldpfast._core.blocks cimport close_key, load_key
from ldpfast._core.kernels cimport (
    ACCEPTED, GAUSSIAN_DIGITS, GAUSSIAN_PROPOSALS, MAX_VARIANCE, REJECTED, STREAM_DISCRETE_GAUSSIAN, STREAM_GAUSSIAN_DIGITS,
    UNDECIDED, gaussian_compare, gaussian_open, gaussian_propose, gaussian_proposals, gaussian_steps, stream, stream_draw, stream_key,
    stream_open,
)

MARGIN: float = 2.0**-40  # more than the relative error of the probabilities of the kernel


cdef class Digits:
    """Words of 64 bits from a stream."""
    cdef stream s
    cdef uint64_t word[2]
    cdef int left

    def next(self) -> int:
        if self.left == 0:
            stream_draw(&self.s, self.word, 1)
            self.left = 2
        self.left -= 1
        return self.word[1 - self.left]


def is_below(digits: int, int count, step: int, square: int, twice_variance: int, Digits more) -> bool:
    """Return whether a uniform number is below 2^step exp(-square / twice_variance), exactly.

    `digits` are the first `count` binary digits of the number, as an integer. The others are drawn as they are needed.
    """
    precision = 40
    while True:
        with localcontext(Context(prec=precision)):
            edge = (-Decimal(square) / Decimal(twice_variance)).exp() * Decimal(2) ** (int(step) + count)
            error = edge.scaleb(6 - precision)  # square / twice_variance is below 2000
            if digits + 1 <= edge - error:
                return True
            if digits >= edge + error:
                return False
        digits, count, precision = digits << 64 | more.next(), count + 64, precision + 20


cdef int decide(gaussian_proposals *found, uint64_t variance, Digits more) except -1:
    """Decide the undecided proposals."""
    cdef int i
    for i in range(GAUSSIAN_PROPOSALS):
        if found.decision[i] == UNDECIDED:
            below = is_below(int(found.digits[i]), GAUSSIAN_DIGITS, found.step[i], int(found.value[i]) ** 2, 2 * int(variance), more)
            found.decision[i] = ACCEPTED if below else REJECTED
    return 0


cdef size_t keep(const gaussian_proposals *found, int64_t *out, size_t done, size_t n) noexcept nogil:
    """Append the accepted proposals to the `done` numbers in `out`, up to n; return how many there are then."""
    cdef int i
    for i in range(GAUSSIAN_PROPOSALS):
        if done == n:
            break
        out[done] = found.value[i]
        done += found.decision[i]
    return done


def gaussian(key: Stream | bytes, uint64_t block, uint64_t variance, out: NDArray[np.int64], double margin=MARGIN) -> None:
    """Fill `out` (int64) with integers n drawn with probabilities proportional to exp(-n^2 / (2 variance)).

    The result does not depend on `margin`, the relative distance of a uniform number from a probability below which they are
    compared with more digits.
    """
    cdef stream_key k
    cdef stream s
    cdef Py_buffer view
    cdef Digits more = Digits()
    cdef gaussian_steps steps
    cdef gaussian_proposals found
    cdef size_t n, done = 0
    cdef int64_t *to
    cdef bint undecided = False
    if not 1 <= variance <= MAX_VARIANCE:
        raise ValueError("variance must be in [1, 2^48]")
    if not MARGIN <= margin <= 1:
        raise ValueError("margin must be in [2^-40, 1]")
    PyObject_GetBuffer(out, &view, PyBUF_WRITABLE)
    try:
        load_key(key, &k)
        try:
            n, to = view.len // 8, <int64_t *>view.buf
            steps = gaussian_open(variance, margin)
            s = stream_open(&k, STREAM_DISCRETE_GAUSSIAN, block)
            more.s = stream_open(&k, STREAM_GAUSSIAN_DIGITS, block)
            while done < n and not k.exhausted:
                with nogil:
                    while done < n and not k.exhausted:
                        undecided = gaussian_propose(&steps, &s, &found)
                        if undecided:
                            break
                        done = keep(&found, to, done, n)
                if undecided:
                    decide(&found, variance, more)
                    done = keep(&found, to, done, n)
        finally:
            close_key(&k)
    finally:
        PyBuffer_Release(&view)


def below(key: Stream | bytes, uint64_t block, digits: int, int count, step: int, square: int, twice_variance: int) -> bool:
    """Return what `is_below` decides, with more digits from the stream of a key. For tests."""
    cdef stream_key k
    cdef Digits more = Digits()
    load_key(key, &k)
    try:
        more.s = stream_open(&k, STREAM_GAUSSIAN_DIGITS, block)
        return is_below(digits, count, step, square, twice_variance, more)
    finally:
        close_key(&k)


def decisions(const uint64_t[::1] words, uint64_t variance, double margin) -> list[tuple[int, int, int, int]]:
    """Return what the kernel makes of 128 words: value, step, first digits and decision of 64 proposals. For tests."""
    cdef gaussian_proposals found
    cdef gaussian_steps steps = gaussian_open(variance, margin)
    if words.shape[0] != 2 * GAUSSIAN_PROPOSALS:
        raise ValueError("words must be 128 words")
    gaussian_compare(&steps, &words[0], &found)
    return [(found.value[i], found.step[i], found.digits[i], found.decision[i]) for i in range(GAUSSIAN_PROPOSALS)]
