"""The command `serve`."""

from __future__ import annotations

import argparse
import logging
import os
import re
import secrets
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .._extras import optional
from .._person_keys import ID_BYTES, PersonKeys
from ..reports import recipe_of
from ..survey import Choice, Mean, Survey, YesNo
from ._database import DATABASE, add_database, named_errors, served_together, surveys_of_files

TOKENS = "ldpfast-tokens"
SEVERAL_DATABASES, NAME = "sqlite:///reports-{name}.db", "{name}"
DEMO_PEOPLE = 6000
DEMO_WAVES = [1, 2, 3]
CONNECTIONS, FEWEST_CONNECTIONS = 2000, 16  # at once, and where the system allows few open files
OTHER_FILES = 200  # that the process has open besides connections


def add_commands(commands: Any) -> None:
    """Add the command to a parser.

    No other command listens to the network.
    """
    serve = commands.add_parser(
        "serve",
        help="receive reports from clients over HTTP, and show estimates",
        epilog="The server speaks HTTP without encryption: put a reverse proxy with TLS before it. It logs no addresses and no "
        "requests. docs/server.md has the calls.",
    )
    add_database(
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
    for path, members in surveys_of_files(arguments.surveys, arguments.round).items():
        series.setdefault(members[0].series, {})[path] = members
    if len(series) == 1 or None in series:  # surveys without a name are versions of one, which the server checks
        surveys, declared = served_together({path: own for parsed in series.values() for path, own in parsed.items()})
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
        found[name] = _Study(name, *served_together(parsed), None, template.replace(NAME, name))
    return list(found.values())


def _serve(arguments: argparse.Namespace) -> int:
    uvicorn = optional("uvicorn", "server")
    optional("sqlalchemy", "server")
    from ..server._access import Tokens
    from ..server._app import LOCAL, create_app
    from ..server._mounted import mounted

    # What must be undone is on a stack: the folder of the demonstration, the file of the socket, and the handler of SIGHUP.
    with ExitStack() as stack:
        stack.enter_context(named_errors(arguments.database))
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
def _named_study(study: _Study) -> Iterator[None]:
    """Raise errors of one of several studies with its name, and those of its database."""
    try:
        with named_errors(study.url):
            yield
    except ValueError as error:
        raise ValueError(f"{study.name}: {error}" if study.name else str(error)) from None


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
