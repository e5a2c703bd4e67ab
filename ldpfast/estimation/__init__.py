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
from ._density_estimate import DensityEstimate, ProjectedDensity
from ._frequencies import Frequencies, FrequencyEstimate, project_simplex
from ._from_reports import from_reports, from_sums
from ._functions import (
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
from ._histogram_density import HistogramDensity, HistogramEstimate
from ._joint import joint
from ._naive_median import naive_median
from ._quantile_functions import median, quantile
from ._range_queries import RangeEstimate, RangeQueries
from ._region import Region
from ._series_density import SeriesDensity, SeriesEstimate
from ._sparse_mean import SparseEstimate, SparseMean
from ._truncated_mean import MeanSquaredError, TruncatedMean
from ._vector_mean import VectorEstimate, VectorMean
from .gaussian import GaussianEstimate, GaussianMean, Plan
from .protocols import Problem
from .sgd import GradientDescent, MedianSGD, NewtonStep
from .strings import (
    CountMeanSketch,
    HeavyHitters,
    HeavyHittersEstimate,
    HeavyHittersPlan,
    SearchStep,
    SketchEstimate,
)

if TYPE_CHECKING:
    from ._regression import LinearRegression, LogisticRegression, PoissonRegression

__all__ = [
    "ConditionalQuantiles",
    "CountMeanSketch",
    "DensityEstimate",
    "Frequencies",
    "FrequencyEstimate",
    "GaussianEstimate",
    "GaussianMean",
    "GradientDescent",
    "HeavyHitters",
    "HeavyHittersEstimate",
    "HeavyHittersPlan",
    "HistogramDensity",
    "HistogramEstimate",
    "LinearRegression",
    "LogisticRegression",
    "MeanSquaredError",
    "MedianSGD",
    "NewtonStep",
    "Plan",
    "PoissonRegression",
    "Problem",
    "ProjectedDensity",
    "RangeEstimate",
    "RangeQueries",
    "Region",
    "SearchStep",
    "SeriesDensity",
    "SeriesEstimate",
    "SketchEstimate",
    "SparseEstimate",
    "SparseMean",
    "TruncatedMean",
    "VectorEstimate",
    "VectorMean",
    "conditional_means",
    "conditional_quantiles",
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
