"""Make the table of designs of `Window` with unequally spaced inputs: ``ldpfast/mechanisms/window_designs.json``.

For every epsilon of the grid, the decoded values of n codes are those with the smallest worst-case variance, found by
sequential quadratic programming for each width of the window. They are rounded to integers, and the variance is computed again
from these. The design with the fewest codes is kept whose variance is at most 1 % above the best.

The file is a function of this script, up to the last digits of the values, which depend on the version of SciPy. The library
computes everything that it states from the integers of the file.
"""

import json
import math
import sys
from multiprocessing import Pool
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from ldpfast.mechanisms._window import WindowDesign, window_sums, worst_variance

FILE = Path(__file__).resolve().parents[1] / "ldpfast/mechanisms/window_designs.json"
EPSILONS = np.arange(1, 69) / 4
CODES = [16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256]
LARGEST = 65535  # value, as an integer
MAX_LOSS = 0.01
Floats = NDArray[np.float64]


def best_values(epsilon: float, codes: int, width: int) -> Floats | None:
    """Return the positive half of the antisymmetric values that minimize the largest variance, the outermost first."""
    odds = math.exp(epsilon)
    half = codes // 2
    steps = codes - width
    each = 1 / (codes + (odds - 1) * width)
    signs = np.zeros((codes, half))
    for j in range(half):
        signs[codes - 1 - j, j], signs[j, j] = 1, -1
    windows = np.array([(np.arange(codes) >= i) & (np.arange(codes) < i + width) for i in range(steps + 1)], np.float64)
    inputs = each * (odds - 1) * windows @ signs
    squares = each * (1 + (odds - 1) * windows) @ signs**2
    low = max(0, (steps - 1) // 2)  # the negative half is a mirror image

    def excess(p: Floats) -> Floats:
        x, m = inputs @ p[:-1], squares @ p[:-1] ** 2
        middle = (m[low:-1] + m[low + 1 :]) / 2 - ((x[low:-1] + x[low + 1 :]) / 2) ** 2
        return np.concatenate([p[-1] - (m[low:] - x[low:] ** 2), p[-1] - middle]) / unit

    def slopes(p: Floats) -> Floats:
        x, by_square = inputs @ p[:-1], 2 * squares * p[:-1]
        ends = -(by_square[low:] - 2 * x[low:, np.newaxis] * inputs[low:])
        at = (x[low:-1] + x[low + 1 :]) / 2
        between = (inputs[low:-1] + inputs[low + 1 :]) / 2
        middle = -((by_square[low:-1] + by_square[low + 1 :]) / 2 - 2 * at[:, np.newaxis] * between)
        rows = np.vstack([ends, middle])
        return np.hstack([rows, np.ones((len(rows), 1))]) / unit

    start = (codes - 1) / 2 - np.arange(half)
    start /= (inputs @ start)[-1]
    unit = 1.0
    unit = -float(excess(np.append(start, 0)).min())
    result = minimize(
        lambda p: p[-1] / unit,
        np.append(start, unit),
        jac=lambda p: np.append(np.zeros(half), 1 / unit),
        constraints=[
            {"type": "ineq", "fun": excess, "jac": slopes},
            {"type": "eq", "fun": lambda p: inputs[-1] @ p[:-1] - 1, "jac": lambda p: np.append(inputs[-1], 0)},
        ],
        method="SLSQP",
        options={"maxiter": 80, "ftol": 1e-9},
    )
    return None if result.x[0] <= 0 else result.x[:-1]


def best_design(epsilon: float) -> tuple[float, WindowDesign]:
    """Return the design with the fewest codes among the good ones, and its variance."""
    found: list[tuple[float, WindowDesign]] = []
    for codes in CODES:
        of_size: list[tuple[float, WindowDesign]] = []
        for width in range(1, min(int(0.6 * codes), 40) + 1):
            if math.gcd(codes, width).bit_count() != 1:
                continue
            values = best_values(epsilon, codes, width)
            if values is None:
                continue
            positive = np.rint(values / values[0] * LARGEST).astype(int)[::-1].tolist()
            design = WindowDesign(codes - width, width, 0, tuple([-v for v in positive[::-1]] + positive))
            sums = np.diff(window_sums(design))
            if design.values[-1] == max(design.values) and sums.min() * 16 > sums.max():
                of_size.append((worst_variance(*design.moments(math.exp(epsilon))), design))
        found += [min(of_size, key=lambda pair: pair[0])] if of_size else []
    least = min(variance for variance, _ in found)
    return next((variance, design) for variance, design in found if variance <= (1 + MAX_LOSS) * least)


def main() -> None:
    with Pool() as pool:
        rows = []
        for epsilon, (variance, design) in zip(
            EPSILONS.tolist(), pool.imap(best_design, EPSILONS.tolist()), strict=True
        ):
            codes = design.steps + design.width
            print(f"epsilon {epsilon}: {variance:.6g} with {codes} codes, width {design.width}", file=sys.stderr)
            rows.append({"epsilon": epsilon, "width": design.width, "values": list(design.values[codes // 2 :])})
    FILE.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")


if __name__ == "__main__":
    main()
