"""The commands of the server: serve, compact, close, export."""

from __future__ import annotations

import argparse
import json
import logging
import os
import re
import secrets
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .._extras import optional
from .._person_keys import ID_BYTES, PersonKeys
from ..reports import recipe_of
from ..survey import Choice, Mean, RepeatedSurvey, Survey, YesNo
from ..survey._messages import message_table
from ._command_arguments import output_file, replaced
from ._survey_commands import read_survey

DATABASE = "sqlite:///reports.db"
TOKENS = "ldpfast-tokens"
SEVERAL_DATABASES, NAME = "sqlite:///reports-{name}.db", "{name}"
EXPORTS = (".csv", ".parquet", ".json", ".zip", ".ldp", ".arrow")
DEMO_PEOPLE = 6000
DEMO_WAVES = [1, 2, 3]
CONNECTIONS, FEWEST_CONNECTIONS = 2000, 16  # at once, and where the system allows few open files
OTHER_FILES = 200  # that the process has open besides connections


def add_commands(commands: Any) -> None:
    """Add the commands to a parser.

    All commands open a database; only `serve` listens to the network.
    """
    serve = commands.add_parser(
        "serve",
        help="receive reports from clients over HTTP, and show estimates",
        epilog="The server speaks HTTP without encryption: put a reverse proxy with TLS before it. It logs no addresses and no "
        "requests. docs/server.md has the calls.",
    )
    _add_database(
        serve,
        optional_survey=True,
        survey_note=". Files of several series are served under their names: a.toml under /a/, from the database reports-a.db, "
        "or {name} in --database",
        wave_note="; left out for a survey with a calendar",
    )
    serve.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    serve.add_argument("--port", type=int, default=8000, help="port (default: %(default)s; 0 is any that is free)")
    serve.add_argument(
        "--socket", type=Path, metavar="FILE", help="Unix socket in the place of a port; then reading needs no token"
    )
    serve.add_argument(
        "--token-file",
        type=Path,
        metavar="FILE",
        help=f"file with lines `read TOKEN` and `write TOKEN`; without write tokens everybody may send reports "
        f"(default: {TOKENS} in the working directory, which is made)",
    )
    serve.add_argument(
        "--origin", action="append", default=[], help="origin of a web page that may send reports; may be repeated"
    )
    serve.add_argument(
        "--allowed-host",
        action="append",
        default=[],
        metavar="HOST",
        help="name of the server in requests; may be repeated",
    )
    serve.add_argument(
        "--keep-messages", action="store_true", help="do not fold messages into counts; see `ldpfast compact`"
    )
    serve.add_argument(
        "--fold-after",
        metavar="TIME",
        help="keep messages for a time such as '30 days' before they are folded into counts and deleted (default: seconds)",
    )
    serve.add_argument("--check", action="store_true", help="check all arguments and the database, and end")
    serve.add_argument(
        "--demo", action="store_true", help="serve a survey of simulated people from a temporary database"
    )
    serve.set_defaults(command=_serve)

    compact = commands.add_parser("compact", help="fold the stored messages of a server into counts, and delete them")
    _add_database(compact)
    compact.set_defaults(command=_compact)

    close = commands.add_parser(
        "close",
        help="close a wave or round of a server for good: count its messages, and forget the ids of its reports",
        epilog="Reports to it are refused from then on. The counts stay, and `ldpfast export` writes them.",
    )
    _add_database(close)
    close.set_defaults(command=_close)

    withdraw = commands.add_parser(
        "withdraw",
        help="delete reports by their ids, while a server has not folded them into counts",
        epilog="The status is 1 if there is no such id. docs/operations.md says what can be deleted, and what cannot.",
    )
    _add_database(withdraw)
    withdraw.add_argument(
        "--id", action="append", required=True, metavar="ID", help="32 hexadecimal digits; may be repeated"
    )
    withdraw.set_defaults(command=_withdraw)

    export = commands.add_parser(
        "export",
        help="write what a server has received: estimates, saved states, or messages",
        epilog="A .csv, .parquet or .json file gets the estimates of all waves, versions and groups, and a .zip file their "
        "states. A .ldp file gets one saved state, and an .arrow file the messages that are not folded: those of --wave.",
    )
    _add_database(export)
    export.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help=f"file: {', '.join(EXPORTS)}")
    export.add_argument("--group", help="label of a group; by default all people")
    export.set_defaults(command=_export)


def _add_database(parser: Any, optional_survey: bool = False, survey_note: str = "", wave_note: str = "") -> None:
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


def _read_surveys(paths: Sequence[Path], rounds: Sequence[int] | None) -> tuple[list[Survey], dict[str, Any]]:
    """Return the surveys of files, those of repeated surveys in open rounds, and what the newest declares for a server."""
    return _together(_parsed(paths, rounds))


def _together(parsed: Mapping[Path, list[Survey]]) -> tuple[list[Survey], dict[str, Any]]:
    """Return the surveys of the files of one series, and what the newest declares for a server: groups, primary questions."""
    from ..survey._toml import declared_of

    newest = max(parsed, key=lambda path: parsed[path][0].revision)
    declared = declared_of(newest.read_text(encoding="utf-8"))
    return [survey for members in parsed.values() for survey in members], declared


def _parsed(paths: Sequence[Path], rounds: Sequence[int] | None) -> dict[Path, list[Survey]]:
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


class _Study(NamedTuple):
    """The versions of a survey that are served together: alone, or under the path of a name."""

    name: str
    surveys: list[Survey]
    declared: dict[str, Any]
    waves: list[int] | None
    url: str


def _studies(arguments: argparse.Namespace) -> list[_Study]:
    """Return what is to be served: one study, or one for each name of a series, with a database of its own."""
    series: dict[str | None, dict[Path, list[Survey]]] = {}
    for path, members in _parsed(arguments.surveys, arguments.round).items():
        series.setdefault(members[0].series, {})[path] = members
    if len(series) == 1 or None in series:  # surveys without a name are versions of one, which the server checks
        surveys, declared = _together({path: own for parsed in series.values() for path, own in parsed.items()})
        return [_Study("", surveys, declared, arguments.wave, arguments.database)]
    if arguments.wave or arguments.round:
        raise ValueError(
            "--wave and --round must be left out for several series: give waves a calendar, and serve rounds alone"
        )
    template = SEVERAL_DATABASES if arguments.database == DATABASE else arguments.database
    if NAME not in template:
        raise ValueError(f"--database must contain {NAME} for several series, such as {SEVERAL_DATABASES}")
    found: dict[str, _Study] = {}
    for parsed in series.values():
        name = next(iter(parsed)).stem
        known = {"health", *map(str.lower, found)}  # files such as a.db and A.db can be one
        if not re.fullmatch(r"[A-Za-z0-9_-]+", name) or name.lower() in known:
            raise ValueError(
                f"files of several series must have different names of letters, digits, - and _, got {name!r}"
            )
        found[name] = _Study(name, *_together(parsed), None, template.replace(NAME, name))
    return list(found.values())


def _serve(arguments: argparse.Namespace) -> int:
    uvicorn = optional("uvicorn", "server")
    optional("sqlalchemy", "server")
    from ..server._access import Tokens
    from ..server._app import LOCAL, create_app
    from ..server._mounted import mounted

    # What must be undone is on a stack: the folder of the demonstration, the file of the socket, and the handler of SIGHUP.
    with ExitStack() as stack:
        stack.enter_context(_named_errors(arguments.database))
        if arguments.demo:
            if arguments.surveys:
                raise ValueError("SURVEY must be left out with --demo")
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            token_file = folder / TOKENS
            url = f"sqlite:///{folder}/reports.db"
            studies = [_Study("", [_demo_survey()], {"groups": ["north", "south"]}, DEMO_WAVES, url)]
        else:
            if not arguments.surveys:
                raise ValueError("SURVEY must be given")
            if arguments.keep_messages and arguments.fold_after is not None:
                raise ValueError("--keep-messages must be left out with --fold-after")
            studies, token_file = _studies(arguments), arguments.token_file or Path(TOKENS)
        is_new = not token_file.exists()
        tokens = Tokens.from_file(token_file)
        apps: dict[str, Any] = {}
        for study in studies:
            with _named_study(study):
                apps[study.name] = create_app(
                    study.surveys,
                    study.url,
                    waves=study.waves,
                    **study.declared,
                    tokens=tokens,
                    reads_need_token=arguments.socket is None,
                    origins=arguments.origin,
                    hosts=[*LOCAL, arguments.host, *arguments.allowed_host],
                    folds=not arguments.keep_messages,
                    fold_after=arguments.fold_after,
                )
        if arguments.demo:
            _fill(apps[""], studies[0].surveys[0], DEMO_WAVES)
            print(f"token for reading: {tokens.read[0]}", flush=True)
        elif is_new:
            print(f"a token for reading was written to {token_file}", flush=True)
        for study in studies:
            place = f" under /{study.name}/" if study.name else ""
            if arguments.check or place:
                print(f"ready to serve{place}{_current_wave(apps[study.name].state.store.plan)}", flush=True)
        if arguments.check:
            return 0
        config = uvicorn.Config(
            apps.get("") or mounted(apps),
            host=arguments.host,
            port=arguments.port,
            access_log=False,
            ws="none",  # requests for web sockets would be logged with their addresses
            log_level="info",
            server_header=False,
            proxy_headers=False,
            limit_concurrency=_max_connections(),
            backlog=4096,
            timeout_keep_alive=15,
            timeout_graceful_shutdown=20,
            h11_max_incomplete_event_size=1 << 14,
        )
        sockets = None
        if arguments.socket is not None:
            sockets = [_private_socket(arguments.socket)]
            stack.callback(arguments.socket.unlink, missing_ok=True)
        stack.enter_context(_reloading(list(apps.values()), token_file))
        uvicorn.Server(config).run(sockets=sockets)
    return 0


def _current_wave(plan: Any) -> str:
    """Return which wave of a calendar is open, or is the nearest."""
    from ..survey._calendar import moment_text

    if plan.calendar is None:
        return ""
    opens, closes = (moment_text(moment(plan.wave)) for moment in (plan.calendar.opens, plan.calendar.closes))
    return f": wave {plan.wave} opens at {opens} and closes at {closes}"


@contextmanager
def _reloading(apps: Sequence[Any], token_file: Path) -> Iterator[None]:
    """Read the tokens again at SIGHUP, as servers do, also under nohup. If they cannot be read, those from before stay."""
    if not hasattr(signal, "SIGHUP") or threading.current_thread() is not threading.main_thread():
        yield
        return
    from ..server._access import Tokens

    log = logging.getLogger("uvicorn.error")

    def reload(*_: Any) -> None:
        try:
            tokens = Tokens.read_file(token_file)
        except (OSError, ValueError) as error:
            log.error("the tokens stay as they were: %s", error)
        else:
            for app in apps:
                app.state.tokens = tokens
            log.info("the tokens were read again")

    before = signal.signal(signal.SIGHUP, reload)
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, before)


def _max_connections() -> int:
    """Raise the limit of open files if necessary, and return the largest number of connections."""
    if sys.platform == "win32":  # no limit
        return CONNECTIONS
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)  # many systems allow 1,024 unless a process asks for more
    needed = CONNECTIONS + OTHER_FILES
    allowed = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    if soft != resource.RLIM_INFINITY and soft < allowed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    return max(FEWEST_CONNECTIONS, allowed - OTHER_FILES)


def _private_socket(path: Path) -> socket.socket:
    """Return a Unix socket that only this user can open, in the place of an older one."""
    if path.is_socket():
        path.unlink()
    found = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        found.bind(str(path))
    finally:
        os.umask(before)
    return found


@contextmanager
def _named_errors(url: str) -> Iterator[None]:
    """Raise errors of the database in one line."""
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield
    except SQLAlchemyError as error:
        reason = str(getattr(error, "orig", None) or error)
        raise ValueError(f"the database {_without_password(url)} cannot be used: {reason}") from None


@contextmanager
def _named_study(study: _Study) -> Iterator[None]:
    """Raise errors of one of several studies with its name, and those of its database."""
    try:
        with _named_errors(study.url):
            yield
    except ValueError as error:
        raise ValueError(f"{study.name}: {error}" if study.name else str(error)) from None


def _without_password(url: str) -> str:
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        return make_url(url).render_as_string(hide_password=True)
    except ArgumentError:
        raise ValueError("--database must be a URL such as sqlite:///reports.db") from None


def _compact(arguments: argparse.Namespace) -> int:
    total = 0
    with _named_errors(arguments.database):
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
    with _named_errors(arguments.database):
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
    with _named_errors(arguments.database):
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
    with _named_errors(arguments.database):
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

    surveys, declared = _read_surveys(arguments.surveys, arguments.round)
    waves = arguments.wave
    if is_for_all and surveys[0].waves is not None:
        waves = [newest_wave(arguments.database, surveys)]
    return Store(ServerPlan.of(surveys, waves, declared["groups"]), arguments.database, is_new=False)


# The demo -------------------------------------------------------------------------------------------------------------


def _demo_survey() -> Survey:
    questions = {
        "smokes": YesNo(optional=True),
        "sleep": Mean(0, 12, optional=True),
        "work": Choice(["office", "home", "both"], optional=True),
    }
    return Survey(questions, 3.0, series="well-being", waves=3)


def _fill(app: Any, survey: Survey, waves: Sequence[int]) -> None:
    """Store the reports of simulated people, as clients would send them."""
    from ..server._reports import Reports

    store = app.state.store
    rng, n = np.random.default_rng(1), DEMO_PEOPLE
    keys, group = PersonKeys(secrets.token_bytes(32), np.arange(n)), np.array(["north", "south"])[np.arange(n) % 2]
    for wave, occasion in zip(waves, store.plan.occasions().values(), strict=True):
        people = {
            "smokes": rng.random(n) < 0.3 - 0.05 * wave,
            "sleep": rng.uniform(5.5, 8.5, n) + 0.2 * (group == "south"),
            "work": rng.choice(["office", "home", "both"], n, p=[0.6 - 0.1 * wave, 0.2 + 0.1 * wave, 0.2]),
            "group": group,
        }
        asked = occasion.survey
        for label in ("north", "south"):
            mine = group == label
            part = {name: column[mine] for name, column in people.items()}
            messages = [
                message.as_py()
                for piece in recipe_of(asked).messages(part, keys.of_rows(np.flatnonzero(mine)), False)
                for message in piece
            ]
            with store.write() as connection:
                size = len(messages)
                ids = [secrets.token_bytes(ID_BYTES) for _ in messages]
                store.add(connection, Reports([occasion] * size, ids, [label] * size, messages))
