"""A design for each person: joint estimates against enumeration, a known design, direct shares, and mistakes."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import binom

from ldpfast import designs
from ldpfast.results import DoubtfulWarning

from ..support.cases import each
from ..support.errors import raises

DIE, COIN = designs.forced_response("1/6", "1/6"), designs.crosswise(0.25)
ASKED = {"die": DIE, "coin": COIN, "direct": None}


def people(n=3000, share=0.25, seed=1):
    """Return people of three modes with their answers as texts."""
    rng = np.random.default_rng(seed)
    mode, has = rng.choice(["die", "coin", "direct"], n), rng.random(n) < share
    die, coin = (design.channel.privatize(has.astype(int), rng=seed) for design in (DIE, COIN))
    said = np.where(mode == "die", np.array(DIE.answers)[die], np.array(COIN.answers)[coin])
    return pd.DataFrame({"mode": mode, "said": np.where(mode == "direct", np.where(has, "yes", "no"), said)})


DATA = people()
GIVEN = {"outcome": "said", "designs": ASKED, "design": "mode"}


def log_likelihood(share, data=DATA):
    """Return the log-likelihood of a share from the probabilities of the answers of each person."""
    total = 0.0
    for mode, design in ASKED.items():
        hits = (data["said"][data["mode"] == mode] == ("yes" if design is None else design.answers[1])).to_numpy()
        p, q = (1.0, 0.0) if design is None else map(float, design.probabilities)
        seen = q + (p - q) * share
        total += np.sum(hits) * np.log(seen) + np.sum(~hits) * np.log(1 - seen)
    return total


def test_the_joint_estimate_has_the_largest_likelihood():
    found = designs.prevalence(DATA, **GIVEN)
    best = minimize_scalar(lambda share: -log_likelihood(share), bounds=(0.01, 0.99), options={"xatol": 1e-10})
    assert found.value == pytest.approx(best.x, abs=1e-7)
    step = 1e-4
    curvature = -(log_likelihood(best.x + step) - 2 * log_likelihood(best.x) + log_likelihood(best.x - step)) / step**2
    assert found.stderr == pytest.approx(curvature**-0.5, rel=0.02)
    for limit in found.interval():
        assert 2 * (-best.fun - log_likelihood(limit)) == pytest.approx(1.959963984540054**2, rel=1e-7)
    assert (found.n, found.epsilon) == (3000, math.inf)
    test = found.test(0.25)
    assert test.pvalue == pytest.approx(2 * min(found.test(0.25, alternative=a).pvalue for a in ("less", "greater")))
    low, _ = found.interval(1 - found.test(0.2).pvalue)
    assert low == pytest.approx(0.2, abs=1e-6)


def test_one_design_gives_its_own_estimate():
    part = DATA[DATA["mode"] == "die"]
    joint = designs.prevalence(part, outcome="said", designs={"die": DIE}, design="mode")
    alone = DIE.prevalence(part["said"].to_numpy())
    assert joint.value == pytest.approx(alone.value, abs=1e-12)
    assert joint.stderr == pytest.approx(alone.stderr, rel=1e-3)
    np.testing.assert_allclose(joint.interval(), alone.interval(), atol=0.1 * alone.stderr)
    assert joint.guarantee == DIE.guarantee
    given = {"weights": np.arange(len(part)) % 3 + 1, "clusters": np.arange(len(part)) // 10}
    weighted = designs.prevalence(part, outcome="said", designs={"die": DIE}, design="mode", **given)
    by_weights = DIE.prevalence(part["said"].to_numpy(), **given)
    assert weighted.value == pytest.approx(by_weights.value, abs=1e-12)
    assert weighted.stderr == pytest.approx(by_weights.stderr, rel=0.01)


def test_estimates_by_design_are_those_of_each_and_can_be_compared():
    found = designs.prevalence(DATA, **GIVEN, by_design=True)
    assert list(found) == ["die", "coin", "direct"]
    for mode, design in (("die", DIE), ("coin", COIN)):
        assert found[mode] == design.prevalence(DATA["said"][DATA["mode"] == mode].to_numpy())
    direct = DATA["said"][DATA["mode"] == "direct"] == "yes"
    assert found["direct"].value == pytest.approx(direct.mean())
    _, high = found["direct"].interval()
    assert binom.cdf(direct.sum(), len(direct), high) == pytest.approx(0.025)
    difference = found["die"] - found["coin"]
    assert difference.stderr == pytest.approx(np.hypot(found["die"].stderr, found["coin"].stderr))
    joint = designs.prevalence(DATA, **GIVEN)
    assert joint.stderr < min(estimate.stderr for estimate in found.values())


def test_tables_of_other_packages_and_numbers_are_read():
    whole = designs.prevalence(DATA, **GIVEN)
    codes = DATA.assign(said=DATA["said"].isin(["yes", "same"]).astype(int))
    for table in (pl.from_pandas(DATA), {name: column.tolist() for name, column in DATA.items()}, codes):
        assert designs.prevalence(table, **GIVEN) == whole
    numbered = {"outcome": "said", "designs": {1: DIE, 2: COIN, 3: None}, "design": "mode"}
    assert (
        designs.prevalence(DATA.assign(mode=DATA["mode"].map({"die": 1, "coin": 2, "direct": 3})), **numbered) == whole
    )


def test_weights_and_clusters_are_those_of_repeated_people():
    whole = np.arange(3000) % 3
    weighted = designs.prevalence(DATA.assign(w=whole), **GIVEN, weights="w")
    repeated = designs.prevalence(DATA.loc[np.repeat(np.arange(3000), whole)].reset_index(drop=True), **GIVEN)
    assert weighted.value == pytest.approx(repeated.value, abs=1e-9)
    assert weighted.n == np.count_nonzero(whole)
    twice = pd.concat([DATA, DATA], ignore_index=True)
    clusters = np.tile(np.arange(3000), 2)
    plain, same = designs.prevalence(DATA, **GIVEN), designs.prevalence(twice, **GIVEN, clusters=clusters)
    assert same.stderr == pytest.approx(plain.stderr, rel=0.03)
    assert designs.prevalence(twice, **GIVEN).stderr == pytest.approx(plain.stderr / 2**0.5, rel=0.01)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::ldpfast.DoubtfulWarning")
def test_limits_cover_by_enumeration():
    """All answers of 20 people with a die and 15 direct ones, for a share of 0.2."""
    share, inside, mean = 0.2, 0.0, 0.0
    p, q = map(float, DIE.probabilities)
    for hits in range(21):
        for direct in range(16):
            weight = binom.pmf(hits, 20, q + (p - q) * share) * binom.pmf(direct, 15, share)
            data = {
                "mode": ["die"] * 20 + ["direct"] * 15,
                "said": ["yes"] * hits + ["no"] * (20 - hits) + ["yes"] * direct + ["no"] * (15 - direct),
            }
            found = designs.prevalence(data, **GIVEN)
            low, high = found.interval()
            inside += weight * (low <= share <= high)
            mean += weight * found.value
    assert 0.93 < inside < 0.98
    assert mean == pytest.approx(share, abs=0.01)


@each(
    "data, given, error, message",
    [
        (DATA, {"outcome": "age"}, ValueError, "outcome must name a column of data, which has mode, said; got 'age'"),
        (DATA, {"design": "age"}, ValueError, "design must name a column of data"),
        (DATA, {"design": DATA["mode"]}, TypeError, "design must be the name of a column, got Series"),
        (DATA, {"weights": "w"}, ValueError, "weights must name a column of data"),
        (DATA, {"designs": {"die": DIE}}, ValueError, "design must be one of 'die', got '(coin|direct)'"),
        (DATA, {"designs": DIE}, TypeError, "designs must be a mapping of values of a column to designs, got Design"),
        (
            DATA,
            {"designs": ASKED | {"coin": 0.25}},
            TypeError,
            "designs must hold designs or None, got a float for 'coin'",
        ),
        (DATA.assign(said="yes"), {}, ValueError, "reports must be 'different' and 'same'"),
        (DATA.assign(said=None), {}, (TypeError, ValueError), "reports must be"),
        (DATA.assign(mode=None), {}, ValueError, "design must be one of 'die', 'coin', 'direct', got None"),
        ([1, 2], {}, TypeError, "data must be a data frame or a mapping of columns, got list"),
    ],
)
def test_mistakes_are_named(data, given, error, message):
    with pytest.raises(error, match=message):
        designs.prevalence(data, **(GIVEN | given))


def test_answers_that_no_share_explains_are_a_warning():
    data = {"mode": ["die"] * 500, "said": ["yes"] * 20 + ["no"] * 480}
    with pytest.warns(DoubtfulWarning, match=r"the prevalence is -0\.\d+, beyond what chance explains"):
        designs.prevalence(data, **GIVEN)
    with raises(ValueError, "reports must have shape (n,) with n >= 1, got shape (0,)"):
        DIE.prevalence([])
