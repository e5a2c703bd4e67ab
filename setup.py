"""Build of the extension module. All other settings are in pyproject.toml.

All Cython modules and all C files are linked into one extension file, ``ldpfast._core.native``. Each file is compiled once,
and all modules share one copy of the kernels, of the choice of instruction set, and of the functions of Cython.
``ldpfast/_core/__init__.py`` loads the modules.

The description of a wheel is README.md with absolute URLs of pages and pictures.

Translated and compiled files stay in ``build`` and are used again by every later build in the same checkout, such as that
of ``pip install '.[clients]'``, as long as nothing that they are made from has changed. Contents are compared, not times.

The environment variable LDPFAST_BUILD sets the mode: release (default), debug, coverage, races, sanitize.
"""

import functools
import hashlib
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import Cython
from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

SRC, TRANSLATED = Path("src"), Path("build", "cython")

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

# Functions of Cython that all modules use, such as those of memoryviews: most of the generated code if each module has a copy.
SHARED = "ldpfast._core.cython_shared"

# Cython modules without a loop over records. They are as fast with -O1, and compiled in half the time.
NO_LOOPS = {"cython_shared", "native", "privatize", "series", "stream", "tally", "transform"}

# Base URLs of the links and the pictures of README.md.
PAGES = "https://github.com/ldpfast/ldpfast/blob/v{version}/"
PICTURES = "https://raw.githubusercontent.com/ldpfast/ldpfast/v{version}/"

# Environment variables that compilers read.
COMPILER_VARIABLES = ("CPATH", "C_INCLUDE_PATH", "MACOSX_DEPLOYMENT_TARGET", "SDKROOT")


@functools.cache
def digest_of_file(path: str) -> str:
    """Return a hash of the content of a file."""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def digest(*parts: object, files: Iterable[str | Path] = ()) -> str:
    """Return a hash of the representations of `parts` and of names and contents of `files`."""
    contents = [(str(path), digest_of_file(str(path))) for path in files]
    return hashlib.sha256(repr((parts, contents)).encode()).hexdigest()


def record_of(made: Path) -> Path:
    """Return the path of the hash of everything that a file was made from."""
    return made.with_suffix(".sha256")


def is_current(made: Path, expected: str) -> bool:
    """Return whether a file exists and was made from inputs with the given hash."""
    return made.exists() and record_of(made).exists() and record_of(made).read_text() == expected


def translate(mode: str) -> list[str]:
    """Translate the Cython modules that have changed to C, in parallel; return the C files of all modules."""
    traced = mode == "coverage"
    folder = Path() if traced else TRANSLATED
    modules = {f"ldpfast._core.{path.stem}": path for path in sorted(SRC.glob("ldpfast/_core/*.pyx"))}
    modules[SHARED] = SRC.joinpath(*SHARED.split(".")).with_suffix(".c")
    made = {name: folder / path.with_suffix(".c") for name, path in modules.items()}
    inputs = {}
    for name, path in modules.items():
        files = [path, *sorted(SRC.rglob("*.pxd"))] if name != SHARED else []
        inputs[name] = digest(Cython.__version__, files=[Path("setup.py"), *files])
    changed = [name for name in modules if traced or not is_current(made[name], inputs[name])]
    for name in changed:
        record_of(made[name]).unlink(missing_ok=True)
    if changed:
        cythonize(
            [Extension(name, [str(modules[name])]) for name in changed],
            shared_utility_qualified_name=SHARED,
            include_path=[str(SRC)],
            build_dir=str(folder) if folder.parts else None,
            force=True,
            nthreads=os.cpu_count(),
            compiler_directives={
                "language_level": 3,
                "boundscheck": False,
                "wraparound": False,
                "cdivision": True,
                "annotation_typing": False,
                "initializedcheck": False,
                "freethreading_compatible": True,
                "linetrace": traced,
            },
        )
    if not traced:
        for name in changed:
            record_of(made[name]).write_text(inputs[name])
    return [str(path) for path in made.values()]


def included(dependencies: Path) -> list[str]:
    """Return the files that a compiler has listed with -MMD."""
    words = re.findall(r"(?:\\ |\S)+", dependencies.read_text().replace("\\\n", " ").partition(": ")[2])
    return [word.replace("\\ ", " ") for word in words]


class BuildChanged(build_ext):
    """The command build_ext: parallel, and only for objects whose compiler, command, source or headers have changed."""

    def finalize_options(self) -> None:
        super().finalize_options()
        self.force = True  # otherwise times are compared before anything else
        # An editable installation would compile in a temporary folder.
        self.build_temp = os.path.join("build", f"temp.{self.plat_name}-{sys.implementation.cache_tag}")

    def build_extension(self, extension: Extension) -> None:
        compiler = self.compiler
        compile_files, compile_file = compiler.compile, compiler._compile
        command = [*compiler.compiler_so, "--version"]
        version = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        variables = [os.environ.get(name) for name in COMPILER_VARIABLES]

        def compile_if_changed(made: str, source: str, suffix: str, before: list, after: list, defined: list) -> None:
            path, listed = Path(made), Path(made).with_suffix(".d")
            if Path(source).is_relative_to(TRANSLATED) and Path(source).stem in NO_LOOPS:
                after = ["-O1" if flag == "-O3" else flag for flag in after]
            parts = (version, variables, sys.version, compiler.compiler_so, made, source, before, after, defined)

            def is_unchanged() -> bool:
                try:
                    return is_current(path, digest(parts, files=included(listed)))
                except OSError:  # a header is gone
                    return False

            if is_unchanged():
                return
            record_of(path).unlink(missing_ok=True)
            start = time.time()
            compile_file(made, source, suffix, before, [*after, "-MMD"], defined)
            inputs = included(listed)
            if all(os.path.getmtime(name) < start for name in inputs):  # not while it was compiled
                record_of(path).write_text(digest(parts, files=inputs))

        def compile_in_parallel(sources: list[str], **options: object) -> list[str]:
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                largest_first = sorted(sources, key=os.path.getsize, reverse=True)
                waiting = {source: pool.submit(compile_files, [source], **options) for source in largest_first}
                return [name for source in sources for name in waiting[source].result()]

        compiler._compile, compiler.compile = compile_if_changed, compile_in_parallel
        super().build_extension(extension)


def description() -> str:
    """Return README.md with absolute URLs of pages and pictures."""
    (version,) = re.findall(r'__version__ = "(.*)"', Path("ldpfast", "_version.py").read_text())

    def absolute(found: re.Match[str]) -> str:
        sign, text, target = found.groups()
        return f"{sign}[{text}]({(PICTURES if sign else PAGES).format(version=version)}{target})"

    return re.sub(r"(!?)\[([^\]]*)\]\((?!https?:|#)([^)]*)\)", absolute, Path("README.md").read_text(encoding="utf-8"))


def main() -> None:
    mode = os.environ.get("LDPFAST_BUILD", "release")
    if mode not in FLAGS:
        sys.exit(f"LDPFAST_BUILD must be one of {', '.join(FLAGS)}, got {mode!r}")
    setup(
        # Without this, setuptools uses the compiler of Visual Studio, which cannot compile the kernels. The environment
        # variable CC names a Clang that compiles for x86_64-windows-gnu.
        options={"build_ext": {"compiler": "mingw32"}} if WINDOWS else {},
        cmdclass={"build_ext": BuildChanged},
        long_description=description(),
        long_description_content_type="text/markdown",
        ext_modules=[
            Extension(
                "ldpfast._core.native",
                translate(mode) + [str(path) for path in sorted(SRC.glob("kernels/**/*.c"))],
                include_dirs=[str(SRC / "kernels")],
                extra_compile_args=FLAGS[mode] + ALWAYS,
                libraries=["bcrypt"] if WINDOWS else [],
                extra_link_args=LINK + [flag for flag in FLAGS[mode] if flag.startswith("-fsanitize")],
                define_macros=[("CYTHON_TRACE_NOGIL", "1")] if mode == "coverage" else [],
            )
        ],
    )


if __name__ == "__main__":  # processes that translate import this file
    main()
