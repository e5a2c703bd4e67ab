"""Mean of normal records (Joseph, Kulkarni, Mao, Wu 2019, with improvements)."""

from ._gaussian_estimate import GaussianEstimate
from ._gaussian_mean import GaussianMean
from ._plan import Plan

__all__ = ["GaussianEstimate", "GaussianMean", "Plan"]
