"""Vectors with integer noise of every client, for a sum that a secure aggregator reveals."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._core import noise
from .._core.transform import walsh
from .._random import Words, open_stream
from .._typing import AnyArray, Floats
from ..domains import Ball
from ..privacy import Guarantee, convert
from ..reports import signs_of_rotation, size_of_rotation
from ..results import Estimate, Normal
from ._half_space import check_ball
from ._ranked_signs import MAX_DIM
from ._rotated_signs import MAX_ROTATION

if TYPE_CHECKING:
    from .._random import RNGLike

STEPS = 1 << 17  # of the radius
LEAST_VARIANCE = 16  # of the noise of a client: a sum of such noise is nearly the same as one draw of it
MAX_VARIANCE = 1 << 48  # of the noise of a client
HALF_RANGE = 1 << 31  # of a sum modulo 2^32
FAR = 8  # standard deviations of a coordinate of the rotated vector, which is exceeded with a probability of e^-32


@lru_cache(maxsize=4)
def _first_signs(rotation: int, size: int) -> NDArray[np.int64]:
    """Return the first random signs of a rotation, 1 and -1, which all records of a round share."""
    packed = signs_of_rotation(rotation, size)[: size // 64]
    signs = 1 - 2 * np.unpackbits(packed.view(np.uint8), bitorder="little").astype(np.int64)
    signs.flags.writeable = False
    return np.asarray(signs)


@dataclass(frozen=True)
class SecureSum:
    """The sum of vectors in a ball, of which a secure aggregator reveals nothing else, with integer noise of every client.

    **A message has no local guarantee**: who sees that of one person learns much about the record. The guarantee is for the sum
    of the messages of at least `honest` people who follow the protocol, as secure aggregation reveals it.

    Parameters
    ----------
    dim : int
        Dimension d, in [1, 2^24].
    epsilon, delta : float
        Guarantee of the sums of all rounds together; epsilon > 0, delta in (0, 1).
    honest : int
        Number of people in a sum who certainly add their noise, without those who may drop out or collude.
    rotation : int
        Number of the public rotation, in [0, 2^64), which the server draws at random and announces: one for each round.
    rounds : int, default 1
        Number of sums in which a person takes part.
    radius : float, default 1.0
        Radius r > 0 of the ball.

    Attributes
    ----------
    size : int
        Number D of integers of a message: the power of two from max(4096, dim) on.
    variance : int
        Variance of the noise of one client, in squared steps; a step is 2^-17 of the radius.
    guarantee : privacy.Guarantee
        Of the sums of all rounds, for neighbors one of whose records is replaced.

    Raises
    ------
    TypeError, ValueError
        If a number is not in its range; if the noise of a client would be too small for the bound: then there are too many
        honest people for so large an `epsilon`; if sums of `honest` people could exceed the modulus, as those of more than
        131,000 people in up to 4096 dimensions.

    Notes
    -----
    A record is rotated (random signs and a Hadamard transform), rounded at random to whole steps, and every integer gets
    discrete Gaussian noise. Messages are added modulo 2^32. For 1,000 people in 10,000 dimensions and a central guarantee of
    epsilon 4 and delta 1e-6, the squared error of the mean is 0.064 r^2; 1,000 reports of `RotatedSigns` with epsilon 8 have
    1.37 r^2 in 40 bytes instead of 64 KB. O(D log D) time and 4 D bytes per message.

    Privacy
    -------
    The rounded records of two neighbors differ by at most 2 (2^17 + sqrt(D)) steps, for every outcome of the rounding: it is
    checked in integers, and vectors that are longer are cut towards zero. The noise of the honest people is nearly discrete
    Gaussian noise with the sum of their variances; the guarantee is by concentrated privacy, over rounds too, and has the
    difference added. No resistance to timing attacks is claimed. docs/proofs/sums.md.

    References
    ----------
    .. [1] P. Kairouz, Z. Liu, T. Steinke, "The distributed discrete Gaussian mechanism for federated learning with secure
       aggregation", ICML 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.mechanisms import SecureSum
    >>> mechanism = SecureSum(1000, epsilon=4.0, delta=1e-6, honest=200, rotation=2024)
    >>> x = np.full((200, 1000), 0.03)
    >>> messages = mechanism.privatize(x, rng=1)  # one of each person; the aggregator adds them
    >>> estimate = mechanism.estimate(messages.sum(axis=0, dtype=np.uint32), n=200)
    >>> print(f"squared error {((estimate.value - 0.03) ** 2).sum():.2f}, expected {mechanism.total_variance(200):.2f}")
    squared error 0.16, expected 0.16
    """

    dim: int
    epsilon: float
    _: KW_ONLY
    delta: float
    honest: int
    rotation: int
    rounds: int = 1
    radius: float = 1.0
    size: int = field(init=False, repr=False, compare=False)
    variance: int = field(init=False, repr=False, compare=False)
    guarantee: Guarantee = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        dim, epsilon, radius = check_ball(_check.integer("dim", self.dim, 1, MAX_DIM), self.epsilon, self.radius)
        delta = float(_check.within("delta", _check.real("delta", self.delta), 0, 1, "()"))
        honest = _check.integer("honest", self.honest, 1, _check.MAX_PEOPLE)
        rounds = _check.integer("rounds", self.rounds, 1, _check.MAX_PEOPLE)
        rotation, size = _check.integer("rotation", self.rotation, 0, MAX_ROTATION), size_of_rotation(dim)
        # The sum of the noise is within a factor e^difference of one draw, in both orders and for each integer.
        difference = 10.0 * honest * math.exp(-(math.pi**2) * LEAST_VARIANCE)
        inner = math.nextafter(epsilon - 2 * size * rounds * difference, 0)
        rho = 0.0
        if inner > 0:
            rho = float(convert("concentrated", "approximate", delta, at=inner, inverse=True)) / rounds * (1 - 1e-12)
        sensitivity = 2 * (STEPS + math.sqrt(size))
        least = sensitivity**2 / (2 * rho * honest) * (1 + 1e-12) if rho > 0 else math.inf
        if least > MAX_VARIANCE:
            raise ValueError(
                f"epsilon must be so large that each client adds noise with a variance of at most 2^48, got {epsilon:g} with "
                f"delta={delta:g}, honest={honest} and rounds={rounds}, which would be {least:.3g}"
            )
        variance = math.ceil(least)
        if variance < LEAST_VARIANCE:
            raise ValueError(
                f"honest must be so few that each client adds noise with a variance of at least {LEAST_VARIANCE}, got "
                f"{honest} with epsilon={epsilon:g}, which would be {variance}: take a smaller epsilon, or say that fewer are "
                "honest"
            )
        largest = _largest_sum(honest, size, variance)
        if largest >= HALF_RANGE:
            raise ValueError(
                f"honest must be so few, and epsilon so large, that sums are below 2^31 steps, got {honest} and {epsilon:g}, "
                f"whose sums could be {largest:.3g}"
            )
        checked = {
            "dim": dim,
            "epsilon": epsilon,
            "delta": delta,
            "honest": honest,
            "rotation": rotation,
            "rounds": rounds,
        }
        derived = {"size": size, "variance": variance, "guarantee": Guarantee("approximate", epsilon, delta)}
        for name, value in {**checked, "radius": radius, **derived}.items():
            object.__setattr__(self, name, value)

    def privatize(self, x: ArrayLike, *, clip: bool = False, rng: RNGLike = None) -> NDArray[np.uint32]:
        """Return the messages of records.

        Parameters
        ----------
        x : array_like
            Records: floats, shape (n, dim) or (dim,), with Euclidean norm at most `radius`.
        clip : bool, default False
            Whether longer records are moved to the sphere, and those with NaN to 0.
        rng : int, SeedSequence, Generator, BitGenerator or None
            Source of randomness. None, the default, is a fresh key of the operating system; everything else protects nobody.

        Returns
        -------
        messages : ndarray of uint32, shape (n, size) or (size,)

        Raises
        ------
        TypeError, ValueError
            If `x` has another shape or dtype, or longer records without `clip`.

        Privacy
        -------
        None for a single message: the guarantee is for sums.
        """
        domain, clip = Ball(self.dim, self.radius, "l2"), _check.flag("clip", clip)
        records, single = domain.records(x)
        converted = domain.convert(records)
        if clip:
            converted = domain.clip(converted)
        elif domain.first_invalid(converted) >= 0:
            raise domain.invalid_error(records, can_clip=True)
        stream = open_stream(rng)
        messages = np.empty((len(records), self.size), np.uint32)
        drawn = np.empty(self.size, np.int64)
        for record, message in zip(converted, messages, strict=True):
            block = stream.take(1)
            steps = self.rounded(record, Words(stream, block))
            noise.gaussian(stream, block, self.variance, drawn)
            message[:] = (steps + drawn).astype(np.uint32)  # modulo 2^32
        return messages[0] if single else messages

    def rounded(self, record: Floats, words: Words) -> NDArray[np.int64]:
        """Return a rotated record in whole steps, rounded at random. Its length is at most 2^17 + sqrt(size).

        Parameters
        ----------
        record : ndarray, shape (dim,)
        words : Words
            Randomness of the rounding.

        Returns
        -------
        steps : ndarray of int64, shape (size,)
        """
        bits = 61 - self.size.bit_length()
        exact = np.zeros(self.size, np.int64)
        # No integer overflows, whatever is written to the record after its check: coordinates are at most the radius, and NaN
        # is a number. So the bound on the length holds for all records.
        inside = np.fmin(np.fmax(record.astype(np.float64), -self.radius), self.radius)
        exact[: self.dim] = np.rint(inside * (2.0**bits / self.radius))
        exact *= _first_signs(self.rotation, self.size)
        walsh(exact)
        place = exact * (STEPS / (2.0**bits * math.sqrt(self.size)))
        uniform = (words.uint64(self.size) >> np.uint64(11)).astype(np.float64) * 2.0**-53
        steps = np.floor(place + uniform).astype(np.int64)
        longest = math.isqrt(STEPS**2 + self.size + 2 * math.isqrt(STEPS**2 * self.size))  # at most 2^17 + sqrt(size)
        square = int(np.sum(np.square(steps)))
        if square > longest**2:  # a record at the end of its tolerance, after errors of rounding
            steps = np.trunc(steps * (longest / math.sqrt(square) * (1 - 1e-9))).astype(np.int64)
        return steps

    def estimate(self, total: AnyArray, n: int) -> Estimate[Floats]:
        """Return the mean of the records of a sum, with the error of the noise and the rounding.

        Parameters
        ----------
        total : ndarray of integers, shape (size,)
            Sum of the messages modulo 2^32, in integers of at least 32 bits.
        n : int
            Number of messages, at least `honest`.

        Returns
        -------
        mean : Estimate
            Of the records of these n people, shape (dim,). The standard error is known: it does not depend on the records. It
            is not that of the mean of a population from which these people are drawn, which is larger.

        Raises
        ------
        TypeError, ValueError
            If `total` is not such integers; if `n` is below `honest`, or so large that sums could exceed the modulus.
        """
        n = _check.integer("n", n, self.honest, _check.MAX_PEOPLE)
        integers = _check.integers("total", _check.array("total", total))
        if integers.dtype.itemsize < 4:
            raise TypeError(f"total must be integers of at least 32 bits, got dtype {integers.dtype}")
        if integers.shape != (self.size,):
            raise ValueError(f"total must have shape ({self.size},), got {integers.shape}")
        largest = _largest_sum(n, self.size, self.variance)
        if largest >= HALF_RANGE:
            raise ValueError(
                f"n must be so small that sums are below 2^31 steps, got {n}, whose sums could be {largest:.3g}"
            )
        found = integers.astype(np.uint32).view(np.int32).astype(np.int64)
        walsh(found)
        unit = self.radius / STEPS
        value = (_first_signs(self.rotation, self.size) * found)[: self.dim] * (unit / (math.sqrt(self.size) * n))
        stderr = np.full(self.dim, math.sqrt(self.total_variance(n) / self.dim))
        return Estimate(value, stderr, n, self.guarantee, None, Normal())

    def total_variance(self, n: int) -> float:
        """Return the expected squared length of the error of a mean of n people: of the noise, and at most of the rounding."""
        return self.dim * (self.variance + 0.25) / n * (self.radius / STEPS) ** 2


def _largest_sum(n: int, size: int, variance: int) -> float:
    """Return a number of steps that no coordinate of the sum of n messages exceeds, but for a negligible probability."""
    return n * STEPS * min(1.0, FAR / math.sqrt(size)) + FAR * math.sqrt(n * variance)
