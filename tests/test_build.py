"""The build: a file is translated or compiled again if and only if something that it is made from has changed."""

from __future__ import annotations

import importlib.util
import shutil
import sys
import sysconfig
from pathlib import Path

import pytest

pytest.importorskip("setuptools")
pytest.importorskip("Cython")

from setuptools import Distribution, Extension

COMPILER = (sysconfig.get_config_var("CC") or "cc").split()[0]
SETUP = Path(__file__).parent.parent / "setup.py"
pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or not shutil.which(COMPILER), reason="compiles with the compiler of the interpreter"
)
FILES = {
    "one.c": '#include <Python.h>\n#include "number.h"\nPyObject *PyInit_tiny(void) { return PyLong_FromLong(NUMBER); }\n',
    "two.c": "int two(void) { return 2; }\n",
    "number.h": "#define NUMBER 1\n",
}


def load_setup():
    """Return setup.py as a new process sees it, without digests in memory."""
    spec = importlib.util.spec_from_file_location("setup_of_ldpfast", SETUP)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def build(tmp_path, monkeypatch):
    """Return a function that builds a small extension and returns the names of the objects that it has compiled."""
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text)

    def run(*flags, **variables):
        module = load_setup()
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        before = times()
        extension = Extension("tiny", ["one.c", "two.c"], extra_compile_args=list(flags))
        distribution = Distribution({"ext_modules": [extension], "cmdclass": {"build_ext": module.BuildChanged}})
        distribution.run_command("build_ext")
        assert list(Path("build").glob("lib*/tiny*.so"))
        return {name for name, time in times().items() if before.get(name) != time}

    def times():
        return {path.stem: path.stat().st_mtime_ns for path in Path("build").rglob("*.o")}

    return run


@pytest.mark.long
def test_nothing_is_compiled_twice(build):
    assert build() == {"one", "two"}
    assert build() == set()
    Path("number.h").write_text(FILES["number.h"])  # a later time, the same content
    assert build() == set()


@pytest.mark.long
def test_a_changed_source_or_header_is_compiled(build):
    build()
    Path("two.c").write_text("int two(void) { return 3; }\n")
    assert build() == {"two"}
    Path("number.h").write_text("#define NUMBER 2\n")
    assert build() == {"one"}
    Path("number.h").write_text(FILES["number.h"])
    assert build() == {"one"}


@pytest.mark.long
def test_changed_flags_and_variables_compile_everything(build):
    build()
    assert build("-O1") == {"one", "two"}
    assert build("-O1") == set()
    assert build("-O1", MACOSX_DEPLOYMENT_TARGET="14.0") == {"one", "two"}
    assert build("-O1", CFLAGS="-DEXTRA") == {"one", "two"}


@pytest.mark.long
def test_another_compiler_compiles_everything(build, tmp_path):
    build()
    other = tmp_path / "other-cc"
    other.write_text(f'#!/bin/sh\necho "$*" | grep -q -e --version && echo other\nexec {COMPILER} "$@"\n')
    other.chmod(0o755)
    assert build(CC=str(other)) == {"one", "two"}
    other.write_text(other.read_text().replace("echo other", "echo newer"))  # an update in the same place
    assert build(CC=str(other)) == {"one", "two"}
    assert build(CC=str(other)) == set()


def test_an_interrupted_compilation_is_repeated(build):
    build()
    Path("two.c").write_text("int two(void) { return ")
    with pytest.raises(Exception, match=r"returned non-zero exit status|failed with exit"):
        build()
    Path("two.c").write_text(FILES["two.c"])
    assert build() == {"two"}


def test_a_missing_object_or_header_is_noticed(build):
    build()
    next(Path("build").rglob("two.o")).unlink()
    assert build() == {"two"}
    Path("number.h").rename("other.h")
    Path("one.c").write_text(FILES["one.c"].replace("number.h", "other.h"))
    assert build() == {"one"}


def test_modules_that_are_compiled_with_fewer_optimizations_exist():
    module = load_setup()
    modules = {path.stem for path in SETUP.parent.glob("src/ldpfast/_core/*.pyx")}
    assert modules | {module.SHARED.rpartition(".")[2]} >= module.NO_LOOPS


@pytest.mark.long
def test_only_changed_modules_are_translated(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("os.cpu_count", lambda: 0)  # no processes
    core = Path("src/ldpfast/_core")
    core.mkdir(parents=True)
    for name in ("one.pyx", "two.pyx", "two.pxd"):
        (core / name).write_text("cdef int number\n" if name == "two.pxd" else "def f(): pass\n")
    shutil.copy(SETUP, "setup.py")

    def translate(mode="release"):
        before = times()
        paths = load_setup().translate(mode)
        assert {Path(path).stem for path in paths} == {"one", "two", "cython_shared"}
        return {name for name, time in times().items() if before.get(name) != time}

    def times():
        return {path.stem: path.stat().st_mtime_ns for path in Path("build/cython").rglob("*.c")}

    assert translate() == {"one", "two", "cython_shared"}
    assert translate() == set()
    (core / "one.pyx").write_text("def f(): return 1\n")
    assert translate("debug") == {"one"}
    (core / "two.pxd").write_text("cdef long number\n")
    assert translate() == {"one", "two"}
    Path("setup.py").write_text(Path("setup.py").read_text() + "# another directive\n")
    assert translate() == {"one", "two", "cython_shared"}
    (core / "one.pyx").write_text("def f(:\n")
    with pytest.raises(Exception, match="one"):
        translate()
    (core / "one.pyx").write_text("def f(): return 1\n")
    assert translate() == {"one"}
