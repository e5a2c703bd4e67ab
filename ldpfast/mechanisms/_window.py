"""The discrete window mechanism for a number in an interval."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from fractions import Fraction
from functools import lru_cache, partial
from importlib import resources
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np

from .. import _check, _coins
from .._core import privatize
from .._typing import AnyArray, Floats
from ..domains import Interval
from ..privacy import ReportLaw, TwoLevel
from ..reports import Codes, Decoding
from ..results import NumberDebiasing
from ._draws import PeopleCounts, multinomial
from ._law import Law
from ._mechanism import Mechanism

if TYPE_CHECKING:
    from numpy.random import Generator

MAX_OUTPUTS = 256
MAX_EQUAL = 64  # codes with equally spaced inputs
MIXTURES = 1 << 20  # steps of the share of the bit in a mixture
SMALLEST_EPSILON = 1e-9  # of a design; words of 32 bits cannot certify as little
LARGEST_EPSILON = 40.0


@dataclass(frozen=True)
class WindowDesign:
    """A window of `width` codes for inputs 0, ..., `steps`, mixed with one bit, which has a share of mixed / 2^20.

    `values` are integers in proportion to the numbers that the codes are decoded to; without them, these are equally spaced.
    """

    steps: int
    width: int
    mixed: int = 0
    values: tuple[int, ...] = ()

    @property
    def codes(self) -> tuple[int, ...]:
        """Integers in proportion to the decoded codes."""
        outputs = self.steps + self.width
        return self.values or tuple(range(1 - outputs, outputs, 2))

    def moments(self, odds: float) -> tuple[Floats, Floats]:
        """Return the mean squares of the decoded window code for the inputs, and the inputs as numbers in [-1, 1]."""
        sums = window_sums(self)
        probability = 1 / (self.steps + self.width + (odds - 1) * self.width)
        squares = (np.array(self.codes) / (probability * (odds - 1) * sums[-1])) ** 2
        inside = np.lib.stride_tricks.sliding_window_view(squares, self.width).sum(axis=1)
        return np.asarray(probability * (squares.sum() + (odds - 1) * inside)), sums / sums[-1]


def window_sums(design: WindowDesign) -> AnyArray:
    """Return the sums of the codes over the window of each input. The inputs are in proportion to them."""
    sums = np.cumsum((0, *design.codes))
    return np.asarray(sums[design.width :] - sums[: -design.width])


def worst_variance(moments: Floats, inputs: Floats) -> float:
    """Return the largest variance over the interval [-1, 1], from the mean squares of the decoded report for the inputs."""
    slope = np.diff(moments) / np.diff(inputs)
    worst = np.clip(slope / 2, inputs[:-1], inputs[1:])  # the variance is concave between two inputs
    return float((moments[:-1] + slope * (worst - inputs[:-1]) - worst**2).max())


def _least_for_shares(start: Floats, end: Floats) -> float:
    """Return a number that the largest element of (1 - s) start + s end is not below, for any share s."""
    i, j = int(start.argmax()), int(end.argmax())
    first, second = end[i] - start[i], end[j] - start[j]
    if first >= 0:
        return float(start[i])
    if second <= 0:
        return float(end[j])
    return float(start[i] + first * (start[i] - start[j]) / (second - first))


def _variance_with_bit(moments: Floats, inputs: Floats, bit: float, mixed: int) -> float:
    """Return the largest variance if the bit, with this mean square, is reported instead with a share of `mixed`."""
    share = mixed / MIXTURES
    return worst_variance((1 - share) * moments + share * bit, inputs)


@lru_cache(maxsize=256)
def best_equal_design(epsilon: float, outputs: int) -> WindowDesign:
    """Return the design of least worst-case variance with equally spaced inputs and at most `outputs` codes.

    The two codes of the bit are not counted.
    """
    odds = math.exp(min(max(epsilon, SMALLEST_EPSILON), LARGEST_EPSILON))
    bit = ((odds + 1) / (odds - 1)) ** 2  # mean square of the decoded bit
    candidates: list[tuple[float, int, WindowDesign, Floats, Floats]] = []
    for width in range(1, outputs):
        for steps in range(1, outputs - width + 1):
            if math.gcd(steps, width) & (math.gcd(steps, width) - 1):
                continue  # the words could not be divided exactly
            moments, _ = WindowDesign(steps, width).moments(odds)
            inputs = np.linspace(-1, 1, steps + 1)
            least = _least_for_shares(moments - inputs**2, bit - inputs**2)
            candidates.append((least, len(candidates), WindowDesign(steps, width), moments, inputs))

    best = (math.inf, 0, WindowDesign(1, 1))
    for least, place, design, moments, inputs in sorted(candidates, key=itemgetter(0, 1)):
        if least > (1 + 1e-9) * best[0]:
            break
        variance = partial(_variance_with_bit, moments, inputs, bit)
        low, high = 0, MIXTURES - 1  # the variance is a convex function of the share
        if variance(0) <= variance(1):
            high = 0
        while low < high and least <= (1 + 1e-9) * best[0]:
            middle = (low + high) // 2
            here, there = variance(middle), variance(middle + 1)
            if here <= there:
                least = here - (there - here) * (middle - low)
                high = middle
            else:
                least = there - (here - there) * (high - middle - 1)
                low = middle + 1
        best = min(best, (variance(low), place, replace(design, mixed=low)), key=itemgetter(0, 1))
    return best[2]


@lru_cache(maxsize=1)
def table_of_designs() -> tuple[WindowDesign, ...]:
    """Return the designs with unequally spaced inputs that experiments/window_designs.py made."""
    rows = json.loads(resources.files(__package__).joinpath("window_designs.json").read_text())
    halves = [(row["width"], row["values"]) for row in rows]
    return tuple(
        WindowDesign(2 * len(half) - width, width, values=(*(-v for v in reversed(half)), *half))
        for width, half in halves
    )


@lru_cache(maxsize=256)
def best_design(epsilon: float, outputs: int) -> WindowDesign:
    """Return the design with at most `outputs` codes: with more than 64, the best one of the table and of those with 64."""
    if outputs <= MAX_EQUAL:
        return best_equal_design(epsilon, outputs)
    odds = math.exp(min(max(epsilon, SMALLEST_EPSILON), LARGEST_EPSILON))
    designs = [design for design in table_of_designs() if len(design.values) <= outputs]
    best = min(designs, key=lambda design: worst_variance(*design.moments(odds)))
    if outputs < MAX_OUTPUTS:
        # With all codes, those of the table are better from epsilon 0.15 on, and at most 0.5 % worse below.
        equal = best_equal_design(epsilon, MAX_EQUAL)
        if _variance(equal, odds) < worst_variance(*best.moments(odds)):
            return equal
    return best


def _variance(design: WindowDesign, odds: float) -> float:
    """Return the largest variance of a design with equally spaced inputs."""
    inputs, bit = np.linspace(-1, 1, design.steps + 1), ((odds + 1) / (odds - 1)) ** 2
    return _variance_with_bit(design.moments(odds)[0], inputs, bit, design.mixed)


@dataclass(frozen=True)
class Window(Mechanism):
    """The discrete window mechanism: one of few codes, where those next to the number are more probable.

    Its largest variance for one number is smaller than those of `SignBit` and `Laplace` for `epsilon` from 0.53 to 42, with 256
    codes for all `epsilon`. For people at both ends of the interval, `SignBit` has a smaller variance (`worst_variance`).

    Parameters
    ----------
    lower, upper : float
        Ends of the interval, finite, lower < upper.
    epsilon : float
        Privacy parameter, > 0 and finite.
    outputs : int, default 16
        Largest number of codes of the windows, in [2, 256]. Up to 64, two more codes are used for the bit, if there is one.

    Raises
    ------
    TypeError, ValueError
        If `lower` and `upper` are not finite with lower < upper; if `epsilon` is not a finite number > 0 that words of 32
        bits can certify; if `outputs` is not an integer in its range.

    Notes
    -----
    Records: floats in [lower, upper], shape (n,). Reports: codes, uint8, shape (n,). The number is rounded at random to one
    of M + 1 inputs. Input i is reported as one of M + w codes, where the w codes i, ..., i + w - 1 have e^epsilon times the
    probability of the others. O(n) time, 4 random bytes per number. `epsilon_realized` is at most 20.8, because words have 32
    bits.

    Up to 64 `outputs`, the inputs are equally spaced, and with a public probability the bit of `SignBit` is reported instead.
    M, w and this probability minimize the largest variance for one number. For epsilon = 1, 2, 4 and 8 and the interval
    [-1, 1] it is 4.27, 0.988, 0.159 and 0.0112 with 16 codes.

    With more `outputs`, the decoded numbers are free, which makes the inputs unequally spaced. M, w and these numbers are the
    best of a table, and the variances are 4.02, 0.873, 0.128 and 0.00657: within 2 % of the best that is known. The number is
    compared with all inputs, so the client takes a few nanoseconds more.

    Privacy
    -------
    Exactly `epsilon_realized`-LDP, from the numbers of words that give each code. No branch and no address depends on the
    record or the word. docs/proofs/window.md.

    Examples
    --------
    >>> import numpy as np, ldpfast as ldp
    >>> visits = np.random.default_rng(1).poisson(3, 20_000).clip(0, 20)
    >>> mechanism = ldp.Window(0, 20, epsilon=2.0)
    >>> mechanism.report_bits
    4
    >>> estimate = mechanism.run(visits, rng=1)
    >>> bool(abs(estimate.value - 3) < 0.3)
    True
    """

    lower: float
    upper: float
    epsilon: float
    _: KW_ONLY
    outputs: int = 16
    debiasing: NumberDebiasing = field(init=False, repr=False, compare=False)
    _design: WindowDesign = field(init=False, repr=False, compare=False)
    _coin: _coins.WindowCoin = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        lower, upper = _check.interval(self.lower, self.upper)
        epsilon = _check.positive("epsilon", self.epsilon)
        outputs = _check.integer("outputs", self.outputs, 2, MAX_OUTPUTS)
        self._set(lower=lower, upper=upper, epsilon=epsilon, outputs=outputs)
        design = best_design(epsilon, outputs)
        mixed = Fraction(design.mixed, MIXTURES)
        coin = _coins.window(epsilon, design.steps, design.width, mixed, design.values or None)
        self.define(
            epsilon_realized=coin.epsilon_realized,
            domain=Interval(lower, upper),
            report=Codes(coin.outputs + (2 if coin.bit_words else 0), onehot=False),
            debiasing=NumberDebiasing(_decoded(design, coin) * ((upper - lower) / 2) + (lower + upper) / 2),
            kernel=privatize.Window(
                lower, upper, coin, *(_segments(design, coin.fraction_bits) if design.values else ())
            ),
            law=WindowLaw(lower, upper, design, coin),
            _design=design,
            coin=coin,
        )

    @property
    def largest_variance(self) -> float:
        """Largest variance of a decoded report over all records in the interval."""
        return self._recipe.law.largest_variance  # type: ignore[attr-defined, no-any-return]


@dataclass(frozen=True)
class WindowLaw(Law):
    """The distribution of the window of a number, or of its bit."""

    lower: float
    upper: float
    design: WindowDesign
    coin: _coins.WindowCoin

    @property
    def half(self) -> float:
        """Half of the length of the interval."""
        return (self.upper - self.lower) / 2

    def moments(self) -> Floats:
        """Return the mean squares of the decoded reports of the inputs, for the interval [-1, 1]."""
        weights = np.array(_rows(self.coin), np.float64) / 2.0**32
        return np.asarray(weights @ _decoded(self.design, self.coin) ** 2)

    def inputs(self) -> Floats:
        """Return the inputs as numbers in [-1, 1]."""
        if not self.design.values:
            return np.linspace(-1, 1, self.design.steps + 1)
        sums = window_sums(self.design)
        return np.asarray(sums / sums[-1])

    def two_level(self) -> TwoLevel:
        return TwoLevel.of_kinds(self._kinds())

    def report_laws(self) -> Sequence[ReportLaw]:
        return [ReportLaw.of_kinds(self._kinds())]

    def _kinds(self) -> list[tuple[Fraction, Fraction, int, int, int]]:
        # S(x) is the window of an input, with one of two codes for the bit. Numbers between two inputs, and bits that are not
        # those of an end, are mixtures.
        coin, total = self.coin, 1 << 32
        kinds = [
            (
                Fraction(total - coin.bit_words, total),
                Fraction(coin.each + coin.per, coin.each),
                coin.width,
                coin.outputs,
                min(coin.width, coin.steps),
            )
        ]
        if coin.bit_words:
            kinds.append((Fraction(coin.bit_words, total), Fraction(coin.heads, coin.tails), 1, 2, 1))
        return kinds

    def variance(self, decoding: Decoding, records: Floats) -> Floats:
        position = np.clip((records.astype(np.float64) - self.lower) / self.half - 1, -1, 1)
        return np.asarray(self.half**2 * (np.interp(position, self.inputs(), self.moments()) - position**2))

    def draw(self, records: AnyArray, people: PeopleCounts, generator: Generator) -> AnyArray:
        steps, rows = self.coin.steps, np.array(_rows(self.coin), np.float64)
        position = (records.astype(np.float64) - self.lower) / (self.upper - self.lower) * steps
        if self.design.values:
            position = np.interp(2 / steps * position - 1, self.inputs(), np.arange(steps + 1))
        below = np.clip(np.floor(position), 0, steps - 1).astype(np.intp)
        part = np.clip(position - below, 0, 1)[:, np.newaxis]
        return np.asarray(multinomial(generator, people, (1 - part) * rows[below] + part * rows[below + 1]).sum(axis=0))

    @property
    def largest_variance(self) -> float:
        """As `Window.largest_variance`."""
        return self.half**2 * worst_variance(self.moments(), self.inputs())

    def worst_variance(self, decoding: Decoding) -> float:
        return self.half**2 * float(
            self.moments().max()
        )  # people at the inputs with the largest mean square, on both sides

    def rows(self) -> list[list[int]]:
        rows = _rows(self.coin)
        return [rows[0], rows[-1]]


def _rows(coin: _coins.WindowCoin) -> list[list[int]]:
    """Return the numbers of words that give each code, for all inputs."""
    rows = []
    for i in range(coin.steps + 1):
        row = [coin.each + (coin.per if i <= code < i + coin.width else 0) for code in range(coin.outputs)]
        if coin.bit_words:  # the threshold of the bit in the kernel is lower by at most two words
            ones = coin.tails + -((coin.tails - coin.heads) * i // coin.steps)
            row += [coin.bit_words - ones, ones]
        rows.append(row)
    return rows


def _decoded(design: WindowDesign, coin: _coins.WindowCoin) -> Floats:
    """Return the decoded codes for the interval [-1, 1]."""
    share = (1 << 32) - coin.bit_words
    unit = Fraction(share, int(window_sums(design)[-1]) * coin.per)
    codes = [unit * code for code in design.codes]
    if coin.bit_words:
        reach = Fraction(coin.bit_words, coin.heads - coin.tails)
        codes += [-reach, reach]
    return np.array([float(code) for code in codes])


def _segments(design: WindowDesign, fraction_bits: int) -> tuple[int, list[tuple[int, int, int]]]:
    """Return the shift and the segments between unequally spaced inputs, as the kernel needs them (window.h)."""
    sums = [int(total) for total in window_sums(design)]
    # Distances from the center, which need not be an input, and positions relative to that of the center.
    starts = [0, *(round(Fraction(total << 31, sums[-1])) for total in sums if total > 0)]
    positions = [max(0, 2 * j - design.steps % 2) << (fraction_bits - 1) for j in range(len(starts))]
    lengths = [after - before for before, after in itertools.pairwise(starts)]
    shift = 32 - (max(lengths) - 1).bit_length()
    slopes = [
        ((after - before) << (32 - shift)) // length
        for (before, after), length in zip(itertools.pairwise(positions), lengths, strict=True)
    ]
    return shift, list(zip(starts, positions, slopes, strict=False))
