"""Differences and ratios of estimates of different people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import Floats
from ..privacy import of_disjoint
from ._fieller import Fieller, SeparateChange
from ._intervals import Binomial, IntervalRule, Normal, has_tails, rounding_of
from ._roots import bracket, roots
from ._test_result import is_by_coordinate

if TYPE_CHECKING:
    from ._estimate import Estimate
    from ._joined import Numbers
    from ._people import People


@dataclass(frozen=True, eq=False)
class Recovered:
    """Limits of a difference a - b from those of a and b, by the method of variance estimates recovery.

    The margin below is the root of the sum of the squares of the margin of a below and of that of b above. It keeps the shape
    of exact limits, also where they are not symmetric (G. Y. Zou, A. Donner, "Construction of confidence limits about effect
    measures: a general approach", 2008). The parts of margins that are not random are added: rules have them as `rounding`.

    Attributes
    ----------
    a, b : Estimate or Numbers
        Estimates of different people.
    """

    a: Estimate[Any] | Numbers
    b: Estimate[Any] | Numbers

    @property
    def by_coordinate(self) -> bool:
        """Whether the rules of both have limits for every coordinate by itself."""
        return all(is_by_coordinate(part.rule) for part in (self.a, self.b))

    @property
    def needed(self) -> int:
        """Number of reports that a or b needs if there are too few, else 0."""
        return max(int(getattr(part.rule, "needed", 0)) for part in (self.a, self.b))

    def bounds(self, value: Floats, stderr: Floats, tail: Any) -> tuple[Floats, Floats]:
        a, b = np.asarray(self.a.value), np.asarray(self.b.value)
        low_a, high_a = self.a.rule.bounds(a, np.asarray(self.a.stderr), tail)
        low_b, high_b = self.b.rule.bounds(b, np.asarray(self.b.stderr), tail)
        return value - self._margin(a - low_a, high_b - b), value + self._margin(high_a - a, b - low_b)

    def with_liars(self, share: float, n: Any) -> Recovered:
        """Return the rule where at most a share of the reports of each is forged."""
        parts: list[Any] = [self.a, self.b]
        return Recovered(*(part._with_liars(share) for part in parts))

    def largest_shift(self, share: float, n: Any) -> Any:
        """Return how far forged reports, at most a share of the reports of each estimate, can move each number."""
        parts: list[Any] = [self.a, self.b]
        return sum(part.largest_shift(share) for part in parts)

    def _margin(self, x: Floats, y: Floats) -> Floats:
        """Return the margin of the difference from a margin of a and one of b."""
        own, other = (np.minimum(m, rounding_of(part.rule)) for m, part in ((x, self.a), (y, self.b)))
        with np.errstate(invalid="ignore"):
            return np.asarray(hypotenuse(x - own, y - other) + own + other)

    @property
    def has_tails(self) -> bool:
        """Whether the rules of both have tails of limits."""
        return has_tails(self.a.rule) and has_tails(self.b.rule)

    def tails(self, value: Floats, stderr: Floats, limit: Floats, side: int) -> Floats:
        """Return the tails of limits.

        A margin m of the difference belongs to margins x of a and y of b with x^2 + y^2 = m^2 that have the same tail: x is the
        root of a function of one variable, where the tails of a and b are known.
        """
        from scipy.special import ndtri

        a, b = np.asarray(self.a.value), np.asarray(self.b.value)
        rules: tuple[Any, Any] = self.a.rule, self.b.rule
        margin = np.asarray(side * (limit - value), np.float64)

        def both(x: Floats) -> tuple[Floats, Floats]:
            y = hypotenuse(margin, -x)
            of_a = rules[0].tails(a, np.asarray(self.a.stderr), a + side * x, side)
            return of_a, rules[1].tails(b, np.asarray(self.b.stderr), b - side * y, -side)

        def excess(x: Floats) -> Floats:
            of_a, of_b = both(x)
            with np.errstate(invalid="ignore"):
                found = ndtri(of_b) - ndtri(of_a)
            return np.where(np.isnan(found), 0.0, found)  # both are 0 or 1

        known = np.isfinite(stderr) & (stderr > 0)
        step = np.maximum(np.abs(margin), np.where(known, stderr, 1.0))
        found = np.minimum(
            *(np.maximum(*both(x)) for x in roots(excess, *bracket(excess, np.minimum(margin, 0.0), step)))
        )
        return np.where(np.isnan(found), 1.0, found)  # where there are no reports

    def anytime(self, tail: Any) -> tuple[Floats, Floats]:
        """Return limits that hold for every number of reports at once; those of a and b hold together."""
        (low_a, high_a), (low_b, high_b) = (part.rule.anytime(tail / 2) for part in (self.a, self.b))  # type: ignore[attr-defined]
        return low_a - high_b, high_a - low_b


def hypotenuse(x: Floats, y: Floats) -> Floats:
    """Return the root of the sum of two squares; margins are negative for tails above a half, and so is the result then."""
    with np.errstate(invalid="ignore"):
        square = np.abs(x) * x + np.abs(y) * y
    square = np.where(np.isnan(square), np.inf, square)  # one margin is infinite: nothing is excluded
    return np.asarray(np.sign(square) * np.sqrt(np.abs(square)))


def difference(a: Estimate[Any], b: Estimate[Any]) -> dict[str, Any]:
    """Return the fields of a - b, for estimates of different people."""
    a, b = a._unbiased(), b._unbiased()
    rule: IntervalRule = Recovered(a, b)
    if type(a.rule) is Normal and type(b.rule) is Normal:
        changes = _changes(a, b)
        change = None if changes is None else sum(changes)
        hidden = a.rule.hidden + b.rule.hidden
        rule = Normal(a.rule.bias + b.rule.bias, max(a.rule.needed, b.rule.needed), change, hidden)
    known = a.covariance is not None and b.covariance is not None
    low_a, high_a = a._possible_range
    low_b, high_b = b._possible_range
    return {
        "value": _plain(np.asarray(a.value) - b.value),
        "stderr": _plain(np.hypot(a.stderr, b.stderr)),
        "covariance": a.covariance + b.covariance if known else None,  # type: ignore[operator]
        "rule": rule,
        "_span": (low_a - high_b, high_a - low_b),
        "quantity": f"difference of {_plural(a)}",
        "_unit_text": a._unit(),
        **_common(a, b),
    }


def ratio(a: Estimate[Any], b: Estimate[Any]) -> dict[str, Any]:
    """Return the fields of a / b, for estimates of different people."""
    a, b = a._unbiased(), b._unbiased()
    top, bottom = np.asarray(a.value, np.float64), np.asarray(b.value, np.float64)
    va, vb = np.square(a.stderr), np.square(b.stderr)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = top / bottom
        stderr = np.sqrt(va + value**2 * vb) / np.abs(bottom)
    needed = max(a._needed, b._needed, *(Normal.of_sum(part.n).needed for part in (a, b)))
    changes = _changes(a, b)
    rule = Fieller(
        top,
        bottom,
        np.asarray(va),
        np.asarray(vb),
        np.zeros(top.shape),
        needed=needed,
        change=None if changes is None else SeparateChange(*changes),
    )
    quantity = f"ratio of {_plural(a)}"
    return {"value": _plain(value), "stderr": _plain(stderr), "rule": rule, "quantity": quantity, **_common(a, b)}


def _changes(a: Estimate[Any], b: Estimate[Any]) -> tuple[Any, Any] | None:
    """Return the changes of a and of b per forged report, if the same share of the reports of each is forged.

    None if they are not known.
    """
    found = [_change(part.rule) for part in (a, b)]
    if found[0] is None or found[1] is None:
        return None
    n = a.n + b.n
    return a._senders / n * found[0], b._senders / n * found[1]


def _change(rule: Any) -> Any:
    """Return the largest change of an estimate if a report is replaced by another one; None if there is no such number."""
    if isinstance(rule, Binomial):
        return (rule.debiasing.one - rule.debiasing.zero) / rule.n
    change = getattr(rule, "change", None)
    return None if callable(change) else change


def require_alike(a: Estimate[Any], b: Estimate[Any]) -> None:
    """Raise unless two estimates have the same shape, and the same labels and unit."""
    if np.shape(a.value) != np.shape(b.value) or a._meaning() != b._meaning():
        raise ValueError(
            f"estimates must answer the same question, got shapes {np.shape(a.value)} and {np.shape(b.value)}, and "
            f"{_shown(a)} and {_shown(b)}"
        )


def require_disjoint(a: Estimate[Any], b: Estimate[Any]) -> None:
    """Raise if two estimates are of the same people, or can be."""
    if a is b or (a._people is not None and b._people is not None and not a._people.are_disjoint(b._people)):
        raise ValueError(
            "estimates must be of different people, got two that can have people in common, whose covariance is not known. "
            "For groups use run(by=). If nobody takes part in both surveys, say so by survey.compare or survey.two_sample; "
            "for two answers of the same people ask a Cross"
        )


def require_no_overlap(a: Estimate[Any], b: Estimate[Any]) -> None:
    """Raise if two estimates are known to be of the same people."""
    if a is b or (a._people is not None and b._people is not None and a._people.in_common(b._people)):
        raise ValueError("estimates must be of different people, got two that are computed from the same reports")


def _common(a: Estimate[Any], b: Estimate[Any]) -> dict[str, Any]:
    people: People | None = None
    if a._people is not None and b._people is not None:
        people = a._people.joined(b._people)
    labels = tuple(a._entries(range(np.size(a.value))))
    return {
        "n": a.n + b.n,
        "guarantee": of_disjoint(a._whole_guarantee, b._whole_guarantee),
        "labels": labels,
        "_people": people,
    }


def _plain(x: Any) -> Any:
    return float(x) if np.ndim(x) == 0 else np.asarray(x)


def _plural(a: Estimate[Any]) -> str:
    name = a._names()[0].partition(",")[0]
    return name if name.startswith(("difference", "ratio")) else f"{name}s"


def _shown(a: Estimate[Any]) -> str:
    labels = a._entries(range(min(np.size(a.value), 4)))
    return f"{a._names()[0]} {labels}" if any(labels) else a._names()[0]
