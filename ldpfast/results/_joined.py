"""Limits and p-values of many estimates at once: the rules of the same kind are joined into one with longer arrays."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import Floats
from ._debiasing import Debiasing
from ._differences import Recovered
from ._estimate import Estimate
from ._fieller import Fieller
from ._intervals import Binomial, BoundedSum, IntervalRule, Normal, WithGaps
from ._test_result import p_values

RATIO = ("numerator", "denominator", "vn", "vd", "c", "lowest", "highest", "step", "start")


@dataclass(frozen=True, eq=False)
class Numbers:
    """Numbers of several estimates, as one array.

    Attributes
    ----------
    value, stderr : ndarray
        Numbers and their standard errors.
    rule : IntervalRule
        Rule for their limits.
    """

    value: Floats
    stderr: Floats
    rule: IntervalRule

    @classmethod
    def of(cls, estimates: Sequence[Any]) -> Numbers:
        """Return the numbers of estimates whose rules are of one kind; each keeps its rule if it is alone."""
        if len(estimates) == 1:
            (alone,) = estimates
            return cls(np.asarray(alone.value), np.asarray(alone.stderr), alone.rule)
        shapes = [np.shape(found.value) for found in estimates]
        value, stderr = (_line([getattr(found, name) for found in estimates], shapes) for name in ("value", "stderr"))
        return cls(value, stderr, _joined([found.rule for found in estimates], shapes))


class Joined:
    """Estimates of any kinds, for limits and p-values of all their numbers in a few calls.

    Parameters
    ----------
    estimates : sequence of Estimate
    """

    def __init__(self, estimates: Sequence[Estimate[Any]]) -> None:
        kinds: dict[Hashable, list[int]] = {}
        for place, found in enumerate(estimates):
            kinds.setdefault(_kind(found.rule) or place, []).append(place)
        self._parts = [(places, Numbers.of([estimates[place] for place in places])) for places in kinds.values()]
        self._sizes = [np.size(found.value) for found in estimates]

    def limits(self, tail: float) -> list[tuple[Floats, Floats]]:
        """Return the limits of each estimate with a probability `tail` on each side, in flat arrays that are not cut."""
        found = self._each(lambda part: part.rule.bounds(part.value, part.stderr, tail))
        return [(rows[0], rows[1]) for rows in found]

    def two_sided(self) -> list[Floats]:
        """Return the p-values of the hypotheses that the numbers of each estimate are 0, in flat arrays."""

        def tested(part: Numbers) -> tuple[Floats]:
            return (p_values(part.rule, part.value, part.stderr, np.zeros(part.value.shape), "two-sided"),)

        return [rows[0] for rows in self._each(tested)]

    def _each(self, function: Callable[[Numbers], Sequence[Floats]]) -> list[Floats]:
        """Return what a function has for the numbers of each estimate, one row for each of its arrays."""
        found: dict[int, Floats] = {}
        for places, part in self._parts:
            rows = np.stack([np.ravel(array) for array in function(part)])
            ends = np.cumsum([self._sizes[place] for place in places])
            found.update(zip(places, np.split(rows, ends[:-1], axis=1), strict=True))
        return [found[place] for place in range(len(self._sizes))]


def _kind(rule: Any) -> Hashable:
    """Return what is equal in rules that can be joined; None for a rule that cannot."""
    if isinstance(rule, Recovered):
        parts = _kind(rule.a.rule), _kind(rule.b.rule)
        return None if None in parts else (Recovered, *parts)
    if isinstance(rule, WithGaps):
        inner = _kind(rule.rule)
        return None if inner is None else (WithGaps, inner)
    if isinstance(rule, Normal):
        return None if np.any(rule.bias) else Normal
    if isinstance(rule, Fieller):
        return Fieller, bool(np.any(rule.step)), rule.freedom
    return next((kind for kind in (Binomial, BoundedSum) if isinstance(rule, kind)), None)


def _joined(rules: Sequence[Any], shapes: Sequence[tuple[int, ...]]) -> IntervalRule:
    """Return one rule for the numbers of several rules of one kind."""

    def line(*names: str) -> list[Any]:
        return [_line([getattr(rule, name) for rule in rules], shapes) for name in names]

    first = rules[0]
    if isinstance(first, Recovered):
        return Recovered(Numbers.of([rule.a for rule in rules]), Numbers.of([rule.b for rule in rules]))
    if isinstance(first, WithGaps):
        return WithGaps(_joined([rule.rule for rule in rules], shapes), line("gaps")[0] > 0)
    if isinstance(first, Binomial):
        zero, one = (_line([getattr(rule.debiasing, name) for rule in rules], shapes) for name in ("zero", "one"))
        scaled: Any = Debiasing(zero, one)  # type: ignore[arg-type]
        hits, n = line("hits", "n")
        return Binomial(hits, n, scaled)
    if isinstance(first, BoundedSum):
        up, down = line("up", "down")
        return BoundedSum(up, down)
    if isinstance(first, Fieller):
        fields: dict[str, Any] = dict(zip(RATIO, line(*RATIO), strict=True))
        return Fieller(**fields, freedom=first.freedom)
    return Normal()


def _line(parts: Sequence[Any], shapes: Sequence[tuple[int, ...]]) -> Floats:
    """Return arrays, each broadcast to its shape, one after the other as one."""
    if not any(shapes):  # single numbers
        return np.array(parts, np.float64)
    whole = (
        part if np.shape(part) == shape else np.broadcast_to(part, shape)
        for part, shape in zip(parts, shapes, strict=True)
    )
    return np.concatenate([np.ravel(part) for part in whole]).astype(np.float64)
