"""Command-line interface."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import NoReturn

from .._version import __version__
from . import _analyses, _checkout, _client_tables, _database, _experiments, _plans, _server, _survey_commands
from ._process import one_line, standard_streams, stop_signals


class Parser(argparse.ArgumentParser):
    """Argument parser that reports an error in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"ldpfast: error: {one_line(message)}\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command of the command line.

    Parameters
    ----------
    argv : sequence of str, optional
        Command-line arguments, by default those of the process.

    Returns
    -------
    status : int
        0 on success. 1 if ``reproduce`` finds that a claim does not hold, if ``bench`` finds a wrong
        answer, or if ``withdraw`` knows no such id.

    Raises
    ------
    SystemExit
        With status 2, after one line on stderr, if the usage or the input is invalid, or the results cannot be written to the
        standard output. With status 128 plus the number of the signal if the process is interrupted or told to end; partial
        files are removed.
    """
    parser = _parser()
    with stop_signals(parser), standard_streams(parser):
        arguments = parser.parse_args(argv)
        command: Callable[[argparse.Namespace], int] = arguments.command
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("default", UserWarning)
                warnings.showwarning = _show_warning  # type: ignore[assignment]
                return command(arguments)
        except BrokenPipeError as error:
            parser.error(f"the standard output could not be written: {error.strerror}")
        except RecursionError:
            parser.error("the input must be nested less deeply")
        except (ImportError, OSError, TypeError, ValueError) as error:
            parser.error(str(error))
        except KeyboardInterrupt:
            parser.exit(130, "ldpfast: interrupted\n")


def _show_warning(message: Warning | str, *_: object) -> None:
    """Print a warning in one line."""
    print(f"ldpfast: warning: {one_line(str(message))}", file=sys.stderr)


def _parser() -> Parser:
    parser = Parser(prog="ldpfast", description="Statistics under local differential privacy, with exact guarantees.")
    parser.add_argument("--version", action="version", version=f"ldpfast {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    seed = "make the reports reproducible, hence NOT private; for tests only"

    _experiments.add_commands(commands, seed)

    _survey_commands.add_commands(commands, seed)

    _plans.add_command(commands)

    _analyses.add_command(commands)

    _client_tables.add_command(commands)

    _server.add_commands(commands)
    _database.add_commands(commands)

    bench = commands.add_parser(
        "bench",
        help="speed on this machine, compared with the limit of random bytes and memory, and in a checkout with NumPy",
        epilog=f"The code in NumPy is part of the repository {_checkout.REPOSITORY}, and not of the installed package.",
    )
    bench.add_argument("--seconds", type=float, default=50.0, help="duration in seconds (default: %(default)s)")
    bench.add_argument("--json", metavar="PATH", help="file for all numbers")
    bench.add_argument(
        "--targets", action="store_true", help="for developers: also print the targets for an AVX-512 machine"
    )
    bench.set_defaults(command=_bench)
    return parser


def _bench(arguments: argparse.Namespace) -> int:
    from ..bench._report import report

    in_numpy = _checkout.load("benchmarks.rivals.numpy_cases")
    rivals = None if in_numpy is None else in_numpy.numpy_case
    return report(arguments.seconds, arguments.json, arguments.targets, rivals)
