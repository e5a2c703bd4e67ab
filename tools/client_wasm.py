"""Build the npm package of the JavaScript client of a survey. clients/js/wasm.c is compiled to WebAssembly.

The compiler is the Clang of the Python package ziglang, in the version that pyproject.toml names, so that the same sources
give the same bytes on every machine.
"""

import argparse
import hashlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

import amalgamate

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "clients" / "js"
FILES = ("index.mjs", "index.d.ts", "package.json", "README.md")
FEATURES = ["--target=wasm32-freestanding", "-mcpu=generic", "-mbulk-memory"]
COMPILE = ["cc", *FEATURES, "-std=c11", "-Os", "-g0", "-Wall", "-Wextra", "-Werror"]
LINK = ["wasm-ld", "--no-entry", "--export=__heap_base", "--stack-first", "-z", "stack-size=131072", "--strip-all"]


def pinned_version() -> str:
    """Return the version of ziglang in pyproject.toml."""
    found = re.search(r'"ziglang==([\d.]+)"', (ROOT / "pyproject.toml").read_text())
    assert found
    return found[1]


def zig(arguments: list[str], folder: Path) -> None:
    """Run a command of Zig in a folder."""
    done = subprocess.run([sys.executable, "-m", "ziglang", *arguments], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"client wasm: {' '.join(arguments)} failed:\n{done.stderr}")


def build(folder: Path) -> Path:
    """Write the npm package to a folder and return the path of the module."""
    work = folder / "build"
    amalgamate.write(work)
    shutil.copy(PACKAGE / "wasm.c", work)
    zig([*COMPILE, "-c", "wasm.c", "-o", "wasm.o"], work)
    zig([*LINK, "wasm.o", "-o", "ldpfast_client.wasm"], work)
    for name in FILES:
        shutil.copy(PACKAGE / name, folder)
    shutil.copy(ROOT / "LICENSE", folder)
    module = folder / "ldpfast_client.wasm"
    shutil.copyfile(work / "ldpfast_client.wasm", module)
    shutil.rmtree(work)
    return module


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "clients" / "js", help="folder of the package")
    version = subprocess.run([sys.executable, "-m", "ziglang", "version"], capture_output=True, text=True)
    if version.returncode or version.stdout.strip() != pinned_version():
        sys.exit(f"client wasm: needs the Python package ziglang=={pinned_version()}")
    module = build(parser.parse_args().output.resolve())
    print(f"{module}: {module.stat().st_size} bytes, SHA-256 {hashlib.sha256(module.read_bytes()).hexdigest()}")


if __name__ == "__main__":
    main()
