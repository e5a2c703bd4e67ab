"""Estimation in the central model: a trusted curator computes private estimates from the records.

This package is provisional: its names can change in a minor release.
"""

from typing import TYPE_CHECKING, Any

from .. import _moved
from ._counts_release import CountsEstimate as CountsEstimate
from ._counts_release import counts
from ._cube_histogram import CubeHistogram as CubeHistogram
from ._cube_histogram import histogram_density
from ._error_bounds import m_estimate_sample_size, mean_error, quantile_error, smooth_sensitivity_error
from ._influence import ArithmeticMean, TrimmedMean, gross_error_sensitivity, influence, plot_influence
from ._m_grid import m_estimate
from ._m_psi import Custom, Huber, Logistic, Quantile
from ._mean_release import MeanEstimate as MeanEstimate
from ._mean_release import mean
from ._quantile import QuantileEstimate as QuantileEstimate
from ._quantile import median, quantile
from ._smooth_calibration import calibrate, laplace_delta
from ._smooth_release import trimmed_mean
from ._smooth_sensitivity import (
    smooth_sensitivity_mean,
    smooth_sensitivity_quantile,
    smooth_sensitivity_trimmed_mean,
)

__all__ = [
    "ArithmeticMean",
    "Custom",
    "Huber",
    "Logistic",
    "Quantile",
    "TrimmedMean",
    "calibrate",
    "counts",
    "gross_error_sensitivity",
    "histogram_density",
    "influence",
    "laplace_delta",
    "m_estimate",
    "m_estimate_sample_size",
    "mean",
    "mean_error",
    "median",
    "plot_influence",
    "quantile",
    "quantile_error",
    "smooth_sensitivity_error",
    "smooth_sensitivity_mean",
    "smooth_sensitivity_quantile",
    "smooth_sensitivity_trimmed_mean",
    "trimmed_mean",
]

if not TYPE_CHECKING:  # a type checker knows that the module has no other names

    def __getattr__(name: str) -> Any:
        raise _moved.missing(__name__, name)


def __dir__() -> list[str]:
    return __all__
