"""Import of the experiments of this checkout, and small studies that several test files use."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import ldpfast as ldp

from ..support.checkout import import_from_checkout

import_from_checkout("experiments.studies")
from experiments.demo import drug_use  # noqa: E402
from experiments.studies import (  # noqa: E402
    _study,
    barber_duchi_table_1,
    central,
    chaudhuri_hsu_example_3,
    chaudhuri_hsu_theorem_1,
    curves,
    djw_corollary_7,
    djw_figure_1,
    djw_figure_5,
    djw_figure_6,
    djw_figure_7,
    fnnt_experiments,
    jkmw_protocols,
    price,
    salaries,
    shuffling,
)


@pytest.fixture(scope="session")
def studies() -> dict[str, _study.Study]:
    """Studies of all experiments with few repetitions, few records and a fixed seed; read-only."""
    rng = np.random.default_rng(3)
    small = salaries.Population("small", salaries.salaries().values[::10], 25_000.0)
    sizes = (2_000, 40_000, 60_000)
    words = djw_figure_7.documents(25_000, 20, 0.1, 4, 6)
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore", ldp.SmallSampleWarning)
        patch.setattr(djw_corollary_7, "PEOPLE", 1)
        patch.setattr(djw_corollary_7, "QUICK_REPETITIONS", (150, 150))
        patch.setattr(djw_corollary_7, "BINS_REPETITIONS", 40)
        patch.setattr(curves, "AT_SIZE", 1_000)
        patch.setattr(shuffling, "QUICK_PEOPLE", (10_000, 100_000))
        patch.setattr(shuffling, "PEOPLE", (1_000_000,))
        return {
            "djw-figure-1": djw_figure_1.DrugStudy(
                drug_use.measure(rng, (20_000,), (10, 10)),
                drug_use.measure(rng, (20_000,), (4, 4), djw_figure_1.real_population(), "real"),
            ),
            "djw-figure-5": djw_figure_5.MeanStudy(
                djw_figure_5.measure(small, rng, 20), djw_figure_5.measure(salaries.visits(), rng, 5)
            ),
            "djw-figure-6": djw_figure_6.MedianStudy(
                djw_figure_6.measure(salaries.salaries(), djw_figure_6.RADII, rng, 8, sizes),
                *djw_figure_6.measure(salaries.diseases(), (4.0,), rng, 4, sizes),
            ),
            "djw-figure-7": djw_figure_7.LogisticStudy(
                dict.fromkeys(("words", "real"), djw_figure_7.measure(words, rng, 4))
            ),
            "djw-corollary-7": djw_corollary_7.run(rng, False, (3, 5), (2_000, 5_000)),
            "price": price.run(rng),
            "fnnt-experiments": fnnt_experiments.OracleStudy(
                tuple(fnnt_experiments.measure(s, rng, 3) for s in fnnt_experiments.SETTINGS if s.n < 50_000)
            ),
            "shuffling": shuffling.run(rng),
            "curves": curves.CurveStudy(
                tuple(
                    (
                        curves.measure(made, "n", (300, 1_200), rng, 300),
                        curves.measure(real, "epsilon", (1, 2), rng, 300),
                    )
                    for made, real in curves.problems()
                )
            ),
            "jkmw-protocols": jkmw_protocols.GaussianStudy(
                tuple(jkmw_protocols.measure(method, 200_000, (1.0, 2.0), rng, 2) for method in jkmw_protocols.METHODS),
                jkmw_protocols.search(rng),
            ),
            "central": central.CentralStudy(
                tuple(
                    panel
                    for people in (central.visits(), central.ratings())
                    for panel in central.measure(people, (0.1, 1.0), rng, 100)
                )
            ),
            "barber-duchi-table-1": barber_duchi_table_1.TableStudy(
                barber_duchi_table_1.bounds_by("n", (2_000, 100_000)),
                barber_duchi_table_1.bounds_by("dimension", barber_duchi_table_1.DIMS),
                {
                    privacy: barber_duchi_table_1.measure(privacy, (2_000, 100_000), rng, 40)
                    for privacy in barber_duchi_table_1.DEFINITIONS
                },
            ),
            "chaudhuri-hsu-theorem-1": chaudhuri_hsu_theorem_1.SensitivityStudy(
                tuple(chaudhuri_hsu_theorem_1.measure(n, (1, 30, 300), rng, 300) for n in (1_001, 2_001))
            ),
            "chaudhuri-hsu-example-3": chaudhuri_hsu_example_3.measure((101, 1_001), rng, 200),
        }
