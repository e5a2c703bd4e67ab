"""Standard errors of least squares that take account of the leverage of each row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

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
    square = bread @ squares @ bread  # C is 1 - X B X' W - W X B X' + X `square` X'

    def pieces() -> Iterator[tuple[slice, Floats, Floats, Floats, Floats]]:
        """Yield the places of some rows with x, B x w / (1 - h), h, and the diagonal of C."""
        for part in rows.parts():
            x = rows.block(part)
            influence = x @ bread * weights[part, np.newaxis]
            leverage = (influence * x).sum(axis=1)
            _check_leverage(leverage, influence, part.start, rows.names)
            influence /= (1 - leverage)[:, np.newaxis]
            yield part, x, influence, leverage, 1 - 2 * leverage + (x @ square * x).sum(axis=1)

    units, highest = rows.to_units.T, (0.0, 0)
    covariance = np.zeros((size, size))
    trace = np.zeros(size)
    own = np.zeros(size)
    for part, x, influence, leverage, diagonal in pieces():
        scores = influence * residuals(part, x)[:, np.newaxis]
        covariance += scores.T @ scores
        d = np.square(influence @ units)
        trace += diagonal @ d
        own += np.square(diagonal) @ np.square(d)
        highest = max(highest, (float(leverage.max()), part.start + int(leverage.argmax())))
    people = int(np.count_nonzero(weights))
    freedom = np.square(trace) / own * ((people - size) / people)  # but for the entries of C beside the diagonal
    if freedom.min() < ENOUGH:
        # C is 1 - Z J Z' with the rows z = (x, w x) of Z
        middle = np.block([[-square, bread], [bread, np.zeros((size, size))]])
        joined = (
            (np.square(influence @ units), np.column_stack([x, weights[part, np.newaxis] * x]), diagonal)
            for part, x, influence, _, diagonal in pieces()
        )
        freedom = np.square(trace) / _squared_trace(joined, middle)
    if freedom.min() < LEAST_FREEDOM:
        name = rows.names[int(freedom.argmin())]
        warn(
            f"few rows decide the coefficient of {name!r}: its standard error has {freedom.min():.1f} degrees of freedom, and "
            f"is unreliable below {LEAST_FREEDOM:g}. The largest leverage is {highest[0]:.2f}, of row {highest[1]}",
            SmallSampleWarning,
        )
    return covariance, np.maximum(freedom, 1.0)


def _squared_trace(pieces: Iterable[tuple[Floats, Floats, Floats]], middle: Floats) -> Floats:
    """Return tr(D C D C) for the diagonal matrices D of all coefficients, from D, Z and the diagonal of C of all rows."""
    size, width = len(middle) // 2, len(middle)
    own, inside = np.zeros(size), np.zeros((size, width, width))
    for d, z, diagonal in pieces:
        own += (2 * diagonal - 1) @ np.square(d)
        inside += np.stack([(z * column[:, np.newaxis]).T @ z for column in d.T])
    turned = inside @ middle
    return np.asarray(own + np.einsum("jab,jba->j", turned, turned))


def _check_leverage(leverage: Floats, influence: Floats, start: int, names: tuple[str, ...]) -> None:
    """Raise if a row decides a coefficient alone."""
    if leverage.max() > 1 - NO_FREEDOM:
        place = int(leverage.argmax())
        name = names[int(np.abs(influence[place]).argmax())]
        raise ValueError(
            f"X must have no row that decides a coefficient alone, got row {start + place} for column {name!r}: leave out the "
            "column or the row"
        )
