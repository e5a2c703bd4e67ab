"""The command reproduce, which runs the studies of a checkout. They are not part of the installed package."""

from __future__ import annotations

import argparse
import sys
import tomllib
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from ._command_arguments import console, generator

REPOSITORY = "https://github.com/ldpfast/ldpfast"
SOURCE = Path(__file__).resolve().parents[2]  # the checkout, if the installation is editable
NAME = "studies"


def add_command(commands: Any, seed: str) -> None:
    """Add the command to a parser. `seed` is the help of the option."""
    reproduce = commands.add_parser(
        "reproduce",
        help="in a checkout: repeat the experiments of the papers: figures, numbers, and whether the claims hold",
        epilog=f"The studies are part of the repository {REPOSITORY}, and not of the installed package. The command takes "
        "them from the current directory, if it is a checkout, or from the checkout that ldpfast is imported from.",
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


def _reproduce(arguments: argparse.Namespace) -> int:
    """Repeat the experiments, or list them; return status 1 if a claim does not hold."""
    studies = load_studies()
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


def load_studies() -> ModuleType:
    """Return the package `studies`; import it from a checkout unless it is imported already.

    Raises
    ------
    ModuleNotFoundError
        If neither the current directory nor `SOURCE` is a checkout.
    """
    loaded = sys.modules.get(NAME)
    if loaded is not None and _is_checkout(Path(loaded.__file__ or "").parent.parent):
        return loaded
    for directory in (Path.cwd(), SOURCE):
        if _is_checkout(directory):
            return import_studies(directory)
    raise ModuleNotFoundError(
        f"reproduce must be run in a checkout of {REPOSITORY}, which has the studies; got the directory {str(Path.cwd())!r}"
    )


def import_studies(checkout: Path) -> ModuleType:
    """Import the package `studies` of a checkout.

    The checkout is not added to `sys.path`, where its source tree could replace the installed package.
    """
    spec = spec_from_file_location(NAME, checkout / NAME / "__init__.py")
    assert spec is not None
    assert spec.loader is not None
    studies = sys.modules[NAME] = module_from_spec(spec)
    spec.loader.exec_module(studies)
    return studies


def _is_checkout(directory: Path) -> bool:
    """Return whether a directory has the studies and the project file of ldpfast."""
    if not (directory / NAME / "__init__.py").is_file() or not (directory / "pyproject.toml").is_file():
        return False
    try:
        return bool(tomllib.loads((directory / "pyproject.toml").read_text("utf-8"))["project"]["name"] == "ldpfast")
    except (LookupError, OSError, TypeError, ValueError):
        return False
