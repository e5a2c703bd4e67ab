"""Le Cam's deficiency of one channel with respect to another, by linear programming."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._directed_rounding import Floats


def deficiency(source: Floats, target: Floats) -> float:
    """Return the smallest t for which a stochastic W has ``source @ W`` within total variation t of `target` in every row.

    The variables are U, s and t. U is W with row y multiplied by the largest entry of column y of the source, so that no
    coefficient is above 1 and rare reports have a small weight. s >= source W - target is the excess (inputs by outcomes), and
    t >= every row sum of s. The rows of the W that the solver finds are normalized before t is computed, so the result is too
    small by the rounding of sums of doubles at most.
    """
    source = source[:, source.max(axis=0) > 0]
    largest = source.max(axis=0)
    reports, outcomes = source.shape[1], target.shape[1]
    u = _solve(source / largest, largest, target)[: reports * outcomes]
    w = np.maximum(u.reshape(reports, outcomes), 0.0) + 1e-300  # a zero row becomes uniform
    w /= w.sum(axis=1, keepdims=True)
    return float(np.maximum(source @ w - target, 0.0).sum(axis=1).max())


def _solve(scaled: Floats, largest: Floats, target: Floats) -> Floats:
    """Return the variables U, s and t of the linear program, in one array."""
    from scipy import sparse
    from scipy.optimize import linprog

    inputs, reports = scaled.shape
    outcomes = target.shape[1]
    eye = sparse.eye_array
    ones = sparse.csr_array(np.ones((1, outcomes)))
    # The constraints: (scaled U) - target <= s for every input and outcome, the sum of s over the outcomes <= t for every
    # input, and every row of U adds up to its entry of `largest`, as W is stochastic. The variable t is minimized.
    excess = sparse.hstack(
        [sparse.kron(scaled, eye(outcomes)), -eye(inputs * outcomes), sparse.csr_array((inputs * outcomes, 1))]
    )
    sums = sparse.hstack(
        [
            sparse.csr_array((inputs, reports * outcomes)),
            sparse.kron(eye(inputs), ones),
            -sparse.csr_array(np.ones((inputs, 1))),
        ]
    )
    limits: Any = sparse.vstack([excess, sums])
    stochastic: Any = sparse.hstack(
        [sparse.kron(eye(reports), ones), sparse.csr_array((reports, inputs * outcomes + 1))]
    )
    cost = np.zeros(limits.shape[1])
    cost[-1] = 1.0
    for tolerance in (1e-10, 1e-9, 1e-7):  # up to the first at which the solver succeeds
        solution: Any = linprog(
            cost,
            A_ub=limits,
            b_ub=np.concatenate([target.ravel(), np.zeros(inputs)]),
            A_eq=stochastic,
            b_eq=largest,
            method="highs",
            options={"primal_feasibility_tolerance": tolerance, "dual_feasibility_tolerance": tolerance},
        )
        if solution.success:
            return np.asarray(solution.x, np.float64)
    raise RuntimeError(f"the linear program was not solved: {solution.message}")
