"""Results of an estimation: a value, its uncertainty, and its privacy guarantee."""

from ._debiasing import AnyDebiasing, Debiasing, MatrixDebiasing, NumberDebiasing, SupportDebiasing
from ._debiasing import line_of as line_of
from ._estimate import SHARES as SHARES
from ._estimate import Estimate
from ._intervals import NORMAL_FROM as NORMAL_FROM
from ._intervals import Binomial, BoundedSum, IntervalRule, Normal
from ._random_scaling import RandomScaling, random_scaling, random_scaling_quantile
from ._range_check import FALSE_ALARM as FALSE_ALARM
from ._range_check import warn_outside as warn_outside
from ._warnings import ClippedWarning, DoubtfulWarning, SmallSampleWarning

__all__ = [
    "AnyDebiasing",
    "Binomial",
    "BoundedSum",
    "ClippedWarning",
    "Debiasing",
    "DoubtfulWarning",
    "Estimate",
    "IntervalRule",
    "MatrixDebiasing",
    "Normal",
    "NumberDebiasing",
    "RandomScaling",
    "SmallSampleWarning",
    "SupportDebiasing",
    "random_scaling",
    "random_scaling_quantile",
]
