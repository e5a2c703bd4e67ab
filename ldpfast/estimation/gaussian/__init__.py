"""Mean of normal records (Joseph, Kulkarni, Mao, Wu 2019, with improvements)."""

from ._gaussian_mean import GaussianMean
from ._plan import Plan
from ._result import GaussianEstimate

__all__ = ["GaussianEstimate", "GaussianMean", "Plan"]
