"""The commands for surveys and columns of files: privatize, aggregate, merge, estimate."""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from .. import _check
from .._extras import optional
from .._load import load
from .._person_keys import PersonKeys
from .._schema import read_json
from .._warnings import warn
from ..files import MISSING, FileTable, damage_errors, duplicates, open_table, require_regular
from ..reports import SCHEMA_KEY, Aggregator, GroupedResults
from ..survey import Choice, Mean, Survey, SurveyResult
from ._command_arguments import console, generator, output_file, replaced
from ._output import described, print_csv, progress_bar, table_of
from ._string_estimates import add_options, estimate_strings, print_strings, refuse_options

Read = TypeVar("Read")
PRIVACY_NOTE = (
    "Each record is privatized separately{}. Ends of intervals and categories must be public knowledge, not taken from the "
    "data. An error caused by the data (a number out of range, an undeclared category, text, a missing value) is outside "
    "the guarantee. --clip avoids this error for numbers that are out of range and for undeclared categories of optional "
    "questions, {} that for missing values. A value is missing "
    f"if it is null, NaN, an empty cell or one of the texts {', '.join(filter(None, MISSING))}, unless that is a category; "
    "a text of a survey only if it is null or an empty cell."
)
CLIP = (
    'move numbers out of range to the nearer end, and count undeclared categories as "no answer" where it is optional'
)
STATE, TOML = ".ldp", ".toml"  # suffixes of saved states and of surveys
FILES = (".xlsx", ".html")  # suffixes of publications in one file
WIDTH = 160  # characters per line of a table that is not shown on a terminal


def add_commands(commands: Any, seed: str) -> None:
    """Add the commands to a parser. `seed` is the help of the option.

    They are the steps of a survey in files: records become reports, reports become counts, counts are merged, and records or
    counts become estimates.
    """
    privatize = commands.add_parser(
        "privatize",
        help="privatize the rows of files for a survey; writes a Parquet file of reports",
        epilog=PRIVACY_NOTE.format("", "`optional = true` of a question in the survey"),
    )
    privatize.add_argument("survey", type=Path, metavar="SURVEY", help="survey in TOML; see `Survey.from_toml`")
    _add_files(privatize)
    privatize.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="Parquet file of reports")
    privatize.add_argument("--clip", action="store_true", help=CLIP)
    privatize.add_argument(
        "--person",
        metavar="COLUMN",
        help="column of identifiers: with --key-file, the same person and answers always give the same report. In CSV files "
        "identifiers are texts: 17 is another person than the number 17 of a Parquet file",
    )
    privatize.add_argument(
        "--key-file",
        type=Path,
        metavar="FILE",
        help="file with the secret for --person: 32 random bytes, or 64 hexadecimal digits. It is as sensitive as the data",
    )
    privatize.add_argument(
        "--wave",
        type=int,
        metavar="W",
        help="number of the wave of a survey with waves; only people whose turn it is answer",
    )
    privatize.add_argument("--seed", type=int, help=seed)
    privatize.set_defaults(command=_privatize)

    aggregate = commands.add_parser("aggregate", help="count files of reports; each file is counted once")
    aggregate.add_argument(
        "reports", type=Path, nargs="+", metavar="REPORTS", help="Parquet files of `ldpfast privatize`"
    )
    aggregate.add_argument("-o", "--output", type=Path, required=True, metavar="STATE", help=f"saved state ({STATE})")
    aggregate.set_defaults(command=_aggregate)

    merge = commands.add_parser("merge", help="add saved states of the same survey")
    merge.add_argument("states", type=Path, nargs="+", metavar="STATE", help="saved states")
    merge.add_argument("-o", "--output", type=Path, required=True, metavar="STATE", help="saved state of all together")
    merge.set_defaults(command=_merge)

    estimate = commands.add_parser(
        "estimate",
        help="estimates from a saved state; or from columns of files, which are privatized first",
        epilog=PRIVACY_NOTE.format(", and the estimate is computed from the reports alone", "--missing category"),
    )
    estimate.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help=f"a saved state ({STATE}); or .csv, .csv.gz, .jsonl, .parquet, .feather or .npy files of any length, after a "
        f"survey ({TOML}) if there is one; - is CSV on the standard input",
    )
    estimate.add_argument(
        "--column",
        action="append",
        metavar="NAME",
        help="name, or number from 0 for a 2-D .npy array; omit for a 1-D array. If it is given several times, each record "
        "answers for one column, and epsilon is the total",
    )
    estimate.add_argument(
        "--by",
        action="append",
        metavar="COLUMN",
        help="public column that divides people into groups, which have answers of their own; it is not protected. Can be "
        "given several times",
    )
    estimate.add_argument(
        "--epsilon",
        type=float,
        metavar="E",
        help="privacy parameter of each record; with a survey, in the place of its own",
    )
    estimate.add_argument("--lower", type=float, metavar="A", help="smallest possible number (negative: --lower=-1e3)")
    estimate.add_argument("--upper", type=float, metavar="B", help="largest possible number")
    estimate.add_argument("--categories", metavar="a,b,c", help="all possible answers, instead of --lower and --upper")
    estimate.add_argument(
        "--missing",
        choices=("refuse", "category"),
        default="refuse",
        help="what to do with records without a value: an error, or one more category; the estimate is then that among the "
        "others (default: %(default)s)",
    )
    estimate.add_argument(
        "--confidence", type=float, default=0.95, help="confidence level of the interval (default: %(default)s)"
    )
    estimate.add_argument("--simultaneous", action="store_true", help="intervals that hold for all numbers at once")
    estimate.add_argument(
        "--pooled", action="store_true", help="for a saved state: use all answers that hold a question"
    )
    estimate.add_argument("--clip", action="store_true", help=CLIP)
    estimate.add_argument("--json", action="store_true", help="print one JSON object")
    estimate.add_argument("--csv", action="store_true", help="print CSV: one row for each number")
    estimate.add_argument("--table", action="store_true", help="print a table (the default)")
    estimate.add_argument(
        "--publish",
        type=Path,
        metavar="PATH",
        help="write tables that can be published: an Excel file (.xlsx), a page (.html), or a folder of CSV files",
    )
    estimate.add_argument("--plot", type=Path, metavar="FILE", help="file for a figure (PNG, PDF, SVG)")
    estimate.add_argument("--seed", type=int, help=seed)
    add_options(estimate)
    estimate.set_defaults(command=_estimate)


def _add_files(parser: Any) -> None:
    parser.add_argument(
        "files",
        nargs="+",
        metavar="DATA",
        help=".csv with a header, .csv.gz, .jsonl, .parquet, .feather or .npy files; - is CSV on the standard input",
    )


# Commands -------------------------------------------------------------------------------------------------------------


def _privatize(arguments: argparse.Namespace) -> int:
    parquet = optional("pyarrow.parquet", "files")
    survey = read_survey(arguments.survey, Survey.from_toml)
    if arguments.wave is not None:
        survey = survey.in_wave(arguments.wave)
    rng: Any = generator(arguments.seed)
    inputs = [arguments.survey, *arguments.files]
    if (arguments.person is None) != (arguments.key_file is None):
        raise ValueError("--person and --key-file must be given together")
    if survey.waves is not None and survey.wave is None:
        raise ValueError(f"--wave must be given for a survey with {survey.waves} waves")
    if survey.wave is not None and arguments.key_file is None:
        raise ValueError("--person and --key-file must be given for a wave: they decide whose turn it is")
    if arguments.key_file is not None:
        if rng is not None:
            raise ValueError("--seed must be left out where --key-file is given")
        inputs.append(arguments.key_file)
        rng = PersonKeys(_secret(arguments.key_file), arguments.person)
    # Reports are written piece by piece to a temporary file, which replaces the output only if all records were valid.
    replaces = arguments.key_file is None and arguments.output.exists()
    with progress_bar(arguments.files, False) as progress, replaced(arguments.output, inputs) as temporary:
        table = FileTable(arguments.files, survey.column_questions, progress=progress)
        pieces = survey.privatize_pieces(table, rng=rng, clip=arguments.clip)
        n = 0
        try:
            first = next(pieces)
            with temporary.open("wb") as raw, parquet.ParquetWriter(raw, first.schema) as writer:
                for piece in pieces:
                    writer.write_table(piece)
                    n += piece.num_rows
        except ValueError as error:
            raise ValueError(_with_options(str(error), "`optional = true` in the survey")) from None
    if replaces:
        warn(
            f"{arguments.output} was replaced by new reports. If the old ones were shared, the losses of both add up; with "
            "--person and --key-file the same answers give the same reports",
            UserWarning,
        )
    print(
        f"{n} reports of the survey {survey.fingerprint}, epsilon = {survey.guarantee.epsilon:.6g}: {arguments.output}"
    )
    return 0


def _aggregate(arguments: argparse.Namespace) -> int:
    pa, parquet = optional("pyarrow", "files"), optional("pyarrow.parquet", "files")
    aggregator: Aggregator | None = None
    with replaced(arguments.output, arguments.reports) as temporary:
        for path in arguments.reports:
            require_regular(path)
            digest = _digest(path)
            try:
                with path.open("rb") as raw, parquet.ParquetFile(raw) as file:
                    if aggregator is None:
                        aggregator = _survey_of(path, file.schema_arrow).aggregator()
                    reader = pa.RecordBatchReader.from_batches(file.schema_arrow, file.iter_batches())
                    aggregator.update(reader, batch=digest)
            except damage_errors():
                raise ValueError(
                    f"{path} must be a readable Parquet file: it is damaged, truncated or of another format"
                ) from None
            except ValueError as error:
                if "batch must be new" in str(error):
                    raise ValueError(
                        f"{path} must be a file that was not counted before, got the same reports again"
                    ) from None
                raise ValueError(f"{path}: {error}") from None
        assert aggregator is not None
        temporary.write_bytes(aggregator.to_bytes())
    print(f"n = {aggregator.n}: {arguments.output}")
    return 0


def _merge(arguments: argparse.Namespace) -> int:
    with replaced(arguments.output, arguments.states) as temporary:
        first, *others = (_open(path) for path in arguments.states)
        for path, other in zip(arguments.states[1:], others, strict=True):
            try:
                first.merge(other)
            except (AttributeError, TypeError, ValueError) as error:
                raise ValueError(f"{path}: {error}") from None
        for path, earlier, is_same in duplicates(arguments.states):
            if is_same:  # states of few people can be equal by chance
                raise ValueError(f"{path} must be another file than {earlier}, got the same state again")
        temporary.write_bytes(first.to_bytes())
    print(f"n = {first.n}: {arguments.output}")
    return 0


def _estimate(arguments: argparse.Namespace) -> int:
    confidence = _check.probability("--confidence", arguments.confidence)
    if arguments.plot is not None:
        if not arguments.plot.suffix:  # as matplotlib does
            arguments.plot = arguments.plot.with_name(f"{arguments.plot.name}.png")
        output_file("--plot", arguments.plot, arguments.files)
    shown = [name for name in ("json", "csv", "table") if getattr(arguments, name)]
    if len(shown) > 1:
        raise ValueError(f"--{shown[1]} must be left out where --{shown[0]} is given")
    if arguments.publish is not None:
        suffix = arguments.publish.suffix
        if suffix.lower() in FILES:
            output_file("--publish", arguments.publish, arguments.files)
        elif suffix[1:].isalpha() and not arguments.publish.is_dir():
            raise ValueError(f"--publish must be a file with the suffix .xlsx or .html, or a folder, got {suffix!r}")
    if arguments.heavy_hitters:
        with progress_bar(arguments.files, arguments.json) as progress:
            try:
                found = estimate_strings(arguments, progress)
            except ValueError as error:
                raise ValueError(_with_options(str(error), "--clip")) from None
        print_strings(found, arguments)
        return 0
    # The files are saved states, or records of people (with a survey, or with one question for each column), which are
    # privatized here. Either gives a result, which is drawn, printed as JSON or printed as a table.
    refuse_options(arguments)
    if any(str(path).endswith(STATE) for path in arguments.files):
        result = _estimate_state(arguments)
        extra: dict[str, Any] = {}
    else:
        is_described = arguments.files[0].endswith(TOML)
        survey = _described_survey(arguments) if is_described else _survey_for(arguments)
        with progress_bar(arguments.files, arguments.json) as progress:
            table = FileTable(arguments.files, survey.column_questions, progress=progress)
            rng = generator(arguments.seed)
            try:
                by = None if arguments.by is None else arguments.by[0] if len(arguments.by) == 1 else arguments.by
                result = survey.run(table, by=by, rng=rng, clip=arguments.clip)
            except ValueError as error:
                accepts = "`optional = true` in the survey" if is_described else "--missing category"
                raise ValueError(_with_options(str(error), accepts)) from None
        extra = {
            "files": list(arguments.files),
            "mechanisms": {name: repr(mechanism) for name, mechanism in survey.mechanisms.items()},
        }
    if arguments.plot is not None:
        if not isinstance(result, SurveyResult | GroupedResults):
            raise ValueError("--plot must be left out for the state of a single question")
        result.plot(arguments.plot, confidence)
    if arguments.publish is not None:
        _publish(result, arguments.publish, confidence)
    if arguments.csv:
        print_csv(result, confidence, arguments.simultaneous)
        return 0
    if arguments.json:
        print(json.dumps({**described(result, confidence, arguments.simultaneous), **extra}))
        return 0
    width = None if sys.stdout.isatty() else WIDTH
    terminal = console("files", markup=False, width=width)
    if isinstance(result, SurveyResult | GroupedResults):
        results = [result] if isinstance(result, SurveyResult) else [*result.values()]
        terminal.print(table_of(result, confidence, arguments.simultaneous))
        n = sum(part.n for part in results)
        terminal.print(f"n = {n:,}, total epsilon = {results[0].guarantee.epsilon:.6g} per person", soft_wrap=True)
        if isinstance(result, SurveyResult):
            for note in result.notes():
                terminal.print(note, soft_wrap=True)
        for name, mechanism in extra.get("mechanisms", {}).items():
            terminal.print(f"{name}: {mechanism}", soft_wrap=True)
    else:
        terminal.print(repr(result), soft_wrap=True)
    return 0


def _publish(result: Any, path: Path, confidence: float) -> None:
    """Write tables that can be published, in the form that the suffix names."""
    if not isinstance(result, SurveyResult | GroupedResults):
        raise ValueError("--publish must be left out for the state of a single question")
    publication = result.publish(confidence=confidence)
    {".xlsx": publication.to_excel, ".html": publication.to_html}.get(path.suffix.lower(), publication.to_csv)(path)


def _with_options(message: str, missing: str) -> str:
    """Return an error message with what the command line has instead of the arguments of Python."""
    message = message.replace(", which needs optional=True", f"; {missing} accepts it")
    return message.replace(". clip=True ", "; --clip ")


# Surveys and states ---------------------------------------------------------------------------------------------------


def read_survey(path: Path, parse: Callable[[str], Read]) -> Read:
    """Return what a function makes of the text of a file that describes a survey."""
    require_regular(path)
    try:
        return parse(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise ValueError(f"{path} must be UTF-8 text") from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _described_survey(arguments: argparse.Namespace) -> Survey:
    """Return the survey of a TOML file, which is the first of the files and is taken from them."""
    for name in ("column", "lower", "upper", "categories"):
        if getattr(arguments, name) is not None:
            raise ValueError(f"--{name} must be left out with a survey in TOML, which has the questions")
    if arguments.missing == "category":
        raise ValueError("--missing must be left out with a survey in TOML: `optional = true` of a question accepts it")
    path, *arguments.files = arguments.files
    if not arguments.files:
        raise ValueError("FILE must be a survey in TOML and at least one file of records, got the survey alone")

    def parse(text: str) -> Survey:
        return Survey.from_toml(text, epsilon=arguments.epsilon)

    survey = read_survey(Path(path), parse)
    if survey.waves is not None:
        raise ValueError("FILE must be a survey without waves: use `ldpfast privatize --wave`")
    return survey


def _survey_for(arguments: argparse.Namespace) -> Survey:
    """Return the survey with a question for each column."""
    if arguments.epsilon is None:
        raise ValueError(
            "--epsilon must be given for files of records, or a survey in TOML before them; files of reports are for "
            "`ldpfast aggregate`"
        )
    for path in arguments.files:
        open_table(path, [])  # raises where the format is not known
    columns = arguments.column or [Path(arguments.files[0]).name]
    if len(set(columns)) < len(columns):
        raise ValueError(f"--column must name different columns, got {', '.join(columns)}")
    if arguments.column is None and not all(str(path).endswith(".npy") for path in arguments.files):
        raise ValueError("--column must name a column of the files")
    if arguments.column is None and len(arguments.files) > 1:
        raise ValueError("--column must be given for several files")
    optional_answers, bounds = arguments.missing == "category", (arguments.lower, arguments.upper)
    question: Any
    if arguments.categories is None:
        if None in bounds:
            raise ValueError("either --lower and --upper, or --categories must be given")
        question = Mean(*bounds, optional=optional_answers)
    else:
        if bounds != (None, None):
            raise ValueError("--lower and --upper must be left out where --categories is given")
        if arguments.clip and not optional_answers:
            raise ValueError("--clip must be left out where --categories is given, unless --missing is category")
        question = Choice(_categories(arguments.categories), optional=optional_answers)
    return Survey(dict.fromkeys(columns, question), _check.positive("--epsilon", arguments.epsilon))


def _categories(text: str) -> list[str]:
    """Split the labels at commas. A label that contains a comma is quoted as in a CSV file."""
    labels = [label.strip() for label in next(csv.reader([text]), [])]
    if len(labels) < 2 or "" in labels or len(set(labels)) < len(labels):
        raise ValueError(f"--categories must be at least 2 different labels between commas, got {text!r}")
    return labels


def _survey_of(path: Path, schema: Any) -> Survey:
    """Return the survey that a file of reports answers, from its metadata."""
    try:
        return Survey.from_dict(read_json((schema.metadata or {})[SCHEMA_KEY])["asks"])
    except (LookupError, RecursionError, TypeError, ValueError) as error:
        raise ValueError(f"it must be a file of reports of a survey: {error}") from None


def _secret(path: Path) -> bytes:
    """Return the secret in a file."""
    require_regular(path)
    data = path.read_bytes()
    if len(data) != 32:
        try:
            data = bytes.fromhex(data.decode("ascii").strip())
        except ValueError:
            data = b""
    if len(data) != 32:
        raise ValueError(f"--key-file must hold 32 bytes or 64 hexadecimal digits, got another content in {path}")
    return data


def _digest(path: Path) -> str:
    """Return the SHA-256 of a file, which names it as a batch."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _open(path: Path) -> Any:
    """Return what a saved state holds."""
    require_regular(path)
    try:
        return load(path.read_bytes())
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path}: {error}") from None


def _estimate_state(arguments: argparse.Namespace) -> Any:
    """Return the answers of a saved state."""
    for name in ("by", "epsilon", "column", "lower", "upper", "categories", "seed"):
        if getattr(arguments, name) is not None:
            raise ValueError(f"--{name} must be left out for a saved state")
    if len(arguments.files) > 1:
        raise ValueError(f"FILE must be one saved state, got {len(arguments.files)} files; `ldpfast merge` adds states")
    state = _open(Path(arguments.files[0]))
    if isinstance(state, Aggregator) and isinstance(state.question, Survey):
        return state.estimate(pooled=arguments.pooled)
    return state.estimate()
