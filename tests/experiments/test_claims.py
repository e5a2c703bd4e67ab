"""Claims of the papers: small studies confirm them, and studies with altered numbers report that they fail."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ldpfast import experiments
from ldpfast.experiments import central, curves, drugs, gaussian, logistic, price, salary_median

pytest.importorskip("statsmodels")


@pytest.mark.parametrize("name", experiments.EXPERIMENTS)
def test_every_claim_holds_with_a_verdict_of_one_line(studies, name):
    study = studies[name]
    assert study.holds, study.verdict
    assert "\n" not in study.verdict
    assert "NO" not in study.verdict.replace("NOT", "")


def assert_fails(study):
    """The claim does not hold, and the verdict contains NO."""
    assert not study.holds
    assert "NO" in study.verdict


def test_drugs_with_exchanged_methods_fail(studies):
    drug_use = studies["drugs"].stand_in
    exchanged = {
        **drug_use.errors,
        drugs.CUBE: drug_use.errors[drugs.LAPLACE],
        drugs.LAPLACE: drug_use.errors[drugs.CUBE],
    }
    assert_fails(replace(studies["drugs"], stand_in=replace(drug_use, errors=exchanged)))


def test_salary_means_with_increasing_errors_fail(studies):
    mean = studies["salary-mean"]
    curves_by_epsilon = {
        epsilon: replace(curve, errors=tuple(sorted(curve.errors, key=np.mean)))
        for epsilon, curve in mean.salaries.by_epsilon.items()
    }
    assert_fails(replace(mean, salaries=replace(mean.salaries, by_epsilon=curves_by_epsilon)))


def test_salary_medians_with_the_errors_of_the_naive_method_fail(studies):
    median = studies["salary-median"]
    worse = tuple(
        replace(p, guesses={**p.guesses, salary_median.SGD: p.guesses[salary_median.NAIVE]}) for p in median.salaries
    )
    assert not replace(median, salaries=worse).holds


def test_private_steps_are_below_their_bound(studies):
    for panel in studies["salary-median"].salaries:
        assert (panel.curve(salary_median.SGD).mean < panel.bound()).all()


def test_logistic_regressions_with_exchanged_methods_fail(studies):
    exchanged = {
        data: {**found, logistic.LAPLACE: found[logistic.HALF_SPACE], logistic.HALF_SPACE: found[logistic.LAPLACE]}
        for data, found in studies["logistic"].errors.items()
    }
    assert_fails(logistic.LogisticStudy(exchanged))


def test_densities_with_a_wrong_exact_risk_fail(studies):
    series = studies["density"]
    assert not replace(series, series_exact=series.series_exact / 2).holds


def test_curves_with_a_wrong_theory_fail(studies):
    sweep = studies["curves"].sweeps[0][0]
    wrong = replace(sweep, theory={method: 2 * line for method, line in sweep.theory.items()})
    assert not curves.CurveStudy(((wrong,),)).holds


def test_gaussian_means_with_a_smaller_coverage_fail(studies):
    normal = studies["gaussian"]
    too_narrow = tuple(replace(found, coverage=found.coverage - 0.1) for found in normal.errors)
    assert not replace(normal, errors=too_narrow).holds


def test_gaussian_means_with_exchanged_variants_fail(studies):
    normal = studies["gaussian"]
    other = {gaussian.PAPER: gaussian.ROBUST, gaussian.ROBUST: gaussian.PAPER}
    exchanged = tuple(
        replace(found, method=found.method._replace(variant=other.get(found.method.variant, found.method.variant)))
        for found in normal.errors
    )
    assert not replace(normal, errors=exchanged).holds


@pytest.mark.parametrize(
    "one, other",
    [
        (central.EXPONENTIAL, central.STEPS),
        (central.NOISE, central.BITS),
        (central.EXPONENTIAL, central.SMOOTH),
    ],
)
def test_the_central_model_with_exchanged_methods_fails(studies, one, other):
    study, exchanged = studies["central"], {one: other, other: one}
    panels = tuple(
        replace(p, errors={exchanged.get(method, method): curve for method, curve in p.errors.items()})
        if one in p.errors
        else p
        for p in study.panels
    )
    assert not replace(study, panels=panels).holds


def test_an_error_below_the_lower_bound_fails(studies):
    cheap = studies["price"].prices[3]
    errors = {"too good": cheap.bound.lower / 2}
    broken = price.PriceStudy((studies["price"].prices[0], replace(cheap, mechanisms=errors)))
    assert not broken.holds
    assert broken.verdict.endswith("NO (mean_l2, dim 20)")
