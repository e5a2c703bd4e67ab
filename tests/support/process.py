"""Programs in a fresh interpreter, and programs in C."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import ldpfast as ldp

SOURCE = Path(ldp.__file__).parent.parent
ROOT = Path(__file__).parent.parent.parent
NATIVE, KERNELS = ROOT / "tests" / "native", ROOT / "src" / "kernels"


def run_python(code: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a fresh interpreter, with these environment variables and a time limit of 5 minutes."""
    environment = {name: value for name, value in os.environ.items() if name != "LDPFAST_NUM_THREADS"}
    environment |= {"PYTHONPATH": str(SOURCE)} | variables
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=300, check=False
    )


def compile_c(output: Path, *sources: Path, flags: tuple[str, ...] = ()) -> Path:
    """Compile C files, which may include headers of the kernels, to a program; return its path."""
    compiler = (os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc").split()[0]
    subprocess.run([compiler, "-O1", "-Wno-psabi", f"-I{KERNELS}", *flags, *sources, "-o", output], check=True)
    return output
