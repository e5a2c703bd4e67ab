"""What a bound says: two numbers (or arrays of them), and where they come from."""

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
    """The smallest error that is possible in the worst case: between `lower` and `upper`, for these very n and epsilon.

    Attributes
    ----------
    lower : float or ndarray
        No procedure with this privacy does better for every law of the problem.
    upper : float or ndarray
        A procedure of this library (named in `source`), or an answer without data, does as well for every law.
    rate : float or ndarray
        The published rate: the order of the error, without constants.
    source : str
        Theorem and construction of the lower bound, procedure of the upper one; why `lower` is 0 where it is.
    nonprivate : float or ndarray
        An upper bound for the usual estimator without privacy.
    loss : str
        What the numbers measure.
    """

    lower: Number
    upper: Number
    rate: Number
    source: str
    nonprivate: Number
    loss: str

    @property
    def gap(self) -> Number:
        """Upper over lower bound: how much is not known; infinite where there is no lower bound."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return _plain(np.divide(self.upper, self.lower))

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain types.

        Returns
        -------
        described : dict
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
    """A float for a number."""
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
    """Put together; `vacuous` says why a lower bound can be zero."""
    parts = [np.asarray(part, np.float64) for part in (lower, upper, rate, nonprivate)]
    shape = np.broadcast_shapes(*(part.shape for part in parts))
    least, most, order, plain = (
        _plain(part if part.shape == shape else np.broadcast_to(part, shape)) for part in parts
    )
    source = f"lower: {below}; upper: {above}"
    if vacuous and np.any(parts[0] == 0):
        source += f"; lower = 0 where {vacuous}"
    return Bound(least, most, order, source, plain, loss)


def people(theorem: str, n: ArrayLike) -> Floats:
    """n >= 1; the formulas are continuous in n, so that it need not be whole."""
    number = _check.numbers("n", n)
    _check.condition(theorem, "n >= 1", number >= 1, n=number)
    return number


def level(theorem: str, epsilon: ArrayLike, *, most: float = 700.0) -> Floats:
    """0 < epsilon <= 700, where its exponential is a double."""
    number = _check.numbers("epsilon", epsilon)
    _check.condition(theorem, "epsilon > 0", number > 0, epsilon=number)
    _check.condition(theorem, f"epsilon <= {most:g}", number <= most, epsilon=number)
    return number


def size(theorem: str, name: str, value: ArrayLike, least: int = 1) -> Floats:
    """A whole number, such as a dimension."""
    number = _check.numbers(name, value)
    _check.condition(theorem, f"{name} >= {least}", number >= least, **{name: number})
    _check.condition(theorem, f"a whole {name}", number == np.floor(number), **{name: number})
    return number


def scale(theorem: str, name: str, value: ArrayLike) -> Floats:
    """A number > 0 whose square is a double."""
    number = _check.numbers(name, value)
    _check.condition(theorem, f"{name} > 0", number > 0, **{name: number})
    _check.condition(theorem, f"{name} in [1e-100, 1e100]", (number >= 1e-100) & (number <= 1e100), **{name: number})
    return number


def is_paper(mode: str) -> bool:
    """Whether the published constants are wanted."""
    return _check.choice("mode", mode, ("sharp", "paper")) == "paper"
