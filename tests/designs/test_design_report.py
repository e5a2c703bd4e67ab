"""The page about a design for an ethics committee: numbers, what an answer reveals, files, and mistakes."""

from __future__ import annotations

import math
import re
from html.parser import HTMLParser

import pytest

from ldpfast import designs

from ..support.cases import each
from ..support.errors import raises

QUESTION = "Have you <ever> evaded taxes?"
GIVEN = {"prevalence": 0.1, "stderr": 0.02}
FINITE = {
    "die": designs.forced_response("1/6", "1/6"),
    "crosswise": designs.crosswise(0.25),
    "kuk": designs.kuk(0.8, 0.1),
}


class Texts(HTMLParser):
    """The texts of a page, and its elements."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.elements: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.elements.append(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append(data.replace("\xa0", " ").strip())


@each("name", FINITE)
def test_the_page_has_the_numbers_of_the_design(name):
    design = FINITE[name]
    report = design.report(QUESTION, **GIVEN)
    page = Texts(report.html)
    p, q = map(float, design.probabilities)
    seen = q + (p - q) * 0.1
    first, second = design.answers
    assert report.after[second] == pytest.approx(0.1 * p / seen)
    assert report.after[first] == pytest.approx(0.1 * (1 - p) / (1 - seen))
    assert report.n == design.sample_size(0.1, 0.02)
    for text in (
        QUESTION,
        design.instruction,
        f"says {first}",
        f"{100 * report.after[second]:.3g} %",
        f"{100 * q:.3g} %",
        f"{report.n:,}",
        "225",
    ):
        assert text in page.texts
    promise = next(text for text in page.texts if "times as likely" in text)
    ratio, belief = map(float, re.search(r"most ([\d.]+) times .* most ([\d.]+) % afterwards", promise).groups())
    assert math.exp(design.epsilon) <= ratio < 1.01 * math.exp(design.epsilon)
    assert belief == pytest.approx(100 / (1 + math.exp(-design.epsilon)), abs=0.1)


def test_an_answer_that_reveals_the_truth_is_named():
    page = Texts(designs.triangular(0.25).report(QUESTION, **GIVEN).html)
    assert "The answer “none” proves that the true answer is no." in page.texts
    assert not any("times as likely" in text for text in page.texts)
    page = Texts(designs.forced_response(0, "1/6").report(QUESTION, **GIVEN).html)
    assert "The answer “yes” proves that the true answer is yes." in page.texts
    both = designs.warner(1).report(QUESTION, **GIVEN)
    assert len([text for text in Texts(both.html).texts if "proves" in text]) == 1
    assert both.after == {"no": 0.0, "yes": 1.0}


def test_the_page_is_complete_and_can_be_written(tmp_path):
    report = FINITE["die"].report(QUESTION, **GIVEN, title="A & B")
    assert not re.search(r"https?://|<script|<link|<img|src=", report.html)
    assert "@page { size: A4" in report.html
    assert 'name="viewport"' in report.html
    assert Texts(report.html).elements.count("h2") == 5
    assert "<title>A &amp; B</title>" in report.html
    path = report.write(tmp_path / "page.html")
    assert path.read_text(encoding="utf-8") == report.html
    assert "35.7\xa0%" in report._repr_html_()
    with pytest.raises(ValueError, match=r"path must end in \.html"):
        report.write(tmp_path / "page.txt")


def test_mistakes_are_named():
    design = FINITE["die"]
    with raises(ValueError, "question must be the text of the sensitive question, got an empty text"):
        design.report(" ", **GIVEN)
    with raises(TypeError, "title must be a text, got int"):
        design.report(QUESTION, **GIVEN, title=1)
    with pytest.raises(ValueError, match="prevalence"):
        design.report(QUESTION, prevalence=0, stderr=0.02)
    with pytest.raises(ValueError, match="stderr"):
        design.report(QUESTION, prevalence=0.1, stderr=0)
