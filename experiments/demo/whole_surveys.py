"""Two sensitive surveys in whole: all questions at one total epsilon per person, beside the true values.

The data come from `surveys`. Ranges and categories are declared here, not taken from the data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ldpfast._plots import BLACK, BLUE, finish
from ldpfast._typing import AnyArray, Floats
from ldpfast.survey import Answer, Choice, Coded, Cross, Histogram, Mean, Survey, SurveyResult, YesNo

from . import surveys

EPSILON = 2.0
BELIEF = ("not", "mildly", "fairly", "strongly")

SURVEYS = {
    surveys.RAND: Survey(
        {
            "limited": YesNo(),
            "visits": Mean(0, surveys.MAX_VISITS),
            "health": Choice(surveys.HEALTH),
            "limited by health": Cross("health", "limited"),
        },
        EPSILON,
    ),
    surveys.FAIR: Survey(
        {
            "affair": YesNo(),
            "marriage": Choice(surveys.MARRIAGE),
            "religious": Choice(BELIEF),
            "age": Histogram([17, 25, 30, 35, 43]),
            "affair by marriage": Cross("marriage", "affair"),
        },
        EPSILON,
        weights={"affair by marriage": 3},
    ),
}
CONDITIONAL = {  # the tables of shares of yes by subgroup
    surveys.RAND: ("limited by health", "health", "Share with a physical limitation, by own health"),
    surveys.FAIR: ("affair by marriage", "marriage", "Share who had an affair, by rating of the marriage"),
}


@dataclass(frozen=True)
class Whole:
    """One survey: its result, and the true answers in the same order."""

    name: str
    survey: Survey
    people: Mapping[str, AnyArray]
    result: SurveyResult

    def truth(self, question: str) -> Floats:
        """Return the true shares, or the true mean."""
        asked = self.survey.questions[question]
        if isinstance(asked, Cross):
            codes = self._codes(asked.a) * self.survey.column_questions[asked.b].k + self._codes(asked.b)
            return np.bincount(codes, minlength=np.size(self.result[question].value)) / len(codes)
        if isinstance(asked, YesNo | Mean):
            return np.array([np.mean(self.people[question])])
        codes = self._codes(question)
        return np.bincount(codes, minlength=np.size(self.result[question].value)) / len(codes)

    def _codes(self, question: str) -> AnyArray:
        asked, values = self.survey.column_questions[question], self.people[question]
        if isinstance(asked, Histogram):
            return np.searchsorted(asked.edges[1:-1], values, side="right")
        if isinstance(asked, Choice):
            return np.array([asked.labels.index(value) for value in values])
        return values.astype(np.intp)

    def conditional(self) -> tuple[str, Answer, Floats]:
        """Return the title of the subgroup table, its answer, and the true shares."""
        cross, by, title = CONDITIONAL[self.name]
        joint = self.truth(cross).reshape(self.result[cross].value.shape)
        answer = self.result[cross].given(by)  # type: ignore[attr-defined]
        return title, answer, joint[:, 1] / joint.sum(axis=1)


def people(name: str) -> dict[str, AnyArray]:
    """Return the columns of a survey."""
    data = surveys.records(name)
    if name == surveys.RAND:
        return {
            "limited": data["physlm"].to_numpy() >= 0.5,
            "visits": np.minimum(data["mdvis"].to_numpy(), surveys.MAX_VISITS).astype(np.float64),
            "health": np.array(surveys.HEALTH)[surveys.own_health()],
        }
    return {
        "affair": data["affairs"].to_numpy() > 0,
        "marriage": np.array(surveys.MARRIAGE)[data["rate_marriage"].to_numpy().astype(int) - 1],
        "religious": np.array(BELIEF)[data["religious"].to_numpy().astype(int) - 1],
        "age": data["age"].to_numpy(),
    }


def run(rng: np.random.Generator | None) -> list[Whole]:
    """Privatize and estimate both surveys.

    Parameters
    ----------
    rng : None or Generator
        ``None`` draws fresh keys from the operating system. A generator makes the reports reproducible, not private.

    Returns
    -------
    wholes : list of Whole

    Raises
    ------
    ImportError
        If statsmodels is not installed (extra "demo").

    Privacy
    -------
    Each result is a function of reports with a total epsilon of 2 per person. The true values are not private.
    """
    return [
        Whole(name, survey, records, survey.run(_coded(survey, records), rng=rng))
        for name, survey in SURVEYS.items()
        for records in [people(name)]
    ]


def _coded(survey: Survey, records: Mapping[str, AnyArray]) -> dict[str, Any]:
    """Return the columns with positions of labels instead of texts, which need no pyarrow."""
    found: dict[str, Any] = {}
    for name, values in records.items():
        labels = {label: code for code, label in enumerate(survey.column_questions[name].labels)}
        is_text = values.dtype.kind == "U"
        found[name] = Coded(np.array([labels[value] for value in values.tolist()], np.int32)) if is_text else values
    return found


def tables(wholes: list[Whole]) -> Iterator[Any]:
    """Yield a table (rich) of all answers of each survey, and one of its subgroups."""
    for whole in wholes:
        total = whole.result.guarantee.epsilon
        table = surveys.new_table(
            f"{whole.name}: all questions, total epsilon {total:.4g} per person, n = {whole.result.n:,}\n"
            "each person answers one question"
        )
        table.add_column("question")
        table.add_column("answer")
        for column in ("true", "estimate", "95 % interval"):
            table.add_column(column, justify="right", no_wrap=True)
        for name, answer in whole.result.items():
            rows = zip(*_numbers(answer, whole.truth(name)), strict=True)
            for i, (label, truth, value, low, high) in enumerate(rows):
                decimals = 2 if name == "visits" else 3
                cells = (f"{truth:.{decimals}f}", f"{value:.{decimals}f}", f"{low:.{decimals}f} to {high:.{decimals}f}")
                table.add_row(name if i == 0 else "", label, *cells)
            table.add_section()
        yield table
        title, answer, truth = whole.conditional()
        table = surveys.new_table(f"{title}\n{whole.name}, from the same reports")
        table.add_column("subgroup")
        for column in ("true", "estimate", "95 % interval"):
            table.add_column(column, justify="right", no_wrap=True)
        for label, share, value, low, high in zip(*_numbers(answer, truth), strict=True):
            table.add_row(label, f"{share:.3f}", f"{value:.3f}", f"{low:.3f} to {high:.3f}")
        yield table


def _numbers(answer: Answer, truth: Floats) -> tuple[Any, ...]:
    """Return the labels, the true values, the estimates and their limits of all numbers of an answer."""
    low, high = map(np.ravel, answer.interval())
    return answer.entries, truth, np.ravel(answer.value), low, high


def draw(whole: Whole, ax: Any) -> None:
    """Draw the shares of yes by subgroup: true values, estimates and 95 % intervals."""
    title, answer, truth = whole.conditional()
    low, high = answer.interval()
    places = np.arange(len(truth))
    value = np.clip(answer.value, low, high)
    ax.bar(places, 100 * truth, width=0.7, color="#E6E6E6")
    ax.hlines(100 * truth, places - 0.35, places + 0.35, color=BLACK, linestyle="--", label="true value")
    limits = 100 * np.array([value - low, high - value])
    ax.errorbar(places, 100 * value, yerr=limits, fmt="o", color=BLUE, capsize=4, linewidth=2, label="ldpfast")
    ax.set_xticks(places, answer.labels)
    ax.set_ylim(0, 100)
    about = f"{whole.name}, all questions at a total epsilon of {whole.result.guarantee.epsilon:.3g}"
    finish(ax, f"{title}\n{about}", "subgroup (category)", "share (% of people)", grid="y")
