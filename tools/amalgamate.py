"""Write the C client of a survey: ldpfast_client.c with all kernels that it needs, its header, and ldpfast_entropy.c.

The text of the kernels in src/kernels takes the place of the #include lines, without the parts for other builds. Their
functions become static, so that a program sees the functions of ldpfast_client.h only.
"""

import argparse
import re
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KERNELS, CLIENT = ROOT / "src" / "kernels", ROOT / "clients" / "c"
FALSE = {"LDP_X86", "defined(KERNEL_REALS)", "!defined(LDP_FREESTANDING)"}  # in the client
PROTOTYPE = re.compile(r"^(?!typedef|static|return|LDP_)(?=\w+_fn \w|[a-z][\w ]*[ *]\w+\([^;{}]*\);)", re.M)
PREAMBLE = """\
/* The client of a survey of ldpfast {version} in one file, made by tools/amalgamate.py. Needs GCC >= 11 or Clang >= 15.
 *
{license} */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wunused-function" /* the files are shared with a larger library */
#endif
"""


class Amalgamation:
    """The text of a file with its includes.

    Attributes
    ----------
    lines : list of str
    """

    def __init__(self, source: Path) -> None:
        self.lines: list[str] = []
        self._defined: set[str] = set()
        self._body = ""  # value of KERNEL_BODY
        # Of each open conditional: whether its lines are kept, it is undecided, and its directives are written.
        self._branches: list[list[bool]] = []
        self._add(source)

    def _add(self, path: Path) -> None:
        text = path.read_text()
        if path.suffix == ".h":
            text = PROTOTYPE.sub("static ", text)
        for line in text.splitlines():
            self._line(line)

    def _line(self, line: str) -> None:
        directive = re.match(r"#\s*(\w+)\s*(.*)", line)
        kind, rest = directive.groups() if directive else ("", "")
        if kind in ("if", "ifdef", "ifndef", "elif", "else", "endif"):
            self._condition(kind, rest, line)
        elif all(keep for keep, *_ in self._branches):
            self._kept(kind, rest, line)

    def _kept(self, kind: str, rest: str, line: str) -> None:
        name, _, value = rest.partition(" ")
        if kind == "include" and rest == "KERNEL_BODY":
            self._add(KERNELS / self._body)
        elif kind == "include" and rest.startswith('"') and (KERNELS / rest.strip('"')).exists():
            self._add(KERNELS / rest.strip('"'))
        elif kind in ("define", "undef") and name == "KERNEL_BODY":
            self._body = value.strip('"')
        else:
            if kind == "define":
                self._defined.add(name)
            if line or (self.lines and self.lines[-1]):
                self.lines.append(line)

    def _condition(self, kind: str, rest: str, line: str) -> None:
        if kind in ("if", "ifdef", "ifndef"):
            outside = all(keep for keep, *_ in self._branches)
            known_false = not outside or self._is_false(kind, rest)
            self._branches.append([not known_false, outside, outside and not known_false])
            self._write(outside and not known_false, line)
            return
        keep, undecided, written = self._branches[-1]
        if kind == "endif":
            self._branches.pop()
            self._write(written, line)
        elif written:
            self._write(True, line)
        elif undecided and not keep and not (kind == "elif" and self._is_false("if", rest)):
            # The first branch that is not known to be false: all others before it are gone.
            self._branches[-1] = [True, kind == "elif", kind == "elif"]
            self._write(kind == "elif", f"#if {rest}")
        else:
            self._branches[-1][0] = False

    def _is_false(self, kind: str, expression: str) -> bool:
        if kind == "ifndef":
            return expression in self._defined
        return kind == "if" and any(part in FALSE for part in expression.split(" && "))

    def _write(self, wanted: bool, line: str) -> None:
        if wanted:
            self.lines.append(line)


def write(folder: Path) -> Path:
    """Write the files and return the path of the source."""
    folder.mkdir(parents=True, exist_ok=True)
    version = re.search(r'"(.*)"', (ROOT / "ldpfast" / "_version.py").read_text())
    assert version
    text = (ROOT / "LICENSE").read_text().strip()
    commented = "\n".join(f" * {line}".rstrip() for line in text.splitlines())
    preamble = PREAMBLE.format(version=version[1], license=commented)
    source = folder / "ldpfast_client.c"
    source.write_text(preamble + "\n".join(Amalgamation(CLIENT / "ldpfast_client.c").lines) + "\n")
    for name in ("ldpfast_client.h", "ldpfast_entropy.c"):
        shutil.copy(CLIENT / name, folder / name)
    return source


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "clients" / "c", help="folder of the files")
    print(write(parser.parse_args().output))


if __name__ == "__main__":
    main()
