"""One function for all conversions between definitions of privacy."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from ... import _check
from .._directed_rounding import Floats, float_or_array
from .._gaussian import concentrated_delta, concentrated_rho, gaussian_kl, gaussian_tv
from ._dp import delta_from_dp, delta_from_tv, epsilon_for_tv, tv_from_dp
from ._hypothesis_tests import (
    conditional_testing_from_dp,
    delta_from_conditional_testing,
    epsilon_from_conditional_testing,
)
from ._kl import delta_from_kl, epsilon_for_kl, kl_for_tv, kl_from_dp, tv_from_kl

Range = tuple[float, float, str]
NONNEGATIVE, POSITIVE = (0.0, math.inf, "[)"), (0.0, math.inf, "()")
PROBABILITY, BELOW_ONE = (0.0, 1.0, "[]"), (0.0, 1.0, "[)")
# Range and default of the options that are numbers; `at` has no default.
OPTIONS: dict[str, tuple[Range, float | None]] = {
    "delta": (BELOW_ONE, 0.0),
    "at": (NONNEGATIVE, None),
    "mass": (BELOW_ONE, 0.0),
    "sensitivity": (POSITIVE, 1.0),
}


class Conversion(NamedTuple):
    """Function of a level, the range of the level, and the options of the function."""

    function: Callable[..., Floats]
    level: Range
    options: tuple[str, ...] = ()


# By source and target. The result of "approximate" as a target is delta at the epsilon `at`.
FORWARD: dict[tuple[str, str], Conversion] = {
    ("pure", "approximate"): Conversion(delta_from_dp, NONNEGATIVE, ("at",)),
    ("pure", "tv"): Conversion(tv_from_dp, NONNEGATIVE, ("method",)),
    ("pure", "kl"): Conversion(kl_from_dp, NONNEGATIVE, ("method",)),
    ("pure", "conditional-testing"): Conversion(conditional_testing_from_dp, NONNEGATIVE, ("mass", "method")),
    ("approximate", "approximate"): Conversion(delta_from_dp, NONNEGATIVE, ("delta", "at")),
    ("approximate", "tv"): Conversion(tv_from_dp, NONNEGATIVE, ("delta", "method")),
    ("approximate", "conditional-testing"): Conversion(
        conditional_testing_from_dp, NONNEGATIVE, ("delta", "mass", "method")
    ),
    ("kl", "approximate"): Conversion(delta_from_kl, NONNEGATIVE, ("at",)),
    ("kl", "tv"): Conversion(tv_from_kl, NONNEGATIVE, ("method",)),
    ("tv", "approximate"): Conversion(delta_from_tv, PROBABILITY, ("at",)),
    ("conditional-testing", "pure"): Conversion(epsilon_from_conditional_testing, BELOW_ONE),
    ("conditional-testing", "approximate"): Conversion(delta_from_conditional_testing, BELOW_ONE, ("mass", "at")),
    ("concentrated", "approximate"): Conversion(concentrated_delta, POSITIVE, ("at",)),
    ("gaussian", "tv"): Conversion(gaussian_tv, POSITIVE, ("sensitivity",)),
    ("gaussian", "kl"): Conversion(gaussian_kl, POSITIVE, ("sensitivity",)),
}
INVERSE: dict[tuple[str, str], Conversion] = {
    ("pure", "tv"): Conversion(epsilon_for_tv, PROBABILITY),
    ("pure", "kl"): Conversion(epsilon_for_kl, NONNEGATIVE),
    ("approximate", "tv"): Conversion(epsilon_for_tv, PROBABILITY, ("delta",)),
    ("kl", "tv"): Conversion(kl_for_tv, PROBABILITY),
    ("concentrated", "approximate"): Conversion(concentrated_rho, (0.0, 1.0, "()"), ("at",)),
}


def convert(
    source: str,
    target: str,
    level: ArrayLike,
    *,
    delta: ArrayLike = 0.0,
    at: ArrayLike | None = None,
    mass: ArrayLike = 0.0,
    sensitivity: ArrayLike = 1.0,
    method: str = "sharp",
    inverse: bool = False,
) -> Any:
    """Return the parameter of one definition of privacy that another definition guarantees.

    Parameters
    ----------
    source : {"pure", "approximate", "tv", "kl", "conditional-testing", "concentrated", "gaussian"}
        Definition that holds. Its parameter is epsilon for "pure" and "approximate", which has `delta` too; the total variation
        or the Kullback-Leibler divergence (in both orders); the level of inherited conditional hypothesis testing, for sets of
        at least `mass`; rho of zero-concentrated privacy, which bounds the Renyi divergence of every order a by a rho; the
        standard deviation of normal noise, for a release with the given `sensitivity`.
    target : {"pure", "approximate", "tv", "kl", "conditional-testing"}
        Definition whose parameter is wanted: for "approximate" delta, at the epsilon `at`.
    level : array_like
        Parameter of the source; with `inverse`, of the target.
    delta : array_like, default 0.0
        Delta of the source "approximate", in [0, 1).
    at : array_like, optional
        Epsilon at which delta is wanted, >= 0, for the target "approximate" only.
    mass : array_like, default 0.0
        Smallest probability of a set that counts in conditional testing, in [0, 1).
    sensitivity : array_like, default 1.0
        Largest Euclidean norm of the change by one record, > 0, for the source "gaussian".
    method : {"sharp", "paper"}
        "sharp": the best bound; some channel attains it. "paper": a weaker published form, for "pure" and "approximate" to "tv"
        and "conditional-testing", for "pure" to "kl", and for "kl" to "tv".
    inverse : bool, default False
        Whether to return the largest parameter of the source that guarantees `level` of the target: for "pure" to "tv" and
        "kl", "approximate" and "kl" to "tv", and "concentrated" to "approximate".

    Returns
    -------
    level : float or ndarray
        Parameter of the target, rounded up; with `inverse`, of the source, rounded down. Arguments broadcast.

    Raises
    ------
    TypeError, ValueError
        If there is no conversion from `source` to `target`; if an argument is out of its range, or the conversion does not have
        it.

    Notes
    -----
    docs/privacy.md has a table of all pairs, with formulas and sources. For a single report of one person, "local" privacy is
    "pure". `gaussian_delta` and `gaussian_sigma` are for normal noise and (epsilon, delta)-privacy.

    Examples
    --------
    >>> from ldpfast.privacy import convert
    >>> round(convert("pure", "tv", 1.0), 4)  # tanh(1 / 2)
    0.4621
    >>> round(convert("pure", "tv", 0.5, inverse=True), 4)  # the epsilon for a total variation of 0.5
    1.0986
    >>> round(convert("kl", "approximate", 0.1, at=1.0), 4)  # delta at epsilon = 1
    0.055
    """
    table = INVERSE if _check.flag("inverse", inverse) else FORWARD
    if (source, target) not in table:
        allowed = ", ".join(f"{first!r} to {second!r}" for first, second in table)
        raise ValueError(
            f"source and target must be one of {allowed}{' with inverse=True' if inverse else ''}, "
            f"got {source!r} to {target!r}"
        )
    conversion = table[source, target]
    has_paper = "method" in conversion.options
    method = _check.choice("method", method, ("sharp", "paper") if has_paper else ("sharp",))
    given = {"delta": delta, "at": at, "mass": mass, "sensitivity": sensitivity}
    options: dict[str, Any] = dict(_options(given, conversion.options, f"from {source!r} to {target!r}"))
    if has_paper:
        options["method"] = method
    return float_or_array(conversion.function(_check.within("level", level, *conversion.level), **options))


def _options(given: dict[str, Any], names: tuple[str, ...], where: str) -> Iterator[tuple[str, Floats]]:
    """Yield the checked options of a conversion; raise ValueError if another one is not at its default."""
    for name, value in given.items():
        allowed, default = OPTIONS[name]
        if value is None:
            if name in names:
                raise ValueError(f"{name} must be given {where}")
            continue
        numbers = _check.within(name, value, *allowed)
        if name in names:
            yield name, numbers
        elif default is None:
            raise ValueError(f"{name} must not be given {where}")
        elif (numbers != default).any():
            raise ValueError(f"{name} must be {default:g} {where}, got {float(numbers[numbers != default].flat[0])!r}")
