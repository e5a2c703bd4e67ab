"""What one person has answered, kept on the device of the person."""

from __future__ import annotations

import json
import os
import secrets
import threading
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .. import _coins
from .._durable_file import locked_folder, replace_text
from .._schema import read_json
from ._layout import SurveyLayout

VERSION = 1
ENTRY = "ldpfast"  # of a mapping

_LOCK = threading.RLock()  # so that two threads do not both find that nothing was answered

_inside: list[Ledger] = []  # at most one, which is read or written

Parts = list[tuple[int, bytes]]  # numbers of questions, and the reports


class Ledger:
    """What one person has answered in a series of surveys, kept on the device of the person.

    A client with a ledger draws the person's turns once, sends the same bytes again if it is asked again, and refuses what
    would exceed the promise of the series.

    Parameters
    ----------
    store : str, Path or mutable mapping of str to str
        A file, which is made if it does not exist; or a mapping that keeps texts, such as the storage of an app, whose entry
        "ldpfast" is used.

    Attributes
    ----------
    loss : float
        Loss of the person so far, as an epsilon of differential privacy.

    Raises
    ------
    TypeError
        If `store` is neither.

    Notes
    -----
    The file is replaced at once, after its content has reached the disk, and before a message is returned: a crash loses no
    answer that was sent. It holds a secret of the person and is only readable for its owner. Processes wait for each other by
    a lock on the folder; on Windows they must not use one file at the same time. A ledger does not notice if it is put back to
    an older content, for instance from a backup: the person can then answer once more. Two devices with ledgers of their own,
    and an app that is installed again, are two persons.

    Privacy
    -------
    An answer to a question is made once in each wave, from the record of that time; another call sends the stored report,
    whatever the record is then. Only stored reports add to the loss.

    Examples
    --------
    >>> from ldpfast.survey import Ledger, Survey, YesNo
    >>> survey = Survey({"smokes": YesNo(optional=True)}, 1.0, series="health", waves=2)
    >>> ledger = Ledger({})
    >>> client = survey.client(ledger=ledger)
    >>> wave = 1 if client.is_turn(1) else 2
    >>> first = client.answer({"smokes": True}, wave=wave)
    >>> client.answer({"smokes": False}, wave=wave) == first, ledger.loss <= 1.0
    (True, True)
    """

    def __init__(self, store: Any) -> None:
        if not isinstance(store, str | os.PathLike | MutableMapping):
            raise TypeError(f"store must be the name of a file or a mutable mapping, got {type(store).__name__}")
        self._store: Path | MutableMapping[str, str] = (
            store
            if isinstance(store, MutableMapping)
            else Path(os.path.realpath(store))  # a link must not become a second ledger
        )

    @property
    def loss(self) -> float:
        """Upper bound of the loss of the person so far, as an epsilon of differential privacy."""
        return _loss(self._read())

    def secret(self, survey: SurveyLayout) -> bytes:
        """Return the secret of the person for the series of a survey. The first call draws it.

        Raises
        ------
        ValueError
            If the ledger belongs to another series, or is damaged.
        """
        with self._alone():
            data = self._read()
            if not data:
                series = survey.series.promise.hex()
                data = {"ldpfast_ledger": VERSION, "series": series, "secret": secrets.token_hex(32), "answers": []}
                self._write(data)
            return bytes.fromhex(_of_series(data, survey)["secret"])

    def answer(self, survey: SurveyLayout, secret: bytes, make: Callable[[], Parts]) -> Parts:
        """Return the reports of the person, after they are stored.

        Parameters
        ----------
        survey : SurveyLayout
            That of a wave, if there are waves.
        secret : bytes
            Secret that the client was made with.
        make : callable
            Returns the reports.

        Raises
        ------
        ValueError
            If another version was answered in this wave; if the loss would exceed the promise of the series; if the ledger
            was replaced since the client was made.
        """
        with self._alone():
            data, label = _of_series(self._read(), survey), survey.label.fingerprint
            if bytes.fromhex(data["secret"]) != secret:
                raise ValueError("store must hold the ledger that the client was made with, got another one")
            entry, most = survey.series.entry, survey.series.max_reports
            # A repeated request gets the stored reports. Otherwise questions that were answered before keep their old reports,
            # which cost nothing, and only the others are new losses. The file is written before anything is returned.
            same = [answer for answer in data["answers"] if answer["wave"] == entry]
            for answer in same:
                if answer["survey"] == label:
                    return [(q, bytes.fromhex(report)) for q, report, *_ in answer["reports"]]
            if same and entry is not None:
                raise ValueError(
                    f"the survey must be the version that was answered in {_named(survey)}, got another one"
                )
            layout = survey
            stored = {
                (name, description): report for answer in same for _, report, name, description, _ in answer["reports"]
            }
            reports = []
            for q, made in make():
                name, description = layout.names[q], layout.descriptions[q].hex()
                loss = 0.0 if (name, description) in stored else layout.loss_of_report(q)
                reports.append([q, stored.get((name, description), made.hex()), name, description, loss])
            asked = {(name, description) for _, _, name, description, _ in reports}
            before = {(name, described) for answer in data["answers"] for _, _, name, described, _ in answer["reports"]}
            if survey.series.rounds is not None and before and not asked <= before:
                raise ValueError(
                    "the survey must ask a person in all rounds the same, got a question that is new or was revised: its "
                    "permanent answer would be a new loss"
                )
            data["answers"].append({"wave": entry, "survey": label, "reports": reports})
            made_new = sum(loss > 0 for answer in data["answers"] for *_, loss in answer["reports"])
            if most is not None and made_new > most * survey.answers:
                raise ValueError(
                    f"a person must send at most {most * survey.answers} reports to the series, for which its loss is stated, "
                    f"got {made_new} with this answer"
                )
            self._write(data)
            return [(q, bytes.fromhex(report)) for q, report, *_ in reports]

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep other threads, and for a file other processes, from reading and writing."""
        with _LOCK:
            if _inside:
                raise RuntimeError("a ledger must not be used by a signal handler that interrupts its use")
            _inside.append(self)
            try:
                if isinstance(self._store, Path):
                    with locked_folder(self._store.parent):
                        yield
                else:
                    yield
            finally:
                _inside.pop()

    def _read(self) -> dict[str, Any]:
        """Return the content; empty if there is none yet.

        Raises
        ------
        ValueError
            If it is damaged.
        """
        try:
            if isinstance(self._store, Path):
                text: Any = self._store.read_text(encoding="utf-8") if self._store.exists() else None
            else:
                text = self._store.get(ENTRY)
            if text is None:
                return {}
            data: Any = read_json(text.encode())
            if _is_ledger(data):
                return dict(data)
        except (AttributeError, LookupError, TypeError, ValueError):
            pass
        raise ValueError("store must hold a ledger of this version, got something else, or one that is damaged")

    def _write(self, data: dict[str, Any]) -> None:
        """Replace the content; that of a file at once, after it has reached the disk."""
        text = json.dumps(data)
        if isinstance(self._store, Path):
            replace_text(self._store, text)
        else:
            self._store[ENTRY] = text

    def __repr__(self) -> str:
        place = repr(str(self._store)) if isinstance(self._store, Path) else "<mapping>"
        return f"Ledger({place})"

    def __reduce__(self) -> Any:
        raise TypeError("a ledger belongs to one device and cannot be pickled or copied")


def _of_series(data: dict[str, Any], survey: SurveyLayout) -> dict[str, Any]:
    """Return the content of a ledger, after a check that it is there and belongs to the series of a survey."""
    if not data:
        raise ValueError("store must hold the ledger that the client was made with, got none")
    if data["series"] != survey.series.promise.hex():
        raise ValueError(f"ledger must belong to the series {survey.series.name!r}, got one of another series")
    return data


def _named(survey: SurveyLayout) -> str:
    """Return the name of the wave or round of a survey."""
    rounds = survey.series.rounds
    return f"wave {survey.series.wave}" if rounds is None else f"round {rounds.number}"


def _is_ledger(data: Any) -> bool:
    """Return whether data are the content of a ledger; raise one of several errors if their parts have other types."""
    answers = [*data["answers"]]
    reports = [report for answer in answers for report in answer["reports"]]
    return (
        data["ldpfast_ledger"] == VERSION
        and len(bytes.fromhex(data["secret"])) == len(bytes.fromhex(data["series"])) == 32
        and all(len(bytes.fromhex(answer["survey"])) == 8 for answer in answers)
        and all(answer["wave"] is None or int(answer["wave"]) > 0 for answer in answers)
        and all(bytes.fromhex(report) and int(q) >= 0 and str(name) for q, report, name, _, _ in reports)
        and all(len(bytes.fromhex(description)) == 32 and float(loss) >= 0 for *_, description, loss in reports)
    )


def _loss(data: dict[str, Any]) -> float:
    """Return the sum of the losses of all reports, rounded up."""
    losses = [float(loss) for answer in data.get("answers", []) for *_, loss in answer["reports"]]
    return float(_coins.sum_up(losses)) if losses else 0.0
