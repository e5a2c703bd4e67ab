"""Shares of strings that nobody listed: a sketch for strings that are named later, and a search for the frequent ones."""

from ._count_mean_sketch import CountMeanSketch
from ._count_mean_sketch import SketchEstimate as SketchEstimate
from ._heavy_hitters import HeavyHitters
from ._heavy_hitters import HeavyHittersEstimate as HeavyHittersEstimate
from ._heavy_hitters import HeavyHittersPlan as HeavyHittersPlan
from ._search import SearchStep as SearchStep

__all__ = ["CountMeanSketch", "HeavyHitters"]
