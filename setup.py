"""Builds the extension modules; everything else is in pyproject.toml.

LDPFAST_BUILD chooses the mode: release (default), debug, coverage, sanitize.
"""

import os
import sys
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

SRC = Path("src")
COMMON = ["dispatch", "chacha"]
MODULES = {
    "stream": ["coins", "normal"],
    "codes": ["codes", "symbols"],
    "bits": ["coins", "unary", "popcount"],
    "halfspace": ["coins", "linf", "normal", "l2", "popcount", "sums"],
    "noise": ["coins", "gaussian", "laplace", "sums"],
    "sums": ["clipped", "sums"],
    "order": ["coins"],
    "domains": ["domain"],
    "series": ["series"],
    "sgd": ["coins", "descent", "l2", "median", "normal"],
}
HEADERS = [str(p) for pattern in ("*.pxd", "*.pxi", "kernels/*.h") for p in sorted(SRC.glob(pattern))]

# Equal bits on every instruction set need -ffp-contract=off; square roots and comparisons vectorise only where they may
# not set errno or trap. -Wno-psabi: vectors never cross a call that is not inlined.
FLAGS = {
    "release": ["-O3", "-g0"],
    "debug": ["-O0", "-g"],
    "coverage": ["-O1", "-g"],
    "sanitize": ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"],
}
ALWAYS = ["-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-fvisibility=hidden", "-Wno-psabi"]

mode = os.environ.get("LDPFAST_BUILD", "release")
if mode not in FLAGS:
    sys.exit(f"LDPFAST_BUILD must be one of {', '.join(FLAGS)}, got {mode!r}")

extensions = [
    Extension(
        f"ldpfast._core.{name}",
        [str(SRC / f"{name}.pyx"), *(str(SRC / "kernels" / f"{c}.c") for c in COMMON + kernels)],
        include_dirs=[str(SRC / "kernels")],
        depends=HEADERS,
        extra_compile_args=FLAGS[mode] + ALWAYS,
        extra_link_args=[flag for flag in FLAGS[mode] if flag.startswith("-fsanitize")],
        define_macros=[("CYTHON_TRACE_NOGIL", "1")] if mode == "coverage" else [],
    )
    for name, kernels in MODULES.items()
]
setup(
    ext_modules=cythonize(
        extensions,
        include_path=[str(SRC)],
        build_dir=None if mode == "coverage" else "build/cython",
        force=mode != "release",
        compiler_directives={
            "language_level": 3,
            "boundscheck": False,
            "wraparound": False,
            "cdivision": True,
            "initializedcheck": False,
            "freethreading_compatible": True,
            "linetrace": mode == "coverage",
        },
    )
)
