"""Check that wheel and sdist contain all files of the package, and no build products or caches."""

import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

from distributions import build_sdist

ROOT = Path(__file__).parent.parent
EXTENSIONS = {"native"}  # all Cython modules are in this file


def print_problems(where: str, problems: list[str]) -> int:
    """Print the problems of a file; return their number."""
    for problem in problems:
        print(f"{where}: {problem}")
    return len(problems)


def main() -> int:
    (wheel,) = (ROOT / "build" / "wheel").glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    python = {str(p.relative_to(ROOT)) for p in (ROOT / "ldpfast").rglob("*.py*") if "__pycache__" not in p.parts}
    problems = [f"missing: {name}" for name in sorted(python - names)]
    contained = {name for name in names if name.endswith((".py", ".pyi"))}
    problems += [f"not in the source tree: {name}" for name in sorted(contained - python)]
    built = {Path(name).name.split(".")[0] for name in names if name.endswith(".so")}
    problems += [f"missing: extension {name}" for name in sorted(EXTENSIONS - built)]
    problems += [f"not allowed: {n}" for n in sorted(names) if Path(n).suffix in (".pyx", ".c", ".h")]
    problems += [f"not allowed: {n}" for n in sorted(names) if not n.startswith(("ldpfast/", "ldpfast-"))]
    problems += [] if any(n.endswith("LICENSE") for n in names) else ["missing: license"]
    failures = print_problems(wheel.name, problems)
    with tempfile.TemporaryDirectory() as folder:
        sdist = build_sdist(Path(folder))
        with tarfile.open(sdist) as archive:
            contained = {str(Path(*Path(name).parts[1:])) for name in archive.getnames()}
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )
    wanted = {n for n in tracked if n and not n.startswith(".git")}
    problems = [f"missing: {name}" for name in sorted(wanted - contained)]
    problems += [f"not allowed: {n}" for n in sorted(contained) if n.endswith((".so", ".pyc")) or "__pycache__" in n]
    failures += print_problems("sdist", problems)
    print(f"contents: {len(names)} files in the wheel, {len(contained)} in the sdist, {failures} problems")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
