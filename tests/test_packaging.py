"""Files for packaging and release: they parse, agree with each other, and name what exists."""

from __future__ import annotations

import json
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
ZENODO = json.loads((ROOT / ".zenodo.json").read_text())
DEPENDABOT = yaml.safe_load((ROOT / ".github" / "dependabot.yml").read_text())
PAPER = (ROOT / "paper" / "paper.md").read_text()
HOSTS = ("https://ldpfast.github.io", "https://github.com/ldpfast/ldpfast")


def steps(workflow: dict[str, Any]) -> list[dict[str, Any]]:
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


def test_there_is_a_workflow_for_changes_one_for_releases_and_one_that_rates():
    assert [path.name for path in WORKFLOWS] == ["ci.yml", "release.yml", "scorecard.yml"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_are_consistent(path):
    """Jobs need jobs that exist, actions are named by hash, and only what publishes has more than the right to read."""
    workflow = yaml.safe_load(path.read_text())
    jobs = workflow["jobs"]
    assert workflow["permissions"] == {"contents": "read"}
    for name, job in jobs.items():
        needs = job.get("needs", [])
        assert set([needs] if isinstance(needs, str) else needs) <= set(jobs)
        assert ("permissions" in job) == (name in ("publish", "site", "analysis"))
    actions = [step["uses"] for step in steps(workflow) if "uses" in step]
    assert actions
    assert [action for action in actions if not re.fullmatch(r"[\w.-]+/[\w.-]+@[0-9a-f]{40}", action)] == []


def test_an_action_has_one_hash_whose_version_is_beside_it():
    """Dependabot updates both; a hash without a version, or two hashes of one action, would be a mistake of a person."""
    pattern = r"uses: ([\w.-]+/[\w.-]+)@([0-9a-f]{40}) # (v\d+\.\d+\.\d+)$"
    texts = [path.read_text() for path in WORKFLOWS]
    pinned = [found for text in texts for found in re.findall(pattern, text, re.MULTILINE)]
    assert len(pinned) == sum(text.count("uses: ") for text in texts)
    assert len(set(pinned)) == len({action for action, *_ in pinned})


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
        name for name in ("linux", "macos", "windows", "pyodide") if name in PROJECT["tool"]["cibuildwheel"]
    }


def test_wheels_are_built_for_the_versions_that_the_classifiers_name():
    prefix = "Programming Language :: Python :: 3."
    named = {line.removeprefix(prefix) for line in PROJECT["project"]["classifiers"] if line.startswith(prefix)}
    built = {re.fullmatch(r"cp3(\d+)t?-\*", tag)[1] for tag in PROJECT["tool"]["cibuildwheel"]["build"]}
    assert named == built
    assert PROJECT["project"]["requires-python"] == f">=3.{min(map(int, named))}"


def test_wheels_for_browsers_are_built_for_one_version():
    """Each version of Pyodide has one version of CPython, and cibuildwheel would build for all that it knows."""
    skipped = {tag.removesuffix("-pyodide*") for tag in PROJECT["tool"]["cibuildwheel"]["skip"] if "pyodide" in tag}
    built = {tag.removesuffix("-*") for tag in PROJECT["tool"]["cibuildwheel"]["build"] if "t-" not in tag}
    assert built - skipped == {"cp314"}


def test_the_workflow_for_changes_tests_the_versions_that_wheels_are_built_for():
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())
    tested = {version.replace(".", "") for version in workflow["jobs"]["wheels"]["strategy"]["matrix"]["python"]}
    assert tested == {tag.removeprefix("cp").removesuffix("-*") for tag in PROJECT["tool"]["cibuildwheel"]["build"]}


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


def test_zenodo_has_the_version_license_and_words_of_the_citation():
    assert ZENODO["version"] == ldp.__version__
    assert ZENODO["license"] == CITATION["license"]
    assert ZENODO["title"] == CITATION["title"]
    assert ZENODO["creators"] == CITATION["authors"]
    assert ZENODO["keywords"] == PROJECT["project"]["keywords"]
    assert ZENODO["description"] == PROJECT["project"]["description"]
    assert {link["identifier"] for link in ZENODO["related_identifiers"]} == {
        CITATION["url"],
        CITATION["repository-code"],
    }


def test_actions_and_packages_are_updated_after_they_have_been_out_for_a_week():
    assert DEPENDABOT["version"] == 2
    updates = {update["package-ecosystem"]: update for update in DEPENDABOT["updates"]}
    assert set(updates) == {"github-actions", "pip"}
    assert all(update["cooldown"]["default-days"] >= 7 for update in updates.values())


def test_forms_for_issues_ask_for_something_and_send_vulnerabilities_elsewhere():
    folder = ROOT / ".github" / "ISSUE_TEMPLATE"
    assert sorted(path.name for path in folder.iterdir()) == ["bug.yml", "config.yml", "proposal.yml"]
    for name in ("bug", "proposal"):
        form = yaml.safe_load((folder / f"{name}.yml").read_text())
        assert {"name", "description", "body"} <= set(form)
        fields = [part for part in form["body"] if part["type"] != "markdown"]
        assert any(part["validations"]["required"] for part in fields)
        assert len({part["id"] for part in fields}) == len(fields)
    links = yaml.safe_load((folder / "config.yml").read_text())["contact_links"]
    assert PROJECT["project"]["urls"]["Security"] in {link["url"] for link in links}


def test_the_code_of_conduct_says_where_to_report():
    assert PROJECT["project"]["urls"]["Security"] in (ROOT / ".github" / "CODE_OF_CONDUCT.md").read_text()


def test_the_paper_cites_what_its_bibliography_has():
    entries = re.findall(r"^@\w+\{(\w+),", (ROOT / "paper" / "paper.bib").read_text(), re.MULTILINE)
    assert len(set(entries)) == len(entries)
    assert set(re.findall(r"@(\w+)", PAPER)) == set(entries)
    _, head, _ = PAPER.split("---\n", 2)
    assert {"title", "tags", "authors", "affiliations", "date", "bibliography"} == set(yaml.safe_load(head))


def test_the_paper_has_two_pages_and_the_measured_figures_of_the_documentation():
    """About 550 words are a page of the journal, without the references."""
    _, _, text = PAPER.split("---\n", 2)
    assert 700 < len(text.split()) < 1100

    def cells(line):
        return [cell.strip() for cell in line.strip("| ").split(" | ")][:5]

    measured = [cells(line) for line in (ROOT / "docs" / "benchmarks.md").read_text().splitlines() if " | " in line]
    head, _, *rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len(rows) == 7
    assert [row for row in map(cells, [head, *rows]) if row not in measured] == []


def test_the_recipe_leaves_out_only_what_was_never_built():
    """No kernel compiles with the compiler that conda-forge has for Windows."""
    assert RECIPE["build"]["skip"] == "win"


def test_links_of_the_project_are_on_its_own_hosts():
    links = [*PROJECT["project"]["urls"].values(), CITATION["repository-code"], CITATION["url"]]
    links += [RECIPE["about"][name] for name in ("homepage", "repository", "documentation")]
    assert [link for link in links if not link.startswith(HOSTS)] == []
