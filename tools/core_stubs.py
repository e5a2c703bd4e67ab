"""Write the stubs of the compiled modules, ldpfast/_core/*.pyi, from the signatures in src/ldpfast/_core/*.pyx.

    python tools/core_stubs.py           # write them
    python tools/core_stubs.py --check   # fail if one differs from its sources

A stub has the public constants, functions and classes of its module. C types give the types of arguments: integers, floats,
`bint`, `str`, and memoryviews, which are arrays. Everything else is annotated in the .pyx: Python objects, results, attributes,
and memoryviews that may be None. The compiler does not read the annotations (`annotation_typing` is off in setup.py). Lines
`# protocol Name: attribute, attribute: type, method(): type` describe objects of the package that a module reads; an attribute
without a type is an integer. mypy.stubtest compares the stubs with the compiled modules.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCES, STUBS = ROOT / "src" / "ldpfast" / "_core", ROOT / "ldpfast" / "_core"
STREAM_HEADER = ROOT / "src" / "kernels" / "random" / "stream.h"
SHARED = "# C functions of Cython for the other modules. No name is for Python.\n"

INTEGERS = {"char", "short", "int", "long", "unsigned int", "size_t", "Py_ssize_t"}
INTEGERS |= {f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)}
SCALARS = dict.fromkeys(INTEGERS, "int") | {"float": "float", "double": "float", "bint": "bool"}
ITEMS = {"float": "float32", "double": "float64", "Py_ssize_t": "intp"}  # NumPy's names; those of integers are regular
IMPORTED = {  # what annotations may name, and its module
    "Any": "typing",
    "IntEnum": "enum",
    "NDArray": "numpy.typing",
    "Protocol": "typing",
    "Self": "typing",
    "Sequence": "collections.abc",
}
ARGUMENT = re.compile(
    r"(?:(?:const )?(?P<type>\w+(?: \w+)?)(?P<axes>\[[:1, ]*\])? )?(?P<name>\w+)(?: not None)?"
    r"(?: ?: (?P<annotation>.+?))?(?: ?= ?(?P<default>.+))?$"
)
SIGNATURE = re.compile(r"( *)def (\w+)\((.*?)\)(?: -> ([^\n]+?))?:(?: .*)?\n", re.DOTALL)
CONSTANT = re.compile(r"([A-Z]\w*(?:, [A-Z]\w*)*)(?:: ([^=\n]+))? = (.+)\n")
PROTOCOL = re.compile(r"# protocol (\w+): (.+)\n")


def split(text: str) -> list[str]:
    """Split a list at the commas that are in no brackets."""
    parts, depth = [""], 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [" ".join(part.split()) for part in parts if part.strip()]


def array(items: list[str]) -> str:
    """Return the type of an array whose items have one of these C types."""
    names = [ITEMS.get(item, item.removesuffix("_t")) for item in items]
    return " | ".join(f"NDArray[np.{name}]" for name in names)


def argument(text: str, where: str, fused: dict[str, list[str]]) -> str:
    """Return an argument of a stub from one of a .pyx. `fused` has the C types of each `ctypedef fused`."""
    match = ARGUMENT.match(text)
    if match is None:
        raise ValueError(f"{where}: no argument: {text}")
    name, c_type = match["name"], match["type"]
    default = match["default"]
    annotation = match["annotation"]
    if annotation is None and c_type is not None:
        annotation = array(fused.get(c_type, [c_type])) if match["axes"] else SCALARS.get(c_type, c_type)
        annotation += " | None" * (default == "None")
    if annotation is None:
        raise ValueError(f"{where}: `{name}` has neither a C type nor an annotation")
    return f"{name}: {annotation}" + (f" = {shown(default)}" if default else "")


def shown(default: str) -> str:
    """Return a default as a stub shows it."""
    try:
        ast.literal_eval(default)
    except ValueError:
        return "..."
    return default


def function(match: re.Match[str], fused: dict[str, list[str]]) -> list[str]:
    """Return the lines of a function or method of a stub, none if it is private."""
    indent, name, arguments, result = match.groups()
    if name == "__cinit__":
        name, result = "__new__", "Self"
        first = ["cls"]
    elif name == "__init__":
        first, result = ["self"], "None"
    elif name.startswith("_"):
        return []
    else:
        first = ["self"] if indent else []
    given = [text for text in split(arguments) if text != "self"]
    if result is None:
        raise ValueError(f"{name}: no annotation of the result")
    listed = ", ".join([*first, *(argument(text, name, fused) for text in given)])
    return [f"{indent}def {name}({listed}) -> {result}: ..."]


def attributes(name: str, text: str) -> Iterator[str]:
    """Yield the lines of the attributes of a class that the .pyx or its .pxd declares `readonly`."""
    for c_type, names in re.findall(r"^    cdef readonly (\w+) (.+?)(?:  #.*)?$", text, re.MULTILINE):
        for attribute in split(names):
            yield from property_lines(attribute, SCALARS.get(c_type, c_type))


def property_lines(name: str, result: str) -> list[str]:
    return ["    @property", f"    def {name}(self) -> {result}: ..."]


def protocol(match: re.Match[str]) -> list[str]:
    """Return the lines of a class that describes objects of the package."""
    lines = [f"class _{match[1]}(Protocol):"]
    for part in split(match[2]):
        name, _, result = part.partition(": ")
        if name.endswith("()"):
            lines.append(f"    def {name[:-2]}(self) -> {result}: ...")
        else:
            lines += property_lines(name, result or "int")
    return lines


def constants(match: re.Match[str]) -> list[str]:
    """Return the lines of public constants. Types that are not annotated are those of literals, or integers of C."""
    names, annotation, value = match.groups()
    if names == "StreamId":
        return stream_ids()
    lines = []
    for name, text in zip(split(names), split(value.partition("  #")[0]) if "," in names else [value], strict=True):
        of_type = annotation or ("int" if re.fullmatch(r"[A-Z_]+", text) else type(ast.literal_eval(text)).__name__)
        lines.append(f"{name}: {of_type}")
    return lines


def stream_ids() -> list[str]:
    """Return the lines of the enumeration that the module `stream` makes from random/stream.h."""
    found = re.findall(r"\bID\(STREAM_(\w+), (\w+)\)", STREAM_HEADER.read_text())
    return ["class StreamId(IntEnum):", *(f"    {name} = {number}" for name, number in found)]


def body(text: str, declared: str) -> list[str]:
    """Return the lines of a stub, without imports, from the text of a .pyx and of its .pxd."""
    text = re.sub(r'"""(?:[^"]|"(?!""))*"""', '""', text)  # docstrings
    fused = {name: types.split() for name, types in re.findall(r"^ctypedef fused (\w+):\n((?: +\w+\n)+)", text, re.M)}
    lines: list[str] = []
    for part in re.split(r"\n(?=[^ \n)])", text):
        part += "\n"
        if match := PROTOCOL.match(part):
            lines += protocol(match)
        elif match := CONSTANT.match(part):
            lines += constants(match)
        elif match := SIGNATURE.match(part):
            lines += function(match, fused)
        elif match := re.match(r"cdef class (\w+)(\(\w+\))?:", part):
            lines.append(f"class {match[1]}{match[2] or ''}:")
            pxd = re.search(rf"^cdef class {match[1]}\b.*\n((?:    .*\n|\n)*)", declared, re.MULTILINE)
            members = list(attributes(match[1], part + (pxd[1] if pxd else "")))
            for found in re.finditer(r"(?P<of>    @property\n)?" + SIGNATURE.pattern, part, re.DOTALL):
                method = function(SIGNATURE.match(found[0].removeprefix(found["of"] or "")), fused)
                members += ["    @property"] * bool(found["of"] and method) + method
            lines += members or ["    ..."]
    return lines


def stub(path: Path, classes: dict[str, str]) -> str:
    """Return the stub of a .pyx. `classes` has the modules of the compiled classes by name."""
    declared = path.with_suffix(".pxd")
    lines = body(path.read_text(), declared.read_text() if declared.exists() else "")
    text = "\n".join(lines)
    names = set(
        re.findall(r"(?<!\.)\b[A-Za-z_]\w*", re.sub(r"^(?:class \w+|\s*def \w+)", "", text, flags=re.MULTILINE))
    )
    names |= set(re.findall(r"^class \w+\((\w+)\)", text, re.MULTILINE))
    modules: dict[str, list[str]] = {}
    for name in sorted(names & IMPORTED.keys()):
        modules.setdefault(IMPORTED[name], []).append(name)
    for name in sorted(names & classes.keys()):
        if classes[name] != path.stem:
            modules.setdefault(f".{classes[name]}", []).append(name)
    imports = [f"from {module} import {', '.join(found)}" for module, found in modules.items()]
    return "\n".join([*imports, *["import numpy as np"] * ("np" in names), text, ""])


def formatted(text: str) -> str:
    """Return a stub as `make check` wants it."""
    for command in (["check", "--fix", "--quiet", "--select", "I"], ["format", "--quiet"]):
        command = [sys.executable, "-m", "ruff", *command, "--stdin-filename", str(STUBS / "stub.pyi"), "-"]
        text = subprocess.run(command, input=text, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    return text


def unformatted() -> dict[Path, str]:
    """Return the texts of all stubs by their paths, without the format of `make check`."""
    sources = sorted(SOURCES.glob("*.pyx"))
    classes = {name: path.stem for path in sources for name in re.findall(r"^cdef class (\w+)", path.read_text(), re.M)}
    return {STUBS / f"{path.stem}.pyi": stub(path, classes) for path in sources} | {STUBS / "cython_shared.pyi": SHARED}


def main() -> int:
    made, check = {path: formatted(text) for path, text in unformatted().items()}, "--check" in sys.argv[1:]
    different = [path for path, text in made.items() if not path.exists() or path.read_text() != text]
    different += set(STUBS.glob("*.pyi")) - made.keys()
    for path in sorted(different):
        if not check and path in made:
            path.write_text(made[path])
        print(f"{path.relative_to(ROOT)}: {'differs from its source' if check else 'written'}")
    print(f"stubs: {len(made)} files, {len(different)} {'problems' if check else 'written'}")
    return bool(different) and check


if __name__ == "__main__":
    sys.exit(main())
