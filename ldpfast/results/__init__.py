"""Results of an estimation: a value, its uncertainty, and its privacy guarantee."""

from ._anytime import CodeCounts as CodeCounts
from ._debiasing import AnyDebiasing as AnyDebiasing
from ._debiasing import Debiasing, MatrixDebiasing
from ._debiasing import NumberDebiasing as NumberDebiasing
from ._debiasing import SupportDebiasing as SupportDebiasing
from ._debiasing import ViewDebiasing as ViewDebiasing
from ._debiasing import line_of as line_of
from ._detectable_distance import detectable_distance as detectable_distance
from ._differences import require_alike as require_alike
from ._differences import require_no_overlap as require_no_overlap
from ._estimate import MAX_COVARIANCES as MAX_COVARIANCES
from ._estimate import SHARES as SHARES
from ._estimate import Estimate
from ._estimate import LabeledEstimate as LabeledEstimate
from ._estimate import guarantee_text as guarantee_text
from ._fieller import Fieller as Fieller
from ._fieller import SeparateChange as SeparateChange
from ._intervals import NORMAL_FROM as NORMAL_FROM
from ._intervals import ONE_SIGMA as ONE_SIGMA
from ._intervals import Binomial as Binomial
from ._intervals import BoundedSum as BoundedSum
from ._intervals import IntervalRule as IntervalRule
from ._intervals import Normal as Normal
from ._intervals import StudentT as StudentT
from ._intervals import WithGaps as WithGaps
from ._intervals import WithLiars as WithLiars
from ._intervals import forged_reports as forged_reports
from ._intervals import rounding_of as rounding_of
from ._intervals import rule_with_liars as rule_with_liars
from ._intervals import shift_by_liars as shift_by_liars
from ._intervals import t_quantile as t_quantile
from ._joined import Joined as Joined
from ._joint_estimate import JointEstimate as JointEstimate
from ._people import Occasion as Occasion
from ._people import People as People
from ._people import new_count as new_count
from ._plausibility import Kinds as Kinds
from ._plausibility import Plausibility as Plausibility
from ._plausibility import repeat_test as repeat_test
from ._plausibility import tail_test as tail_test
from ._predicted_areas import predicted_areas as predicted_areas
from ._random_scaling import RandomScaling as RandomScaling
from ._random_scaling import random_scaling as random_scaling
from ._random_scaling import random_scaling_quantile as random_scaling_quantile
from ._range_check import FALSE_ALARM as FALSE_ALARM
from ._range_check import warn_outside as warn_outside
from ._report_warnings import ClippedWarning, DoubtfulWarning, SmallSampleWarning
from ._selected import selected as selected
from ._test_result import TestResult as TestResult

__all__ = [
    "ClippedWarning",
    "Debiasing",
    "DoubtfulWarning",
    "Estimate",
    "MatrixDebiasing",
    "SmallSampleWarning",
]
