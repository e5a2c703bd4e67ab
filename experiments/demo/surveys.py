"""Two sensitive surveys, privatized record by record for several values of epsilon, beside the true values.

The data are part of statsmodels: the RAND health insurance experiment and Fair's survey on extramarital affairs. Ranges
and categories are declared here, not taken from the data.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldpfast._extras import optional
from ldpfast._plots import BLACK, BLUE, VERMILION, finish
from ldpfast._typing import Floats
from ldpfast.mechanisms import Laplace, Mechanism, Warner, for_categories, for_interval
from ldpfast.privacy import Guarantee, compose
from ldpfast.results import Estimate

EPSILONS = (0.5, 1.0, 2.0, 4.0)
MAX_VISITS = 20
HEALTH = ("excellent", "good", "fair", "poor")
MARRIAGE = ("very poor", "poor", "fair", "good", "very good")

RAND = "RAND health insurance experiment"
FAIR = "Fair's survey on affairs"

SHADES = ("#9ECAE1", "#5BA3D0", "#2171B5", "#08306B")  # colors, one per epsilon
MARKERS = ("o", "s", "D", "^")


@dataclass(frozen=True)
class Question:
    """One question: a share or a mean if `answers` is empty, else the distribution of the answers.

    `records` are the input of the mechanism. `lower` and `upper` bound the numbers whose mean is estimated.
    """

    survey: str
    text: str
    records: NDArray[Any]
    mechanism: Callable[[float], Mechanism]
    answers: tuple[str, ...] = ()
    lower: float = 0.0
    upper: float = 1.0
    unit: str = "%"

    @property
    def columns(self) -> Floats:
        """Numbers whose means are estimated, shape (n, max(number of answers, 1)); 0 or 1 for each answer."""
        column = self.records[:, np.newaxis]
        return np.asarray(column == np.arange(len(self.answers)) if self.answers else column, np.float64)

    def laplace(self, epsilon: float) -> Laplace:
        """Return the Laplace mechanism of one column. A change of answer changes two columns, which share epsilon."""
        return Laplace(self.lower, self.upper, epsilon / 2 if self.answers else epsilon)


@dataclass(frozen=True)
class Comparison:
    """One question at one epsilon: true value, estimate of the library, and estimates with Laplace noise per column."""

    question: Question
    epsilon: float
    mechanism: Mechanism
    truth: Floats
    estimate: Estimate[Any]
    laplace: tuple[Estimate[Any], ...]

    def ours(self) -> tuple[Floats, Floats, Floats]:
        """Return the estimates of the library and their 95 % limits, one per answer."""
        low, high = self.estimate.interval()
        return np.atleast_1d(self.estimate.value), np.atleast_1d(low), np.atleast_1d(high)

    def theirs(self) -> tuple[Floats, Floats, Floats]:
        """Return the estimates with Laplace noise and their 95 % limits, one per answer."""
        low, high = zip(*(e.interval() for e in self.laplace), strict=True)
        return np.array([e.value for e in self.laplace]), np.array(low), np.array(high)


@cache
def records(survey: str) -> Any:
    """Return all answers of a survey, `RAND` or `FAIR`, as a pandas data frame."""
    datasets = optional("statsmodels.datasets", "demo")
    return {RAND: datasets.randhie, FAIR: datasets.fair}[survey].load_pandas().data


def own_health() -> NDArray[np.uint8]:
    """Return how the people of `RAND` rate their health, as indices into `HEALTH`."""
    answers = records(RAND)[["hlthg", "hlthf", "hlthp"]].to_numpy()
    return np.asarray(answers @ np.arange(1, len(HEALTH)), np.uint8)


def questions() -> list[Question]:
    """Return the questions with the records of all people.

    Returns
    -------
    questions : list of Question

    Raises
    ------
    ImportError
        If statsmodels is not installed (extra "demo").
    """
    rand, fair = records(RAND), records(FAIR)
    return [
        # A few imputed answers are fractions; at least one half means yes.
        Question(RAND, "Share of people with a physical limitation", rand["physlm"].to_numpy() >= 0.5, Warner),
        Question(
            RAND,
            f"Mean visits to a doctor in a year, at most {MAX_VISITS} counted",
            np.minimum(rand["mdvis"].to_numpy(), MAX_VISITS).astype(np.float64),
            partial(for_interval, 0.0, float(MAX_VISITS)),
            upper=float(MAX_VISITS),
            unit="visits per year",
        ),
        Question(
            RAND,
            "How people rate their own health",
            own_health(),
            partial(for_categories, len(HEALTH)),
            HEALTH,
        ),
        Question(FAIR, "Share of wives who had an affair", fair["affairs"].to_numpy() > 0, Warner),
        Question(
            FAIR,
            "How wives rate their marriage",
            (fair["rate_marriage"].to_numpy() - 1).astype(np.uint8),
            partial(for_categories, len(MARRIAGE)),
            MARRIAGE,
        ),
    ]


def compare(question: Question, epsilon: float, rng: np.random.Generator | None) -> Comparison:
    """Privatize every record twice, with the library's mechanism and with Laplace noise.

    Parameters
    ----------
    question : Question
    epsilon : float
    rng : None or Generator
        ``None`` draws fresh keys from the operating system. A generator makes the reports reproducible, not private.

    Returns
    -------
    comparison : Comparison

    Privacy
    -------
    Each of the two estimates is a function of epsilon-LDP reports. The true values are not private.
    """
    mechanism, noise, columns = question.mechanism(epsilon), question.laplace(epsilon), question.columns
    return Comparison(
        question,
        epsilon,
        mechanism,
        columns.mean(axis=0),
        mechanism.run(question.records, rng=rng),
        tuple(noise.run(column, rng=rng) for column in columns.T),
    )


def run(rng: np.random.Generator | None) -> list[Comparison]:
    """Compare all questions at all `EPSILONS`.

    Parameters
    ----------
    rng : None or Generator
        As for `compare`.

    Returns
    -------
    comparisons : list of Comparison
        Ordered by question, then by epsilon.

    Privacy
    -------
    As for `compare`.
    """
    return [compare(question, epsilon, rng) for question in questions() for epsilon in EPSILONS]


def by_question(comparisons: Sequence[Comparison]) -> list[list[Comparison]]:
    """Group the comparisons by question."""
    texts = dict.fromkeys(c.question.text for c in comparisons)
    return [[c for c in comparisons if c.question.text == text] for text in texts]


def counts(comparisons: Sequence[Comparison]) -> dict[str, int]:
    """Return the number of questions in each survey."""
    return dict(Counter(group[0].question.survey for group in by_question(comparisons)))


def total(comparisons: Sequence[Comparison], survey: str, epsilon: float) -> Guarantee:
    """Return the guarantee of a person who answers all questions of a survey once."""
    return compose(*(c.estimate.guarantee for c in comparisons if c.question.survey == survey and c.epsilon == epsilon))


def tables(comparisons: Sequence[Comparison]) -> Iterator[Any]:
    """Yield a table (rich) for each question, and a table of the totals.

    Parameters
    ----------
    comparisons : sequence of Comparison

    Yields
    ------
    table : rich.table.Table
    """
    for group in by_question(comparisons):
        question, n = group[0].question, group[0].estimate.n
        names = dict.fromkeys(type(c.mechanism).__name__ for c in group)
        table = new_table(f"{question.text} ({question.unit})\n{question.survey}, n = {n:,}, {' or '.join(names)}")
        for name in ("answer",) if question.answers else ():
            table.add_column(name)
        for name in ("true", "epsilon", "estimate", "95 % interval", "Laplace", "95 % interval"):
            table.add_column(name, justify="right", no_wrap=True)
        for answer, label in enumerate(question.answers or ("",)):
            for row, c in enumerate(group):
                cells = [_number(c, c.truth[answer]) if row == 0 else "", f"{c.epsilon:g}"]
                for value, low, high in (c.ours(), c.theirs()):
                    cells += [_number(c, value[answer]), f"{_number(c, low[answer])} to {_number(c, high[answer])}"]
                if question.answers:
                    cells.insert(0, label if row == 0 else "")
                table.add_row(*cells, end_section=row == len(group) - 1)
        yield table
    table = new_table(
        "Total epsilon of a person who answers all questions of a survey once\n"
        "RAND asked the same people in several years: the totals of the years add up"
    )
    table.add_column("survey")
    table.add_column("questions", justify="right")
    for epsilon in EPSILONS:
        table.add_column(f"{epsilon:g} each", justify="right")
    for survey, count in counts(comparisons).items():
        table.add_row(survey, str(count), *(f"{total(comparisons, survey, e).epsilon:.4g}" for e in EPSILONS))
    yield table


def new_table(title: str) -> Any:
    """Return an empty table (rich) with a title."""
    return optional("rich.table", "demo").Table(
        title=title,
        title_justify="left",
        box=optional("rich.box", "demo").SIMPLE_HEAD,
        collapse_padding=True,
        pad_edge=False,
    )


def _scale(question: Question) -> float:
    """Return the factor for display: shares are shown in percent."""
    return 100.0 if question.unit == "%" else 1.0


def _number(comparison: Comparison, value: float) -> str:
    decimals = 1 if comparison.question.unit == "%" else 2
    return f"{_scale(comparison.question) * value:.{decimals}f}"


def draw(comparisons: Sequence[Comparison], axes: Sequence[Any]) -> None:
    """Draw one panel per question: true values, estimates and 95 % intervals.

    Parameters
    ----------
    comparisons : sequence of Comparison
    axes : sequence of matplotlib.axes.Axes
        Three axes for the shares and means, then two for the distributions.
    """
    groups = by_question(comparisons)
    single = [group for group in groups if not group[0].question.answers]
    several = [group for group in groups if group[0].question.answers]
    for group, ax in zip(single, axes, strict=False):
        _draw_by_epsilon(group, ax)
    for group, ax in zip(several, axes[len(single) :], strict=True):
        _draw_answers(group, ax)


def _draw_by_epsilon(group: Sequence[Comparison], ax: Any) -> None:
    """Draw a share or a mean against epsilon."""
    question, places = group[0].question, np.arange(len(group))
    scale = _scale(question)
    ax.axhline(scale * group[0].truth[0], color=BLACK, linewidth=1.5, linestyle="--", label="true value")
    ours = scale * np.array([c.ours() for c in group])[:, :, 0].T
    theirs = scale * np.array([c.theirs() for c in group])[:, :, 0].T
    _interval(ax, places - 0.12, ours, color=BLUE, marker="o", label="ldpfast")
    _interval(ax, places + 0.12, theirs, color=VERMILION, marker="s", label="Laplace noise")
    ax.set_xticks(places, [f"{c.epsilon:g}" for c in group])
    ax.set_xlim(-0.5, len(group) - 0.5)
    _finish(ax, group, "epsilon of the answer (small: more private)")


def _draw_answers(group: Sequence[Comparison], ax: Any) -> None:
    """Draw a distribution: bars for the true shares, and an estimate for each epsilon."""
    question, places = group[0].question, np.arange(len(group[0].question.answers))
    truth = 100 * group[0].truth
    ax.bar(places, truth, width=0.88, color="#E6E6E6")
    ax.hlines(truth, places - 0.44, places + 0.44, color=BLACK, linewidth=1.5, linestyle="--", label="true value")
    for i, c in enumerate(group):
        at = places + 0.2 * (i - (len(group) - 1) / 2)
        name = f"ldpfast, epsilon {c.epsilon:g}"
        _interval(ax, at - 0.03, 100 * np.array(c.ours()), color=SHADES[i], marker=MARKERS[i], label=name)
        noise = {"color": VERMILION, "linewidth": 1, "marker": "s", "markersize": 3, "capsize": 0}
        if i == len(group) - 1:
            noise["label"] = "Laplace noise, same epsilon"
        _interval(ax, at + 0.05, 100 * np.array(c.theirs()), **noise)
    ax.axhline(0, color=BLACK, linewidth=0.8)
    ax.set_xticks(places, question.answers)
    ax.set_ylim(top=1.8 * truth.max())  # room for the legend
    _finish(ax, group, "answer (category)")


def _interval(ax: Any, x: NDArray[Any], value_low_high: Floats, **style: Any) -> None:
    value, low, high = value_low_high
    style = {"linestyle": "none", "capsize": 4, "linewidth": 2, **style}
    ax.errorbar(x, value, yerr=[value - low, high - value], **style)


def _finish(ax: Any, group: Sequence[Comparison], xlabel: str) -> None:
    question = group[0].question
    title = f"{question.text}\n{question.survey}, n = {group[0].estimate.n:,}"
    finish(ax, title, xlabel, "share (% of people)" if question.unit == "%" else f"mean ({question.unit})", grid="y")
