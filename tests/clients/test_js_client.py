"""The client in JavaScript, in Node and in a browser, and the client in C on other machines. `make clients` needs all tools."""

from __future__ import annotations

import base64
import json
import os
import platform
import shutil
import subprocess
import sys
import threading
from datetime import date
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import ldpfast as ldp
from ldpfast.survey import Choice, Histogram, Mean, Repeated, Survey, YesNo

from ..support.client_tables import closed, forged_table
from ..support.client_vectors import js_text, split_messages, vectors, write
from ..support.clients import amalgamate, build_package, zig_cc
from ..support.process import NATIVE

pytestmark = pytest.mark.long

pytest.importorskip("ziglang")
HERE = Path(__file__).parent
node = pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")
chromium = pytest.mark.skipif(shutil.which("chromium") is None, reason="needs Chromium")
MAX_BYTES = 63 * 1024
QUESTIONS = {
    "age": Mean(0, 100, optional=True),
    "smoker": YesNo(optional=True),
    "region": Choice(["N", "S"], optional=True),
    "born": Choice([date(1999, 12, 31), date(2000, 1, 1)], optional=True),
    "children": Choice(5, optional=True),
    "income": Histogram([0, 1, 2, 3, 4, 5, 6, 7, 8, 9], optional=True),
}
CLEAR = Survey(QUESTIONS, 40.0 * len(QUESTIONS), answers="all")
NOISY = Survey({"place": Choice(100, optional=True)}, 0.5)
PAGE = """<!doctype html><meta charset="utf-8"><script type="module">
import { SurveyClient } from "/index.mjs";
import { run } from "/vectors.mjs";
const report = (text) => fetch("/report", { method: "POST", body: text });
try {
  await report(JSON.stringify(await run(SurveyClient, await (await fetch("/vectors.json")).json())));
} catch (error) {
  await report(JSON.stringify({ error: String(error) }));
}
</script>"""
WAVE = Survey({"smoker": YesNo(optional=True)}, 2.0, series="weeks", waves=3).in_wave(2)
ROUND = Repeated(Survey({"smoker": YesNo(optional=True)}, 2.0, series="weeks"), round=1.0, rounds=3).in_round(1)


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """The npm package."""
    return build_package(tmp_path_factory.mktemp("package"))


@pytest.fixture(scope="module")
def vector_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("vectors") / "vectors.json"
    path.write_text(js_text(vectors()))
    return path


@pytest.mark.claim("The WebAssembly module is the same in every build.", "Clients")
def test_the_module_is_small_and_reproducible(package, tmp_path):
    module = (package / "ldpfast_client.wasm").read_bytes()
    assert 8 * 1024 < len(module) <= MAX_BYTES
    assert (build_package(tmp_path) / "ldpfast_client.wasm").read_bytes() == module


def test_the_package_names_its_files_and_the_version(package):
    described = json.loads((package / "package.json").read_text())
    assert described["version"] == ldp.__version__
    assert {path.name for path in package.iterdir()} == {*described["files"], "package.json"}


@pytest.mark.claim("The client in JavaScript gives the same messages as Python in Node.js.", "Clients")
@node
def test_messages_in_node_equal_those_of_python(package, vector_file):
    done = subprocess.run(
        ["node", HERE / "node.mjs", package, vector_file], capture_output=True, text=True, check=True, timeout=300
    )
    found = json.loads(done.stdout)
    assert (found["cases"], found["wrong"]) == (2780, [])


# Changes of the column and labels of a question, after which it has not one label for each category, or no column.
WRONG_TEXTS = [
    (',"S"', "    "), ('["N","S"]', "         "), ('["N","S"]', "3        "), ('["N","S"]', '"N"      '),
    ('"region"', '""      '),
    ('"column"', '"Column"'), ('"N"', '"\xff"'), ("{", "["), ('"labels"', '"Labels"'), ('["N","S"]', "2.5      "),
]  # fmt: skip


def relabeled(old: str, new: str) -> bytes:
    """Return the table of a survey with another text about the region, and the checksum that belongs to it."""
    table, text = CLEAR.client_table(), b'{"column":"region","labels":["N","S"]}'
    changed = text.replace(old.encode("latin-1"), new.encode("latin-1"))
    assert table.count(text) == 1
    assert len(changed) == len(text)
    return closed(table.replace(text, changed))


@pytest.mark.claim("A table with a larger loss than the application allows is refused in JavaScript.", "Clients")
@pytest.mark.claim("The client in JavaScript refuses no value, and erases keys and answers from its memory.", "Clients")
@node
def test_behavior_in_node(package, tmp_path):
    surveys = {"clear": CLEAR, "noisy": NOISY, "wave": WAVE, "round": ROUND}
    tables = {name: survey.client_table() for name, survey in surveys.items()}
    tables["honest"], tables["forged"] = forged_table()
    tables["relabeled"] = relabeled('"N"', '"X"')
    wrong = [relabeled(*change) for change in WRONG_TEXTS]
    files: dict[str, Any] = {name: {"table": base64.b64encode(table).decode()} for name, table in tables.items()}
    files["mislabeled"] = [base64.b64encode(table).decode() for table in wrong]
    turns = [WAVE.client(bytes(range(32)), person) for person in range(40)]
    files["turns"] = [client.answer({"smoker": True}).hex() if client.is_turn() else None for client in turns]
    (tmp_path / "survey.json").write_text(json.dumps(files))
    environment = os.environ | {"PACKAGE": str(package), "SURVEY": str(tmp_path / "survey.json")}
    command = ["node", "--test", HERE / "behavior.mjs"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout
    assert "# fail 0" in done.stdout


@pytest.mark.claim("The client in JavaScript gives the same messages as Python in a browser.", "Clients")
@chromium
def test_messages_in_a_browser_equal_those_of_python(package, vector_file, tmp_path):
    files = {
        "/": (PAGE.encode(), "text/html"),
        "/index.mjs": ((package / "index.mjs").read_bytes(), "text/javascript"),
        "/vectors.mjs": ((HERE / "vectors.mjs").read_bytes(), "text/javascript"),
        "/ldpfast_client.wasm": ((package / "ldpfast_client.wasm").read_bytes(), "application/wasm"),
        "/vectors.json": (vector_file.read_bytes(), "application/json"),
    }
    reports: list[dict] = []
    reported = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            body, kind = files.get(self.path, (b"", "text/plain"))
            self.send_response(200 if self.path in files else 404)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self):
            reports.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()
            reported.set()

        def log_message(self, *arguments):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        command = [
            "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run",
            "--disable-dev-shm-usage", f"--user-data-dir={tmp_path / 'profile'}", "--remote-debugging-port=0",
            f"http://127.0.0.1:{server.server_address[1]}/",
        ]  # fmt: skip
        try:
            with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as browser:
                try:
                    assert reported.wait(240)
                finally:
                    browser.terminate()
        finally:
            server.shutdown()
            serving.join()
    assert (reports[0].get("error"), reports[0]["cases"], reports[0]["wrong"]) == (None, 2780, [])


def emulated(machine: str) -> list[str] | None:
    """Return the command before a program for another machine; None if there is none."""
    if machine == "x86" and platform.machine() == "x86_64":
        return []
    path = shutil.which(f"qemu-{machine}") or shutil.which(f"qemu-{machine}-static")
    return None if path is None else [path]


ELSEWHERE = ["x86_64-windows-gnu", "aarch64-macos", "thumb-freestanding-eabi", "riscv64-linux-musl"]
TARGETS = {"x86": "x86-linux-musl", "aarch64": "aarch64-linux-musl", "arm": "arm-linux-musleabihf"}


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="runs programs for Linux")
@pytest.mark.parametrize("machine", TARGETS)
def test_messages_of_c_on_other_machines(machine, tmp_path):
    command = emulated(machine)
    if command is None:
        pytest.skip(f"needs qemu-{machine}")
    program = zig_cc(tmp_path, [NATIVE / "client.c"], "-target", TARGETS[machine], "-static")
    path = write(tmp_path / "vectors", vectors())
    done = subprocess.run([*command, program, "answer", path], capture_output=True, check=True, timeout=600)
    assert split_messages(done.stdout) == [case.message for _, cases in vectors() for case in cases]


@pytest.mark.long
@pytest.mark.parametrize("target", ELSEWHERE)
def test_the_client_in_c_compiles_elsewhere(target, tmp_path):
    amalgamate(tmp_path)
    sources = ["ldpfast_client.c"] + ([] if "freestanding" in target else ["ldpfast_entropy.c"])
    for source in sources:
        zig_cc(tmp_path, [tmp_path / source], "-target", target, "-c")
