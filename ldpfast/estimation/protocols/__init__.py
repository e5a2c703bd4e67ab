"""What the estimators share: one answer per person, all asked the same (`Problem`), or one after the other (`Sequential`)."""

from ._one_shot import FEW_REPORTS, Problem, warn_few
from ._sequential import Sequential

__all__ = ["FEW_REPORTS", "Problem", "Sequential", "warn_few"]
