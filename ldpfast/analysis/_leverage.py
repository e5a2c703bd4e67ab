"""Standard errors of least squares that take account of the leverage of each row."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from .._typing import Floats
from .._warnings import warn
from ..results import SmallSampleWarning
from ._rows import Rows

NO_FREEDOM = 1e-9  # a row whose leverage is nearer to 1 decides a coefficient alone
LEAST_FREEDOM = 10.0  # degrees of freedom from which on limits cover, also for reports of two values
ENOUGH = 1000.0  # degrees of freedom from which on t quantiles are normal ones but for one part in 600


def jackknife_covariance(
    rows: Rows, weights: Floats, residuals: Callable[[slice, Floats], Floats], bread: Floats
) -> tuple[Floats, Floats]:
    """Return the covariance matrix HC3 of coefficients, and the degrees of freedom of each variance in the units of X.

    With the leverages h = w x' B x, where B is `bread`, the matrix is the sum of the squares of B x w e / (1 - h). So a
    variance is a sum of d e^2. If the reports have equal variances, the residuals e have the covariance matrix C = M M' with
    M = 1 - X B X' W, and the degrees of freedom are tr(D C)^2 / tr(D C D C) (Satterthwaite).

    Parameters
    ----------
    rows : Rows
    weights : ndarray, shape (n,)
    residuals : callable
        Residuals of some rows, from their places and their covariates.
    bread : ndarray, shape (columns, columns)
        Inverse of the sum of w x x'.

    Returns
    -------
    covariance : ndarray, shape (columns, columns)
    freedom : ndarray, shape (columns,)

    Raises
    ------
    ValueError
        If a row decides a coefficient alone, which has no standard error then.

    Warns
    -----
    SmallSampleWarning
        If a standard error has fewer than 10 degrees of freedom, because rows of high leverage decide it.

    References
    ----------
    .. [1] J. G. MacKinnon, H. White, "Some heteroskedasticity-consistent covariance matrix estimators with improved finite
       sample properties", Journal of Econometrics, 1985.
    .. [2] R. M. Bell, D. F. McCaffrey, "Bias reduction in standard errors for linear regression with multi-stage samples",
       Survey Methodology, 2002.
    """
    size = len(bread)
    squares = np.zeros((size, size))
    for part in rows.parts():
        inside = rows.block(part) * weights[part, np.newaxis]
        squares += inside.T @ inside
    # C = 1 - Z J Z' with the rows z = (x, w x) of Z
    middle = np.block([[-bread @ squares @ bread, bread], [bread, np.zeros((size, size))]])

    def pieces() -> Iterator[tuple[slice, Floats, Floats, Floats]]:
        """Yield the places of some rows with B x w / (1 - h), the rows z, and the diagonal of C."""
        for part in rows.parts():
            x, w = rows.block(part), weights[part, np.newaxis]
            influence = x @ bread * w
            rest = 1 - np.einsum("ij,ij->i", influence, x)
            _check_leverage(rest, influence, part.start, rows.names)
            z = np.column_stack([x, w * x])
            yield part, influence / rest[:, np.newaxis], z, 1 - np.einsum("ij,jk,ik->i", z, middle, z)

    covariance, trace, own, highest = np.zeros((size, size)), np.zeros(size), np.zeros(size), (0.0, 0)
    for part, influence, z, diagonal in pieces():
        x = z[:, :size]
        scores = influence * residuals(part, x)[:, np.newaxis]
        covariance += scores.T @ scores
        d = np.square(influence @ rows.to_units.T)
        trace += diagonal @ d
        own += np.square(diagonal) @ np.square(d)
        leverage = weights[part] * np.einsum("ij,jk,ik->i", x, bread, x)
        highest = max(highest, (float(leverage.max()), part.start + int(leverage.argmax())))
    people = int(np.count_nonzero(weights))
    freedom = np.square(trace) / own * ((people - size) / people)  # but for the entries of C beside the diagonal
    if freedom.min() < ENOUGH:
        freedom = np.square(trace) / _squared_trace(pieces(), middle, rows.to_units)
    if freedom.min() < LEAST_FREEDOM:
        name = rows.names[int(freedom.argmin())]
        warn(
            f"few rows decide the coefficient of {name!r}: its standard error has {freedom.min():.1f} degrees of freedom, and "
            f"is unreliable below {LEAST_FREEDOM:g}. The largest leverage is {highest[0]:.2f}, of row {highest[1]}",
            SmallSampleWarning,
        )
    return covariance, np.maximum(freedom, 1.0)


def _squared_trace(pieces: Iterator[tuple[slice, Floats, Floats, Floats]], middle: Floats, units: Floats) -> Floats:
    """Return tr(D C D C) for the diagonal matrices D of all coefficients."""
    size, width = len(units), len(middle)
    diagonal, inside = np.zeros(size), np.zeros((size, width, width))
    for _, influence, z, own in pieces:
        d = np.square(influence @ units.T)
        diagonal += (2 * own - 1) @ np.square(d)
        inside += np.stack([(z * column[:, np.newaxis]).T @ z for column in d.T])
    turned = inside @ middle
    return np.asarray(diagonal + np.einsum("jab,jba->j", turned, turned))


def _check_leverage(rest: Floats, influence: Floats, start: int, names: tuple[str, ...]) -> None:
    """Raise if a row decides a coefficient alone."""
    if rest.min() < NO_FREEDOM:
        place = int(rest.argmin())
        name = names[int(np.abs(influence[place]).argmax())]
        raise ValueError(
            f"X must have no row that decides a coefficient alone, got row {start + place} for column {name!r}: leave out the "
            "column or the row"
        )
