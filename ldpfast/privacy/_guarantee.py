"""What was promised to the people in the data, and how promises add up."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .. import _check

DEFINITIONS = ("local", "pure")


@dataclass(frozen=True)
class Guarantee:
    """One privacy guarantee.

    Parameters
    ----------
    definition : {"local", "pure"}
        "local": each report is differentially private by itself, before anybody sees it. "pure": a trusted curator's
        release is.
    epsilon : float
        The parameter of the definition, >= 0.
    delta : float, default 0.0
        In [0, 1); 0 for both of the pure definitions.
    """

    definition: str
    epsilon: float
    delta: float = 0.0

    def __post_init__(self) -> None:
        _check.choice("definition", self.definition, DEFINITIONS)
        if not _check.real("epsilon", self.epsilon) >= 0:
            raise ValueError(f"epsilon must be a finite number >= 0, got {self.epsilon!r}")
        if not 0 <= _check.real("delta", self.delta) < 1:
            raise ValueError(f"delta must be in [0, 1), got {self.delta!r}")

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain types."""
        return {"definition": self.definition, "epsilon": self.epsilon, "delta": self.delta}


def _sum_up(values: list[float]) -> float:
    """The least double that is not below the exact sum."""
    exact = sum(map(Fraction, values), Fraction())
    if exact > Fraction(sys.float_info.max):
        return math.inf  # which `Guarantee` refuses
    nearest = float(exact)
    return math.nextafter(nearest, math.inf) if Fraction(nearest) < exact else nearest


def compose(*guarantees: Guarantee) -> Guarantee:
    """The guarantee of somebody who takes part in all of several releases.

    Parameters
    ----------
    *guarantees : Guarantee
        At least one; all of the same definition. Each round may look at the answers of the earlier ones.

    Returns
    -------
    total : Guarantee
        The epsilons and deltas add up; the sums are rounded up.

    Raises
    ------
    TypeError, ValueError
        If one is not a `Guarantee`; if there is none, or the definitions differ.

    Examples
    --------
    >>> from ldpfast.privacy import Guarantee, compose
    >>> compose(Guarantee("local", 0.5), Guarantee("local", 1.0))
    Guarantee(definition='local', epsilon=1.5, delta=0.0)
    """
    for guarantee in guarantees:
        if not isinstance(guarantee, Guarantee):
            raise TypeError(f"guarantees must be Guarantee objects, got {type(guarantee).__name__}")
    definitions = {g.definition for g in guarantees}
    if len(definitions) != 1:
        raise ValueError(f"guarantees must be of one definition, got {sorted(definitions) or 'none'}")
    return Guarantee(
        definitions.pop(), _sum_up([g.epsilon for g in guarantees]), _sum_up([g.delta for g in guarantees])
    )
