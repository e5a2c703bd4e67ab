"""The files of docs/deployment: each is read, and what it starts is started."""

from __future__ import annotations

import configparser
import json
import os
import pickle
import re
import shlex
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest
import yaml

from ldpfast.cli import _parser

from ..support.process import ROOT
from ..support.server import LINES, READ, SURVEY, WRITE, body_of, free_port, reports_of

FOLDER = ROOT / "docs" / "deployment"
STATE = "/var/lib/survey"
NAME = "survey.example.org"


def needs(program):
    return pytest.mark.skipif(shutil.which(program) is None, reason=f"needs {program}")


def checked_command(words):
    """Return the arguments of a command `ldpfast serve`, whose files of tokens and reports are in the working folder."""
    assert words[:2] == ["/opt/survey/bin/ldpfast", "serve"]
    arguments = _parser().parse_args(words[1:])
    assert list(map(str, arguments.surveys)) == ["/etc/survey.toml"]
    assert (arguments.database, arguments.token_file) == ("sqlite:///reports.db", None)
    assert arguments.allowed_host == [NAME]
    return arguments


# Containers -----------------------------------------------------------------------------------------------------------


def stages():
    """Return the instructions of the stages of the Dockerfile, as pairs of a name and its text."""
    text = (FOLDER / "Dockerfile").read_text()
    lines = [tuple(line.split(maxsplit=1)) for line in text.splitlines() if line and not line.startswith("#")]
    starts = [place for place, (name, _) in enumerate(lines) if name == "FROM"]
    return [lines[start:end] for start, end in zip(starts, [*starts[1:], None], strict=True)]


def test_the_container_keeps_database_and_tokens_in_a_volume_of_its_user():
    build, run = stages()
    names = {name for name, _ in build + run}
    assert names == {"FROM", "RUN", "COPY", "USER", "WORKDIR", "VOLUME", "ENV", "EXPOSE", "HEALTHCHECK", "CMD"}
    last = dict(run)
    assert build[0][1] == f"{last['FROM']} AS build"
    assert last["WORKDIR"] == last["VOLUME"] == STATE
    arguments = checked_command(json.loads(last["CMD"]))
    assert (arguments.host, str(arguments.port)) == ("0.0.0.0", last["EXPOSE"])
    owned = f"install --directory --owner {last['USER']} --mode 700 {STATE}"
    places = [place for place, (name, text) in enumerate(run) if name == "RUN" and owned in text]
    assert len(places) == 1
    assert places[0] < run.index(("USER", last["USER"]))  # as root; what follows is not
    assert not [text for name, text in run[run.index(("USER", last["USER"])) :] if name in ("RUN", "COPY")]


def test_the_image_has_what_the_first_stage_installs():
    """From the whole checkout, with an extra that exists, into a folder that is copied, and the program is in it."""
    build, run = stages()
    (source,) = [text.split()[1] for name, text in build if name == "COPY"]
    (installed,) = [text for name, text in build if name == "RUN" and "pip" in text]
    make, install = (shlex.split(part) for part in installed.split(" && "))
    assert make[:3] == ["python", "-m", "venv"]
    place, extra = make[3], re.fullmatch(rf"{source}\[(.*)\]", install[-1])
    assert install[:-1] == [f"{place}/bin/pip", "install", "--no-cache-dir"]
    assert f"\n{extra[1]} = [" in (ROOT / "pyproject.toml").read_text()
    assert ("COPY", f"--from=build {place} {place}") in run
    programs = [json.loads(dict(run)["CMD"])[0], json.loads(dict(run)["HEALTHCHECK"].removeprefix("CMD "))[0]]
    assert programs == [f"{place}/bin/ldpfast", f"{place}/bin/python"]
    ignored = (FOLDER / "Dockerfile.dockerignore").read_text().split()
    assert {".git", ".venv", "build"} <= set(ignored)
    assert not {"src", "ldpfast", "README.md", "pyproject.toml", "setup.py", "docs"} & set(ignored)


def test_compose_gives_the_container_its_volume_and_survey_and_nothing_else():
    description = yaml.safe_load((FOLDER / "compose.yaml").read_text())
    (service,) = description["services"].values()
    context = (FOLDER / service["build"]["context"]).resolve()
    assert context == ROOT.resolve()
    assert (context / service["build"]["dockerfile"]).samefile(FOLDER / "Dockerfile")
    last = dict(stages()[1])
    volumes = [text.split(":") for text in service["volumes"]]
    assert volumes == [["reports", last["VOLUME"]], ["./survey.toml", "/etc/survey.toml", "ro"]]
    assert list(description["volumes"]) == ["reports"]
    assert service["ports"] == [f"127.0.0.1:{last['EXPOSE']}:{last['EXPOSE']}"]  # without TLS, for this machine alone
    assert service["tmpfs"] == ["/tmp"]
    assert last["ENV"].startswith("MPLCONFIGDIR=/tmp/")  # the rest of the container cannot be written
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["logging"] == {"driver": "json-file", "options": {"max-size": "1m", "max-file": "5"}}
    assert "command" not in service


@pytest.mark.long
def test_the_command_and_the_health_check_of_the_image_work(tmp_path):
    """The command in a folder as the volume is at first; the check fails before the server answers and after its end."""
    last, port = dict(stages()[1]), str(free_port())
    survey, volume = tmp_path / "survey.toml", tmp_path / "volume"
    survey.write_text(SURVEY.to_toml())
    volume.mkdir(0o700)
    environment = os.environ | {"MPLCONFIGDIR": str(tmp_path / "matplotlib")}

    def words(text):
        found = [
            one.replace("/etc/survey.toml", str(survey)).replace(":8000/", f":{port}/") for one in json.loads(text)
        ]
        return [sys.executable, *(["-m", "ldpfast"] if found[0].endswith("ldpfast") else []), *found[1:]]

    check = words(last["HEALTHCHECK"].removeprefix("CMD "))
    is_healthy = lambda: subprocess.run(check, stderr=subprocess.DEVNULL, timeout=30).returncode == 0  # noqa: E731
    assert not is_healthy()
    command = [*words(last["CMD"]), "--port", port]
    with subprocess.Popen(command, cwd=volume, env=environment, stderr=subprocess.DEVNULL) as process:
        for _ in range(600):
            if is_healthy():
                break
            assert process.poll() is None
            time.sleep(0.1)
        assert is_healthy()
        process.terminate()
        assert process.wait(timeout=30) == 128 + 15
    assert not is_healthy()
    assert {"reports.db", "ldpfast-tokens"} <= {path.name for path in volume.iterdir()}


# systemd --------------------------------------------------------------------------------------------------------------


class Unit(configparser.RawConfigParser):
    optionxform = staticmethod(str)


def unit():
    found = Unit(delimiters=("=",), comment_prefixes=("#",), strict=True)
    found.read(FOLDER / "survey.service")
    return found


def test_the_unit_starts_the_server_in_the_folder_of_its_state():
    service = unit()["Service"]
    arguments = checked_command(service["ExecStart"].split())
    assert arguments.host == "127.0.0.1"
    assert service["ExecReload"].split()[1:] == ["-HUP", "$MAINPID"]  # the tokens are read again
    assert service["WorkingDirectory"] == f"/var/lib/{service['StateDirectory']}" == STATE
    assert (service["StateDirectoryMode"], service["UMask"]) == ("0700", "0077")
    assert service["Environment"] == f"MPLCONFIGDIR=/var/cache/{service['CacheDirectory']}"
    assert service["ProtectSystem"] == "strict"
    assert service["User"] != "root"


def test_the_unit_lets_the_server_have_its_connections_and_its_time_to_stop():
    service = unit()["Service"]
    assert int(service["LimitNOFILE"]) >= 2200  # 2,000 connections, and other files
    assert int(service["TimeoutStopSec"]) > 20  # seconds that requests in progress have


@needs("systemd-analyze")
@pytest.mark.long
def test_systemd_accepts_the_unit(tmp_path):
    """With the program of this machine in the place of the installed one, and a limit for what the service may do."""
    text = (FOLDER / "survey.service").read_text().replace("/opt/survey/bin/ldpfast", sys.executable)
    path = tmp_path / "survey.service"
    path.write_text(text)
    found = subprocess.run(["systemd-analyze", "verify", path], capture_output=True, text=True, timeout=60)
    assert (found.returncode, [line for line in found.stderr.splitlines() if "survey.service" in line]) == (0, [])
    rated = ["systemd-analyze", "security", "--offline=true", "--threshold=25", path]
    found = subprocess.run(rated, capture_output=True, text=True, timeout=60)
    assert found.returncode == 0, found.stdout


# nginx ----------------------------------------------------------------------------------------------------------------


def directives(text):
    """Return the simple directives of a file of nginx by name, each with the words of all places where it is."""
    found: dict[str, list[list[str]]] = {}
    for name, *words in (shlex.split(line) for line in re.findall(r"^\s*(\w[^;{}#]*);", text, re.M)):
        found.setdefault(name, []).append(words)
    return found


def test_nginx_logs_nobody_and_its_limits_are_those_of_the_server():
    found = directives((FOLDER / "nginx.conf").read_text())
    assert found["access_log"] == [["off"]]
    assert [words[-1] for words in found["error_log"]] == ["emerg"]
    assert found["client_max_body_size"] == found["client_body_buffer_size"] == [["4m"]]
    assert found["server"] == [[f"127.0.0.1:{_parser().parse_args(['serve']).port}"]]
    assert found["server_name"] == [[NAME]]
    assert [words[-1] for words in found["listen"]] == ["ssl"]
    hidden = {"Forwarded", "X-Forwarded-For", "X-Real-IP", "User-Agent", "Referer"}
    for name in ("nginx.conf", "nginx_attestation.conf"):
        headers = [words for words in directives((FOLDER / name).read_text())["proxy_set_header"] if len(words) == 2]
        assert hidden <= {header for header, value in headers if value == ""}


class Nginx:
    """nginx in a folder of its own, with the files of docs/deployment, in which paths, ports and the name are changed."""

    def __init__(self, folder: Path, server: int, verifier: int | None = None, rate: str = "1000r/s") -> None:
        self.folder, self.port = folder, free_port()
        (folder / "survey.d").mkdir(parents=True)
        self.certificate = folder / "survey.pem"
        make = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost"
        made = [
            *make.split(),
            "-addext",
            "subjectAltName=DNS:localhost",
            "-keyout",
            folder / "survey.key",
            "-out",
            self.certificate,
        ]
        subprocess.run(made, check=True, capture_output=True, timeout=60)
        changes = {
            "/etc/ssl/": f"{folder}/", "/var/log/nginx/": f"{folder}/", "/etc/nginx/": f"{folder}/", NAME: "localhost",
            "listen 443 ssl": f"listen 127.0.0.1:{self.port} ssl", "127.0.0.1:8000": f"127.0.0.1:{server}",
            "127.0.0.1:8001": f"127.0.0.1:{verifier}", "rate=10r/s": f"rate={rate}",
        }  # fmt: skip
        files = {"nginx.conf": "survey.conf"} | (
            {} if verifier is None else {"nginx_attestation.conf": "survey.d/one.conf"}
        )
        for source, name in files.items():
            text = (FOLDER / source).read_text()
            for before, after in changes.items():
                text = text.replace(before, after)
            (folder / name).write_text(text)
        paths = "".join(
            f"{name}_temp_path {folder}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        main = f"daemon off; pid {folder}/pid; error_log {folder}/main.log emerg; events {{}} "
        main += f"http {{ {paths} include survey.conf; }}"
        (folder / "main.conf").write_text(main)
        self.command = ["nginx", "-e", folder / "main.log", "-p", folder, "-c", folder / "main.conf"]

    @contextmanager
    def running(self):
        tested = subprocess.run([*self.command, "-t"], capture_output=True, text=True, timeout=60)
        assert tested.returncode == 0, tested.stderr
        with subprocess.Popen(self.command, stderr=subprocess.DEVNULL) as process:
            try:
                for _ in range(600):
                    with socket.socket() as one:
                        if one.connect_ex(("127.0.0.1", self.port)) == 0:
                            break
                    time.sleep(0.05)
                yield self
            finally:
                process.terminate()

    def status(self, path, body=None, **headers):
        """Return the status of an answer over TLS."""
        request = urllib.request.Request(f"https://localhost:{self.port}{path}", body, headers)
        trusted = ssl.create_default_context(cafile=self.certificate)
        try:
            with urllib.request.urlopen(request, timeout=30, context=trusted) as response:
                return response.status
        except urllib.error.HTTPError as error:
            with error:
                return error.code

    def logs(self):
        return b"".join(path.read_bytes() for path in self.folder.glob("*.log"))


@pytest.fixture
def server(start_server, tmp_path):
    (tmp_path / "survey.toml").write_text(SURVEY.to_toml())
    return start_server(tmp_path, f"sqlite:///{tmp_path}/reports.db", "--allowed-host", "localhost")


@pytest.fixture
def short_folder(tmp_path_factory):
    """A folder that the unprivileged workers of nginx can enter."""
    folder = Path("/tmp") / f"ldpfast-nginx-{os.getpid()}-{free_port()}"
    folder.mkdir(0o755)
    yield folder
    shutil.rmtree(folder)


@needs("nginx")
@needs("openssl")
@pytest.mark.claim(
    "The nginx of the deployment examples passes reports over TLS, limits them, and logs no address.", "Server"
)
@pytest.mark.long
def test_reports_come_through_nginx_and_too_many_or_too_large_ones_do_not(server, short_folder):
    reports = reports_of(SURVEY, 400)
    with Nginx(short_folder, server.port, rate="5r/s").running() as nginx:
        assert nginx.status("/health") == 200
        assert nginx.status("/reports", b"x" * ((4 << 20) + 1), **LINES) == 413
        program = "import pickle, sys; from ldpfast.client import send; print(send(sys.argv[1], pickle.load(sys.stdin.buffer)))"
        sent = subprocess.run(
            [sys.executable, "-c", program, f"https://localhost:{nginx.port}"], input=pickle.dumps(reports[:300]),
            env=os.environ | {"SSL_CERT_FILE": str(nginx.certificate)}, capture_output=True, check=True, timeout=60,
        )  # fmt: skip
        assert sent.stdout.decode().strip() == "Sent(accepted=300, duplicate=0, refused={})"
        statuses = [nginx.status("/survey") for _ in range(150)]
        assert set(statuses) == {200, 429}
        assert statuses[:90] == [200] * 90  # the burst
        time.sleep(1)
        assert nginx.status("/reports", body_of(reports[300:]), **LINES) == 200  # as clients do after 429
        for noise in (b"GET / HTTP/1.0\r\n\r\n", b"\x16\x03\x01\0\5nonse", b"\0" * 100):
            with socket.create_connection(("127.0.0.1", nginx.port), timeout=10) as connection:
                connection.sendall(noise)
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(4096):
                    pass
        assert b"127.0.0.1" not in nginx.logs()
    assert server.get("/estimates")["n"] == 400
    server.stop()


class Verifier(BaseHTTPRequestHandler):
    """Accepts the proof of one device, and remembers what it was sent."""

    seen: ClassVar[list] = []

    def do_GET(self):
        proof = self.headers.get("authorization")
        self.seen.append((proof, self.headers.get("content-length"), self.rfile.read(0)))
        self.send_response(204 if proof == "Bearer proof-of-a-device" else 401)
        self.end_headers()

    do_POST = do_GET  # noqa: N815

    def log_message(self, *arguments):
        pass


@needs("nginx")
@needs("openssl")
@pytest.mark.claim(
    "Behind the example of attestation, only requests that a verifier accepts reach the server.", "Server"
)
@pytest.mark.long
def test_only_devices_that_a_verifier_accepts_send_reports(server, short_folder):
    """The verifier gets no report, and the server no proof. Everybody reads the survey, and a token reads estimates."""
    reports, kind = reports_of(SURVEY, 30), {"content-type": LINES["content-type"]}
    with ThreadingHTTPServer(("127.0.0.1", 0), Verifier) as verifier:
        threading.Thread(target=verifier.serve_forever, daemon=True).start()
        with Nginx(short_folder, server.port, verifier.server_address[1]).running() as nginx:
            for proof, status in ((None, 401), ("Bearer forged-proof", 401), ("Bearer proof-of-a-device", 200)):
                headers = kind if proof is None else {**kind, "authorization": proof}
                assert nginx.status("/reports", body_of(reports), **headers) == status
                assert server.get("/estimates")["n"] == (30 if status == 200 else 0)
                of_series = nginx.status("/habits/reports", body_of(reports), **headers)  # as with several series
                assert of_series == (404 if status == 200 else 401)
            assert {proof for proof, _, _ in Verifier.seen} == {None, "Bearer forged-proof", "Bearer proof-of-a-device"}
            assert {length for _, length, _ in Verifier.seen} <= {None, "", "0"}
            assert nginx.status("/survey") == nginx.status("/estimates", authorization=f"Bearer {READ}") == 200
            assert nginx.status("/attested", authorization="Bearer proof-of-a-device") == 404
            proof = {**kind, "authorization": "Bearer proof-of-a-device"}
            tokens = server.folder / "tokens"
            for lines, status in ((f"read {READ}\nwrite {WRITE}\n", 401), (f"read {READ}\n", 200)):
                tokens.write_text(lines)  # a server with tokens of its own for writing never sees one
                server.process.send_signal(signal.SIGHUP)
                for _ in range(600):
                    if nginx.status("/reports", body_of(reports), **proof) == status:
                        break
                    time.sleep(0.05)
                else:
                    raise AssertionError(status)
            verifier.shutdown()
            verifier.server_close()
            assert nginx.status("/reports", body_of(reports), **proof) == 500  # clients send again later
            assert b"127.0.0.1" not in nginx.logs()
    server.stop()
