"""Readers who know nothing find the answers to forty questions, in at most three clicks from the front page."""

from __future__ import annotations

import tomllib
from collections import deque
from pathlib import Path

import pytest

from ..support.site import resolve

QUESTIONS = tomllib.loads((Path(__file__).parent / "questions.toml").read_text())["question"]
FAQ = "faq.html"
# Lists of everything, in which nobody who knows nothing finds an answer.
LISTS = ("genindex.html", "search.html", "py-modindex.html")


def clicks(pages, left_out=()):
    """Return the least number of clicks from the front page to each page."""
    found, waiting = {"index.html": 0}, deque(["index.html"])
    while waiting:
        name = waiting.popleft()
        for path in {resolve(name, link)[0] for link in pages[name].links} & pages.keys():
            if path not in found and path not in left_out:
                found[path] = found[name] + 1
                waiting.append(path)
    return found


def test_there_are_forty_questions_and_half_of_them_are_from_issue_trackers():
    assert len({question["text"] for question in QUESTIONS}) == len(QUESTIONS) == 40
    assert len({question["source"] for question in QUESTIONS if "source" in question}) == 20


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question["text"])
def test_a_question_is_two_clicks_from_its_answer(pages, question):
    """The front page links to the list of questions, and the question there to the section that has the words of the answer."""
    front = [text.split() for link, text in pages["index.html"].texts_of_links if resolve("index.html", link)[0] == FAQ]
    assert ["Frequently", "asked", "questions"] in front
    page, _, anchor = question["answer"].partition("#")
    answers = [
        resolve(FAQ, link) for link, text in pages[FAQ].texts_of_links if " ".join(text.split()) == question["text"]
    ]
    assert (page, anchor) in answers  # others are those of the contents of the page beside it
    section = " ".join(pages[page].sections[anchor].split())
    assert [words for words in question["words"] if words not in section] == []


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question["text"])
def test_a_page_with_an_answer_is_found_without_the_list_of_questions(pages, question):
    page = question["answer"].partition("#")[0]
    assert clicks(pages, LISTS if page == FAQ else (*LISTS, FAQ))[page] <= 3


def test_a_page_that_nothing_links_to_is_not_found(pages):
    assert "reference/none.html" not in clicks(pages)
    assert max(clicks(pages).values()) >= 2
