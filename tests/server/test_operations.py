"""The commands of the page on running a study: a backup while the server runs, and the way back."""

from __future__ import annotations

import re
import subprocess
import sys

from ldpfast.survey import Survey, YesNo

from ..support.process import ROOT
from ..support.server import READER
from .test_app import post, served

PAGE = (ROOT / "docs" / "operations.md").read_text()
SURVEY = Survey({"smokes": YesNo(optional=True)}, 2.0)
SAVE, RESTORE = re.findall(r"```sh\n(.*?)```", PAGE, re.S)


def run(commands, folder):
    subprocess.run(["bash", "-ec", commands.replace("python", sys.executable, 1)], cwd=folder, check=True, timeout=60)


def test_a_backup_of_a_running_server_is_put_back(tmp_path):
    """Reports from before count once, also if they are sent again; those from after are missing until they are sent again."""
    before, after = ([SURVEY.client().report({"smokes": i % 3 == 0}) for i in range(50)] for _ in range(2))
    with served(tmp_path, SURVEY) as client:
        assert post(client, before[:30]).json()["accepted"] == 30
        client.app.state.store.fold()
        assert post(client, before[30:]).json()["accepted"] == 20
        run(SAVE, tmp_path)
        assert post(client, after).json()["accepted"] == 50
        expected = client.get("/estimates", headers=READER).json()["result"]
    run(RESTORE, tmp_path)
    assert not (tmp_path / "backup.db").exists()
    with served(tmp_path, SURVEY) as client:
        assert client.get("/estimates", headers=READER).json()["n"] == 50
        assert post(client, before).json() == {"accepted": 0, "duplicate": 50, "refused": []}
        assert post(client, after).json() == {"accepted": 50, "duplicate": 0, "refused": []}
        assert client.get("/estimates", headers=READER).json()["result"] == expected
