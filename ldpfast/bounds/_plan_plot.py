"""Plots of a plan: bounds, mechanisms, and the estimator without privacy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .. import _check
from .._plots import GREEN, ORANGE, PURPLE, SKY, YELLOW, draw_bounds, figure
from .._typing import Floats
from ._bound import Bound, with_unit
from ._comparison import curves
from ._registered_problem import PROBLEMS
from ._study_plan import StudyPlan

COLORS = (ORANGE, GREEN, PURPLE, SKY, YELLOW)
POINTS = 25
SIZE = (13.0, 5.5)


def paint(ax: Any, bound: Bound, mechanisms: dict[str, Floats], x: Floats, xlabel: str) -> None:
    """Draw bounds, mechanisms and the estimator without privacy along an axis.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Axes to draw on.
    bound : Bound
        Bounds as arrays.
    mechanisms : dict of str to ndarray
        Errors by name.
    x : ndarray
        Positions on the axis.
    xlabel : str
        Label of the axis.
    """
    draw_bounds(ax, x, bound.lower, bound.upper, bound.nonprivate)
    for color, (label, errors) in zip(COLORS, mechanisms.items(), strict=False):
        ax.plot(x, errors, color=color, marker=".", linestyle=":", label=label)
    ax.set_xlabel(xlabel)
    ax.set_ylabel(with_unit(bound.loss))
    ax.legend(fontsize=8)


def save(plan: StudyPlan, path: Path) -> None:
    """Save a figure with the errors against n and against epsilon, around the plan.

    Parameters
    ----------
    plan : StudyPlan
        Plan.
    path : Path
        Path of the PNG file.

    Raises
    ------
    ImportError
        If matplotlib is not installed (extra "plot").
    OSError
        If the file cannot be written.
    """
    drawn = figure(*SIZE)
    left, right = drawn.subplots(1, 2, sharey=True)
    people = np.unique(np.round(plan.n * np.geomspace(0.01, 100, POINTS)).clip(1, _check.MAX_PEOPLE))
    problem = PROBLEMS[plan.problem]
    largest = problem.max_epsilon(plan.fixed)
    epsilons = np.minimum(plan.epsilon * np.geomspace(0.05, 20, POINTS), largest)
    for ax, n, epsilon, xlabel in (
        (left, people, np.full(len(people), plan.epsilon), "number of people n"),
        (right, np.full(POINTS, float(plan.n)), epsilons, "epsilon"),
    ):
        bound = problem.bound(n=n, epsilon=epsilon, **plan.fixed)
        mechanisms = curves(plan.problem, n, epsilon, **plan.fixed) if plan.local else {}
        paint(ax, bound, mechanisms, n if ax is left else epsilon, xlabel)
    left.set_title(f"epsilon = {plan.epsilon:.4g}", fontsize=11)
    right.set_title(f"n = {plan.n:,}", fontsize=11)
    drawn.suptitle(", ".join([plan.problem, *(f"{name} = {value}" for name, value in plan.fixed.items())]))
    drawn.savefig(path, dpi=110, format="png")
