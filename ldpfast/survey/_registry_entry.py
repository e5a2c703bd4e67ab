"""An entry of the public registry of deployments of differential privacy.

The fields, their allowed values and the three tiers follow the schema of the registry, which OpenDP keeps with the
entries: github.com/opendp/deployments-registry-data, schemas/deployments-schema.yaml, at commit 057e5d81. It grows with the
registry; fields that it marks as preliminary are left out. Texts of fields are Markdown. The address of an entry (`url_slug`)
follows from its name, curators and year, as the checks of the registry demand.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .. import _check
from .._markdown import escaped_markdown
from .._odds import round_up
from .._version import __version__
from .._yaml import dump_yaml
from ._client_table import required_questions
from ._survey_facts import SurveyFacts, how_many

CURATORS = ("Government", "Industry", "Nonprofit")
SECTORS = ("Technology", "Healthcare", "Education", "Government", "Energy", "Finance")
TIERS = 1, 2, 3


@dataclass(frozen=True)
class Deployment:
    """What a survey does not know about its deployment; the arguments of `Survey.registry_entry`."""

    name: str
    curators: Any
    intended_use: str
    region: str
    publication_date: Any
    authors: Any
    tier: int
    description: str | None
    sector: str | None
    n: int | None
    justification: str | None
    holder: str | None
    additional_information: str | None

    def __post_init__(self) -> None:
        for name in ("name", "intended_use", "region"):
            _text(name, getattr(self, name))
        for name in ("description", "justification", "holder", "additional_information"):
            if (given := getattr(self, name)) is not None:
                _text(name, given)
        if _check.integer("tier", self.tier, TIERS[0], TIERS[-1]) == TIERS[-1] and self.justification is None:
            raise ValueError("justification must say why epsilon and the questions were chosen, unless tier is 1 or 2")
        if self.n is not None:
            _check.people("n", self.n)
        if self.sector is not None:
            _check.choice("sector", self.sector, SECTORS)
        if not isinstance(self.curators, Mapping) or not self.curators:
            raise TypeError(f"curators must be a mapping from names to kinds, got {self.curators!r}")
        for curator, kind in self.curators.items():
            _text("curators", curator)
            _check.choice(f"curators[{curator!r}]", kind, CURATORS)

    def basic(self, described: str) -> dict[str, Any]:
        """Return the fields of tier 1; `described` is the description if none is given."""
        sector = {} if self.sector is None else {"data_product_sector": self.sector}
        return {
            "name": self.name,
            "data_curators": [
                {"data_curator_name": curator, "data_curator_type": kind} for curator, kind in self.curators.items()
            ],
            "description": described if self.description is None else self.description,
            "intended_use": self.intended_use,
            "data_product_type": "Summary statistics",
            "data_product_region": self.region,
            **sector,
            "publication_date": _date(self.publication_date),
        }

    @property
    def more(self) -> dict[str, str]:
        """The field for what fits nowhere else, if it is given."""
        return {} if self.additional_information is None else {"additional_information": self.additional_information}


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise TypeError(f"{name} must be a text that is not empty, got {value!r}")
    return value


def _names(name: str, values: Any) -> list[str]:
    """Return a list of names; one name is a list of one."""
    found = [values] if isinstance(values, str) else list(values) if isinstance(values, Iterable) else []
    if not found:
        raise TypeError(f"{name} must be a name or a list of names, got {values!r}")
    return [_text(name, value) for value in found]


def _date(value: Any) -> str:
    if isinstance(value, datetime.date):
        return f"{value:%Y-%m-%d}"
    try:
        return f"{datetime.date.fromisoformat(value):%Y-%m-%d}"
    except (TypeError, ValueError):
        raise ValueError(f"publication_date must be a date, such as 2026-05-01, got {value!r}") from None


def registry_entry(survey: SurveyFacts, deployment: Deployment) -> str:
    """Return the entry of a survey, as YAML."""
    losses, tier = survey.losses, deployment.tier
    required = required_questions(survey.recipe.declared)
    if deployment.holder is None and required and tier == TIERS[-1]:
        raise ValueError(
            "every question must be optional for devices, or holder must say who holds the true answers; not optional: "
            f"{', '.join(map(repr, required))}"
        )
    authors, details = _names("authors", deployment.authors), tier == TIERS[-1]
    parts: dict[str, Any] = {"basic": deployment.basic(_description(survey))}
    if tier > TIERS[0]:
        parts |= {
            "dp_variant": {"variant_name": "Pure DP", **(_domain(survey) if details else {})},
            "privacy_loss": _loss(survey, deployment.n, losses, details),
            "deployment_model": _model(survey, deployment.holder, details),
        }
    method = _implementation(survey, deployment) if details else {}
    if method or deployment.more:
        parts["implementation"] = method | deployment.more
    parts["administrative"] = {"status": "Draft", "registry_authors": authors, "tier": tier}
    basic = parts["basic"]
    slug = _slug([basic["name"], "-".join(deployment.curators), basic["publication_date"].split("-")[0]])
    return dump_yaml({"url_slug": slug, "deployment": parts})


def _slug(parts: Sequence[str]) -> str:
    """Return the address of an entry, in the way of the registry."""
    return "_".join(re.sub(r"\W+", "_", part.lower()) for part in parts).replace("_", "-")


# Fields that follow from the survey -------------------------------------------------------------------------------------


def _list(items: Iterable[str]) -> str:
    """Return a list in Markdown."""
    return "".join(f"- {item}\n" for item in items)


def _description(survey: SurveyFacts) -> str:
    names = ", ".join(map(escaped_markdown, survey.mechanisms))
    asked = len(survey.mechanisms)
    return f"Estimates with confidence intervals from {'a question' if asked == 1 else f'{asked} questions'}: {names}."


def _domain(survey: SurveyFacts) -> dict[str, str]:
    """Return what is protected and what is not."""
    seen = ["That a person took part, and the number of people."]
    if survey.recipe.answers < len(survey.mechanisms):
        seen.append("Which questions each person was asked. They are drawn at random without looking at the answers.")
    if survey.panel is not None:
        seen.append("In which waves each person was asked. They are drawn at random without looking at the answers.")
    seen.append("The questions, possible answers and ranges: they are public, and not taken from the data.")
    waves = ", with the answers in all waves" * (survey.panel is not None)
    listed = [escaped_markdown(f"{question.name}: {question.answer}") for question in survey.listed]
    return {
        "data_domain": f"One record for each person{waves}: the answers, or no answer where a question is optional, to these "
        f"questions.\n\n{_list(listed)}",
        "unprotected_quantities": _list(seen),
    }


def _loss(survey: SurveyFacts, n: int | None, losses: dict[str, float], details: bool) -> dict[str, Any]:
    """Return the privacy unit and the parameter, rounded up."""
    unit = "Person-level"
    if survey.panel is not None and survey.panel.open_ended:
        unit += f", in each period of {survey.panel.waves} waves"
    fields: dict[str, Any] = {"privacy_unit": unit}
    if details:
        fields["privacy_unit_details"] = (
            "Every two records of one person are adjacent, in the local model: they may differ in the answers to all "
            f"questions{' and in all waves' * (survey.panel is not None)}{' of a period' * survey.is_endless}."
        )
        fields |= {} if n is None else {"number_of_privacy_units": n}
    fields["privacy_parameters"] = {"epsilon": round_up(survey.epsilon)}
    if details:
        # The names of losses speak to a person who is asked.
        seen = {name.replace("your ", "the ").replace("for you", "for a person"): loss for name, loss in losses.items()}
        fields["privacy_parameters_details"] = (
            "The parameter is computed from the integers of the coins that are tossed, and rounded up. Epsilon by what is "
            "seen:"
            "\n\n" + _list(f"{name}: {round_up(loss):g}" for name, loss in seen.items())
        )
    return fields


def _model(survey: SurveyFacts, holder: str | None, details: bool) -> dict[str, str]:
    """Return who is trusted, and how often results are released."""
    is_panel = survey.panel is not None
    fields = {
        "model_name": "Local",
        "release_type": "Many releases" if is_panel else "One release",
        "data_source_type": "Dynamic" if is_panel else "Static",
        "access_type": "Non-interactive",
    }
    if not details:
        return fields
    again = "One collection. Further collections from the same people would add to the loss."
    if is_panel:
        refresh = "The loss is for all waves together; there is no refreshment."
        refresh = "Losses add up over the periods." if survey.is_endless else refresh
        again = f"One release for each wave. Each person answers {survey.turns_text}. {refresh}"
    device = "The device of each person" if holder is None else holder
    trust = (
        f"{device}: randomizes the answers before anything is sent. It knows the true answers, and is trusted to run the "
        "program as described and to keep the answers to itself.",
        "Network, server, and those who store or get what is sent: see randomized answers only. Not trusted.",
        "Analysts and the public: see estimates. Not trusted, and may know anything else.",
    )
    return fields | {
        "trust_assumptions": _list(trust),
        "release_type_details": again,
        "access_type_details": "Estimates are published. Randomized answers are protected in the same way, whoever gets them.",
    }


def _implementation(survey: SurveyFacts, deployment: Deployment) -> dict[str, str]:
    """Return the mechanisms, how losses add up, and how precise the results are."""
    used = [
        escaped_markdown(f"{name}: {mechanism!r}, epsilon {round_up(mechanism.epsilon_realized):g}")
        for name, mechanism in survey.mechanisms.items()
    ]
    notes = [
        f"Library: ldpfast {__version__}. Fingerprint of the survey: {survey.fingerprint}.",
        "Floating point: the probabilities of all random decisions are integers over powers of two, and epsilon is computed "
        "from them. No floating-point noise is added to an answer.",
        "Random numbers: AES-256 in counter mode, with a key of the operating system.",
        "Timing: no resistance is claimed for the encoding of answers.",
    ]
    clipped = (
        "Devices send the nearest end for numbers outside of the public ranges, and no answer for undeclared answers."
    )
    if deployment.holder is not None:
        clipped = (
            "Numbers outside of the public ranges and undeclared answers are errors, or are changed to valid ones."
        )
    chosen = "The mechanisms follow from epsilon and the possible answers, without looking at data."
    assert deployment.justification is not None
    return {
        "preprocessing_and_hyperparameter_tuning": f"{clipped} {chosen}",
        "mechanisms": _list([*used, *notes]),
        "composition": _composition(survey),
        "post_processing": "Estimates, standard errors and confidence intervals are functions of the randomized answers.",
        "justification": deployment.justification,
        **({} if deployment.n is None else {"utility": _utility(survey, deployment.n)}),
    }


def _composition(survey: SurveyFacts) -> str:
    """Return how the losses of the answers of a person add up."""
    asked, turns = len(survey.mechanisms), f", {survey.turns_text}" if survey.panel else ""
    chosen = f"There are {asked} questions. Each person answers {how_many(survey.recipe.answers, asked)}{turns}."
    if asked == 1:
        chosen = f"Each person answers one question{turns}."
    added = "one answer" if survey.reports == 1 else f"{survey.reports} answers"
    period = " of a period" * survey.is_endless
    return (
        f"{chosen} Sequential composition: epsilon is the sum of the losses of {added}{period}, for the questions where it is "
        "largest."
    )


def _utility(survey: SurveyFacts, n: int) -> str:
    """Return the standard errors of the estimates."""
    plan = survey.planned(n)
    of_wave = " of one wave" * (survey.panel is not None)
    rows = zip(plan.names, plan.expected, plan.units, plan.assumed, strict=True)
    return f"Largest standard errors{of_wave}, if all people answer:\n\n" + _list(
        escaped_markdown(f"{name}: {error:.3g} ({unit}; {assumed})") for name, error, unit, assumed in rows
    )
