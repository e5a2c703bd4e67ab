"""Privacy of reports that are shuffled before the server sees them."""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from ._directed_rounding import float_or_array, raise_until
from ._guarantee import Guarantee
from ._shuffled_counts import ShuffledCounts
from ._two_level import TwoLevel


class Randomizer(Protocol):
    """The part of a mechanism that `shuffled` uses."""

    @property
    def epsilon_realized(self) -> float:
        """Epsilon of one report."""
        ...

    @property
    def two_level(self) -> TwoLevel | None:
        """Parameters of the channel, if it has two levels."""
        ...


Shuffleable = Randomizer | Guarantee | TwoLevel | float


def shuffled(mechanism_or_epsilon: Shuffleable, n: int, delta: float) -> Guarantee:
    """Return the guarantee of n reports that are shuffled before the server sees them.

    Parameters
    ----------
    mechanism_or_epsilon : Mechanism, TwoLevel, Guarantee or float
        The channel, the same for all people. For a mechanism without `two_level`, a `Guarantee` with definition "local", or a
        number epsilon, the bound is for all channels with this epsilon.
    n : int
        Number of reports that are shuffled together, at least 1. Reports of people who may collude with the server do not
        count.
    delta : float
        In [0, 1).

    Returns
    -------
    guarantee : Guarantee
        With definition "approximate": the smallest epsilon that is found for `delta`, rounded up, and at most the epsilon
        of one report. It is ideal if that of the mechanism is.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of its range; if a `Guarantee` is not "local".

    Privacy
    -------
    The shuffler permutes the reports uniformly at random, and removes everything else that could link a report to a person.
    Everything that is needed to decode a report must be in the report: a server that knows the public seed, direction or
    question of each person can tell the reports apart, and there is no amplification. With one person (n = 1) there is none
    either, and the guarantee is the same as for a single report.

    Notes
    -----
    Each of the other n - 1 reports is, with probability `common_rate`, a fair coin toss between the two sets on which the
    records differ. It hides the person's own report if that is in these sets, which has probability `affected`. Other reports,
    with probability `hiding_rate`, hide it if it is not. Suppose that the server is told which reports do neither. The numbers
    of reports of each kind are then all that depends on the record, and the bound is the hockey-stick divergence of their
    distributions. See docs/proofs/shuffling.md. For randomized response it is the bound of [1]_ with a larger common rate.

    The result covers the errors of floating-point arithmetic. Parameters are rounded toward less privacy, every binomial
    probability is taken with a relative error of 1e-8, which is more than it has (tests compare them with exact integers and
    with sums of ratios), and 1e-250 is added to delta for counts beyond 40 standard deviations. For many people, counts are
    merged into intervals, each with the largest divergence of its counts, which increases epsilon by less than 0.3 %.
    O(sqrt(n)) time, a fraction of a second for n = 1e9.

    For several shuffled rounds, use `compose_rounds`.

    References
    ----------
    .. [1] V. Feldman, A. McMillan, K. Talwar, "Hiding Among the Clones: A Simple and Nearly Optimal Analysis of Privacy
       Amplification by Shuffling", FOCS 2021.

    Examples
    --------
    >>> import ldpfast as ldp
    >>> from ldpfast.privacy import shuffled
    >>> round(shuffled(ldp.RandomizedResponse(100, 4.0), 10_000, 1e-8).epsilon, 4)
    0.2928
    >>> round(shuffled(4.0, 10_000, 1e-8).epsilon, 4)  # any mechanism
    0.7546
    """
    channel, largest, ideal = channel_of(mechanism_or_epsilon)
    n = _check.integer("n", n, 1)
    target = float(_check.within("delta", _check.real("delta", delta), 0, 1, "[)"))
    counts = ShuffledCounts.of(channel, n)
    return Guarantee("approximate", min(largest, _least_epsilon(counts, target, largest)), target, ideal=ideal)


def shuffled_delta(mechanism_or_epsilon: Shuffleable, n: int, epsilon: ArrayLike) -> Any:
    """Return the delta of n shuffled reports at a given epsilon.

    Parameters
    ----------
    mechanism_or_epsilon : Mechanism, TwoLevel, Guarantee or float
        The channel, as for `shuffled`.
    n : int
        Number of reports that are shuffled together, at least 1.
    epsilon : array_like
        At least 0.

    Returns
    -------
    delta : float or ndarray
        Delta of all reports together, of the shape of `epsilon`, rounded up as for `shuffled`. It is 0 from the epsilon of one
        report on.

    Raises
    ------
    TypeError, ValueError
        As for `shuffled`; if `epsilon` is negative or not finite.

    Privacy
    -------
    As for `shuffled`: public seeds must be part of the shuffled reports.

    Examples
    --------
    >>> import ldpfast as ldp
    >>> bool(shuffled_delta(ldp.Warner(1.0), 10_000, 0.06) < 1e-8)
    True
    """
    channel, largest, _ = channel_of(mechanism_or_epsilon)
    n = _check.integer("n", n, 1)
    epsilons = _check.within("epsilon", epsilon, 0, math.inf, "[)")
    counts = ShuffledCounts.of(channel, n)
    deltas = [min(1.0, counts.delta(float(e))) if e < largest else 0.0 for e in epsilons.flat]
    return float_or_array(np.array(deltas).reshape(epsilons.shape))


def channel_of(given: Any, name: str = "mechanism_or_epsilon") -> tuple[TwoLevel, float, bool]:
    """Return the parameters of a channel, the epsilon of one report, and whether it is ideal."""
    if isinstance(given, TwoLevel):
        return given, given.epsilon, False
    if isinstance(given, Guarantee):
        if given.definition != "local":
            raise ValueError(f"{name} must be a 'local' guarantee, got {given.definition!r}")
        return TwoLevel.arbitrary(given.epsilon), given.epsilon, given.ideal
    if hasattr(given, "epsilon_realized"):
        epsilon, parameters = float(given.epsilon_realized), getattr(given, "two_level", None)
        ideal = getattr(getattr(given, "guarantee", None), "ideal", False)
        return TwoLevel.arbitrary(epsilon) if parameters is None else parameters, epsilon, bool(ideal)
    epsilon = _check.positive(name, given)
    return TwoLevel.arbitrary(epsilon), epsilon, False


def _least_epsilon(counts: ShuffledCounts, delta: float, largest: float) -> float:
    """Return the smallest epsilon at which the bound is at most delta, rounded up; `largest` if there is none below."""
    from scipy.optimize import brentq

    if counts.delta(0.0) <= delta:
        return 0.0
    if counts.delta(largest) > delta:
        return largest
    root = brentq(lambda e: math.log(counts.delta(e)) - math.log(delta), 0.0, largest, xtol=1e-300, rtol=1e-12)
    return float(raise_until(lambda e: counts.delta(float(e)) <= delta, root, largest))
