"""Check that all kernels give the same bits on every instruction set, and compiled for other platforms.

usage: equal_bits.py [--zig]

Compiles tests/native/kernel_hashes.c with the compiler of this machine and for ARM64, and compares what it prints. The second
program runs under user-mode emulation. Needs aarch64-linux-gnu-gcc and qemu-aarch64, for example from the Debian packages
gcc-aarch64-linux-gnu, libc6-dev-arm64-cross and qemu-user.

With --zig, the program is compiled by the Clang of the package ziglang for Linux with musl, Windows, macOS and WebAssembly
instead. Programs for Linux run here or under emulation, those for Windows under Wine, those for WebAssembly in Node.js. What is
not installed is left out, and programs for macOS are only linked.
"""

import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KERNELS = ROOT / "src" / "kernels"
# The flags of setup.py that decide about bits.
FLAGS = ["-O2", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-Wno-psabi", f"-I{KERNELS}"]
X86 = {"plain C": "0", "AVX2": "1", "AVX-512": "2"}
OTHER = {"plain C": "0"}
UNSUPPORTED = 2  # exit status of the program
RUN_WASI = ROOT / "tools" / "run_wasi.mjs"
ZIG = [sys.executable, "-m", "ziglang", "cc", "-target"]


@dataclass(frozen=True)
class Target:
    """A platform: its compiler, its linker flags, the command that runs its programs, and its instruction sets.

    The command is empty where programs run directly, and None where nothing can run them.
    """

    name: str
    compiler: list[str]
    link: list[str]
    run: list[str] | None
    instruction_sets: dict[str, str]


NATIVE = Target("this machine", ["gcc"], ["-static", "-lm"], [], X86)
ARM64 = Target("ARM64", ["aarch64-linux-gnu-gcc"], ["-static", "-lm"], ["qemu-aarch64"], OTHER)
ZIG_TARGETS = [
    Target("musl x86-64", [*ZIG, "x86_64-linux-musl"], ["-static"], [], X86),
    Target("musl ARM64", [*ZIG, "aarch64-linux-musl"], ["-static"], ["qemu-aarch64"], OTHER),
    Target("Windows x86-64", [*ZIG, "x86_64-windows-gnu"], ["-lbcrypt"], ["wine"], X86),
    Target("WebAssembly", [*ZIG, "wasm32-wasi"], [], ["node", "--no-warnings", str(RUN_WASI)], OTHER),
    Target("macOS x86-64", [*ZIG, "x86_64-macos"], [], None, X86),
    Target("macOS ARM64", [*ZIG, "aarch64-macos"], [], None, OTHER),
]


def build(target: Target, folder: Path) -> Path:
    """Return the program, compiled and linked."""
    sources = [ROOT / "tests" / "native" / "kernel_hashes.c", *sorted(KERNELS.glob("**/*.c"))]
    folder.mkdir()
    objects = [folder / f"{number}.o" for number in range(len(sources))]

    def compile_one(pair: tuple[Path, Path]) -> None:
        subprocess.run([*target.compiler, *FLAGS, "-c", str(pair[0]), "-o", str(pair[1])], check=True)

    with ThreadPoolExecutor() as pool:
        list(pool.map(compile_one, zip(sources, objects, strict=True)))
    program = folder / "kernel_hashes.exe"  # Wine wants the suffix
    command = [*target.compiler, *map(str, objects), *target.link]
    subprocess.run([*command, "-o", str(program)], check=True)
    return program


def output(*command: str) -> list[str] | None:
    """Return the lines that a command prints; None if the processor does not support the instruction set."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in (0, UNSUPPORTED):
        sys.exit(f"equal bits: {' '.join(command)} failed with status {done.returncode}: {done.stderr}")
    return done.stdout.splitlines() if done.returncode == 0 else None


def main() -> int:
    targets = ZIG_TARGETS if sys.argv[1:] == ["--zig"] else [ARM64]
    needed = ["gcc", "aarch64-linux-gnu-gcc", "qemu-aarch64"]
    missing = [tool for tool in needed if shutil.which(tool) is None]
    if missing:
        print(f"equal bits: not found: {', '.join(missing)}. {__doc__}")
        return 1
    found: dict[str, list[str] | None] = {}
    with tempfile.TemporaryDirectory() as name:
        for number, target in enumerate([NATIVE, *targets]):
            program = str(build(target, Path(name) / str(number)))
            if target.run is None or not all(map(shutil.which, target.run[:1])):
                print(f"equal bits: {target.name}: compiled and linked, not run")
                continue
            for label, isa in target.instruction_sets.items():
                found[f"{target.name}, {label}"] = output(*target.run, program, isa)
    expected, different = found[f"{NATIVE.name}, plain C"] or [], 0
    for label, lines in found.items():
        if lines is None:
            print(f"equal bits: {label}: not supported by this processor")
        elif lines != expected:
            wrong = [line for line, right in zip(lines, expected, strict=False) if line != right]
            print("\n".join([f"equal bits: {label} differs from plain C:", *wrong]))
            different += 1
    compared = [label for label, lines in found.items() if lines is not None]
    print(f"equal bits: {len(expected)} lines, {different} differ among: {'; '.join(compared)}")
    return 1 if different or not expected else 0


if __name__ == "__main__":
    sys.exit(main())
