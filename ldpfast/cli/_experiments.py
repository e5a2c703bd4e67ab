"""The commands demo and reproduce, which run the experiments of a checkout. They are not part of the installed package."""

from __future__ import annotations

import argparse
from pathlib import Path
from types import ModuleType
from typing import Any

from . import _checkout
from ._command_arguments import console, generator, output_file

EPILOG = (
    f"The experiments are part of the repository {_checkout.REPOSITORY}, and not of the installed package. "
    "The command takes them from the current directory, if it is a checkout, or from the checkout that ldpfast comes from."
)


def add_commands(commands: Any, seed: str) -> None:
    """Add the commands to a parser. `seed` is the help of the option."""
    demo = commands.add_parser(
        "demo",
        help="in a checkout: private estimates beside the true values, on two well-known surveys",
        epilog=EPILOG,
    )
    demo.add_argument(
        "--output", type=Path, default=Path("ldpfast-demo.png"), help="file for the figure (default: %(default)s)"
    )
    demo.add_argument("--seed", type=int, help=seed)
    demo.set_defaults(command=_demo)

    reproduce = commands.add_parser(
        "reproduce",
        help="in a checkout: repeat the experiments of the papers: figures, numbers, and whether the claims hold",
        epilog=EPILOG,
    )
    reproduce.add_argument("names", nargs="*", metavar="NAME", help="experiments, see --list (default: all)")
    reproduce.add_argument(
        "--list",
        action="store_true",
        help="print the name, the paper and the claim of each experiment, and run nothing",
    )
    reproduce.add_argument(
        "--full", action="store_true", help="as many repetitions as in the papers; takes several minutes"
    )
    reproduce.add_argument(
        "--output", type=Path, default=Path("figures"), metavar="DIR", help="output directory (default: %(default)s)"
    )
    reproduce.add_argument("--seed", type=int, help=seed)
    reproduce.set_defaults(command=_reproduce)


def _demo(arguments: argparse.Namespace) -> int:
    """Print private estimates beside the true values, and draw them."""
    demo = _experiment("demo")
    shown = console("demo")
    output_file("--output", arguments.output)
    demo.demo(arguments.output, generator(arguments.seed), shown)
    return 0


def _reproduce(arguments: argparse.Namespace) -> int:
    """Repeat the experiments of the papers, or list them; return status 1 if a claim does not hold."""
    studies = _experiment("reproduce")
    names = tuple(dict.fromkeys(arguments.names)) or studies.EXPERIMENTS
    for name in names:
        if name not in studies.EXPERIMENTS:
            raise ValueError(f"NAME must be one of {', '.join(studies.EXPERIMENTS)}; got {name!r}")
    shown = console("demo", markup=False, highlight=False)
    generator(arguments.seed)  # raises for an invalid seed before anything is run
    if arguments.list:
        shown.print(studies.listing(names))
        return 0
    arguments.output.mkdir(parents=True, exist_ok=True)
    return int(not studies.reproduce(names, arguments.output, arguments.seed, arguments.full, shown))


def _experiment(command: str) -> ModuleType:
    """Return the package that a command runs."""
    found = _checkout.load({"demo": "experiments.demo", "reproduce": "experiments.studies"}[command])
    if found is None:
        raise ModuleNotFoundError(
            f"{command} must be run in a checkout, which has the experiments: run git clone {_checkout.REPOSITORY} "
            f"&& cd ldpfast && ldpfast {command}; got the directory {str(Path.cwd())!r}"
        )
    return found
