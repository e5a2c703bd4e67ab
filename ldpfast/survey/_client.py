"""The side of the people who answer a survey."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._core.stream import Stream
from .._core.survey import Column
from .._person_keys import ID_BYTES, PersonKeys
from ._client_table import check_optional, checked_fingerprints, client_table, fingerprint_of
from ._layout import SurveyLayout
from ._ledger import Ledger, Parts
from ._persons import person_answers


class Report(NamedTuple):
    """The report of a person, as a client sends it to a server.

    Attributes
    ----------
    id : bytes
        16 bytes by which the server finds out that the report was sent again.
    message : bytes
        Message of `SurveyClient.answer`.

    Examples
    --------
    >>> from ldpfast.survey import Survey, YesNo
    >>> Survey({"smoker": YesNo(optional=True)}, 1.0).client().report({"smoker": True})._fields
    ('id', 'message')
    """

    id: bytes
    message: bytes


ALONE = b""  # identifier of the only person of a ledger


class SurveyClient:
    """The device of one person: turns a record into a message. `Survey.client` makes one. docs/clients.md has others.

    It never raises because of a value, for an error that depends on a record would itself be a report. Numbers out of range
    count as the nearest end; what is missing or unknown counts as "no answer".

    Examples
    --------
    >>> from ldpfast.survey import Survey, YesNo
    >>> survey = Survey({"smoker": YesNo(optional=True)}, 1.0)
    >>> message = survey.client().answer({"smoker": True})
    >>> survey.aggregator().update([message]).n
    1
    """

    def __init__(
        self,
        asked_in: Callable[[int | None], SurveyLayout],
        secret: bytes | None,
        person: int | str | bytes | None,
        ledger: Ledger | None = None,
        fingerprint: str | Sequence[str] | None = None,
    ) -> None:
        asked = asked_in(None)
        if (secret is None) != (person is None):
            raise ValueError("secret and person must be given together")
        if ledger is not None and not isinstance(ledger, Ledger):
            raise TypeError(f"ledger must be a Ledger, got {type(ledger).__name__}")
        if ledger is not None and secret is not None:
            raise ValueError("secret and person must be left out with a ledger, which has a secret of its own")
        if secret is None and ledger is None:
            if asked.series.panel is not None:
                raise ValueError(
                    "secret and person, or a ledger, must be given for a survey with waves: they decide the turns"
                )
            if asked.series.rounds is not None:
                raise ValueError(
                    "secret and person, or a ledger, must be given for a round of a survey: permanent answers depend on them"
                )
        check_optional(asked.declared)
        self._asked_in, self._ledger = asked_in, ledger  # a recipe cannot be pickled, a survey can
        self._expected = None if fingerprint is None else checked_fingerprints(fingerprint)
        self._expected_waves: set[int | None] = set()  # whose tables were compared
        if asked.series.panel is None or asked.series.wave is not None:
            self._require_expected(asked)
        self._keys = None if person is None or secret is None else PersonKeys(secret, [person])
        if ledger is not None:
            self._secret = ledger.secret(asked)
            self._keys = PersonKeys(self._secret, [ALONE])

    @property
    def _asked(self) -> SurveyLayout:
        """The survey that the client was made of."""
        return self._asked_in(None)

    def is_turn(self, wave: int | None = None) -> bool:
        """Return whether the person answers in a wave. It does not depend on any answer.

        Parameters
        ----------
        wave : int, optional
            Number of the wave; left out for a survey of one wave, or without waves.

        Raises
        ------
        TypeError, ValueError
            If the survey has no such wave.
        """
        series = self._asked.series
        panel = series.panel
        if panel is None or series.wave is not None or wave is None:
            return self._has_turn(self._in_wave(wave))
        place = panel.place(panel.checked(wave))  # turns are those of the series: the survey of the wave is not needed
        assert self._keys is not None
        return bool(series.turns(self._keys, self._keys.persons(1))[0, place])

    def _has_turn(self, asked: SurveyLayout) -> bool:
        """Return whether the person answers a survey."""
        if self._keys is None:
            return True
        chosen = asked.series.in_turn(self._keys, self._keys.persons(1))
        return chosen is None or len(chosen) == 1

    def _in_wave(self, wave: int | None) -> SurveyLayout:
        """Return what is asked in a wave."""
        asked, panel = self._asked, self._asked.series.panel
        if panel is None:
            if wave is not None:
                raise ValueError(f"wave must be left out for a survey without waves, got {wave!r}")
            return asked
        own = asked.series.wave
        if own is None:
            if wave is None:
                raise ValueError(f"wave must be given for a survey with {panel.waves} waves")
            return self._require_expected(self._asked_in(wave))
        if wave not in (None, own):
            raise ValueError(f"wave must be {own}, that of the survey, got {wave!r}")
        return asked

    def _require_expected(self, asked: SurveyLayout) -> SurveyLayout:
        """Return a survey whose table is one of those that are expected.

        Raises
        ------
        ValueError
            If it is another one.
        """
        wave = asked.series.wave
        if self._expected is None or wave in self._expected_waves:
            return asked
        found = fingerprint_of(client_table(asked))
        if found not in self._expected:
            name = "survey" if wave is None else f"wave {wave}"
            expected = " or ".join(sorted(self._expected))
            raise ValueError(f"{name} must have a table with the fingerprint {expected}, got {found}")
        self._expected_waves.add(wave)
        return asked

    def answer(self, record: Mapping[str, Any], *, wave: int | None = None) -> bytes:
        """Return the report of the person.

        Parameters
        ----------
        record : mapping
            Values by the names of the columns of the questions. Other entries are ignored.
        wave : int, optional
            Number of the wave; left out for a survey of one wave, or without waves.

        Returns
        -------
        message : bytes
            Version, fingerprint of the survey, and the reports with the numbers of their questions.
            `Aggregator.update` takes a list of messages.

        Raises
        ------
        TypeError, KeyError
            If `record` is not a mapping, or is not empty and has none of the columns.
        ValueError
            If there is no such wave, or it is not the person's turn; if the ledger does not allow another answer; if the table
            of the wave has another fingerprint than the client expects.

        Privacy
        -------
        `Survey.guarantee` for each call. A second call is a second report, and the losses add up, unless the client has a
        secret: then the same record gives the same message. With a ledger, the second call returns the first message. In a
        survey with waves, a person always answers when it is their turn, at a time that does not depend on the record.
        """
        if not isinstance(record, Mapping):
            raise TypeError(f"record must be a mapping, got {type(record).__name__}")
        asked = self._in_wave(wave)
        if not self._has_turn(asked):
            raise ValueError(f"wave must be a turn of the person, got {asked.series.wave}: see is_turn")
        sources = {name: column.column or name for name, column in asked.declared.items()}
        if record and not any(source in record for source in sources.values()):
            names = ", ".join(map(repr, sources.values()))
            raise KeyError(f"record must have at least one of the columns {names}")
        cells = [asked.declared[name].read_cell(record.get(sources[name])) for name in asked.columns]
        if self._ledger is not None:
            return message(asked, self._ledger.answer(asked, self._secret, lambda: self._reports(asked, cells)))
        return message(asked, self._reports(asked, cells))

    def report(self, record: Mapping[str, Any], *, wave: int | None = None) -> Report:
        """Return the report of the person with an id, by which a server finds out that it was sent again.

        Parameters
        ----------
        record, wave
            As for `answer`.

        Returns
        -------
        report : Report
            Message and id, which has 16 bytes. Without a secret or a ledger, the id is random: keep the report until the server
            has confirmed it, and send the same one again. With them, the same person has the same id in one wave or round, or
            for one survey without them; it does not depend on the record.

        Raises
        ------
        TypeError, KeyError, ValueError
            As for `answer`.

        Privacy
        -------
        As for `answer`. The id says nothing about the record, and ids of different waves cannot be linked without the secret.

        Examples
        --------
        >>> from ldpfast.survey import Survey, YesNo
        >>> report = Survey({"smoker": YesNo(optional=True)}, 1.0).client().report({"smoker": True})
        >>> len(report.id), len(report.message)
        (16, 12)
        """
        found = self.answer(record, wave=wave)
        if self._keys is None:
            return Report(secrets.token_bytes(ID_BYTES), found)
        series = self._in_wave(wave).series
        occasion = found[1:9] if series.entry is None else series.entry.to_bytes(8, "little")
        ids = self._keys.report_ids(series.promise, occasion, self._keys.persons(1))
        return Report(ids[0].tobytes(), found)

    def _reports(self, asked: SurveyLayout, cells: list[Column]) -> Parts:
        """Return the reports of the person, with the numbers of their questions."""
        if self._keys is None:
            return first_of(Stream(), asked, cells)
        found, answered = person_answers(asked, self._keys, self._keys.persons(1), cells)
        return [(q, found[q].tobytes()) for q in np.flatnonzero(answered[0]).tolist()]


def first_of(stream: Stream, layout: SurveyLayout, cells: list[Column]) -> Parts:
    """Return the reports of the person who is the first of a stream."""
    reports = [np.zeros(size, np.uint8) for size in layout.sizes]
    flags = [np.zeros(1, np.uint8) for _ in layout.sizes]
    layout.kernel.privatize(stream, 0, cells, 0, 1, True, reports, flags)
    return [(q, report.tobytes()) for q, (report, flag) in enumerate(zip(reports, flags, strict=True)) if flag[0]]


def message(layout: SurveyLayout, reports: Parts) -> bytes:
    """Return the message with some reports."""
    return layout.head + b"".join(q.to_bytes(2, "little") + report for q, report in reports)
