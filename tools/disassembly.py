"""Disassembly of the built extension, for the checks of instructions."""

import re
import subprocess
import sysconfig
from collections.abc import Iterator
from pathlib import Path


def is_x86_64() -> bool:
    """Return whether this machine is x86-64."""
    return sysconfig.get_platform().split("-")[-1] == "x86_64"


def instructions() -> Iterator[tuple[str, str, str]]:
    """Yield object file, function and line of each instruction in the objects under build/, function by function."""
    for path in sorted(Path("build").glob("temp.*/**/*.o")):  # not the objects of the sanitizer build
        command = ["objdump", "-d", "--no-show-raw-insn", str(path)]
        name = ""
        for line in subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines():
            heading = re.match(r"[0-9a-f]+ <(.+)>:", line)
            if heading:
                name = heading[1]
            else:
                yield str(path), name, line
