"""Versions of a survey: revision, and what a person loses over several versions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

from .. import _check, _coins
from ._layout import SurveyLayout

NEAR = 1e-6  # relative difference of losses that are counted as one, the largest of them
MAX_LOSS_WAVES = 1_000_000  # of an open-ended series, in a row
MAX_STATES = 1 << 16  # of the enumeration of the orders in which a person can be asked

ReportLosses = tuple[float, ...]  # losses of the different reports of a person, in ascending order


@dataclass(frozen=True)
class Loss:
    """What a person loses over several versions of a survey; the result of `Survey.loss`.

    Attributes
    ----------
    worst : float
        Largest loss of a person, as an epsilon of differential privacy.
    shares : dict of float to float
        Share of the people with each loss, in ascending order of the losses.

    Examples
    --------
    >>> from ldpfast.survey import Survey, YesNo
    >>> first = Survey({"smokes": YesNo(), "drinks": YesNo()}, 1.0, series="health")
    >>> loss = first.loss([first.revise(add={"sleeps": YesNo()})])
    >>> loss.worst <= 2.0, {round(value, 2): round(share, 3) for value, share in loss.shares.items()}
    (True, {1.0: 0.667, 2.0: 0.333})
    """

    worst: float
    shares: dict[float, float]


def revised(
    questions: Mapping[str, Any],
    present: Mapping[str, int] | None,
    add: Mapping[str, Any] | None,
    remove: Sequence[str] | None,
    change: Mapping[str, Any] | None,
    weights: Mapping[str, int] | None,
) -> tuple[dict[str, Any], dict[str, int] | None]:
    """Return the questions of the next version of a survey, and their weights, from those of the present one."""
    # All errors come first. The questions that stay keep their order, and the new ones follow them.
    for option, given in (("add", add), ("change", change), ("weights", weights)):
        if given is not None and not isinstance(given, Mapping):
            raise TypeError(f"{option} must be a mapping from names of questions, got {type(given).__name__}")
    if remove is not None and (isinstance(remove, str) or not isinstance(remove, Iterable)):
        raise TypeError(f"remove must be a list of names, got {remove!r}")
    new = dict(add or {})
    old = list(remove or [])
    other = dict(change or {})
    if not (new or old or other):
        raise ValueError("add, remove or change must be given")
    for option, names, known in (("add", new, False), ("remove", old, True), ("change", other, True)):
        for name in names:
            if (name in questions) != known:
                rule = "questions of the survey" if known else "new names"
                raise ValueError(f"{option} must have {rule}, got {name!r}")
    same = [name for name, question in other.items() if question == questions[name]]
    if same:
        raise ValueError(f"change must have other questions than the survey, got the same for {same[0]!r}")
    both = sorted(set(old) & set(other))
    if both:
        raise ValueError(f"change must not have questions that are removed, got {both[0]!r}")
    foreign = [name for name in weights or {} if name not in new]
    if foreign:
        raise ValueError(f"weights must be of the added questions: others stay what they are, got {foreign[0]!r}")
    after = {name: other.get(name, question) for name, question in questions.items() if name not in old}
    kept = {name: weight for name, weight in (present or {}).items() if name not in old}
    return {**after, **new}, {**kept, **(weights or {})} or None


# Loss -----------------------------------------------------------------------------------------------------------------


def loss_of(versions: Sequence[SurveyLayout], waves: Any) -> Loss:
    """Return what a person loses who is asked all versions."""
    first = versions[0].series
    for version in versions:
        if version.series.wave is not None:
            raise ValueError(f"versions must be whole surveys, got that of wave {version.series.wave}")
        if version.series.description != first.description:
            raise ValueError("versions must be of one series, epsilon and numbers of answers, waves and turns")
    panel = first.panel
    if waves is not None and (panel is None or not panel.open_ended):
        raise ValueError("waves must be left out unless the series is open-ended")
    if panel is not None:
        reports = -(-_check.integer("waves", waves, 1, MAX_LOSS_WAVES) // panel.waves) if panel.open_ended else 1
        found = _coins.sum_up([max(version.guarantee.epsilon for version in versions)] * reports)
        return Loss(found, {found: 1.0})
    shares: dict[float, Fraction] = {}
    for losses, share in _orders(versions).items():
        total = _coins.sum_up(list(losses))
        shares[total] = shares.get(total, Fraction(0)) + share
    merged: dict[float, Fraction] = {}
    for loss in sorted(shares):  # epsilons of different mechanisms differ by their rounding
        near = next((other for other in merged if loss - other <= NEAR * loss), None)
        merged[loss] = shares[loss] + (Fraction(0) if near is None else merged.pop(near))
    return Loss(max(merged), {loss: float(share) for loss, share in merged.items()})


def _orders(versions: Sequence[SurveyLayout]) -> dict[ReportLosses, Fraction]:
    """Return the probabilities of the losses of a person.

    The tickets of a person put all questions in an order, and of each version the first `answers` questions are asked. A report
    is made once for each question and each of its descriptions.
    """
    weights: dict[str, int] = {}
    asked: list[dict[str, tuple[bytes, float]]] = []
    for layout in versions:
        for name, weight in zip(layout.names, layout.weights, strict=True):
            if weights.setdefault(name, weight) != weight:
                raise ValueError(f"the weight of question {name!r} must be the same in all versions")
        epsilons = [mechanism.epsilon_realized for mechanism in layout.mechanisms]
        asked.append(dict(zip(layout.names, zip(layout.descriptions, epsilons, strict=True), strict=True)))
    states = 0

    @cache
    def rest(slots: tuple[int, ...], before: frozenset[str]) -> dict[ReportLosses, Fraction]:
        """Return the losses of the questions that come next, if so many of each version are still to be asked."""
        nonlocal states
        states += 1
        if states > MAX_STATES:
            raise ValueError("versions must have fewer different questions for all orders to be enumerated")
        open_versions = [version for version, count in enumerate(slots) if count]
        names = sorted({name for version in open_versions for name in asked[version]} - before)
        if not open_versions:
            return {(): Fraction(1)}
        total = sum(weights[name] for name in names)
        found: dict[ReportLosses, Fraction] = {}
        for name in names:
            members = [version for version in open_versions if name in asked[version]]
            gained = dict(asked[version][name] for version in members).values()
            left = tuple(count - (version in members) for version, count in enumerate(slots))
            relevant = {other for version, count in enumerate(left) if count for other in asked[version]}
            for losses, share in rest(left, (before | {name}) & relevant).items():
                key = tuple(sorted((*losses, *gained)))
                found[key] = found.get(key, Fraction(0)) + share * Fraction(weights[name], total)
        return found

    return rest(tuple(version.answers for version in versions), frozenset())
