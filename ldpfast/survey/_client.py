"""The side of the people who answer a survey."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.stream import Stream
from .._core.survey import Column
from .._person_keys import PersonKeys
from ._client_table import check_optional
from ._persons import person_answers

if TYPE_CHECKING:
    from ._survey import Survey


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

    def __init__(self, survey: Survey, secret: bytes | None, person: int | str | bytes | None) -> None:
        if (secret is None) != (person is None):
            raise ValueError("secret and person must be given together")
        self._survey = survey
        self._keys = None if person is None or secret is None else PersonKeys(secret, [person])
        check_optional(survey._layout.declared)
        self._sizes = survey._layout.sizes

    def answer(self, record: Mapping[str, Any]) -> bytes:
        """Return the report of the person.

        Parameters
        ----------
        record : mapping
            Values by the names of the columns of the questions. Other entries are ignored.

        Returns
        -------
        message : bytes
            Version, fingerprint of the survey, and the reports with the numbers of their questions.
            `Aggregator.update` takes a list of messages.

        Raises
        ------
        TypeError, KeyError
            If `record` is not a mapping, or is not empty and has none of the columns.

        Privacy
        -------
        `Survey.guarantee` for each call. A second call is a second report, and the losses add up, unless the client has a
        secret: then the same record gives the same message.
        """
        if not isinstance(record, Mapping):
            raise TypeError(f"record must be a mapping, got {type(record).__name__}")
        survey = self._survey
        if record and not any(
            (question.column or name) in record for name, question in survey._layout.declared.items()
        ):
            names = ", ".join(repr(question.column or name) for name, question in survey._layout.declared.items())
            raise KeyError(f"record must have at least one of the columns {names}")
        questions = [(name, survey._layout.declared[name]) for name in survey._layout.columns]
        columns = [question.read_cell(record.get(question.column or name)) for name, question in questions]
        if self._keys is not None:
            found, answered = person_answers(survey, self._keys, self._keys.persons(1), columns)
            return survey._layout.head + b"".join(
                q.to_bytes(2, "little") + found[q].tobytes() for q in np.flatnonzero(answered[0]).tolist()
            )
        return self._message(Stream(), columns)

    def _message(self, stream: Stream, columns: list[Column]) -> bytes:
        """Return the message of the person who is the first of a stream."""
        reports = [np.zeros(size, np.uint8) for size in self._sizes]
        asked = [np.zeros(1, np.uint8) for _ in self._sizes]
        self._survey._layout.kernel.privatize(stream, 0, columns, 0, 1, True, reports, asked)
        parts = [
            q.to_bytes(2, "little") + report.tobytes()
            for q, (report, flag) in enumerate(zip(reports, asked, strict=True))
            if flag[0]
        ]
        return self._survey._layout.head + b"".join(parts)
