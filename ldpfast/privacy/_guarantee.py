"""Privacy guarantees, their composition, and group privacy."""

from __future__ import annotations

import decimal
import math
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

from .. import _check, _coins

BY_STRENGTH = ("local", "smooth", "pure", "approximate")  # local and smooth imply pure, which implies approximate
DEFINITIONS = ("local", "pure", "approximate", "smooth", "kl", "tv")


@dataclass(frozen=True)
class Guarantee:
    """One privacy guarantee.

    Parameters
    ----------
    definition : {"local", "pure", "approximate", "smooth", "kl", "tv"}
        "local": each report is differentially private by itself, without a trusted curator. The other definitions are for
        the release of a trusted curator; neighboring datasets differ in one record, which is replaced. "pure":
        epsilon-differentially private. "approximate": (epsilon, delta)-differentially private. "smooth": the loss is at most
        epsilon times the distance of the datasets, in a metric that is at most 1 for one record. "kl": the Kullback-Leibler
        divergence is at most epsilon. "tv": the total variation is at most epsilon.
    epsilon : float
        The parameter of the definition, >= 0; at most 1 for "tv". Infinite for reports of a design that protects nobody.
    delta : float, default 0.0
        In [0, 1); 0 for all but "approximate".
    ideal : bool, default False
        Whether the guarantee holds for noise of real numbers only. The release is computed in doubles, whose rounding can
        reveal more, without a known bound.
    lower : float, optional
        Lower bound on the smallest epsilon that holds at `delta`, where one is known and `epsilon` is more than 2 % above; not
        compared by ``==``. ``print`` then says that epsilon is between both.

    Raises
    ------
    TypeError, ValueError
        If a parameter is out of its range.

    Examples
    --------
    >>> from ldpfast.privacy import Guarantee
    >>> guarantee = Guarantee("approximate", 1.0, 1e-6)
    >>> guarantee.epsilon, guarantee.delta
    (1.0, 1e-06)
    """

    definition: str
    epsilon: float
    delta: float = 0.0
    ideal: bool = field(default=False, kw_only=True)
    lower: float | None = field(default=None, kw_only=True, compare=False)

    def __post_init__(self) -> None:
        _check.choice("definition", self.definition, DEFINITIONS)
        epsilon = (
            math.inf
            if isinstance(self.epsilon, float) and self.epsilon == math.inf
            else _check.real("epsilon", self.epsilon)
        )
        delta = _check.real("delta", self.delta)
        if math.isinf(epsilon) and self.definition != "local":
            raise ValueError(f"epsilon must be finite for {self.definition!r}, got {self.epsilon!r}")
        if not epsilon >= 0:
            raise ValueError(f"epsilon must be a finite number >= 0, got {self.epsilon!r}")
        if self.definition == "tv" and self.epsilon > 1:
            raise ValueError(f"epsilon must be at most 1 for 'tv', got {self.epsilon!r}")
        if not 0 <= delta < 1:
            raise ValueError(f"delta must be in [0, 1), got {self.delta!r}")
        if self.delta > 0 and self.definition != "approximate":
            raise ValueError(f"delta must be 0 for {self.definition!r}, got {self.delta!r}")
        _check.flag("ideal", self.ideal)
        if self.lower is not None and not 0 <= _check.real("lower", self.lower) <= epsilon:
            raise ValueError(f"lower must be in [0, epsilon] with epsilon={epsilon!r}, got {self.lower!r}")
        object.__setattr__(self, "epsilon", epsilon)
        object.__setattr__(self, "delta", delta)

    def __repr__(self) -> str:
        more = ", ideal=True" if self.ideal else ""
        if self.lower is not None:
            more += f", lower={self.lower!r}"
        return f"Guarantee(definition={self.definition!r}, epsilon={self.epsilon!r}, delta={self.delta!r}{more})"

    def __str__(self) -> str:
        if self.lower is None:
            return repr(self)
        ideal = ", ideal=True" if self.ideal else ""
        ends = [
            decimal.Context(prec=4, rounding=rounding).create_decimal_from_float(number)
            for number, rounding in ((self.lower, decimal.ROUND_FLOOR), (self.epsilon, decimal.ROUND_CEILING))
        ]
        span = f"epsilon between {float(ends[0])} and {float(ends[1])}"
        return f"Guarantee(definition={self.definition!r}, {span}, delta={self.delta!r}{ideal})"

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as types for JSON; None for an infinite epsilon, and no lower bound if none is known."""
        epsilon = self.epsilon if math.isfinite(self.epsilon) else None
        known = {} if self.lower is None else {"lower": self.lower}
        return {"definition": self.definition, "epsilon": epsilon, "delta": self.delta, "ideal": self.ideal, **known}


def compose(*guarantees: Guarantee) -> Guarantee:
    """Return the guarantee of several releases together, for a person who takes part in all of them.

    Parameters
    ----------
    *guarantees : Guarantee
        At least one, all with the same definition or with definitions that imply a common one: "local" and "smooth" imply
        "pure", which implies "approximate". A round may depend on the answers of the earlier ones.

    Returns
    -------
    total : Guarantee
        The epsilons and deltas are added. For "tv", the total is 1 minus the product of all 1 - t. Rounded up. It is ideal if
        one of the guarantees is.

    Raises
    ------
    TypeError, ValueError
        If an argument is not a `Guarantee`; if there is none; if no definition is implied by all (`convert`
        gives levels of a common one); if the sum of the deltas is 1 or more.

    Notes
    -----
    This is basic composition: pure and smooth losses add up, Kullback-Leibler divergences add up by the chain rule, and total
    variations are combined by a coupling of successive rounds. The result is attained, except for "approximate". For
    "approximate", and for pure rounds if a delta > 0 is acceptable, `composition_delta` is exact.

    Examples
    --------
    >>> from ldpfast.privacy import Guarantee, compose
    >>> compose(Guarantee("local", 0.5), Guarantee("local", 1.0))
    Guarantee(definition='local', epsilon=1.5, delta=0.0)
    """
    definition = _common_definition(guarantees)
    epsilons, deltas = [g.epsilon for g in guarantees], [g.delta for g in guarantees]
    ideal = any(g.ideal for g in guarantees)
    if definition == "tv":
        return Guarantee(
            "tv",
            _coins.round_up(1 - math.prod((1 - Fraction(t) for t in epsilons), start=Fraction(1))),
            0.0,
            ideal=ideal,
        )
    if math.inf in epsilons:
        return Guarantee(definition, math.inf, _coins.sum_up(deltas), ideal=ideal)
    epsilon = _check.real("epsilon", _coins.sum_up(epsilons))
    return Guarantee(definition, epsilon, _coins.sum_up(deltas), ideal=ideal)


def of_disjoint(*guarantees: Guarantee) -> Guarantee:
    """Return the guarantee of each person for releases about different people: the largest loss. As for `compose`."""
    definition = _common_definition(guarantees)
    epsilon, delta = (max(numbers) for numbers in zip(*((g.epsilon, g.delta) for g in guarantees), strict=True))
    return Guarantee(definition, epsilon, delta, ideal=any(g.ideal for g in guarantees))


def _common_definition(guarantees: tuple[Guarantee, ...]) -> str:
    """Return the definition of all guarantees, or the one that theirs imply."""
    for guarantee in guarantees:
        _require_guarantee("guarantees", guarantee)
    definitions = {g.definition for g in guarantees}
    if len(definitions) > 1 and definitions <= set(BY_STRENGTH):
        definitions = {max(definitions - {"local", "smooth"} or {"pure"}, key=BY_STRENGTH.index)}
    if len(definitions) != 1:
        raise ValueError(f"guarantees must be of one definition, got {sorted(definitions) or 'none'}")
    return definitions.pop()


def group(guarantee: Guarantee, size: int) -> Guarantee:
    """Return the guarantee for several records together that a guarantee for one record implies.

    Parameters
    ----------
    guarantee : Guarantee
        The guarantee for one record.
    size : int
        Number of records that are replaced, at least 1.

    Returns
    -------
    guarantee : Guarantee
        Epsilon is multiplied by `size` (and is at most 1 for "tv"), delta by ``(e^(size epsilon) - 1) / (e^epsilon - 1)``.
        Rounded up.

    Raises
    ------
    TypeError, ValueError
        If `guarantee` is not a `Guarantee`, or `size` is not an integer >= 1; if the definition is "kl" and `size` > 1, where
        there is no bound; if the resulting delta is 1 or more.

    Examples
    --------
    >>> from ldpfast.privacy import Guarantee, group
    >>> group(Guarantee("pure", 0.5), 3)
    Guarantee(definition='pure', epsilon=1.5, delta=0.0)
    """
    _require_guarantee("guarantee", guarantee)
    size = _check.integer("size", size, 1)
    definition, epsilon = guarantee.definition, guarantee.epsilon
    if definition == "kl" and size > 1:
        raise ValueError(f"guarantee must not be of the definition 'kl', which gives no bound for size={size}")
    if math.isinf(epsilon):
        return guarantee
    total = _coins.sum_up([Fraction(epsilon) * size])
    if definition == "tv":
        return Guarantee("tv", min(1.0, total), 0.0, ideal=guarantee.ideal)
    if guarantee.delta == 0:
        return Guarantee(definition, total, 0.0, ideal=guarantee.ideal)
    if total > 700:
        raise ValueError(f"size must be smaller for epsilon={epsilon!r} and a delta above 0, got {size}")
    with decimal.localcontext(_coins.CONTEXT) as context:
        context.prec += max(0, -Decimal(epsilon).adjusted())  # e^epsilon - 1 keeps 100 digits
        one, times = Decimal(epsilon).exp(), Decimal(size)
        if epsilon > 0 and size > 1:
            times = (one**size - 1) / (one - 1) * (1 + Decimal("1e-80"))  # the factor covers the errors of decimals
        return Guarantee(definition, total, _coins.round_up(Decimal(guarantee.delta) * times), ideal=guarantee.ideal)


def _require_guarantee(name: str, value: Any) -> None:
    if not isinstance(value, Guarantee):
        raise TypeError(f"{name} must be Guarantee objects, got {type(value).__name__}")
