"""Files for packaging and release: they parse, agree with each other, and name what exists."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from setuptools import find_packages

import ldpfast as ldp

ROOT = Path(__file__).parent.parent
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
RECIPE = yaml.safe_load((ROOT / "recipe" / "recipe.yaml").read_text())
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text())
HOSTS = ("https://ldpfast.github.io", "https://github.com/ldpfast/ldpfast")


def steps(workflow: dict[str, Any]) -> list[dict[str, Any]]:
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


def test_there_is_a_workflow_for_changes_and_one_for_releases():
    assert [path.name for path in WORKFLOWS] == ["ci.yml", "release.yml"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_are_consistent(path):
    """Jobs need jobs that exist, actions have exact versions, and only what publishes may write."""
    workflow = yaml.safe_load(path.read_text())
    jobs = workflow["jobs"]
    assert workflow["permissions"] == {"contents": "read"}
    for name, job in jobs.items():
        needs = job.get("needs", [])
        assert set([needs] if isinstance(needs, str) else needs) <= set(jobs)
        assert ("permissions" in job) == (name in ("publish", "site"))
    actions = [step["uses"] for step in steps(workflow) if "uses" in step]
    assert actions
    assert [action for action in actions if not re.fullmatch(r"[\w.-]+/[\w.-]+@v\d+\.\d+\.\d+", action)] == []


def test_the_workflow_for_changes_calls_targets_that_exist():
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())
    targets = set(re.findall(r"^(\w+):.*?##", (ROOT / "Makefile").read_text(), re.MULTILINE))
    called = {target.split()[0] for target in workflow["jobs"]["make"]["strategy"]["matrix"]["target"]}
    called |= {name for step in steps(workflow) for name in re.findall(r"^make (\w+)", step.get("run", ""))}
    assert {"test", "check", "wheels"} <= called <= targets


def test_a_release_is_published_with_attestations_by_a_trusted_publisher():
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text())
    publish = workflow["jobs"]["publish"]
    assert publish["permissions"]["id-token"] == "write"
    assert publish["if"] == "github.ref_type == 'tag'"
    (upload,) = [step for step in publish["steps"] if step.get("uses", "").startswith("pypa/gh-action-pypi-publish@")]
    assert upload["with"] == {"attestations": True}  # no password: PyPI trusts the workflow
    architectures = {
        (row["system"], row["archs"]) for row in workflow["jobs"]["wheels"]["strategy"]["matrix"]["include"]
    }
    assert {system for system, _ in architectures} == {
        name for name in ("linux", "macos", "windows") if name in PROJECT["tool"]["cibuildwheel"]
    }


def test_wheels_are_built_for_the_versions_that_the_classifiers_name():
    prefix = "Programming Language :: Python :: 3."
    named = {line.removeprefix(prefix) for line in PROJECT["project"]["classifiers"] if line.startswith(prefix)}
    built = {re.fullmatch(r"cp3(\d+)t?-\*", tag)[1] for tag in PROJECT["tool"]["cibuildwheel"]["build"]}
    assert named == built
    assert PROJECT["project"]["requires-python"] == f">=3.{min(map(int, named))}"


def test_the_sdist_has_experiments_and_benchmarks_and_the_wheel_does_not():
    assert {"graft experiments", "graft benchmarks"} <= set((ROOT / "MANIFEST.in").read_text().splitlines())
    packages = find_packages(str(ROOT), **PROJECT["tool"]["setuptools"]["packages"]["find"])
    assert "ldpfast.bench" in packages
    assert {name.partition(".")[0] for name in packages} == {"ldpfast"}


def test_the_recipe_has_the_version_and_the_requirements_of_the_package():
    assert RECIPE["context"]["version"] == ldp.__version__
    run = {line.replace(" ", "") for line in RECIPE["requirements"]["run"]}
    assert run == {"python", *PROJECT["project"]["dependencies"]}
    host = {line.replace(" ", "") for line in RECIPE["requirements"]["host"]}
    assert host == {"python", "pip", *PROJECT["build-system"]["requires"]}
    (_, command) = RECIPE["build"]["python"]["entry_points"][0].split(" = ")
    assert command == PROJECT["project"]["scripts"]["ldpfast"]


def test_the_citation_has_the_version_and_license_of_the_package():
    assert CITATION["cff-version"] == "1.2.0"
    assert CITATION["version"] == ldp.__version__
    assert CITATION["license"] == PROJECT["project"]["license"] == RECIPE["about"]["license"]
    assert CITATION["repository-code"] == PROJECT["project"]["urls"]["Repository"]


def test_links_of_the_project_are_on_its_own_hosts():
    links = [*PROJECT["project"]["urls"].values(), CITATION["repository-code"], CITATION["url"]]
    links += [RECIPE["about"][name] for name in ("homepage", "repository", "documentation")]
    assert [link for link in links if not link.startswith(HOSTS)] == []
