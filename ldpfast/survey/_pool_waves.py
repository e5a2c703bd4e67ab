"""The answers of several waves of a panel together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..reports import Aggregator, Counts, recipe_of
from ._conclude import conclude
from ._result import SurveyResult
from ._survey import Survey


def pool(aggregators: Sequence[Aggregator]) -> SurveyResult:
    """Return the answers from several waves of a panel together, for what does not change from wave to wave.

    Parameters
    ----------
    aggregators : sequence of Aggregator
        Counted reports of different waves of one series, in which each person answers once, also of several versions.

    Returns
    -------
    result : SurveyResult
        Answers to the questions of the newest version, each from all waves that asked it unchanged, as if their people had
        answered in one wave.

    Raises
    ------
    TypeError, ValueError
        If they are not counts of waves of one series; if the same people can be in two of them: those of the same wave (use
        ``merge``), or of a series with several turns.

    Notes
    -----
    It costs no privacy. If the answers change from wave to wave, the result describes the mean over the waves.

    Examples
    --------
    >>> import numpy as np, ldpfast as ldp
    >>> from ldpfast.survey import YesNo, pool
    >>> survey = ldp.Survey({"smokes": YesNo()}, 2.0, series="health", waves=3)
    >>> keys, people = ldp.PersonKeys(bytes(32), np.arange(6000)), {"smokes": [True] * 6000}
    >>> pool([survey.in_wave(w).collect(people, rng=keys) for w in (1, 2, 3)]).n
    6000
    """
    if isinstance(aggregators, Aggregator) or not isinstance(aggregators, Iterable):
        raise TypeError(f"aggregators must be a list of them, got {type(aggregators).__name__}")
    counted: list[Any] = list(aggregators)
    if not counted:
        raise ValueError("aggregators must be at least one, got none")
    for one in counted:
        question = getattr(one, "question", None)
        if not isinstance(one, Aggregator) or not isinstance(question, Survey) or question.wave is None:
            raise TypeError("aggregators must be those of waves of a survey")
    surveys: list[Survey] = [one.question for one in counted]
    if any(recipe_of(survey).series.description != recipe_of(surveys[0]).series.description for survey in surveys):
        raise ValueError("aggregators must be of one series, epsilon and numbers of answers, waves and turns")
    if surveys[0].turns > 1:
        raise ValueError(f"aggregators must be of different people, got a series with {surveys[0].turns} turns")
    people = [recipe_of(survey).occasion for survey in surveys]
    if len(set(people)) < len(people):
        raise ValueError("aggregators must be of different people, got two of the same ones: merge counts of one wave")
    newest = newest_of(surveys)
    found = pooled_counts(counted, newest)._counts
    return conclude(recipe_of(newest), found.group(), False)._of_people(found.people)


def newest_of(surveys: Iterable[Survey]) -> Survey:
    """Return the newest version of a survey, in its last wave."""
    return max(surveys, key=lambda survey: (survey.revision, survey.wave))


def pooled_counts(counted: Sequence[Aggregator], newest: Survey) -> Aggregator:
    """Return the counts of different people together, as if all of them had answered one survey.

    Parameters
    ----------
    counted : sequence of Aggregator
        Of waves of one series, or of several versions in one wave. That nobody is in two of them is for the caller to know.
    newest : Survey
        The newest version, in a wave. Of each of its questions, the reports to versions that asked it unchanged are counted.
    """
    layout = recipe_of(newest)
    states = [np.zeros(*each) for each in layout.state_layouts]
    people = None
    for one in counted:
        theirs, theirs_counted = recipe_of(one.question), one._counts.group().states
        own = one._counts.people.on(theirs.occasion)
        people = own if people is None else people.joined(own)
        places = {pair: q for q, pair in enumerate(zip(theirs.names, theirs.descriptions, strict=True))}
        found = [places.get(pair) for pair in zip(layout.names, layout.descriptions, strict=True)]
        for q, place in enumerate(found):
            if place is not None:
                states[0][q] += theirs_counted[0][place]
                layout.mechanisms[q].report.merge(states[2 + q], theirs_counted[2 + place])
        pairs = {frozenset(pair): i for i, pair in enumerate(theirs.pairs)}
        for i, (a, b) in enumerate(layout.pairs):
            place = pairs.get(frozenset((found[a], found[b])))
            if place is not None:
                states[1][i] += theirs_counted[1][place]
    n = np.array([sum(one.n for one in counted)], np.int64)
    joined = Counts.of(newest, [None], [state[np.newaxis] for state in states], n)
    joined.people = joined.people if people is None else people
    return Aggregator._of(joined)
