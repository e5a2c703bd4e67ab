"""Real noise rounded down to integers, exactly.

A real number is computed from uniform numbers of which finitely many bits are known, with a bound on its error. As long as the
bound does not decide the integer below it, more bits are drawn. So the integers have exactly the distribution of the real noise
rounded down, and ``statistic + noise`` of an integer statistic is the real release rounded down. It has the guarantee of the
real release, because rounding does not use the records. docs/proofs/central.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext

from .._core.stream import Stream, StreamId
from .._random import words

BITS = 192  # by which a uniform number is extended


class UniformReal:
    """A uniform real number in (0, 1), of which a number of bits is known.

    Attributes
    ----------
    bits : int
        Number of known bits.
    numerator : int
        The number is in [numerator, numerator + 1] times 2^-bits.
    """

    def __init__(self, stream: Stream, stream_id: StreamId) -> None:
        self._stream, self._stream_id = stream, stream_id
        self.bits = self.numerator = 0
        self.extend(BITS)

    def extend(self, bits: int) -> None:
        """Draw more bits, up to a number of them that is a multiple of `BITS`."""
        while self.bits < bits:
            drawn = words(self._stream, self._stream_id, BITS // 64).tobytes()
            self.numerator = self.numerator << BITS | int.from_bytes(drawn, "little")
            self.bits += BITS

    @property
    def middle(self) -> Decimal:
        """Middle of the interval of the number, in the precision of the context."""
        return Decimal(2 * self.numerator + 1) / (1 << self.bits + 1)

    @property
    def is_small(self) -> bool:
        """Whether the interval may have a large relative error: more than 2^(-bits / 2)."""
        return self.numerator >> self.bits // 2 == 0


def _precision(bits: int) -> Context:
    """Return a context with relative rounding errors of at most 10^-20 times 2^-bits."""
    return Context(prec=bits // 3 + 20, Emin=MIN_EMIN, Emax=MAX_EMAX)


def _rounded_down(
    inputs: list[UniformReal], numbers: Callable[[int], tuple[list[Decimal], Decimal] | None]
) -> list[int]:
    """Return the integers below real numbers.

    Parameters
    ----------
    inputs : list of UniformReal
        Uniform numbers, which are extended until all integers are decided.
    numbers : callable
        Returns the numbers that follow from a given number of known bits, and a bound on their errors. It returns None if
        the errors are not bounded yet.
    """
    bits = max(uniform.bits for uniform in inputs)
    while True:
        for uniform in inputs:
            uniform.extend(bits)
        with localcontext(_precision(bits)):
            interval = numbers(bits)
            if interval is not None:
                values, error = interval
                low = [math.floor(value - error) for value in values]
                if low == [math.floor(value + error) for value in values]:
                    return low
        bits += BITS


def laplace(scale: Decimal, stream: Stream, stream_id: StreamId) -> int:
    """Draw one number of the Laplace distribution around 0, rounded down.

    Parameters
    ----------
    scale : Decimal
        Scale, > 0.
    stream : Stream
    stream_id : StreamId

    Returns
    -------
    noise : int
        Integer k with probability P(k <= X < k + 1).

    Notes
    -----
    The absolute value is E = -scale log U with a uniform U, which is in an interval of relative length 1 / numerator.
    """
    magnitude = UniformReal(stream, stream_id)

    def numbers(bits: int) -> tuple[list[Decimal], Decimal] | None:
        if magnitude.is_small:
            return None
        return [-scale * magnitude.middle.ln()], scale / magnitude.numerator

    size = _rounded_down([magnitude], numbers)[0]
    return size if words(stream, stream_id, 1)[0] & 1 else -1 - size


class _NormalPair:
    """Two independent standard normal numbers by Marsaglia's polar method, from uniform real numbers.

    Attributes
    ----------
    uniforms : list of UniformReal
    """

    def __init__(self, stream: Stream, stream_id: StreamId) -> None:
        while True:
            self.uniforms = [UniformReal(stream, stream_id) for _ in range(2)]
            while (decided := self._is_inside()) is None:
                for uniform in self.uniforms:
                    uniform.extend(uniform.bits + BITS)
            if decided:
                return

    def _square(self) -> tuple[list[Decimal], Decimal, Decimal]:
        """Return the point of the square (-1, 1)^2, its squared length, and 2^(-bits / 8)."""
        point = [2 * uniform.middle - 1 for uniform in self.uniforms]
        return point, sum((a * a for a in point), Decimal(0)), Decimal(1) / (1 << self.uniforms[0].bits // 8)

    def _is_inside(self) -> bool | None:
        """Return whether the point is in the unit disk; None if the known bits do not decide, or it is near a border."""
        with localcontext(_precision(self.uniforms[0].bits)):
            point, length, margin = self._square()
            if abs(length - 1) <= margin or length <= margin or min(map(abs, point)) <= margin:
                return None
            return length < 1

    def numbers(self) -> list[Decimal]:
        """Return the two numbers."""
        point, length, _ = self._square()
        factor = (-2 * length.ln() / length).sqrt()
        return [a * factor for a in point]


def ball_laplace(dim: int, scale: Decimal, stream: Stream, stream_id: StreamId) -> list[int]:
    """Draw a vector with density proportional to exp(-|x| / scale), in the Euclidean norm, with coordinates rounded down.

    Parameters
    ----------
    dim : int
        Number of coordinates.
    scale : Decimal
        Scale, > 0.
    stream : Stream
    stream_id : StreamId

    Returns
    -------
    noise : list of int

    Notes
    -----
    The direction comes from normal numbers; the length has the gamma distribution with shape `dim`, as the sum of `dim`
    exponential variables. Let p be the number of known bits and m = 2^(-p/8). A coordinate of a point in the square has an
    error of at most e = 2^-p, its squared length s one of at most 4e. Because s, 1 - s and the coordinates are more than m
    away from 0, log s has a relative error of at most 5 e / m^2, and each normal number one of at most 7 e / m^3. So the
    direction has an error of at most 16 e / m^3, and the length one of at most 2 dim 2^(-p/2). About 0.05 ms per coordinate.

    References
    ----------
    .. [1] G. Marsaglia, T. A. Bray, "A convenient method for generating normal variables", SIAM Review, 1964.
    """
    pairs = [_NormalPair(stream, stream_id) for _ in range(-(-dim // 2))]
    lengths = [UniformReal(stream, stream_id) for _ in range(dim)]

    def numbers(bits: int) -> tuple[list[Decimal], Decimal] | None:
        if any(uniform.is_small for uniform in lengths):
            return None
        product = Decimal(1)
        for uniform in lengths:
            product *= uniform.middle
        length = -product.ln()
        normals = [number for pair in pairs for number in pair.numbers()][:dim]
        norm = sum((number * number for number in normals), Decimal(0)).sqrt()
        error = scale * (16 * length / (1 << 5 * bits // 8) + Decimal(2 * dim) / (1 << bits // 2))
        return [scale * length * (number / norm) for number in normals], error

    return _rounded_down(lengths + [uniform for pair in pairs for uniform in pair.uniforms], numbers)
