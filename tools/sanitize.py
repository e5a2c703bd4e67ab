"""Build with the address and undefined-behaviour sanitizers into a folder of its own and run the suite there."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
TREE = ROOT / "build" / "sanitize"
# Statistics, examples and plain mathematics need no sanitizer, and package and timing tests measure another build.
LEFT_OUT = [
    "test_statistics.py",
    "test_package.py",
    "test_bench.py",
    "test_cli.py",
    "test_experiments.py",
    "test_readme.py",
    "test_guide.py",
    "test_reproduce.py",
    "test_coverage.py",
    "test_estimation.py",
    "test_regression.py",
    "test_gaussian.py",
    "test_gaussian_law.py",
    "test_privacy_channel.py",
    "test_privacy_conversions.py",
    "test_audit.py",
    "test_central_mean.py",
    "test_central_density.py",
    "test_central_influence.py",
    "test_bounds_guide.py",
    "test_bounds_methods.py",
    "test_bounds_planning.py",
    "test_bounds_problems.py",
]


def library(name: str) -> str:
    return subprocess.run(
        ["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True
    ).stdout.strip()


def main() -> int:
    shutil.rmtree(TREE, ignore_errors=True)
    TREE.mkdir(parents=True)
    for name in ("src", "ldpfast", "tests", "setup.py", "pyproject.toml", "README.md", "LICENSE"):
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
