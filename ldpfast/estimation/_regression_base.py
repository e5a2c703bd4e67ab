"""Base class of the scikit-learn estimators for generalized linear models."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .. import _check, _objects
from .._extras import optional
from .._labels import require_one_index
from .._typing import AnyArray, Floats
from .._warnings import warn
from ..mechanisms._hessian import MAX_COEFFICIENTS
from ..results import ClippedWarning, Estimate, SmallSampleWarning
from .sgd import GradientDescent, NewtonStep

if TYPE_CHECKING:
    from .._random import RNGLike

base = optional("sklearn.base", "sklearn")
METHODS = ("auto", "newton", "sgd")
validation = optional("sklearn.utils.validation", "sklearn")


@contextmanager
def _without_values(names: str) -> Iterator[None]:
    """Replace errors of scikit-learn whose messages hold a record's value."""
    try:
        yield
    except ValueError as error:
        if "could not convert" in str(error):
            raise ValueError(f"{names} must hold numbers; at least one value is text") from None
        if "Unknown label type" in str(error):
            raise ValueError("Unknown label type: y must hold two classes, as numbers or as texts") from None
        raise


class PrivateRegression(base.BaseEstimator):  # type: ignore[misc,name-defined]
    """Base class of the estimators. Each row of X answers once, in one pass."""

    _family: str
    _descent: GradientDescent | NewtonStep
    _state: Any  # the latest random state, and the `rng` that was made of it
    _given: RNGLike

    def __init__(
        self,
        epsilon: float = 1.0,
        *,
        norm: str = "l2",
        radius: float = 1.0,
        noise: str = "auto",
        fit_intercept: bool = True,
        intercept_scaling: float | None = None,
        eta0: float | None = None,
        exponent: float = 0.6,
        projection: float | None = None,
        shuffle: bool = False,
        covariance: str = "diagonal",
        method: str = "auto",
        random_state: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.norm = norm
        self.radius = radius
        self.noise = noise
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.eta0 = eta0
        self.exponent = exponent
        self.projection = projection
        self.shuffle = shuffle
        self.covariance = covariance
        self.method = method
        self.random_state = random_state

    def _protocol(self, features: int, people: int | None) -> GradientDescent | NewtonStep:
        """Return the protocol with the parameters of this estimator; `people` is None if more rows may follow."""
        method = _check.choice("method", self.method, METHODS)
        column, _ = 0.0, _check.positive("radius", self.radius)
        if _check.flag("fit_intercept", self.fit_intercept):
            # By default as large as a feature of a row that is as long as possible, and has features of equal size.
            equal = self.radius / (1 if self.norm == "linf" else math.sqrt(features))
            scaling = equal if self.intercept_scaling is None else self.intercept_scaling
            column = _check.positive("intercept_scaling", scaling)
        options: dict[str, Any] = {
            "norm": self.norm,
            "radius": self.radius,
            "noise": self.noise,
            "column": column,
            "residual": getattr(self, "residual", None),
            "eta0": self.eta0,
            "exponent": self.exponent,
            "projection": self.projection,
            "covariance": self.covariance,
        }
        # A Newton step needs the number of rows. Gradient descent has smaller errors if they are too few for the intervals of a
        # Newton step, but intervals of its own for linear models only.
        if people is None and method == "newton":
            raise ValueError("method must be 'auto' or 'sgd' for partial_fit, where the number of rows is not known")
        needed = f"has fewer than {MAX_COEFFICIENTS} features"
        if method == "newton" or (method == "auto" and people is not None and features < MAX_COEFFICIENTS):
            newton = NewtonStep(self._family, features, self.epsilon, n=max(4, people or 0), **options)
            if method == "newton" or newton.horizon >= newton.sufficient_n:
                return newton
            needed = f"needs at least {newton.sufficient_n} rows"
        descent = GradientDescent(self._family, features, self.epsilon, **options)
        if method == "sgd" or people is None or descent._has_valid_intervals(people):
            return descent
        warn(
            f"n = {people} is too small for intervals: the coefficients come from gradient descent, which starts at 0 and may "
            "still be near it, most of all the intercept (a larger intercept_scaling is faster there), without standard errors "
            f"and limits (NaN). The Newton step, which has them, {needed}",
            SmallSampleWarning,
        )
        return GradientDescent(self._family, features, self.epsilon, **{**options, "covariance": "none"})

    def _responses(self, y: Any) -> AnyArray:
        """Return the responses as numbers for the protocol."""
        return np.asarray(y, np.float64)

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:  # noqa: N803
        """Fit the model, where each row answers once. Earlier fits are discarded.

        Parameters
        ----------
        X : array_like of float, shape (n, n_features)
            Rows, which are clipped to the radius.
        y : array_like, shape (n,)
            Responses.

        Returns
        -------
        self : estimator

        Raises
        ------
        TypeError, ValueError
            If a parameter is out of range, or X and y are not as above.

        Warns
        -----
        SmallSampleWarning
            If n is too small for intervals, so that there are no standard errors; with "newton" and "sgd", if it is too small
            for reliable ones.
        DoubtfulWarning
            If rows hardly vary in some direction, or the coefficients are near `projection` or beyond it; see `NewtonStep` and
            `GradientDescent`.
        ClippedWarning
            If rows are longer than the radius, with their share.

        Privacy
        -------
        The coefficients are a function of one epsilon-LDP report per row. Fitting the same rows again costs epsilon
        again: k-fold cross-validation fits each row k - 1 times.
        """
        return self._fit_rows(X, y, first=True, whole=True)

    def partial_fit(self, X: ArrayLike, y: ArrayLike) -> Self:  # noqa: N803
        """Continue the fit with further rows; the step sizes continue as well.

        Parameters
        ----------
        X, y
            As for `fit`.

        Returns
        -------
        self : estimator

        Raises
        ------
        TypeError, ValueError
            As for `fit`, or if a parameter has changed since the rows before, such as epsilon.

        Privacy
        -------
        As for `fit`. Rows that were not fitted before cost their own epsilon only.
        """
        return self._fit_rows(X, y, first=not hasattr(self, "_descent"))

    def _fit_rows(self, X: Any, y: Any, first: bool, whole: bool = False) -> Self:  # noqa: N803
        require_one_index({"X": X, "y": y})
        if str(getattr(y, "dtype", "")) == "object":
            y = _objects.typed("y", np.asarray(y))
        with _without_values("X and y"):
            X, y = validation.validate_data(  # noqa: N806
                self, X, y, reset=first, dtype=[np.float64, np.float32], y_numeric=self._family != "logistic", order="C"
            )
            responses = self._responses(y)
        _check.flag("shuffle", self.shuffle)
        if not first:
            self._check_unchanged()
        descent = self._protocol(X.shape[1], len(X) if whole else None) if first else self._descent
        if first or self._state is not self.random_state:
            self._given, self._state = _rng(self.random_state), self.random_state
        self.estimate_: Estimate[Floats] = descent.run(X, responses, rng=self._given, shuffle=self.shuffle)
        self._descent = descent
        self._asked_with = {name: getattr(self, name) for name in self._questions()}
        self._warn_clipped(X)
        self.n_seen_ = self.estimate_.n
        value = np.array(self.estimate_.value)
        if self.estimate_.covariance is not None:
            self.covariance_: Floats = np.asarray(self.estimate_.covariance)
        elif self.covariance == "full":  # there are no standard errors
            self.covariance_ = np.full((len(value), len(value)), np.nan)
        else:
            self.covariance_ = np.asarray(self.estimate_.stderr) ** 2
        self._store_coefficients(value[: X.shape[1]], float(value[-1]) if self.fit_intercept else 0.0)
        return self

    def _questions(self) -> list[str]:
        """Return the names of the parameters that decide what each row is asked."""
        return [name for name in self.get_params() if name not in ("random_state", "shuffle", "method")]

    def _check_unchanged(self) -> None:
        """Refuse settings that differ from those of earlier rows, whose reports do not have the new epsilon."""
        for name, value in getattr(self, "_asked_with", {}).items():
            if getattr(self, name) != value:
                raise ValueError(
                    f"{name} must be that of the rows before, {value!r}, got {getattr(self, name)!r}: partial_fit continues "
                    "with the same questions. Use fit, or another estimator"
                )

    def _warn_clipped(self, rows: AnyArray) -> None:
        """Warn if rows were clipped to the radius."""
        length = np.abs(rows).max(axis=1) if self.norm == "linf" else np.sqrt(np.einsum("ij,ij->i", rows, rows))
        clipped = int((length > self.radius * (1 + 1e-6)).sum())
        if clipped:
            warn(
                f"{clipped} of {len(rows)} rows ({clipped / len(rows):.2g} of all) were clipped to radius={self.radius:g}: the "
                "coefficients are those for the clipped rows. Scale the features, or choose a larger radius",
                ClippedWarning,
            )

    def _store_coefficients(self, coefficients: Floats, intercept: float) -> None:
        self.coef_: AnyArray = coefficients
        self.intercept_: Any = intercept

    def _linear_predictor(self, X: ArrayLike) -> AnyArray:  # noqa: N803
        """Return the linear predictor of new rows, which are not clipped."""
        validation.check_is_fitted(self)
        with _without_values("X"):
            rows = validation.validate_data(self, X, reset=False, dtype=[np.float64, np.float32])
        return np.asarray(rows @ np.ravel(self.coef_) + np.ravel(self.intercept_))

    def interval(self, confidence: float = 0.95, simultaneous: bool = False) -> tuple[Floats, Floats]:
        """Return confidence limits of the coefficients.

        Parameters
        ----------
        confidence : float, default 0.95
            Confidence level.
        simultaneous : bool, default False
            Whether the limits hold for all coefficients at once (Bonferroni).

        Returns
        -------
        low, high : ndarray, shape (n_features,) or (n_features + 1,)
            Limits; the intercept, if any, is last. They are NaN if there are no standard errors.

        Raises
        ------
        NotFittedError, TypeError, ValueError
            If the model is not fitted; if `confidence` is not a number in (0, 1).
        """
        validation.check_is_fitted(self)
        return self.estimate_.interval(confidence, simultaneous)

    def plug_in_covariance(self, hessian: ArrayLike) -> Floats:
        """Return the asymptotic covariance of the coefficients for a given Hessian.

        The Hessian comes from public rows or from a private estimate, never from the rows that were fitted. See
        `GradientDescent.plug_in_covariance`.
        """
        validation.check_is_fitted(self)
        return self._descent.plug_in_covariance(hessian)

    def summary(self, confidence: float = 0.95) -> str:
        """Return a table of coefficients with standard errors and intervals, which are nan if there are none.

        Parameters
        ----------
        confidence : float, default 0.95
            Confidence level.

        Returns
        -------
        text : str

        Raises
        ------
        NotFittedError, TypeError, ValueError
            As for `interval`.
        """
        low, high = self.interval(confidence)
        names = [
            str(name) for name in getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])
        ]
        names += ["intercept"] if self.fit_intercept else []
        width = max(map(len, names))
        lines = [
            f"{type(self).__name__}, n = {self.n_seen_:,}, epsilon = {self.estimate_.epsilon:.6g}",
            f"{'':{width}} {'coefficient':>12} {'std. error':>12} {f'{100 * confidence:g} % interval':>25}",
        ]
        for name, value, stderr, a, b in zip(
            names, self.estimate_.value, self.estimate_.stderr, low, high, strict=True
        ):
            lines.append(f"{name:{width}} {value:12.5g} {stderr:12.5g} {a:12.5g} {b:12.5g}")
        return "\n".join(lines)


def _rng(random_state: Any) -> RNGLike:
    """Convert a `random_state` of scikit-learn to an `rng`; a legacy generator supplies a seed."""
    if isinstance(random_state, np.random.RandomState):
        return int.from_bytes(random_state.bytes(16), "little")
    known = int | np.integer | np.random.SeedSequence | np.random.Generator | np.random.BitGenerator | None
    if isinstance(random_state, bool | np.bool_) or not isinstance(random_state, known):
        raise TypeError(
            "random_state must be None, an int, a RandomState, a SeedSequence, a Generator or a BitGenerator, got "
            f"{type(random_state).__name__}"
        )
    if isinstance(random_state, int | np.integer) and random_state < 0:
        raise ValueError(f"random_state must be >= 0 if it is an int, got {random_state!r}")
    return random_state
