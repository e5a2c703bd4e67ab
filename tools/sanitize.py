"""Build with the address and undefined-behavior sanitizers in a separate folder and run the tests there."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
TREE = ROOT / "build" / "sanitize"
# Statistics, examples and mathematics need no sanitizer. Tests of package, time and wiped memory apply to the release build.
LEFT_OUT = [
    "bounds",
    "experiments",
    "privacy",
    "central/test_definitions.py",
    "central/test_density.py",
    "central/test_influence.py",
    "central/test_mean.py",
    "central/test_noise.py",
    "core/test_wiping.py",
    "estimation/gaussian",
    "estimation/test_coverage.py",
    "estimation/test_intervals.py",
    "estimation/test_regression.py",
    "estimation/test_risks.py",
    "mechanisms/test_statistics.py",
    "test_bench.py",
    "test_cli.py",
    "test_guide.py",
    "test_guide_claims.py",
    "test_import_order.py",
    "test_package.py",
    "test_readme.py",
]


def library(name: str) -> str:
    """Return the path of a library of GCC."""
    return subprocess.run(
        ["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True
    ).stdout.strip()


def main() -> int:
    shutil.rmtree(TREE, ignore_errors=True)
    TREE.mkdir(parents=True)
    for name in ("src", "ldpfast", "tests", "docs", "setup.py", "pyproject.toml", "README.md", "LICENSE"):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, TREE / name, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
        else:
            shutil.copy(source, TREE / name)
    environment = os.environ | {"LDPFAST_BUILD": "sanitize"}
    subprocess.run([sys.executable, "setup.py", "-q", "build_ext", "--inplace"], cwd=TREE, env=environment, check=True)
    environment |= {
        "LD_PRELOAD": f"{library('libasan.so')} {library('libstdc++.so')}",
        "ASAN_OPTIONS": "detect_leaks=0",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "PYTHONMALLOC": "malloc",
        "PYTHONPATH": str(TREE),
    }
    command = [sys.executable, "-m", "pytest", "-q", "-x", "--capture=sys", "-p", "no:cacheprovider", "tests"]
    command += [f"--ignore=tests/{name}" for name in LEFT_OUT]
    return subprocess.run(command, cwd=TREE, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
