"""Shares of strings that nobody listed: a sketch for strings that are named later, and a search for the frequent ones."""

from ._count_mean_sketch import CountMeanSketch, SketchEstimate
from ._heavy_hitters import HeavyHitters, HeavyHittersEstimate, HeavyHittersPlan
from ._search import SearchStep

__all__ = [
    "CountMeanSketch",
    "HeavyHitters",
    "HeavyHittersEstimate",
    "HeavyHittersPlan",
    "SearchStep",
    "SketchEstimate",
]
