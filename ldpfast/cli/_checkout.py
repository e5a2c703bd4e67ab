"""Packages of a checkout that are not part of the installed package: `experiments` and `benchmarks`."""

from __future__ import annotations

import sys
import tomllib
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

REPOSITORY = "https://github.com/ldpfast/ldpfast"
SOURCE = Path(__file__).resolve().parents[2]  # the checkout, if the installation is editable


def load(module: str) -> ModuleType | None:
    """Return a module such as `experiments.demo`, or None without a checkout.

    The checkout is the current directory, or the one that ldpfast is imported from. A package that is imported from a checkout
    already is used in any directory.
    """
    package = module.partition(".")[0]
    loaded = sys.modules.get(package)
    if loaded is None or not _is_checkout(Path(loaded.__file__ or "").parent.parent, package):
        checkouts = [directory for directory in (Path.cwd(), SOURCE) if _is_checkout(directory, package)]
        if not checkouts:
            return None
        import_package(checkouts[0] / package)
    return import_module(module)


def import_package(directory: Path) -> None:
    """Import a package of a checkout.

    The checkout is not added to `sys.path`, where its source tree could replace the installed package.
    """
    spec = spec_from_file_location(directory.name, directory / "__init__.py")
    assert spec is not None
    assert spec.loader is not None
    package = sys.modules[directory.name] = module_from_spec(spec)
    spec.loader.exec_module(package)


def _is_checkout(directory: Path, package: str) -> bool:
    """Return whether a directory has a package and the project file of ldpfast."""
    if not (directory / package / "__init__.py").is_file() or not (directory / "pyproject.toml").is_file():
        return False
    try:
        return bool(tomllib.loads((directory / "pyproject.toml").read_text("utf-8"))["project"]["name"] == "ldpfast")
    except (LookupError, OSError, TypeError, ValueError):
        return False
