"""Generalized linear models by averaged private gradient descent (Duchi, Jordan, Wainwright 2018, section 4.2.2)."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ... import _check
from ..._core import sgd
from ..._core.stream import Stream
from ..._typing import AnyArray, Floats
from ..._warnings import warn
from ...mechanisms import Gradient
from ...mechanisms._likelihood_question import FIRST_BLOCK, padded
from ...privacy import Guarantee
from ...results import DoubtfulWarning, Estimate, RandomScaling, SmallSampleWarning
from ..protocols import Sequential
from ._average import Average
from ._examples import InOrder, Shuffled, examples_of

if TYPE_CHECKING:
    from ..._random import RNGLike

# Measured: for a smaller eta0 curvature n^(1 - exponent), random scaling underestimates the spread of the positions.
MIXED = 50.0
# Measured: for a mean position beyond this part of the projection, intervals may not cover. Noise keeps the mean away from the
# border, even if the coefficients are beyond it.
NEAR_BORDER = 0.7
MAX_FEATURES, MAX_FULL = 1 << 18, 1 << 13  # without and with a full covariance matrix


class GradientDescent(Sequential):
    """Protocol for the coefficients of a generalized linear model: each person in turn sends a privatized gradient.

    Parameters
    ----------
    family : {"logistic", "linear", "poisson"}
        Model, with its canonical link.
    features : int
        Number of features in a row, in [1, 2^18]; at most 2^13 with a full covariance matrix.
    epsilon : float
        Privacy parameter of one gradient, > 0.
    norm : {"l2", "linf"}
        Norm in which rows are clipped and gradients privatized.
    radius : float, default 1.0
        Norm to which rows are clipped.
    noise : {"half-space", "auto", "laplace"}
        Mechanism of a gradient, as for `Gradient`. "auto" has the smallest error and takes more time: for 55 coefficients 3 to
        31 microseconds per person, where half-spaces take 0.2.
    column : float, default 0.0
        Value in the column of the intercept; 0 means no intercept.
    residual : float, optional
        Residuals are clipped to [-residual, residual]. Required unless the family is "logistic".
    eta0 : float, optional
        Size of the first step. The default is the diameter of the projection divided by the standard deviation of a
        coordinate of a report.
    exponent : float, default 0.6
        Step i has size eta0 i^-exponent, 1/2 < exponent < 1.
    projection : float, optional
        Largest Euclidean norm of a position, in [1e-60, 1e60]. The default is 5 / radius, for a linear model
        5 residual / radius.
    covariance : {"diagonal", "full", "none"}
        What random scaling computes: standard errors, or the covariance matrix as well (dim^2 time per person). "none":
        standard errors and limits are NaN, for a number of people for which they would not hold.

    Attributes
    ----------
    position : ndarray, shape (dim,)
        Current position, at which the next gradient is requested.
    n : int
        Number of answers so far.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as above.

    Notes
    -----
    Use `query`, `update` and `estimate` for one person after another, and `run` for arrays. The estimate is the mean of
    the positions after the burn-in. Its standard error is computed by random scaling from the positions, which are
    public. This needs no estimate of a Hessian and costs no additional privacy.

    The interval requires that eta0 times the smallest eigenvalue of the Hessian times n^(1 - exponent) is large.
    `mixing` is this product with an upper bound on the eigenvalue; where it is below 50, there is a
    `SmallSampleWarning`. Above 50, intervals of linear models cover if rows have about equal spread in all directions.
    Those of logistic and Poisson models cover less, because the positions spread over a curved likelihood. This biases
    their mean by up to half of its standard error, and the intercept of a Poisson model by about two standard errors.
    In units of the standard error, the bias falls only slowly with n; see docs/proofs/gradient.md. `NewtonStep` has
    intervals that cover, for a known number of people.

    Step sizes are computed with logarithms and exponentials of NumPy. Their last digits, and so those of the positions, depend
    on the processor.

    Privacy
    -------
    Sequentially interactive: one report of `Gradient` per person.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally private estimation",
       JASA 113 (2018), eq. 30 to 33 and lemma 2.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.estimation import GradientDescent
    >>> x = np.random.default_rng(1).uniform(-0.7, 0.7, (300_000, 2))
    >>> y = x @ [0.6, -0.4]
    >>> server = GradientDescent("linear", 2, 2.0, residual=1.0)
    >>> bool(np.abs(server.run(x, y, rng=1).value - [0.6, -0.4]).max() < 0.1)
    True
    """

    def __init__(
        self,
        family: str,
        features: int,
        epsilon: float,
        *,
        norm: str = "l2",
        radius: float = 1.0,
        noise: str = "half-space",
        column: float = 0.0,
        residual: float | None = None,
        eta0: float | None = None,
        exponent: float = 0.6,
        projection: float | None = None,
        covariance: str = "diagonal",
    ) -> None:
        self.covariance = _check.choice("covariance", covariance, ("diagonal", "full", "none"))
        full = self.covariance == "full"
        features = _check.integer("features", features, 1, MAX_FULL if full else MAX_FEATURES)
        dim = features + (_check.real("column", column) > 0)
        self._question = Gradient(
            family, (0.0,) * dim, epsilon, norm=norm, radius=radius, column=column, residual=residual, noise=noise
        )
        self.exponent = _check.real("exponent", exponent)
        if not 0.5 < self.exponent < 1:
            raise ValueError(f"exponent must be in (1/2, 1), got {exponent!r}")
        # The projection and the first step size follow from the unit of a coefficient and from the noise of a gradient.
        scale = self._question.residual if family == "linear" else None
        unit = (1.0 if scale is None else scale) / self._question.radius  # scale of a coefficient
        self.projection = 5 * unit if projection is None else _check.positive("projection", projection)
        if not 1e-60 <= self.projection <= 1e60:
            raise ValueError(f"projection must be in [1e-60, 1e60], got {self.projection!r}")
        self.variance = self._question.noise_variance
        self.eta0 = 2 * self.projection / math.sqrt(self.variance) if eta0 is None else _check.positive("eta0", eta0)
        super().__init__()
        self._position = np.zeros(self._kernel.padded)
        self._average = Average((4, self._kernel.padded), dim if full else None)

    def _compile(self) -> sgd.GradientDescent:
        return self._question.descent(self.projection)

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee for each person."""
        return self._question.guarantee

    @property
    def dim(self) -> int:
        """Number of coefficients, including the intercept."""
        return len(self._question.position)

    @property
    def position(self) -> Floats:
        """Position at which the next gradient is requested (a copy)."""
        return self._position[: self.dim].copy()

    @property
    def n(self) -> int:
        """Number of answers so far."""
        return self._average.count

    def _parameters(self) -> dict[str, Any]:
        question = self._question
        return {
            "family": question.family,
            "features": question.domain.features,
            "epsilon": question.epsilon,
            "norm": question.norm,
            "radius": question.radius,
            "noise": question.noise,
            "column": question.column,
            "residual": question.residual,
            "eta0": self.eta0,
            "exponent": self.exponent,
            "projection": self.projection,
            "covariance": self.covariance,
        }

    def _saved(self) -> list[Floats]:
        return [self._position, *self._average.saved()]

    def _restore(self, n: int, numbers: Floats) -> None:
        length = self._kernel.padded
        position = numbers[:length].copy()
        if position[self.dim :].any() or not math.hypot(*position) <= self.projection * (1 + 1e-9):
            raise ValueError("a position outside of the projection")
        self._average.restore(n, numbers[length:], self.projection * (1 + 1e-9))
        self._position = position

    def _current(self) -> Gradient:
        return replace(self._question, position=tuple(self.position.tolist()))

    def _apply(self, report: AnyArray) -> None:
        decoded = padded(self._question.ball.decode(report)[0], self._kernel.padded)
        average, (rate,) = self._average, self._rates(self.n, 1)
        self._kernel.step(decoded, rate, average.size, self._position, average.sums, average.matrix)
        average.advance(1)

    def _rates(self, before: int, n: int) -> Floats:
        """Return the step sizes of the n people who follow `before` others."""
        rates = np.arange(before + 1, before + n + 1, dtype=np.float64)
        np.log(rates, out=rates)  # faster than a power
        rates *= -self.exponent
        np.exp(rates, out=rates)
        rates *= self.eta0
        return rates

    def run(self, x: ArrayLike, y: ArrayLike, *, rng: RNGLike = None, shuffle: bool = False) -> Estimate[Floats]:
        """Run the whole protocol in one process; people are asked in the order of the rows or at random.

        Parameters
        ----------
        x : array_like of float, shape (n, features)
            Finite numbers; a memory map is read once.
        y : array_like, shape (n,)
            Responses, by family: 0 or 1, numbers, or numbers >= 0.
        rng : None, int, SeedSequence, Generator or BitGenerator
            Source of randomness; only ``None`` is private. What was given once must be given to later calls as well; its stream
            continues.
        shuffle : bool, default False
            Ask in random order, each row once. The rows are not copied; the order takes 8 bytes per row.

        Returns
        -------
        estimate : Estimate
            Estimate from all answers so far.

        Raises
        ------
        TypeError, ValueError
            If `x` and `y` do not fit together, or a record is not as above. The protocol is then unchanged.

        Notes
        -----
        O(n dim) time.
        """
        examples = examples_of(self._question.domain, x, y)
        with self._alone(len(examples)):
            stream = self._randomness.stream(rng)
            self._walk(stream, Shuffled(examples, stream) if shuffle else examples, len(examples))
            self._randomness.keep(rng, stream)
        return self.estimate()

    def _walk(self, stream: Stream, examples: InOrder, n: int) -> None:
        """Ask the first n people. An error about a record leaves the protocol as it was."""
        position = self._position.copy()
        average = self._average.copy()
        start = 0
        while start < n:
            stop = min(n, start + examples.at_a_time, start + average.room)
            first = FIRST_BLOCK + stream.take(-(-(stop - start) // self._kernel.rows))
            rates = self._rates(average.count, stop - start)
            valid = self._kernel.run(
                stream, first, *examples(start, stop), rates, average.size, position, average.sums, average.matrix
            )
            if not valid:
                raise examples.invalid_error()
            average.advance(stop - start)
            start = stop
        self._position, self._average = position, average

    def estimate(self) -> Estimate[Floats]:
        """Return the mean of the positions after the burn-in.

        Returns
        -------
        estimate : Estimate
            Coefficients with the intercept last, and intervals by random scaling, which are NaN with "none". `covariance` is
            None unless it is "full".

        Raises
        ------
        ValueError
            If there is no answer yet.

        Warns
        -----
        SmallSampleWarning
            If `mixing` is too small for any rows, unless there are no intervals.
        DoubtfulWarning
            If the mean position is near the border of the projection, with a sufficient `mixing`: the coefficients may be too
            large for `projection`, or the classes separated.
        """
        if self.n == 0:
            raise ValueError("an estimate needs at least 1 report, got n = 0")
        column = self._unit()
        has_intervals = self.covariance != "none"
        if self.mixing >= MIXED:
            self._warn_border()
        elif has_intervals:
            warn(
                f"n = {self.n} is too small for the intervals to be reliable: the steps are so short that the start still "
                "matters. Ask more people, or choose a larger epsilon, a larger eta0 or a smaller exponent "
                f"(eta0 curvature n^(1 - exponent) is at most {self.mixing:.2g}, and must be at least {MIXED:g})",
                SmallSampleWarning,
            )
        value, matrix = self._average.mean()[: self.dim], None
        stderr = self._average.stderr()[: self.dim] if has_intervals else np.full(self.dim, np.nan)
        if self._average.matrix is not None:
            matrix = self._average.covariance() * np.outer(column, column)
        return Estimate(value * column, stderr * column, self.n, self.guarantee, matrix, RandomScaling())

    def _warn_border(self) -> None:
        """Warn if the mean of the positions is near the border of the projection."""
        length = math.hypot(*self._average.mean()[: self.dim])
        if length > NEAR_BORDER * self.projection:
            family = self._question.family
            classes = ", or the two classes are separated, so that no finite ones exist" * (family == "logistic")
            wrong = "intervals then do not cover" if self.covariance != "none" else "are then too small"
            warn(
                f"the mean position of the steps has norm {length:.3g}, near the largest one, projection={self.projection:g}: "
                f"the coefficients may be beyond it{classes}, and {wrong}. Choose a larger projection"
                f"{', or divide the response by a constant' * (family == 'linear')}",
                DoubtfulWarning,
            )

    def _unit(self) -> Floats:
        """Return the factors from coordinates to coefficients: the intercept is the coefficient of 1, not of the column."""
        column = np.ones(self.dim)
        if self._question.column > 0:
            column[-1] = self._question.column
        return column

    @property
    def mixing(self) -> float:
        """eta0 times an upper bound on the smallest eigenvalue of the Hessian times n^(1 - exponent)."""
        return self._mixing_of(self.n)

    def _mixing_of(self, n: int) -> float:
        """Return `mixing` after n answers."""
        return float(self.eta0 * self._question.curvature * n ** (1 - self.exponent))

    def _has_valid_intervals(self, n: int) -> bool:
        """Return whether intervals cover after n answers, if rows have about equal spread in all directions."""
        return self._question.family == "linear" and self._mixing_of(n) >= MIXED

    def plug_in_covariance(self, hessian: ArrayLike) -> Floats:
        """Return the asymptotic covariance H^-1 S H^-1 / m of the estimate, where m is the number of averaged positions.

        With half-spaces the covariance S of a report is known for any data. With other noise S is the covariance of the report
        of a gradient of 0.

        Parameters
        ----------
        hessian : array_like, shape (dim, dim)
            H, the mean Hessian of the negative log-likelihood, for all coefficients with the intercept last. The
            Hessian of a row is 0 if its residual is clipped. H must come from public rows or from a private estimate;
            it is never computed from the records.

        Returns
        -------
        covariance : ndarray, shape (dim, dim)

        Raises
        ------
        TypeError, ValueError
            If `hessian` is not a positive definite matrix of this shape; if there is no answer yet.
        """
        return self._plug_in(hessian, self._average.kept if self.n else 0, self.variance)

    def _plug_in(self, hessian: ArrayLike, kept: int, variance: float) -> Floats:
        """Return the covariance of a mean of `kept` gradients, times the inverse of a given Hessian on both sides.

        `variance` is the variance of one coordinate of a report.
        """
        matrix = np.asarray(_check.floats("hessian", _check.array("hessian", hessian)), np.float64)
        if matrix.shape != (self.dim, self.dim) or not np.isfinite(matrix).all():
            raise ValueError(
                f"hessian must be a finite matrix of shape ({self.dim}, {self.dim}), got shape {matrix.shape}"
            )
        if not np.allclose(matrix, matrix.T) or not (np.linalg.eigvalsh(matrix) > 0).all():
            raise ValueError("hessian must be symmetric and positive definite")
        if kept == 0:
            raise ValueError("a covariance needs at least 1 report of a gradient, got none")
        inverse = np.linalg.inv(matrix)
        noise = np.diag(variance / self._unit() ** 2)
        return np.asarray(inverse @ noise @ inverse / kept)
