"""Check in the disassembly that wide instructions occur only in functions that are called after a run-time probe.

A function that uses ymm or zmm registers must have the instruction set in its name. All other functions run on any machine.
"""

import re
import sys

from disassembly import instructions, is_x86_64


def main() -> int:
    if not is_x86_64():
        print("baseline: not checked, this is not x86-64")
        return 0
    wide = 0
    bad = set()
    objects = set()
    for where, name, line in instructions():
        objects.add(where)
        if re.search(r"%[yz]mm", line):
            wide += 1
            if not re.search(r"_(avx2|avx512|vaes256|vaes512)(\.|$)", name):
                bad.add((where, name))
    for where, name in sorted(bad):
        print(f"{where}: {name} uses wide registers")
    print(f"baseline: {wide} wide instructions in {len(objects)} objects, {len(bad)} problems")
    return bool(bad) or wide == 0


if __name__ == "__main__":
    sys.exit(main())
