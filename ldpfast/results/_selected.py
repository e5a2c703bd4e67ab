"""Some of the numbers of an estimate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import Floats
from ._estimate import Estimate, LabeledEstimate
from ._intervals import rounding_of
from ._test_result import is_by_coordinate


@dataclass(frozen=True, eq=False)
class Selected:
    """The limits of some of the numbers of an estimate.

    Attributes
    ----------
    whole : Estimate
    places : list of int
        Places of the numbers in the flattened value.
    """

    whole: Estimate[Any]
    places: list[int]

    @property
    def by_coordinate(self) -> bool:
        """Whether the rule of the estimate has limits for every coordinate by itself."""
        return is_by_coordinate(self.whole.rule)

    @property
    def needed(self) -> int:
        """Number of reports that are needed if there are too few, else 0."""
        return self.whole._needed

    @property
    def rounding(self) -> Any:
        """How much of a margin of the estimate can be an error that is not random."""
        return np.ravel(np.broadcast_to(rounding_of(self.whole.rule), np.shape(self.whole.value)))[self.places]

    def with_liars(self, share: float, n: Any) -> Selected:
        """Return the limits where some reports are forged."""
        return Selected(self.whole._with_liars(share), self.places)

    def largest_shift(self, share: float, n: Any) -> Floats:
        """Return how far forged reports can move each number."""
        return np.ravel(self.whole.largest_shift(share))[self.places]

    def bounds(self, value: Floats, stderr: Floats, tail: Any) -> tuple[Floats, Floats]:
        whole = self.whole
        if np.ndim(tail):
            tails = np.full(np.size(whole.value), 0.25)
            tails[self.places] = tail
            tail = tails.reshape(np.shape(whole.value))
        low, high = whole.rule.bounds(np.asarray(whole.value), np.asarray(whole.stderr), tail)
        return np.ravel(low)[self.places], np.ravel(high)[self.places]


def selected(found: Estimate[Any], places: Sequence[int]) -> LabeledEstimate:
    """Return some of the numbers of an estimate with their labels, by their places in the flattened value."""
    kept, whole = list(places), found._unbiased()
    return LabeledEstimate(
        value=np.ravel(whole.value)[kept],
        stderr=np.ravel(whole.stderr)[kept],
        n=found.n,
        guarantee=found._whole_guarantee,
        covariance=None if found.covariance is None else found.covariance[np.ix_(kept, kept)],
        rule=Selected(whole, kept),
        _span=found._span,
        _people=found._people,
        labels=tuple(found._entries(kept)),
        quantity=found._names()[0],
        _unit_text=found._unit(),
    )
