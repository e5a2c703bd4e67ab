"""Import of the experiments of this checkout, and small studies that several test files use."""

from __future__ import annotations

import warnings
from collections.abc import Callable

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


def _drugs(rng: np.random.Generator) -> _study.Study:
    return djw_figure_1.DrugStudy(
        drug_use.measure(rng, (20_000,), (10, 10)),
        drug_use.measure(rng, (20_000,), (4, 4), djw_figure_1.real_population(), "real"),
    )


def _means(rng: np.random.Generator) -> _study.Study:
    small = salaries.Population("small", salaries.salaries().values[::10], 25_000.0)
    return djw_figure_5.MeanStudy(
        djw_figure_5.measure(small, rng, 20), djw_figure_5.measure(salaries.visits(), rng, 25)
    )


def _medians(rng: np.random.Generator) -> _study.Study:
    """The slopes of the errors, from 32 repetitions, have a standard deviation of about 0.1 and are 0.45 below their limit."""
    sizes = (2_000, 40_000, 60_000)
    return djw_figure_6.MedianStudy(
        djw_figure_6.measure(salaries.salaries(), djw_figure_6.RADII, rng, 32, sizes),
        *djw_figure_6.measure(salaries.diseases(), (4.0,), rng, 4, sizes),
    )


def _logistic_regressions(rng: np.random.Generator) -> _study.Study:
    words = djw_figure_7.documents(25_000, 20, 0.1, 4, 6)
    return djw_figure_7.LogisticStudy(dict.fromkeys(("words", "real"), djw_figure_7.measure(words, rng, 4)))


def _densities(rng: np.random.Generator) -> _study.Study:
    """The error over its formula and the slope have standard deviations of 0.022 and 0.014: both limits are 4 and more away."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(djw_corollary_7, "PEOPLE", 3_700_000)
        patch.setattr(djw_corollary_7, "QUICK_REPETITIONS", (300, 1_000))
        patch.setattr(djw_corollary_7, "BINS_REPETITIONS", 40)
        return djw_corollary_7.run(rng, False, (3, 5), (2_000, 5_000))


def _oracles(rng: np.random.Generator) -> _study.Study:
    """Twenty repetitions, because the limits use their standard deviation, and two with millions of categories."""
    settings = [setting for setting in fnnt_experiments.SETTINGS if setting.n < 50_000]
    measured = [fnnt_experiments.measure(one, rng, 20 if one.k < 10**6 else 2) for one in settings]
    return fnnt_experiments.OracleStudy(tuple(measured))


def _shuffled_reports(rng: np.random.Generator) -> _study.Study:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shuffling, "QUICK_PEOPLE", (10_000, 100_000))
        patch.setattr(shuffling, "PEOPLE", (1_000_000,))
        return shuffling.run(rng)


def _curves(rng: np.random.Generator) -> _study.Study:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(curves, "AT_SIZE", 1_000)
        return curves.CurveStudy(
            tuple(
                (curves.measure(made, "n", (300, 1_200), rng, 300), curves.measure(real, "epsilon", (1, 2), rng, 300))
                for made, real in curves.problems()
            )
        )


def _normal_means(rng: np.random.Generator) -> _study.Study:
    """The coverage, near 94.8 %, has a standard deviation of 0.6 points in 1,536 intervals: fewer than 1 of 100 seeds fail."""
    repetitions = {method: 8 if method.variant == jkmw_protocols.PAPER else 16 for method in jkmw_protocols.METHODS}
    measured = [jkmw_protocols.measure(m, 200_000, (1.0, 2.0), rng, number) for m, number in repetitions.items()]
    return jkmw_protocols.GaussianStudy(tuple(measured), jkmw_protocols.search(rng))


def _central(rng: np.random.Generator) -> _study.Study:
    populations = central.visits(), central.ratings()
    panels = [central.measure(people, (0.1, 1.0), rng, 100) for people in populations]
    return central.CentralStudy(tuple(panel for pair in panels for panel in pair))


def _table_1(rng: np.random.Generator) -> _study.Study:
    sizes = (2_000, 100_000)
    return barber_duchi_table_1.TableStudy(
        barber_duchi_table_1.bounds_by("n", sizes),
        barber_duchi_table_1.bounds_by("dimension", barber_duchi_table_1.DIMS),
        {p: barber_duchi_table_1.measure(p, sizes, rng, 40) for p in barber_duchi_table_1.DEFINITIONS},
    )


def _contaminated_medians(rng: np.random.Generator) -> _study.Study:
    return chaudhuri_hsu_theorem_1.SensitivityStudy(
        tuple(chaudhuri_hsu_theorem_1.measure(n, (1, 30, 300), rng, 300) for n in (1_001, 2_001))
    )


def _smooth_sensitivities(rng: np.random.Generator) -> _study.Study:
    return chaudhuri_hsu_example_3.measure((101, 1_001), rng, 200)


SMALL_STUDIES: dict[str, Callable[[np.random.Generator], _study.Study]] = {
    "djw-figure-1": _drugs,
    "djw-figure-5": _means,
    "djw-figure-6": _medians,
    "djw-figure-7": _logistic_regressions,
    "djw-corollary-7": _densities,
    "price": price.run,
    "fnnt-experiments": _oracles,
    "shuffling": _shuffled_reports,
    "curves": _curves,
    "jkmw-protocols": _normal_means,
    "central": _central,
    "barber-duchi-table-1": _table_1,
    "chaudhuri-hsu-theorem-1": _contaminated_medians,
    "chaudhuri-hsu-example-3": _smooth_sensitivities,
}


def small_study(name: str, seed: int) -> _study.Study:
    """Run an experiment with few repetitions and few records."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ldp.SmallSampleWarning)
        return SMALL_STUDIES[name](np.random.default_rng(seed))


class SmallStudies(dict[str, _study.Study]):
    """Studies by name. Each is made when a test first asks for it."""

    def __missing__(self, name: str) -> _study.Study:
        self[name] = small_study(name, 3)
        return self[name]


@pytest.fixture(scope="session")
def studies() -> SmallStudies:
    """Studies of all experiments with few repetitions, few records and a fixed seed; read-only."""
    return SmallStudies()
