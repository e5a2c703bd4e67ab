"""Regression with randomized answers: an outcome, a predictor or labels that people have randomized, and known covariates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._binary_regression import RandomizedCloglog, RandomizedProbit
from ._linear import RandomizedLinear
from ._list_regression import ListExperiment
from ._logit import RandomizedLogit
from ._prediction import MarginalEffects as MarginalEffects
from ._predictor import RandomizedPredictor
from ._summary import RegressionSummary as RegressionSummary

if TYPE_CHECKING:
    from ._classifier import LabelClassifier

__all__ = [
    "LabelClassifier",
    "ListExperiment",
    "RandomizedCloglog",
    "RandomizedLinear",
    "RandomizedLogit",
    "RandomizedPredictor",
    "RandomizedProbit",
]


def __getattr__(name: str) -> Any:
    """Import the classifier of scikit-learn on first use, because scikit-learn is an optional dependency."""
    if name != "LabelClassifier":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ._classifier import LabelClassifier

    return LabelClassifier


def __dir__() -> list[str]:
    return __all__
