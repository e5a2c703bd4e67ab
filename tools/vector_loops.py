"""Every loop marked "vector loop" in src/kernels must have been vectorised for every instruction set it is built for.

Asks GCC (-fopt-info-vec). A loop that the compiler gave up on is a bug in the loop. With another compiler than GCC there
is nothing to ask, and the gate says so.
"""

import re
import subprocess
import sys
from pathlib import Path

KERNELS = Path(__file__).parent.parent / "src" / "kernels"
FLAGS = ["-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-Wno-psabi", "-fopt-info-vec-optimized"]
LOOP_LINES = 7  # a basic block is reported at a line of the loop's body
# Plain C has 16-byte vectors; what they lack is named here with the reason.
PLAIN_MAY_LACK = {
    "symbols_body.h": "floor has no SSE2 form",
    "clipped_body.h": "64-bit comparisons need SSE4.2",
    "normal_body.h": "doubles two at a time do not pay",
    "codes_body.h": "64-bit comparisons need SSE4.2",
}


def main() -> int:
    version = subprocess.run(["cc", "--version"], capture_output=True, text=True, check=True).stdout
    if "clang" in version:
        print("vector loops: not checked, the compiler is Clang")
        return 0
    marked = {
        (path.name, number)
        for path in KERNELS.glob("*_body.h")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if "vector loop" in line
    }
    if not marked:
        print("vector loops: none are marked")
        return 1
    widths: dict[tuple[str, int], set[int]] = {}
    for source in sorted(KERNELS.glob("*.c")):
        command = ["cc", *FLAGS, "-c", source.name, "-o", "/dev/null"]
        report = subprocess.run(command, cwd=KERNELS, capture_output=True, text=True, check=True).stderr
        # A loop of few rounds is unrolled first and vectorised as a basic block.
        pattern = r"(\w+\.h):(\d+):\d+: optimized: *(?:loop|basic block part) vectorized using (\d+) byte"
        for name, line, width in re.findall(pattern, report):
            widths.setdefault((name, int(line)), set()).add(int(width))
    failures = 0
    for name, number in sorted(marked):
        found = set().union(*(widths.get((name, line), set()) for line in range(number, number + LOOP_LINES)))
        needed = {32, 64} if name in PLAIN_MAY_LACK else {16, 32, 64}
        if not needed <= found:
            failures += 1
            print(
                f"src/kernels/{name}:{number}: vectorised with {sorted(found) or 'nothing'}, needs {sorted(needed)} bytes"
            )
    print(f"vector loops: {len(marked) - failures} of {len(marked)} are vectorised")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
