"""The surveys that a database holds, with their descriptions, also those that a server was not started with."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from .._described import from_dict
from ..survey import Survey
from ._engine import upsert
from ._server_plan import ServerPlan, SurveyOccasion, at_entry
from ._tables import batches, occasions, states, surveys

NUMBER = sa.func.length(batches.c.data, type_=sa.Integer) // batches.c.size  # of messages of a batch


@dataclass(frozen=True)
class HeldSurvey:
    """A survey that a database holds.

    Attributes
    ----------
    number : int
        Primary key of the survey.
    fingerprint : bytes
    revision : int
        Number of the version.
    entry : int or None
        Number of the wave, or of the round from 1 on.
    occasion : SurveyOccasion or None
        The survey; None if neither the plan of the server nor the database describes it in this version of the package.
    is_served : bool
        Whether it is a version that the server was started with.
    """

    number: int
    fingerprint: bytes
    revision: int
    entry: int | None
    occasion: SurveyOccasion | None
    is_served: bool

    def text(self, n: int) -> str:
        """Return version, wave or round, and fingerprint, with a number of reports."""
        title = self.occasion.title if self.occasion is not None else "" if self.entry is None else f"wave {self.entry}"
        return f"version {self.revision}{f' in {title}' * bool(title)} (survey {self.fingerprint.hex()}): {n:,} reports"


def open_survey(connection: sa.Connection, occasion: SurveyOccasion) -> tuple[int, int]:
    """Return the numbers of an occasion and of its survey, which are new or known."""
    number = _number_of(connection, occasions, {"key": occasion.key}, {"wave": occasion.entry})
    values = {"occasion": number, "revision": occasion.survey.revision}
    return number, _number_of(connection, surveys, {"fingerprint": occasion.fingerprint}, values)


def held_surveys(connection: sa.Connection, plan: ServerPlan, known: Iterable[HeldSurvey] = ()) -> list[HeldSurvey]:
    """Return the surveys of a database, also those of closed waves, and store the descriptions that it lacks.

    Those that were known for the same versions are not made again: after hundreds of waves that would take seconds.
    """
    found, before = [], {one.number: one for one in known if one.occasion is not None}
    columns = surveys.c.survey, surveys.c.fingerprint, surveys.c.revision, surveys.c.description, occasions.c.wave
    joined = sa.select(*columns).join(occasions, surveys.c.occasion == occasions.c.occasion).order_by(surveys.c.survey)
    for number, key, revision, description, entry in connection.execute(joined).all():
        if number in before:
            found.append(before[number])
            continue
        version, fingerprint = plan.version(revision), bytes(key)
        survey = None if version is None else at_entry(version, entry)
        occasion = None if survey is None else SurveyOccasion.of(survey)
        is_served = occasion is not None and occasion.fingerprint == fingerprint
        if survey is None or not is_served:
            occasion = _described(description, fingerprint)
        elif description is None:
            values = {"description": json.dumps(survey.to_dict())}
            connection.execute(sa.update(surveys).where(surveys.c.survey == number).values(values))
        found.append(HeldSurvey(number, fingerprint, revision, entry, occasion, is_served))
    return found


def _described(description: str | None, fingerprint: bytes) -> SurveyOccasion | None:
    """Return the survey that a database describes; None without a description, or if this version asks something else."""
    if description is None:
        return None
    try:
        survey = from_dict(json.loads(description))
    except (LookupError, TypeError, ValueError):  # of a newer version of the package
        return None
    occasion = SurveyOccasion.of(survey) if isinstance(survey, Survey) else None
    return occasion if occasion is not None and occasion.fingerprint == fingerprint else None


def numbers_of_reports(connection: sa.Connection) -> tuple[Counter[int], int]:
    """Return the numbers of reports by survey, and the number of messages that are not folded."""
    folded = sa.select(states.c.survey, sa.func.sum(states.c.n)).group_by(states.c.survey)
    pending = sa.select(batches.c.survey, sa.func.sum(NUMBER)).group_by(batches.c.survey)
    waiting = connection.execute(pending).all()
    n: Counter[int] = Counter()
    for survey, count in [*connection.execute(folded), *waiting]:
        n[survey] += int(count)
    return n, sum(int(count) for _, count in waiting)


def has_group(connection: sa.Connection, fingerprint: bytes, label: str) -> bool:
    """Return whether there are reports to a survey in a group."""
    survey = sa.select(surveys.c.survey).where(surveys.c.fingerprint == fingerprint).scalar_subquery()
    parts = (sa.exists().where((table.c.survey == survey) & (table.c.label == label)) for table in (states, batches))
    return bool(connection.scalar(sa.select(sa.or_(*parts))))


def require_same_versions(plan: ServerPlan, held: Collection[HeldSurvey], n: Counter[int]) -> None:
    """Raise if a version of a plan has the number of another survey that reports were received for.

    Raises
    ------
    ValueError
        Its reports would be seen no more, and the same people would be asked again.
    """
    for one in held:
        if n[one.number] and not one.is_served and plan.version(one.revision) is not None:
            raise ValueError(
                f"surveys must have a new revision if they were changed, which `Survey.revise` counts: the database has "
                f"{one.text(n[one.number])}, got another survey with revision {one.revision}"
            )


def _number_of(connection: sa.Connection, table: sa.Table, key: dict[str, Any], values: dict[str, Any]) -> int:
    """Return the number of a row, which is inserted if it is not there."""
    (column,), (name,) = table.primary_key.columns, key
    statement: Any = upsert(connection.engine, table).values(**key, **values)
    connection.execute(statement.on_conflict_do_nothing(index_elements=[table.c[name]]))
    found = connection.scalar(sa.select(column).where(table.c[name] == key[name]))
    assert isinstance(found, int)
    return found
