"""Heavy hitters of a column of files."""

from __future__ import annotations

import argparse
import json
import math
import sys
from typing import Any

from .._extras import optional
from .._table import printable
from ..estimation import HeavyHitters, HeavyHittersEstimate
from ..files import FileTable
from ..mechanisms import Records
from ._command_arguments import console, generator
from ._output import print_csv

OTHERS = ("by", "lower", "upper", "categories", "publish")  # options of questions with another kind of answer
WIDTH = 100  # of a table, where the output is not a terminal


def add_options(estimate: argparse.ArgumentParser) -> None:
    """Add the options to the command estimate."""
    group = estimate.add_argument_group("strings without a list of categories")
    group.add_argument(
        "--heavy-hitters", action="store_true", help="find the strings that many people have in the column"
    )
    group.add_argument(
        "--max-bytes", type=int, metavar="B", help="largest number of bytes of a string, or of characters"
    )
    group.add_argument(
        "--alphabet", metavar="TEXT", help="all characters that strings can have; few of them find rarer strings"
    )
    group.add_argument("--people", type=int, metavar="N", help="expected number of people (default: a million)")


def estimate_strings(arguments: argparse.Namespace, progress: Any) -> HeavyHittersEstimate:
    """Return the strings that many people have."""
    for name in OTHERS:
        if getattr(arguments, name) is not None:
            raise ValueError(f"--{name} must be left out with --heavy-hitters")
    if arguments.epsilon is None:
        raise ValueError("--epsilon must be given with --heavy-hitters")
    if arguments.max_bytes is None:
        raise ValueError("--max-bytes must be given with --heavy-hitters")
    if arguments.column is None or len(arguments.column) > 1:
        raise ValueError("--column must be given once with --heavy-hitters")
    expected = {} if arguments.people is None else {"n": arguments.people}
    problem = HeavyHitters(arguments.epsilon, max_bytes=arguments.max_bytes, alphabet=arguments.alphabet, **expected)
    table = FileTable(arguments.files, {}, progress=progress)
    (column,) = arguments.column
    return problem.run(Records(table, column), rng=generator(arguments.seed), clip=arguments.clip)


def refuse_options(arguments: argparse.Namespace) -> None:
    """Raise if an option for strings is given without --heavy-hitters."""
    for name in ("max_bytes", "alphabet", "people"):
        if getattr(arguments, name) is not None:
            raise ValueError(f"--{name.replace('_', '-')} must be left out without --heavy-hitters")


def print_strings(found: HeavyHittersEstimate, arguments: argparse.Namespace) -> None:
    """Print the strings with their shares, as a table, CSV or JSON, and draw them if a file is named."""
    low, high = found.interval(arguments.confidence, arguments.simultaneous)
    if arguments.plot is not None:
        figure = optional("matplotlib.figure", "plot").Figure(layout="constrained")
        found.plot(figure.subplots(), confidence=arguments.confidence, simultaneous=arguments.simultaneous)
        figure.savefig(arguments.plot)
    if arguments.csv:
        print_csv(found, arguments.confidence, arguments.simultaneous)
        return
    if arguments.json:
        limits = {"interval": [low.tolist(), high.tolist()], "confidence": arguments.confidence}
        print(json.dumps({**found.to_dict(), **limits, "files": list(arguments.files)}))
        return
    table = optional("rich.table", "files").Table(box=optional("rich.box", "files").SIMPLE_HEAD)
    for name in ("string", "share", "standard error", f"{100 * arguments.confidence:g} % interval"):
        table.add_column(name, justify="left" if name == "string" else "right")
    for text, *numbers in zip(found.strings, found.value, found.stderr, low, high, strict=True):
        value, stderr, lower, upper = (f"{number:.5f}" for number in numbers)
        table.add_row(printable(str(text)), value, stderr, f"{lower} to {upper}")
    terminal = console("files", markup=False, width=None if sys.stdout.isatty() else WIDTH)
    terminal.print(table)
    promise = (
        f"strings of at least {found.smallest_share:.3g} of all people are found with probability 0.95"
        if math.isfinite(found.smallest_share)
        else "too few people to find any string reliably"
    )
    terminal.print(f"n = {found.n:,}, epsilon = {found.epsilon:.6g} per person; {promise}", soft_wrap=True)
