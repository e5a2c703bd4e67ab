"""The commands of the page on running a study: backup and the way back, tokens, tables and signatures, and withdrawal."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import threading

import pytest

from ldpfast.cli import main
from ldpfast.client import send
from ldpfast.survey import Survey, YesNo

from ..support.process import ROOT
from ..support.server import READ, READER, WRITE, reports_of
from ..support.server import SURVEY as SLEEP
from .test_app import post, served

PAGE = (ROOT / "docs" / "operations.md").read_text()
SURVEY = Survey({"smokes": YesNo(optional=True)}, 2.0)
BLOCKS = [re.sub("^  ", "", text, flags=re.M) for text in re.findall(r"^ *```sh\n(.*?)^ *```", PAGE, re.S | re.M)]


def block(containing):
    (found,) = [text for text in BLOCKS if containing in text]
    return found


def run(commands, folder, check=True):
    text = commands.replace("python ", f"{sys.executable} ", 1)
    return subprocess.run(["bash", "-ec", text], cwd=folder, check=check, capture_output=True, text=True, timeout=60)


def test_all_commands_are_run():
    parts = ("database.backup", "mv backup.db", "withdraw", "echo ", "sed -i", "ldpfast table", "genpkey", "pkeyutl")
    assert sorted(BLOCKS) == sorted(map(block, parts))


def test_a_backup_of_a_running_server_is_put_back(tmp_path):
    """Reports from before count once, also if they are sent again; those from after are missing until they are sent again."""
    before, after = ([SURVEY.client().report({"smokes": i % 3 == 0}) for i in range(50)] for _ in range(2))
    with served(tmp_path, SURVEY) as client:
        assert post(client, before[:30]).json()["accepted"] == 30
        client.app.state.store.fold()
        assert post(client, before[30:]).json()["accepted"] == 20
        run(block("database.backup"), tmp_path)
        assert post(client, after).json()["accepted"] == 50
        expected = client.get("/estimates", headers=READER).json()["result"]
    run(block("mv backup.db"), tmp_path)
    assert not (tmp_path / "backup.db").exists()
    with served(tmp_path, SURVEY) as client:
        assert client.get("/estimates", headers=READER).json()["n"] == 50
        assert post(client, before).json() == {"accepted": 0, "duplicate": 50, "refused": []}
        assert post(client, after).json() == {"accepted": 50, "duplicate": 0, "refused": []}
        assert client.get("/estimates", headers=READER).json()["result"] == expected


@pytest.mark.claim("A token is changed while clients send, and no request fails.", "Server")
@pytest.mark.long
def test_a_token_is_changed_while_clients_send(start_server, tmp_path):
    """Clients with the old token and, from its first reload on, with the new one; the old one is refused after the second."""
    (tmp_path / "survey.toml").write_text(SLEEP.to_toml())
    server, tokens = start_server(tmp_path, f"sqlite:///{tmp_path}/reports.db"), tmp_path / "ldpfast-tokens"
    lines = f"read {READ}\nwrite {WRITE}\n"
    tokens.write_text(lines)
    (tmp_path / "tokens").unlink()
    (tmp_path / "tokens").symlink_to(tokens)
    log = tmp_path / "log"

    def reloaded(commands):
        """Run commands of the page, and wait until the server has read its tokens."""
        times = log.read_text().count("the tokens were read again") + 1
        systemctl = f"systemctl() {{ kill -HUP {server.process.pid}; }}\nOLD={WRITE}\n"
        run(f"{systemctl}{commands}", tmp_path)
        for _ in range(200):
            if log.read_text().count("the tokens were read again") == times:
                return
            threading.Event().wait(0.05)
        raise AssertionError(log.read_text())

    failures, sent, stop = [], [], threading.Event()

    def sending():
        while not stop.is_set():
            try:
                sent.append(send(server.url, reports_of(SLEEP, 3), token=WRITE, attempts=1).accepted)
            except (OSError, ValueError) as error:
                failures.append(error)

    reloaded("systemctl reload survey")
    with pytest.raises(ValueError, match="status 401"):
        send(server.url, reports_of(SLEEP, 1), token="another-token-to-write")
    client = threading.Thread(target=sending)
    client.start()
    reloaded(block("echo "))
    (new,) = [line.split()[1] for line in tokens.read_text().removeprefix(lines).splitlines()]
    for _ in range(20):
        assert send(server.url, reports_of(SLEEP, 1), token=new, attempts=1).accepted == 1
    stop.set()
    client.join()
    assert failures == []
    assert len(sent) > 3
    reloaded(block("sed -i"))
    assert tokens.read_text() == f"read {READ}\nwrite {new}\n"
    with pytest.raises(ValueError, match="status 401"):
        send(server.url, reports_of(SLEEP, 1), token=WRITE)
    assert send(server.url, reports_of(SLEEP, 1), token=new, attempts=1).accepted == 1
    assert server.get("/estimates")["n"] == sum(sent) + 21
    server.stop()


def test_a_report_is_withdrawn_beside_the_server(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "survey.toml").write_text(SURVEY.to_toml())
    command = block("withdraw").split()
    (shown,) = re.findall("[0-9a-f]{32}", command[-1])
    reports = [SURVEY.client().report({"smokes": i % 2 == 0}) for i in range(9)]
    reports[4] = reports[4]._replace(id=bytes.fromhex(shown))
    with served(tmp_path, SURVEY) as client:
        post(client, reports)
        assert main(command[1:]) == 0
        out = capsys.readouterr().out
        assert "the message was deleted" in out
        assert client.get("/estimates", headers=READER).json()["n"] == 8
        refused = [{"index": 4, "reason": "conflict"}]
        assert post(client, reports).json() == {"accepted": 0, "duplicate": 8, "refused": refused}
    from_page = re.findall(r"^\| `(t.*?)` \|", PAGE, re.M)
    assert len(from_page) == 4
    assert out.startswith(f"{shown}: {from_page[0]}\n")


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs OpenSSL")
def test_a_table_is_signed_and_another_one_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "survey.toml").write_text(SURVEY.to_toml())
    assert main(block("ldpfast table").split()[1:]) == 0
    run(block("genpkey"), tmp_path)
    sign, verify = block("pkeyutl").splitlines()
    run(sign, tmp_path)
    assert "Verified Successfully" in run(verify, tmp_path).stdout
    table = bytearray((tmp_path / "survey.table").read_bytes())
    table[100] ^= 1
    (tmp_path / "survey.table").write_bytes(table)
    assert run(verify, tmp_path, check=False).returncode != 0
