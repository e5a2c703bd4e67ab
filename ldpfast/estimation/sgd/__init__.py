"""Private stochastic gradient descent: quantiles, and generalized linear models."""

from ._gradient_descent import GradientDescent
from ._median_sgd import MedianSGD
from ._newton_step import NewtonStep

__all__ = ["GradientDescent", "MedianSGD", "NewtonStep"]
