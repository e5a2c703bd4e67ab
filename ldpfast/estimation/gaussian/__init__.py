"""The mean of normal records (Joseph, Kulkarni, Mao, Wu 2019, and better)."""

from ._plan import Plan
from ._result import GaussianEstimate
from ._server import GaussianMean

__all__ = ["GaussianEstimate", "GaussianMean", "Plan"]
