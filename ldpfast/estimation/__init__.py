"""Estimation in the local model: every person randomises the own record, and answers once.

Each problem is one call for arrays in memory (`truncated_mean`, `median`, `vector_mean`, ...), and a class whose client part
and server part run on different machines and exchange reports only (`TruncatedMean`, `MedianSGD`, `VectorMean`, ...).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._density import (
    DensityEstimate,
    HistogramDensity,
    HistogramEstimate,
    ProjectedDensity,
    SeriesDensity,
    SeriesEstimate,
    histogram_density,
    series_density,
)
from ._descent import GradientDescent
from ._frequencies import Frequencies, FrequencyEstimate, frequencies, project_simplex
from ._gaussian import GaussianEstimate, GaussianMean, Plan
from ._median import MedianSGD, median, naive_median, quantile
from ._problem import Problem
from ._truncated import MeanSquaredError, TruncatedMean, truncated_mean
from ._vectors import (
    Region,
    SparseEstimate,
    SparseMean,
    VectorEstimate,
    VectorMean,
    sparse_mean,
    vector_mean,
)

if TYPE_CHECKING:
    from ._regression import LinearRegression, LogisticRegression, PoissonRegression

__all__ = [
    "DensityEstimate",
    "Frequencies",
    "FrequencyEstimate",
    "GaussianEstimate",
    "GaussianMean",
    "GradientDescent",
    "HistogramDensity",
    "HistogramEstimate",
    "LinearRegression",
    "LogisticRegression",
    "MeanSquaredError",
    "MedianSGD",
    "Plan",
    "PoissonRegression",
    "Problem",
    "ProjectedDensity",
    "Region",
    "SeriesDensity",
    "SeriesEstimate",
    "SparseEstimate",
    "SparseMean",
    "TruncatedMean",
    "VectorEstimate",
    "VectorMean",
    "frequencies",
    "histogram_density",
    "median",
    "naive_median",
    "project_simplex",
    "quantile",
    "series_density",
    "sparse_mean",
    "truncated_mean",
    "vector_mean",
]

_REGRESSIONS = ("LinearRegression", "LogisticRegression", "PoissonRegression")


def __getattr__(name: str) -> Any:
    """The scikit-learn estimators load when they are first used: scikit-learn is an extra."""
    if name not in _REGRESSIONS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import _regression

    return getattr(_regression, name)


def __dir__() -> list[str]:
    return __all__
