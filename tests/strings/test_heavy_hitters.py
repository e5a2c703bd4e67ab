"""Heavy hitters: the search is exhaustive, few absent strings are reported, frequent ones are found, and intervals cover."""

from __future__ import annotations

import itertools
import json
import math
import warnings

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast.domains import Strings
from ldpfast.estimation import HeavyHitters, heavy_hitters
from ldpfast.estimation.strings._decoded import DecodedSketch

from ..support.aggregation import counted_of
from ..support.cases import each
from ..support.errors import raises
from ..support.internals.strings import (
    MAX_CANDIDATES,
    Level,
    best_prefixes,
    continuations,
    independent,
    kept_survivors,
    largest_step,
    levels_of,
    search,
    spread,
)
from ..support.keys import STATISTICS_SEED
from ..support.statistics import normal_margin

LETTERS = "abcdefghij"
SMALL = HeavyHitters(4.0, max_bytes=5, alphabet=LETTERS, n=100_000, buckets=1024)


def words(count: int, seed: int = 1, length: int = 5) -> list[str]:
    """Return different words with letters of `LETTERS`."""
    rng = np.random.default_rng(seed)
    found: dict[str, None] = {}
    while len(found) < count:
        found["".join(rng.choice(list(LETTERS), rng.integers(1, length + 1)))] = None
    return list(found)


def zipf(count: int) -> np.ndarray:
    shares = 1 / np.arange(1, count + 1)
    return shares / shares.sum()


# The search -----------------------------------------------------------------------------------------------------------


def strings_of(symbols: int, length: int) -> set[tuple[int, ...]]:
    """Return all padded strings of at most a number of symbols."""
    found = set()
    for size in range(length + 1):
        for string in itertools.product(range(1, symbols + 1), repeat=size):
            found.add(string + (0,) * (length - size))
    return found


@each("symbols, start, stop", [(1, 0, 3), (2, 0, 1), (3, 0, 4), (2, 2, 5), (3, 1, 2), (4, 3, 4)])
def test_all_continuations_are_scored_once(symbols, start, stop):
    problem = HeavyHitters(2.0, max_bytes=stop, alphabet="abcd"[:symbols], n=1000, buckets=8, functions=3)
    hashes = problem.mechanism._hashes[0]
    rng = np.random.default_rng(1)
    table = rng.normal(size=(3, 8)).astype(np.float32)
    parents = sorted({string[:start] for string in strings_of(symbols, stop)})
    rows = np.array(parents, np.uint8).reshape(len(parents), start)
    found, scores, count = hashes.search(table, rows, start, symbols, -1e9, 10_000)
    assert count == len(found)
    assert {tuple(row) for row in found.tolist()} == strings_of(symbols, stop)
    assert count == len(strings_of(symbols, stop))
    numbers = table[np.arange(3), hashes.buckets(np.ascontiguousarray(found))]
    np.testing.assert_allclose(scores, numbers.sum(axis=1) - numbers.max(axis=1), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(hashes.scores(table, np.ascontiguousarray(found)), scores)
    some, kept, count = hashes.search(table, rows, start, symbols, 0.0, 10_000)
    assert {tuple(row) for row in some.tolist()} == {
        tuple(row) for row, s in zip(found.tolist(), scores, strict=True) if s >= 0
    }
    few, _, total = hashes.search(table, rows, start, symbols, 0.0, 1)
    assert (len(few), total) == (min(1, count), count)
    for wrong in ((stop + 1, symbols, 1), (start, 0, 1), (start, 256, 1), (start, symbols, 0)):
        with pytest.raises(ValueError, match="do not fit"):
            hashes.search(table, np.zeros((1, stop + 1), np.uint8), wrong[0], wrong[1], 0.0, wrong[2])
    with pytest.raises(ValueError, match="do not fit"):
        hashes.search(table, np.zeros((1, 0), np.uint8), 1, symbols, 0.0, 1)
    assert (kept >= 0).all()


SIZES = [
    (26, 14, 10**6),
    (255, 20, 10**6),
    (255, 20, 10**8),
    (10, 5, 1000),
    (1, 9, 100),
    (255, 120, 10**6),
    (253, 1, 10),
]


@each("symbols, length, n", SIZES)
def test_levels_stay_in_the_budget_and_cover_the_string(symbols, length, n):
    letters = "".join(map(chr, range(0x100, 0x100 + symbols)))
    domain = Strings(length, None if symbols == 255 else letters)
    sketch = HeavyHitters(4.0, max_bytes=1, n=10).mechanism
    prefixes = best_prefixes(domain, sketch, n)
    assert prefixes[-1] == length
    assert list(prefixes) == sorted(set(prefixes))
    levels = levels_of(domain, prefixes)
    assert all(level.candidates(symbols) <= MAX_CANDIDATES for level in levels)
    assert [level.stop for level in levels] == list(prefixes)
    assert all(level.survivors >= 1 for level in levels)


def test_examples_of_levels():
    letters, arbitrary = Strings(14, "abcdefghijklmnopqrstuvwxyz"), Strings(20)
    assert largest_step(26, 1) == 5
    assert largest_step(255, 1) == 3
    assert continuations(26, 3) == 1 + 26 + 26**2 + 26**3
    assert kept_survivors(255, 2) == MAX_CANDIDATES // (1 + 255 + 255**2)
    assert spread(letters, 4, 256) == (5, 8, 11, 14)
    assert spread(letters, 3, 256) is None
    assert spread(Strings(3), 1, 4096) == (3,)
    assert spread(Strings(3), 2, 4096) is None
    assert spread(arbitrary, 40, 1) is None
    assert SMALL.mechanism.prefixes == (5,)


def test_what_a_level_cuts_off_is_the_rest_of_the_best():
    counted = counted_of(SMALL.collect(np.array(words(12))[np.arange(60_000) % 12], rng=1))
    decoded = DecodedSketch.of(SMALL.mechanism, counted, 1)
    level = Level(0, 5, 1)
    everything, step, _ = search.search_level(decoded, level, 4096, np.zeros((1, 0), np.uint8))
    assert not step.raised
    assert step.kept == len(everything) == 12
    best, cut, _ = search.search_level(decoded, level, 5, np.zeros((1, 0), np.uint8))
    assert cut.raised
    assert (len(best), cut.kept) == (5, 5)
    assert {tuple(row) for row in best} <= {tuple(row) for row in everything}
    assert cut.threshold > step.threshold


def test_a_level_without_reports_ends_the_search():
    problem = HeavyHitters(4.0, max_bytes=14, alphabet=LETTERS, n=1000)
    parts = [DecodedSketch.of(problem.mechanism, counted_of(problem.aggregator()), part) for part in (1, 2)]
    rows, steps, moments = search.search(parts, levels_of(problem.domain, problem.mechanism.prefixes)[:2])
    assert moments == [1.0, 1.0]
    assert not len(rows)
    assert [step.candidates for step in steps] == [0, 0]


# Results --------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def estimate():
    common, shares = words(300), zipf(300)
    rng = np.random.default_rng(STATISTICS_SEED)
    problem = HeavyHitters(4.0, max_bytes=8, alphabet="abcdefghijklmnopqrstuvwxyz", n=300_000)
    assert len(problem.mechanism.prefixes) > 1
    return problem.run(rng.choice(np.array(common), 300_000, p=shares), rng=rng)


def test_frequent_words_are_found_in_descending_order(estimate):
    common, shares = words(300), zipf(300)
    frequent = [word for word, share in zip(common, shares, strict=True) if share >= estimate.smallest_share]
    assert 3 < len(frequent) < 30
    assert set(frequent) <= set(estimate.strings) <= set(common)
    assert (np.diff(estimate.value) <= 0).all()
    low, high = estimate.interval(0.999, simultaneous=True)
    true = np.array([shares[common.index(word)] for word in estimate.strings])
    assert ((low <= true) & (true <= high)).all()


def test_the_result_is_a_table_and_says_what_would_be_found(estimate):
    described = estimate.to_dict()
    assert described["categories"] == list(estimate.strings)
    assert described["smallest_share"] == estimate.smallest_share
    assert described["probability"] == 0.95
    assert estimate.strings[0] in estimate._repr_html_()
    narrow, wide = estimate.interval(), estimate.interval(simultaneous=True)
    assert (wide[1] - wide[0] > narrow[1] - narrow[0]).all()
    assert estimate.compared >= len(estimate.strings)
    assert [step.length for step in estimate.steps][-1] == 8


@pytest.mark.claim("Too few people give no strings and a `SmallSampleWarning`.", "Strings")
@pytest.mark.parametrize("n", [1, 3, 10])
def test_few_people_have_no_heavy_hitters_and_a_warning(n):
    with pytest.warns(ldp.SmallSampleWarning, match=f"n = {n} is too small to find any string with probability 0.95"):
        found = SMALL.run(["ab"] * n, rng=1)
    assert found.strings == ()
    assert found.value.shape == (0,)
    assert found.to_dict()["smallest_share"] is None
    assert repr(found)
    assert found.interval(simultaneous=True)[0].shape == (0,)
    assert found._repr_html_()


def test_more_survivors_than_can_be_continued_are_cut_with_a_warning(monkeypatch):
    monkeypatch.setattr(search, "MAX_SURVIVORS", 3)
    people = np.array(words(12))[np.arange(60_000) % 12]
    with pytest.warns(UserWarning, match="more prefixes of 5 symbols passed than can be continued, and 3 were"):
        found = SMALL.run(people, rng=1)
    assert len(found.strings) <= 3


def test_the_function_takes_the_number_of_people_from_the_strings():
    people = ["ab"] * 30_000 + ["c"] * 20_000
    found = heavy_hitters(people, 4.0, max_bytes=3, alphabet=LETTERS, rng=1)
    assert found.strings == ("ab", "c")
    assert found == HeavyHitters(4.0, max_bytes=3, alphabet=LETTERS, n=50_000).run(people, rng=1)


def test_texts_that_are_no_utf8_come_back_as_bytes():
    found = heavy_hitters([b"\xff\xfe"] * 30_000, 6.0, max_bytes=2, rng=1)
    assert found.strings == (b"\xff\xfe",)


@pytest.mark.claim("`HeavyHitters.plan` states before the study which shares are found.", "Strings")
def test_plans_and_results_agree():
    plan = SMALL.plan()
    assert (plan.n, plan.prefixes) == (100_000, (5,))
    assert plan.state_bytes == 8 * SMALL.mechanism.report.k
    assert f"{plan.smallest_share:.3g}" in str(plan)
    assert SMALL.plan(10**7).smallest_share < plan.smallest_share < SMALL.plan(10_000).smallest_share
    assert math.isinf(SMALL.plan(10).smallest_share)
    assert "no string is found" in str(SMALL.plan(10))
    found = SMALL.run(["ab"] * 100_000, rng=1)
    assert found.smallest_share == pytest.approx(plan.smallest_share, rel=0.2)


def test_collisions_of_frequent_strings_do_not_hide_them():
    """With few buckets every frequent string shares some with another one; these functions are left out of the estimate."""
    problem = HeavyHitters(5.0, max_bytes=5, alphabet=LETTERS, n=200_000, buckets=64, functions=16)
    common = words(20)
    found = problem.run(np.array(common)[np.arange(200_000) % 20], rng=1)
    error = (found.value - 0.05) / found.stderr
    assert len(found.strings) > 15
    assert (np.abs(error) < normal_margin(20)).all()


@pytest.mark.claim(
    "The confirmation of words errs with at most `false_discovery`, however many are compared.", "Strings"
)
@pytest.mark.long
def test_absent_strings_that_the_search_keeps_are_not_confirmed():
    """4,000 absent words in 40 runs, as if the search had kept all. More than 9 errors have a probability below 3e-5."""
    common, errors, runs = words(20), 0, 40
    absent = [word for word in words(4_020, seed=2) if word not in common]
    for run in range(runs):
        problem = HeavyHitters(4.0, max_bytes=5, alphabet=LETTERS, n=20_000, buckets=1024, salt=str(run))
        rng = np.random.default_rng([STATISTICS_SEED, run])
        counted = problem.collect(rng.choice(np.array(common), 20_000, p=zipf(20)), rng=run)
        whole = DecodedSketch.of(problem.mechanism, counted_of(counted), 0)
        names = problem._confirmed(whole, problem.domain.records([*common, *absent])[0])[3]
        assert common[0] in names
        errors += any(name not in common for name in names)
    assert errors <= 9


@pytest.mark.claim("A string that nobody has is not reported because it collides with frequent ones.", "Strings")
def test_an_absent_string_that_collides_with_two_frequent_ones_is_not_reported():
    """With 1,024 buckets every second absent string shares two of its buckets with one of two words."""
    people = np.where(np.random.default_rng(1).random(300_000) < 0.5, "abcde", "abcdf")
    for salt in range(4):
        problem = HeavyHitters(4.0, max_bytes=5, alphabet=LETTERS, n=300_000, buckets=256, salt=str(salt))
        found = problem.run(people, rng=salt)
        assert set(found.strings) == {"abcde", "abcdf"}
        low, high = found.interval(0.999, simultaneous=True)
        assert ((low < 0.5) & (high > 0.5)).all()


@pytest.mark.long
@pytest.mark.parametrize("top", [0.9, 0.5])
def test_the_stated_share_holds_beside_a_very_frequent_string(top):
    """The population has one word with half of the people or more, and one that is just above the stated share."""
    stated = HeavyHitters(4.0, max_bytes=5, alphabet=LETTERS, n=200_000).run(["abcde"] * 200_000, rng=1).smallest_share
    missed = 0
    for run in range(12):
        rng = np.random.default_rng(run)
        draw, rest = rng.random(200_000), rng.choice(words(3000, 5), 200_000)
        people = np.where(draw < top, "abcde", np.where(draw < top + 1.02 * stated, "jihgf", rest))
        found = HeavyHitters(4.0, max_bytes=5, alphabet=LETTERS, n=200_000, salt=str(run)).run(people, rng=rng)
        missed += found.smallest_share <= 1.02 * stated and "jihgf" not in found.strings
        assert found.smallest_share < 1.5 * stated
    assert missed <= 3  # 0.6 are expected


def test_shares_are_unbiased_with_few_buckets_and_many_functions():
    common = words(40, length=5)
    problem = HeavyHitters(4.0, max_bytes=5, alphabet=LETTERS, n=400_000, buckets=512, functions=48)
    found = problem.run(np.array(common)[np.arange(400_000) % 40], rng=1)
    assert set(found.strings) == set(common)
    error = (found.value - 1 / 40) / found.stderr
    assert abs(error.mean()) < normal_margin() / math.sqrt(40)


def test_what_is_no_text_has_a_form_in_json():
    found = heavy_hitters([b"\xff\xfe"] * 30_000, 6.0, max_bytes=2, rng=1)
    assert json.loads(json.dumps(found.to_dict()))["categories"] == ["\\xff\\xfe"]


def test_very_large_epsilon_has_no_warning():
    assert HeavyHitters(40.0, max_bytes=3, alphabet="abc", n=1000).plan().smallest_share < 0.1


def test_strings_that_are_too_long_for_a_search_are_refused():
    with pytest.raises(ValueError, match=r"^max_bytes must be smaller for this alphabet, got 255"):
        HeavyHitters(4.0, max_bytes=255)


@each(
    "arguments, kind, message",
    [
        ({"n": 0}, ValueError, r"n must be an integer in \[1, "),
        ({"functions": 1}, ValueError, r"functions must be an integer in \[2, 64\], got 1"),
        ({"false_discovery": 1.0}, ValueError, "false_discovery must be in"),
        ({"max_bytes": 0}, ValueError, r"max_bytes must be an integer in \[1, 255\], got 0"),
        ({"alphabet": "aa"}, ValueError, "alphabet must have"),
        ({"salt": b"x"}, TypeError, "salt must be a text, got bytes"),
    ],
)
def test_bad_arguments(arguments, kind, message):
    with pytest.raises(kind, match=f"^{message}"):
        HeavyHitters(1.0, **{"max_bytes": 4, **arguments})
    with raises(ValueError, "liars must be an integer in [0, 9], got 10"):
        SMALL.largest_shift(10, 10)


# Guarantees of the search, over many runs -----------------------------------------------------------------------------


@pytest.mark.claim(
    "A word that nobody has is reported with probability at most 0.05; frequent words are found with 0.95.", "Strings"
)
@pytest.mark.parametrize(
    "epsilon, functions, runs",
    [
        pytest.param(4.0, 16, 100, marks=pytest.mark.long),
        pytest.param(4.0, 16, 200, marks=pytest.mark.slow),
        pytest.param(2.0, 8, 200, marks=pytest.mark.slow),
    ],
)
def test_false_discoveries_misses_and_coverage(epsilon, functions, runs):
    """A Zipf population of 400 words among 111,111 strings, with other hash functions in every run."""
    n, count = 100_000, 400
    common, shares = words(count), zipf(count)
    false, missed, asked, covered = 0, 0, 0, 0
    for run in range(runs):
        rng = np.random.default_rng([STATISTICS_SEED, run])
        problem = HeavyHitters(
            epsilon, max_bytes=5, alphabet=LETTERS, n=n, buckets=4096, functions=functions, salt=str(run)
        )
        estimate = problem.run(rng.choice(np.array(common), n, p=shares), rng=rng)
        false += any(word not in common for word in estimate.strings)
        frequent = [word for word, share in zip(common, shares, strict=True) if share >= estimate.smallest_share]
        missed += sum(word not in estimate.strings for word in frequent)
        asked += len(frequent)
        low, high = estimate.interval(simultaneous=True)
        true = np.array([shares[common.index(word)] if word in common else 0.0 for word in estimate.strings])
        covered += bool(((low <= true) & (true <= high)).all())
    assert asked >= runs
    assert false / runs <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / runs)
    assert missed / asked <= 0.05
    assert covered / runs >= 0.95 - 2 * math.sqrt(0.05 * 0.95 / runs)


@pytest.mark.long
def test_a_level_with_two_candidates_keeps_what_people_have():
    """All strings have ended before the last levels, so that each has one continuation."""
    problem = HeavyHitters(4.0, max_bytes=12, alphabet="abcdefghijklmnopqrstuvwxyz", n=300_000)
    found = problem.run(["ab", "c"] * 150_000, rng=1)
    assert set(found.strings) == {"ab", "c"}
    assert found.steps[-1].candidates == 2


def test_the_search_does_not_depend_on_the_number_of_threads(monkeypatch):
    """Also where more continuations pass than are kept, which is forced here."""
    monkeypatch.setattr(search, "CAPACITY", 4)
    monkeypatch.setattr(search, "MAX_SCORES", 4)
    counted = SMALL.collect(np.array(words(60))[np.arange(60_000) % 60], rng=1)
    before, found = ldp.get_num_threads(), []
    try:
        for threads in (1, 3):
            ldp.set_num_threads(threads)
            with pytest.warns(UserWarning, match="more prefixes of 5 symbols passed"):
                found.append(counted.estimate())
    finally:
        ldp.set_num_threads(before)
    assert found[0] == found[1]
    assert found[0].strings == found[1].strings


# Reports that people cannot have sent ---------------------------------------------------------------------------------


SENT_AGAIN = HeavyHitters(4.0, max_bytes=3, alphabet=LETTERS, n=5000, buckets=1 << 14)


def noted(estimate, reports):
    """The result, and the kinds of warnings."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        return estimate(reports), {one.category for one in found}


@pytest.mark.claim("Reports that are sent again with other ids, or forged, give a warning.", "Strings")
@pytest.mark.parametrize("times", [1.3, 33])
def test_reports_that_are_sent_again_give_a_warning_and_end_the_search_early(times):
    """Without a limit all prefixes pass, because noise is taken for people, and tens of thousands are tested."""
    people = np.array(words(40, length=3))[np.random.default_rng(2).choice(40, 3000, p=zipf(40))]
    reports = SENT_AGAIN.privatize(people, rng=3)
    honest, kinds = noted(SENT_AGAIN.estimate, reports)
    assert (honest.doubts, honest.to_dict()["doubts"], kinds) == ((), [], set())
    assert all(step.possible for step in honest.steps)
    found, kinds = noted(SENT_AGAIN.estimate, np.resize(reports, int(times * 3000)))
    assert ldp.DoubtfulWarning in kinds
    assert len(found.doubts) == 1
    assert found.to_dict()["doubts"] == list(found.doubts)
    assert not all(step.possible for step in found.steps)
    assert all(
        step.kept <= independent.MAX_SHARES / step.threshold + independent.MAX_ABSENT + 1 for step in found.steps
    )
    assert {*honest.strings} <= {*found.strings}


def test_forged_reports_give_a_warning():
    """The reports of 300 people, each as often as chance has it, in the place of those of 3,000."""
    reports = SENT_AGAIN.privatize(words(300, length=3), rng=3)
    found, kinds = noted(SENT_AGAIN.estimate, reports[np.random.default_rng(1).integers(0, 300, 3000)])
    assert found.doubts
    assert ldp.DoubtfulWarning in kinds


def test_the_work_of_a_search_is_limited_and_said(monkeypatch):
    """Few strings are tested, and scans of all candidates end although not all that pass are known."""
    reports, tested, scans = SENT_AGAIN.privatize(words(5, length=3) * 2000, rng=5), [], []
    assert len(SENT_AGAIN.estimate(reports).strings) == 5
    scored, original = search._scored, search.independent
    with monkeypatch.context() as patch:
        patch.setattr(independent, "MAX_TESTED", 3)
        patch.setattr(search, "independent", lambda *given: tested.append(original(*given)) or tested[-1])
        found, kinds = noted(SENT_AGAIN.estimate, reports)
    assert kinds == {UserWarning}
    assert len(tested) == 1  # no other pass
    (step,) = found.steps
    assert (step.raised, step.possible, step.kept) == (True, True, 3)
    assert step.threshold >= tested[0].cut > 0

    # Hundreds pass, of which four are returned for each first letter, so that the limit is raised, twice at most.
    monkeypatch.setattr(search, "quantile_of", lambda _: 0.5)
    monkeypatch.setattr(search, "CAPACITY", 4)
    monkeypatch.setattr(search, "MAX_SCORES", 20)
    monkeypatch.setattr(search, "MAX_SCANS", 2)
    monkeypatch.setattr(search, "_scored", lambda *given: scans.append(given[3]) or scored(*given))
    found, kinds = noted(SENT_AGAIN.estimate, reports)
    assert found.steps[0].raised
    assert UserWarning in kinds
    assert 2 <= len(scans) <= 2 * search.PASSES


@pytest.mark.long
@pytest.mark.parametrize("n, buckets, functions", [(700, 1024, 16), (3000, 1024, 16), (2000, 64, 4), (1500, 4096, 8)])
def test_honest_people_give_no_warning(n, buckets, functions):
    problem = HeavyHitters(4.0, max_bytes=3, alphabet=LETTERS, n=5000, buckets=buckets, functions=functions)
    rng, listed = np.random.default_rng(n), np.array(words(300, length=3))
    for seed in range(20):
        for shares in (zipf(300), None, np.eye(300)[0], np.repeat([0.25, 0.0], [4, 296])):
            people = listed[rng.choice(300, n, p=shares)]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ldp.SmallSampleWarning)
                warnings.simplefilter("error", ldp.DoubtfulWarning)
                assert problem.run(people, rng=seed).doubts == ()
