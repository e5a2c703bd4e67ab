"""Estimation in the local model: each person randomizes their own record and answers once.

Each problem has a function for arrays in memory (`truncated_mean`, `median`, `vector_mean`, ...) and a class
(`TruncatedMean`, `MedianSGD`, `VectorMean`, ...). The client part and the server part of a class run on different
machines and exchange reports only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._binned_quantiles import ConditionalQuantiles
from ._conditional import conditional_means
from ._conditional_quantiles import conditional_quantiles
from ._density_estimate import DensityEstimate as DensityEstimate
from ._density_estimate import ProjectedDensity as ProjectedDensity
from ._distribution_estimate import DistributionEstimate as DistributionEstimate
from ._distribution_estimate import DistributionValue as DistributionValue
from ._distribution_problem import Distribution
from ._frequencies import Frequencies, project_simplex
from ._frequencies import FrequencyEstimate as FrequencyEstimate
from ._from_reports import from_reports, from_sums
from ._functions import (
    distribution,
    frequencies,
    gaussian_mean,
    heavy_hitters,
    histogram_density,
    range_queries,
    series_density,
    sparse_mean,
    truncated_mean,
    vector_mean,
)
from ._histogram_density import HistogramDensity
from ._histogram_density import HistogramEstimate as HistogramEstimate
from ._joint import joint
from ._naive_median import naive_median
from ._quantile_functions import median, quantile
from ._range_queries import RangeEstimate as RangeEstimate
from ._range_queries import RangeQueries
from ._region import Region as Region
from ._series_density import SeriesDensity
from ._series_density import SeriesEstimate as SeriesEstimate
from ._sparse_mean import SparseEstimate as SparseEstimate
from ._sparse_mean import SparseMean
from ._truncated_mean import MeanSquaredError as MeanSquaredError
from ._truncated_mean import TruncatedMean
from ._vector_mean import VectorEstimate as VectorEstimate
from ._vector_mean import VectorMean
from .gaussian import GaussianEstimate as GaussianEstimate
from .gaussian import GaussianMean
from .gaussian import Plan as Plan
from .protocols import Problem as Problem
from .sgd import GradientDescent, MedianSGD, NewtonStep
from .strings import CountMeanSketch, HeavyHitters
from .strings import HeavyHittersEstimate as HeavyHittersEstimate
from .strings import HeavyHittersPlan as HeavyHittersPlan
from .strings import SearchStep as SearchStep
from .strings import SketchEstimate as SketchEstimate

if TYPE_CHECKING:
    from ._regression import LinearRegression, LogisticRegression, PoissonRegression

__all__ = [
    "ConditionalQuantiles",
    "CountMeanSketch",
    "Distribution",
    "Frequencies",
    "GaussianMean",
    "GradientDescent",
    "HeavyHitters",
    "HistogramDensity",
    "LinearRegression",
    "LogisticRegression",
    "MedianSGD",
    "NewtonStep",
    "PoissonRegression",
    "RangeQueries",
    "SeriesDensity",
    "SparseMean",
    "TruncatedMean",
    "VectorMean",
    "conditional_means",
    "conditional_quantiles",
    "distribution",
    "frequencies",
    "from_reports",
    "from_sums",
    "gaussian_mean",
    "heavy_hitters",
    "histogram_density",
    "joint",
    "median",
    "naive_median",
    "project_simplex",
    "quantile",
    "range_queries",
    "series_density",
    "sparse_mean",
    "truncated_mean",
    "vector_mean",
]

_REGRESSIONS = ("LinearRegression", "LogisticRegression", "PoissonRegression")


def __getattr__(name: str) -> Any:
    """Import the scikit-learn estimators on first use, because scikit-learn is an optional dependency."""
    if name not in _REGRESSIONS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import _regression

    return getattr(_regression, name)


def __dir__() -> list[str]:
    return __all__
