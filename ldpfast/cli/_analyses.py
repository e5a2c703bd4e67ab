"""The command analyze: prevalence and regression of a randomized response study."""

from __future__ import annotations

import argparse
import io
import json
import math
import sys
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from .. import _check
from .._extras import command, optional
from ..analysis import RandomizedLogit
from ..analysis._formula import Formula
from ..analysis._rows import CONST
from ..analysis._summary import coefficient_table
from ..designs import Design, crosswise_with_attention
from ..designs._binary import NAMED, named_design
from ..files import STDIN, require_regular
from ..results import Estimate

INTERCEPT = "Intercept"  # of formulas
SAMPLE = ("weights", "clusters", "strata", "fpc")
READERS = {  # functions of pandas
    ".csv": "read_csv",
    ".csv.gz": "read_csv",
    ".jsonl": "read_json",
    ".ndjson": "read_json",
    ".parquet": "read_parquet",
    ".feather": "read_feather",
}


def add_command(commands: Any) -> None:
    """Add the command to a parser.

    Each option names a column of the file, or says how the answers were randomized.
    """
    analyze = commands.add_parser(
        "analyze",
        help="prevalence and regression of answers that people randomized with a die, cards or a second question",
        epilog="The answers in the file must be randomized already; the other columns are used as they are. Needs "
        f"`{command('analysis')}`.",
    )
    analyze.add_argument(
        "file", metavar="FILE", help=f"{', '.join(READERS)} file with a header; - is CSV on the standard input"
    )
    analyze.add_argument("--outcome", required=True, metavar="COLUMN", help="column of the randomized answers")
    analyze.add_argument(
        "--design",
        required=True,
        metavar="NAME:P",
        help=f"how they were randomized, such as crosswise:0.25 or forced_response:1/6,1/6; one of {', '.join(NAMED)}",
    )
    analyze.add_argument(
        "--formula",
        metavar="F",
        help='covariates of a logit model of the truth, such as "age + C(region) + age:female"',
    )
    analyze.add_argument(
        "--attention",
        metavar="COLUMN",
        help="for crosswise: column of the answers to an attention question (--p-attention)",
    )
    analyze.add_argument(
        "--p-attention",
        metavar="P",
        help="share of people whose answer to the innocuous part of the attention question is yes",
    )
    analyze.add_argument(
        "--by",
        nargs="+",
        action="extend",
        metavar="COLUMN",
        help="columns that divide the people: the prevalence of each of their values",
    )
    analyze.add_argument("--weights", metavar="COLUMN", help="column of weights")
    analyze.add_argument("--clusters", metavar="COLUMN", help="column of clusters, such as villages")
    analyze.add_argument(
        "--strata", metavar="COLUMN", help="column of the strata from which clusters or people were drawn"
    )
    analyze.add_argument(
        "--fpc",
        metavar="COLUMN",
        help="column of the number of clusters, or of people without clusters, that the stratum has in the population",
    )
    analyze.add_argument(
        "--missing",
        choices=("refuse", "drop"),
        default="refuse",
        help="what to do with rows without a value in one of these columns: an error, or leave them out (default: "
        "%(default)s)",
    )
    analyze.add_argument(
        "--confidence", type=float, default=0.95, help="confidence level of the intervals (default: %(default)s)"
    )
    analyze.add_argument("--json", action="store_true", help="print one JSON object")
    analyze.set_defaults(command=_analyze)


def _analyze(arguments: argparse.Namespace) -> int:
    confidence = _check.probability("--confidence", arguments.confidence)
    design = named_design(arguments.design)
    if (arguments.attention is None) != (arguments.p_attention is None):
        raise ValueError("--attention and --p-attention must be given together")
    rows, covariates, left_out = _read(arguments)
    reports = rows[arguments.outcome].to_numpy()
    sample = {name: getattr(arguments, name) for name in SAMPLE}
    sample = {name: rows[column].to_numpy() for name, column in sample.items() if column is not None}
    # `found` collects what is printed as JSON, `lines` the same as text: the prevalence of all people, of groups, and the
    # model.
    people: dict[str, Any] = dict(sample)
    if arguments.attention is not None:
        people["attention"] = rows[arguments.attention].to_numpy()
    prevalence, prevalence_by = _estimators(design, arguments)
    prevalences = {"prevalence": prevalence(reports, **people)}
    n = prevalences["prevalence"].n
    found: dict[str, Any] = {"design": design.name, "epsilon": design.epsilon, "n": n, "left_out": left_out}
    lines = [repr(design), f"n = {n:,}, {left_out:,} rows with missing values are left out"]
    if n < len(rows):
        lines.append(f"{len(rows) - n:,} rows of weight 0 do not count")
    if arguments.by is not None:
        columns = [rows[name].to_numpy() for name in arguments.by]
        for values, part in prevalence_by(reports, by=columns, **people).items():
            named = zip(arguments.by, values, strict=True)
            prevalences["prevalence, " + ", ".join(f"{name} = {value}" for name, value in named)] = part
    found["prevalences"] = {name: _described(estimate, confidence) for name, estimate in prevalences.items()}
    for name, estimate in prevalences.items():
        low, high = estimate.interval(confidence)
        lines.append(f"{name}: {estimate.value:.4g}, {100 * confidence:g} % interval {low:.4g} to {high:.4g}")
    if covariates is not None:
        formula = f"`{arguments.outcome}` ~ {arguments.formula}"
        model = RandomizedLogit(design, p_attention=arguments.p_attention).fit(formula, rows, **people)
        summary = model.summary(confidence)
        found["coefficients"] = summary.table.to_dict()
        lines += ["", repr(summary)]
        if arguments.attention is not None:
            table = coefficient_table(model.attention, confidence)
            found["attention"] = table.to_dict()
            lines += ["", "log-odds to be attentive", repr(table)]
        if set(model.names) - {CONST}:
            try:
                table = coefficient_table(model.marginal_effects(), confidence)
            except ValueError as error:  # a term with a jump has no derivative
                lines += ["", f"no marginal effects: {error}"]
            else:
                found["marginal_effects"] = table.to_dict()
                lines += ["", "average marginal effects on the probability of yes", repr(table)]
    print(json.dumps(_finite(found), allow_nan=False) if arguments.json else "\n".join(lines))
    return 0


def _estimators(design: Design, arguments: argparse.Namespace) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return what estimates the prevalence of all people, and of groups, from reports and what else is given of each person.

    Raises
    ------
    ValueError
        If there is an attention question, and another design than the crosswise model.
    """
    if arguments.attention is None:
        return design.prevalence, design.prevalence_by
    if arguments.fpc is not None:
        raise ValueError("--fpc must be left out with --attention")
    name, _, p = arguments.design.partition(":")
    if name.strip() != "crosswise":
        raise ValueError(f"--attention must be left out unless --design is crosswise:P, got {design.name}")
    found = partial(crosswise_with_attention, p=p.strip(), p_attention=arguments.p_attention)
    return found, found


def _read(arguments: argparse.Namespace) -> tuple[Any, Any, int]:
    """Return the rows of the file without missing values, the columns of the formula, and how many rows were left out.

    Raises
    ------
    ValueError
        If a column does not exist, a value is missing though this is refused, or the formula is invalid.
    """
    frame = _frame(arguments.file)
    chosen = [(name, getattr(arguments, name)) for name in ("outcome", "attention", *SAMPLE)]
    chosen += [("by", name) for name in arguments.by or []]
    used = [name for _, name in chosen if name is not None]
    formula = None if arguments.formula is None else Formula.of(arguments.formula, list(frame.columns), "--formula")
    inside = [] if formula is None else sorted(formula.names)
    # The names of columns are checked first, then what the formula holds, then missing values; incomplete rows are left out
    # last.
    for option, name in [*chosen, *(("formula", name) for name in inside)]:
        if name is not None and name not in frame.columns:
            raise ValueError(
                f"--{option} must name columns of the file, which are {', '.join(map(str, frame.columns))}; got {name!r}"
            )
    for name in (INTERCEPT, CONST):
        if name in inside:
            raise ValueError(f"--formula must hold columns of other names than that of the intercept, got {name!r}")
    texts = [name for name in inside if _is_number_with_faults(frame[name])]
    if texts:
        raise ValueError(
            f"column {texts[0]!r} of --formula must hold numbers or categories, got numbers and some other texts"
        )
    if arguments.outcome in inside:
        raise ValueError(f"--formula must hold covariates only, got the outcome {arguments.outcome!r}")
    if arguments.attention in inside:
        raise ValueError(f"--formula must hold covariates only, got the attention question {arguments.attention!r}")
    missing = frame[[*dict.fromkeys([*used, *inside])]].isna()
    incomplete = missing.any(axis=1).to_numpy()
    if incomplete.any() and arguments.missing == "refuse":
        name = missing.any().idxmax()
        raise ValueError(
            f"columns must have no missing values, got {int(incomplete.sum())} rows with some, first in {name!r}; "
            "--missing drop leaves them out"
        )
    rows = frame[~incomplete]
    if not len(rows):
        raise ValueError("the file must have rows without missing values, got none")
    covariates = None if formula is None else formula.matrix(rows)
    return rows, covariates, int(incomplete.sum())


def _is_number_with_faults(column: Any) -> bool:
    """Return whether most texts of a column are numbers, but not all, so that it would count as one of categories."""
    pandas = optional("pandas", "analysis")
    if pandas.api.types.is_numeric_dtype(column) or pandas.api.types.is_bool_dtype(column):
        return False
    numbers = pandas.to_numeric(column.astype(object), errors="coerce").notna().sum()
    return bool(column.notna().sum() / 2 < numbers < column.notna().sum())


def _frame(name: str) -> Any:
    """Return a file as a data frame of pandas.

    Raises
    ------
    ValueError
        If it cannot be read, or two columns have the same name.
    """
    pandas = optional("pandas", "analysis")
    path = Path(name)
    kind = ".csv" if name == STDIN else next((suffix for suffix in READERS if path.name.lower().endswith(suffix)), None)
    if kind is None:
        raise ValueError(f"FILE must end in one of {', '.join(READERS)}, or be -, got {name!r}")
    if name != STDIN:
        require_regular(path)
    data = io.BytesIO(sys.stdin.buffer.read() if name == STDIN else path.read_bytes())
    if READERS[kind] != "read_csv":
        options = {"lines": True} if READERS[kind] == "read_json" else {}
        return getattr(pandas, READERS[kind])(data, **options)
    # A CSV file is read twice: pandas renames columns of the same name, so that the names are checked in the first row itself.
    packed = {"compression": "gzip" if kind.endswith(".gz") else None}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pandas.errors.ParserWarning)  # rows that are longer than the header
            header = pandas.read_csv(data, header=None, nrows=1, dtype=str, encoding="utf-8-sig", **packed)
            data.seek(0)
            frame = pandas.read_csv(data, index_col=False, encoding="utf-8-sig", **packed)
    except (
        UnicodeDecodeError,
        pandas.errors.ParserError,
        pandas.errors.ParserWarning,
        pandas.errors.EmptyDataError,
    ) as error:
        raise ValueError(
            f"{name} must be a CSV file in UTF-8 whose rows all have the columns of the header: {error}"
        ) from None
    names = header.iloc[0].dropna().tolist()
    twice = [column for column in dict.fromkeys(names) if names.count(column) > 1]
    if twice:
        raise ValueError(f"{name} must have columns with different names, got {twice[0]!r} twice")
    return frame


def _finite(value: Any) -> Any:
    """Return a value for JSON, which has no infinities: null in their place."""
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _described(estimate: Estimate[float], confidence: float) -> dict[str, Any]:
    low, high = estimate.interval(confidence)
    return {"n": estimate.n, "estimate": estimate.value, "stderr": estimate.stderr, "interval": [low, high]}
