"""Estimation with a trusted curator: large arrays in, one private number or vector out."""

from ._mean import MeanEstimate, mean

__all__ = ["MeanEstimate", "mean"]
