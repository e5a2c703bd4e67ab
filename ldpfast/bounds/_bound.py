"""Results of bounds, and checks of the arguments that bounds have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from .._plots import axes, draw_bounds, draw_errors, height_of_rows
from .._table import html_table
from .._typing import Floats

Numeric = Any  # a float for numbers, an array for arrays
UNITS = {"squared error": "squared unit of the parameter", "integrated squared error": "records between 0 and 1"}


def with_unit(loss: str) -> str:
    """Return the label of an axis with errors: the loss and its unit."""
    return f"{loss} ({UNITS.get(loss, 'unit of the parameter')})"


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
        Upper bound for the usual estimator without privacy, at most `upper`.
    loss : str
        Loss in which the errors are measured.

    Examples
    --------
    >>> from ldpfast import bounds
    >>> bound = bounds.mean_l2(10_000, 10, 1.0)
    >>> bound.lower <= bound.upper
    True
    >>> bound.loss, round(bound.gap, 1)
    ('squared error', 23.6)
    """

    lower: Numeric
    upper: Numeric
    rate: Numeric
    source: str
    nonprivate: Numeric
    loss: str

    @property
    def gap(self) -> Numeric:
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

    def plot(self, ax: Any = None, *, x: ArrayLike | None = None, xlabel: str = "x") -> Any:
        """Draw the bounds, against n or epsilon if they are arrays, with the error without privacy.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Axes to draw on; those of a new figure by default.
        x : array_like of float, optional
            The numbers > 0 that the bounds are for, such as n. Needed for arrays, with one dimension.
        xlabel : str, default "x"
            What `x` is, with its unit.

        Returns
        -------
        ax : matplotlib.axes.Axes

        Raises
        ------
        ImportError
            If matplotlib is not installed (extra "plot").
        TypeError, ValueError
            If the bounds are arrays and `x` does not have their shape, or the other way around.
        """
        shape = np.shape(self.lower)
        if len(shape) > 1:
            raise ValueError(f"plot requires bounds of at most one dimension, got shape {shape}")
        if not shape:
            if x is not None:
                raise ValueError("x must be None for bounds that are numbers")
            rows = {"lower bound": self.lower, "upper bound": self.upper, "without privacy": self.nonprivate}
            ax = axes(ax, height_of_rows(len(rows)))
            labels = [name if error > 0 else f"{name}: 0" for name, error in rows.items()]
            draw_errors(ax, labels, list(rows.values()), "os^")
            ax.set_xlabel(with_unit(self.loss))
            ax.set_ylabel("bound")
            return ax
        places = None if x is None else _check.numbers("x", x)
        if places is None or places.shape != shape or (places <= 0).any():
            given = "None" if places is None else f"{places.min():g} in shape {places.shape}"
            raise ValueError(f"x must be numbers > 0 of the shape {shape} of the bounds, got {given}")
        ax = axes(ax)
        draw_bounds(ax, places, self.lower, self.upper, self.nonprivate)
        ax.set_xlabel(xlabel)
        ax.set_ylabel(with_unit(self.loss))
        ax.legend(fontsize=8)
        return ax

    def _repr_html_(self) -> str:
        names = ("lower", "upper", "rate", "nonprivate", "gap")
        parts = [np.ravel(getattr(self, name)).tolist() for name in names]
        columns = {name: [f"{x:.4g}" for x in part] for name, part in zip(names, parts, strict=True)}
        if np.ndim(self.lower):
            columns = {"index": [", ".join(map(str, index)) for index in np.ndindex(np.shape(self.lower))], **columns}
        return html_table(columns, (), f"{self.loss}; {self.source}")

    def __repr__(self) -> str:
        if np.ndim(self.lower):
            return f"<Bound: {self.loss}, shape {np.shape(self.lower)}; {self.source}>"
        return (
            f"<Bound: {self.loss} between {self.lower:.4g} and {self.upper:.4g} (rate {self.rate:.2g}, without privacy "
            f"{self.nonprivate:.2g}); {self.source}>"
        )


def _plain(value: ArrayLike) -> Numeric:
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


def check_epsilon(theorem: str, epsilon: ArrayLike, *, largest: float = 700.0) -> Floats:
    """Return epsilon, if it is in (0, `largest`]. The exponential of 700 is a finite double."""
    number = _check.numbers("epsilon", epsilon)
    _check.condition(theorem, "epsilon > 0", number > 0, epsilon=number)
    _check.condition(theorem, f"epsilon <= {largest:g}", number <= largest, epsilon=number)
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


def is_paper(method: str) -> bool:
    """Return whether `method` selects the published constants."""
    return _check.choice("method", method, ("sharp", "paper")) == "paper"
