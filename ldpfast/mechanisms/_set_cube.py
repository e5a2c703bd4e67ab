"""The sampled cube for sets of options."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import _coins
from .._core import privatize
from .._typing import AnyArray, Floats
from ..domains import Sets
from ..privacy import TwoLevel
from ..reports import Bits, Decoding, Format, SampledBits
from ..results import Debiasing
from ._draws import PeopleCounts
from ._sampled_cube import SampledCubeLaw, best_design, tail
from ._sets_law import SetsLaw
from ._sets_mechanism import SetsMechanism

if TYPE_CHECKING:
    from numpy.random import Generator


@dataclass(frozen=True)
class SetCube(SetsMechanism):
    """Answers for a few sampled options of a set, which share the whole `epsilon`: the best for sets of many options.

    `for_sets` returns it where it is better than `SetSelection`: for `most` above about a third of `k`.

    Parameters
    ----------
    k : int
        Number of options, >= 2.
    most : int
        Largest number of options of a set, in [1, k]; k + `most` is at most 65533. Reports do not depend on it.
    epsilon : float
        Privacy parameter of the whole set, > 0.
    optional : bool, default False
        Whether a set may be missing, which is different from an empty set.

    Attributes
    ----------
    sampled, threshold : int
        Number of sampled options, and the smallest number of right answers among them in a more probable report: the best
        design of `SampledCube`.

    Raises
    ------
    TypeError, ValueError
        If an integer is not in its range, if `epsilon` is not a finite number > 0 that a coin of 64 bits can certify.

    Notes
    -----
    Records: those of `SetSelection`. Reports: those of `SampledCube`, whose coordinates are the options, plus for those of the
    set. If a set may be missing, that is one coordinate more, and a missing set has no options. An estimate divides by the
    number of people who were asked about an option (NaN if nobody was), with binomial intervals. Times the number of people, a
    share x has the variance d (1 / (4 m^2) - (x - 1/2)^2) / s, for s of d sampled coordinates and m the mean share of right
    answers minus that of wrong ones. Decoded reports are unbiased, but their mean is another estimate with a larger variance,
    d / (4 s m^2) - (x - 1/2)^2. There is no distribution of the number of options. O(n s `most`) time.

    Privacy
    -------
    Exactly `epsilon_realized`-LDP for the whole set. The time depends on the private coin, not on the record given the coin.
    docs/proofs/set_cube.md.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.mechanisms import for_sets
    >>> mechanism = for_sets(20, 20, epsilon=4.0)
    >>> mechanism
    SetCube(k=20, most=20, epsilon=4.0, optional=False)
    >>> ticks = np.zeros((100_000, 20), bool)
    >>> ticks[:, 0], ticks[::2, 5] = True, True
    >>> bool(abs(mechanism.run(ticks, rng=1).value[5] - 0.5) < 0.03)
    True
    """

    k: int
    most: int
    epsilon: float
    _: KW_ONLY
    optional: bool = False
    sampled: int = field(init=False, repr=False, compare=False)
    threshold: int = field(init=False, repr=False, compare=False)
    debiasing: Debiasing = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        domain = self._set_checked()
        dim = self.k + self.optional
        sampled, threshold = best_design(dim, self.epsilon, None, None)
        patterns, _ = tail(sampled, threshold)
        coin = _coins.of_set(self.epsilon, patterns, 1 << sampled)
        law = SetCubeLaw(domain, SampledCubeLaw.of(dim, sampled, threshold, 0.5, coin))
        self.define(
            epsilon_realized=coin.epsilon_realized,
            domain=domain,
            report=law.report,
            debiasing=law.line,
            kernel=law.kernel(),
            law=law,
            coin=law.cube.coin,
            sampled=sampled,
            threshold=threshold,
        )


@dataclass(frozen=True)
class SetCubeLaw(SetsLaw):
    """The distribution of the signs of sampled options.

    Attributes
    ----------
    domain : Sets
    cube : SampledCubeLaw
        The distribution for vectors whose coordinates are the options and perhaps one for missing sets, +-1/2.
    """

    domain: Sets
    cube: SampledCubeLaw

    @cached_property
    def line(self) -> Debiasing:
        half = self.cube.scale * self.cube.sampled / self.cube.dim
        return Debiasing(0.5 - half, 0.5 + half)

    @property
    def asked(self) -> float:
        return self.cube.sampled / self.cube.dim

    @cached_property
    def report(self) -> Format:
        """Format of the reports."""
        cube, k = self.cube, self.domain.k
        if cube.sampled == cube.dim:
            return Bits(cube.dim, leading=k)
        return SampledBits(cube.dim, cube.sampled, cube.scale, k)

    def kernel(self) -> Any:
        """Return the compiled kernel."""
        cube, up_to = self.cube, self.cube.up_to
        k, most = self.domain.k, self.domain.most
        if cube.sampled == cube.dim:
            return privatize.SetCapCube(k, most, cube.dim, cube.coin.heads, cube.threshold, up_to)
        return privatize.SetCube(k, most, cube.dim, cube.sampled, cube.coin.heads, cube.threshold, up_to)

    def hits(self, counts: AnyArray, n: Any) -> tuple[AnyArray, AnyArray]:
        report = self.report
        if isinstance(report, SampledBits):
            return report.asked(counts)
        return counts.copy(), np.broadcast_to(np.asarray(n, np.int64)[..., np.newaxis], counts.shape)

    def covariance(
        self, first: Floats, second: Floats, both: Floats, *, with_missing: bool | NDArray[np.bool_] = False
    ) -> Floats:
        dim, s = self.cube.dim, self.cube.sampled
        if s == 1:  # nobody is asked about both
            return np.zeros(np.broadcast(first, second, both).shape)
        same = 4 * both - 2 * (first + second) + 1  # mean of the product of two signs
        product = self.cube.pair_moment * (self.line.one - 0.5) ** 2 * same
        return np.asarray((product - (first - 0.5) * (second - 0.5)) * (dim * (s - 1) / (s * (dim - 1))))

    def sizes(self, counts: AnyArray, n: int) -> tuple[Floats, Floats]:
        raise ValueError(
            "reports must tell how many options a set has, and those about sampled options do not; declare a smaller `most`, "
            f"for which for_sets returns another mechanism, got most={self.domain.most} and k={self.domain.k}"
        )

    @property
    def worst_mean_variance(self) -> float:
        """As `SetsLaw.worst_mean_variance`; it is largest for shares as near to 1/2 as `most` allows."""
        cube = self.cube
        share = min(self.domain.most / self.domain.k, 0.5)
        return float(self.line.variance(share) * cube.dim / cube.sampled - share * (1 - share))

    def variance(self, decoding: Decoding, records: AnyArray) -> Floats:
        return self.cube.variance(decoding, self._vertices(records))[:, : self.domain.k]

    def largest_probability(self) -> float:
        return self.cube.largest_probability()

    def worst_variance(self, decoding: Decoding) -> float:
        return self.cube.worst_variance(decoding)

    def two_level(self) -> TwoLevel:
        return self.cube.two_level()  # that of opposite vertices, which is a bound if no two sets are opposite

    def draw(self, records: AnyArray, people: PeopleCounts, generator: Generator) -> AnyArray:
        return self.cube.draw(self._vertices(records), people, generator)

    def _vertices(self, records: AnyArray) -> Floats:
        """Return the vertices of the cube that are the signs of converted records, shape (n, dim)."""
        found = self.domain.ticks(records)
        if self.domain.optional:
            missing = records[:, -1:] == self.domain.positions - 1
            found = np.concatenate([found, missing], axis=1)
        return np.asarray(found - 0.5, np.float64)

    def rows(self) -> list[list[int]] | None:
        """Return the channel from sets, ordered by their bits, the missing one last: that of the cube from their vertices."""
        rows = self.cube.rows()
        if rows is None:
            return None
        vertices = self._vertices(np.array(list(self.records())))
        return [rows[sum(1 << int(j) for j in np.flatnonzero(vertex > 0))] for vertex in vertices]
