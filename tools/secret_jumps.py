"""No jump on a comparison of floating-point numbers in the kernels that claim a time independent of the record.

Reads the disassembly of the built objects (x86-64): in the functions named below a `comis` that is followed by a conditional
jump is a choice that somebody could time. Integer comparisons are not told apart from loop counters and are left to review.
"""

import re
import sys

from disassembly import instructions, is_x86_64

KERNELS = "respond|sign_bits|residues|bins|vertices|agreements|finish_row|row|coins_direct|encode|own_bit|steps|terms|factor_of"
CLAIMED = rf"^({KERNELS}|privatize_(response|residue|bins|sign_bit|linf|l2))"
COMPARE, JUMP = re.compile(r"\tv?u?comis[sd]\s"), re.compile(r"\tj(?!mp)\w+\s")
OTHER_FLAGS = re.compile(
    r"\t(cmp|test|add|sub|and|or|xor|inc|dec|neg|not|sh|sar|imul|bt|popcnt)"
)  # of another question


def main() -> int:
    if not is_x86_64():
        print("secret jumps: not checked, this is not x86-64")
        return 0
    seen, bad, before, compared = set(), [], ("", ""), False
    for where, name, line in instructions():
        compared = compared and (where, name) == before
        before = where, name
        if re.match(CLAIMED, name):
            seen.add(name)
            compared = bool(COMPARE.search(line)) or (compared and not OTHER_FLAGS.search(line))
            if compared and JUMP.search(line):
                bad.append(f"{where}: {name}: {line.strip()}")
    print("\n".join([*sorted(set(bad)), f"secret jumps: {len(seen)} functions read, {len(set(bad))} complaints"]))
    return bool(bad) or not seen


if __name__ == "__main__":
    sys.exit(main())
