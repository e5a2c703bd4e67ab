"""The examples of docs/clients.md: the files of a survey, a program in C, and one in JavaScript."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from ldpfast.survey import Survey

from ..support.aggregation import counted_of
from ..support.clients import amalgamate, build_package
from ..support.process import ROOT, compile_c

pytestmark = pytest.mark.long

PAGE = (ROOT / "docs" / "clients.md").read_text()
TESTS = ROOT / "tests"
STORAGE = """
static size_t load(uint8_t *ledger, size_t capacity) { return ledger == NULL ? capacity : 0; }
static int store(const uint8_t *ledger, size_t bytes) { return ledger[8] == bytes % 256; }
static void send(const uint8_t *message, size_t length) { fwrite(message, 1, length, stdout); }
"""


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.S | re.M)


@pytest.fixture
def survey(tmp_path, monkeypatch, capsys) -> Survey:
    """The survey of the page, whose files are in the working folder."""
    monkeypatch.chdir(tmp_path)
    variables: dict = {}
    (code,) = blocks("python")
    exec(compile(code, "docs/clients.md", "exec", dont_inherit=True), variables)
    assert capsys.readouterr().out == blocks("text")[0]
    return variables["survey"]


def c_example(folder: Path) -> Path:
    """Return the program of the page. Those beside it, `person` and `once`, have a personal key and a ledger."""
    program, personal, once = blocks("c")
    amalgamate(folder)
    (folder / "example.c").write_text(program)
    secret = "static const uint8_t secret[LDPFAST_KEY_BYTES] = {1};\n"
    fresh = "    ldpfast_answer(&client, values, key, message, sizeof message, &length);\n"
    assert program.count(fresh) == 1
    (folder / "person.c").write_text(program.replace("int main", secret + "int main").replace(fresh, personal))
    sources = [folder / "ldpfast_client.c", folder / "ldpfast_entropy.c"]
    flags = ("-std=c11", "-Wall", "-Wextra", "-Werror", f"-I{folder}")
    compile_c(folder / "person", folder / "person.c", *sources, flags=flags)
    (folder / "once.c").write_text(program.replace("int main", STORAGE + "int main").replace(fresh, f"{{\n{once}}}\n"))
    compile_c(folder / "once", folder / "once.c", *sources, flags=flags)
    return compile_c(folder / "example", folder / "example.c", *sources, flags=flags)


def test_the_examples_in_c(survey, tmp_path):
    program = c_example(tmp_path)
    messages = [subprocess.run([program], capture_output=True, check=True).stdout for _ in range(40)]
    assert len(set(messages)) > 3
    messages.append(subprocess.run([tmp_path / "person"], capture_output=True, check=True).stdout)
    record = {"smokes": True, "age": 42}
    assert messages[-1] == survey.client(b"\1" + bytes(31), 4711).answer(record)
    messages += [survey.client().answer(record) for _ in range(40)]
    twice = subprocess.run([tmp_path / "once"], capture_output=True, check=True).stdout  # sent, and printed at the end
    assert twice[: len(twice) // 2] == twice[len(twice) // 2 :]
    messages.append(twice[: len(twice) // 2])
    assert survey.aggregator().update(messages).n == 82


@pytest.mark.long
@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")
def test_a_server_counts_messages_of_all_clients(survey, tmp_path):
    pytest.importorskip("ziglang")
    program, personal, once = blocks("js")
    shutil.copytree(build_package(tmp_path / "package"), tmp_path / "node_modules" / "ldpfast-client")
    (tmp_path / "example.mjs").write_text(program)
    secret = "const secret = new Uint8Array(32);\nsecret[0] = 1;\n"
    fresh = re.search(r"^const message = .*$", program, re.M)
    assert fresh
    (tmp_path / "person.mjs").write_text(program.replace(fresh[0], secret + personal))
    storage = (
        "const localStorage = { getItem: () => localStorage.text ?? null, setItem(_, text) { this.text = text; } };\n"
    )
    sending = "const send = async (message) => process.stdout.write(message);\n"
    opened = program.index("const client")
    (fingerprint,) = re.findall(r'fingerprint: (".*")', program)
    files = f"const table = await readFile('survey.table'), fingerprint = {fingerprint};\n"
    (tmp_path / "once.mjs").write_text(program[:opened] + files + storage + sending + once)

    def run(name: str) -> bytes:
        return subprocess.run(["node", name], cwd=tmp_path, capture_output=True, check=True, timeout=60).stdout

    record, in_c = {"smokes": True, "age": 42}, c_example(tmp_path / "c")
    messages = [run("example.mjs") for _ in range(4)] + [run("once.mjs")]
    assert run("person.mjs") == survey.client(b"\1" + bytes(31), 4711).answer(record)
    messages += [subprocess.run([in_c], capture_output=True, check=True).stdout for _ in range(20)]
    messages += [survey.client().answer(record) for _ in range(20)]
    server = survey.aggregator().update(messages)
    assert server.n == 45
    assert counted_of(server).states[0].sum() == 45


def test_the_tests_that_the_page_names_exist():
    defined = {name for path in TESTS.rglob("test_*.py") for name in re.findall(r"def (test_\w+)", path.read_text())}
    assert set(re.findall(r"`(test_\w+)`", PAGE)) - defined == set()


def test_the_page_names_what_the_header_defines():
    header = (ROOT / "clients" / "c" / "ldpfast_client.h").read_text()
    assert set(re.findall(r"\b(?:ldpfast|LDPFAST)_[A-Za-z_]+\b(?!\.)", PAGE)) - {"ldpfast_client"} <= set(
        re.findall(r"\w+", header)
    )
