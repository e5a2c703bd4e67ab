"""Generalized linear models by private gradient descent and one Newton step, with intervals that cover.

One class; half of the lines are docstrings of its public methods and its warnings.
"""

from __future__ import annotations

import copy
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from ... import _check
from ..._core.stream import Stream
from ..._typing import AnyArray, Floats
from ..._warnings import warn
from ...mechanisms import Gradient, Hessian, Mechanism
from ...mechanisms._hessian import MAX_COEFFICIENTS
from ...mechanisms._likelihood_question import NOISES
from ...privacy import Guarantee
from ...results import DoubtfulWarning, Estimate, Normal, SmallSampleWarning
from ..protocols import Sequential
from ._examples import InOrder, Shuffled, examples_of
from ._gradient_descent import GradientDescent
from ._step_bias import step_bias

if TYPE_CHECKING:
    from ..._random import RNGLike

STEP_SHARE, HESSIAN_SHARE = 0.25, 0.15  # shares of the people who take steps, and who report their Hessian
# Measured: with a larger noise of the Hessian, relative to its smallest eigenvalue, the error of the estimate increases.
MAX_NOISE = 0.17
# Measured: with a larger standard error of the linear predictor, the curvature of the likelihood increases the error.
MAX_STDERR = 0.12
# With a larger move of the linear predictor, terms of third order matter, for which the interval does not allow.
MAX_MOVE = 1.0
FAR = 1e6  # standard deviations beyond which no decoded report is
SPREAD = 3.0  # assumed quotient of the largest possible second moment in all directions and the smallest of the rows


class NewtonStep(Sequential):
    """Protocol for the coefficients of a generalized linear model: gradient descent by some people, then one Newton step.

    The first quarter of the people takes the steps of `GradientDescent`. The mean of the positions is then held. Of the
    others, some report their Hessian there and most report their gradient.

    Parameters
    ----------
    family, features, epsilon, norm, radius, column, residual, eta0, exponent, projection
        As for `GradientDescent`; at most 512 coefficients.
    noise : {"auto", "half-space", "laplace"}
        Mechanism of the Hessians and of the gradients at the held position, as for `Gradient`. The steps have half-spaces for
        "auto". "half-space" is faster, and needs more people.
    n : int
        Number of people who will be asked, >= 4. Further people report their gradient.
    covariance : {"diagonal", "full"}
        Whether the estimate has standard errors only, or the covariance matrix as well.

    Attributes
    ----------
    n : int
        Number of answers so far.
    is_held : bool
        Whether the steps are complete.
    sufficient_n : int
        Number of people from which the intervals cover, if rows spread about equally in all directions.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as above.

    Notes
    -----
    The estimate is position - H^-1 g, where H and g are the means of the Hessians and gradients. Its standard error follows
    from the known noise of both, or for gradients with other noise than half-spaces from the sample. Intervals of logistic and
    Poisson models allow for the bias of a single step, of the order of its square: at `sufficient_n` they are 1.1 to 1.9 times
    as wide as normal ones, with four times as many people about 1.1 times. The coverage of 95 % intervals is 0.93 to 1 in
    simulations with 1 to 6 features and epsilon from 1 to 8, and the error is 0.5 to 1.1 times that of `GradientDescent`; see
    docs/proofs/gradient.md.
    For a Poisson model, mean responses above the larger of `residual` and 3 have too small a Hessian.
    People must be asked in an order that has nothing to do with their records: use `shuffle` for sorted data. When the steps
    are complete, `ldpfast.dask.aggregate` and `ldpfast.spark.aggregate` can ask all other people at once.

    Privacy
    -------
    Sequentially interactive: one report of `Gradient` or `Hessian` per person.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally private estimation",
       JASA 113 (2018), section 4.2.2.
    .. [2] A. W. van der Vaart, "Asymptotic statistics", Cambridge University Press, 1998, section 5.7 (one-step estimators).

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.estimation import NewtonStep
    >>> x = np.random.default_rng(1).uniform(-0.7, 0.7, (300_000, 2))
    >>> server = NewtonStep("linear", 2, 2.0, n=len(x), residual=1.0)
    >>> bool(np.abs(server.run(x, x @ [0.6, -0.4], rng=1).value - [0.6, -0.4]).max() < 0.1)
    True
    """

    def __init__(
        self,
        family: str,
        features: int,
        epsilon: float,
        *,
        n: int,
        norm: str = "l2",
        radius: float = 1.0,
        noise: str = "auto",
        column: float = 0.0,
        residual: float | None = None,
        eta0: float | None = None,
        exponent: float = 0.6,
        projection: float | None = None,
        covariance: str = "diagonal",
    ) -> None:
        _check.integer("features", features, 1, MAX_COEFFICIENTS)
        self.noise = _check.choice("noise", noise, NOISES)
        self._steps = GradientDescent(
            family,
            features,
            epsilon,
            norm=norm,
            radius=radius,
            noise="half-space" if noise == "auto" else noise,
            column=column,
            residual=residual,
            eta0=eta0,
            exponent=exponent,
            projection=projection,
        )
        self.horizon = _check.people("n", n, 4)
        self.covariance = _check.choice("covariance", covariance, ("diagonal", "full"))
        self._n_steps, self._n_hessians = round(STEP_SHARE * self.horizon), round(HESSIAN_SHARE * self.horizon)
        question = {**self._steps._question._parameters(), "noise": noise}
        self._gradient, self._hessian = Gradient(**question), Hessian(**question)
        self._scales = self._hessian.scales
        self._hessian_sum, self._gradient_sum = np.zeros(len(np.triu_indices(self.dim)[0])), np.zeros(self.dim)
        # Sums of the products of two coordinates of a gradient, where its covariance is not known.
        self._gradient_products = np.zeros((0, 0) if self._gradient.has_known_noise else (self.dim, self.dim))
        self._n = self._hessians = 0
        super().__init__()

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee for each person: the weakest one of a step, a gradient and a Hessian."""
        guarantees = self._steps.guarantee, self._gradient.guarantee, self._hessian.guarantee
        return max(guarantees, key=lambda guarantee: guarantee.epsilon)

    @property
    def dim(self) -> int:
        """Number of coefficients, including the intercept."""
        return self._steps.dim

    @property
    def n(self) -> int:
        """Number of answers so far."""
        return self._n

    @property
    def position(self) -> Floats:
        """Position about which the next person is asked (a copy)."""
        return self._held if self.is_held else self._steps.position

    @property
    def is_held(self) -> bool:
        """Whether the steps are complete, so that all other people are asked about one position."""
        return self._n >= self._n_steps

    @property
    def _held(self) -> Floats:
        """Mean of the positions of the steps, at which Hessians and gradients are reported."""
        return self._steps._average.mean()[: self.dim]

    @property
    def sufficient_n(self) -> int:
        """Number of people from which the noise of the Hessian is small, and the likelihood is nearly a parabola.

        A second moment of the rows of at least a third of the largest possible one, if it is equal in all directions, is
        assumed. For a Poisson model, mean responses of about 1 are assumed.
        """
        question = self._hessian
        square = question.radius**2 / (question.features if question.norm == "l2" else 1)
        curvature = square / SPREAD / (4 if question.family == "logistic" else 1)
        sufficient = (self._row_noise() / (MAX_NOISE * curvature)) ** 2 / HESSIAN_SHARE
        if question.family != "linear":
            # Of the linear predictor, from the gradient of one person.
            variance = self._gradient.noise_variance * square / curvature**2
            sufficient = max(sufficient, variance / MAX_STDERR**2 / (1 - STEP_SHARE - HESSIAN_SHARE))
        return math.ceil(sufficient)

    def _row_noise(self) -> float:
        """Return the standard deviation of the noise of a row of the scaled Hessian of one report: the largest of all rows."""
        return math.sqrt(float((self._hessian.variances * np.outer(self._scales, self._scales) ** 2).sum(axis=1).max()))

    def _parameters(self) -> dict[str, Any]:
        steps = self._steps._parameters()
        return {**steps, "noise": self.noise, "n": self.horizon, "covariance": self.covariance}

    def _pinned(self) -> dict[str, Any]:
        questions = {"step": self._steps._question, "gradient": self._gradient, "hessian": self._hessian}
        return {name: question.schema()["coins"] for name, question in questions.items()}

    def _saved(self) -> list[Floats]:
        count = np.array([self._hessians], np.float64)
        return [count, self._hessian_sum, self._gradient_sum, self._gradient_products, *self._steps._saved()]

    def _restore(self, n: int, numbers: Floats) -> None:
        entries, dim = len(self._hessian_sum), self.dim
        ((hessians,), hessian_sum, gradient_sum, products, rest) = np.split(
            numbers, np.cumsum([1, entries, dim, self._gradient_products.size]).tolist()
        )
        held = max(0, n - self._n_steps)
        if not (0 <= hessians <= held and hessians == int(hessians)):
            raise ValueError(f"{hessians:g} Hessians, which {n} answers cannot have")
        gradients = held - int(hessians)
        for question, sums, count in (
            (self._hessian, hessian_sum, int(hessians)),
            (self._gradient, gradient_sum, gradients),
        ):
            if not np.all(np.abs(sums) <= count * FAR * math.sqrt(question.worst_variance)):
                raise ValueError(f"sums that {count} reports cannot have")
        largest = gradients * FAR**2 * self._gradient.worst_variance
        if not np.all(np.abs(products) <= largest):
            raise ValueError(f"products that {gradients} reports cannot have")
        self._steps._restore(min(n, self._n_steps), rest)
        self._n, self._hessians = n, int(hessians)
        self._hessian_sum, self._gradient_sum = hessian_sum.copy(), gradient_sum.copy()
        self._gradient_products = products.reshape(self._gradient_products.shape).copy()

    def _current(self) -> Mechanism:
        if not self.is_held:
            return replace(self._steps._question, position=tuple(self.position.tolist()))
        return self._held_question(self._asks_hessian)

    @property
    def _asks_hessian(self) -> bool:
        """Whether the next person at the held position reports a Hessian."""
        return self._hessians < self._n_hessians

    def _held_question(self, is_hessian: bool) -> Gradient | Hessian:
        return replace(self._hessian if is_hessian else self._gradient, position=tuple(self._held.tolist()))

    def _apply(self, report: AnyArray) -> None:
        if self.is_held:
            self._tally_held(self._asks_hessian, report)
        else:
            self._steps._apply(report)
            self._n += 1

    def _tally_held(self, is_hessian: bool, reports: AnyArray) -> None:
        """Add reports at the held position."""
        question = self._hessian if is_hessian else self._gradient
        rows = question.decode(reports).astype(np.float64, copy=False)
        if is_hessian:
            self._hessian_sum = self._hessian_sum + rows.sum(axis=0)
            self._hessians += len(rows)
        else:
            self._gradient_sum = self._gradient_sum + rows.sum(axis=0)
            if self._gradient_products.size:
                self._gradient_products = self._gradient_products + rows.T @ rows
        self._n += len(rows)

    @property
    def _hessian_share(self) -> float:
        """Planned share of Hessians among the answers at the held position."""
        return self._n_hessians / (self.horizon - self._n_steps)

    def _held_part(self) -> Self:
        """Return a server with the same steps and no other answers, for some of the people who are asked at once."""
        part = copy.copy(self)
        part._n, part._hessians = self._n_steps, 0
        for name in ("_hessian_sum", "_gradient_sum", "_gradient_products"):
            setattr(part, name, np.zeros_like(getattr(self, name)))
        return part

    def _merge_part(self, part: NewtonStep) -> None:
        """Add the answers of a part of the people."""
        with self._alone(part._n - self._n_steps):
            self._hessian_sum = self._hessian_sum + part._hessian_sum
            self._gradient_sum = self._gradient_sum + part._gradient_sum
            self._gradient_products = self._gradient_products + part._gradient_products
            self._hessians += part._hessians
            self._n += part._n - self._n_steps

    def run(self, x: ArrayLike, y: ArrayLike, *, rng: RNGLike = None, shuffle: bool = False) -> Estimate[Floats]:
        """Run the whole protocol in one process; people are asked in the order of the rows or at random.

        Parameters
        ----------
        x, y, rng, shuffle
            As for `GradientDescent.run`.

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
        O(n dim) time for steps and gradients, O(n dim^2) for Hessians.
        """
        examples = examples_of(self._gradient.domain, x, y)
        with self._alone(len(examples)):
            stream = self._randomness.stream(rng)
            work = copy.copy(self)
            work._ask(stream, Shuffled(examples, stream) if shuffle else examples)
            for name in ("_n", "_steps", "_hessians", "_hessian_sum", "_gradient_sum", "_gradient_products"):
                setattr(self, name, getattr(work, name))
            self._randomness.keep(rng, stream)
        return self.estimate()

    def _ask(self, stream: Stream, examples: InOrder) -> None:
        """Ask people, in the phases that are not complete yet."""
        start = min(len(examples), max(0, self._n_steps - self._n))
        self._steps._walk(stream, examples, start)
        self._n += start
        while start < len(examples):
            is_hessian = self._asks_hessian
            left = self._n_hessians - self._hessians if is_hessian else len(examples)
            stop = min(len(examples), start + examples.at_a_time, start + left)
            question = self._held_question(is_hessian)
            records = examples.records(start, stop)
            if question.domain.first_invalid(records) >= 0:
                raise examples.invalid_error()
            self._tally_held(is_hessian, question.privatize(records, rng=stream))  # type: ignore[arg-type]
            start = stop

    def estimate(self) -> Estimate[Floats]:
        """Return the coefficients after the Newton step, or the mean of the positions before there are gradients.

        Returns
        -------
        estimate : Estimate
            Coefficients with the intercept last, and normal intervals. `covariance` is None unless it is "full".

        Raises
        ------
        ValueError
            If there is no answer yet.

        Warns
        -----
        SmallSampleWarning
            If n is below `sufficient_n`, or the number of gradients below half of what is planned for it.
        DoubtfulWarning
            With a sufficient n, if the Hessian is too noisy for the step, because rows hardly vary in some direction, or if the
            held position is near the border of the projection, because coefficients are too large or classes separated. If the
            mean response of a Poisson model is too large for `residual`. If the step moves the linear predictor by more than 1.
        """
        gradients = self._gradients
        if gradients == 0 or self._hessians == 0:
            return self._steps.estimate()
        if self._n < self.sufficient_n:
            warn(
                f"n = {self._n} is too small for the intervals to be reliable: at least {self.sufficient_n} people are needed "
                "(sufficient_n)",
                SmallSampleWarning,
            )
        elif gradients < (least := math.ceil(self.sufficient_n * (1 - STEP_SHARE - HESSIAN_SHARE) / 2)):
            warn(
                f"n = {self._n} is too small for the intervals to be reliable: {gradients} people have reported their "
                f"gradient, at least {least} are needed",
                SmallSampleWarning,
            )
        else:
            self._steps._warn_border()
        # One Newton step from the held position. Its covariance is that of the mean gradient, noise included, and of the noise
        # of the Hessian times the step; the bias of a single step widens the intervals.
        self._warn_large_means()
        inverse = self._inverse_hessian()
        step = inverse @ (self._gradient_sum / gradients)
        covariance = inverse @ self._noise(step, gradients) @ inverse
        bias, move = step_bias(self._hessian.family, step, inverse, self._hessian.column)
        if move > MAX_MOVE and self._n >= self.sufficient_n:
            warn(
                f"the Newton step moves the linear predictor by {move:.2g} in the root mean square, more than {MAX_MOVE:g}, up "
                "to which the interval allows for the bias of a single step: ask more people, or choose a larger epsilon",
                DoubtfulWarning,
            )
        column = self._steps._unit()
        matrix = covariance * np.outer(column, column)
        return Estimate(
            (self._held - step) * column,
            np.sqrt(np.diag(matrix)),
            self._n,
            self.guarantee,
            matrix if self.covariance == "full" else None,
            Normal(bias * column),
        )

    def plug_in_covariance(self, hessian: ArrayLike) -> Floats:
        """Return the covariance H^-1 S H^-1 / m of the estimate for a given Hessian, where m is the number of gradients.

        Parameters
        ----------
        hessian : array_like, shape (dim, dim)
            As for `GradientDescent.plug_in_covariance`. With "auto", a report is taken to have the covariance that it has for
            a gradient of 0.

        Returns
        -------
        covariance : ndarray, shape (dim, dim)

        Raises
        ------
        TypeError, ValueError
            If `hessian` is not a positive definite matrix of this shape; if there is no gradient yet.
        """
        return self._steps._plug_in(hessian, self._gradients, self._gradient.noise_variance)

    @property
    def _gradients(self) -> int:
        """Number of gradients at the held position so far."""
        return max(0, self._n - self._n_steps - self._hessians)

    def _inverse_hessian(self) -> Floats:
        """Return the inverse of the Hessian. Eigenvalues of the scaled Hessian below its noise are raised to it."""
        scales = np.outer(self._scales, self._scales)
        values, vectors = np.linalg.eigh(self._hessian.matrix(self._hessian_sum / self._hessians) * scales)
        noise = self._row_noise() / math.sqrt(self._hessians)
        if values[0] < 2 * noise and self._n >= self.sufficient_n:
            warn(
                "the Hessian is too noisy for the Newton step: its smallest eigenvalue is "
                f"{values[0]:.2g}, and its noise {noise:.2g}. Rows hardly vary in some direction",
                DoubtfulWarning,
            )
        return np.asarray((vectors / np.maximum(values, noise)) @ vectors.T * scales)

    def _noise(self, step: Floats, gradients: int) -> Floats:
        """Return the covariance of H step - g, from the noise of the gradients and of the Hessian."""
        noise = self._gradient.noise_variance * np.eye(self.dim)
        if self._gradient_products.size:  # the covariance of the reports depends on the records
            mean = self._gradient_sum / gradients
            noise = self._gradient_products / gradients - np.outer(mean, mean)
        variances = self._hessian.variances / self._hessians
        mixed = variances * np.outer(step, step)
        np.fill_diagonal(mixed, variances @ step**2)
        return np.asarray(noise / gradients + mixed)

    def _warn_large_means(self) -> None:
        """Warn if the fitted mean of a row of zeros is so large that those of other rows may exceed the cap of the Hessian."""
        question = self._hessian
        if question.family != "poisson":
            return
        center = math.exp(min(float(self._held[-1]) * question.column, 700.0)) if question.column > 0 else 1.0
        if center > question.cap / 2:
            warn(
                f"the fitted mean of a row of zeros is {center:.2g}, and the Hessian of means above {question.cap:g} is too "
                f"small: residual must be at least {2 * center:.2g} for the interval, got {question.residual:g}",
                DoubtfulWarning,
            )
