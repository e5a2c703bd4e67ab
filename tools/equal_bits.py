"""Check that all kernels give the same bits on every instruction set, and compiled for ARM64.

Compiles tests/native/kernel_hashes.c with the compiler of this machine and with a cross compiler, and compares what it prints.
The second program runs under user-mode emulation. Needs aarch64-linux-gnu-gcc and qemu-aarch64, for example from the Debian
packages gcc-aarch64-linux-gnu, libc6-dev-arm64-cross and qemu-user.
"""

import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KERNELS = ROOT / "src" / "kernels"
# The flags of setup.py that decide about bits.
FLAGS = ["-O2", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-Wno-psabi", f"-I{KERNELS}"]
INSTRUCTION_SETS = {"plain C": "0", "AVX2": "1", "AVX-512": "2"}
UNSUPPORTED = 2  # exit status of the program


def build(compiler: str, folder: Path) -> Path:
    """Return the program, compiled and linked without shared libraries."""
    sources = [ROOT / "tests" / "native" / "kernel_hashes.c", *sorted(KERNELS.glob("**/*.c"))]
    objects = [folder / f"{compiler}-{number}.o" for number in range(len(sources))]

    def compile_one(pair: tuple[Path, Path]) -> None:
        subprocess.run([compiler, *FLAGS, "-c", str(pair[0]), "-o", str(pair[1])], check=True)

    with ThreadPoolExecutor() as pool:
        list(pool.map(compile_one, zip(sources, objects, strict=True)))
    program = folder / compiler
    subprocess.run([compiler, "-static", *map(str, objects), "-lm", "-o", str(program)], check=True)
    return program


def output(*command: str) -> list[str] | None:
    """Return the lines that a command prints; None if the processor does not support the instruction set."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in (0, UNSUPPORTED):
        sys.exit(f"equal bits: {' '.join(command)} failed with status {done.returncode}: {done.stderr}")
    return done.stdout.splitlines() if done.returncode == 0 else None


def main() -> int:
    missing = [tool for tool in ("gcc", "aarch64-linux-gnu-gcc", "qemu-aarch64") if shutil.which(tool) is None]
    if missing:
        print(f"equal bits: not found: {', '.join(missing)}. {__doc__}")
        return 1
    with tempfile.TemporaryDirectory() as name:
        native, cross = (build(compiler, Path(name)) for compiler in ("gcc", "aarch64-linux-gnu-gcc"))
        found = {label: output(str(native), number) for label, number in INSTRUCTION_SETS.items()}
        found["ARM64"] = output("qemu-aarch64", str(cross))
    expected, different = found["plain C"] or [], 0
    for label, lines in found.items():
        if lines is None:
            print(f"equal bits: {label}: not supported by this processor")
        elif lines != expected:
            wrong = [line for line, right in zip(lines, expected, strict=False) if line != right]
            print("\n".join([f"equal bits: {label} differs from plain C:", *wrong]))
            different += 1
    print(f"equal bits: {len(expected)} lines on {len(found)} instruction sets, {different} differ")
    return 1 if different or not expected else 0


if __name__ == "__main__":
    sys.exit(main())
