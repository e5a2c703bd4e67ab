"""Regression with randomized answers: the outcome was reported by randomized response, the covariates are known."""

from ._linear import RandomizedLinear
from ._logit import RandomizedLogit
from ._summary import RegressionSummary

__all__ = ["RandomizedLinear", "RandomizedLogit", "RegressionSummary"]
