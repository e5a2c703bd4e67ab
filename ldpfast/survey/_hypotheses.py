"""Tests of hypotheses about the distributions of answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from .._labels import in_order
from .._random import open_generator
from .._typing import Floats
from .._warnings import warn
from ..estimation import project_simplex
from ..mechanisms import Mechanism, RandomizedResponse
from ..mechanisms._draws import multinomial
from ..reports import recipe_of
from ..results import Estimate, SmallSampleWarning, TestResult, require_alike, require_no_overlap
from ._compared_shares import ComparedShares, Precision, common, distribution
from ._covariance import Covariance

if TYPE_CHECKING:
    from .._random import RNGLike
    from ._answers import Answer
    from ._cross import CrossAnswer

DRAWS = 9_999  # of the distribution of a statistic
SLOW_DRAWS = 999  # where every draw takes a loop
MANY_REPORTS = 100_000  # from here on, counts are drawn instead of reports
AT_ONCE = 1 << 22  # numbers in one piece of the draws
STEPS = 20  # of a fit
MAX_MARGIN_ERROR = 1.5  # standard error of a margin over the mean share, beyond which the test rejects too often
LEAST_TOTAL = 3.0  # standard errors, of the share of people who answered: quotients by it are nearly normal
MAX_TESTED_CELLS = 10_000  # of a table whose independence is tested


def goodness_of_fit(answer: Answer, shares: ArrayLike, rng: RNGLike) -> TestResult:
    """Test whether the labels have given shares."""
    found = _distribution_of("this answer", answer)
    ordered = in_order("shares", shares, answer._spellings())
    given = np.asarray(_check.numbers("shares", _check.array("shares", ordered)), np.float64)
    if given.shape != (len(found.symbols),):
        raise ValueError(f"shares must have shape ({len(found.symbols)},), got shape {given.shape}")
    if not (given >= 0).all() or abs(given.sum() - 1) > 1e-9:
        raise ValueError(f"shares must be >= 0 with the sum 1, got the sum {float(given.sum())!r}")
    null = given / given.sum()
    precision = Precision.of(found.covariance(null))
    seen = found.shares.value

    def statistic(values: list[Floats]) -> Floats:
        return precision.squared(found.values(values[0], null) - null)

    df = len(null) - 1
    return _result(statistic, [found], [seen], null, df, given, rng, exact="simulation")


def k_sample(answers: Mapping[Any, Answer] | Sequence[Answer], *, rng: RNGLike = None) -> TestResult:
    """Test whether the answers to a question have the same distribution in several groups of people.

    Parameters
    ----------
    answers : mapping or sequence of Answer
        At least two answers to the same question, or to questions with the same labels, from different people. Mechanisms and
        epsilon may differ. That nobody is in two groups is for the caller to know.
    rng : None, int, SeedSequence, Generator or BitGenerator
        Source of randomness, for small samples.

    Returns
    -------
    result : TestResult
        The statistic is the sum of the squared distances from the common shares that fit best, with their covariances under the
        hypothesis, and has (groups - 1) (labels - 1) degrees of freedom. For a mean, people at the two ends are compared. For a
        `Number` it is the largest distance of a distribution function from the common one, in standard errors.

    Raises
    ------
    TypeError, ValueError
        If there are fewer than two answers; if their labels differ; if they are computed from the same reports; if the
        share of people who answered cannot be told from 0.

    Notes
    -----
    The p-value comes from a chi-square distribution if at least 5 reports of every symbol are expected, and there are at
    least 5 reports per symbol. Otherwise, where all groups have the same k-ary response to a compulsory question, reports are
    permuted between the groups, which is exact for every n. Else reports are drawn from the common shares (bootstrap),
    which is approximate. O(k) time for k labels. That of a `Number` comes from 2,000 draws of the noise of the distribution
    functions, always the same ones; below 0.01 it is bounded by Bonferroni's inequality.

    References
    ----------
    .. [1] M. Gaboardi, H. Lim, R. Rogers, S. Vadhan, "Differentially private chi-squared hypothesis testing", ICML 2016.

    Examples
    --------
    >>> from ldpfast.survey import Choice, Survey, k_sample
    >>> survey = Survey({"way": Choice(["foot", "car", "train"])}, 2.0)
    >>> frame = {"way": ["foot", "car", "train", "car"] * 3000, "region": ["N", "S", "N", "W"] * 3000}
    >>> regions = survey.run(frame, by="region", rng=1)
    >>> result = k_sample({region: found["way"] for region, found in regions.items()})
    >>> result.df, bool(result.pvalue < 0.001)
    (4, True)
    """
    listed = list(answers.values()) if isinstance(answers, Mapping) else list(answers)
    if len(listed) < 2:
        raise ValueError(f"answers must be at least 2, got {len(listed)}")
    for at, answer in enumerate(listed):
        _require_answer("answers", answer)
        for other in listed[:at]:
            require_no_overlap(answer, other)
        require_alike(listed[0], answer)
    own = listed[0]._equality(listed)
    if own is not None:
        return own
    found = [_distribution_of("answers", answer) for answer in listed]
    # The hypothesis holds with the shares that fit all groups best; their covariances depend on the shares.
    weights = np.array([part.n for part in found], np.float64)
    seen = [part.shares.value for part in found]
    free = [part.values(x, project_simplex(x[part.symbols])) for part, x in zip(found, seen, strict=True)]
    null = project_simplex(np.average(free, axis=0, weights=weights))
    for _ in range(2):
        precisions = [Precision.of(part.covariance(null)) for part in found]
        values = [part.values(x, null) for part, x in zip(found, seen, strict=True)]
        null = project_simplex(common(precisions, values))
    precisions = [Precision.of(part.covariance(null)) for part in found]

    def statistic(drawn: list[Floats]) -> Floats:
        values = [part.values(x, null) for part, x in zip(found, drawn, strict=True)]
        best = common(precisions, values)
        pieces = (precision.squared(value - best) for precision, value in zip(precisions, values, strict=True))
        return np.asarray(sum(pieces))

    df = (len(found) - 1) * (len(null) - 1)
    return _result(statistic, found, seen, null, df, null, rng, exact="permutation")


def two_sample(a: Answer, b: Answer, *, rng: RNGLike = None) -> TestResult:
    """Test whether two groups of people answer a question alike.

    Parameters
    ----------
    a, b : Answer
        Answers to the same question, from different people; that nobody is in both is for the caller to know.
    rng : None, int, SeedSequence, Generator or BitGenerator
        As for `k_sample`.

    Returns
    -------
    result : TestResult
        That of `k_sample`. For means that are sent as numbers (large epsilon), conditional shares and quantiles it is the
        test of ``a - b``, for every number.

    Raises
    ------
    TypeError, ValueError
        As for `k_sample`.

    Examples
    --------
    >>> import ldpfast as ldp
    >>> from ldpfast.survey import Survey, YesNo, two_sample
    >>> survey = Survey({"clicked": YesNo()}, 1.0)
    >>> a, b = (survey.run({"clicked": [True, False, False, m > 1] * 5000}, rng=m)["clicked"] for m in (1, 2))
    >>> bool(two_sample(a, b).pvalue < 0.001)
    True
    """
    for name, answer in (("a", a), ("b", b)):
        _require_answer(name, answer)
    if a._shares is not None and b._shares is not None:
        return k_sample([a, b], rng=rng)
    require_alike(a, b)
    require_no_overlap(a, b)
    return a._equality([a, b]) or a._minus(b).test()


def independence(answer: CrossAnswer, rng: RNGLike) -> TestResult:
    """Test whether two questions are independent, among the people who answered both."""
    rows, columns = (len(question.labels) for question in answer._columns)
    if rows * columns > MAX_TESTED_CELLS:
        raise ValueError(
            f"a table must have at most {MAX_TESTED_CELLS} cells for a test of independence, got {rows * columns}"
        )
    found = _distribution_of("this answer", answer)
    fitted = project_simplex(found.values(found.shares.value, project_simplex(found.shares.value[found.symbols])))

    # Changes of margins that keep their sum.
    of_rows, of_columns = (np.eye(size)[:-1] - np.eye(size)[-1] for size in (rows, columns))

    def fit(seen: Floats, start: Floats) -> tuple[float, Floats]:
        """Return the statistic, and the table without dependence that fits best."""
        table = start.reshape(rows, columns)
        a, b = table.sum(axis=1), table.sum(axis=0)
        for _ in range(STEPS):
            null = np.outer(a, b).ravel()
            precision = Precision.of(found.covariance(null))
            left = found.values(seen, null) - null
            tangents = np.concatenate([np.kron(of_rows, b), np.kron(a[np.newaxis], of_columns)])
            steps = np.linalg.lstsq(
                precision.times(tangents) @ tangents.T, precision.times(tangents) @ left, rcond=1e-10
            )[0]
            new_a = project_simplex(a + steps[: rows - 1] @ of_rows)
            new_b = project_simplex(b + steps[rows - 1 :] @ of_columns)
            moved = max(np.abs(new_a - a).max(), np.abs(new_b - b).max())
            a, b = new_a, new_b
            if moved < 1e-9:
                break
        null = np.outer(a, b).ravel()
        precision = Precision.of(found.covariance(null))
        return float(precision.squared(found.values(seen, null) - null)), null

    null = fit(found.shares.value, fitted)[1]
    error = _margin_error(found.covariance(null), rows, columns)
    if error > MAX_MARGIN_ERROR:
        warn(
            "margins of the table are not known well enough for a reliable test of independence: a standard error is "
            f"{error:.2g} times the mean share. Ask more people, or fewer categories",
            SmallSampleWarning,
        )

    def statistic(drawn: list[Floats]) -> Floats:
        if drawn[0].ndim == 1:
            return np.asarray(fit(drawn[0], fitted)[0])
        return np.array([fit(seen, null)[0] for seen in drawn[0]])

    df = (rows - 1) * (columns - 1)
    return _result(statistic, [found], [found.shares.value], null, df, null, rng, exact="bootstrap", draws=SLOW_DRAWS)


def _margin_error(covariance: Covariance, rows: int, columns: int) -> float:
    """Return the largest standard error of a margin of a table, relative to the mean share."""
    errors = []
    for axis, size in ((1, rows), (0, columns)):
        vectors = np.stack([v.reshape(rows, columns).sum(axis=axis) for v in covariance.vectors], axis=-1)
        own = covariance.diagonal.reshape(rows, columns).sum(axis=axis)
        variance = own + np.einsum("ir,rs,is->i", vectors, covariance.middle, vectors)
        errors.append(size * float(np.sqrt(variance.max())))
    return max(errors)


def _result(
    statistic: Callable[[list[Floats]], Floats],
    found: list[ComparedShares],
    seen: list[Floats],
    null: Floats,
    df: int,
    shown: Floats,
    rng: RNGLike,
    *,
    exact: str,
    draws: int = DRAWS,
) -> TestResult:
    """Return the result of a test, with a chi-square distribution, or one that is drawn where there are few reports."""
    from scipy.special import chdtrc

    n, observed = sum(part.n for part in found), float(statistic(seen))
    few = any(part.has_few(null) for part in found)
    mechanisms = [part.shares.mechanism for part in found]
    if few and any(mechanism is None for mechanism in mechanisms):
        warn(f"n = {n} is too small for a chi-square distribution to be reliable", SmallSampleWarning)
        few = False
    if not few:
        return TestResult(observed, float(chdtrc(df, observed)), "two-sided", shown, n, df=df, method="chi-square")
    # With few reports, the p-value is the share of statistics drawn under the hypothesis that are at least as large. A
    # permutation of reports is exact if all have the same mechanism; a simulation if the hypothesis gives all shares; else a
    # bootstrap.
    permutes = exact == "permutation" and all(
        isinstance(mechanism, RandomizedResponse) and mechanism == mechanisms[0] for mechanism in mechanisms
    )
    permutes = permutes and not any(part.is_part for part in found)
    method = exact if exact != "permutation" or permutes else "bootstrap"
    if method == "simulation" and found[0].is_part:
        method = "bootstrap"  # the share of no answer is estimated
    if not all(isinstance(mechanism, RandomizedResponse) for mechanism in mechanisms):
        draws = SLOW_DRAWS
    generator, larger = open_generator(rng), 0
    piece = max(1, min(draws, AT_ONCE // sum(part.shares.value.shape[-1] for part in found)))
    done = 0
    while done < draws:
        size = min(piece, draws - done)
        drawn = (
            _permuted(found, size, generator) if permutes else [_drawn(part, null, size, generator) for part in found]
        )
        with np.errstate(invalid="ignore"):
            larger += int(np.sum(~(statistic(drawn) < observed * (1 - 1e-9))))
        done += size
    return TestResult(observed, (1 + larger) / (draws + 1), "two-sided", shown, n, df=df, method=method)


def _permuted(found: list[ComparedShares], size: int, generator: np.random.Generator) -> list[Floats]:
    """Return shares of each group, shape (size, k), after the reports were divided among the groups at random."""
    left = np.sum([part.shares.counts for part in found], axis=0)
    drawn, rest = [], np.broadcast_to(left, (size, len(left)))
    for part in found[:-1]:
        taken = np.array([generator.multivariate_hypergeometric(row, part.n, method="marginals") for row in rest])
        drawn.append(part.shares.decoded(taken))
        rest = rest - taken
    return [*drawn, found[-1].shares.decoded(rest)]


def _drawn(part: ComparedShares, null: Floats, size: int, generator: np.random.Generator) -> Floats:
    """Return shares from drawn reports of people with the shares of the hypothesis, shape (size, k)."""
    share, mechanism = part.whole(null), part.shares.mechanism
    assert isinstance(mechanism, Mechanism)
    n = np.full(size, part.n)
    if isinstance(mechanism, RandomizedResponse):
        p, q = mechanism.debiasing.probabilities
        return part.shares.decoded(multinomial(generator, n, q + (p - q) * share))
    symbols = np.arange(len(share))
    seen = []
    for people in multinomial(generator, n, share):
        if part.n < MANY_REPORTS:
            reports = mechanism.privatize(np.repeat(symbols, people), rng=generator)
            seen.append(mechanism.aggregator().update(reports).counts)
        else:
            seen.append(recipe_of(mechanism).draw(symbols, people, generator))
    return part.shares.decoded(np.array(seen))


def _require_answer(name: str, answer: Any) -> None:
    if not isinstance(answer, Estimate) or not hasattr(answer, "_shares"):
        raise TypeError(f"{name} must be answers of a survey, got {type(answer).__name__}")


def _distribution_of(name: str, answer: Answer) -> ComparedShares:
    if answer._shares is None:
        raise ValueError(
            f"{name} must have shares of labels, got {answer._names()[0]}: use the test of a difference, (a - b).test()"
        )
    if not answer.n:
        raise ValueError(f"{name} must have at least 1 answer for a test, got n = 0")
    found = distribution(answer)
    if found.total <= LEAST_TOTAL * found.total_stderr:
        raise ValueError(
            f"{name} must have enough answers for a test: the estimated share of people who answered is "
            f"{found.total:.3g} +- {found.total_stderr:.2g}, which cannot be told from 0"
        )
    return found
