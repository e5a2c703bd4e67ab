"""What one channel can be made to imitate: linear programming."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._numbers import Floats


def deficiency(source: Floats, target: Floats) -> float:
    """The least t such that some stochastic W has rows of ``source @ W`` within total variation t of those of `target`.

    Variables: W (reports by outcomes), the excess s >= source W - target (inputs by outcomes), and t >= every row sum of s. The
    answer is that of the W found, made stochastic: never too small.
    """
    from scipy import sparse
    from scipy.optimize import linprog

    inputs, reports = source.shape
    outcomes = target.shape[1]
    eye = sparse.eye_array
    ones = sparse.csr_array(np.ones((1, outcomes)))
    excess = sparse.hstack(
        [sparse.kron(source, eye(outcomes)), -eye(inputs * outcomes), sparse.csr_array((inputs * outcomes, 1))]
    )
    sums = sparse.hstack(
        [
            sparse.csr_array((inputs, reports * outcomes)),
            sparse.kron(eye(inputs), ones),
            -sparse.csr_array(np.ones((inputs, 1))),
        ]
    )
    stochastic: Any = sparse.hstack(
        [sparse.kron(eye(reports), ones), sparse.csr_array((reports, inputs * outcomes + 1))]
    )
    limits: Any = sparse.vstack([excess, sums])
    cost = np.zeros(reports * outcomes + inputs * outcomes + 1)
    cost[-1] = 1.0
    found: Any = linprog(
        cost,
        A_ub=limits,
        b_ub=np.concatenate([target.ravel(), np.zeros(inputs)]),
        A_eq=stochastic,
        b_eq=np.ones(reports),
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if not found.success:  # pragma: no cover
        raise RuntimeError(f"the linear program was not solved: {found.message}")
    w = np.maximum(found.x[: reports * outcomes].reshape(reports, outcomes), 0.0)
    w /= w.sum(axis=1, keepdims=True)
    return float(np.maximum(source @ w - target, 0.0).sum(axis=1).max())
