"""Estimation with a trusted curator: large arrays in, one private number or vector out."""

from ._density import CubeHistogram, best_bins, histogram_density
from ._mean import MeanEstimate, mean
from ._quantile import QuantileEstimate, median, quantile
from ._smooth import smooth_sensitivity_quantile

__all__ = [
    "CubeHistogram",
    "MeanEstimate",
    "QuantileEstimate",
    "best_bins",
    "histogram_density",
    "mean",
    "median",
    "quantile",
    "smooth_sensitivity_quantile",
]
