"""Build of the extension module. All other settings are in pyproject.toml.

All Cython modules and all C files are linked into one extension file, ``ldpfast._core.native``. Each file is compiled once,
and all modules share one copy of the kernels and of the choice of instruction set. ``ldpfast/_core/__init__.py`` loads the
modules.

The environment variable LDPFAST_BUILD sets the mode: release (default), debug, coverage, races, sanitize.
"""

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

SRC = Path("src")
HEADERS = [str(path) for pattern in ("kernels/**/*.h", "ldpfast/**/*.pxd") for path in sorted(SRC.glob(pattern))]

# -ffp-contract=off: results are identical for every instruction set. -fno-math-errno, -fno-trapping-math: square roots and
# comparisons are vectorized. -Wno-psabi: vectors are arguments of inlined functions only.
FLAGS = {
    "release": ["-O3", "-g0"],
    "debug": ["-O0", "-g"],
    "coverage": ["-O1", "-g"],
    "races": ["-O1", "-g", "-fsanitize=thread"],
    "sanitize": ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"],
}
ALWAYS = ["-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-fvisibility=hidden", "-Wno-psabi"]

WINDOWS = sys.platform == "win32"

# Functions of other libraries are found when the module is loaded: otherwise their first call, between two steps of the cipher,
# saves the registers with the round keys on the stack.
LINK = ["-Wl,-z,relro,-z,now"] if sys.platform == "linux" else []

mode = os.environ.get("LDPFAST_BUILD", "release")
if mode not in FLAGS:
    sys.exit(f"LDPFAST_BUILD must be one of {', '.join(FLAGS)}, got {mode!r}")


class BuildInParallel(build_ext):
    """The command build_ext with parallel compilation on all processors."""

    def build_extension(self, extension: Extension) -> None:
        compile_serially = self.compiler.compile

        def compile_in_parallel(sources: list[str], **options: object) -> list[str]:
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                return [
                    name for names in pool.map(lambda s: compile_serially([s], **options), sources) for name in names
                ]

        self.compiler.compile = compile_in_parallel
        super().build_extension(extension)


modules = cythonize(
    [Extension(f"ldpfast._core.{path.stem}", [str(path)]) for path in sorted(SRC.glob("ldpfast/_core/*.pyx"))],
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
setup(
    # Without this, setuptools uses the compiler of Visual Studio, which cannot compile the kernels. The environment variable CC
    # names a Clang that compiles for x86_64-windows-gnu.
    options={"build_ext": {"compiler": "mingw32"}} if WINDOWS else {},
    cmdclass={"build_ext": BuildInParallel},
    ext_modules=[
        Extension(
            "ldpfast._core.native",
            [source for module in modules for source in module.sources]
            + [str(path) for path in sorted(SRC.glob("kernels/**/*.c"))],
            include_dirs=[str(SRC / "kernels")],
            depends=HEADERS,
            extra_compile_args=FLAGS[mode] + ALWAYS,
            libraries=["bcrypt"] if WINDOWS else [],
            extra_link_args=LINK + [flag for flag in FLAGS[mode] if flag.startswith("-fsanitize")],
            define_macros=[("CYTHON_TRACE_NOGIL", "1")] if mode == "coverage" else [],
        )
    ],
)
