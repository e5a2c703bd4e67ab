"""Simulation of the reports of many people by their counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from .._frames import By, read_by
from .._labels import numbers_by_label
from .._random import open_generator
from .._typing import AnyArray
from ..domains import Categories, Domain
from ..reports import MAX_REPORTS, Aggregator, GroupedAggregator, Question, aggregator_with, recipe_of
from ._draws import multinomial

if TYPE_CHECKING:
    from numpy.random import Generator

    from .._random import RNGLike

SUM_ERROR = 1e-9  # of shares, from rounding


@overload
def simulate(
    mechanism: Question[Any],
    shares_or_counts: Mapping[Any, Any] | ArrayLike,
    n: int,
    *,
    by: None = None,
    rng: RNGLike = None,
) -> Aggregator: ...


@overload
def simulate(
    mechanism: Question[Any],
    shares_or_counts: Mapping[Any, Any] | ArrayLike,
    n: int | Mapping[Any, int],
    *,
    by: str | Sequence[str],
    rng: RNGLike = None,
) -> GroupedAggregator: ...


def simulate(
    mechanism: Question[Any],
    shares_or_counts: Mapping[Any, Any] | ArrayLike,
    n: int | Mapping[Any, int],
    *,
    by: str | Sequence[str] | None = None,
    rng: RNGLike = None,
) -> Aggregator | GroupedAggregator:
    """Return an aggregator of simulated reports of n people, drawn from its exact distribution without making reports.

    The time does not grow with n, but for `ProjectiveGeometryResponse` with a large field: a billion people take as long as a
    million. Use it to plan a survey, and to study the
    power of a test. The aggregator is simulated, and protects nobody.

    Parameters
    ----------
    mechanism : Mechanism, Problem or Survey
        Mechanism, or a problem that encodes each record for one, or a survey.
    shares_or_counts : array_like of shape (k,), or mapping
        The population. For categories: k numbers of people, which are integers with the sum n, or k shares, which are
        floats with the sum 1. Or a mapping from records to such numbers, with tuples for vectors. With shares, the people
        are drawn at random from the population. For a survey: a table of people, from whose rows n people are drawn with
        replacement.
    n : int, mapping or series
        Number of people, in [1, 2^62). With `by` it can be a number for each group of the table.
    by : str or list of str, optional
        For a survey: public columns of the table that divide people into groups, as for `collect`. With one number n, people
        are drawn from all rows, so that the sizes of the groups vary as in a sample; otherwise from the rows of their group.
    rng : None, int, SeedSequence, Generator or BitGenerator
        Source of randomness, for a NumPy generator.

    Returns
    -------
    aggregator : Aggregator
        ``mechanism.aggregator()`` with n reports, or with `by` a `GroupedAggregator`, without groups of which nobody is drawn.
        Its `estimate`, `merge` and `to_bytes` work as for real reports.

    Raises
    ------
    TypeError, ValueError
        If `mechanism` is not as above, or `n` not an integer in its range, or numbers of other groups. If `by` is not that of a
        survey. If `shares_or_counts` has a wrong length, a
        negative number or NaN, a wrong sum, or a record that is not in the domain. If there is no exact form: for
        `L2Ball`, `PrivUnit`, `RankCodebook`, `RankedSigns`, `LaplaceVector` with norm="l2", `SeriesDensity`, and for a few
        parameters of other mechanisms. Privatize and count a sample of records then.

    Notes
    -----
    The state of the aggregator has the joint distribution of the counts or sums of n reports, up to the rounding of
    probabilities to doubles. For `SignBit`, `Window` and `SampledCube`, probabilities of the random rounding of a number
    differ from those of the kernel by at most 2^-30. Above 2^53 people, a count has the resolution of a double.

    Time for k categories, d coordinates and r different records: O(k) for `RandomizedResponse` and `UnaryEncoding`, about
    O(k^(3/2)) for `SubsetSelection`, O(K log K) for the K codes of `HadamardResponse`, O(K q log K) for
    `ProjectiveGeometryResponse` with a field of at most 64 elements and at most 2^25 vectors (otherwise each person draws a
    code: about 0.3 us for each), O(d s^2 r) for `SampledCube` with s < d sampled coordinates, and O(d^(3/2) g) for
    `LinfBall`, where g is at most the number of different coordinates of all records. The `Laplace` mechanisms draw the
    counts of all values of their noise, about 10 ms per record and coordinate.

    Examples
    --------
    >>> import ldpfast as ldp
    >>> mechanism = ldp.SubsetSelection(100, epsilon=1.0)
    >>> shares = [0.5, *[0.5 / 99] * 99]
    >>> estimate = ldp.simulate(mechanism, shares, n=10**9, rng=1).estimate()
    >>> bool(abs(estimate.value[0] - 0.5) < 0.001)
    True
    >>> ldp.simulate(ldp.SignBit(0, 10, epsilon=1.0), {2.5: 400, 7.5: 600}, n=1000, rng=1).n
    1000
    >>> from ldpfast.survey import Survey, YesNo
    >>> survey, people = Survey({"smokes": YesNo()}, 1.0), {"smokes": [True, False, False, False]}
    >>> result = ldp.simulate(survey, people, n=10**8, rng=1).estimate()
    >>> bool(abs(result["smokes"].value - 0.25) < 0.001)
    True
    >>> people["region"] = ["N", "N", "S", "S"]
    >>> results = ldp.simulate(survey, people, {"N": 10**8, "S": 10**7}, by="region", rng=1).estimate()
    >>> bool(abs(results["N"]["smokes"].value - 0.5) < 0.001), results["S"].n
    (True, 10000000)
    """
    recipe: Any = recipe_of(mechanism) if isinstance(mechanism, Question) else None
    if not (hasattr(recipe, "simulated") or getattr(recipe, "draw", None)):
        raise TypeError(f"mechanism must be a Mechanism, a Problem or a Survey, got {type(mechanism).__name__}")
    if hasattr(recipe, "simulated"):
        return _of_survey(mechanism, recipe, shares_or_counts, n, read_by(by), open_generator(rng))
    if by is not None:
        raise ValueError(
            f"by must be None but for a survey, got {by!r}: simulate each group, and join them by GroupedAggregator.of"
        )
    n = _check.integer("n", n, 1, MAX_REPORTS - 1)
    records, amounts = _population(recipe.domain, shares_or_counts)
    _check_sum(amounts, n)
    generator = open_generator(rng)
    people = multinomial(generator, np.asarray(n), amounts) if amounts.dtype.kind == "f" else amounts.astype(np.int64)
    present = people > 0
    state = recipe.draw(records[present], people[present], generator)
    return aggregator_with(mechanism, [state], n)


def _of_survey(
    survey: Question[Any], recipe: Any, people: Any, n: Any, by: By | None, generator: Generator
) -> Aggregator | GroupedAggregator:
    """Return the simulated reports to a survey, of people from the rows of a table."""
    if by is None:
        n = _check.integer("n", n, 1, MAX_REPORTS - 1)
    recipe.check_groups(by)
    groups = recipe.simulated(people, n, by, generator)
    found = {value: aggregator_with(survey, states, size) for value, states, size in groups}
    return found[None] if by is None else GroupedAggregator.of(found, by=by)


def _population(domain: Domain, given: Any) -> tuple[AnyArray, AnyArray]:
    """Return different records, and their numbers of people (integers) or shares (floats)."""
    pairs = numbers_by_label("shares_or_counts", given)
    if pairs is not None:
        if not pairs:
            raise ValueError("shares_or_counts must have at least one record, got none")
        try:
            records = domain.convert(domain.records([record for record, _ in pairs])[0])
        except (TypeError, ValueError) as error:
            raise type(error)(f"shares_or_counts must have records of the domain: {error}") from None
        if (index := domain.first_invalid(records)) >= 0:
            raise ValueError(f"shares_or_counts must have records that are {domain.describe()}; index {index} is not")
        given = [amount for _, amount in pairs]
    elif isinstance(domain, Categories):
        records = np.arange(domain.k, dtype=domain.dtype)
    else:
        raise TypeError(
            f"shares_or_counts must be a mapping from records, {domain.describe()}, to shares or counts, "
            f"got {type(given).__name__}"
        )
    amounts = _check.array("shares_or_counts", given)
    if amounts.dtype.kind not in "iu":
        amounts = _check.numbers("shares_or_counts", amounts)
    if amounts.shape != (len(records),):
        raise ValueError(f"shares_or_counts must have shape ({len(records)},), got shape {amounts.shape}")
    return records, amounts


def _check_sum(amounts: AnyArray, n: int) -> None:
    """Raise unless amounts are nonnegative, with the sum n for integers and 1 for floats."""
    if (amounts < 0).any():
        raise ValueError(f"shares_or_counts must be >= 0, got {amounts.min()}")
    counts = amounts.dtype.kind in "iu"
    total = sum(amounts.tolist())
    if total != n if counts else abs(total - 1) > SUM_ERROR:
        raise ValueError(
            f"shares_or_counts must be integers with the sum n={n}, or floats with the sum 1, got "
            f"{'integers' if counts else 'floats'} with the sum {total}"
        )
