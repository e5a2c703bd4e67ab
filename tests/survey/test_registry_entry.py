"""Entries of the registry of deployments: valid YAML for its structure, in three tiers, with the numbers of the survey."""

from __future__ import annotations

import copy
import datetime

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from ldpfast.survey import Choice, Cross, Histogram, Mean, Number, Repeated, Survey, Text, YesNo

from ..support.registry import FIELDS, faults_of, leaves, slug_of

ABOUT = {
    "name": "Ways to work",
    "curators": {"Institute of Health": "Government"},
    "intended_use": "Planning of trains.",
    "region": "Norway",
    "publication_date": "2026-05-01",
    "authors": ["A. Berg", "B. Dahl"],
}
ALL = {
    **ABOUT,
    "justification": "The board chose epsilon.",
    "n": 20_000,
    "sector": "Government",
    "additional_information": "x",
}
QUESTIONS = {
    "smoker": YesNo(optional=True),
    "way_to_work": Choice(["on foot & bike", "<car>", "[train](http://x)", "a\\b"], optional=True),
    "visits": Mean(0, 20, optional=True),
    "age": Histogram([0, 30, 60], optional=True),
    "income": Number(0, 9000, optional=True),
    "word": Text(max_bytes=8, optional=True),
    "together": Cross("smoker", "way_to_work"),
}


def entry_of(survey, **options):
    """Return an entry as a reader of YAML has it, after the checks of the registry on its text."""
    text = survey.registry_entry(**{**ABOUT, **options})
    styles = {getattr(token, "style", None) for token in yaml.scan(text)}
    assert styles <= {None, "|", '"'}  # a folded text would break Markdown
    assert text.startswith("url_slug: ")
    entry = yaml.safe_load(text)
    assert all(
        "\\\\" not in value for _, value in leaves(entry) if isinstance(value, str)
    )  # the end of a line in a formula
    assert text.split("\n")[0] == f"url_slug: {slug_of(entry)}"
    return entry


@pytest.mark.parametrize("tier", [1, 2, 3])
@pytest.mark.parametrize(
    "survey",
    [
        Survey({"smoker": YesNo(optional=True)}, 0.5),
        Survey(QUESTIONS, 2.0),
        Survey(QUESTIONS, 4.0, answers=3, waves=4, turns=2),
        Survey(QUESTIONS, 1.0, waves=4, open_ended=True),
    ],
    ids=["one question", "many", "waves", "open-ended"],
)
def test_entries_have_the_structure_of_the_registry(survey, tier):
    """All fields of the tier and of the tiers below, and no others."""
    entry = entry_of(survey, **{**ALL, "tier": tier})
    assert faults_of(entry) == []
    present = dict(leaves(entry))
    expected = {path for path, field in FIELDS.items() if field.tier <= tier}
    assert set(present) == expected - {
        f"deployment.privacy_loss.privacy_parameters.{name}" for name in ("delta", "rho")
    }
    assert present["deployment.administrative.tier"] == tier
    smallest = entry_of(survey, tier=tier, justification="x")
    assert faults_of(smallest) == []
    optional = {"utility", "number_of_privacy_units", "data_product_sector", "additional_information"}
    assert set(present) - set(dict(leaves(smallest))) == {
        path for path in present if path.rpartition(".")[2] in optional
    }


def test_the_check_finds_faults():
    """Controls: an unknown field, a missing one, values that are not allowed, and dates that are none."""
    entry = entry_of(Survey(QUESTIONS, 2.0), **ALL)
    for path, value in (
        ("deployment.basic.surprise", "x"),
        ("deployment.basic.data_product_type", "surprise"),
        ("deployment.basic.publication_date", "1/1/2026"),
        ("deployment.basic.publication_date", datetime.date(2026, 1, 1)),
        ("deployment.administrative.tier", 0),
        ("deployment.privacy_loss.privacy_parameters.epsilon", "1e-5"),
        ("deployment.privacy_loss.number_of_privacy_units", 2.5),
        ("deployment.basic.data_curators", "Institute"),
    ):
        changed = copy.deepcopy(entry)
        *names, last = path.split(".")
        place = changed
        for name in names:
            place = place[name]
        place[last] = value
        assert path in faults_of(changed)
        if path in FIELDS and FIELDS[path].required:
            del place[last]
            assert path in faults_of(changed)


def test_the_numbers_are_those_of_the_survey():
    survey = Survey(QUESTIONS, 4.0, answers=3, waves=4, turns=2)
    fields = dict(leaves(entry_of(survey, **ALL)))
    epsilon = fields["deployment.privacy_loss.privacy_parameters.epsilon"]
    assert survey.guarantee.epsilon <= epsilon <= 4.0
    details = fields["deployment.privacy_loss.privacy_parameters_details"]
    assert "everything that is sent for a person in one wave: 2\n" in details
    assert "everything that is sent for a person in all 4 waves: 4\n" in details
    assert fields["deployment.deployment_model.release_type"] == "Many releases"
    assert "the sum of the losses of 6 answers," in fields["deployment.implementation.composition"]
    assert f"Fingerprint of the survey: {survey.fingerprint}." in fields["deployment.implementation.mechanisms"]
    plan = survey.plan(20_000)
    for error in plan.expected:
        assert f": {error:.3g} (" in fields["deployment.implementation.utility"]
    assert "of one wave" in fields["deployment.implementation.utility"]
    domain = fields["deployment.dp_variant.data_domain"]
    assert r"- way\_to\_work: on foot &amp; bike, \<car\>, [train&#93;(http://x), a&#92;b" in domain


def test_names_that_look_like_lists_are_no_lists():
    names = ["- yes", "+ no", "1. first", "2) x", "-"]
    survey = Survey({name: YesNo(optional=True) for name in names}, 1.0)
    fields = dict(leaves(entry_of(survey, **ALL)))
    for field in ("dp_variant.data_domain", "implementation.mechanisms", "implementation.utility"):
        page = MarkdownIt("commonmark").render(fields[f"deployment.{field}"])
        assert page.count("<ul>") + page.count("<ol>") == 1
        assert all(f"<li>{name}: " in page for name in names)


def test_an_entry_of_an_open_ended_survey_is_for_a_period():
    fields = dict(leaves(entry_of(Survey(QUESTIONS, 1.0, waves=4, open_ended=True), **ALL)))
    assert fields["deployment.privacy_loss.privacy_unit"] == "Person-level, in each period of 4 waves"
    assert "Losses add up over the periods." in fields["deployment.deployment_model.release_type_details"]
    assert "in 2 periods: 2\n" in fields["deployment.privacy_loss.privacy_parameters_details"]


def test_small_and_large_epsilons_stay_numbers():
    for epsilon in (1e-5, 3e-7, 12.0):
        fields = dict(leaves(entry_of(Survey({"a": YesNo(optional=True)}, epsilon), tier=2)))
        stated = fields["deployment.privacy_loss.privacy_parameters.epsilon"]
        assert isinstance(stated, float)
        assert epsilon * 0.99 <= stated <= epsilon


def test_who_holds_the_answers_is_an_actor():
    survey = Survey({"smoker": YesNo()}, 1.0)
    with pytest.raises(ValueError, match="or holder must say who holds the true answers; not optional: 'smoker'"):
        survey.registry_entry(**ABOUT, justification="x")
    fields = dict(leaves(entry_of(survey, justification="x", holder="The clinic")))
    assert "- The clinic: randomizes the answers" in fields["deployment.deployment_model.trust_assumptions"]
    assert "are errors, or are changed" in fields["deployment.implementation.preprocessing_and_hyperparameter_tuning"]
    assert entry_of(survey, tier=2)["deployment"]["administrative"]["tier"] == 2


def test_dates_and_single_authors_are_accepted():
    survey = Survey(QUESTIONS, 1.0)
    entry = entry_of(
        survey, tier=1, publication_date=datetime.date(2026, 5, 1), authors="A. Berg", description="Shares."
    )
    assert entry["deployment"]["basic"]["publication_date"] == "2026-05-01"
    assert entry["deployment"]["administrative"]["registry_authors"] == ["A. Berg"]
    assert entry["deployment"]["basic"]["description"] == "Shares."


@pytest.mark.parametrize(
    "options, kind, message",
    [
        ({}, ValueError, "justification must say why epsilon and the questions were chosen, unless tier is 1 or 2"),
        ({"tier": 4}, ValueError, "tier must be"),
        ({"tier": 1, "name": " "}, TypeError, "name must be a text that is not empty"),
        ({"tier": 1, "curators": ["x"]}, TypeError, "curators must be a mapping from names to kinds"),
        (
            {"tier": 1, "curators": {"x": "Company"}},
            ValueError,
            r"curators\['x'\] must be one of 'Government', 'Industry'",
        ),
        ({"tier": 1, "authors": []}, TypeError, "authors must be a name or a list of names"),
        (
            {"tier": 1, "publication_date": "1/1/2026"},
            ValueError,
            "publication_date must be a date, such as 2026-05-01",
        ),
        ({"tier": 1, "sector": "Sports"}, ValueError, "sector must be one of 'Technology'"),
        ({"tier": 1, "n": 0}, ValueError, "n must be"),
        ({"tier": 1, "additional_information": ""}, TypeError, "additional_information must be a text"),
    ],
)
def test_bad_arguments_are_refused(options, kind, message):
    with pytest.raises(kind, match=message):
        Survey(QUESTIONS, 1.0).registry_entry(**{**ABOUT, **options})


def test_surveys_of_a_wave_or_a_round_are_refused():
    for part in (
        Survey(QUESTIONS, 1.0, waves=2).in_wave(1),
        Repeated(Survey({"a": YesNo(optional=True)}, 4.0), round=1.0, rounds=3).in_round(0),
    ):
        with pytest.raises(ValueError, match="must be a whole one, which makes the promise"):
            part.registry_entry(**ABOUT, tier=1)


TEXTS = st.text(min_size=1, max_size=40).filter(str.strip)
LINES = (
    st.lists(st.text(st.characters(codec="utf-8"), max_size=8), min_size=1, max_size=5).map("\n".join).filter(str.strip)
)


@pytest.mark.long
@settings(max_examples=200)
@given(name=TEXTS, more=LINES, author=TEXTS)
def test_every_text_comes_back_as_it_was(name, more, author):
    """Whatever a text has: line ends, quotes, colons, characters that cannot be printed, spaces at its ends."""
    survey = Survey({"smoker": YesNo(optional=True)}, 1.0)
    options = {**ABOUT, "name": name, "authors": [author], "additional_information": more, "tier": 1}
    entry = yaml.safe_load(survey.registry_entry(**options))
    assert entry["deployment"]["basic"]["name"] == name
    assert entry["deployment"]["administrative"]["registry_authors"] == [author]
    assert entry["deployment"]["implementation"]["additional_information"] == more
