"""Surveys: many questions, and one total epsilon per person. One class; most lines are the documentation of its methods."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import TYPE_CHECKING, Any, ClassVar, Self

from .. import _check, _coins, _schema
from .._described import from_dict as described
from .._extras import optional
from .._frames import group_columns
from ..mechanisms import Mechanism
from ..privacy import Guarantee, ReportLaw
from ..reports import Aggregator, Counted, Counts, GroupedResults, Label, Question
from . import _answers_per_person, _survey_plan, _toml
from ._answers_per_person import MechanismMaker
from ._calendar import Calendar, toml_entries
from ._client import SurveyClient
from ._client_table import check_optional, client_table
from ._conclude import conclude
from ._explanation import Explanation, StudyDetails, explain
from ._group_weights import GroupWeights
from ._ledger import Ledger
from ._panel import Panel, Rounds, Series
from ._publication import Publication
from ._published_tables import PublishOptions, publish_groups
from ._questions import ColumnQuestion, SurveyQuestion, declared
from ._registry_entry import Deployment, registry_entry
from ._result import SurveyResult
from ._survey_arguments import (
    checked_answers,
    checked_calendar,
    checked_questions,
    checked_weights,
    item_of,
    mechanisms_of,
)
from ._survey_facts import PERIODS, SurveyFacts
from ._survey_people import SurveyPeople
from ._survey_plan import SurveyPlan
from ._survey_recipe import SurveyRecipe
from ._versions import Loss, loss_of, revised

if TYPE_CHECKING:
    from .._random import RNGLike
    from .._table import Table

LATER_OPTIONS = {  # and their defaults
    "waves": None, "turns": 1, "open_ended": False, "revision": 1, "wave": None, "calendar": None
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Survey(Question[SurveyResult]):
    """Questions to every person of a population, with one total privacy parameter per person.

    Parameters
    ----------
    questions : mapping of str to question
        `YesNo`, `Choice`, `Mean`, `Number`, `Histogram`, `Text` or `Cross`, by their names.
    epsilon : float
        Privacy parameter of all answers of a person together, > 0.
    answers : int, "all" or "auto", default 1
        Number of questions that each person answers, each with epsilon / answers. Which ones is drawn at random, is public,
        and is part of the report. "auto" minimizes the expected sum of variances.
    weights : mapping of str to int, optional
        Relative frequencies of the questions if everyone answers one: integers >= 0 with a sum of at most 1024, 1 by default.
        A question with weight 0 is not asked alone, and is declared for a `Cross` only. With more than one answer, all other
        weights must be equal.
    series : str, optional
        Name of a series of surveys of the same people. With `PersonKeys`, questions of the same series, epsilon and number of
        answers per person have the same coins and the same choice of questions for a person, so that a question that stays
        in the next survey gets the same report for the same value. All surveys without a name are one series.
    waves : int, optional
        Number of waves in [2, 1024] of a rotating panel: each person answers in `turns` of them, which are drawn without a look
        at the data. Epsilon is the loss of a person in all waves together, whatever the answers are and whatever `revise`
        changes between two waves, if each wave is asked once: with one version, and one value per person. The turns belong to
        the series with its epsilon and numbers of answers, waves and turns: any other number draws new ones, for a new
        loss. People are asked by the survey of a wave, `in_wave`.
    turns : int, default 1
        Number of waves in which each person answers, each with epsilon / turns.
    open_ended : bool, default False
        Whether the series goes on after its waves. Each person then answers once in every `waves` waves, and loses epsilon
        each time.
    revision : int, default 1
        Number of the version of the survey, which `revise` counts.
    wave : int, optional
        Number of the wave that this is the survey of; see `in_wave`.
    calendar : Calendar, optional
        When the waves open and close. It belongs to the whole survey and not to that of a wave: no report depends on it.

    Attributes
    ----------
    mechanisms : dict
        Mechanism of each question that is asked, by its name.
    guarantee : privacy.Guarantee
        Guarantee of each person for all answers, from the integers of the coins.

    Raises
    ------
    TypeError, ValueError
        If there is no question; if a name is not a non-empty text, has control characters, or is "ldpfast"; if a `Cross`
        names an unknown question; if `answers` or `weights` do not fit the questions; if `calendar` has other waves; if no
        mechanism can certify epsilon / answers.

    Notes
    -----
    `run` takes O(n) time per column and answer and constant memory. No resistance to timing attacks is claimed for the
    encoding of records.

    Privacy
    -------
    The report of a person is `guarantee.epsilon`-LDP, at most `epsilon`: basic composition of the answers. The choice of the
    questions does not depend on the record. Several surveys that one person answers add up; see `privacy.compose`. That an
    invalid cell is refused is outside the guarantee; all cells are checked, whether or not the person is asked.
    docs/proofs/survey.md.

    Examples
    --------
    >>> import numpy as np, ldpfast as ldp
    >>> from ldpfast.survey import Choice, Mean, YesNo
    >>> survey = ldp.Survey({"smoker": YesNo(), "age": Mean(0, 100), "region": Choice(["N", "S"])}, epsilon=2.0)
    >>> n = 30_000
    >>> people = {"smoker": np.arange(n) % 5 == 0, "age": np.full(n, 40.0), "region": np.repeat(["N", "S"], n // 2)}
    >>> result = survey.run(people, rng=1)
    >>> low, high = result["smoker"].interval()
    >>> low < 0.2 < high
    True
    """

    questions: Mapping[str, SurveyQuestion]
    epsilon: float
    answers: Any = field(default=1, kw_only=True)
    weights: Mapping[str, int] | None = field(default=None, kw_only=True)
    series: str | None = field(default=None, kw_only=True)
    waves: int | None = field(default=None, kw_only=True)
    turns: int = field(default=1, kw_only=True)
    open_ended: bool = field(default=False, kw_only=True)
    revision: int = field(default=1, kw_only=True)
    wave: int | None = field(default=None, kw_only=True)
    calendar: Calendar | None = field(default=None, kw_only=True)
    mechanisms: dict[str, Mechanism] = field(init=False, repr=False)
    _kind: ClassVar[str] = "survey"
    _recipe: SurveyRecipe = field(init=False, repr=False)

    def __post_init__(self) -> None:
        questions, epsilon = checked_questions(self.questions), _check.positive("epsilon", self.epsilon)
        weights = checked_weights(self.weights, questions)
        total, columns = sum(weights.values()), declared(questions)
        items = [
            item_of(name, question, columns, weights[name], total)
            for name, question in questions.items()
            if weights[name]
        ]
        if self.series is not None and (not isinstance(self.series, str) or not self.series):
            raise TypeError(f"series must be a non-empty text or None, got {self.series!r}")
        _check.labels("series", [self.series])
        panel = Panel.of(self.waves, self.turns, self.open_ended)
        turns = 1 if panel is None else panel.turns
        # The epsilon of a person is divided among turns and answers; the guarantee is the exact sum of the largest realized
        # losses.
        answers = checked_answers(self.answers, items, epsilon / turns)
        if answers > 1 and len({item.weight for item in items}) > 1:
            raise ValueError(f"weights must be equal or 0 with answers={answers}, got {self.weights!r}")
        mechanisms = mechanisms_of(items, self._maker(epsilon, answers * turns))
        realized = sorted((mechanism.epsilon_realized for mechanism in mechanisms.values()), reverse=True)
        series = Series.of(self.series, epsilon, answers, panel, self.wave, self._rounds())
        reports = turns if series.wave is None else 1
        self._set(
            questions=questions,
            epsilon=epsilon,
            answers=answers,
            weights={name: weights[name] for name in self.weights} if self.weights else None,
            waves=None if panel is None else panel.waves,
            turns=turns,
            open_ended=panel is not None and panel.open_ended,
            revision=_check.integer("revision", self.revision, 1),
            wave=series.wave,
            calendar=checked_calendar(self.calendar, panel, series.wave),
            mechanisms=mechanisms,
        )
        guarantee = Guarantee("local", _coins.sum_up(realized[:answers] * reports))
        parts = columns, items, list(mechanisms.values()), answers, series, guarantee
        self._set(_recipe=SurveyRecipe.of(*parts, Label(self.schema, self.__repr__)))

    # What the survey of a round does differently ------------------------------------------------------------------------

    def _maker(self, epsilon: float, answers: int) -> MechanismMaker:
        """Return the function that makes the mechanism of a question, for a number of answers with a part of epsilon each."""
        return _answers_per_person.maker(epsilon, answers)

    @property
    def _makers(self) -> list[MechanismMaker]:
        """Functions that make the mechanisms of a report, if people give 1, 2, ... answers in it."""
        return [self._maker(self.epsilon / self.turns, answers) for answers in range(1, len(self._recipe.items) + 1)]

    def _rounds(self) -> Rounds | None:
        """Return the round of a repeated survey."""
        return None

    # Planning ---------------------------------------------------------------------------------------------------------

    @property
    def column_questions(self) -> dict[str, ColumnQuestion]:
        """The questions with columns of their own, by their names; others, such as a `Cross`, ask for the same columns."""
        return {name: question for name, question in self.questions.items() if isinstance(question, ColumnQuestion)}

    def plan(
        self,
        n: int | None = None,
        *,
        compare: bool | Mapping[str, float] | None = None,
        alpha: float = 0.05,
        power: float = 0.8,
        shares: Mapping[str, Any] | None = None,
        response: float | Mapping[str, float] = 1.0,
    ) -> SurveyPlan:
        """Return the largest standard errors to expect, for every number of answers per person.

        Parameters
        ----------
        n : int, optional
            Number of people, at least 1. By default the number that the comparison needs. With waves, the number of all
            people of the panel; for the survey of one wave, those of the wave.
        compare : bool or mapping of str to float, optional
            Whether the two halves of the people will be compared. The plan then has the smallest difference that is found. A
            mapping has differences by question, of a share or of a mean, for which the plan has the number of people, of one
            wave if there are waves.
        alpha : float, default 0.05
            Level of the two-sided test of one difference, in (0, 1). With many questions, divide it by their number.
        power : float, default 0.8
            Probability that the test finds the difference, in (alpha, 1).
        shares : mapping, optional
            What is expected of the answers, by question: the share of yes; the shares of all labels, in their order or by
            label, or the largest one that a label may have; the share of a text; a mean; the shape of the distribution of a
            `Number`, of those of `SurveyPlan.quantiles`. The default is the worst case, apart from texts, which 1 % of people
            have, and the median of a `Number` with a uniform distribution.
        response : float or mapping of str to float, default 1.0
            Share of the people who answer the questions that they are asked, in (0, 1], for all or by question. Those who do
            not answer an optional question send "no answer"; otherwise they send nothing.

        Returns
        -------
        plan : SurveyPlan
            The standard errors are upper bounds under these assumptions.

        Raises
        ------
        TypeError, ValueError
            If `n` is not an integer in [1, 2^53]; if `compare` has other questions, or differences that are not > 0 or larger
            than possible; if `alpha` or `power` are out of range; if `shares` or `response` have other questions or are not
            such numbers; if 2^53 people are not enough for a difference.

        Notes
        -----
        The power is that of ``a - b`` (`survey.compare`) for a share of yes or a mean, which is the difference of the groups
        around the worst or the expected share. For several labels it is that of `survey.two_sample` where one share
        differs by the difference and the others by equal parts of it, with asymptotic distributions: in simulations it was 0.77
        to 0.84 for a planned 0.8. In small studies all tests are discrete, and the power of a single number can be larger.
        """
        goals = _survey_plan.Goals(compare, alpha, power, shares, response)
        if self.waves is not None and self.wave is None:
            return _survey_plan.plan_waves(self._recipe, self._makers, self.epsilon, n, goals)
        return _survey_plan.plan(self._recipe, self._makers, n, goals)

    def explain(
        self,
        *,
        controller: str | None = None,
        contact: str | None = None,
        purpose: str | None = None,
        holder: str | None = None,
    ) -> Explanation:
        """Return the promise of the survey in words, as a text that a study can give to people before they answer.

        Parameters
        ----------
        controller : str, optional
            Who decides why and how the answers are used, such as "Institute of Health".
        contact : str, optional
            Where people can ask.
        purpose : str, optional
            What the answers are for.
        holder : str, optional
            Who holds the true answers and randomizes them, such as "The interviewer". By default, the device of each person
            does, and all questions must be optional, as for `client`.

        Returns
        -------
        explanation : Explanation
            What is asked, sent and stored; what somebody can find out, as numbers of right guesses, for one answer, for one
            wave and for everything; what the promise does not cover; and a text for consent. ``print`` shows it;
            `to_markdown` and `to_html` are for others.

        Raises
        ------
        TypeError, ValueError
            If an argument is neither a text nor None; if a question is not optional and `holder` is not given; for the survey
            of one wave or round, whose loss is only a part.

        Notes
        -----
        Losses come from the integers of the coins, and all numbers are rounded toward more loss. A guess that is right
        with probability a before is right with at most a e^epsilon / (1 - a + a e^epsilon) after any report. Numbers of right
        guesses help people more than epsilon does [1]_.

        References
        ----------
        .. [1] P. Nanayakkara, M. A. Smart, R. Cummings, G. Kaptchuk, E. M. Redmiles, "What are the chances? Explaining the
           epsilon parameter in differential privacy", USENIX Security 2023.

        Examples
        --------
        >>> from ldpfast.survey import Survey, YesNo
        >>> survey = Survey({"smoker": YesNo(optional=True), "drinks": YesNo(optional=True)}, 2.0, answers=2)
        >>> survey.explain(controller="Institute of Health").odds
        what somebody sees               50 of 100 become at most  1 of 100 become at most  at most as likely
        one of your answers              74                        3                        2.72 times
        everything that is sent for you  89                        7                        7.39 times
        """
        return explain(self._facts(), StudyDetails(controller, contact, purpose, holder))

    def registry_entry(
        self,
        *,
        name: str,
        curators: Mapping[str, str],
        intended_use: str,
        region: str,
        publication_date: str | date,
        authors: str | Sequence[str],
        tier: int = 3,
        description: str | None = None,
        sector: str | None = None,
        n: int | None = None,
        justification: str | None = None,
        holder: str | None = None,
        additional_information: str | None = None,
    ) -> str:
        """Return an entry for the public registry of deployments of differential privacy.

        Parameters
        ----------
        name : str
            Name of what is published.
        curators : mapping of str to {"Government", "Industry", "Nonprofit"}
            Who publishes it, and what kind of organization it is.
        intended_use : str
            What it is for.
        region : str
            Which region the data describe, or whose laws apply.
        publication_date : str or date
            Such as "2026-05-01"; with waves, that of the first release.
        authors : str or sequence of str
            Who wrote the entry.
        tier : {1, 2, 3}, default 3
            How much is disclosed. 1: what is published, and why. 2: also the unit and the parameter of privacy and the model.
            3: also questions, unprotected quantities, actors, composition and mechanisms.
        description : str, optional
            The default names the questions.
        sector : {"Technology", "Healthcare", "Education", "Government", "Energy", "Finance"}, optional
        n : int, optional
            Number of people, about. Tier 3 then has the standard errors of `plan`.
        justification : str, optional
            Why epsilon and the questions were chosen, and who decided it. Required for tier 3.
        holder : str, optional
            Who holds the true answers and randomizes them, as for `explain`.
        additional_information : str, optional
            Links to papers and to what is published; whatever fits nowhere else.

        Returns
        -------
        text : str
            YAML that is valid for the schema of the registry [1]_ at its commit 057e5d81, with the status "Draft". Texts are
            Markdown.

        Raises
        ------
        TypeError, ValueError
            If an argument is empty or not of its type, or has another value than those listed; if tier 3 has no
            `justification`, or has questions that are not optional and no `holder`; for the survey of one wave or round.

        Notes
        -----
        `epsilon` is from the guarantee, rounded up to 6 digits: of all waves together or, if the survey is open-ended, of a
        period. What the survey cannot know is left to you: read the entry before you submit it.

        References
        ----------
        .. [1] OpenDP, "Differential privacy deployments registry", github.com/opendp/deployments-registry-data; P. Nanayakkara,
           E. Ghazi, S. Vadhan, "Practitioners' perspectives on a differential privacy deployment registry", arXiv:2509.13509.

        Examples
        --------
        >>> from ldpfast.survey import Survey, YesNo
        >>> survey = Survey({"smoker": YesNo(optional=True)}, 2.0)
        >>> about = {"name": "Smoking at work", "curators": {"Institute of Health": "Government"}, "region": "Norway"}
        >>> about |= {"intended_use": "Health statistics", "publication_date": "2026-05-01", "authors": "A. Berg"}
        >>> print(survey.registry_entry(**about, tier=1))
        url_slug: smoking-at-work-institute-of-health-2026
        deployment:
          basic:
            name: "Smoking at work"
            data_curators:
              - data_curator_name: "Institute of Health"
                data_curator_type: "Government"
            description: "Estimates with confidence intervals from a question: smoker."
            intended_use: "Health statistics"
            data_product_type: "Summary statistics"
            data_product_region: "Norway"
            publication_date: "2026-05-01"
          administrative:
            status: "Draft"
            registry_authors:
              - "A. Berg"
            tier: 1
        <BLANKLINE>
        """
        deployment = Deployment(
            name=name,
            curators=curators,
            intended_use=intended_use,
            region=region,
            publication_date=publication_date,
            authors=authors,
            tier=tier,
            description=description,
            sector=sector,
            n=n,
            justification=justification,
            holder=holder,
            additional_information=additional_information,
        )
        return registry_entry(self._facts(), deployment)

    def _facts(self) -> SurveyFacts:
        """Return what texts say about the survey, which must be a whole one."""
        if self.wave is not None or self._rounds() is not None:
            raise ValueError(
                "the survey must be a whole one, which makes the promise, and not that of a wave or a round"
            )
        of_wave = None if self.waves is None else self.in_wave(1).guarantee.epsilon
        periods = self.loss([], waves=PERIODS * self.waves).worst if self.waves and self.open_ended else None
        return SurveyFacts(self.questions, self._recipe, self.fingerprint, of_wave, periods, self.plan)

    def in_wave(self, wave: int) -> Survey:
        """Return the survey of one wave. What it counts, saves and estimates belongs to this wave.

        Parameters
        ----------
        wave : int
            Number of the wave, from 1 on.

        Returns
        -------
        survey : Survey
            With personal keys its `privatize`, `collect` and `run`, and the engines, take all people, and only those whose
            turn it is answer. Its guarantee covers one report.

        Raises
        ------
        TypeError, ValueError
            If the survey has no waves, is the survey of one wave already, or has no such wave.

        Examples
        --------
        >>> import numpy as np, ldpfast as ldp
        >>> survey = ldp.Survey({"smokes": ldp.survey.YesNo()}, 2.0, series="health", waves=4)
        >>> keys = ldp.PersonKeys(bytes(32), np.arange(8000))  # use a secret of secrets.token_bytes(32)
        >>> results = [survey.in_wave(w).run({"smokes": [True] * 8000}, rng=keys) for w in (1, 2, 3, 4)]
        >>> sum(result.n for result in results)
        8000
        """
        if self.waves is None:
            raise ValueError(f"wave must be left out for a survey without waves, got {wave!r}")
        if self.wave is not None:
            raise ValueError(f"the survey must not be that of a wave already, got wave {self.wave}")
        return replace(self, wave=wave, calendar=None)

    def aggregator(self) -> Aggregator:
        """Return an empty aggregator for reports: the state of the server. With waves, that of one wave.

        Returns
        -------
        aggregator : Aggregator
            It can be merged with others, and saved with `to_bytes`.

        Raises
        ------
        ValueError
            If the survey has waves and is not that of one of them.
        """
        self._recipe.series.require_wave()
        return super().aggregator()

    @property
    def report_laws(self) -> Sequence[ReportLaw] | None:
        """Laws of one report for `privacy.shuffled`, from the integers of the coins; None if they are not known.

        Without them, `privacy.shuffled` uses a bound that holds for all channels with the same epsilon. With waves, they are
        those of a report in one wave, and the survey must be that of a wave.
        """
        return self._recipe.report_laws

    # Versions ---------------------------------------------------------------------------------------------------------

    def revise(
        self,
        *,
        add: Mapping[str, SurveyQuestion] | None = None,
        remove: Sequence[str] | None = None,
        change: Mapping[str, SurveyQuestion] | None = None,
        weights: Mapping[str, int] | None = None,
    ) -> Survey:
        """Return the next version of the survey, in the same series.

        With `PersonKeys`, people keep the choice of questions and their reports as far as possible: an added question is asked
        of those who draw it, and a removed one moves those only who were asked it. The name of a column is not part of a
        question: to ask something else, use another name of the question. A ledger refuses what exceeds epsilon, so
        that without waves it lets nobody answer an added question.

        Parameters
        ----------
        add : mapping of str to question, optional
            New questions by their names.
        remove : list of str, optional
            Names of questions that are no longer asked.
        change : mapping of str to question, optional
            Questions in the place of those with the same names, for instance with one more category.
        weights : mapping of str to int, optional
            Weights of the added questions. All others stay what they are, and so do epsilon and the numbers of answers and
            turns.

        Returns
        -------
        survey : Survey
            With `revision` one higher. Within a wave the version must not change; see `loss` for a survey without waves.

        Raises
        ------
        TypeError, ValueError
            If nothing changes; if a name is unknown, or is not new; if too few questions are left.

        Examples
        --------
        >>> from ldpfast.survey import Choice, Survey, YesNo
        >>> first = Survey({"smokes": YesNo(), "region": Choice(["N", "S"])}, 2.0, series="health", waves=8)
        >>> second = first.revise(change={"region": Choice(["N", "S", "W"])})
        >>> second.revision, list(second.questions)
        (2, ['smokes', 'region'])
        """
        if self.wave is not None:
            raise ValueError(f"the survey must be revised as a whole, got that of wave {self.wave}")
        questions, kept = revised(self.questions, self.weights, add, remove, change, weights)
        return replace(self, questions=questions, weights=kept, revision=self.revision + 1)

    def loss(self, versions: Sequence[Survey] = (), *, waves: int | None = None) -> Loss:
        """Return what a person loses who is asked this and other versions of the survey, with `PersonKeys`.

        Parameters
        ----------
        versions : sequence of Survey, optional
            Other versions of the series, such as results of `revise`.
        waves : int, optional
            For an open-ended series, the number of waves in a row.

        Returns
        -------
        loss : Loss
            For a survey with waves, epsilon for each period, however often it is revised between waves, if each wave is asked
            with one version and one value per person. Without waves it is
            enumerated over all orders of the questions, for people whose values do not change: who draws an added question
            gives another report.

        Raises
        ------
        TypeError, ValueError
            If they are not versions of one series; if there are too many orders; if `waves` is missing for an open-ended
            series.
        """
        if isinstance(versions, Survey) or not isinstance(versions, Iterable):
            raise TypeError(f"versions must be a list of surveys, got {type(versions).__name__}")
        for version in versions:
            if type(version) is not type(self):
                raise TypeError(f"versions must be surveys, got {type(version).__name__}")
        return loss_of([self._recipe, *(version._recipe for version in versions)], waves)

    # People -----------------------------------------------------------------------------------------------------------

    def privatize(  # type: ignore[override]  # the reports are a new table
        self, frame: Any, *, rng: RNGLike = None, clip: bool = False
    ) -> Any:
        """Turn the records of people into reports.

        Parameters
        ----------
        frame : mapping of arrays, data frame, or object that exports an Arrow stream or array
            One row per person. Columns that no question asks for are ignored.
        rng : None, PersonKeys, int, SeedSequence, Generator or BitGenerator
            ``None`` draws a fresh key from the operating system. `PersonKeys`, without a `question`, give the same report for
            the same person and answers. Anything else makes the reports reproducible, hence not private: for simulation and
            tests only.
        clip : bool, default False
            Move numbers out of range to the nearest end, and count undeclared categories as "no answer" where the question
            is optional, instead of raising an error.

        Returns
        -------
        table : pyarrow.Table
            One column of fixed-size binary per question, with null where a person was not asked, and the column "ldpfast"
            with the fingerprint. The metadata has the JSON of `schema`.

        Raises
        ------
        TypeError, ValueError
            If a column is missing or has a wrong type; if a cell is outside of the declared set, or has no value where the
            question is not optional. The message names column and row, never a value.
        ImportError
            If pyarrow is not installed.

        Privacy
        -------
        Each row is `guarantee.epsilon`-LDP.
        """
        return optional("pyarrow", "files").concat_tables(self.privatize_pieces(frame, rng=rng, clip=clip))

    def privatize_pieces(self, frame: Any, *, rng: RNGLike = None, clip: bool = False) -> Iterator[Any]:
        """Yield the result of `privatize` in pieces, in constant memory.

        Parameters
        ----------
        frame, rng, clip
            As for `privatize`.

        Yields
        ------
        table : pyarrow.Table
            The first has no rows.

        Raises
        ------
        TypeError, ValueError, ImportError
            As for `privatize`, when the invalid piece is read.

        Privacy
        -------
        As for `privatize`.
        """
        yield from SurveyPeople(self._recipe, frame, rng, clip).tables()

    def to_arrow(self, reports: Any) -> Any:
        """Return reports as an Arrow table, after a check that they answer this survey: a result of `privatize`, unchanged.

        Parameters
        ----------
        reports : pyarrow.Table, or an object that exports an Arrow stream
            Result of `privatize`.

        Returns
        -------
        table : pyarrow.Table

        Raises
        ------
        TypeError, ValueError
            If they are not reports of this survey.
        ImportError
            If pyarrow is not installed.
        """
        return super().to_arrow(reports)

    def message(self, report: Any) -> bytes:
        """Return the report of one person as a message, as `client` makes it.

        Parameters
        ----------
        report : pyarrow.Table
            One row of a result of `privatize`.

        Returns
        -------
        message : bytes
            Version, fingerprint of the survey, and the reports with the numbers of their questions.

        Raises
        ------
        TypeError, ValueError
            If it is not one report of this survey.

        Examples
        --------
        >>> from ldpfast.survey import Survey, YesNo
        >>> survey = Survey({"smoker": YesNo()}, 1.0)
        >>> len(survey.message(survey.privatize({"smoker": [True]}, rng=1)))
        12
        """
        return super().message(report)

    def client(
        self,
        secret: bytes | None = None,
        person: int | str | bytes | None = None,
        *,
        ledger: Ledger | None = None,
        fingerprint: str | Sequence[str] | None = None,
    ) -> SurveyClient:
        """Return the client of one person, which turns a record into a message.

        Parameters
        ----------
        secret : bytes, optional
            32 random bytes that only this person has. The same record then always gives the same message; see `PersonKeys`.
        person : int, str or bytes, optional
            Identifier of the person, required with a secret.
        ledger : Ledger, optional
            Where the device keeps what the person has answered, in the place of a secret.
        fingerprint : str or sequence of str, optional
            SHA-256 of `client_table` in 64 hexadecimal digits, as ``ldpfast table`` prints it, where the survey comes from
            somebody else; several for several waves. Another survey is refused.

        Returns
        -------
        client : SurveyClient

        Raises
        ------
        TypeError, ValueError
            If a question is not optional: a client must not refuse a missing value. If only one of `secret` and `person` is
            given, or a ledger as well, or neither for a survey with waves. If the survey has another fingerprint.
        """
        return SurveyClient(self._recipe_in, secret, person, ledger, fingerprint)

    def _recipe_in(self, wave: int | None) -> SurveyRecipe:
        """Return the recipe of the survey, or of that of one of its waves."""
        return self._recipe if wave is None else self.in_wave(wave)._recipe

    def client_table(self) -> bytes:
        """Return what clients in C and JavaScript need to make the messages of `client`.

        Returns
        -------
        table : bytes
            Columns, labels, encodings and the integers of the coins, with a checksum. docs/clients.md says what each byte
            means and how the clients are built. Equal surveys have equal tables.

        Raises
        ------
        ValueError
            If a question is not optional; if the survey has waves and is not that of one of them.

        Privacy
        -------
        A table is public. A client computes the loss of a person from its integers, and refuses a table with a larger loss
        than the program that uses the client accepts. A program that compares the SHA-256 of the table with a known one also
        knows what is asked, and what each report means.

        Examples
        --------
        >>> import ldpfast as ldp
        >>> from ldpfast.survey import Mean, YesNo
        >>> survey = ldp.Survey({"smoker": YesNo(optional=True), "age": Mean(0, 100, optional=True)}, epsilon=2.0)
        >>> len(survey.client_table())
        391
        """
        self._recipe.series.require_wave()
        check_optional(self._recipe.declared)
        return client_table(self._recipe)

    def client_schema(self) -> str:
        """Return the schema as text, from which a program in Python makes the survey again. `client_table` needs no other file.

        Returns
        -------
        text : str
            `schema` as canonical JSON (RFC 8785). `fingerprint` is the start of the SHA-256 of its UTF-8.

        Examples
        --------
        >>> import hashlib, ldpfast as ldp
        >>> survey = ldp.Survey({"smoker": ldp.survey.YesNo(optional=True)}, epsilon=2.0)
        >>> hashlib.sha256(survey.client_schema().encode()).hexdigest()[:16] == survey.fingerprint
        True
        """
        return _schema.canonical_json(self.schema()).decode()

    def _table_of_groups(
        self, values: Sequence[Any], counted: Counted, confidence: float, simultaneous: bool
    ) -> Table | None:
        if not values or not self._recipe.concludes_groups:
            return None
        return conclude(self._recipe, counted, False).table_of_groups(values, confidence, simultaneous)

    def _conclude(self, counted: Counted, *, pooled: bool = False) -> SurveyResult:
        """Return the answers to all questions; with `pooled`, each from all answers that hold it."""
        return conclude(self._recipe, counted, _check.flag("pooled", pooled))

    def _result(self, counts: Counts, **options: Any) -> SurveyResult:
        found: SurveyResult = super()._result(counts, **options)
        return found._of_counts(counts)

    def _publish_groups(self, results: GroupedResults, population: Any, **options: Any) -> Publication:
        """Return the tables of `GroupedResults.publish`."""

        def total(weights: GroupWeights) -> SurveyResult:
            return conclude(self._recipe, Counted(counts.states, counts.n), False, weights)

        counts = results.counts
        by = ["group"] if results.by is None else group_columns(results.by)
        return publish_groups(counts, by, results, total, population, PublishOptions.of(**options))

    # Identity ---------------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return the questions and parameters as types that JSON has; `from_dict` reads it."""
        return {
            "survey": "Survey",
            "questions": [{"name": name, **question.to_dict()} for name, question in self.questions.items()],
            "epsilon": self.epsilon,
            "answers": self.answers,
            "weights": None if self.weights is None else dict(self.weights),
            "series": self.series,
            **self._later_options(),
            **({} if self.calendar is None else {"calendar": self.calendar.to_dict()}),
        }

    def _later_options(self) -> dict[str, Any]:
        """Return the later options that do not have their defaults, as attributes."""
        given = {name: getattr(self, name) for name in LATER_OPTIONS}
        return {name: value for name, value in given.items() if value != LATER_OPTIONS[name]}

    @classmethod
    def _omitted_names(cls) -> frozenset[str]:
        """Return the names of the options that descriptions leave out where they have their defaults."""
        return frozenset(LATER_OPTIONS)

    @classmethod
    def _from_packed(cls, arguments: dict[str, Any]) -> Self:
        questions: dict[str, SurveyQuestion] = {}
        for data in arguments["questions"]:
            name = data.get("name") if isinstance(data, dict) else None
            if not isinstance(name, str) or name in questions:
                raise ValueError("data must hold questions with different names")
            questions[name] = described({key: value for key, value in data.items() if key != "name"}, "question")
        calendar = arguments.get("calendar")
        calendar = None if calendar is None else Calendar.from_dict(calendar)
        return cls(**{**arguments, "questions": questions, "calendar": calendar})

    def to_toml(self) -> str:
        """Return the survey as TOML, which `from_toml` and the command line read.

        Returns
        -------
        text : str

        Raises
        ------
        TypeError
            If a label is neither text, nor a number, a boolean or a date.
        """
        options = {"epsilon": self.epsilon, "answers": self.answers, "series": self.series, **self._later_options()}
        calendar = options.pop("calendar", None)
        tables = {"calendar": None if calendar is None else toml_entries(calendar), "weights": self.weights}
        return _toml.dump(self.questions, tables, options)

    @classmethod
    def from_toml(cls, text: str, *, epsilon: float | None = None) -> Survey:
        """Return the survey that TOML describes.

        Parameters
        ----------
        text : str
            "epsilon", optionally "answers", "series", "waves", "turns", "open_ended", "revision" and tables "weights" and
            "calendar" (with "start", "every" and "grace"), and one table per question: its "type" and the arguments of that
            class.
        epsilon : float, optional
            Privacy parameter in the place of that of the text.

        Returns
        -------
        survey : Survey

        Raises
        ------
        TypeError, ValueError
            If the text is not TOML, or does not describe a survey.

        Examples
        --------
        >>> import ldpfast as ldp
        >>> survey = ldp.Survey.from_toml('''
        ... epsilon = 2.0
        ... [questions.smoker]
        ... type = "YesNo"
        ... [questions.age]
        ... type = "Mean"
        ... lower = 0
        ... upper = 100
        ... ''')
        >>> list(survey.questions)
        ['smoker', 'age']
        """
        return cls(**_toml.parse(text, epsilon))

    def _pinned(self) -> dict[str, Any]:
        return {
            "mechanisms": [
                {"question": name, "asks": mechanism.to_dict(), **mechanism._pinned()}
                for name, mechanism in self.mechanisms.items()
            ]
        }

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Survey):
            return NotImplemented
        return _schema.canonical_json(self.schema()) == _schema.canonical_json(other.schema())

    def __hash__(self) -> int:
        return hash(self._recipe.head)
