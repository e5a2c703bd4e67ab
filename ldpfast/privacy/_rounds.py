"""Privacy of several rounds of shuffled reports of the same people."""

from __future__ import annotations

import math
from fractions import Fraction

from .. import _check, _coins
from ._directed_rounding import UNIT
from ._guarantee import Guarantee
from ._loss_grid import Curve, LossGrid, reach
from ._shuffled_reports import ShuffledReports
from ._shuffling import Shuffleable, laws_of, shuffled

SPARE = 1e-5  # share of delta for losses that are taken as infinite
INTERVALS = 256  # of the losses
LARGEST = 700.0  # epsilon whose exponential is a double; a smaller one has a larger delta


def compose_rounds(mechanism: Shuffleable, rounds: int, *, n: int, delta: float, sampling: float = 1.0) -> Guarantee:
    """Return the guarantee of several rounds, in each of which the reports of n people are shuffled.

    Parameters
    ----------
    mechanism : Mechanism, Survey, Design, Channel, TwoLevel, Guarantee or float
        The channel of every round, as for `shuffled`.
    rounds : int
        Number of rounds in which a person reports, at least 1; with `sampling`, of all rounds for which she can be drawn.
    n : int
        Number of reports that are shuffled together in each round, at least 1, without those of people who may collude with the
        server.
    delta : float
        In [0, 1), for all rounds together.
    sampling : float, default 1
        Share of all people who report in a round, in (0, 1], if they are drawn in secret: n of n / sampling people, uniformly,
        without replacement and anew in every round.

    Returns
    -------
    guarantee : Guarantee
        With definition "approximate": an epsilon that holds at `delta`, rounded up; at most `rounds` times that of one report.
        It is ideal if that of the mechanism is.

    Raises
    ------
    TypeError, ValueError
        As for `shuffled`; if `rounds` is not an integer >= 1, or too large for the grid of losses (about 10^9).

    Privacy
    -------
    The question of a round may depend on the reports of all earlier rounds, as in training. Its epsilon may not be larger, and
    every round has fresh coins. The conditions of `shuffled` hold in every round: nothing may link the
    reports of a person in different rounds. If something does, use `compose` with the guarantees of the single reports.

    With `sampling` below 1 nobody but the sampler may know who takes part in a round. It does not hold for a fixed cohort, for
    people who decide by themselves, nor if the server, which sees who connects, is the adversary. If some people may collude,
    the number of honest ones who are drawn is random: `n` must be at most, and `sampling` at least, what all rounds have.

    Notes
    -----
    All deltas of one round (`shuffled_delta`) are at most those of a pair of distributions. The distribution of the sum of
    their losses is computed on a grid, by a Fourier transform of the tilted distribution with a bound on its error. The result
    of `composition_epsilon`, from one epsilon and delta of each round, is up to 12 times larger. See docs/proofs/shuffling.md.
    A few seconds, for any number of rounds. With a share q of sampled people, the delta of a round at ln(1 + q (e^x - 1)) is q
    times that of `shuffled_delta` at x [3]_.

    References
    ----------
    .. [1] Y. Zhu, J. Dong, Y.-X. Wang, "Optimal Accounting of Differential Privacy via Characteristic Function", AISTATS 2022.
    .. [2] V. Doroshenko, B. Ghazi, P. Kamath, R. Kumar, P. Manurangsi, "Connect the Dots: Tighter Discrete Approximations of
       Privacy Loss Distributions", PETS 2022.
    .. [3] B. Balle, G. Barthe, M. Gaboardi, "Privacy Amplification by Subsampling: Tight Analyses via Couplings and
       Divergences", NeurIPS 2018.

    Examples
    --------
    >>> import ldpfast as ldp
    >>> from ldpfast.privacy import compose_rounds
    >>> round(compose_rounds(ldp.Warner(4.0), 100, n=10_000, delta=1e-6).epsilon, 2)
    3.49
    """
    laws, largest, ideal = laws_of(mechanism, "mechanism")
    rounds, n = _check.integer("rounds", rounds, 1), _check.integer("n", n, 1)
    target = float(_check.within("delta", _check.real("delta", delta), 0, 1, "[)"))
    share = float(_check.within("sampling", _check.real("sampling", sampling), 0, 1, "(]"))
    if rounds == 1 and share == 1:
        return shuffled(mechanism, n, target)
    curve: Curve = ShuffledReports(laws, n, largest).quick_delta
    if share < 1:
        amplified = math.nextafter(math.log1p(share * math.expm1(largest)) * (1 + 8 * UNIT), math.inf)
        curve, largest = _sampled(curve, share), min(largest, amplified)
    basic = _coins.round_up(Fraction(largest) * rounds)
    epsilon = basic if target == 0 else _epsilon(curve, largest, rounds, target, basic)
    return Guarantee("approximate", epsilon, target, ideal=ideal)


def _sampled(curve: Curve, share: float) -> Curve:
    """Return the bound of a round in which a share of the people report, who are drawn in secret.

    A person who is not drawn is like one who is drawn in the place of another one, by advanced joint convexity.
    """

    def sampled(epsilon: float) -> float:
        inner = math.log1p(math.expm1(min(epsilon, LARGEST)) / share) * (1 - 8 * UNIT)
        return math.nextafter(share * curve(inner), 1.0)

    return sampled


def _epsilon(curve: Curve, largest: float, rounds: int, delta: float, basic: float) -> float:
    if rounds * curve(0.0) <= delta / 2:  # total variations add up
        return 0.0
    high = reach(curve, largest, 2 * SPARE * delta / rounds)
    return LossGrid.of_curves(curve, curve, high, INTERVALS).composed(rounds, delta).epsilon(delta, basic)
