"""What one channel can be made to imitate: linear programming."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._numbers import Floats


def deficiency(source: Floats, target: Floats) -> float:
    """The least t such that some stochastic W has rows of ``source @ W`` within total variation t of those of `target`.

    Variables: U = W times the largest entry of each column of the source, so that no coefficient is above 1 and rare reports
    do not count; the excess s >= source W - target (inputs by outcomes); t >= every row sum of s. The answer is that of the W
    found, made stochastic: never too small.
    """
    source = source[:, source.max(axis=0) > 0]
    largest = source.max(axis=0)
    reports, outcomes = source.shape[1], target.shape[1]
    u = _solve(source / largest, largest, target)[: reports * outcomes]
    w = np.maximum(u.reshape(reports, outcomes), 0.0) + 1e-300  # a report too rare for the program may do anything
    w /= w.sum(axis=1, keepdims=True)
    return float(np.maximum(source @ w - target, 0.0).sum(axis=1).max())


def _solve(scaled: Floats, largest: Floats, target: Floats) -> Floats:
    from scipy import sparse
    from scipy.optimize import linprog

    inputs, reports = scaled.shape
    outcomes = target.shape[1]
    eye = sparse.eye_array
    ones = sparse.csr_array(np.ones((1, outcomes)))
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
    for tolerance in (1e-10, 1e-9, 1e-7):  # the finest that the solver can do
        found: Any = linprog(
            cost,
            A_ub=limits,
            b_ub=np.concatenate([target.ravel(), np.zeros(inputs)]),
            A_eq=stochastic,
            b_eq=largest,
            method="highs",
            options={"primal_feasibility_tolerance": tolerance, "dual_feasibility_tolerance": tolerance},
        )
        if found.success:
            return np.asarray(found.x, np.float64)
    raise RuntimeError(f"the linear program was not solved: {found.message}")
