"""The site in a browser: search, formulas, the picture of epsilon, and pages that fit on a phone."""

from __future__ import annotations

import html
import json
import math
import re

import pytest

import ldpfast as ldp

from ..support.site import rendered, serve

# Loads pages in a frame of the width of a phone, and lists those where `fault` returns more than 0.
FRAMES = """<!doctype html><title>faults</title><pre id="result"></pre><iframe id="frame" width="420" height="900"></iframe>
<script>
const pages = PAGES, fault = FAULT, faults = [], frame = document.getElementById("frame");
let seen = 0;
frame.addEventListener("load", async () => {
  if (frame.contentWindow.location.href === "about:blank") return;
  const found = await fault(frame.contentWindow);
  if (found) faults.push([pages[seen], found]);
  seen += 1;
  document.getElementById("result").textContent = JSON.stringify({seen: seen, faults: faults});
  if (seen < pages.length) frame.src = "/" + pages[seen];
});
frame.src = "/" + pages[0];
</script>"""
TOO_WIDE = "page => Math.max(page.document.documentElement.scrollWidth - 420, 0)"
# Formulas that were not typeset, and errors in them.
NOT_TYPESET = """async page => {
  await page.MathJax.startup.promise;
  const number = name => page.document.querySelectorAll(name).length;
  return Math.abs(number(".math mjx-container") - number(".math")) + number("[data-mml-node='merror']");
}"""


@pytest.fixture
def browser(request):
    return request.config.getoption("--browser")


@pytest.mark.parametrize(
    "words, page",
    [
        ("LinfBall", "reference/generated/ldpfast.mechanisms.LinfBall.html"),
        ("repeated questions", "collecting.html"),
        ("sample size", "planning.html"),
    ],
)
def test_search_finds(site, browser, tmp_path, words, page):
    """The page is among the first ten results of the search of the site."""
    with serve(site) as address:
        text = rendered(browser, f"{address}/search.html?q={words.replace(' ', '+')}", tmp_path, 30_000)
    found = [link.partition("#")[0] for link in re.findall(r'<li class="kind-\w+"><a href="([^"]+)" data-score', text)]
    assert any(link.endswith(page) for link in found[:10]), found[:10]


def pages_with_faults(browser, folder, site, names, fault):
    """Return the pages where the JavaScript function `fault` returns more than 0, with what it returns."""
    frames = FRAMES.replace("PAGES", json.dumps(names)).replace("FAULT", fault)
    with serve(site, frames) as address:
        text = rendered(browser, f"{address}/extra-page-of-the-tests", folder, 240_000)
    result = json.loads(html.unescape(re.search(r'<pre id="result">([^<]*)</pre>', text)[1]))
    assert result["seen"] == len(names)
    return result["faults"]


def test_formulas_are_typeset(site, browser, tmp_path, pages):
    names = [name for name in pages if 'class="math ' in (site / name).read_text()]
    assert {"ten_minutes.html", "proofs/central.html", "gaussian.html"} <= set(names)
    assert pages_with_faults(browser, tmp_path, site, names, NOT_TYPESET) == []


@pytest.mark.parametrize("epsilon, n", [(0.1, 100), (1.0, 1000), (2.0, 50_000), (8.0, 1_000_000)])
def test_the_picture_of_epsilon_has_the_numbers_of_the_library(site, browser, tmp_path, epsilon, n):
    """Probability of the truth, odds, and half-width of 95 % of the estimates, as rounded on the page."""
    with serve(site) as address:
        text = rendered(browser, f"{address}/ten_minutes.html#epsilon={epsilon}&n={n}", tmp_path)
    words = {
        name: html.unescape(re.search(rf'id="{name}-words"[^>]*>([^<]*)<', text)[1]) for name in ("epsilon", "spread")
    }
    chances = re.match(r"A report is true with probability ([\d.]+) %.*factor of at most ([\d.,]+):", words["epsilon"])
    truth, odds = chances.groups()
    study = re.match(r"With ([\d,]+) people.*it is within ([\d.]+) points of the truth", words["spread"])
    people, half_width = study.groups()
    warner = ldp.Warner(epsilon)
    assert float(truth) / 100 == pytest.approx(warner.channel().matrix[1, 1], abs=0.0051)
    assert float(odds.replace(",", "")) == pytest.approx(math.exp(epsilon), rel=0.05)
    assert int(people.replace(",", "")) == n
    spread = math.sqrt((0.3 * 0.7 + 0.3 * warner.variance(1) + 0.7 * warner.variance(0)) / n)
    assert float(half_width) == pytest.approx(196 * spread, rel=0.05)


def test_pages_fit_on_a_phone(site, browser, tmp_path, pages):
    """No page is wider than a screen of 420 pixels; wide tables, code and formulas scroll by themselves."""
    names = [name for name in pages if not name.startswith("reference/generated/") and name != "search.html"]
    names += [
        f"reference/generated/ldpfast.{name}.html" for name in ("mechanisms", "mechanisms.LinfBall", "survey.Survey")
    ]
    assert pages_with_faults(browser, tmp_path, site, names, TOO_WIDE) == []
