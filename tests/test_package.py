"""Properties of the whole package: names, types, and the cost of an import."""

from __future__ import annotations

import ast
import re
import shlex
import sys
import tomllib
from importlib import metadata, resources
from pathlib import Path

import pytest

import ldpfast as ldp
from ldpfast import flower, nvflare

from .cards import CARDS
from .support.cases import each
from .support.extras import remove_extras
from .support.internals.shared import extras
from .support.process import run_python

ROOT = Path(__file__).parent.parent


def output_of(code: str) -> str:
    """Return the output of a program in a fresh interpreter."""
    result = run_python(code)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def test_the_version_is_the_same_everywhere():
    assert re.fullmatch(r"\d+\.\d+\.\d+\S*", ldp.__version__)
    assert ldp.info()["version"] == ldp.__version__
    assert metadata.version("ldpfast") == ldp.__version__


def test_the_description_has_no_links_to_files_beside_it():
    text = metadata.metadata("ldpfast").json["description"]
    targets = re.findall(r"\]\(([^)]*)\)", text)
    assert len(targets) > 30
    assert [target for target in targets if not target.startswith(("https://", "#"))] == []
    assert f"](https://github.com/ldpfast/ldpfast/blob/v{ldp.__version__}/docs/ten_minutes.md)" in text
    assert f"](https://raw.githubusercontent.com/ldpfast/ldpfast/v{ldp.__version__}/docs/accuracy.png)" in text


@each(
    "package",
    [ldp, ldp.bounds, ldp.central, ldp.estimation, ldp.mechanisms, ldp.privacy, ldp.reports],
    ids=lambda package: package.__name__,
)
def test_all_public_names_exist(package):
    assert len(set(package.__all__)) == len(package.__all__)
    for name in package.__all__:
        assert getattr(package, name) is not None
    assert set(package.__all__) <= set(dir(package))


def test_mechanisms_and_results_are_at_the_top_level():
    """The exceptions are mechanisms that only a problem, a protocol or a bound creates, and what protects no single record."""
    inner = {card.mechanism for card in CARDS.values() if card.inner} | {
        ldp.mechanisms.SecureSum,
        ldp.mechanisms.Layers,
    }
    for name in ldp.mechanisms.__all__:
        if name[0].isupper():
            assert (name in ldp.__all__) == (getattr(ldp.mechanisms, name) not in inner), name
            assert name not in ldp.__all__ or getattr(ldp, name) is getattr(ldp.mechanisms, name)
    assert ldp.Estimate is ldp.results.Estimate
    assert ldp.Aggregator is ldp.reports.Aggregator


def test_a_star_import_has_all_public_names():
    names: dict = {}
    exec("from ldpfast import *", names)
    assert set(ldp.__all__) <= set(names)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"^module 'ldpfast' has no attribute 'Lapalce'$"):
        ldp.Lapalce  # noqa: B018
    with pytest.raises(ImportError):
        exec("from ldpfast import Lapalce")


def test_an_import_loads_no_large_module():
    """Compiled modules, SciPy and matplotlib are loaded when they are first used."""
    loaded = output_of("import sys, ldpfast; print(*sys.modules)").split()
    assert "ldpfast" in loaded
    large = (
        "scipy",
        "matplotlib",
        "statsmodels",
        "pyarrow",
        "pandas",
        "rich",
        "numba",
        "ldpfast._core",
        "ldpfast.mechanisms",
    )
    assert [name for name in loaded if name.startswith(large)] == []


@pytest.mark.claim("A client that privatizes records never imports SciPy.", "Files and commands")
def test_a_client_loads_no_scipy():
    """A client creates and reads queries, and privatizes."""
    code = "import sys, ldpfast; ldpfast.Warner(1.0).privatize(True); ldpfast.L2Ball(3, 1.0).privatize([0, 0, 0])"
    code += "; ldpfast.Query.from_bytes(ldpfast.Query(0, ldpfast.Bins(0.5, 1.0)).to_bytes()).privatize(3.0)"
    assert [
        name
        for name in output_of(code + "; print(*sys.modules)").split()
        if name.startswith(("scipy", "matplotlib", "pyarrow", "rich", "ldpfast.estimation"))
    ] == []


def test_an_import_takes_at_most_10_ms_more_than_numpy():
    """This is the documented limit, in processor time, for the minimum over seven fresh interpreters."""
    code = "import time, numpy; start = time.process_time(); import ldpfast; print(time.process_time() - start)"
    assert min(float(output_of(code)) for _ in range(7)) <= 0.01


def test_the_package_has_type_information():
    """Every compiled module has a stub, and every stub has a compiled module."""
    package = resources.files("ldpfast")
    assert (package / "py.typed").is_file()
    stubs = {file.name.removesuffix(".pyi") for file in (package / "_core").iterdir() if file.name.endswith(".pyi")}
    prefix = "ldpfast._core."
    assert stubs == {name.removeprefix(prefix) for name in sys.modules if name.startswith(prefix)}


def test_messages_about_missing_packages_name_what_the_extras_install():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for extra, packages in extras.PACKAGES.items():
        names = [re.split("[>=<]", requirement)[0] for requirement in project[extra]]
        assert sorted(packages) == sorted(names)
        assert shlex.split(extras.command(extra)) == ["pip", "install", *packages]
        assert "ldpfast" not in extras.command(extra)  # which is on no index


def test_frameworks_are_imported_when_their_adapters_are_used(monkeypatch):
    """Components can be made without them, for the documentation; `import ldpfast` imports neither framework nor adapter."""
    code = "import ldpfast, sys; print(*{'flwr', 'nvflare', 'ldpfast.flower', 'ldpfast.nvflare'} & set(sys.modules))"
    assert output_of(code).strip() == ""
    remove_extras(monkeypatch)
    with pytest.raises(ImportError, match=r"^flwr is not installed: run pip install flwr$"):
        flower.PrivatizeMod(8.0, rounds=1)(None, None, None)
    with pytest.raises(ImportError, match=r"^nvflare is not installed: run pip install nvflare$"):
        nvflare.PrivatizeFilter(8.0, rounds=1).process(None, None)


@pytest.mark.claim("Readers of bytes from others execute no code.", "Bad input")
def test_no_reader_executes_code():
    """The tasks of Spark unpickle row groups and the counts of other tasks of their job, and nothing else does."""
    found = set()
    for path in Path(ldp.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module in ("pickle", "marshal", "shelve", "runpy"):
                found.add((path.name, f"from {node.module}"))
            elif isinstance(node, ast.Call):
                name, given = ast.unparse(node.func), {key.arg: ast.unparse(key.value) for key in node.keywords}
                if re.fullmatch(r"eval|exec|compile|__import__|(pickle|marshal|shelve|runpy|joblib)\..*", name) or (
                    name.endswith("np.load") and given.get("allow_pickle") != "False"
                ):
                    found.add((path.name, name))
    assert found == {("spark.py", "pickle.loads"), ("spark.py", "pickle.dumps")}


def test_every_extra_that_is_asked_for_has_packages_to_name():
    calls = re.compile(r"optional\(\s*\"[^\"]+\",\s*\"(\w+)\"")
    asked = {extra for path in Path(ldp.__file__).parent.rglob("*.py") for extra in calls.findall(path.read_text())}
    assert {"files", "server"} <= asked <= set(extras.PACKAGES)
    with pytest.raises(ImportError, match=r"^no_such_module is not installed: run pip install starlette 'uvicorn"):
        extras.optional("no_such_module", "server")
