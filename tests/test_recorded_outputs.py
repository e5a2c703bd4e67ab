"""The seeded output of every public function that draws random numbers equals the recorded output.

Reports and counts are recorded bit for bit. Estimates depend on the elementary functions of the machine and are recorded
to nine digits. After a change that is announced in CHANGELOG.md, record again:

    python -m tests.test_recorded_outputs
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast import central, estimation, privacy
from ldpfast.survey import Choice, Cross, Histogram, Mean, Number, Pairs, Repeated, Several, Together, YesNo

from .cards import CARDS
from .support.cases import each
from .support.machine_records import labels, numbers, rows, ticks

RECORD = Path(__file__).with_name("recorded_outputs.json")
RUN = "python -m tests.test_recorded_outputs"
SEED = 20260801


def heights(n: int) -> np.ndarray:
    """Return nearly normal numbers with mean 171 and standard deviation 7, from sums of twelve uniform numbers."""
    parts = np.random.default_rng(7).integers(0, 1 << 20, (n, 12)) / 2.0**20
    return 171 + 7 * (parts.sum(axis=1) - 6)


def estimators() -> dict[str, Callable[[], Any]]:
    """Return one call per estimator, which returns an estimate."""
    e, n = estimation, 4000
    regression = (rows(n, 3), labels(n, 2), numbers(n, 5))
    made: dict[str, Callable[[], Any]] = {
        "truncated_mean": lambda: e.truncated_mean(numbers(n), 1.0, moment=4, radius=3, method="paper", rng=SEED),
        "truncated_mean sign-bit": lambda: e.truncated_mean(
            numbers(n), 1.0, moment=4, radius=3, method="paper", noise="sign-bit", rng=SEED
        ),
        "median": lambda: e.median(numbers(9 * n), 1.0, lower=-4, upper=4, rng=SEED),
        "median spacing": lambda: e.median(np.round(numbers(9 * n)), 1.0, lower=-4, upper=4, rng=SEED, spacing=1.0),
        "quantile": lambda: e.quantile(numbers(9 * n), 0.3, 1.0, lower=-4, upper=4, rng=SEED),
        "MedianSGD any time": lambda: e.MedianSGD(2.0, lower=-5, upper=5).run(
            numbers(9 * n).astype(np.float32), rng=SEED
        ),
        "naive_median": lambda: e.naive_median(numbers(n), 1.0, lower=-4, upper=4, rng=SEED),
        "vector_mean l2": lambda: e.vector_mean(rows(n, 5), 1.0, rng=SEED),
        "vector_mean linf": lambda: e.vector_mean(
            rows(n, 5), 1.0, norm="linf", lower=-1, upper=2, mechanism="half-space", rng=SEED
        ),
        "vector_mean box": lambda: e.vector_mean(rows(n, 5), 4.0, norm="linf", lower=-1, upper=2, rng=SEED),
        "sparse_mean": lambda: e.sparse_mean(rows(n, 30), 1.0, radius=1, rng=SEED),
        "frequencies few": lambda: e.frequencies(labels(n, 5), 5, 1.0, rng=SEED),
        "frequencies many": lambda: e.frequencies(labels(n, 90), 90, 1.0, project=True, rng=SEED),
        "frequencies labels": lambda: e.frequencies(["a", "b", "b", "c"] * n, ["a", "b", "c"], 1.0, rng=SEED),
        "series_density": lambda: e.series_density(numbers(n) / 8 + 0.5, 1.0, rng=SEED),
        "histogram_density": lambda: e.histogram_density(numbers(n) / 8 + 0.5, 1.0, rng=SEED),
        "histogram_density laplace": lambda: e.histogram_density(
            numbers(n) / 8 + 0.5, 1.0, bins=6, noise="laplace", rng=SEED
        ),
        "GradientDescent logistic": lambda: e.GradientDescent("logistic", 3, 2.0, column=1.0).run(
            regression[0], regression[1], rng=SEED
        ),
        "GradientDescent linear linf": lambda: e.GradientDescent("linear", 3, 2.0, norm="linf", residual=1.0).run(
            regression[0], regression[2], rng=SEED, shuffle=True
        ),
        "GradientDescent linear laplace": lambda: e.GradientDescent(
            "linear", 3, 2.0, noise="laplace", residual=1.0, covariance="full"
        ).run(regression[0].astype(np.float32), regression[2], rng=SEED),
        "LogisticRegression": lambda: (
            e.LogisticRegression(2.0, random_state=SEED).fit(regression[0], regression[1]).estimate_
        ),
        "LinearRegression": lambda: (
            e.LinearRegression(2.0, random_state=SEED).fit(regression[0], regression[2]).estimate_
        ),
        "PoissonRegression": lambda: (
            e.PoissonRegression(2.0, random_state=SEED).fit(regression[0], regression[1]).estimate_
        ),
        "central.mean rows": lambda: central.mean(
            rows(n, 4), privacy="approximate", epsilon=1.0, delta=1e-6, moment=2, radius=1, rng=SEED
        ),
        "central.mean l2 noise": lambda: central.mean(
            rows(n, 4), epsilon=1.0, moment=np.inf, radius=1, noise="l2", rng=SEED
        ),
        "central.median": lambda: central.median(numbers(n), epsilon=0.1, lower=-4, upper=4, rng=SEED),
        "central.quantile cauchy": lambda: central.quantile(
            numbers(n), 0.2, epsilon=0.1, lower=-4, upper=4, prior="cauchy", rng=SEED
        ),
        "central.quantile smooth": lambda: central.quantile(
            numbers(n),
            0.2,
            epsilon=1.0,
            delta=1e-6,
            method="smooth-sensitivity",
            lower=-4,
            upper=4,
            rng=SEED,
        ),
        "central.trimmed_mean": lambda: central.trimmed_mean(
            numbers(n), 0.1, epsilon=1.0, delta=1e-6, lower=-4, upper=4, rng=SEED
        ),
        "central.histogram_density": lambda: central.histogram_density(rows(n, 2) + 0.5, epsilon=1.0, rng=SEED),
    }
    for definition, level in (("pure", 1.0), ("smooth", 1.0), ("kl", 0.1), ("tv", 0.1)):
        made[f"central.mean {definition}"] = lambda definition=definition, level=level: central.mean(
            numbers(n), privacy=definition, epsilon=level, moment=3, radius=3, rng=SEED
        )
    for psi in ("quantile", "huber", "logistic"):
        made[f"central.m_estimate {psi}"] = lambda psi=psi: central.m_estimate(
            numbers(n), psi, epsilon=0.5, lower=-4, upper=4, rng=SEED, method="continuous", allow_ideal=True
        )
        made[f"central.m_estimate {psi} grid"] = lambda psi=psi: central.m_estimate(
            numbers(n), psi, epsilon=0.5, lower=-4, upper=4, rng=SEED
        )
    protocols = {
        "robust": {"sigma": 7.0},
        "robust one round": {"sigma": 7.0, "rounds": 1},
        "robust unknown sigma": {"sigma_bounds": (2.0, 30.0)},
        "robust unknown sigma one round": {"sigma_bounds": (2.0, 30.0), "rounds": 1},
        "pairs": {"sigma": 7.0, "method": "robust-pairs"},
        "efficient": {"sigma": 7.0, "method": "efficient"},
        "efficient unknown sigma": {"sigma_bounds": (2.0, 30.0), "method": "efficient"},
        "paper": {"sigma": 7.0, "method": "paper"},
        "paper one round": {"sigma": 7.0, "method": "paper", "rounds": 1},
        "paper unknown sigma": {"sigma_bounds": (2.0, 30.0), "method": "paper"},
        "paper unknown sigma one round": {"sigma_bounds": (2.0, 30.0), "method": "paper", "rounds": 1},
    }
    for name, options in protocols.items():
        made[f"GaussianMean {name}"] = lambda options=options: e.GaussianMean(4.0, mu_bound=1000.0, **options).run(
            heights(60_000), rng=SEED
        )
    made["GaussianMean simulate"] = lambda: e.GaussianMean(1.0, sigma=7.0, mu_bound=1000.0).simulate(
        10**9, 171.0, 7.0, rng=SEED
    )
    return made


def digest(*parts: bytes) -> str:
    whole = hashlib.sha256()
    for part in parts:
        whole.update(len(part).to_bytes(8, "little") + part)
    return whole.hexdigest()[:16]


def rounded(values: Any) -> bytes:
    """Return numbers rounded to nine digits."""
    return " ".join(f"{value:.8e}" for value in np.ravel(np.asarray(values, np.float64)).tolist()).encode()


def of_estimate(estimate: ldp.Estimate) -> str:
    return digest(rounded(estimate.value), rounded(estimate.stderr), str(estimate.n).encode())


def of_mechanism(mechanism: ldp.Mechanism, records: np.ndarray) -> str:
    """Return all results of a mechanism for records of every valid dtype, in arrays and single."""
    kinds = [records, records.astype(np.float32)] if records.dtype.kind == "f" else [records]
    parts = []
    for x in kinds:
        reports = mechanism.privatize(x, rng=SEED)
        parts += [reports.tobytes(), mechanism.privatize(x[3], rng=SEED).tobytes() if len(x) > 3 else b""]
        parts += [mechanism.aggregator().update(reports)._counts.group().states[0].tobytes()]
        parts += [of_estimate(mechanism.run(x, rng=SEED)).encode()]
    return digest(*parts)


SURVEY_QUESTIONS: dict[str, Any] = {
    "number": Mean(-4, 4),
    "bin": Histogram([-4, -1, 0, 2, 4], optional=True),
    "yes": YesNo(),
    "few": Choice(5),
    "many": Choice(90, optional=True),
    "both": Cross("number", "many"),
}
SET_QUESTIONS: dict[str, Any] = {
    "ticks": Several(12, most=3, optional=True),
    "yes": YesNo(),
    "pairs": Together("ticks"),
    "number": Mean(-4, 4),
    "both": Cross("ticks", "number"),
    "whole": Several(12, column="ticks"),
}


PAIR_QUESTIONS: dict[str, Any] = {
    "yes": YesNo(),
    "no": YesNo(column="yes"),
    "bin": Histogram([-4, -1, 0, 2, 4], optional=True),
    "few": Choice(5),
    "flags": Pairs("yes", "no"),
    "all": Pairs("yes", "bin", "few"),
}


NUMBER_QUESTIONS: dict[str, Any] = {
    "number": Number(-4, 4),
    "few": Number(0, 4, integers=True),
    "bin": Number(-4, 4, cells=30, optional=True),
}


def of_survey(questions: dict[str, Any], answers: int, personal: bool) -> str:
    """Return the reports and counts of a survey."""
    survey, n = ldp.Survey(questions, 3.0, answers=answers), 20_000
    people = {
        "ticks": ticks(n, 12, 3),
        "number": numbers(n),
        "bin": numbers(n, 2),
        "yes": labels(n, 2),
        "few": labels(n, 5),
        "many": labels(n, 90),
    }
    rng = ldp.PersonKeys(bytes(32), np.arange(n)) if personal else SEED
    table = survey.privatize(people, rng=rng)
    reports = [b"".join(row or b"-" for row in table.column(name).to_pylist()) for name in survey.mechanisms]
    return digest(survey.fingerprint.encode(), *reports, survey.aggregator().update(table).to_bytes())


def of_rounds() -> str:
    """Return the reports of two rounds of a repeated question."""
    repeated = Repeated(Choice(5), permanent=3.0, round=1.0, rounds=9)
    keys = ldp.PersonKeys(bytes(32), [f"person {i}" for i in range(3000)], question="q")
    return digest(*(repeated.in_round(r).privatize(labels(3000, 5), rng=keys).tobytes() for r in (0, 1)))


def computed() -> dict[str, Callable[[], str]]:
    made: dict[str, Callable[[], str]] = {
        repr(sample.mechanism): (lambda sample=sample: of_mechanism(sample.mechanism, sample.records()))
        for card in CARDS.values()
        for sample in card.recorded
    }
    made |= {name: (lambda call=call: of_estimate(call())) for name, call in estimators().items()}
    made |= {f"Survey {answers}": lambda m=answers: of_survey(SURVEY_QUESTIONS, m, False) for answers in (1, 3, 6)}
    made |= {
        f"Survey {answers} PersonKeys": lambda m=answers: of_survey(SURVEY_QUESTIONS, m, True) for answers in (1, 3)
    }
    made |= {"Survey of pairs": lambda: of_survey(PAIR_QUESTIONS, 2, False)}
    made |= {"Survey of pairs PersonKeys": lambda: of_survey(PAIR_QUESTIONS, 2, True)}
    made |= {"Survey of numbers": lambda: of_survey(NUMBER_QUESTIONS, 2, False)}
    made |= {"Survey of numbers PersonKeys": lambda: of_survey(NUMBER_QUESTIONS, 1, True)}
    made |= {
        f"Survey of sets {answers}{' PersonKeys' * own}": lambda m=answers, own=own: of_survey(SET_QUESTIONS, m, own)
        for answers in (1, 2)
        for own in (False, True)
    }
    made["Repeated"] = of_rounds
    made["privacy.audit"] = lambda: digest(
        rounded(privacy.audit(ldp.RandomizedResponse(3, 1.0), 0, 1, 20_000, rng=SEED))
    )
    return made


CALLS = computed()


@pytest.mark.claim("Seeded outputs stay the same in all patch releases and on every platform.", "Reproducibility")
@each("name", CALLS)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_output_is_what_was_recorded(name: str):
    recorded = json.loads(RECORD.read_text())
    assert name in recorded, f"run {RUN}"
    assert CALLS[name]() == recorded[name]


def test_nothing_recorded_is_missing():
    assert set(json.loads(RECORD.read_text())) == set(CALLS), f"run {RUN}, which must change no other line"


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    RECORD.write_text(json.dumps({name: call() for name, call in CALLS.items()}, indent=1) + "\n")
