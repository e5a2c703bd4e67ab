"""Wide instructions live in functions of their own, reached after a run-time probe: a disassembly of the built modules.

Every function that uses ymm or zmm registers must carry the name of its instruction set; everything else runs anywhere.
"""

import re
import subprocess
import sys
import sysconfig
from pathlib import Path


def main() -> int:
    if sysconfig.get_platform().split("-")[-1] != "x86_64":
        print("baseline: not checked, this is not x86-64")
        return 0
    objects = sorted(Path("build").rglob("temp.*/**/*.o"))
    if not objects:
        print("baseline: no object files under build/")
        return 1
    wide, bad = 0, set()
    for path in objects:
        listing = subprocess.run(
            ["objdump", "-d", "--no-show-raw-insn", path], capture_output=True, text=True, check=True
        ).stdout
        name = ""
        for line in listing.splitlines():
            heading = re.match(r"[0-9a-f]+ <(.+)>:", line)
            if heading:
                name = heading[1]
            elif re.search(r"%[yz]mm", line):
                wide += 1
                if not re.search(r"_avx(2|512)(\.|$)", name):
                    bad.add((path.name, name))
    for where, name in sorted(bad):
        print(f"{where}: {name} uses wide registers")
    print(f"baseline: {wide} wide instructions in {len(objects)} objects, {len(bad)} functions have them by mistake")
    return bool(bad) or wide == 0


if __name__ == "__main__":
    sys.exit(main())
