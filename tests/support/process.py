"""Programs in a fresh interpreter."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import ldpfast as ldp

SOURCE = Path(ldp.__file__).parent.parent


def run_python(code: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a fresh interpreter, with these environment variables and a time limit of 60 seconds."""
    environment = {name: value for name, value in os.environ.items() if name != "LDPFAST_NUM_THREADS"}
    environment |= {"PYTHONPATH": str(SOURCE)} | variables
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
