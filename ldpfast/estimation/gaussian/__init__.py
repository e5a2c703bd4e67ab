"""Mean of normal records (Joseph, Kulkarni, Mao, Wu 2019, with improvements)."""

from ._gaussian_estimate import GaussianEstimate as GaussianEstimate
from ._gaussian_mean import GaussianMean
from ._plan import Plan as Plan

__all__ = ["GaussianMean"]
