"""The examples of docs/clients.md: the files of a survey, a program in C, and one in JavaScript."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ldpfast.survey import Survey

from ..support.aggregation import counted_of
from ..support.clients import amalgamate, build_package
from ..support.process import ROOT, compile_c
from ..support.server import Server

pytestmark = pytest.mark.long

PAGE = (ROOT / "docs" / "clients.md").read_text()
TESTS = ROOT / "tests"
STORAGE = """
static size_t load(uint8_t *ledger, size_t capacity) { return ledger == NULL ? capacity : 0; }
static int store(const uint8_t *ledger, size_t bytes) { return ledger[8] == bytes % 256; }
static void send(const uint8_t *message, size_t length) { fwrite(message, 1, length, stdout); }
"""


def blocks(language: str) -> list[str]:
    found = re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.S | re.M)
    return [text for text in found if not re.search("wave_at|waveAt", text)]


def calendar_block(language: str) -> str:
    """Return the example with a calendar."""
    (found,) = re.findall(rf"^```{language}\n((?:(?!^```).)*?(?:wave_at|waveAt).*?)^```", PAGE, re.S | re.M)
    return found


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


SEND_ONCE = """
const server = SERVER, fingerprints = FINGERPRINTS;
for (let person = 0; person < 300; person++) {
  const items = new Map();
  const localStorage = { getItem: (name) => items.get(name) ?? null, setItem: (name, text) => void items.set(name, text) };
  BLOCK
  if ([...items.keys()].some((name) => name.startsWith("ldpfast-queue"))) break;
}
"""


@pytest.mark.long
@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")
def test_the_examples_with_a_calendar_send_in_the_wave_of_the_calendar(tmp_path, capsys, monkeypatch):
    """Persons come until it is the turn of one, in Python and in JavaScript, in the second wave."""
    pytest.importorskip("ziglang")
    first = datetime.now(UTC).date() - timedelta(days=9)
    page = (ROOT / "docs" / "server.md").read_text()
    (text,) = re.findall(r"```toml\n((?:(?!```).)*?\[calendar\].*?)```", page, re.S)
    (tmp_path / "weekly.toml").write_text(text.replace("2027-01-04", first.isoformat()))
    survey = Survey.from_toml((tmp_path / "weekly.toml").read_text())
    server = Server(tmp_path, f"sqlite:///{tmp_path}/reports.db", surveys=["weekly.toml"])
    try:
        monkeypatch.chdir(tmp_path)
        code, shown = calendar_block("python").replace("http://127.0.0.1:8000", server.url), ""
        while not shown:
            (tmp_path / "ledger.json").unlink(missing_ok=True)
            exec(compile(code, "docs/clients.md", "exec", dont_inherit=True), {})
            shown = capsys.readouterr().out
        assert shown == "Sent(accepted=1, duplicate=0, refused={})\n"
        shutil.copytree(build_package(tmp_path / "package"), tmp_path / "node_modules" / "ldpfast-client")
        head, _, rest = calendar_block("js").partition("\n")
        rest = rest.replace("1799020800", str(survey.calendar.opens(1)))
        tables = [hashlib.sha256(survey.in_wave(wave).client_table()).hexdigest() for wave in range(1, 9)]
        program = (
            SEND_ONCE.replace("SERVER", repr(server.url)).replace("FINGERPRINTS", repr(tables)).replace("BLOCK", rest)
        )
        (tmp_path / "weekly.mjs").write_text(f"{head}\n{program}")
        done = subprocess.run(
            ["node", "weekly.mjs"], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=120
        )
        assert done.stdout == "stored\n"
        assert server.get("/estimates?wave=2")["n"] == 2
    finally:
        server.kill()


def test_the_tests_that_the_page_names_exist():
    defined = {name for path in TESTS.rglob("test_*.py") for name in re.findall(r"def (test_\w+)", path.read_text())}
    assert set(re.findall(r"`(test_\w+)`", PAGE)) - defined == set()


def test_the_page_names_what_the_header_defines():
    header = (ROOT / "clients" / "c" / "ldpfast_client.h").read_text()
    assert set(re.findall(r"\b(?:ldpfast|LDPFAST)_[A-Za-z_]+\b(?!\.)", PAGE)) - {"ldpfast_client"} <= set(
        re.findall(r"\w+", header)
    )
