"""Kinds of covariance matrices, the names of statsmodels, and tables and pictures of regressions."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.special import expit

import ldpfast as ldp
from ldpfast import analysis, designs

from ..support.cases import each
from ..support.errors import raises
from .populations import FORCED, PLAIN, binary

X, REPORTS = binary(400, [0.8, -0.5], FORCED)
OUTCOME = np.random.default_rng(2).normal(size=400) + X[:, 0]
CLUSTERS = np.arange(400) // 10
MECHANISM = ldp.SignBit(-9, 9, 2.0)
BITS = MECHANISM.privatize(OUTCOME, rng=1, clip=True)


def logit(cov_type=None, design=FORCED, reports=REPORTS, **options):
    return analysis.RandomizedLogit(design).fit(X, reports, cov_type=cov_type, **options)


# Covariances ----------------------------------------------------------------------------------------------------------


def test_robust_errors_of_a_direct_logit_are_those_of_leverages():
    """HC1 and HC3 as in the package sandwich of R, of the hat matrix of the last weighted least squares."""
    x, reports = binary(150, [0.7, 0.2], PLAIN)
    theirs = sm.Logit(reports, sm.add_constant(x)).fit(disp=0)
    rows, share = sm.add_constant(x), theirs.predict()
    bread = np.linalg.inv((rows * (share * (1 - share))[:, np.newaxis]).T @ rows)
    leverage = np.einsum("ij,jk,ik->i", rows, bread, rows) * share * (1 - share)
    for kind, factor in (("HC1", np.full(150, np.sqrt(150 / 147))), ("HC3", 1 / (1 - leverage))):
        scores = rows * ((reports - share) * factor)[:, np.newaxis]
        ours = analysis.RandomizedLogit(PLAIN).fit(x, reports, cov_type=kind)
        np.testing.assert_allclose(ours.cov, bread @ scores.T @ scores @ bread, rtol=2e-5)
        assert ours.cov_type == kind
        assert f"heteroscedasticity-consistent ({kind}), t with 147 degrees" in repr(ours.summary())
    white = analysis.RandomizedLogit(PLAIN).fit(x, reports, cov_type="linearized")
    hc0 = sm.Logit(reports, sm.add_constant(x)).fit(disp=0, cov_type="HC0")
    np.testing.assert_allclose(white.bse * np.sqrt(149 / 150), hc0.bse, rtol=1e-5)


@pytest.mark.parametrize("categories", [2, 3])
def test_the_scores_of_hc3_are_those_of_fits_without_one_person(categories):
    """The coefficients without a person, by fits, are nearer to their steps than to those of plain scores."""
    x = np.random.default_rng(1).normal(size=(80, 1))
    x[::8] *= 3  # people of high leverage
    design = designs.warner(0.95) if categories == 2 else [[18, 1, 1], [1, 18, 1], [1, 1, 18]]
    odds = np.column_stack([np.zeros(80), *(x * slope for slope in (0.6, -0.4)[: categories - 1])])
    shares = np.exp(odds) / np.exp(odds).sum(axis=1, keepdims=True)
    reports = (np.random.default_rng(2).random(80)[:, np.newaxis] > np.cumsum(shares, axis=1)).sum(axis=1)
    model = analysis.RandomizedLogit(design).fit(x, reports, cov_type="HC3")
    params = np.atleast_2d(model._standard[0])
    bread = np.linalg.inv(model._likelihood.sums(params, observed=True).information)
    units = np.kron(np.eye(categories - 1), model._rows.to_units)
    leverages, plain = (
        np.vstack([part for _, part in scores]) @ bread @ units.T
        for scores in (model._likelihood.jackknifed_scores(params, bread), model._likelihood.scores(params))
    )
    np.testing.assert_allclose(model.cov, leverages.T @ leverages, rtol=1e-9)
    exact = []
    for person in range(0, 80, 4):
        rest = np.arange(80) != person
        exact.append(model.params.ravel() - analysis.RandomizedLogit(design).fit(x[rest], reports[rest]).params.ravel())
    errors = [np.sqrt(np.mean(np.square(np.array(exact) - part[::4]))) for part in (leverages, plain)]
    assert errors[0] < 0.2 * np.sqrt(np.mean(np.square(exact)))
    assert errors[0] < 0.6 * errors[1]


def test_least_squares_have_the_errors_of_statsmodels():
    rows = sm.add_constant(X)
    for kind in ("HC1", "HC3"):
        ours = analysis.RandomizedLinear(MECHANISM).fit(X, BITS, cov_type=kind)
        theirs = sm.OLS(MECHANISM.decode(BITS), rows).fit(cov_type=kind)
        np.testing.assert_allclose(ours.bse, theirs.bse, rtol=1e-9)
        assert ours.cov_type == kind
    weights = np.linspace(0.5, 2, 400)
    ours = analysis.RandomizedLinear(MECHANISM).fit(X, BITS, weights=weights, cov_type="HC1")
    theirs = sm.WLS(MECHANISM.decode(BITS), rows, weights=weights).fit(cov_type="HC1")
    np.testing.assert_allclose(ours.bse, theirs.bse, rtol=1e-9)


def test_the_default_is_told():
    weights = np.linspace(0.5, 2, 400)
    for options, kind in (({}, "nonrobust"), ({"weights": weights}, "linearized"), ({"clusters": CLUSTERS}, "cluster")):
        assert logit(**options).cov_type == kind
        np.testing.assert_array_equal(logit(**options).cov, logit(kind, **options).cov)
        linear = analysis.RandomizedLinear(MECHANISM).fit(X, BITS, **options)
        assert linear.cov_type == ("cluster" if kind == "cluster" else "HC3")
        for family in ("linear", "normal"):
            model = analysis.RandomizedPredictor(FORCED, family).fit(X, REPORTS, OUTCOME, **options)
            assert model.cov_type == ({"cluster": kind}.get(kind, "HC1") if family == "linear" else kind)
    one, other = (
        analysis.RandomizedPredictor(FORCED, "normal").fit(X, REPORTS, OUTCOME, cov_type=kind)
        for kind in ("HC1", "linearized")
    )
    np.testing.assert_allclose(one.cov * (400 - 8) / 400, other.cov * 399 / 400, rtol=1e-9)


# Names of statsmodels -------------------------------------------------------------------------------------------------


def test_names_are_those_of_statsmodels():
    x, reports = binary(3000, [0.3, -0.8], PLAIN)
    ours, theirs = analysis.RandomizedLogit(PLAIN).fit(x, reports), sm.Logit(reports, sm.add_constant(x)).fit(disp=0)
    for name in ("params", "bse", "pvalues", "llf", "aic", "bic"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-4, err_msg=name)
    for alpha in (0.05, 0.2):
        np.testing.assert_allclose(ours.conf_int(alpha), theirs.conf_int(alpha), rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(ours.conf_int(), np.transpose(ours.interval()))


def test_criteria_count_all_parameters():
    model = analysis.RandomizedPredictor(FORCED, "normal").fit(X, REPORTS, OUTCOME)
    assert model.aic == pytest.approx(2 * (4 + 1 + 3) - 2 * model.llf)
    assert model.bic == pytest.approx(np.log(400) * 8 - 2 * model.llf)
    assert logit().bic - logit().aic == pytest.approx(3 * (np.log(400) - 2))


# Tables and pictures --------------------------------------------------------------------------------------------------


class Cells(HTMLParser):
    """The texts of the cells of a table."""

    def __init__(self, text):
        super().__init__()
        self.cells = []
        self.feed(text)

    def handle_data(self, data):
        self.cells.append(data)


def named():
    frame = pd.DataFrame({"age_in_years": X[:, 0], "100 % & more": X[:, 1]})
    return analysis.RandomizedLogit(FORCED).fit(frame, REPORTS)


def test_a_table_in_latex_has_the_numbers_of_the_summary():
    summary = named().summary()
    lines = summary.as_latex().splitlines()
    assert lines[0] == r"\begin{tabular}{lrrrrrr}"
    assert lines[-1] == r"\end{tabular}"
    assert lines[2] == r"name & estimate & stderr & z & pvalue & low & high \\"
    assert [line.count("&") - line.count(r"\&") for line in lines[4:7]] == [6, 6, 6]
    assert lines[5].startswith(r"age\_in\_years & $")
    assert lines[6].startswith(r"100 \% \& more & $")
    table = summary.table
    for place, line in enumerate(lines[4:7]):
        numbers = [float(text) for text in re.findall(r"\$(-?[\d.]+)\$", line)]
        texts = table.to_texts()
        expected = [float(texts[name][place]) for name in ("estimate", "stderr", "z", "low", "high")]
        assert [numbers[at] for at in (0, 1, 2, -2, -1)] == expected
    effects = named().marginal_effects().summary().as_latex()
    assert "average marginal effects" in effects
    tiny = analysis.RegressionSummary(
        type(table)({"name": ["a<b"], "pvalue": [1e-9], "low": [-1e-8], "x": [np.inf]}), ()
    )
    assert r"a\textless{}b & $<0.0001$ & $-1 \times 10^{-8}$ & $\infty$ \\" in tiny.as_latex()


def test_a_table_in_html_has_the_cells_of_the_summary():
    summary = named().summary()
    cells = Cells(summary.as_html()).cells
    assert cells[:8] == ["name", "estimate", "stderr", "z", "pvalue", "low", "high", "const"]
    assert summary.table.to_texts()["estimate"][1] in cells
    assert "100 % & more" in cells


def test_predictions_are_drawn_against_a_column():
    frame = pd.DataFrame({"age": X[:, 0], "town": np.where(X[:, 1] > 0, "a", "b")})
    model = analysis.RandomizedLogit(FORCED).fit(frame, REPORTS)
    grid = pd.DataFrame({"age": [1.0, -1.0, 0.0], "town": "a"})
    found = model.predict(grid)
    ax = found.plot(x="age", confidence=0.9)
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), [-1, 0, 1])
    np.testing.assert_allclose(ax.lines[0].get_ydata(), found.value[[1, 2, 0]])
    assert ax.get_xlabel() == "age"
    limits = np.clip(found.interval(0.9), 0, 1)
    band = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert (band.min(), band.max()) == pytest.approx((limits.min(), limits.max()))
    towns = model.predict(pd.DataFrame({"age": [0.0, 0.0], "town": ["a", "b"]}))
    labels = [text.get_text() for text in towns.plot(x="town").get_yticklabels()]
    assert labels == ["a", "b"]
    assert towns.plot(x=[1, 2]).get_xlabel() == ""
    assert towns.plot().get_xlabel().startswith("estimate with 95 % interval")


# Mistakes -------------------------------------------------------------------------------------------------------------

GIVEN = {"weights": np.linspace(1, 2, 400)}


@each(
    "call, message",
    [
        (lambda: logit("HC2"), "cov_type must be one of"),
        (lambda: logit("cluster"), "cov_type must be \"cluster\" if there are clusters, and only then, got 'cluster'"),
        (lambda: logit("HC1", clusters=CLUSTERS), 'cov_type must be "cluster" if there are clusters'),
        (lambda: logit("nonrobust", **GIVEN), 'cov_type must be "HC1" or another robust one for a fit with weights'),
        (lambda: analysis.RandomizedLinear(MECHANISM).fit(X, BITS, cov_type="nonrobust"), "cov_type must be one of"),
        (
            lambda: analysis.RandomizedPredictor(FORCED).fit(X, REPORTS, OUTCOME, cov_type="HC3"),
            "cov_type must be one of",
        ),
        (lambda: logit(**GIVEN).aic, "information criteria must be those of a fit without weights and clusters"),
        (lambda: logit(clusters=CLUSTERS).bic, "information criteria must be those of a fit without weights"),
        (lambda: logit().conf_int(95), "alpha must be"),
        (lambda: logit().predict(X).plot(x="age"), "x must be the name of a column of what was given to predict"),
        (lambda: logit().predict(X).plot(x=[1, 2]), "x must have one value for each of 400 predictions"),
        (lambda: logit("HC1").interval(method="profile"), 'method must be "normal" for a fit with weights or clusters'),
    ],
)
def test_mistakes_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_criteria_need_a_likelihood():
    linear = analysis.RandomizedLinear(MECHANISM).fit(X, BITS)
    for name in ("aic", "bic", "llf"):
        with raises(AttributeError, f"'RandomizedLinear' object has no attribute {name!r}"):
            getattr(linear, name)
        with raises(AttributeError, "RandomizedLogit is not fitted yet: call fit first"):
            getattr(analysis.RandomizedLogit(FORCED), name)


@pytest.mark.long
def test_robust_errors_are_right_where_the_model_of_the_answers_is_wrong():
    """A share that is no logit of the covariate: intervals of the best logit cover with HC1 and HC3 for 300 people."""
    rng = np.random.default_rng(1)
    x = rng.uniform(-1.5, 1.5, 200_000)
    design = designs.forced_response("1/10", "1/10")
    share = 0.2 + 0.6 * (np.abs(x) < 0.7)
    truth = rng.random(200_000) < share
    best = analysis.RandomizedLogit(design).fit(
        x[:, np.newaxis] ** 2, design.channel.privatize(truth.astype(int), rng=1)
    )
    hits = dict.fromkeys(("HC1", "HC3"), 0)
    for seed in range(400):
        rng = np.random.default_rng(seed)
        x = rng.uniform(-1.5, 1.5, 300)
        truth = rng.random(300) < 0.2 + 0.6 * (np.abs(x) < 0.7)
        reports = design.channel.privatize(truth.astype(int), rng=seed)
        for kind in hits:
            low, high = analysis.RandomizedLogit(design).fit(x[:, np.newaxis] ** 2, reports, cov_type=kind).interval()
            hits[kind] += low[1] < best.params[1] < high[1]
    assert all(0.9 < count / 400 < 0.99 for count in hits.values()), hits
    assert expit(best.params[0]) > 0.5
