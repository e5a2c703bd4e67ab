"""Claims of the documentation and their tests, read from the mark ``claim`` of the tests without importing them."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import NamedTuple

# Targets of the Makefile that run the tests of a folder; other folders have those of their marks.
FOLDERS = {"accountants": "accountants", "docs": "docs", "engines": "engines", "federated": "federated"}
MARKS = {"": "test", "long": "test-long", "slow": "slow"}


class Claim(NamedTuple):
    """A claim of a page, and the test that fails if it is false."""

    sentence: str
    group: str
    path: str
    test: str
    line: int
    targets: tuple[str, ...]


def marks_of(node: ast.AST, assigned: dict[str, ast.expr]) -> set[str]:
    """Return those of the marks long and slow that an expression holds, with the variables of the module that it names."""
    found = {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)} & {"long", "slow"}
    names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)} & set(assigned)
    without = {name: value for name, value in assigned.items() if name not in names}
    return found.union(*(marks_of(assigned[name], without) for name in names))


def cases_of(decorator: ast.expr, assigned: dict[str, ast.expr]) -> list[str]:
    """Return the mark of each case of ``pytest.mark.parametrize``, where "" is no mark; other decorators have no cases."""
    if not (isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "pytest.mark.parametrize"):
        return []
    cases = decorator.args[1]
    if isinstance(cases, ast.Name):
        cases = assigned.get(cases.id, cases)
    elements = cases.elts if isinstance(cases, ast.List | ast.Tuple) else []
    return [max(marks_of(each, assigned), default="") for each in elements]


def targets_of(path: Path, decorators: list[ast.expr], assigned: dict[str, ast.expr]) -> tuple[str, ...]:
    """Return the targets of the Makefile that run a test, or some of its cases, the quickest first."""
    plain = [each for each in decorators if not isinstance(each, ast.Call)]  # ``pytest.mark.long`` and its other names
    whole = set().union(
        *(marks_of(each, assigned) for each in [*plain, assigned.get("pytestmark", ast.Constant(None))])
    )
    cases = [found for each in decorators if (found := cases_of(each, assigned))]
    if whole or not any(any(found) for found in cases):
        marks = {max(whole, default="")}
    else:
        marks = {mark for found in cases if any(found) for mark in found}
    if path.parts[0] in FOLDERS:
        return ("failures" if "slow" in marks else FOLDERS[path.parts[0]],)
    clients = ("clients",) if path.parts[0] == "clients" and "slow" not in marks else ()
    return (*(target for mark, target in MARKS.items() if mark in marks), *clients)


def claims_of(path: Path, tests: Path) -> list[Claim]:
    """Return the claims of a file, in its order."""
    source = path.read_text(encoding="utf-8")
    if "pytest.mark.claim" not in source:
        return []
    module, found = ast.parse(source), []
    assigned = {
        target.id: each.value
        for each in module.body
        if isinstance(each, ast.Assign)
        for target in each.targets
        if isinstance(target, ast.Name)
    }
    name = path.relative_to(tests)
    for test in module.body:
        if isinstance(test, ast.FunctionDef):
            targets = targets_of(name, test.decorator_list, assigned)
            for mark in test.decorator_list:
                if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.claim":
                    sentence, group = map(ast.literal_eval, mark.args)
                    found.append(Claim(sentence, group, name.as_posix(), test.name, test.lineno, targets))
    return found


def read_claims(tests: Path) -> list[Claim]:
    """Return the claims of all tests in a folder, in the order of files and of lines."""
    return [claim for path in sorted(tests.rglob("test_*.py")) for claim in claims_of(path, tests)]
