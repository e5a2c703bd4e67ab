"""Results of bounds, and checks of the arguments that bounds have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from .._typing import Floats

Number = Any  # a float for numbers, an array for arrays


@dataclass(frozen=True, eq=False)
class Bound:
    """Lower and upper bound on the smallest possible worst-case error, for given n and epsilon.

    Attributes
    ----------
    lower : float or ndarray
        Lower bound: every procedure with this privacy has at least this error for some distribution of the problem.
    upper : float or ndarray
        Upper bound: a procedure of this library (named in `source`), or an answer without data, has at most this error
        for every distribution.
    rate : float or ndarray
        Published rate: the order of the error, without constants.
    source : str
        Theorem and construction of the lower bound, procedure of the upper bound, and the reason if `lower` is 0.
    nonprivate : float or ndarray
        Upper bound for the usual estimator without privacy.
    loss : str
        Loss in which the errors are measured.
    """

    lower: Number
    upper: Number
    rate: Number
    source: str
    nonprivate: Number
    loss: str

    @property
    def gap(self) -> Number:
        """Ratio of the upper to the lower bound; infinite if the lower bound is 0."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return _plain(np.divide(self.upper, self.lower))

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain types.

        Returns
        -------
        described : dict
            Fields by name.
        """
        return {
            name: value if isinstance(value, str) else np.asarray(value).tolist() for name, value in vars(self).items()
        }

    def __repr__(self) -> str:
        if np.ndim(self.lower):
            return f"<Bound: {self.loss}, shape {np.shape(self.lower)}; {self.source}>"
        return (
            f"<Bound: {self.loss} between {self.lower:.4g} and {self.upper:.4g} (rate {self.rate:.2g}, without privacy "
            f"{self.nonprivate:.2g}); {self.source}>"
        )


def _plain(value: ArrayLike) -> Number:
    """Return an array, or a float for an array without dimensions."""
    array = np.asarray(value, np.float64)
    return float(array) if array.ndim == 0 else array


def bound(
    lower: ArrayLike,
    upper: ArrayLike,
    rate: ArrayLike,
    nonprivate: ArrayLike,
    *,
    loss: str,
    below: str,
    above: str,
    vacuous: str = "",
) -> Bound:
    """Return a `Bound` with broadcast fields. `vacuous` is the reason for a lower bound of zero."""
    parts = [np.asarray(part, np.float64) for part in (lower, upper, rate, nonprivate)]
    shape = np.broadcast_shapes(*(part.shape for part in parts))
    least, most, order, plain = (
        _plain(part if part.shape == shape else np.broadcast_to(part, shape)) for part in parts
    )
    source = f"lower: {below}; upper: {above}"
    if vacuous and np.any(parts[0] == 0):
        source += f"; lower = 0 where {vacuous}"
    return Bound(least, most, order, source, plain, loss)


def check_n(theorem: str, n: ArrayLike) -> Floats:
    """Return n, if it is >= 1. The formulas are continuous in n, so it need not be an integer."""
    number = _check.numbers("n", n)
    _check.condition(theorem, "n >= 1", number >= 1, n=number)
    return number


def check_epsilon(theorem: str, epsilon: ArrayLike, *, most: float = 700.0) -> Floats:
    """Return epsilon, if it is in (0, `most`]. The exponential of 700 is a finite double."""
    number = _check.numbers("epsilon", epsilon)
    _check.condition(theorem, "epsilon > 0", number > 0, epsilon=number)
    _check.condition(theorem, f"epsilon <= {most:g}", number <= most, epsilon=number)
    return number


def check_integer(theorem: str, name: str, value: ArrayLike, least: int = 1) -> Floats:
    """Return an integer such as a dimension, if it is at least `least`."""
    number = _check.numbers(name, value)
    _check.condition(theorem, f"{name} >= {least}", number >= least, **{name: number})
    _check.condition(theorem, f"a whole {name}", number == np.floor(number), **{name: number})
    return number


def check_scale(theorem: str, name: str, value: ArrayLike) -> Floats:
    """Return a number, if it is in [1e-100, 1e100], so that its square is a double."""
    number = _check.numbers(name, value)
    _check.condition(theorem, f"{name} > 0", number > 0, **{name: number})
    _check.condition(theorem, f"{name} in [1e-100, 1e100]", (number >= 1e-100) & (number <= 1e100), **{name: number})
    return number


def is_paper(mode: str) -> bool:
    """Return whether `mode` selects the published constants."""
    return _check.choice("mode", mode, ("sharp", "paper")) == "paper"
