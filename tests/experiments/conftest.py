"""Small studies that several test files use."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast.experiments import (
    _study,
    central,
    curves,
    density,
    drugs,
    gaussian,
    logistic,
    price,
    salaries,
    salary_mean,
    salary_median,
)


@pytest.fixture(scope="session")
def studies() -> dict[str, _study.Study]:
    """Studies of all experiments with few repetitions, few records and a fixed seed; read-only."""
    rng = np.random.default_rng(3)
    small = salaries.Population("small", salaries.salaries().values[::10], 25_000.0)
    sizes = (2_000, 40_000, 60_000)
    words = logistic.documents(25_000, 20, 0.1, 4, 6)
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore", ldp.SmallSampleWarning)
        patch.setattr(density, "PEOPLE", 1)
        patch.setattr(density, "QUICK_REPETITIONS", (150, 150))
        patch.setattr(density, "BINS_REPETITIONS", 40)
        patch.setattr(curves, "AT_SIZE", 1_000)
        return {
            "drugs": drugs.DrugStudy(
                drugs.run(rng, (20_000,), (10, 10)),
                drugs.run(rng, (20_000,), (4, 4), drugs.real_population(), "real"),
            ),
            "salary-mean": salary_mean.MeanStudy(
                salary_mean.measure(small, rng, 20), salary_mean.measure(salaries.visits(), rng, 5)
            ),
            "salary-median": salary_median.MedianStudy(
                salary_median.measure(salaries.salaries(), salary_median.RADII, rng, 8, sizes),
                *salary_median.measure(salaries.diseases(), (4.0,), rng, 4, sizes),
            ),
            "logistic": logistic.LogisticStudy(dict.fromkeys(("words", "real"), logistic.measure(words, rng, 4))),
            "density": density.run(rng, False, (3, 5), (2_000, 5_000)),
            "price": price.run(rng),
            "curves": curves.CurveStudy(
                tuple(
                    (
                        curves.measure(made, "n", (300, 1_200), rng, 300),
                        curves.measure(real, "epsilon", (1, 2), rng, 300),
                    )
                    for made, real in curves.problems()
                )
            ),
            "gaussian": gaussian.GaussianStudy(
                tuple(gaussian.measure(method, 200_000, (1.0, 2.0), rng, 2) for method in gaussian.METHODS),
                gaussian.search(rng),
            ),
            "central": central.CentralStudy(
                tuple(
                    panel
                    for people in (central.visits(), central.ratings())
                    for panel in central.measure(people, (0.1, 1.0), rng, 100)
                )
            ),
        }
