"""What a server exports: states, and messages that are not folded. Both name what they hold, so that nothing is added twice.

Names belong to the database, a survey and a group. All states share one, because a later state holds what an earlier one
holds. The messages of an export have the name of a part, which the states have too that hold them. A part ends when all of its
messages are folded; a later export is then of other messages, and has another part.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from ..reports import Aggregator
from ..reports._batches import hash_of_batch
from ._server_plan import SurveyOccasion
from ._store import Store
from ._tables import about, batches, parts, surveys


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
        for label, aggregator in counted.items():
            if group in (None, label):
                found.merge(aggregator)
                for name in names.of_state(label):
                    found.name_batch(name)
    return found


def exported_messages(
    store: Store, occasion: SurveyOccasion, group: str | None
) -> tuple[list[tuple[bytes, str]], dict[str, list[str]]]:
    """Return the messages to a survey that are not folded, with their labels, and the names of what they hold by label."""
    with store.read() as reading:
        with store.write() as connection:  # nothing is folded meanwhile
            names = _Names(connection, occasion)
            found = {
                label: [hash_of_batch(names.of_messages(label))] for label in names.waiting if group in (None, label)
            }
            reading.execute(sa.select(about.c.version)).all()  # what follows sees the database as it is now
        chosen = (batches.c.survey == names.survey) & batches.c.label.in_(list(found))
        pending = store.pending(reading, chosen & (batches.c.place <= names.last))
        return [(message, label) for _, label, messages in pending for message in messages], found


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
