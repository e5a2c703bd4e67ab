"""Read the machine code of the built extension, function by function. The checks of instructions use it."""

import re
import subprocess
import sysconfig
from collections.abc import Iterator
from pathlib import Path


def is_x86_64() -> bool:
    return sysconfig.get_platform().split("-")[-1] == "x86_64"


def instructions() -> Iterator[tuple[str, str, str]]:
    """Object file, function and line of each instruction of the objects under build/, one function after the other."""
    for path in sorted(Path("build").glob("temp.*/**/*.o")):  # not those of the sanitizers
        command = ["objdump", "-d", "--no-show-raw-insn", str(path)]
        name = ""
        for line in subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines():
            heading = re.match(r"[0-9a-f]+ <(.+)>:", line)
            if heading:
                name = heading[1]
            else:
                yield str(path), name, line
