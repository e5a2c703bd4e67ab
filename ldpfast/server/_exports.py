"""What a server exports: estimates, states, and messages that are not folded.

States and messages name what they hold, so that nothing is added twice.

Names belong to the database, a survey and a group. All states share one, because a later state holds what an earlier one
holds. The messages of an export have the name of a part, which the states have too that hold them. A part ends when all of its
messages are folded; a later export is then of other messages, and has another part.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Sequence
from threading import Event
from typing import IO, Any

import sqlalchemy as sa

from ..reports import Aggregator
from ..reports._batches import FROM_CLIENTS, hash_of_batch
from ..survey import Survey
from ._engine import engines_of, file_of
from ._results import ResultCache
from ._series_results import SeriesResults
from ._server_plan import SurveyOccasion
from ._store import Store
from ._tables import about, batches, occasions, parts, surveys


def exported_state(store: Store, occasion: SurveyOccasion, group: str | None) -> Aggregator:
    """Return the counted reports to a survey, of all people or of a group, with the names of what they hold.

    Raises
    ------
    ValueError
        If there are no reports of the group.
    """
    counted = store.counts(occasion.fingerprint)
    if group is not None and group not in counted:
        raise ValueError(f"--group must be one of {', '.join(map(repr, counted))}, got {group!r}")
    found = occasion.survey.aggregator()
    with store.write() as connection:  # after the counts: messages that came meanwhile are taken for exported, too
        names = _Names(connection, occasion)
        held: set[str] = set()
        for label, aggregator in counted.items():
            if group in (None, label):
                found.merge(aggregator)
                held |= {FROM_CLIENTS, *map(hash_of_batch, names.of_state(label))}
        found._counts.batches |= held
    return found


def exported_messages(
    store: Store, occasion: SurveyOccasion, group: str | None
) -> tuple[list[tuple[bytes, str]], dict[str, list[str]]]:
    """Return the messages to a survey that are not folded, with their labels, and the names of what they hold by label."""
    with store.read() as reading:
        with store.write() as connection:  # nothing is folded meanwhile
            names = _Names(connection, occasion)
            found = {
                label: [hash_of_batch(names.of_messages(label)), FROM_CLIENTS]
                for label in names.waiting
                if group in (None, label)
            }
            reading.execute(sa.select(about.c.version)).all()  # what follows sees the database as it is now
        chosen = (batches.c.survey == names.survey) & batches.c.label.in_(list(found))
        pending = store.pending(reading, chosen & (batches.c.place <= names.last))
        return [(message, label) for _, label, messages in pending for message in messages], found


def exported_table(store: Store) -> tuple[dict[str, list[Any]], set[str]]:
    """Return the table of all answers (`SeriesResults.everything`), and the questions that people answer with texts.

    Raises
    ------
    ValueError
        If there are no reports.
    """
    series = SeriesResults(ResultCache(store), _with_reports(store))
    return series.everything(Event()), series.texts


def write_states(store: Store, file: IO[bytes]) -> int:
    """Write an archive (ZIP) of all states, by wave or round, version and group, with a list of them; return their number.

    Raises
    ------
    ValueError
        If there are no reports.
    """
    rows: list[dict[str, Any]] = []
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for occasion in _with_reports(store):
            for label, counted in store.counts(occasion.fingerprint).items():
                if not counted.n:
                    continue
                state = exported_state(store, occasion, label)
                name = f"{len(rows) + 1:05}.ldp"
                archive.writestr(name, state.to_bytes())
                where = {occasion.unit: occasion.number} if occasion.unit else {}
                group = {"group": label} if label else {}
                rows.append({"file": name, **where, "version": occasion.survey.revision, **group, "n": state.n})
        archive.writestr("states.json", json.dumps(rows, ensure_ascii=False, indent=1))
    return len(rows)


def newest_wave(url: str, versions: Sequence[Survey]) -> int:
    """Return the last wave in which a database has all versions of a survey; the first wave if there is none."""
    engine, reading = engines_of(url, ())
    try:
        path = file_of(engine)
        if path is not None and not path.exists():
            return 1
        with reading.connect() as connection:
            if not sa.inspect(connection).has_table(surveys.name):
                return 1
            joined = sa.select(surveys.c.fingerprint, occasions.c.wave)
            joined = joined.join(occasions, surveys.c.occasion == occasions.c.occasion)
            known = {bytes(row.fingerprint): row.wave for row in connection.execute(joined)}
    finally:
        engine.dispose()
        reading.dispose()
    first = versions[0]
    for wave in sorted({wave for wave in known.values() if wave}, reverse=True):
        if not first.open_ended and wave > (first.waves or 0):
            continue
        if all(SurveyOccasion.of(version.in_wave(wave)).fingerprint in known for version in versions):
            return int(wave)
    return 1


def _with_reports(store: Store) -> list[SurveyOccasion]:
    """Return all surveys that have reports.

    Raises
    ------
    ValueError
        If there are none.
    """
    found = store.answered()
    if not found:
        raise ValueError("the database must have reports, got none")
    return found


class _Names:
    """Names of what the exports of a survey hold. While they are given, no other process folds or exports.

    Attributes
    ----------
    survey : int
        Number of the survey.
    waiting : list of str
        Labels of the groups with messages that are not folded.
    last : int
        Last place of these messages.
    """

    def __init__(self, connection: sa.Connection, occasion: SurveyOccasion) -> None:
        self._connection, self._fingerprint = connection, occasion.fingerprint.hex()
        self._identity = connection.scalar(sa.select(about.c.identity).with_for_update())
        number = sa.select(surveys.c.survey).where(surveys.c.fingerprint == occasion.fingerprint)
        self.survey: int = connection.execute(number).scalar_one()
        places = sa.select(batches.c.label, sa.func.max(batches.c.place)).where(batches.c.survey == self.survey)
        last = {label: int(place) for label, place in connection.execute(places.group_by(batches.c.label))}
        self.waiting, self.last = sorted(last), max(last.values(), default=0)

    def of_state(self, label: str) -> list[str]:
        """Return the names of all reports of a group."""
        if label in self.waiting:
            self._add_to_part(label, False)
        listed = sa.select(parts.c.part).where(self._are(label) & (parts.c.has_messages | (parts.c.last > 0)))
        numbers = sorted(self._connection.scalars(listed))
        return [self._name(label, part) for part in ("all", *numbers)]

    def of_messages(self, label: str) -> str:
        """Return the name of the messages of a group that are not folded."""
        return self._name(label, self._add_to_part(label, True))

    def _add_to_part(self, label: str, has_messages: bool) -> int:
        """Add the messages of a group that are not folded to a part, and return its number."""
        newest = sa.select(parts.c.part, parts.c.last, parts.c.has_messages).where(self._are(label))
        found = self._connection.execute(newest.order_by(parts.c.part.desc()).limit(1)).one_or_none()
        part = 0 if found is None else found.part
        values: dict[str, Any] = {"last": self.last, "has_messages": has_messages}
        if found is not None and found.last:
            values["has_messages"] |= found.has_messages
            self._connection.execute(sa.update(parts).where(self._are(label) & (parts.c.part == part)).values(values))
            return int(part)
        if found is not None:
            part += 1
            if not found.has_messages:  # only states had it, which share another name
                self._connection.execute(sa.delete(parts).where(self._are(label) & (parts.c.part == found.part)))
        self._connection.execute(parts.insert(), {"survey": self.survey, "label": label, "part": part, **values})
        return int(part)

    def _are(self, label: str) -> Any:
        return (parts.c.survey == self.survey) & (parts.c.label == label)

    def _name(self, label: str, part: int | str) -> str:
        return f"ldpfast serve {self._identity} {self._fingerprint} {part} {label}"
