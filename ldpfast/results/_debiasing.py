"""Maps from reports to unbiased numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Floats


@dataclass(frozen=True)
class Debiasing:
    """The affine map from a reported bit to an unbiased number: 0 is decoded as `zero`, 1 as `one`.

    Examples
    --------
    >>> from ldpfast.results import Debiasing
    >>> debiasing = Debiasing(zero=-0.5, one=1.5)
    >>> round(debiasing(0.4), 9), debiasing.probabilities
    (0.3, (0.75, 0.25))
    """

    zero: float
    one: float

    @classmethod
    def of(cls, p: Fraction, q: Fraction) -> Debiasing:
        """Return the debiasing of a bit that is 1 with probability p for 1 and with probability q for 0."""
        return cls(float(-q / (p - q)), float((1 - q) / (p - q)))

    @property
    def probabilities(self) -> tuple[float, float]:
        """Probabilities p and q of a 1, for 1 and for 0."""
        gain = self.one - self.zero
        return (1 - self.zero) / gain, -self.zero / gain

    def __call__(self, share: Any) -> Any:
        return self.zero + (self.one - self.zero) * share

    def variance(self, mean: Any) -> Any:
        """Return the variance of a decoded bit with the given mean."""
        return (mean - self.zero) * (self.one - mean)


@dataclass(frozen=True, eq=False)
class MatrixDebiasing:
    """The linear map from shares of codes to unbiased estimates: code z is decoded as row z of a matrix.

    Attributes
    ----------
    matrix : ndarray, shape (outputs, inputs)
        A right inverse of the channel: ``channel @ matrix`` is the identity.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.results import MatrixDebiasing
    >>> channel = np.array([[0.75, 0.25], [0.25, 0.75]])
    >>> MatrixDebiasing(np.linalg.inv(channel))([0.5, 0.5]).round(9).tolist()
    [0.5, 0.5]
    """

    matrix: Floats

    def __call__(self, share: Any) -> Any:
        return np.asarray(share) @ self.matrix

    def covariance(self, share: Floats) -> Floats:
        """Return the covariance of one decoded report, for the given probabilities of the codes."""
        decoded = share @ self.matrix
        return np.asarray((self.matrix.T * share) @ self.matrix - np.outer(decoded, decoded))


@dataclass(frozen=True, eq=False)
class NumberDebiasing:
    """The map from codes to unbiased numbers: code z is decoded as ``values[z]``.

    Examples
    --------
    >>> import ldpfast as ldp
    >>> ldp.Window(0, 1, 1.0).debiasing.values.shape
    (14,)
    """

    values: Floats


@dataclass(frozen=True, eq=False)
class SupportDebiasing:
    """The map from reports that each support a set of categories to unbiased shares.

    Attributes
    ----------
    k : int
        Number of categories.
    supported : callable
        ``supported(codes)`` returns which categories the codes support, booleans of shape (n, k).
    hits : callable
        ``hits(counts)`` returns the number of reports that support each category, from the int64 counts of the codes.
    line : Debiasing
        Debiasing of the share of reports that support a category.

    Examples
    --------
    >>> import numpy as np, ldpfast as ldp
    >>> debiasing = ldp.ProjectiveGeometryResponse(10, 1.0).debiasing
    >>> debiasing.supported(np.array([0, 1])).shape
    (2, 10)
    """

    k: int
    supported: Callable[[NDArray[Any]], NDArray[np.bool_]]
    hits: Callable[[NDArray[np.int64]], NDArray[np.int64]]
    line: Debiasing


@dataclass(frozen=True, eq=False)
class ViewDebiasing:
    """The map from reports about some of many questions to unbiased shares of all answers.

    The answer to question i in a view with question j counts `weight[i, j]` times, less its share among random answers; a
    question that is not in the view counts as a random answer.

    Attributes
    ----------
    weight : ndarray, shape (questions, questions)
        On the diagonal 0. All entries of a row are the same, except for views of two questions.
    moments : ndarray, shape (questions, 2)
        Second moment of a decoded answer less its share among random answers: for a share s it is moments[i, 0] +
        moments[i, 1] s.

    Examples
    --------
    >>> from ldpfast.mechanisms import ViewResponse
    >>> ViewResponse([2, 2, 3], 1.0).debiasing.weight.shape
    (3, 3)
    """

    weight: Floats
    moments: Floats


AnyDebiasing = Debiasing | MatrixDebiasing | NumberDebiasing | SupportDebiasing | ViewDebiasing


def line_of(debiasing: AnyDebiasing | None) -> Debiasing | None:
    """Return the debiasing of the bits or of the shares of supporting reports; None for other maps.

    Examples
    --------
    >>> import ldpfast as ldp
    >>> from ldpfast.results import line_of
    >>> line_of(ldp.ProjectiveGeometryResponse(10, 1.0).debiasing).zero < 0
    True
    """
    line = debiasing.line if isinstance(debiasing, SupportDebiasing) else debiasing
    return line if isinstance(line, Debiasing) else None
