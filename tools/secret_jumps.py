"""No jump on a comparison of floating-point numbers in the kernels that claim a time independent of the record.

Reads the disassembly of the built objects (x86-64): in the functions named below a `comis` that is followed by a conditional
jump is a choice that somebody could time. Integer comparisons are not told apart from loop counters and are left to review.
"""

import re
import subprocess
import sys
import sysconfig
from pathlib import Path

KERNELS = "respond|sign_bits|residues|bins|vertices|agreements|finish_row|row|coins_direct|encode|own_bit"
CLAIMED = rf"^({KERNELS}|privatize_(response|residue|bins|sign_bit|linf|l2))"
COMPARE, JUMP = re.compile(r"\tv?u?comis[sd]\s"), re.compile(r"\tj(?!mp)\w+\s")
OTHER_FLAGS = re.compile(
    r"\t(cmp|test|add|sub|and|or|xor|inc|dec|neg|not|sh|sar|imul|bt|popcnt)"
)  # of another question


def main() -> int:
    if sysconfig.get_platform().split("-")[-1] != "x86_64":
        print("secret jumps: not checked, this is not x86-64")
        return 0
    seen, bad = set(), []
    for path in sorted(Path("build").rglob("temp.*/**/*.o")):
        listing = subprocess.run(
            ["objdump", "-d", "--no-show-raw-insn", path], capture_output=True, text=True, check=True
        )
        name, compared = "", False
        for line in listing.stdout.splitlines():
            heading = re.match(r"[0-9a-f]+ <(.+)>:", line)
            if heading:
                name, compared = heading[1], False
            elif re.match(CLAIMED, name):
                seen.add(name)
                compared = bool(COMPARE.search(line)) or (compared and not OTHER_FLAGS.search(line))
                if compared and JUMP.search(line):
                    bad.append(f"{path.name}: {name}: {line.strip()}")
    print("\n".join([*sorted(set(bad)), f"secret jumps: {len(seen)} functions read, {len(set(bad))} complaints"]))
    return bool(bad) or not seen


if __name__ == "__main__":
    sys.exit(main())
