"""Command-line interface."""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from . import _check
from ._extras import optional
from ._version import __version__
from .bounds import _plan as _plans
from .bounds._problem import PROBLEMS
from .experiments import EXPERIMENTS
from .files import estimate_column
from .mechanisms import Mechanism, for_categories, for_interval
from .results import Estimate

PRIVACY_NOTE = (
    "Each record is privatized separately, and the estimate is computed from the reports alone. The interval and the "
    "categories must be public knowledge, not taken from the data. An error caused by the data (a number out of range, an "
    "undeclared category, text, a missing value) is outside the guarantee. --clip avoids this error for numbers that are "
    "out of range or NaN."
)


class Parser(argparse.ArgumentParser):
    """Argument parser that reports an error in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"ldpfast: error: {message}\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command of the command line.

    Parameters
    ----------
    argv : sequence of str, optional
        Command-line arguments, by default those of the process.

    Returns
    -------
    status : int
        0 on success. 1 if ``reproduce`` finds that a claim does not hold, or if ``bench`` finds a wrong answer.

    Raises
    ------
    SystemExit
        With status 2, after one line on stderr, if the usage or the input is invalid.
    """
    parser = _parser()
    arguments = parser.parse_args(argv)
    command: Callable[[argparse.Namespace], int] = arguments.command
    try:
        return command(arguments)
    except (ImportError, OSError, TypeError, ValueError) as error:
        parser.error(str(error))
    except KeyboardInterrupt:
        parser.exit(130, "ldpfast: interrupted\n")


def _parser() -> Parser:
    parser = Parser(prog="ldpfast", description="Statistics under local differential privacy, with exact guarantees.")
    parser.add_argument("--version", action="version", version=f"ldpfast {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    seed = "make the reports reproducible, hence NOT private; for tests only"

    demo = commands.add_parser("demo", help="private estimates beside the true values, on two well-known surveys")
    demo.add_argument(
        "--output", type=Path, default=Path("ldpfast-demo.png"), help="file for the figure (default: %(default)s)"
    )
    demo.add_argument("--seed", type=int, help=seed)
    demo.set_defaults(command=_demo)

    estimate = commands.add_parser(
        "estimate", help="privatize and estimate a column of a CSV, Parquet or .npy file", epilog=PRIVACY_NOTE
    )
    estimate.add_argument("file", type=Path, metavar="FILE", help=".csv with a header, .parquet or .npy, of any length")
    estimate.add_argument(
        "--column", metavar="NAME", help="name, or number from 0 for a 2-D .npy array; omit for a 1-D array"
    )
    estimate.add_argument("--epsilon", type=float, required=True, metavar="E", help="privacy parameter of each record")
    estimate.add_argument("--lower", type=float, metavar="A", help="smallest possible number (negative: --lower=-1e3)")
    estimate.add_argument("--upper", type=float, metavar="B", help="largest possible number")
    estimate.add_argument("--categories", metavar="a,b,c", help="all possible answers, instead of --lower and --upper")
    estimate.add_argument(
        "--confidence", type=float, default=0.95, help="confidence level of the interval (default: %(default)s)"
    )
    estimate.add_argument(
        "--clip",
        action="store_true",
        help="move numbers out of range to the nearer end of the interval, and NaN to its center",
    )
    estimate.add_argument("--json", action="store_true", help="print one JSON object")
    estimate.add_argument("--seed", type=int, help=seed)
    estimate.set_defaults(command=_estimate)

    reproduce = commands.add_parser(
        "reproduce", help="repeat the experiments of the papers: figures, numbers, and whether the claims hold"
    )
    reproduce.add_argument(
        "name", nargs="?", choices=EXPERIMENTS, metavar="NAME", help=f"one of {', '.join(EXPERIMENTS)} (default: all)"
    )
    reproduce.add_argument(
        "--full", action="store_true", help="as many repetitions as in the papers; takes several minutes"
    )
    reproduce.add_argument(
        "--output",
        type=Path,
        default=Path("figures"),
        metavar="DIR",
        help="output directory (default: %(default)s)",
    )
    reproduce.add_argument("--seed", type=int, help=seed)
    reproduce.set_defaults(command=_reproduce)

    plan = commands.add_parser(
        "plan",
        help="sample-size planning: people, epsilon or error, the mechanism, and the lower bound for every mechanism",
        epilog="Give two of --n, --epsilon and --error; the third is computed. Errors are in the unit of the problem's loss, "
        "which is the squared error for means, shares, coefficients and densities.",
    )
    plan.add_argument("problem", choices=PROBLEMS, metavar="PROBLEM", help=f"one of {', '.join(PROBLEMS)}")
    plan.add_argument("--n", type=int, help="number of people")
    plan.add_argument("--epsilon", type=float, metavar="E", help="privacy parameter of each record, or of the release")
    plan.add_argument("--error", type=float, metavar="X", help="largest acceptable error")
    plan.add_argument(
        "--confidence", type=float, metavar="C", help="bound the error with this probability instead of on average"
    )
    for name in _plan_parameters():
        problems = [problem.name for problem in PROBLEMS.values() if name in problem.needed + problem.optional]
        kind = int if name in ("dim", "k") else str if name in ("family", "privacy", "mode") else float
        plan.add_argument(
            "--" + name.replace("_", "-"), type=kind, metavar="V", help=f"parameter of {', '.join(problems)}"
        )
    plan.add_argument(
        "--figure", type=Path, metavar="FILE", help="file for a figure of the errors against n and epsilon (PNG)"
    )
    plan.add_argument("--json", action="store_true", help="print one JSON object")
    plan.set_defaults(command=_plan)

    bench = commands.add_parser(
        "bench", help="speed on this machine, compared with NumPy and with the limit of random bytes and memory"
    )
    bench.add_argument("--seconds", type=float, default=50.0, help="duration in seconds (default: %(default)s)")
    bench.add_argument("--json", metavar="PATH", help="file for all numbers")
    bench.add_argument(
        "--targets", action="store_true", help="for developers: also print the targets for an AVX-512 machine"
    )
    bench.set_defaults(command=_bench)
    return parser


def _demo(arguments: argparse.Namespace) -> int:
    console = optional("rich.console", "demo").Console()
    if not arguments.output.resolve().parent.is_dir():
        raise ValueError(f"--output must be in an existing directory, got {str(arguments.output)!r}")
    from .experiments import demo

    demo(arguments.output, _generator(arguments.seed), console)
    return 0


def _reproduce(arguments: argparse.Namespace) -> int:
    """Repeat the experiments; return status 1 if a claim does not hold."""
    console = optional("rich.console", "demo").Console(markup=False, highlight=False)
    _generator(arguments.seed)  # raises for an invalid seed before anything is run
    arguments.output.mkdir(parents=True, exist_ok=True)
    from .experiments import reproduce

    names = EXPERIMENTS if arguments.name is None else (arguments.name,)
    return int(not reproduce(names, arguments.output, arguments.seed, arguments.full, console))


def _bench(arguments: argparse.Namespace) -> int:
    from .bench import report

    return report(arguments.seconds, arguments.json, arguments.targets)


def _plan_parameters() -> list[str]:
    """Return the names of the parameters of all problems."""
    return list(dict.fromkeys(name for p in PROBLEMS.values() for name in p.needed + p.optional))


def _plan(arguments: argparse.Namespace) -> int:
    problem = PROBLEMS[arguments.problem]
    fixed = {name: value for name in _plan_parameters() if (value := getattr(arguments, name)) is not None}
    for name in problem.needed:
        if name not in fixed:
            raise ValueError(f"--{name.replace('_', '-')} must be given for {problem.name}")
    for name in fixed:
        if name not in problem.needed + problem.optional:
            raise ValueError(f"--{name.replace('_', '-')} must be left out for {problem.name}")
    if arguments.figure is not None and not arguments.figure.resolve().parent.is_dir():
        raise ValueError(f"--figure must be in an existing directory, got {str(arguments.figure)!r}")
    plan = _plans.make_plan(problem.name, arguments.n, arguments.epsilon, arguments.error, arguments.confidence, fixed)
    if arguments.figure is not None:
        from .bounds import _plan_plot

        _plan_plot.save(plan, arguments.figure)
    print(json.dumps(plan.to_dict()) if arguments.json else plan)
    return 0


def _estimate(arguments: argparse.Namespace) -> int:
    bounds = (arguments.lower, arguments.upper)
    categories = None if arguments.categories is None else _categories(arguments.categories)
    if categories is None:
        if None in bounds:
            raise ValueError("either --lower and --upper, or --categories must be given")
        mechanism = for_interval(*bounds, arguments.epsilon)
    else:
        if bounds != (None, None):
            raise ValueError("--lower and --upper must be left out where --categories is given")
        mechanism = for_categories(len(categories), arguments.epsilon)
    _check.probability("--confidence", arguments.confidence)
    with _progress(arguments) as progress:
        estimate = estimate_column(
            arguments.file,
            arguments.column,
            mechanism,
            categories=categories,
            clip=arguments.clip,
            rng=_generator(arguments.seed),
            progress=progress,
        )
    low, high = estimate.interval(arguments.confidence)
    if arguments.json:
        described = {
            **estimate.to_dict(),
            "interval": [np.asarray(low).tolist(), np.asarray(high).tolist()],
            "confidence": arguments.confidence,
            "file": str(arguments.file),
            "column": arguments.column,
            "mechanism": repr(mechanism),
        }
        print(json.dumps(described if categories is None else {**described, "categories": categories}))
    else:
        labels = categories or [f"mean of {arguments.column or arguments.file.name}"]
        _print(estimate, labels, (low, high), arguments.confidence, mechanism)
    return 0


def _generator(seed: int | None) -> np.random.Generator | None:
    """Return a generator for the seed, or None for fresh keys from the operating system."""
    return None if seed is None else np.random.default_rng(_check.integer("--seed", seed, 0))


def _categories(text: str) -> list[str]:
    """Split the labels at commas. A label that contains a comma is quoted as in a CSV file."""
    labels = [label.strip() for label in next(csv.reader([text]), [])]
    if len(labels) < 2 or "" in labels or len(set(labels)) < len(labels):
        raise ValueError(f"--categories must be at least 2 different labels between commas, got {text!r}")
    return labels


def _progress(arguments: argparse.Namespace) -> Any:
    """Return a context manager that shows a progress bar on stderr.

    It yields the function to call with the completed fraction. It yields None if stderr is not a terminal or the output is
    JSON.
    """
    if arguments.json or not sys.stderr.isatty():
        return nullcontext()
    return _Bar(arguments.file.name)


class _Bar:
    def __init__(self, label: str) -> None:
        console = optional("rich.console", "files").Console(stderr=True)
        self._bar = optional("rich.progress", "files").Progress(console=console, transient=True)
        self._task = self._bar.add_task(label, total=1.0)

    def __enter__(self) -> Callable[[float], None]:
        self._bar.start()
        return lambda share: self._bar.update(self._task, completed=share)

    def __exit__(self, *exception: object) -> None:
        self._bar.stop()


def _print(
    estimate: Estimate[Any], labels: Sequence[str], interval: tuple[Any, Any], confidence: float, mechanism: Mechanism
) -> None:
    table = optional("rich.table", "files").Table(box=optional("rich.box", "files").SIMPLE_HEAD)
    table.add_column("")
    for name in ("estimate", "standard error", f"{100 * confidence:g} % interval"):
        table.add_column(name, justify="right")
    rows = zip(labels, *map(np.atleast_1d, (estimate.value, estimate.stderr, *interval)), strict=True)
    for label, value, stderr, low, high in rows:
        decimals = max(0, 1 - int(np.floor(np.log10(stderr))))  # two digits of the standard error
        table.add_row(
            label, f"{value:.{decimals}f}", f"{stderr:.{decimals}f}", f"{low:.{decimals}f} to {high:.{decimals}f}"
        )
    console = optional("rich.console", "files").Console(markup=False)
    console.print(table)
    console.print(f"n = {estimate.n:,}, epsilon = {estimate.epsilon:.6g}, {mechanism!r}", soft_wrap=True)
