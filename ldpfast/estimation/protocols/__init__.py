"""Base classes of the estimators: one question for all people (`Problem`), or one query after another (`Sequential`)."""

from ._one_shot import FEW_REPORTS, Problem, warn_few
from ._sequential import Sequential

__all__ = ["FEW_REPORTS", "Problem", "Sequential", "warn_few"]
