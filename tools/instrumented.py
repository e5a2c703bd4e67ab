"""Builds with a sanitizer, in a folder of their own, for tools that run tests with them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILES = ("src", "ldpfast", "tests", "docs", "setup.py", "pyproject.toml", "README.md", "LICENSE")


def build(mode: str) -> Path:
    """Copy the checkout to build/<mode>, and build it there with LDPFAST_BUILD=<mode>; return the folder."""
    tree = ROOT / "build" / mode
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir(parents=True)
    for name in FILES:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, tree / name, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
        else:
            shutil.copy(source, tree / name)
    environment = os.environ | {"LDPFAST_BUILD": mode}
    subprocess.run([sys.executable, "setup.py", "-q", "build_ext", "--inplace"], cwd=tree, env=environment, check=True)
    return tree


def library(name: str) -> str:
    """Return the path of a library of GCC."""
    return subprocess.run(
        ["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True
    ).stdout.strip()
