"""Set selection: one report for a set of options."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import accumulate, combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import _check, _coins
from .._core import privatize
from .._described import chooses_again
from .._typing import AnyArray, Floats
from ..domains import Sets
from ..privacy import TwoLevel
from ..reports import Bits, Codes, Format
from ..results import AnyDebiasing, Debiasing, SupportDebiasing
from ._draws import PeopleCounts, multinomial, ones_by_column
from ._law import CHANNEL_ENTRIES
from ._sets_law import SetsLaw, among_answers
from ._sets_mechanism import SetsMechanism
from ._subset_selection import first_density

if TYPE_CHECKING:
    from numpy.random import Generator

MAX_TICKS = 256
RARE = 1e-4  # smallest share of the sets on one side of the threshold; sets without a number are drawn until they are there
NUMBERED = 1 << 63  # largest number of sets for which a set can be drawn by its number


@dataclass(frozen=True)
class SetDesign:
    """The reports of set selection: sets of `size` of d positions, of which a record has `own`.

    A report is one of the sets with at least `threshold` positions of the record with a given probability, else one of the
    others.
    """

    positions: int
    own: int
    size: int
    threshold: int

    @cached_property
    def sets(self) -> list[int]:
        """Numbers of the sets with 0, 1, ... `own` positions of a record."""
        others = self.positions - self.own
        return [math.comb(self.own, c) * _comb(others, self.size - c) for c in range(self.own + 1)]

    @cached_property
    def up_to(self) -> list[int]:
        """Numbers of the sets with at most 0, 1, ... positions of a record."""
        return list(accumulate(self.sets))

    @property
    def outputs(self) -> int:
        """Number of all reports."""
        return self.up_to[-1]

    @property
    def inside(self) -> int:
        """Number of the reports that are more probable for a record."""
        return self.outputs - self.up_to[self.threshold - 1]

    def difference(self) -> int:
        """Return the largest number of reports that are more probable for one record and not for another one."""
        d, m = self.positions, self.own
        z, t = self.size, self.threshold

        def apart(common: int) -> int:
            return sum(
                _comb(common, b)
                * _comb(m - common, a)
                * _comb(m - common, e)
                * _comb(d - 2 * m + common, z - a - b - e)
                for b in range(common + 1)
                for a in range(max(0, t - b), m - common + 1)
                for e in range(min(t - b, m - common + 1))
            )

        if t == 1:  # largest for records without a common position
            return _comb(d - m, z) - _comb(d - 2 * m, z)
        return max(apart(common) for common in range(max(0, 2 * m - d), m))


def _comb(n: int, r: int) -> int:
    return math.comb(n, r) if 0 <= r <= n else 0


@dataclass(frozen=True)
class SetMoments:
    """Probabilities that positions are in a report.

    Attributes
    ----------
    counts : tuple of Fraction
        Probabilities of 0, 1, ... positions of the record in the report.
    own, other : Fraction
        Probability of a position of the record, and of another one.
    pairs : tuple of Fraction
        Probability of two positions, of which 0, 1 or 2 are in the record.
    """

    counts: tuple[Fraction, ...]
    own: Fraction
    other: Fraction
    pairs: tuple[Fraction, Fraction, Fraction]

    @classmethod
    def of(cls, design: SetDesign, coin: _coins.SetCoin) -> SetMoments:
        d, m = design.positions, design.own
        z = design.size
        counts = tuple(
            number * (coin.inside if c >= design.threshold else coin.outside) for c, number in enumerate(design.sets)
        )
        own = sum((c * p for c, p in enumerate(counts)), Fraction(0)) / m
        other = (z - m * own) / (d - m)
        both = sum((c * (c - 1) * p for c, p in enumerate(counts)), Fraction(0)) / max(1, m * (m - 1))
        one = sum((c * (z - c) * p for c, p in enumerate(counts)), Fraction(0)) / (m * (d - m))
        none = sum(((z - c) * (z - c - 1) * p for c, p in enumerate(counts)), Fraction(0)) / ((d - m) * (d - m - 1))
        return cls(counts, own, other, (none, one, both))

    def covariance(self, first: Floats, second: Floats, both: Floats) -> Floats:
        """Return the covariance of two decoded positions of one report, for the shares of records with each and with both."""
        none, one, two = (float(p) for p in self.pairs)
        p, q = float(self.own), float(self.other)
        joint = none + (one - none) * (first + second) + (two - 2 * one + none) * both
        return np.asarray((joint - (q + (p - q) * first) * (q + (p - q) * second)) / (p - q) ** 2)


@lru_cache(maxsize=256)
def best_design(
    k: int, most: int, epsilon: float, optional: bool, size: int | None, threshold: int | None
) -> SetDesign:
    """Return the design with the smallest variance per option, for the number of ticks in [0, `most`] for which it is largest.

    The variance of an option depends on a set by its size alone, and is linear in it, so that the largest is at an end.
    """
    d, odds = k + most + optional, math.exp(min(epsilon, 300.0))
    sizes = np.arange(1, min(d - most, max(1, d // 2)) + 1) if size is None else np.array([size])
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, d + 1)))])  # of factorials

    def log_comb(n: int, r: AnyArray) -> Floats:
        inside = (r >= 0) & (r <= n)
        at = np.where(inside, r, 0)
        return np.where(inside, logs[n] - logs[at] - logs[n - at], -np.inf)

    own = np.arange(most + 1)
    share = np.exp(
        log_comb(most, own) + log_comb(d - most, sizes[:, np.newaxis] - own) - log_comb(d, sizes)[:, np.newaxis]
    )
    best = (math.inf, 0, 0)
    thresholds = range(1, most + 1) if threshold is None else [threshold]
    for least in thresholds:
        hit = share[:, least:].sum(axis=1)
        weight = share * np.where(own >= least, odds, 1.0) / (1 + (odds - 1) * hit[:, np.newaxis])
        p = weight @ own / most
        q = (sizes - most * p) / (d - most)
        with np.errstate(divide="ignore", invalid="ignore"):
            mine, others = p * (1 - p) / (p - q) ** 2, q * (1 - q) / (p - q) ** 2
            worst = np.maximum(others, (most * mine + (k - most) * others) / k)
        possible = (hit > RARE) & (hit < 1 - RARE) & (sizes >= least) & (p - q > 1e-9)
        worst = np.where(possible, worst, math.inf)
        at = int(np.argmin(worst))
        best = min(best, (float(worst[at]), int(sizes[at]), least))
    if best[0] == math.inf and size is None and threshold is None:
        return SetDesign(d, most, 1, 1)  # no signal, or all of it: the coin says so
    if best[0] == math.inf:
        raise ValueError(
            "threshold must be at most size and most, and the sets with so many positions of a record must be more than"
            f" {RARE} of all, and so must be the others; got size {size} and threshold {threshold}"
        )
    return SetDesign(d, most, best[1], best[2])


@chooses_again
@dataclass(frozen=True)
class SetSelection(SetsMechanism):
    """One report for a set of options, such as the ticks of a question with several answers.

    The whole set has the guarantee `epsilon`. The cost grows with `most`, so declare the smallest number that people need.

    Parameters
    ----------
    k : int
        Number of options, >= 2.
    most : int
        Largest number of options of a set, in [1, min(k, 256)]; k + `most` is at most 65533.
    epsilon : float
        Privacy parameter of the whole set, > 0.
    optional : bool, default False
        Whether a set may be missing, which is different from an empty set.
    size : int, optional
        Number of positions of a report, in [1, k]. The default has the smallest variance.
    threshold : int, optional
        Smallest number of positions of the record in a more probable report, at most `size` and `most`. The default has the
        smallest variance; it is 1 for `epsilon` up to about 4.

    Raises
    ------
    TypeError, ValueError
        If an integer is not in its range, if `epsilon` is not a finite number > 0 that exact coins can certify.

    Notes
    -----
    Records: arrays of zeros and ones, shape (n, k); packed bits, uint8, shape (n, ceil(k / 8)); or sets or lists of integers in
    [0, k) (None if missing). The order of a list does not matter; repeated options and more than `most` of them are refused.
    `clip` is refused.

    A record has d = k + `most` positions (one more if `optional`), and exactly `most` of them are its own: the options of the
    set, and as many fillers as it lacks. Reports: for `size` 1 one position as a code, else d packed bits with `size` ones.
    Decoded reports and estimates are the shares of the options; the fillers give the distribution of the number of
    ticks, `sizes`. O(n `most` d / 64) time.

    Privacy
    -------
    Exactly `epsilon_realized`-LDP for the whole set. The compiled kernel has no branch, loop or address that depends on the
    record or the coin; NumPy code that reads arrays and lists takes time that depends on the ticks.
    docs/proofs/set_selection.md.

    References
    ----------
    .. [1] S. Wang, L. Huang, Y. Nie, P. Wang, H. Xu, W. Yang, "PrivSet: set-valued data analyses with local differential
       privacy", INFOCOM 2018 (a threshold of 1).

    Examples
    --------
    >>> import numpy as np, ldpfast as ldp
    >>> mechanism = ldp.SetSelection(20, most=3, epsilon=2.0)
    >>> ticks = np.zeros((100_000, 20), bool)
    >>> ticks[:, 0], ticks[::2, 5] = True, True
    >>> counted = mechanism.collect(ticks, rng=1)
    >>> bool(abs(counted.estimate().value[5] - 0.5) < 0.03)
    True
    >>> bool(abs(mechanism.sizes(counted).value[2] - 0.5) < 0.05)
    True
    >>> mechanism.privatize([{0, 5}, set(), {19}], rng=1).shape
    (3,)
    """

    k: int
    most: int
    epsilon: float
    _: KW_ONLY
    optional: bool = False
    size: int | None = None
    threshold: int | None = None
    debiasing: AnyDebiasing = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        domain = self._set_checked(MAX_TICKS)
        k, most = self.k, self.most
        epsilon, optional = self.epsilon, self.optional
        if self.size is not None:
            _check.integer("size", self.size, 1, k + optional)
        if self.threshold is not None:
            _check.integer("threshold", self.threshold, 1, most)
        self._set_chosen(size=self.size, threshold=self.threshold)
        design = best_design(k, most, epsilon, optional, self.size, self.threshold)
        coin = _coins.of_set(epsilon, design.inside, design.outputs)
        law = SetSelectionLaw(domain, design, coin)
        line = law.line
        self._set(size=design.size, threshold=design.threshold)
        self.define(
            epsilon_realized=coin.epsilon_realized,
            domain=domain,
            report=law.report,
            debiasing=SupportDebiasing(k, law.supported, law.options, line) if design.size == 1 else line,
            kernel=law.kernel(),
            law=law,
            coin=coin,
        )


@dataclass(frozen=True)
class SetSelectionLaw(SetsLaw):
    """The distribution of a set of positions, which probably has at least some of those of the record."""

    domain: Sets
    design: SetDesign
    coin: _coins.SetCoin

    @cached_property
    def moments(self) -> SetMoments:
        """Probabilities of positions in a report."""
        return SetMoments.of(self.design, self.coin)

    @cached_property
    def line(self) -> Debiasing:
        return Debiasing.of(self.moments.own, self.moments.other)

    @property
    def report(self) -> Format:
        """Format of the reports."""
        design = self.design
        return (
            Codes(design.positions)
            if design.size == 1
            else Bits(design.positions, ones=design.size, leading=self.domain.k)
        )

    def kernel(self) -> Any:
        """Return the compiled kernel."""
        d, m = self.design.positions, self.design.own
        z = self.design.size
        if z == 1:
            return privatize.SetPosition(d, m, self.coin.heads)
        up_to = self.design.up_to if self.design.outputs <= NUMBERED else []
        return privatize.SetSelection(d, m, z, self.design.threshold, self.coin.heads, up_to, first_density(d - m, z))

    def supported(self, codes: AnyArray) -> Any:
        """Return which options the codes support."""
        return codes[:, np.newaxis] == np.arange(self.domain.k)

    def options(self, counts: Any) -> Any:
        """Return the counts of the options among those of all positions."""
        return counts[..., : self.domain.k]

    def hits(self, counts: AnyArray, n: Any) -> tuple[AnyArray, AnyArray]:
        k = self.domain.k
        hits = np.concatenate([counts[..., :k], counts[..., k + self.domain.most :]], axis=-1)
        return hits, np.broadcast_to(np.asarray(n, np.int64)[..., np.newaxis], hits.shape)

    def covariance(
        self, first: Floats, second: Floats, both: Floats, *, with_missing: bool | NDArray[np.bool_] = False
    ) -> Floats:
        return self.moments.covariance(first, second, both)

    def sizes(self, counts: AnyArray, n: int) -> tuple[Floats, Floats]:
        """Return the distribution of the number of ticks and its covariance matrix, from the counts of all positions.

        Filler number r is in a record if it has at most `most` - r ticks. Its share and that of the next one differ by the
        share of the sets with `most` - r ticks.
        """
        m, k = self.design.own, self.domain.k
        line = self.line
        share = np.asarray(line(counts[k:] / n), np.float64)
        both = np.minimum.outer(share, share)  # a later filler implies the earlier ones
        if self.domain.optional:  # a missing set has its own position, and all fillers but the last
            both[-1, :-1] = both[:-1, -1] = share[-1]
            both[-1, m - 1] = both[m - 1, -1] = 0.0
            both[-1, -1] = share[-1]
        covariance = self.moments.covariance(share[:, np.newaxis], share, both)
        np.fill_diagonal(covariance, line.variance(np.clip(share, 0, 1)))
        step = np.zeros((m + 1, len(share)))  # row s: share of filler m - s, minus that of the next one
        for s in range(m + 1):
            if s < m:
                step[s, m - s - 1] += 1
            if s > 0:
                step[s, m - s] -= 1
        value = step @ share
        value[m] += 1
        if self.domain.optional:  # a missing set has all fillers but the last, and no ticks
            step[1, -1] -= 1
            value[1] -= share[-1]
            value, step = among_answers(value, step, share[-1])
        return value, step @ covariance @ step.T / n

    def largest_probability(self) -> float:
        return float(max(self.coin.inside, self.coin.outside))

    def two_level(self) -> TwoLevel:
        design, coin = self.design, self.coin
        return TwoLevel.of_sets(coin.inside / coin.outside, design.inside, design.outputs, design.difference())

    def draw(self, records: AnyArray, people: PeopleCounts, generator: Generator) -> AnyArray:
        """Return the number of reports with each position.

        The number of positions of a record in its report has the same distribution for all records. Given that number, they
        are a uniform subset of the record, and the rest of the report is a uniform subset of the positions outside of it.
        """
        d, m = self.design.positions, self.design.own
        z = self.design.size
        own_counts = multinomial(generator, people, [float(p) for p in self.moments.counts])
        state = np.zeros(d, np.int64)
        numbers = np.arange(m + 1)
        for column, ones in enumerate(ones_by_column(generator, own_counts.T.copy(), m)):
            np.add.at(state, records[:, column].astype(np.intp), ones)
        others = np.zeros((d - m + 1, len(records)), np.int64)
        reached = z - numbers
        keep = (reached >= 0) & (reached <= d - m)
        others[reached[keep]] = own_counts.T[keep]
        free = np.ones((len(records), d), np.bool_)
        np.put_along_axis(free, records.astype(np.intp), False, axis=1)
        places = np.nonzero(free)[1].reshape(len(records), d - m)
        for column, ones in enumerate(ones_by_column(generator, others, d - m)):
            np.add.at(state, places[:, column], ones)
        return state

    def rows(self) -> list[list[int]] | None:
        """Return the channel from sets, ordered by their bits, the missing one last; reports by their code or their bits."""
        d, m = self.design.positions, self.design.own
        z = self.design.size
        inputs = sum(math.comb(self.domain.k, size) for size in range(m + 1)) + self.domain.optional
        outputs = d if z == 1 else 1 << d
        if inputs * outputs > CHANNEL_ENTRIES:
            return None
        inside = self.coin.heads * (self.design.outputs - self.design.inside)
        outside = ((1 << self.coin.bits) - self.coin.heads) * self.design.inside
        sets = [(sum(1 << member for member in members), members) for members in combinations(range(d), z)]
        rows = []
        for positions in self.records():
            record, row = set(positions), [0] * outputs
            for bits, members in sets:
                enough = len(record.intersection(members)) >= self.design.threshold
                row[members[0] if z == 1 else bits] = inside if enough else outside
            rows.append(row)
        return rows
