"""The commands that open the database of a server beside it: compact, close, withdraw, export."""

from __future__ import annotations

import argparse
import json
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .._extras import optional
from .._person_keys import ID_BYTES
from ..reports import recipe_of
from ..survey import RepeatedSurvey, Survey
from ..survey._messages import message_table
from ._command_arguments import output_file, replaced
from ._survey_commands import read_survey

DATABASE = "sqlite:///reports.db"
EXPORTS = (".csv", ".parquet", ".json", ".zip", ".ldp", ".arrow")


def add_commands(commands: Any) -> None:
    """Add the commands to a parser.

    They open a database that a server has made, also while it runs.
    """
    compact = commands.add_parser("compact", help="fold the stored messages of a server into counts, and delete them")
    add_database(compact)
    compact.set_defaults(command=_compact)

    close = commands.add_parser(
        "close",
        help="close a wave or round of a server for good: count its messages, and forget the ids of its reports",
        epilog="Reports to it are refused from then on. The counts stay, and `ldpfast export` writes them.",
    )
    add_database(close)
    close.set_defaults(command=_close)

    withdraw = commands.add_parser(
        "withdraw",
        help="delete reports by their ids, while a server has not folded them into counts",
        epilog="The status is 1 if there is no such id. docs/operations.md says what can be deleted, and what cannot.",
    )
    add_database(withdraw)
    withdraw.add_argument(
        "--id", action="append", required=True, metavar="ID", help="32 hexadecimal digits; may be repeated"
    )
    withdraw.set_defaults(command=_withdraw)

    export = commands.add_parser(
        "export",
        help="write what a server has received: estimates, saved states, or messages",
        epilog="A .csv, .parquet or .json file gets the estimates of all waves, versions and groups, and a .zip file their "
        "states; of a repeated survey those of all rounds, whichever --round names. "
        "A .ldp file gets one saved state, and an .arrow file the messages that are not folded: those of --wave.",
    )
    add_database(export)
    export.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help=f"file: {', '.join(EXPORTS)}")
    export.add_argument("--group", help="label of a group; by default all people")
    export.set_defaults(command=_export)


def add_database(parser: Any, optional_survey: bool = False, survey_note: str = "", wave_note: str = "") -> None:
    """Add the arguments that say which surveys a database has, in which waves or rounds."""
    parser.add_argument(
        "surveys",
        nargs="*" if optional_survey else "+",
        type=Path,
        metavar="SURVEY",
        help=f"survey in TOML, or several versions of one; see `Survey.from_toml`{survey_note}",
    )
    parser.add_argument(
        "--database", default=DATABASE, metavar="URL", help="SQLite file or PostgreSQL (default: %(default)s)"
    )
    parser.add_argument(
        "--wave",
        type=int,
        action="append",
        help=f"number of an open wave; may be repeated, the last is the current one{wave_note}",
    )
    parser.add_argument(
        "--round",
        type=int,
        action="append",
        metavar="R",
        help="number of an open round, from 0 on, of a repeated survey, whose file has `round` and `rounds`; may be repeated, "
        "the last is the current one",
    )


def served_together(parsed: Mapping[Path, list[Survey]]) -> tuple[list[Survey], dict[str, Any]]:
    """Return the surveys of the files of one series, and what the newest declares for a server: groups, primary questions."""
    from ..survey._toml import declared_of

    newest = max(parsed, key=lambda path: parsed[path][0].revision)
    declared = declared_of(newest.read_text(encoding="utf-8"))
    return [survey for members in parsed.values() for survey in members], declared


def surveys_of_files(paths: Sequence[Path], rounds: Sequence[int] | None) -> dict[Path, list[Survey]]:
    """Return the surveys of files; of a repeated one, those of open rounds."""
    from ..survey._toml import has_rounds

    def parse(text: str) -> list[Survey]:
        if not has_rounds(text):
            if rounds:
                raise ValueError("--round must be left out for a survey without `round` and `rounds`")
            return [Survey.from_toml(text)]
        repeated = RepeatedSurvey.from_toml(text)
        if not rounds:
            raise ValueError("--round must be given for a repeated survey")
        return [repeated.in_round(number) for number in rounds]

    twice = next((path for i, path in enumerate(paths) if path in paths[:i]), None)
    if twice is not None:
        raise ValueError(f"SURVEY must be different files, got {twice} twice")
    return {path: read_survey(path, parse) for path in paths}


@contextmanager
def named_errors(url: str) -> Iterator[None]:
    """Raise errors of the database in one line."""
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield
    except SQLAlchemyError as error:
        reason = str(getattr(error, "orig", None) or error)
        raise ValueError(f"the database {_without_password(url)} cannot be used: {reason}") from None


def _without_password(url: str) -> str:
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        return make_url(url).render_as_string(hide_password=True)
    except ArgumentError:
        raise ValueError("--database must be a URL such as sqlite:///reports.db") from None


def _compact(arguments: argparse.Namespace) -> int:
    total = 0
    with named_errors(arguments.database):
        store = _store(arguments)
        while count := store.fold():
            total += count
        left = store.versions_to_fold()
        store.close()
    print(f"{total} messages were folded: {_without_password(arguments.database)}")
    if left:
        print(f"messages to other versions stay as they are: {', '.join(map(str, left))}")
    return 0


def _close(arguments: argparse.Namespace) -> int:
    with named_errors(arguments.database):
        store = _store(arguments)
        folded, forgotten = store.close_waves()
        closed = ", ".join(store.plan.titles()) or "the survey"
        store.close()
    print(f"closed {closed}: {folded} messages were folded, {forgotten} ids were forgotten")
    return 0


def _withdraw(arguments: argparse.Namespace) -> int:
    optional("sqlalchemy", "server")
    from ..server._withdrawal import Withdrawal, shorten_log, withdraw

    for text in arguments.id:
        if not re.fullmatch(f"[0-9a-fA-F]{{{2 * ID_BYTES}}}", text):
            raise ValueError(f"--id must have {2 * ID_BYTES} hexadecimal digits, got {text!r}")
    with named_errors(arguments.database):
        store = _store(arguments)
        found = [(text, withdraw(store, bytes.fromhex(text))) for text in arguments.id]
        is_short = shorten_log(store)
        store.close()
    for text, result in found:
        print(f"{text}: {result.value}")
    if not is_short:
        print("the log beside the database still has deleted bytes, until the server stops or writes it anew")
    return int(Withdrawal.UNKNOWN in {result for _, result in found})


def _export(arguments: argparse.Namespace) -> int:
    suffix = arguments.output.suffix
    if suffix not in EXPORTS:
        raise ValueError(f"--output must end in {', '.join(EXPORTS)}, got {str(arguments.output)!r}")
    output_file("--output", arguments.output, arguments.surveys)
    with named_errors(arguments.database):
        if suffix in (".ldp", ".arrow"):
            return _write_export(arguments, _store(arguments))
        if arguments.wave or arguments.group:
            raise ValueError(f"--wave and --group must be left out for {suffix}, which gets all of them")
        return _write_everything(arguments, _store(arguments, is_for_all=True))


def _write_everything(arguments: argparse.Namespace, store: Any) -> int:
    """Write the estimates, or the states, of all waves, versions and groups."""
    from ..server._exports import exported_table, write_states
    from ..server._results import arrow_table, csv_of, json_rows

    suffix = arguments.output.suffix
    with replaced(arguments.output, arguments.surveys) as temporary:
        if suffix == ".zip":
            with temporary.open("wb") as file:
                shown = f"{write_states(store, file)} states"
        else:
            columns, texts = exported_table(store)
            shown = f"{len(columns['n'])} rows"
            if suffix == ".csv":
                temporary.write_text(csv_of(columns, texts), encoding="utf-8", newline="")
            elif suffix == ".json":
                rows = json.dumps(json_rows(columns), ensure_ascii=False, indent=1)
                temporary.write_text(f"{rows}\n", encoding="utf-8")
            else:
                optional("pyarrow.parquet", "files").write_table(arrow_table(columns), temporary)
    store.close()
    print(f"{shown}: {arguments.output}")
    return 0


def _write_export(arguments: argparse.Namespace, store: Any) -> int:
    from ..server._exports import exported_state
    from ..server._server_plan import SurveyOccasion

    occasion, note = SurveyOccasion.of(store.plan.current), ""
    with replaced(arguments.output, arguments.surveys) as temporary:
        if arguments.output.suffix == ".ldp":
            aggregator = exported_state(store, occasion, arguments.group)
            temporary.write_bytes(aggregator.to_bytes())
            n = aggregator.n
        else:
            n = _write_messages(store, occasion, arguments.group, temporary)
            note = "; saved states of the server count them, too: give the whole table to `update`, which then refuses them"
    store.close()
    print(f"n = {n}: {arguments.output}{note}")
    return 0


def _write_messages(store: Any, occasion: Any, group: str | None, path: Path) -> int:
    """Write the messages to a survey that are not folded, in random order and without ids, and return their number."""
    pa = optional("pyarrow", "files")
    from ..server._exports import exported_messages

    if group is not None and group not in store.plan.groups:
        raise ValueError(f"--group must be one of {', '.join(map(repr, store.plan.groups))}, got {group!r}")
    listed, names = exported_messages(store, occasion, group)
    secrets.SystemRandom().shuffle(listed)
    labels = [name for _, name in listed] if store.plan.groups else None
    table = message_table(recipe_of(occasion.survey), [message for message, _ in listed], labels, names)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    return len(listed)


def _store(arguments: argparse.Namespace, is_for_all: bool = False) -> Any:
    """Return the store of a database that exists; for all waves, with a plan of the last one."""
    optional("sqlalchemy", "server")
    from ..server._exports import newest_wave
    from ..server._server_plan import ServerPlan
    from ..server._store import Store

    surveys, declared = served_together(surveys_of_files(arguments.surveys, arguments.round))
    waves = arguments.wave
    if is_for_all and surveys[0].waves is not None:
        waves = [newest_wave(arguments.database, surveys)]
    elif surveys[0].waves is not None and not waves:
        raise ValueError(f"--wave must be given for a survey with {surveys[0].waves} waves")
    return Store(ServerPlan.of(surveys, waves, declared["groups"]), arguments.database, is_new=False)
