"""Check that GCC vectorizes every loop marked "vector loop" in src/kernels, for every instruction set.

The report comes from -fopt-info-vec. Clang has no such report; the check is then skipped with a message.
"""

import re
import subprocess
import sys
from pathlib import Path

KERNELS = Path(__file__).parent.parent / "src" / "kernels"
FLAGS = ["-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-Wno-psabi", "-fopt-info-vec-optimized"]
LOOP_LINES = 7  # a vectorized basic block is reported at a line of the loop body
# Loops that need not be vectorized in plain C, which has 16-byte vectors, and the reason.
PLAIN_MAY_LACK = {
    "clipped_body.h": "64-bit comparisons need SSE4.2",
    "discrete_gaussian_body.h": "64-bit comparisons need SSE4.2",
    "normals_body.h": "vectors of two doubles are not faster",
    "series_body.h": "64-bit comparisons need SSE4.2",
}


def main() -> int:
    version = subprocess.run(["cc", "--version"], capture_output=True, text=True, check=True).stdout
    if "clang" in version:
        print("vector loops: not checked, the compiler is Clang")
        return 0
    marked = {
        (path.name, number): path.relative_to(KERNELS)
        for path in KERNELS.rglob("*_body.h")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if "vector loop" in line
    }
    if not marked:
        print("vector loops: none are marked")
        return 1
    widths: dict[tuple[str, int], set[int]] = {}
    for source in sorted(KERNELS.rglob("*.c")):
        command = ["cc", *FLAGS, "-I", ".", "-c", str(source.relative_to(KERNELS)), "-o", "/dev/null"]
        report = subprocess.run(command, cwd=KERNELS, capture_output=True, text=True, check=True).stderr
        # A loop with few iterations is unrolled first and vectorized as a basic block.
        pattern = r"(\w+\.h):(\d+):\d+: optimized: *(?:loop|basic block part) vectorized using (\d+) byte"
        for name, line, width in re.findall(pattern, report):
            widths.setdefault((name, int(line)), set()).add(int(width))
    failures = 0
    for (name, number), path in sorted(marked.items()):
        found = set().union(*(widths.get((name, line), set()) for line in range(number, number + LOOP_LINES)))
        needed = {32, 64} if name in PLAIN_MAY_LACK else {16, 32, 64}
        if not needed <= found:
            failures += 1
            print(
                f"src/kernels/{path}:{number}: vectorized with {sorted(found) or 'nothing'}, needs {sorted(needed)} bytes"
            )
    print(f"vector loops: {len(marked) - failures} of {len(marked)} are vectorized")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
