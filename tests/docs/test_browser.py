"""The site in a browser: search, formulas, the picture of epsilon, and pages that fit on a phone."""

from __future__ import annotations

import html
import json
import math
import re
from urllib.parse import quote_plus

import pytest

import ldpfast as ldp
from ldpfast import survey
from ldpfast.cli import main

from ..support.site import rendered, serve

# Loads pages in a frame of some width, and lists those where `fault` returns more than 0.
FRAMES = """<!doctype html><title>faults</title><pre id="result"></pre><iframe id="frame" width="WIDTH" height="900"></iframe>
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
PHONE, LAPTOP = 390, 1280  # pixels
TOO_WIDE = f"page => Math.max(page.document.documentElement.scrollWidth - {PHONE}, 0)"
# What is wider than its part of the page: tables and pictures that can be scrolled only.
SCROLLED = """page => [...page.document.querySelectorAll(".scroll, figure")]
  .map(part => Math.max(part.scrollWidth - part.clientWidth - 1, 0)).reduce((a, b) => a + b, 0)"""
# Links and buttons of the header that are not beside each other.
NOT_IN_LINE = """page => {
  const boxes = [...page.document.querySelectorAll(".bd-header .navbar-brand, .bd-header .nav-link, .bd-header button")]
    .map(element => element.getBoundingClientRect()).filter(box => box.width > 0).sort((a, b) => a.left - b.left);
  const middle = box => (box.top + box.bottom) / 2;
  const faulty = box => Math.abs(middle(box) - middle(boxes[0])) > 12 || box.right > page.innerWidth;
  return boxes.filter((box, i) => faulty(box) || (i && box.left < boxes[i - 1].right - 1)).length + (boxes.length < 9);
}"""
# Formulas that were not typeset, and errors in them.
NOT_TYPESET = """async page => {
  await page.MathJax.startup.promise;
  const number = name => page.document.querySelectorAll(name).length;
  return Math.abs(number(".math mjx-container") - number(".math")) + number("[data-mml-node='merror']");
}"""


# The addresses of the first results of a search.
RESULTS = """async page => {
  const links = () => [...page.document.querySelectorAll("ul.search li > a")];
  const pause = () => new Promise(resolve => page.setTimeout(resolve, 20));
  while (links().length < 12 && !page.document.querySelector(".search-summary")?.innerText) await pause();
  return links().slice(0, 12).map(link => link.getAttribute("href"));
}"""
MECHANISM, ESTIMATION = "reference/generated/ldpfast.mechanisms.", "reference/generated/ldpfast.estimation."
FIRST = {
    "crosswise": "designs.html",
    "forced response": "designs.html",
    "unrelated question": "designs.html",
    "label privacy": "designs.html",
    "debias": "sums.html",
    "A/B test": "survey.html",
    "trend": "survey.html",
    "torch": "faq.html",
    "GPU": "faq.html#does-it-use-a-gpu-does-it-work-with-pytorch-and-jax",
    "what it does not do": "faq.html",
    "deduplicate": "server.html",
    "key rotation": "faq.html",
    "longitudinal": "panels.html",
    "telemetry": "telemetry.html",
    "common mistakes": "pitfalls.html",
    "how it works": "how_it_works.html",
    "federated learning": "federated.html",
    "survey": "survey.html",
    "regression": "regression.html",
    "sample size": "planning.html",
    "audit": "audit.html",
    "LinfBall": MECHANISM + "LinfBall.html",
    "RandomizedResponse": MECHANISM + "RandomizedResponse.html",
    "range_queries": ESTIMATION + "range_queries.html",
}


@pytest.fixture
def browser(request):
    return request.config.getoption("--browser")


@pytest.fixture(scope="module")
def results(site, request, tmp_path_factory):
    """The first results of searches: the words of `FIRST` and others."""
    words = [*FIRST, "repeated questions", "median", "epsilon", "privatize", "Survey"]
    names = [f"search.html?q={quote_plus(word)}" for word in words]
    browser = request.config.getoption("--browser")
    found = pages_with_faults(browser, tmp_path_factory.mktemp("browser"), site, names, RESULTS)
    assert len(found) == len(words)  # each search has results
    return dict(zip(words, [links for _, links in found], strict=True))


@pytest.mark.parametrize("words", FIRST)
def test_the_first_result_answers(results, words):
    assert f"{results[words][0]}#".startswith(f"{FIRST[words]}#"), results[words]


def test_search_finds_sections(results):
    assert "collecting.html#retries-and-repeated-questions" in results["repeated questions"]


@pytest.mark.parametrize("words", ["median", "epsilon", "privatize"])
def test_guides_are_before_the_reference(results, words):
    """Words that are also names of the library: the first result is a guide."""
    assert not results[words][0].startswith("reference/"), results[words]


@pytest.mark.parametrize("words", ["LinfBall", "RandomizedResponse", "Survey", "median", "range_queries"])
def test_each_object_is_listed_once(results, words):
    """One result has the page of an object, and no result repeats an address."""
    assert len(set(results[words])) == len(results[words])
    pages = [link for link in results[words] if link.startswith("reference/")]
    own = [link for link in pages if "#" not in link or link.partition("#")[2] + ".html" == link.partition("#")[0][20:]]
    assert len({link.partition("#")[0] for link in own}) == len(own)


def pages_with_faults(browser, folder, site, names, fault, width=PHONE):
    """Return the pages where the JavaScript function `fault` returns more than 0, with what it returns.

    A browser looks at 50 pages at most, so that its time limit is many times what it needs, on a busy machine, too.
    """
    found = []
    for start in range(0, len(names), 50):
        part = names[start : start + 50]
        frames = FRAMES.replace("PAGES", json.dumps(part)).replace("FAULT", fault).replace("WIDTH", str(width))
        with serve(site, frames) as address:
            text = rendered(browser, f"{address}/extra-page-of-the-tests", folder, 240_000)
        result = json.loads(html.unescape(re.search(r'<pre id="result">([^<]*)</pre>', text)[1]))
        assert result["seen"] == len(part)
        found += result["faults"]
    return found


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
    """No page is wider than the screen; wide tables, code and formulas scroll by themselves."""
    names = [name for name in pages if name != "search.html"]
    assert pages_with_faults(browser, tmp_path, site, names, TOO_WIDE) == []


@pytest.mark.parametrize("width", [1000, LAPTOP, 1440])
def test_the_header_is_one_line(site, browser, tmp_path, width):
    names = ["index.html", "survey.html", "gallery/index.html", "reference/index.html"]
    assert pages_with_faults(browser, tmp_path, site, names, NOT_IN_LINE, width) == []


def test_tables_and_wide_pictures_scroll_by_themselves_on_a_phone(site, browser, tmp_path):
    """The picture of the front page is not cut; columns of a table are wide enough for words."""
    fault = """page => {
      const frames = [...page.document.querySelectorAll(".bd-article table.table, .bd-article figure:not(.fits)")];
      const scrolls = box => box.scrollWidth <= box.clientWidth || page.getComputedStyle(box).overflowX === "auto";
      const narrow = [...page.document.querySelectorAll(".bd-article td")].filter(cell => cell.offsetWidth < 60);
      const cut = [...page.document.querySelectorAll("figure.fits img")].filter(image => image.offsetWidth > 374);
      return frames.filter(box => !scrolls(box)).length + narrow.length + cut.length;
    }"""
    names = ["index.html", "choosing.html", "guide.html", "survey.html", "reference/index.html"]
    assert pages_with_faults(browser, tmp_path, site, names, fault) == []


def test_code_can_be_copied_and_the_version_is_named(site, browser, tmp_path):
    """One button for each block of code and none for what it prints; the button for versions has the list of the site."""
    fault = """async page => {
      const all = name => [...page.document.querySelectorAll(name)];
      const versions = () => all(".version-switcher__menu a").length;
      for (let i = 0; i < 100 && !versions(); i++) await new Promise(resolve => page.setTimeout(resolve, 20));
      const code = all(".highlight-python pre, .highlight-sh pre").length;
      return Math.abs(all("button.copybtn").length - code) + all(".highlight-text button").length + (code < 2) + !versions();
    }"""
    names = ["how_it_works.html", "index.html", "panels.html"]
    assert pages_with_faults(browser, tmp_path, site, names, fault, LAPTOP) == []


@pytest.mark.parametrize("width", [PHONE, LAPTOP])
@pytest.mark.parametrize("options", [["--epsilon", "2"], []])
def test_the_page_for_a_committee_fits_on_a_phone(browser, tmp_path, width, options):
    """Nothing is cut off or scrolled sideways, with long names and five values of epsilon."""
    questions = {f"{'question ' * 5}{i}": survey.Choice([*"abcdefghijkl"], optional=True) for i in range(3)}
    text = ldp.Survey({**questions, "visits": survey.Mean(0, 20)}, 2.0, waves=4).to_toml()
    (tmp_path / "study.toml").write_text(re.sub("epsilon = .*", "", text))
    page = tmp_path / "plan.html"
    assert main(["plan", str(tmp_path / "study.toml"), "--n", "20000", *options, "--html", str(page)]) == 0
    fault = f"page => ({TOO_WIDE.replace(str(PHONE), str(width))})(page) + ({SCROLLED})(page)"
    assert pages_with_faults(browser, tmp_path / "browser", tmp_path, [page.name], fault, width) == []
