"""The command table: the tables of a survey for clients in C and JavaScript, and their fingerprints."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ..survey import RepeatedSurvey, Survey
from ..survey._client_table import fingerprint_of
from ..survey._toml import has_rounds
from ._command_arguments import replaced
from ._survey_commands import read_survey


def add_command(commands: Any) -> None:
    """Add the command to a parser."""
    table = commands.add_parser(
        "table",
        help="the table of a survey for clients, and its fingerprint (SHA-256), which a client compares",
        epilog="Each line has a fingerprint and the name of a table, as `sha256sum` writes and checks them.",
    )
    table.add_argument("survey", type=Path, metavar="SURVEY", help="survey in TOML; see `Survey.from_toml`")
    table.add_argument(
        "-o", "--output", type=Path, metavar="FOLDER", help="existing folder for the tables; without it none is written"
    )
    table.add_argument(
        "--wave", type=int, action="append", help="number of a wave; may be repeated (default: all waves)"
    )
    table.add_argument(
        "--round", type=int, action="append", help="number of a round, from 0 on; may be repeated (default: all rounds)"
    )
    table.set_defaults(command=_table)


def _table(arguments: argparse.Namespace) -> int:
    output: Path | None = arguments.output
    if output is not None and not output.is_dir():
        raise ValueError(f"--output must be an existing folder, got {str(output)!r}")

    def parse(text: str) -> dict[str, Survey]:
        return _asked(text, arguments.wave, arguments.round)

    tables = {name: survey.client_table() for name, survey in read_survey(arguments.survey, parse).items()}
    for suffix, table in tables.items():
        name = f"{arguments.survey.stem}{suffix}.table"
        if output is not None:
            with replaced(output / name, [arguments.survey]) as temporary:
                temporary.write_bytes(table)
        print(f"{fingerprint_of(table)}  {name}")
    return 0


def _asked(text: str, waves: list[int] | None, rounds: list[int] | None) -> dict[str, Survey]:
    """Return what people are asked by the ends of the names of the tables: a survey, or its waves or rounds."""
    if has_rounds(text):
        if waves is not None:
            raise ValueError("--wave must be left out for a repeated survey, which has rounds")
        repeated = RepeatedSurvey.from_toml(text)
        return {f"-round-{one}": repeated.in_round(one) for one in rounds or range(repeated.rounds)}
    if rounds is not None:
        raise ValueError("--round must be left out for a survey without `round` and `rounds`")
    survey = Survey.from_toml(text)
    if survey.waves is None:
        if waves is not None:
            raise ValueError("--wave must be left out for a survey without waves")
        return {"": survey}
    if waves is None and survey.open_ended:
        raise ValueError("--wave must be given for a series that goes on")
    return {f"-wave-{one}": survey.in_wave(one) for one in waves or range(1, survey.waves + 1)}
