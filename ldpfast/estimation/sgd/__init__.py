"""Private stochastic gradient descent: quantiles, and generalized linear models."""

from ._gradient_descent import GradientDescent
from ._median_sgd import MedianSGD

__all__ = ["GradientDescent", "MedianSGD"]
