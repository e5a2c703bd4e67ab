"""Prevalences in complex samples: strata, clusters, finite populations, replicate weights, subgroups of several columns."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest

from ldpfast import SmallSampleWarning, designs

from ..support.cases import each
from ..support.survey_samples import (
    AGE,
    ANSWER,
    BY_TWO,
    DIRECT,
    FIGURES,
    REPLICATED,
    REPLICATES,
    SAMPLES,
    SEX,
    STRATUM,
    TOWN,
    WEIGHT,
)

FEW = pytest.mark.filterwarnings("ignore::ldpfast.SmallSampleWarning")
WARNER = designs.warner(0.7)


def close(x, expected, rel=1e-8):
    np.testing.assert_allclose(np.ravel(x), np.ravel(expected), rtol=rel)


# The package survey ---------------------------------------------------------------------------------------------------


@FEW
@each("name", SAMPLES)
def test_direct_answers_have_the_errors_of_the_package_survey(name):
    """Mean, design effect, subgroups, and their ratio and difference, which share clusters."""
    expected = FIGURES[name]
    found = DIRECT.prevalence(ANSWER, **SAMPLES[name])
    close([found.value, found.stderr, found.design_effect], expected["mean"])
    groups = DIRECT.prevalence_by(ANSWER, SEX, **SAMPLES[name])
    close([groups[0].value, groups[1].value, groups[0].stderr, groups[1].stderr], expected["by"])
    ratio, difference = groups[1] / groups[0], groups[1] - groups[0]
    close([ratio.value, ratio.stderr], expected["ratio"])
    close([difference.value, difference.stderr], expected["difference"])
    assert difference.n == ratio.n == 360


@FEW
@each("name", [*REPLICATED, "towns"])
def test_limits_are_those_of_the_package_survey_for_equal_clusters_and_replicates(name):
    found = DIRECT.prevalence(ANSWER, **SAMPLES[name])
    assert found.freedom == pytest.approx(FIGURES[name]["freedom"][0])
    close(found.interval(), FIGURES[name]["limits"])


@FEW
def test_strata_of_unequal_weights_have_fewer_degrees_of_freedom():
    """By the matrix of the quadratic form: tr(A)^2 / tr(A A). The package survey has 36, and narrower limits."""
    shares = np.bincount(TOWN, WEIGHT) / WEIGHT.sum()
    strata = np.arange(40) // 10
    middle = np.zeros((40, 40))
    for stratum, size in enumerate((20, 30, 12, 60)):
        inside = np.flatnonzero(strata == stratum)
        center = np.eye(10) - 0.1
        middle[np.ix_(inside, inside)] = center * (1 - 10 / size) * 10 / 9
    whole = np.diag(shares) @ middle @ np.diag(shares)
    found = DIRECT.prevalence(ANSWER, **SAMPLES["fpc"])
    assert found.freedom == pytest.approx(np.trace(whole) ** 2 / np.trace(whole @ whole))
    low, high = FIGURES["fpc"]["limits"]
    assert found.interval()[0] < low < high < found.interval()[1]
    equal = DIRECT.prevalence(ANSWER, clusters=TOWN, strata=STRATUM)
    assert equal.freedom == pytest.approx(36)


@FEW
def test_subgroups_of_two_columns_are_those_of_the_package_survey():
    """Labels are tuples, as those of a groupby of pandas; columns are a list or a data frame."""
    frame = pd.DataFrame({"stratum": STRATUM, "sex": SEX})
    found = DIRECT.prevalence_by(ANSWER, [STRATUM, SEX], **SAMPLES["fpc"])
    assert set(found) == set(frame.groupby(["stratum", "sex"]).groups) == set(BY_TWO)
    for label, (value, stderr) in BY_TWO.items():
        assert found[label].value == pytest.approx(value, rel=1e-8)
        assert found[label].stderr == pytest.approx(stderr, rel=1e-8)
    for by in (frame, [STRATUM.tolist(), SEX.tolist()], (frame["stratum"], frame["sex"])):
        assert DIRECT.prevalence_by(ANSWER, by, **SAMPLES["fpc"]) == found
    assert list(DIRECT.prevalence_by(ANSWER, [SEX])) == [(1,), (0,)]
    assert list(DIRECT.prevalence_by(ANSWER, SEX.tolist())) == [1, 0]
    names = np.where(SEX, "f", "m")
    assert next(iter(DIRECT.prevalence_by(ANSWER, [names, STRATUM]))) == ("f", 0)
    plain = DIRECT.prevalence_by(ANSWER, [names, STRATUM])  # people drawn one by one: exact limits, by different people
    alone = DIRECT.prevalence(ANSWER[(SEX == 1) & (STRATUM == 2)])
    assert plain["f", 2].interval() == alone.interval()
    assert (plain["f", 2] - plain["m", 2]).stderr == pytest.approx(np.hypot(plain["f", 2].stderr, plain["m", 2].stderr))


@FEW
def test_two_clusters_of_each_stratum_have_a_jackknife_of_scale_one():
    """JK2: for each pair, one is left out and the other counts twice. For a total weight that stays, it is linearization."""
    left_out = np.where(TOWN[:, np.newaxis] // 2 == np.arange(20), 2.0 * (TOWN[:, np.newaxis] % 2), 1.0)
    found = DIRECT.prevalence(
        ANSWER,
        weights=np.ones(360),
        replicate_weights=designs.ReplicateWeights(left_out, "jackknife", scale=1, mse=True),
    )
    pairs = DIRECT.prevalence(ANSWER, clusters=TOWN, strata=TOWN // 2)
    sizes = np.bincount(TOWN).reshape(20, 2)
    assert (sizes[:, 0] == sizes[:, 1]).all()
    assert found.stderr == pytest.approx(pairs.stderr)


def test_by_without_columns_is_named():
    with pytest.raises(ValueError, match="by must have one column or more, got a data frame without columns"):
        WARNER.prevalence_by(ANSWER, pd.DataFrame(index=np.arange(360)))


@FEW
@each("name", ["fpc", "people", "jkn"])
def test_order_units_of_weights_and_names_of_strata_do_not_matter(name):
    sample = dict(SAMPLES[name])
    expected = WARNER.prevalence(ANSWER, **sample)
    order = np.random.default_rng(1).permutation(360)
    if "replicate_weights" in sample:
        given = sample["replicate_weights"]
        sample["replicate_weights"] = designs.ReplicateWeights(
            2 * given.weights[order], "jackknife", rscales=given.rscales
        )
    moved = {key: value if key == "replicate_weights" else value[order] for key, value in sample.items()}
    moved["weights"] = moved["weights"] * 2
    if "strata" in moved:
        moved["strata"] = np.array(["z", "b", "y", "a"])[moved["strata"]]
    found = WARNER.prevalence(ANSWER[order], **moved)
    close([found.value, found.stderr, *found.interval()], [expected.value, expected.stderr, *expected.interval()])
    if "fpc" in moved:  # a share of the clusters or people in the place of their number
        drawn = 10 if name == "fpc" else 90
        same = WARNER.prevalence(ANSWER[order], **{**moved, "fpc": drawn / moved["fpc"]})
        assert same.stderr == pytest.approx(found.stderr, rel=1e-12)


@FEW
def test_people_of_weight_zero_are_not_in_the_sample():
    sample = {**SAMPLES["strata"], "weights": np.where(AGE > 1.5, 0.0, WEIGHT)}
    inside = AGE <= 1.5
    found = WARNER.prevalence(ANSWER, **sample)
    rest = WARNER.prevalence(ANSWER[inside], **{name: values[inside] for name, values in sample.items()})
    assert (found.value, found.n) == (pytest.approx(rest.value), inside.sum())
    assert found.n < 360
    assert found.stderr == pytest.approx(rest.stderr, rel=1e-12)


SAME = np.random.default_rng(4).uniform(0.1, 9, 60)  # weights


@FEW
@pytest.mark.filterwarnings("ignore::ldpfast.DoubtfulWarning")
@each("answer", [0, 1])
@each("n", [10, 37, 60])
@each("sample", ["weights", "clusters", "strata", "fpc", "replicates"])
def test_answers_that_are_all_the_same_have_a_standard_error(sample, n, answer):
    """Not that of the rounding of weights, and with a finite population not that of the randomization alone."""
    given = {"weights": SAME[:n]}
    if sample == "clusters":
        given["clusters"] = np.arange(n) // 2
    if sample in ("strata", "fpc"):
        given |= (
            {"strata": np.arange(n) % 2, "fpc": np.full(n, 1000)} if sample == "fpc" else {"strata": np.arange(n) % 2}
        )
    if sample == "replicates":
        drawn = np.random.default_rng(1).poisson(1, (n, 30)) * SAME[:n, np.newaxis] + 0.01
        given["replicate_weights"] = designs.ReplicateWeights(drawn, "bootstrap")
    found = WARNER.prevalence(np.full(n, answer), **given)
    half = (0.5 / (SAME[:n].sum() ** 2 / np.square(SAME[:n]).sum() + 1)) / 0.4
    assert found.stderr >= 0.3 * half
    low, high = DIRECT.prevalence(np.full(n, answer), **given).interval()
    assert high - low > 1 / n
    assert answer == pytest.approx(high if answer else low)


@FEW
@pytest.mark.filterwarnings("ignore::ldpfast.DoubtfulWarning")
def test_a_subgroup_of_one_person_has_limits_and_differences():
    one = np.where(np.arange(360) == 3, "one", "rest")
    found = WARNER.prevalence_by(ANSWER, one, weights=WEIGHT, strata=STRATUM)
    low, high = found["one"].interval()
    assert high - low > 0.9
    difference = found["one"] - found["rest"]
    assert difference.stderr > found["one"].stderr  # the answer of one person does not show how answers vary


# Finite populations ---------------------------------------------------------------------------------------------------


@pytest.mark.claim(
    "In a finite population, variances of randomized answers are unbiased, or larger where all answers are the same.",
    "Estimates",
)
@FEW
@each("truth, drawn", [([1, 0, 0, 1, 0], 3), ([1, 1, 1, 0, 1], 2), ([1, 0, 1, 0], 4)])
def test_the_variance_of_randomized_answers_in_a_finite_population_is_unbiased(truth, drawn):
    """Exactly, over all samples of a small population and all answers of their people; the usual correction is too small.

    Answers that are all the same do not show how they vary: the standard error is larger then.
    """
    size = len(truth)
    p, q = map(float, WARNER.probabilities)
    values, variances = [], []
    usual, chances = [], []
    for people in combinations(range(size), drawn):
        for answers in product((0, 1), repeat=drawn):
            yes = [p if truth[person] else q for person in people]
            chance = np.prod([one if answer else 1 - one for answer, one in zip(answers, yes, strict=True)])
            found = WARNER.prevalence(answers, fpc=np.full(drawn, float(size)))
            values.append(found.value)
            usual.append((1 - drawn / size) * np.var(answers, ddof=1) / drawn / (p - q) ** 2)
            variances.append(usual[-1] + p * (1 - p) / size / (p - q) ** 2)
            if len(set(answers)) > 1:
                assert found.stderr**2 == pytest.approx(variances[-1], rel=1e-12)
            assert found.stderr**2 >= variances[-1] * (1 - 1e-12)
            chances.append(chance)
    chances = np.array(chances) / len(list(combinations(range(size), drawn)))
    mean = chances @ values
    assert mean == pytest.approx(np.mean(truth))
    exact = chances @ np.square(np.array(values) - mean)
    assert chances @ variances == pytest.approx(exact, rel=1e-12)
    assert chances @ usual < 0.65 * exact


@FEW
@each("design", [designs.forced_response("1/20", "2/5"), designs.mangat(0.6), designs.crosswise(0.2)])
def test_the_variance_is_unbiased_for_strata_and_unequal_probabilities(design):
    """Exactly, for a stratum of which everybody is asked beside one of which some are: their prevalences are not the same."""
    strata, drawn = ([1, 1, 0], [0, 0, 1, 0]), (3, 2)
    p, q = map(float, design.probabilities)
    sample = {
        "strata": np.repeat([0, 1], drawn),
        "fpc": np.repeat([3.0, 4.0], drawn),
        "weights": np.repeat([1.0, 2.0], drawn),
    }
    values, variances, chances = [], [], []
    for people in combinations(range(4), 2):
        truth = np.array(strata[0] + [strata[1][person] for person in people])
        for answers in product((0, 1), repeat=5):
            chance = np.prod(np.where(np.array(answers) == 1, np.where(truth, p, q), np.where(truth, 1 - p, 1 - q)))
            found = design.prevalence(answers, **sample)
            same = len(set(answers)) == 1  # whose standard error is larger
            own = np.where(answers, (1 - p) * (1 - q), p * q) * [1, 1, 1, 2, 2] / 49 / (p - q) ** 2
            values.append(found.value)
            variances.append(own.sum() if same else found.stderr**2)
            chances.append(chance / 6)
    exact = np.dot(chances, np.square(values)) - np.dot(chances, values) ** 2
    assert np.dot(chances, variances) == pytest.approx(exact, rel=1e-12)


@FEW
def test_a_census_of_direct_answers_is_certain_and_one_of_randomized_answers_is_not():
    sample = {"strata": STRATUM, "clusters": TOWN, "fpc": np.full(360, 10)}
    assert WARNER.prevalence(ANSWER, **sample).stderr == pytest.approx(np.sqrt(0.21 / 360) / 0.4, rel=1e-9)
    one = {"strata": np.where(TOWN == 0, 9, STRATUM), "clusters": TOWN, "fpc": np.where(TOWN == 0, 1.0, 0.01)}
    taken = DIRECT.prevalence(ANSWER, **one).stderr  # a stratum of one cluster that was taken whole
    drawn = np.array([len(np.unique(TOWN[(stratum == STRATUM) & (TOWN > 0)])) for stratum in range(4)])
    sizes = np.where(TOWN == 0, 1, 100 * drawn[STRATUM])
    assert DIRECT.prevalence(ANSWER, **{**one, "fpc": sizes}).stderr == pytest.approx(taken)  # or by sizes
    assert taken > 0


@FEW
def test_several_designs_have_the_errors_of_the_same_sample():
    data = pd.DataFrame({"said": ANSWER, "how": "die", **{key: SAMPLES["fpc"][key] for key in SAMPLES["fpc"]}})
    columns = {name: name for name in SAMPLES["fpc"]}
    asked = {"die": WARNER}
    joint = designs.prevalence(data, outcome="said", designs=asked, design="how", **columns)
    alone = WARNER.prevalence(ANSWER, **SAMPLES["fpc"])
    close([joint.value, joint.stderr, joint.freedom], [alone.value, alone.stderr, alone.freedom], 1e-6)
    assert joint.design_effect == pytest.approx(alone.design_effect, rel=5e-3)  # n and n - 1
    one = designs.prevalence(data, outcome="said", designs=asked, design="how", by_design=True, **columns)["die"]
    close([one.value, one.stderr], [alone.value, alone.stderr])
    names = [f"r{place}" for place in range(36)]
    data = data.join(pd.DataFrame(REPLICATES, columns=names)).assign(how=np.where(ROWS_ODD, "die", "coin"))
    asked = {"die": WARNER, "coin": designs.crosswise(0.2)}
    weights = designs.ReplicateWeights(names, "bootstrap")
    given = {"outcome": "said", "designs": asked, "design": "how"}
    found = designs.prevalence(data, **given, weights="weights", replicate_weights=weights)
    each_one = [designs.prevalence(data, **given, weights=name).value for name in names]
    assert found.stderr == pytest.approx(np.std(each_one, ddof=1), rel=1e-9)


ROWS_ODD = np.arange(360) % 2 == 1


@FEW
def test_list_experiments_have_strata_and_replicate_weights():
    """The variance of a difference in means, by strata of clusters from its definition, and by replicate estimates."""
    treated, counts = ROWS_ODD, (np.arange(360) * 7 % 3) + (ROWS_ODD & (ANSWER == 1))
    design = designs.list_experiment(3)
    found = design.prevalence(counts, treated, weights=WEIGHT, clusters=TOWN, strata=STRATUM)
    scores = np.zeros(360)
    for group, sign in ((treated, 1), (~treated, -1)):
        mean = np.average(counts[group], weights=WEIGHT[group])
        scores[group] = sign * WEIGHT[group] * (counts[group] - mean) / WEIGHT[group].sum()
    totals = np.bincount(TOWN, scores).reshape(4, 10)
    assert found.stderr == pytest.approx(np.sqrt((totals.var(axis=1, ddof=1) * 10).sum()), rel=1e-12)
    replicates = designs.ReplicateWeights(REPLICATES, "bootstrap")
    again = design.prevalence(counts, treated, weights=WEIGHT, replicate_weights=replicates)
    each_one = [design.prevalence(counts, treated, weights=column).value for column in REPLICATES.T]
    assert again.stderr == pytest.approx(np.std(each_one, ddof=1), rel=1e-12)


def test_people_drawn_one_by_one_have_no_design_effect():
    assert WARNER.prevalence(ANSWER).design_effect == 1
    assert WARNER.prevalence(ANSWER, weights=np.ones(360)) == WARNER.prevalence(ANSWER)
    weighted = WARNER.prevalence(ANSWER, weights=WEIGHT)
    seen = np.average(ANSWER, weights=WEIGHT)
    assert weighted.design_effect == pytest.approx(weighted.stderr**2 * 0.16 / (seen * (1 - seen) / 359), rel=1e-12)
    with pytest.warns(SmallSampleWarning, match=r"clusters of strata have 26\.2 degrees of freedom, too few"):
        DIRECT.prevalence(ANSWER, **SAMPLES["strata"])


# Mistakes -------------------------------------------------------------------------------------------------------------

LONELY = np.where(TOWN == 3, 9, STRATUM)


def _replicate(weights=REPLICATES, kind="bootstrap", **options):
    return {"weights": WEIGHT, "replicate_weights": designs.ReplicateWeights(weights, kind, **options)}


@each(
    "options, message",
    [
        (
            {"strata": LONELY, "clusters": TOWN},
            r"strata must have two or more clusters each, or all that there are \(fpc 1\), got one cluster of stratum 9: "
            "join it with another stratum",
        ),
        ({"strata": np.arange(360)}, "strata must have two or more people each, .* got one person of stratum 0"),
        (
            {"strata": STRATUM, "clusters": np.arange(360) % 9},
            "clusters must be in one stratum each, got 0 in several: give clusters of different strata different names",
        ),
        ({"strata": STRATUM[1:]}, "strata must have one value for each of 360 rows, got 359 values"),
        ({"strata": [None, *STRATUM[1:]]}, "strata must have one value for each of 360 rows, got missing ones"),
        (
            {"strata": STRATUM, "clusters": TOWN, "fpc": np.full(360, 9)},
            "fpc must be at least the number of clusters, or of people without clusters, that were drawn, got 9 for 10 in "
            "stratum 0",
        ),
        (
            {"strata": STRATUM, "fpc": np.where(AGE > 0, 500, 600)},
            "fpc must be the same for all people of a stratum, got several values in stratum 0",
        ),
        (
            {"fpc": np.where(AGE > 0, 0.5, 600)},
            "fpc must be sizes of the population, all at least 1, or sampled shares",
        ),
        ({"fpc": np.zeros(360)}, "fpc must be sizes of the population"),
        ({"fpc": [500]}, "fpc must have one value for each of 360 rows"),
        (
            {**_replicate(), "strata": STRATUM},
            "replicate_weights must be without clusters, strata and fpc, which they stand for",
        ),
        (_replicate(REPLICATES[1:]), r"replicate_weights must have shape \(360, replicates\)"),
        (_replicate(REPLICATES[:, :1]), "replicate_weights must have shape"),
        (_replicate(-REPLICATES), "replicate_weights must be >= 0"),
        (_replicate(rscales=[1, 2]), "rscales must be >= 0, one for each of 36 replicates"),
        (
            {**_replicate(REPLICATES / WEIGHT[:, np.newaxis]), "weights": 100 * WEIGHT},
            "replicate_weights must include the sampling weights, got factors of these",
        ),
    ],
)
def test_mistakes_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        WARNER.prevalence(ANSWER, **options)


@FEW
@each(
    "call, error, message",
    [
        (lambda: designs.ReplicateWeights(REPLICATES, "jk1"), ValueError, "kind must be one of"),
        (lambda: designs.ReplicateWeights(REPLICATES, "jackknife", rho=0.3), ValueError, 'and 0 unless kind is "brr"'),
        (lambda: designs.ReplicateWeights(REPLICATES, "brr", rho=1), ValueError, r"rho must be in \[0, 1\)"),
        (lambda: designs.ReplicateWeights(REPLICATES, "brr", scale=0), ValueError, "scale must be"),
        (
            lambda: WARNER.prevalence(ANSWER, weights=WEIGHT, replicate_weights=REPLICATES),
            TypeError,
            "replicate_weights must be a designs.ReplicateWeights, got ndarray",
        ),
        (
            lambda: WARNER.prevalence(ANSWER, replicate_weights=_replicate()["replicate_weights"]),
            TypeError,
            "weights must be given with replicate_weights",
        ),
        (
            lambda: WARNER.prevalence(ANSWER, **_replicate(["r1", "r2"])),
            TypeError,
            "replicate_weights must hold an array: names of columns need a data frame",
        ),
        (
            lambda: WARNER.prevalence_by(ANSWER, TOWN == 5, **SAMPLES["jk1"]),
            ValueError,
            "replicate_weights must leave people of each subgroup, got none in replicate 5",
        ),
        (
            lambda: WARNER.prevalence_by(ANSWER, [SEX, SEX[1:]]),
            ValueError,
            r"by\[1\] must have one value per person, got 359 for 360 reports",
        ),
        (
            lambda: WARNER.prevalence(pd.Series(ANSWER), strata=pd.Series(STRATUM, index=np.arange(360)[::-1])),
            ValueError,
            "index",
        ),
    ],
)
def test_other_mistakes_are_named(call, error, message):
    with pytest.raises(error, match=message):
        call()


# Coverage -------------------------------------------------------------------------------------------------------------


@pytest.mark.long
@FEW
def test_intervals_cover_in_a_stratified_sample_of_clusters():
    """Half of 12 to 40 villages of four strata, forced response: with the correction, and not without the answers' part."""
    design = designs.forced_response("1/6", "1/6")
    rng = np.random.default_rng(3)
    sizes = np.array([12, 16, 20, 40])
    village = np.repeat(np.arange(sizes.sum()), 20)
    home = np.repeat(np.arange(4), sizes)
    share = np.clip(rng.beta(2, 4, len(home)) + 0.1 * home, 0, 0.9)
    truth = (rng.random(len(village)) < share[village]).astype(int)
    hits, naive = 0, 0
    for seed in range(500):
        rng = np.random.default_rng(seed)
        drawn = np.concatenate(
            [rng.choice(np.flatnonzero(home == h), n // 2, replace=False) for h, n in enumerate(sizes)]
        )
        inside = np.isin(village, drawn)
        reports = design.channel.privatize(truth[inside], rng=seed)
        sample = {"clusters": village[inside], "strata": home[village[inside]]}
        found = design.prevalence(reports, **sample, fpc=sizes[home[village[inside]]])
        low, high = found.interval()
        hits += low < truth.mean() < high
        free = design.prevalence(reports, **sample)
        margin = 1.96 * free.stderr * np.sqrt(0.5)  # the usual correction
        naive += abs(free.value - truth.mean()) < margin
    assert 0.93 <= hits / 500 <= 0.98, (hits, naive)
    assert naive / 500 < 0.93, (hits, naive)
