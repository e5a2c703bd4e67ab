"""Planning a study: how many people, which epsilon, which mechanism."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _check
from . import _central, _local
from ._bound import Bound, Floats
from ._contraction import effective_sample_size
from ._local import CURVATURE, STEP_EXPONENT

if TYPE_CHECKING:
    from ..mechanisms import Mechanism

PROBLEMS: dict[str, Callable[..., Bound]] = {
    "mean_1d": _local.mean_1d,
    "median": _local.median,
    "mean_l2": _local.mean_l2,
    "sparse_mean": _local.sparse_mean,
    "multinomial": _local.multinomial,
    "logistic": _local.logistic,
    "density": _local.density,
    "gaussian_mean": _local.gaussian_mean,
    "central_mean": _central.central_mean,
    "central_support": _central.central_support,
    "central_density": _central.central_density,
    "central_range": _central.central_range,
    "central_ges": _central.central_ges,
}
MOST_PEOPLE = 1 << 53  # beyond, doubles skip numbers of people
LEAST_EPSILON, MOST_EPSILON = 1e-9, 44.0  # the coins of the library end there


def needs(problem: str) -> tuple[list[str], list[str]]:
    """Parameters of a problem beside n and epsilon: those without a default, and the others."""
    parameters = inspect.signature(PROBLEMS[problem]).parameters
    beside = [p for name, p in parameters.items() if name not in ("n", "epsilon")]
    return [p.name for p in beside if p.default is p.empty], [p.name for p in beside if p.default is not p.empty]


# One mechanism --------------------------------------------------------------------------------------------------------


def worst_variance(mechanism: Mechanism) -> float:
    """Of a coordinate of one decoded report of somebody drawn at random: noise and sampling, for the worst population."""
    from ..mechanisms import L2Ball

    if isinstance(mechanism, L2Ball):
        return float(mechanism.scale**2 / mechanism.dim)
    if hasattr(mechanism, "debiasing"):  # a decoded bit has two values: (one - mean) (mean - zero)
        line = mechanism.debiasing
        categories = not hasattr(mechanism, "lower") and not hasattr(mechanism, "radius")
        low, high = (0.0, 1.0) if categories else mechanism.domain.range
        return float(line.variance(min(max((line.zero + line.one) / 2, low), high)))
    low, high = mechanism.domain.range
    noise: Any = mechanism.report
    return float(noise.noise_variance + noise.grid**2 / 4 + ((high - low) / 2) ** 2)


def report_bits(mechanism: Mechanism) -> int:
    """Size of one report in bits, without padding."""
    from ..mechanisms._reports import Bits, Codes

    report: Any = mechanism.report
    if isinstance(report, Bits):
        return int(report.k)
    if isinstance(report, Codes):
        return max(1, math.ceil(math.log2(report.k)))
    return 8 * mechanism.report_bytes


def _goal(target: Any, error: float, confidence: float | None, fixed: dict[str, Any]) -> tuple[Any, float]:
    """The error of a target as a function of arguments, and how small it has to be."""
    from ..mechanisms import Mechanism

    goal = _check.positive("error", error)
    level = None if confidence is None else _check.probability("confidence", confidence)
    if isinstance(target, Mechanism):
        _check.keywords("sample_size of a mechanism", fixed, ())
        z = 1.0
        if level is not None:
            from scipy.special import ndtri

            z = float(ndtri((1 + level) / 2))

        def standard(n: Any, epsilon: float | None = None) -> Any:
            chosen = target if epsilon is None else replace(target, epsilon=epsilon)  # type: ignore[type-var]
            return z * np.sqrt(worst_variance(chosen) / n)

        return standard, goal
    if not callable(target):
        raise TypeError(f"target must be a function of bounds or a mechanism, got {type(target).__name__}")
    if level is not None:
        if "beta" in inspect.signature(target).parameters:
            fixed = {**fixed, "beta": 1 - level}
        else:
            goal *= 1 - level  # Markov's inequality
    side = fixed.pop("side", "upper")
    _check.choice("side", side, ("upper", "lower"))

    def worst(n: Any, **more: Any) -> Any:
        return getattr(target(n=n, **more, **fixed), side)

    return worst, goal


def sample_size(target: Any, error: float, *, confidence: float | None = None, **fixed: Any) -> int:
    """The smallest number of people that a study needs.

    Parameters
    ----------
    target : callable or Mechanism
        A function of this module such as `median`; or a mechanism, such as ``SignBit(0, 1, 1.0)``.
    error : float
        > 0. Of a function: of its loss (squared error, half-width, ...). Of a mechanism: the standard error of a coordinate,
        for the worst population.
    confidence : float, optional
        In (0, 1): the error is to be kept with this probability instead of on average. Of a mechanism: the half-width of a
        normal interval. Of `gaussian_mean`: its 1 - beta. Of another function: by Markov's inequality.
    **fixed
        The other arguments of the function: numbers. ``side="lower"``: how many people any procedure needs.

    Returns
    -------
    n : int
        The upper bound (or lower, by `side`) at n is at most `error`, at n - 1 it is not.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range, or even 2^53 people are too few.

    Notes
    -----
    A few hundred evaluations.

    Examples
    --------
    >>> from ldpfast import bounds
    >>> bounds.sample_size(bounds.mean_l2, 0.01, dim=10, epsilon=1.0)
    6998
    """
    worst, goal = _goal(target, error, confidence, dict(fixed))
    return _least_n(worst, goal)


def _least_n(worst: Callable[..., Any], goal: float) -> int:
    powers = 2.0 ** np.arange(54)
    values = np.asarray(worst(powers))
    if values.ndim != 1:
        raise ValueError("the arguments beside n must be numbers, not arrays")
    enough = values <= goal
    if not enough.any():
        raise ValueError(
            f"error must be reachable with at most {MOST_PEOPLE} people, got {goal:g} where {values[-1]:g} is"
        )
    at = int(np.argmax(enough))
    low, high = (0, 1) if at == 0 else (int(powers[at - 1]), int(powers[at]))
    while high - low > 1:
        step = max(1, (high - low) // 64)
        tried = np.arange(low + step, high, step)
        if len(tried) == 0:
            break
        good = np.asarray(worst(tried.astype(np.float64))) <= goal
        first = int(np.argmax(good)) if good.any() else len(tried)
        high = int(tried[first]) if first < len(tried) else high
        low = int(tried[first - 1]) if first > 0 else low
    return high


def epsilon_for(target: Any, error: float, *, n: int, confidence: float | None = None, **fixed: Any) -> float:
    """The smallest epsilon with which a number of people suffices.

    Parameters
    ----------
    target : callable or Mechanism
        As for `sample_size`; the epsilon of a mechanism does not matter.
    error : float
    n : int
        People.
    confidence : float, optional
    **fixed
        As for `sample_size`.

    Returns
    -------
    epsilon : float
        Between 1e-9 and 44, to nine digits, rounded up.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range, or no epsilon up to 44 suffices.

    Examples
    --------
    >>> from ldpfast import bounds
    >>> round(bounds.epsilon_for(bounds.mean_l2, 0.01, n=6998, dim=10), 3)
    1.0
    """
    worst, goal = _goal(target, error, confidence, dict(fixed))
    people = _check.integer("n", n, 1, MOST_PEOPLE)

    def reached(epsilon: float) -> bool:
        try:
            return bool(worst(n=float(people), epsilon=epsilon) <= goal)
        except ValueError:
            if callable(target):
                raise
            return False  # coins do not exist for so small an epsilon

    most = most_epsilon(target, fixed)
    if not reached(most):
        raise ValueError(f"error must be reachable with epsilon <= {most:g} and n = {people}, got {goal:g}")
    low, high = LEAST_EPSILON, most
    if reached(low):
        return low
    while high > low * (1 + 1e-9):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high


def most_epsilon(target: Any, fixed: dict[str, Any]) -> float:
    """The largest level that makes sense: a distance is at most 1."""
    parameter = inspect.signature(target).parameters.get("privacy") if inspect.isfunction(target) else None
    privacy = fixed.get("privacy", None if parameter is None else parameter.default)
    return 1.0 if privacy == "tv" else MOST_EPSILON


# All mechanisms -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """One way to solve a problem.

    Attributes
    ----------
    mechanism : str
        What it is called in the library.
    error : float
        In the loss of the problem, for the worst law.
    kind : {"exact", "bound", "limit"}
        What is known of the error: the exact variance of the coins in use, with the largest bias where there is one; a proved
        upper bound; or the normal limit.
    bits : int
        Of one report.
    efficiency : float
        The lower bound over the error.
    """

    mechanism: str
    error: float
    kind: str
    bits: int
    efficiency: float


@dataclass(frozen=True, eq=False)
class Comparison:
    """All mechanisms of the library that solve a problem, the best first; printed as a table.

    Attributes
    ----------
    problem : str
    n, epsilon : float
    bound : Bound
    rows : tuple of Row
    """

    problem: str
    n: float
    epsilon: float
    bound: Bound
    rows: tuple[Row, ...]

    @property
    def best(self) -> Row:
        """The row with the smallest error."""
        return self.rows[0]

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain types."""
        described = {"problem": self.problem, "n": self.n, "epsilon": self.epsilon, "bound": self.bound.to_dict()}
        return {**described, "rows": [dict(vars(row)) for row in self.rows]}

    def __str__(self) -> str:
        width = max((len(row.mechanism) for row in self.rows), default=0)
        lines = [
            f"{self.problem}, n = {self.n:,.0f}, epsilon = {self.epsilon:g}: {self.bound.loss}",
            f"{'':{width}} {'error':>10} {'known':>6} {'bits':>7} {'efficiency':>10}",
        ]
        lines += [
            f"{row.mechanism:{width}} {row.error:10.4g} {row.kind:>6} {row.bits:7d} {row.efficiency:10.3g}"
            for row in self.rows
        ]
        return "\n".join(lines)


Solution = tuple[str, float, str, int]  # name, error, kind, bits


def _mean_1d(n: int, epsilon: float, moment: float, radius: float = 1.0) -> list[Callable[[], Solution]]:
    from ..estimation import TruncatedMean
    from ..mechanisms import Laplace, SignBit

    if math.isinf(moment):

        def plain(kind: Any) -> Solution:
            mechanism = kind(-radius, radius, epsilon)
            return kind.__name__, worst_variance(mechanism) / n, "exact", report_bits(mechanism)

        return [lambda: plain(SignBit), lambda: plain(Laplace)]

    def truncated(noise: str, rule: str) -> Solution:
        problem = TruncatedMean(epsilon, moment, radius, n, rule, noise)
        name = f"TruncatedMean(rule={rule!r}, noise={noise!r})"
        return name, problem.mean_squared_error().total, "exact", report_bits(problem.mechanism)

    kinds = [(noise, rule) for noise in ("laplace", "sign-bit") for rule in ("opt", "paper")]
    return [lambda noise=noise, rule=rule: truncated(noise, rule) for noise, rule in kinds]  # type: ignore[misc]


def _median(n: int, epsilon: float, radius: float) -> list[Callable[[], Solution]]:
    error = radius * 4 / 3 / math.tanh(epsilon / 2) / math.sqrt(n)
    return [lambda: ("MedianSGD", error, "bound", 1)]


def _mean_l2(n: int, dim: int, epsilon: float, radius: float = 1.0) -> list[Callable[[], Solution]]:
    from ..mechanisms import L2Ball, LaplaceVector

    def ball() -> Solution:
        mechanism = L2Ball(dim, epsilon, radius)
        return "VectorMean (L2Ball)", mechanism.scale**2 / n, "exact", report_bits(mechanism)

    def laplace() -> Solution:
        mechanism = LaplaceVector(dim, epsilon, radius)
        report: Any = mechanism.report
        noise = report.noise_variance + mechanism.grid**2 / 4
        return "LaplaceVector", (dim * noise + radius**2) / n, "exact", report_bits(mechanism)

    return [ball, laplace]


def _sparse_mean(n: int, dim: int, epsilon: float, radius: float = 1.0) -> list[Callable[[], Solution]]:
    from ..mechanisms import LinfBall

    def solve(ties: str, penalised: bool) -> Solution:
        b2, log = LinfBall(dim, epsilon, radius, ties).scale ** 2, 2 * math.log(2 * dim * n)
        if penalised:
            return "SparseMean", b2 / n * (1 + math.sqrt(log)) ** 2 + 2 * b2 / n**2, "bound", dim
        return f"LinfBall(ties={ties!r}), no penalty", dim * b2 / n, "exact", dim

    return [lambda: solve("keep", True), lambda: solve("keep", False), lambda: solve("thin", False)]


def _multinomial(n: int, k: int, epsilon: float) -> list[Callable[[], Solution]]:
    from ..mechanisms import LaplaceOneHot, RandomizedResponse, UnaryEncoding

    def solve(name: str, mechanism: Any) -> Solution:
        if hasattr(mechanism, "debiasing"):
            each = float(mechanism.debiasing.variance(1 / k))
        else:
            each = mechanism.report.noise_variance + (1 - 1 / k) / k
        return name, k * each / n, "exact", report_bits(mechanism)

    return [
        lambda: solve("RandomizedResponse", RandomizedResponse(k, epsilon)),
        lambda: solve("UnaryEncoding(symmetric)", UnaryEncoding(k, epsilon)),
        lambda: solve("UnaryEncoding(optimized)", UnaryEncoding(k, epsilon, "optimized")),
        lambda: solve("LaplaceOneHot", LaplaceOneHot(k, epsilon)),
    ]


def _logistic(n: int, dim: int, epsilon: float, radius: float = 1.0) -> list[Callable[[], Solution]]:
    def descent() -> Solution:
        mechanism = least_curvature_descent(dim, epsilon, radius)
        b = STEP_EXPONENT
        later = (1 - 8.0 ** (b - 1)) / (1 - b) * 8 / 7 * b / CURVATURE**2 * n**-b
        return "GradientDescent (linf)", dim * mechanism.variance * later / radius**4, "bound", dim

    return [descent]


def least_curvature_descent(dim: int, epsilon: float, radius: float = 1.0) -> Any:
    """The protocol of the upper bound of `logistic`."""
    from ..estimation import GradientDescent

    return GradientDescent(
        "logistic",
        dim,
        epsilon,
        norm="linf",
        radius=radius,
        eta0=STEP_EXPONENT / (CURVATURE * radius**2),
        exponent=STEP_EXPONENT,
        projection=1 / (radius * math.sqrt(dim)),
    )


def _density(
    n: int, epsilon: float, smoothness: float, radius: float = 1.0, family: str = "sobolev"
) -> list[Callable[[], Solution]]:
    from ..estimation import HistogramDensity, SeriesDensity

    def terms() -> Solution:
        problem = SeriesDensity(epsilon, n=n, smoothness=smoothness, radius=radius)
        k = problem.terms
        risk = k * problem.mechanism.scale**2 / n + radius**2 * (k + 1.0) ** (-2 * smoothness)
        return f"SeriesDensity, {k} terms", risk, "exact", k

    def bins(noise: str) -> Solution:
        problem = HistogramDensity(epsilon, n=n, lipschitz=radius, noise=noise)
        many: int = problem.n_bins
        mechanism: Any = problem.mechanism
        unary = hasattr(mechanism, "debiasing")
        each = (
            mechanism.debiasing.variance(1 / many) if unary else mechanism.report.noise_variance + (1 - 1 / many) / many
        )
        risk = radius**2 / (12 * many**2) + many**2 * float(each) / n
        return f"HistogramDensity({noise}), {many} bins", risk, "exact", report_bits(mechanism)

    if family == "lipschitz":
        return [lambda: bins("unary"), lambda: bins("laplace")]
    return [terms]


def _gaussian_mean(
    n: int, epsilon: float, sigma: float, beta: float = 0.05, mu_bound: float | None = None
) -> list[Callable[[], Solution]]:
    from scipy.special import ndtri

    from ..estimation import GaussianMean

    reach = 1024 * sigma if mu_bound is None else mu_bound

    def two_rounds(variant: str) -> Solution:
        protocol = GaussianMean(epsilon, sigma=sigma, mu_bound=reach, variant=variant)
        plan = protocol.plan(n)
        if plan.kappa < plan.safe_kappa:
            raise ValueError(f"n must be large enough for the search of GaussianMean({variant}), got {n}")
        second = sum(plan.rounds[1])
        width = -float(ndtri(beta / 2)) * sigma * math.sqrt(math.pi / 2) / math.tanh(epsilon / 2) / math.sqrt(second)
        return f"GaussianMean({variant})", width, "limit", 2

    return [lambda: two_rounds("robust"), lambda: two_rounds("paper")]


SOLUTIONS: dict[str, Callable[..., list[Callable[[], Solution]]]] = {
    "mean_1d": _mean_1d,
    "median": _median,
    "mean_l2": _mean_l2,
    "sparse_mean": _sparse_mean,
    "multinomial": _multinomial,
    "logistic": _logistic,
    "density": _density,
    "gaussian_mean": _gaussian_mean,
}


def compare(problem: str, n: int, epsilon: float, **fixed: Any) -> Comparison:
    """All mechanisms of the library that solve a problem of the local model, side by side.

    Parameters
    ----------
    problem : str
        The name of a function: "mean_1d", "median", "mean_l2", "sparse_mean", "multinomial", "logistic", "density" or
        "gaussian_mean".
    n : int
        People.
    epsilon : float
    **fixed
        The other arguments of the function: numbers.

    Returns
    -------
    comparison : Comparison
        The best first. Mechanisms whose coins refuse this epsilon are left out.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range; if no mechanism takes this epsilon.

    Examples
    --------
    >>> from ldpfast import bounds
    >>> bounds.compare("multinomial", 10_000, 1.0, k=4).best.mechanism
    'RandomizedResponse'
    """
    name = _check.choice("problem", problem, SOLUTIONS)
    people = _check.integer("n", n, 1, MOST_PEOPLE)
    told = PROBLEMS[name](n=people, epsilon=epsilon, **fixed)
    if np.ndim(told.lower):
        raise ValueError("the arguments must be numbers, not arrays")
    for word in ("dim", "k"):
        if word in fixed:
            fixed[word] = int(fixed[word])
    fixed.pop("mode", None)
    rows, refusals = [], []
    for solve in SOLUTIONS[name](n=people, epsilon=float(epsilon), **fixed):
        try:
            label, error, kind, bits = solve()
        except ValueError as refusal:
            refusals.append(refusal)
            continue
        rows.append(Row(label, float(error), kind, bits, float(told.lower) / float(error)))
    if not rows:
        raise refusals[0]
    return Comparison(name, float(people), float(epsilon), told, tuple(sorted(rows, key=lambda row: row.error)))


def curves(problem: str, n: Floats, epsilon: Floats, **fixed: Any) -> dict[str, Floats]:
    """Errors of all mechanisms along pairs of n and epsilon; NaN where one is refused."""
    found: dict[str, Floats] = {}
    for at, (people, level) in enumerate(zip(n, epsilon, strict=True)):
        try:
            rows = compare(problem, int(people), float(level), **dict(fixed)).rows
        except ValueError:
            continue
        for row in rows:
            label = row.mechanism.partition(",")[0] if problem == "density" else row.mechanism
            found.setdefault(label, np.full(len(n), np.nan))[at] = row.error
    return found


# The command line -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Plan:
    """What ``python -m ldpfast plan`` prints.

    Attributes
    ----------
    problem : str
    fixed : dict
        The arguments of the problem.
    n : int
    epsilon : float
    error : float or None
        What was asked for, where it was.
    confidence : float or None
    least_n : int or None
        How many people any procedure needs for that error; None where nothing says so.
    bound : Bound
        At this n and epsilon.
    comparison : Comparison or None
        Of the mechanisms of the local model.
    """

    problem: str
    fixed: dict[str, Any]
    n: int
    epsilon: float
    error: float | None
    confidence: float | None
    least_n: int | None
    bound: Bound
    comparison: Comparison | None

    @property
    def local(self) -> bool:
        """Whether each record is private by itself."""
        return self.problem in SOLUTIONS

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain types."""
        names = ("problem", "n", "epsilon", "error", "confidence", "least_n")
        described: dict[str, Any] = {name: getattr(self, name) for name in names}
        described["arguments"] = {k: (str(v) if v == math.inf else v) for k, v in self.fixed.items()}
        described["bound"] = self.bound.to_dict()
        if self.comparison is not None:
            described["effective_sample_size"] = effective_sample_size(self.n, self.epsilon)
            described["mechanisms"] = self.comparison.to_dict()["rows"]
        return described

    def __str__(self) -> str:
        bound, arguments = self.bound, ", ".join(f"{name} = {value}" for name, value in self.fixed.items())
        lines = [
            f"{self.problem}{': ' if arguments else ''}{arguments}",
            f"n = {self.n:,}, epsilon = {self.epsilon:.4g}",
        ]
        if self.error is not None:
            how = "on average" if self.confidence is None else f"with probability {self.confidence:g}"
            lines.append(
                f"are enough for {'an' if bound.loss[0] in 'aeiou' else 'a'} {bound.loss} of {self.error:g} {how}"
            )
        if self.least_n is not None:
            lines.append(f"with fewer than {self.least_n:,} people no procedure reaches it with this epsilon")
        lines += [
            f"{bound.loss}: at least {bound.lower:.4g} for every procedure; proved for ours: at most {bound.upper:.4g}",
            f"an estimator without privacy {bound.nonprivate:.4g}; published rate {bound.rate:.4g}",
        ]
        if self.local:
            lines.append(
                f"one yes or no of each tells as much as from {effective_sample_size(self.n, self.epsilon):,.0f} people "
                "without privacy"
            )
        if self.comparison is not None:
            lines += ["", *str(self.comparison).split("\n")[1:]]
        return "\n".join([*lines, "", *bound.source.split("; ")])


def make_plan(
    problem: str,
    n: int | None,
    epsilon: float | None,
    error: float | None,
    confidence: float | None,
    fixed: dict[str, Any],
) -> Plan:
    """What is missing of n, epsilon and error, and everything that is known there.

    Raises
    ------
    TypeError, ValueError
        If not exactly two of the three are given; if an argument is out of range.
    """
    if (n is None) + (epsilon is None) + (error is None) != 1:
        raise ValueError("exactly two of --n, --epsilon and --error must be given")
    if confidence is not None and error is None:
        raise ValueError("--confidence must be left out without --error")
    function, least = PROBLEMS[problem], None
    if n is None:
        assert error is not None
        n = sample_size(function, error, confidence=confidence, epsilon=epsilon, **fixed)
    elif epsilon is None:
        assert error is not None
        epsilon = epsilon_for(function, error, n=n, confidence=confidence, **fixed)
    assert epsilon is not None
    if error is not None and (confidence is None or "beta" in needs(problem)[1]):
        try:
            least = sample_size(function, error, confidence=confidence, side="lower", epsilon=epsilon, **fixed)
        except ValueError:  # a lower bound that does not fall to the error
            least = None
    fixed = {**fixed, "beta": 1 - confidence} if confidence is not None and "beta" in needs(problem)[1] else fixed
    found = function(n=n, epsilon=epsilon, **fixed)
    comparison = None
    if problem in SOLUTIONS:
        try:
            comparison = compare(problem, n, epsilon, **fixed)
        except ValueError:  # no coins for this epsilon
            comparison = None
    return Plan(problem, fixed, n, epsilon, error, confidence, least, found, comparison)
