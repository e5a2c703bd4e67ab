"""The database of a server: ids of reports, messages that are not folded yet, and the counts of all others.

Ids are kept until their wave is closed for good, so that a report that is sent again is found, whatever became of its message.
The messages of a transaction are stored together, and are folded into counts, and deleted, in another one.
"""

from __future__ import annotations

import secrets
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import sqlalchemy as sa

from .._load import load
from ..reports import Aggregator, recipe_of
from ._engine import Insert, engines_of, file_of, upsert, wait_for_turn
from ._held_surveys import NUMBER, HeldSurvey, held_surveys, numbers_of_reports, open_survey, require_same_versions
from ._ids import Ids, LoggedIds, SharedIds
from ._repeats import Repeats, title_of
from ._reports import Reports, Status, places_of
from ._server_plan import ServerPlan, SurveyOccasion, key_of
from ._tables import MIGRATIONS, VERSION, about, batches, marks, metadata, occasions, parts, refusals, states, surveys

FOLDED = 200_000  # messages that are folded together: each time the counts of all groups are read and written
READ_BATCHES = 4  # that a query fetches at once
PARTS = batches.c.survey, batches.c.label, batches.c.size, batches.c.data


class Store:
    """The database of a server, for the surveys of a plan.

    Parameters
    ----------
    plan : ServerPlan
    url : str
        Of SQLAlchemy: "sqlite:///reports.db", or one that begins with "postgresql+psycopg://".
    is_new : bool, default True
        Whether the database, and what of the plan it does not have, is made. Without this they must be there.

    Raises
    ------
    ValueError
        If the database belongs to another version of this package; if it does not have a survey of the plan, and `is_new` is
        False.
    """

    def __init__(self, plan: ServerPlan, url: str, *, is_new: bool = True) -> None:
        self.plan = plan
        self._numbers: dict[bytes, tuple[int, int]] = {}  # of the occasion and the survey, by fingerprint
        self._held: list[HeldSurvey] = []
        self.engine, self._reading = engines_of(url, LoggedIds.SETUP)
        self._ids: Ids = LoggedIds() if self.engine.dialect.name == "sqlite" else SharedIds()
        try:
            if not is_new:
                self._check_known()
            with self.write() as connection:
                wait_for_turn(connection)
                metadata.create_all(connection)
                self._ids.prepare(connection)
                self._migrate(connection)
                opened = self._opened(connection, plan)
                if is_new:
                    require_same_versions(plan, opened.held, numbers_of_reports(connection)[0])
        except BaseException:
            self.close()
            raise
        self._use(plan, opened)
        self._insert_batches = Insert(self.engine, sa.insert(batches), PARTS)

    def _opened(self, connection: sa.Connection, plan: ServerPlan) -> OpenedPlan:
        """Insert what of a plan the database does not have, and return what it has then."""
        numbers = {one.fingerprint: open_survey(connection, one) for one in plan.occasions().values()}
        n, _ = numbers_of_reports(connection)
        # Others that nobody has answered are of no interest: a server was started with them once.
        held = [one for one in held_surveys(connection, plan, self._held) if one.is_served or n[one.number]]
        joined = sa.select(surveys.c.fingerprint).join(occasions, surveys.c.occasion == occasions.c.occasion)
        closed = frozenset(map(bytes, connection.scalars(joined.where(occasions.c.closed))))
        return OpenedPlan(numbers, held, closed)

    def _use(self, plan: ServerPlan, opened: OpenedPlan) -> None:
        """Use what a transaction has opened, after its commit. Other threads find each part of it before the plan."""
        # Reports that were checked before belong to waves of earlier plans.
        self._numbers = {**self._numbers, **opened.numbers}
        self._held, self.closed = opened.held, opened.closed
        self._surveys = {one.number: one.occasion for one in opened.held if one.occasion is not None}
        self.plan = plan

    def open(self, plan: ServerPlan) -> None:
        """Receive reports for another plan of the same versions, whose waves are others."""
        with self.write() as connection:
            opened = self._opened(connection, plan)
        self._use(plan, opened)

    @contextmanager
    def write(self) -> Iterator[sa.Connection]:
        """Yield a connection in a transaction that is committed, on the disk, at the end.

        A thread must not begin another one before that: SQLite has one writer.
        """
        with self.engine.begin() as connection:
            yield connection

    @contextmanager
    def read(self) -> Iterator[sa.Connection]:
        """Yield a connection that sees one state of the database."""
        with self._reading.connect() as connection:
            if self.engine.dialect.name == "postgresql":
                connection = connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
            with connection.begin():
                yield connection

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()
        self._reading.dispose()

    def _check_known(self) -> None:
        """Raise an error if the database is not there, or no server ever received a survey of the plan in it."""
        path = file_of(self.engine)
        if path is not None and not path.exists():
            raise ValueError(f"the database must be that of a server, got a file that does not exist: {str(path)!r}")
        with self.read() as connection:
            if not sa.inspect(connection).has_table(surveys.name):
                raise ValueError("the database must be that of a server, got one without its tables")
            known = {bytes(row.fingerprint) for row in connection.execute(sa.select(surveys.c.fingerprint))}
        for occasion in self.plan.occasions().values():
            if occasion.fingerprint not in known:
                when = f" in {occasion.title}" if occasion.title else ""
                raise ValueError(
                    f"the survey (version {occasion.survey.revision}){when} must be one that a server has received in this "
                    f"database, got fingerprint {occasion.fingerprint.hex()}, which it does not have"
                )

    def _migrate(self, connection: sa.Connection) -> None:
        """Bring an older database to this version, in one transaction."""
        found = connection.scalar(sa.select(about.c.version).with_for_update())
        if found is None:
            connection.execute(about.insert(), {"version": VERSION, "identity": secrets.token_hex(16)})
            return
        if not 1 <= found <= VERSION:
            raise ValueError(f"the database must be of version {VERSION} of the server or older, got version {found}")
        inspector = sa.inspect(connection)  # an older server that runs can have put its version back
        columns = {table: {one["name"] for one in inspector.get_columns(table)} for table in ("occasions", "surveys")}
        is_old = {
            1: "closed" not in columns["occasions"],
            2: inspector.has_table("messages"),
            4: "description" not in columns["surveys"],
        }
        for version, (table, statements) in MIGRATIONS.items():
            if version < found or not is_old[version]:
                continue
            if connection.dialect.name == "postgresql":  # until older servers have stored what they acknowledge
                connection.execute(sa.text(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE"))
            for statement in statements:
                connection.execute(sa.text(statement))
        connection.execute(sa.update(about).values(version=VERSION))
        unnamed = sa.update(about).where(about.c.identity.is_(None))
        connection.execute(unnamed.values(identity=secrets.token_hex(16)))

    def load(self) -> None:
        """Read what the first reports need, which can take seconds after a start."""
        with self.write() as connection:
            self._ids.load(connection)

    # Reports ----------------------------------------------------------------------------------------------------------

    def add(self, connection: sa.Connection, reports: Reports) -> list[Status]:
        """Store reports that are new, and return what became of each.

        The first report with an id wins.
        """
        statuses = [Status.ACCEPTED] * len(reports)
        numbers = [self._numbers[occasion.fingerprint] for occasion in reports.occasions]
        closed = self._closed(connection, {occasion for occasion, _ in numbers})
        digests = reports.digests()
        places = places_of([occasion for occasion, _ in numbers])
        for occasion, own in sorted(places.items()):  # the same order in every process
            if occasion in closed:
                for place in own:
                    statuses[place] = Status.CLOSED
            else:
                self._add_ids(connection, occasion, own, reports.ids, digests, statuses)
        parts: defaultdict[tuple[int, str, int], list[bytes]] = defaultdict(list)
        rows = zip(statuses, numbers, reports.labels, reports.messages, strict=True)
        accepted = Status.ACCEPTED
        for status, (_, survey), label, message in rows:
            if status is accepted:
                parts[survey, label, len(message)].append(message)
        if parts:
            self._insert_batches(connection, [(*key, b"".join(part)) for key, part in parts.items()])
        return statuses

    def _add_ids(
        self,
        connection: sa.Connection,
        occasion: int,
        places: list[int],
        ids_: list[bytes],
        digests: list[bytes],
        statuses: list[Status],
    ) -> None:
        """Store the ids of the reports to one occasion, and write the statuses of those that are not new."""
        if len(places) < len(ids_):
            ids_, digests = ([values[place] for place in places] for values in (ids_, digests))
        first = dict(zip(reversed(ids_), reversed(digests), strict=True))  # the first report with an id wins
        known = self._ids.add(connection, occasion, first)
        if known or len(first) < len(places):
            for place, id_, digest in zip(places, ids_, digests, strict=True):
                before = known.get(id_)
                if before is not None:
                    statuses[place] = Status.DUPLICATE if before == digest else Status.CONFLICT
                else:
                    known[id_] = digest

    def add_refusals(self, connection: sa.Connection, reasons: Counter[str]) -> None:
        """Count refused reports by reason."""
        for reason, count in reasons.items():
            statement: Any = upsert(self.engine, refusals).values(reason=reason, count=count)
            added = {"count": refusals.c.count + statement.excluded["count"]}
            connection.execute(statement.on_conflict_do_update(index_elements=[refusals.c.reason], set_=added))

    def forget_digest(self, connection: sa.Connection, occasion: int, id_: bytes) -> bytes | None:
        """Forget what ties an id to its report, and return it: the digest of the report. None if there is no such id."""
        return self._ids.withdraw(connection, occasion, id_)

    # Counts -----------------------------------------------------------------------------------------------------------

    def fold(self, most: int = FOLDED, numbers: set[int] | None = None, last: int | None = None) -> int:
        """Fold the oldest batches into counts, in one transaction, and return the number of their messages.

        They have at least `most` messages together, if there are so many. With numbers of occasions, only messages to these;
        with a place, only batches up to it.
        """
        chosen = sa.select(surveys.c.survey).where(surveys.c.survey.in_(list(self._surveys)))
        if numbers is not None:
            chosen = chosen.where(surveys.c.occasion.in_(numbers))
        with self.write() as connection:
            connection.execute(sa.select(about.c.version).with_for_update())  # one process at a time
            oldest = sa.select(batches.c.place).where(batches.c.survey.in_(chosen)).order_by(batches.c.place)
            oldest = oldest if last is None else oldest.where(batches.c.place <= last)
            counts = connection.scalars(oldest.with_only_columns(NUMBER).limit(most)).all()
            enough = 1 + sum(total < most for total in accumulate(counts))
            taken = sa.delete(batches).where(batches.c.place.in_(oldest.limit(enough).scalar_subquery()))
            rows = connection.execute(taken.returning(*PARTS)).all()
            for (survey, label), part in _grouped(rows).items():
                aggregator = self._state(connection, survey, label).update(part)
                self._save(connection, survey, label, aggregator)
            of_part = (batches.c.survey == parts.c.survey) & (batches.c.label == parts.c.label)
            are_left = sa.exists().where(of_part & (batches.c.place <= parts.c.last))
            connection.execute(sa.update(parts).where((parts.c.last > 0) & ~are_left).values(last=0))
            connection.execute(sa.delete(marks).where(~sa.exists(sa.select(batches.c.place))))  # places begin again
        return sum(len(row.data) // row.size for row in rows)

    def _state(self, connection: sa.Connection, survey: int, label: str) -> Aggregator:
        where = (states.c.survey == survey) & (states.c.label == label)
        state = connection.scalar(sa.select(states.c.state).where(where))
        if state is None:
            return self._surveys[survey].survey.aggregator()
        found = load(bytes(state))
        assert isinstance(found, Aggregator)
        return found

    def _save(self, connection: sa.Connection, survey: int, label: str, aggregator: Aggregator) -> None:
        values = {"n": aggregator.n, "state": aggregator.to_bytes()}
        statement: Any = upsert(self.engine, states).values(survey=survey, label=label, **values)
        connection.execute(
            statement.on_conflict_do_update(index_elements=[states.c.survey, states.c.label], set_=values)
        )

    def counts(self, fingerprint: bytes) -> dict[str, Aggregator]:
        """Return the counted reports to a survey, by the labels of groups: folded ones and all others."""
        with self.read() as connection:
            survey = connection.scalar(sa.select(surveys.c.survey).where(surveys.c.fingerprint == fingerprint))
            if survey not in self._surveys:
                return {}
            rows = connection.execute(sa.select(states.c.label, states.c.state).where(states.c.survey == survey)).all()
            found: dict[str, Any] = {row.label: load(bytes(row.state)) for row in rows}
            pending = sa.select(*PARTS).where(batches.c.survey == survey).execution_options(yield_per=READ_BATCHES)
            for (_, label), part in _pieces(connection.execute(pending)):
                aggregator = found.get(label) or self._surveys[survey].survey.aggregator()
                found[label] = aggregator.update(part)
        return dict(sorted(found.items()))

    def summary(self) -> Summary:
        """Return the numbers of reports, of refused ones, and of messages that are not folded."""
        with self.read() as connection:
            n, pending = numbers_of_reports(connection)
            refused = connection.execute(
                sa.select(refusals.c.reason, refusals.c.count).order_by(refusals.c.reason)
            ).all()
        counted = {self._surveys[survey].fingerprint: count for survey, count in n.items() if survey in self._surveys}
        others = [one for one in self._held if n[one.number] and not one.is_served]
        return Summary(
            counted,
            sum(n.values()) - sum(counted.values()),
            pending,
            {reason: int(count) for reason, count in refused},
            {one: n[one.number] for one in others},
        )

    def touch(self) -> None:
        """Write something, and wait until it is on the disk.

        Raises
        ------
        sqlalchemy.exc.SQLAlchemyError
            If the database cannot be written.
        """
        with self.write() as connection:
            connection.execute(sa.update(about).values(version=about.c.version))

    def pending(
        self, connection: sa.Connection, chosen: Any = None
    ) -> Iterator[tuple[SurveyOccasion, str, list[bytes]]]:
        """Yield the messages of chosen batches, or of all, which are not folded, by survey and label, in pieces."""
        asked = sa.select(*PARTS).order_by(batches.c.place).execution_options(yield_per=READ_BATCHES)
        asked = asked if chosen is None else asked.where(chosen)
        for (survey, label), part in _pieces(connection.execute(asked)):
            if survey in self._surveys:
                yield self._surveys[survey], label, part

    def versions_to_fold(self) -> list[int]:
        """Return the versions that have messages to fold, and that the plan does not have."""
        with self.read() as connection:
            return self._other_versions(connection, sa.true())

    def _other_versions(self, connection: sa.Connection, chosen: Any) -> list[int]:
        """Return the versions that have messages to fold among chosen surveys, and that the plan does not have."""
        asked = sa.select(surveys.c.revision).join(batches, batches.c.survey == surveys.c.survey)
        missing = asked.where(chosen & surveys.c.survey.not_in(list(self._surveys))).distinct()
        return sorted(connection.scalars(missing))

    # Waves ------------------------------------------------------------------------------------------------------------

    @staticmethod
    def _closed(connection: sa.Connection, numbers: set[int]) -> set[int]:
        """Return which occasions are closed for good. None can be closed before the transaction ends."""
        chosen = sa.select(occasions.c.occasion, occasions.c.closed).where(occasions.c.occasion.in_(numbers))
        return {number for number, closed in connection.execute(chosen.with_for_update(read=True)) if closed}

    def closed_waves(self) -> list[SurveyOccasion]:
        """Return what of the plan is closed for good, ascending by wave or round."""
        of_plan = {one: self._numbers[one.fingerprint][0] for one in self.plan.occasions().values()}
        with self.write() as connection:
            closed = self._closed(connection, {*of_plan.values()})
        return sorted((one for one, number in of_plan.items() if number in closed), key=_order)

    def waves_to_close(self, last: int) -> dict[int, bool]:
        """Return the waves of the series up to one that are not closed for good, ascending, with False.

        The last one that is closed is among them, with True, because that can have been interrupted.
        """
        series = recipe_of(self.plan.versions[0]).series
        with self.read() as connection:
            rows = connection.execute(sa.select(occasions.c.key, occasions.c.wave).where(occasions.c.closed)).all()
        closed = {wave for key, wave in rows if wave and bytes(key) == key_of(series, wave) and wave <= last}
        newest = max(closed, default=0)
        return {wave: wave in closed for wave in range(1, last + 1) if wave not in closed or wave == newest}

    def close_waves(self, waves: Sequence[int] | None = None) -> tuple[int, int]:
        """Close waves for good, by default those of the plan: count their messages, and forget their ids.

        Reports to them are refused from then on, also by servers that run. What was interrupted is completed by another call.

        Parameters
        ----------
        waves : sequence of int, optional
            Numbers of waves of the versions of the plan, also of such that nobody has answered.

        Returns
        -------
        folded, forgotten : int
            Number of messages that were folded, and of ids.

        Raises
        ------
        ValueError
            If there are messages to a version that the plan does not have, which could not be folded. Nothing is closed then.
        """
        asked: Iterable[SurveyOccasion] = self.plan.occasions().values()
        if waves is not None:
            asked = [occasion for wave in waves for occasion in self.plan.in_wave(wave)]
        with self.write() as connection:
            numbers = {open_survey(connection, occasion)[0] for occasion in asked}
            other = self._other_versions(connection, surveys.c.occasion.in_(numbers))
            if other:
                raise ValueError(
                    f"surveys must have all versions that reports were received for, got none with version {other[0]}"
                )
            connection.execute(sa.update(occasions).where(occasions.c.occasion.in_(numbers)).values(closed=True))
        folded = 0
        while count := self.fold(numbers=numbers):
            folded += count
        for occasion, found in self.repeats(numbers):
            found.warn(title_of(occasion))
        with self.write() as connection:
            forgotten = self._ids.forget(connection, numbers)
        return folded, forgotten

    def repeats(self, numbers: set[int] | None = None) -> list[tuple[SurveyOccasion, Repeats]]:
        """Return the equal reports to occasions whose ids are stored, by default to all; it takes seconds for many reports."""
        known: defaultdict[int, list[SurveyOccasion]] = defaultdict(list)
        for fingerprint, (occasion, _) in self._numbers.items():
            if numbers is None or occasion in numbers:
                known[occasion] += [one for one in self._surveys.values() if one.fingerprint == fingerprint]
        with self.read() as connection:
            return [
                (members[-1], Repeats.of(connection, self._ids, occasion, [one.survey for one in members]))
                for occasion, members in sorted(known.items())
                if members
            ]

    def occasions(self) -> list[SurveyOccasion]:
        """Return all surveys that reports were received for, ascending by wave or round, and version.

        With a calendar, those up to the current wave, and later ones that are closed, because the clock or the calendar was
        another one.
        """
        last = self.plan.wave
        known = [occasion for _, occasion in sorted(self._surveys.items())]
        found = [one for one in known if last is None or (one.entry or 0) <= last or one.fingerprint in self.closed]
        return sorted(found, key=_order)

    def answered(self) -> list[SurveyOccasion]:
        """Return the `occasions` that have reports."""
        n = self.summary().n
        return [one for one in self.occasions() if n.get(one.fingerprint)]


@dataclass(frozen=True)
class OpenedPlan:
    """What a database has of a plan.

    Attributes
    ----------
    numbers : dict
        Numbers of the occasion and of the survey, by fingerprint.
    held : list of HeldSurvey
        Surveys of the plan, and others with reports.
    closed : frozenset of bytes
        Fingerprints of the surveys that are closed for good.
    """

    numbers: dict[bytes, tuple[int, int]]
    held: list[HeldSurvey]
    closed: frozenset[bytes]


@dataclass(frozen=True)
class Summary:
    """Numbers of reports.

    Attributes
    ----------
    n : dict
        Number of reports by the fingerprint of the survey.
    unknown : int
        Number of reports to surveys that neither the plan of the server nor the database describes.
    pending : int
        Number of messages that are not folded.
    refused : dict
        Number of refused reports by reason.
    others : dict
        Numbers of the reports to versions that the server was not started with, by survey.
    """

    n: dict[bytes, int]
    unknown: int
    pending: int
    refused: dict[str, int]
    others: dict[HeldSurvey, int]


def _order(occasion: SurveyOccasion) -> tuple[int, int]:
    """Return what occasions are sorted by: wave or round, and version."""
    return occasion.entry or 0, occasion.survey.revision


def _grouped(rows: Sequence[Any]) -> dict[tuple[int, str], list[bytes]]:
    """Return the messages of batches by survey and label."""
    found: dict[tuple[int, str], list[bytes]] = {}
    for survey, label, size, data in rows:
        part = bytes(data)
        found.setdefault((survey, label), []).extend(part[at : at + size] for at in range(0, len(part), size))
    return found


def _pieces(rows: Iterable[Any]) -> Iterator[tuple[tuple[int, str], list[bytes]]]:
    """Yield the messages of batches by survey and label, and hold about `FOLDED` of them in memory."""
    held: list[Any] = []
    count = 0
    for row in rows:
        held.append(row)
        count += len(row.data) // row.size
        if count >= FOLDED:
            yield from _grouped(held).items()
            held, count = [], 0
    yield from _grouped(held).items()
