"""Check that code without the GIL does not acquire it, neither explicitly nor to check for an exception after a call.

Cython rejects Python objects inside `nogil`. It reports a check for an exception as a performance hint, which fails here.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

SRC = Path(__file__).parent.parent / "src"


def main() -> int:
    failures = []
    for path in sorted(SRC.rglob("*.p[yx][xdi]")):
        failures += [
            f"{path.relative_to(SRC.parent)}:{number}: acquires the GIL"
            for number, line in enumerate(path.read_text().splitlines(), 1)
            if "with gil" in line
        ]
    modules = sorted(SRC.rglob("*.pyx"))
    with tempfile.TemporaryDirectory() as folder:
        for module in modules:
            directives = [
                f"-X{name}=False" for name in ("boundscheck", "wraparound", "initializedcheck", "annotation_typing")
            ]  # as in setup.py
            command = ["-3", *directives, "-I", str(SRC), "-o", str(Path(folder) / f"{module.stem}.c"), str(module)]
            done = subprocess.run(
                [sys.executable, "-m", "cython", *command], capture_output=True, text=True, check=True
            )
            failures += [line for line in (done.stdout + done.stderr).splitlines() if "performance hint" in line]
    print("\n".join([*failures, f"nogil code: {len(modules)} modules read, {len(failures)} problems"]))
    return bool(failures) or not modules


if __name__ == "__main__":
    sys.exit(main())
