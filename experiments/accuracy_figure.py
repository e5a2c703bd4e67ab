"""Draw the accuracy figure of the README: ``python experiments/accuracy_figure.py [docs/accuracy.png]``.

Three questions of real surveys, with each answer privatized for four values of epsilon. The same panels are part of
``python -m ldpfast demo``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from ldpfast import _plots

sys.path.append(str(Path(__file__).resolve().parents[1]))

from experiments.demo import surveys


def main(target: str = "docs/accuracy.png") -> None:
    comparisons = surveys.run(np.random.default_rng(1))
    single = [c for c in comparisons if not c.question.answers]
    figure = _plots.figure(13.5, 4.4)
    figure.suptitle(
        "Estimates from privatized answers with 95 % intervals; dashed line: estimate without privacy", fontsize=13
    )
    surveys.draw(single, list(figure.subplots(1, 3)))
    figure.savefig(target, dpi=110)
    print(f"wrote {target}")


if __name__ == "__main__":
    main(*sys.argv[1:])
