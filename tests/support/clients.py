"""The clients of surveys in C and JavaScript, built for tests."""

from __future__ import annotations

import ctypes
import math
import os
import subprocess
import sys
from pathlib import Path

from .process import ROOT, compile_c

WARNINGS = ("-std=c11", "-Wall", "-Wextra", "-Werror")
SANITIZERS = ("-O2", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")


class Client(ctypes.Structure):
    _fields_ = [
        ("table", ctypes.c_void_p), ("message_bytes", ctypes.c_size_t), ("values", ctypes.c_uint32),
        ("questions", ctypes.c_uint32), ("answers", ctypes.c_uint32), ("thresholds", ctypes.c_uint32),
        ("waves", ctypes.c_uint32), ("panel", ctypes.c_uint32), ("rounds", ctypes.c_uint32),
        ("epsilon", ctypes.c_double),
    ]  # fmt: skip


class Value(ctypes.Structure):
    _fields_ = [
        ("number", ctypes.c_double), ("category", ctypes.c_uint32), ("text", ctypes.c_char_p), ("text_bytes", ctypes.c_size_t),
    ]  # fmt: skip


class Person(ctypes.Structure):
    _fields_ = [
        ("kind", ctypes.c_uint32), ("integer", ctypes.c_int64), ("data", ctypes.c_char_p), ("bytes", ctypes.c_size_t),
    ]  # fmt: skip


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


def open_table(
    library: ctypes.CDLL, client: Client, table: bytes, max_epsilon: float = math.inf, fingerprint: bytes | None = None
) -> int:
    """Open a client in C, and return the status."""
    limit, size = ctypes.c_double(max_epsilon), ctypes.c_size_t(len(table))
    return int(library.ldpfast_open(ctypes.byref(client), table, size, limit, fingerprint))


def load_library(folder: Path) -> ctypes.CDLL:
    """Return the client in C of a folder, with the entropy of the operating system, as a shared library."""
    sources = [folder / "ldpfast_client.c", folder / "ldpfast_entropy.c"]
    library = ctypes.CDLL(str(compile_c(folder / "client.so", *sources, flags=("-shared", "-fPIC", *WARNINGS))))
    for name in ("ldpfast_message_bytes", "ldpfast_values", "ldpfast_ledger_room"):
        getattr(library, name).restype = ctypes.c_size_t
    return library
