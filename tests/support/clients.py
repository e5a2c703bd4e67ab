"""The clients of surveys in C and JavaScript, built for tests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from .process import ROOT


def amalgamate(folder: Path) -> Path:
    """Write the client in C to a folder, in one file."""
    return _run("amalgamate.py", folder)


def build_package(folder: Path) -> Path:
    """Write the npm package to a folder. Needs ziglang."""
    return _run("client_wasm.py", folder)


def _run(tool: str, folder: Path) -> Path:
    command = [sys.executable, ROOT / "tools" / tool, "--output", folder]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}  # tools import others
    done = subprocess.run(command, env=environment, check=False, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return folder


def zig_cc(folder: Path, sources: list[Path], *flags: str) -> Path:
    """Compile the client in C by the Clang of ziglang and return the path of the program."""
    amalgamate(folder)
    program = folder / "program"
    command = [sys.executable, "-m", "ziglang", "cc", "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", f"-I{folder}"]
    command += [*flags, *map(str, sources), "-o", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    return program
