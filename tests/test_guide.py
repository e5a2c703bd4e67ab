"""The guides and their pages: examples run, every public name is explained, and the tests that the pages name exist."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import ldpfast as ldp
from ldpfast import central, estimation, privacy
from ldpfast.estimation import Frequencies, MedianSGD, VectorMean

from .support.statistics import ALPHA

ROOT = Path(__file__).parent.parent
GUIDES = {estimation: "docs/guide.md", privacy: "docs/privacy.md", central: "docs/central.md"}
GAUSSIAN = (ROOT / "docs/gaussian.md").read_text()
PAGES = [
    *(ROOT / page for page in (*GUIDES.values(), "docs/gaussian.md")),
    *sorted((ROOT / "docs/proofs").glob("*.md")),
]
SECTIONS = {
    section.partition("\n")[0]: re.findall(r"```python\n(.*?)```", section, re.S)
    for guide in GUIDES.values()
    for section in re.split(r"^## ", (ROOT / guide).read_text(), flags=re.M)[1:]
}


@pytest.mark.parametrize("title", [title for title, blocks in SECTIONS.items() if blocks])
def test_examples_run_in_order(title, capsys, tmp_path, monkeypatch):
    """The blocks of a section share a session. Warnings are errors: every n is sufficient."""
    monkeypatch.chdir(tmp_path)  # pictures
    session: dict[str, object] = {}
    for block in SECTIONS[title]:
        exec(compile(block, f"guide: {title}", "exec"), session)
        assert capsys.readouterr().out


def test_examples_of_the_gaussian_page_run_in_order(capsys):
    """The blocks of the page share a session. Warnings are errors here, too: records and n do fit the model, or are few."""
    blocks, session = re.findall(r"```python\n(.*?)```", GAUSSIAN, re.S), {}
    assert len(blocks) >= 5
    for block in blocks:
        exec(compile(block, "docs/gaussian.md", "exec"), session)
        assert capsys.readouterr().out


@pytest.mark.parametrize("package", GUIDES, ids=lambda package: package.__name__)
def test_every_public_name_is_explained(package):
    guide = (ROOT / GUIDES[package]).read_text()
    missing = [name for name in package.__all__ if not re.search(rf"\b{name}\b", guide)]
    assert not missing


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_tests_that_a_page_names_exist(page):
    defined = {
        name for path in Path(__file__).parent.glob("*.py") for name in re.findall(r"def (test_\w+)", path.read_text())
    }
    assert set(re.findall(r"`(test_\w+)`", page.read_text())) <= defined


# What the pages say and no other test shows ---------------------------------------------------------------------------


def test_whole_numbers_are_covered_after_jitter():
    """Of Poisson counts, plus a uniform number of each client's own: 200 intervals of 95 %, of which a share of 0.93 or more
    covers. Wrong with a chance of ALPHA; sees a coverage below 0.75."""
    law, rng, runs, n, covered = stats.poisson(2.9), np.random.default_rng(1), 200, 5000, 0
    truth = 2.5 + (0.5 - law.cdf(2)) / law.pmf(3)
    for _ in range(runs):
        low, high = MedianSGD(1.0, 0, 20, n=n).run(rng.poisson(2.9, n) + rng.uniform(-0.5, 0.5, n), rng).interval()
        covered += low <= truth <= high
    assert covered >= stats.binom.ppf(ALPHA, runs, 0.93)


def test_centring_divides_the_variance_by_four():
    """Of the noise: B^2 with the radius 1/2 in the place of 1."""
    raw, centred = VectorMean(27, 0.5, "linf", 1.0), VectorMean(27, 0.5, "linf", lower=0, upper=1)
    noise = raw.mechanism.scale**2, (centred.mechanism.scale / 2) ** 2  # its records are in [-1, 1]: scaled back by 1/2
    assert noise[0] == pytest.approx(4 * noise[1])


def test_a_fair_coin_tells_nothing():
    """Where the odds of the coin are one, every record has the same row; the least epsilon that is accepted is above."""
    rows = ldp.RandomizedResponse(2, 1e-9).channel().matrix
    np.testing.assert_allclose(rows[0], rows[1], atol=1e-9)
    with pytest.raises(ValueError, match="epsilon"):
        ldp.RandomizedResponse(2, 0.0)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("k", [2, 10])
def test_shares_err_by_the_right_amount(epsilon, k):
    """The squared error of the symmetric code, (1 - |theta|^2 + k e^(a/2) / (e^(a/2) - 1)^2) / n, is at most (k/n) coth^2(a/4),
    and much more than the square of coth(a/4) / sqrt n where k is large."""
    e, theta = math.exp(epsilon / 2), np.full(k, 1 / k)
    mechanism = Frequencies(k, epsilon, "symmetric").mechanism
    # The variance of a person's decoded bits around the shares: of the report given the record, and of the record.
    error = mechanism.variance(np.arange(k)).sum(axis=1).mean() + 1 - theta @ theta
    assert error == pytest.approx(1 - theta @ theta + k * e / (e - 1) ** 2)
    coth = 1 / math.tanh(epsilon / 4)
    assert error <= k * coth**2
    if k == 10 and epsilon <= 1:
        assert error > 2 * coth**2
