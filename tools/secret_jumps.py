"""Check that kernels with a time independent of the record do not branch on a comparison of floating-point numbers.

Reads the disassembly of the built objects (x86-64). In the functions named below, a `comis` followed by a conditional jump
is a branch that a timing attack could observe. Integer comparisons cannot be distinguished from loop counters;
secret_taint.py finds jumps on them, and addresses, in plain C and with AVX2. This check adds AVX-512 and code that is not run.
"""

import re
import sys

from disassembly import instructions, is_x86_64

# Object files and functions with this claim. See docs/proofs/README.md.
CLAIMED = {
    r"kernels/privatize/(?!laplace)\w+\.o": r".",
    r"kernels/random/coins(_direct)?\.o": r".",
    r"kernels/sgd/quantile\.o": r"piece|steps",
}
COMPARE, JUMP = re.compile(r"\tv?u?comis[sd]\s"), re.compile(r"\tj(?!mp)\w+\s")
# Instructions that set the flags. A jump after one of them does not depend on the comparison.
OTHER_FLAGS = re.compile(r"\t(cmp|test|add|sub|and|or|xor|inc|dec|neg|not|sh|sar|imul|bt|popcnt)")


def is_claimed(where: str, name: str) -> bool:
    """Return whether the claim applies to a function of an object file."""
    return any(re.search(rf"{place}$", where) and re.search(names, name) for place, names in CLAIMED.items())


def main() -> int:
    if not is_x86_64():
        print("secret jumps: not checked, this is not x86-64")
        return 0
    seen = set()
    bad = []
    before = ("", "")
    compared = False
    for where, name, line in instructions():
        compared = compared and (where, name) == before
        before = where, name
        if is_claimed(where, name):
            seen.add(name)
            compared = bool(COMPARE.search(line)) or (compared and not OTHER_FLAGS.search(line))
            if compared and JUMP.search(line):
                bad.append(f"{where}: {name}: {line.strip()}")
    print("\n".join([*sorted(set(bad)), f"secret jumps: {len(seen)} functions read, {len(set(bad))} problems"]))
    return bool(bad) or not seen


if __name__ == "__main__":
    sys.exit(main())
