"""Base classes of the estimators: one question for all people (`Problem`), or one query after another (`Sequential`)."""

from ._one_shot import FEW_REPORTS as FEW_REPORTS
from ._one_shot import Problem as Problem
from ._one_shot import warn_clipped_records as warn_clipped_records
from ._one_shot import warn_few as warn_few
from ._sequential import Sequential as Sequential
