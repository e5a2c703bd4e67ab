"""Private modules of the mean of normal records, for tests of their parts."""

from ldpfast.estimation.gaussian import _distribution as distribution
from ldpfast.estimation.gaussian import _fit as gaussian_fit
from ldpfast.estimation.gaussian import _group as gaussian_group
from ldpfast.estimation.gaussian import _levels as gaussian_levels
from ldpfast.estimation.gaussian import _paper as paper
from ldpfast.estimation.gaussian import _plan as plan
from ldpfast.estimation.gaussian import _robust as robust
from ldpfast.estimation.gaussian import _simulation as simulation
from ldpfast.estimation.gaussian import _variant as variant

__all__ = [
    "Levels",
    "Paper",
    "Part",
    "Plan",
    "ReportDistribution",
    "distribution",
    "gaussian_fit",
    "gaussian_group",
    "gaussian_levels",
    "paper",
    "plan",
    "robust",
    "simulation",
    "variant",
]

ReportDistribution = distribution.ReportDistribution
Levels = gaussian_levels.Levels
Paper = paper.Paper
Part = plan.Part
Plan = plan.Plan
