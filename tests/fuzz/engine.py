"""Fuzz targets with Atheris (libFuzzer), guided by the coverage of the package. `tools/fuzz.py` runs it.

Each line of the standard input is a JSON object: "target", "options" of libFuzzer with folders of inputs, and "log", the
file for its output. For each, a child process fuzzes the target, and its exit code is printed. The package is imported and
instrumented only once.
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import resource
import sys
from random import Random
from typing import Any, NoReturn

import atheris

with atheris.instrument_imports(include=["ldpfast"], enable_loader_override=False):
    import ldpfast

    for _module in pkgutil.walk_packages(ldpfast.__path__, "ldpfast."):
        if not _module.name.startswith(("ldpfast.__main__", "ldpfast.estimation._regression", "ldpfast.bench")):
            importlib.import_module(_module.name)
    from . import targets


def fuzz(name: str, options: list[str]) -> NoReturn:
    """Fuzz a target and end the process."""
    target, most = targets.TARGETS[name], targets.MAX_ADDRESS_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (most, most))  # so that memory counts that is never touched

    def test_one_input(data: bytes) -> None:
        target.check(data)

    def mutate(data: bytes, max_size: int, seed: int) -> bytes:
        def change(part: bytes) -> bytes:
            return bytes(atheris.Mutate(part, len(part) + 32))

        return target.mutate(bytes(data), Random(seed), change)[:max_size]

    atheris.Setup([name, *options], test_one_input, custom_mutator=mutate)
    atheris.Fuzz()
    os._exit(0)


def main() -> None:
    for line in sys.stdin:
        command: dict[str, Any] = json.loads(line)
        child = os.fork()
        if not child:
            log = os.open(command["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(log, 1)
            os.dup2(log, 2)
            fuzz(command["target"], command["options"])
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    main()
