"""Rules that turn a source file into mutants: copies with one small error each.

Constants, comparisons, shifts, signs, stream ids, directions and bounds are changed. These stay as they are:

- comments, strings, imports, preprocessor conditions, and hints (alignment, prefetching, unrolling);
- what only affects speed: sizes of the pieces in which data is processed, and whether a loop over pieces ends with an
  empty piece;
- what the sanitizers check: sizes of declared arrays and of allocated memory, and the ends of vector loops;
- checks for memory that cannot be allocated;
- whether the comparison in a clamp, such as ``x < y ? x : y``, is strict: its two sides are equal at the limit.
"""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PATTERNS = [
    "src/kernels/**/*.[ch]",
    "src/ldpfast/_core/*.pyx",
    "ldpfast/_coins/*.py",
    "ldpfast/_person_keys.py",
    "ldpfast/_random.py",
    "ldpfast/central/_noise.py",
    "ldpfast/central/_quantile.py",
    "ldpfast/survey/_mean.py",
    "ldpfast/survey/_number_columns.py",
    "ldpfast/survey/_persons.py",
    "ldpfast/survey/_symbol_columns.py",
]
# Operators with a space on both sides: pointers, casts and signs have none.
OPERATOR_PAIRS = [
    ("<", "<="),
    (">", ">="),
    ("==", "!="),
    ("+", "-"),
    ("+=", "-="),
    ("&", "|"),
    ("&=", "|="),
    ("&&", "||"),
]
OPERATOR_PAIRS += [("<<", ">>"), ("<<=", ">>=")]
OPERATORS = {"^": "|", "^=": "|="} | {name: other for pair in OPERATOR_PAIRS for name, other in (pair, pair[::-1])}
# Names, and parts of names between underscores.
NAME_PAIRS = [
    ("and", "or"),
    ("True", "False"),
    ("min", "max"),
    ("up", "down"),
    ("floor", "ceil"),
    ("smaller", "larger"),
]
NAME_PAIRS += [("ROUND_FLOOR", "ROUND_CEILING")]
NAMES = {name: other for pair in NAME_PAIRS for name, other in (pair, pair[::-1])}
HINTS = re.compile(
    r"vector_size|aligned\(|prefetch|read_soon\(|fetch_to_(?:read|write)\(|_Pragma|GCC unroll|lru_cache"
    r"|^\s*(@|from |import |cimport )"
)
PIECES = r"\w*(?:PIECE|CACHE|FETCH|TILE|SCRATCH|READER)\w*"
# Except pieces of random words, whose sizes affect the reports of a seed.
PIECE_SIZE = re.compile(rf"\b(?!CODE_|WIDE_|NOISE_|SUBSET_){PIECES} = [^,;}}#\n]*")
ALLOCATION = re.compile(r"\b(?:malloc|calloc|realloc)\([^;\n]*")
NULL_CHECK = re.compile(r"[\w.]+ is NULL(?:\s+(?:and|or)\s+[\w.]+ is NULL)+")
# The comparison in a loop over pieces, in a vector loop, and in a clamp.
PIECE_LOOP = re.compile(rf"; \w+ (<) [^;\n]*; \w+ \+= {PIECES}\)")
VECTOR_LOOP = re.compile(r"; \w+ (<) [^;\n]*; \w+\+\+\)[^\n]*/\* vector loop \*/")
OPERAND = r"[-\w.>]+(?:\[\w+\])?"
SIDES = rf"(?P<x>{OPERAND}) (?P<sign>[<>]=?) (?P<y>{OPERAND})"
CLAMPS = [
    re.compile(rf"(?<![-+*/\w.>\]] )(?<!\w){SIDES} \? (?:(?P=x) : (?P=y)|(?P=y) : (?P=x))(?!\w| [-+*/])"),
    re.compile(
        rf"(?P<first>{OPERAND}) if (?P=first) (?P<sign>[<>]=?) (?P<last>{OPERAND}) else (?P=last)$", re.MULTILINE
    ),
]
C_TOKEN = re.compile(
    r"""(?P<skip>/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|^[ ]*\#[ ]*(?!define)\w+(?:\\\n|[^\n])*)
    |(?P<number>0[xX][0-9a-fA-F]*\.?[0-9a-fA-F]*(?:p[+-]?\d+)?[uUlLfF]*|\d+\.?\d*(?:e[+-]?\d+)?[uUlLfF]*)
    |(?P<name>[A-Za-z_]\w*)
    |(?P<operator><<=|>>=|->|\+\+|--|&&|\|\||[-+*/%&|^<>=!]=|<<|>>|.)""",
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True, order=True)
class Mutant:
    """One change of a file: the characters from `start` to `end` are replaced."""

    file: str
    line: int
    start: int
    end: int
    old: str
    new: str
    changed: str  # the changed line, without the spaces around it

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.old} -> {self.new}: {self.changed}"

    def apply(self, text: str) -> str:
        """Return the text of the file with the change."""
        return text[: self.start] + self.new + text[self.end :]


@dataclass(frozen=True)
class Token:
    kind: str
    text: str
    start: int


def c_tokens(text: str) -> list[Token]:
    """Return numbers, names and operators of C code."""
    found = ((match.lastgroup or "", match.group(), match.start()) for match in C_TOKEN.finditer(text))
    return [Token(*token) for token in found if token[0] != "skip" and not token[1].isspace()]


def python_tokens(text: str) -> list[Token]:
    """Return numbers, names and operators of Python or Cython code."""
    kinds = {tokenize.NUMBER: "number", tokenize.NAME: "name", tokenize.OP: "operator"}
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found = []
    statement = []
    formatted = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        name = tokenize.tok_name[token.type]
        formatted += (name == "FSTRING_START") - (name == "FSTRING_END")
        if token.type in kinds and not formatted:
            statement.append(Token(kinds[token.type], token.string, starts[token.start[0] - 1] + token.start[1]))
        if token.type in (tokenize.NEWLINE, tokenize.ENDMARKER):
            if not any(t.text in ("import", "cimport") for t in statement):
                found += statement
            statement = []
    return found


def number_changes(text: str) -> list[str]:
    """Return an integer one larger and one smaller, and hexadecimal floating-point numbers doubled and halved."""
    power = re.fullmatch(r"(0x[0-9a-f.]+p)([+-]?\d+)([fF]?)", text)
    if power:
        return [f"{power[1]}{int(power[2]) + change}{power[3]}" for change in (1, -1)]
    integer = re.fullmatch(r"(0[xX][0-9a-fA-F]+|\d[\d_]*)([uUlL]*)", text)
    if not integer:
        return []
    value = int(integer[1], 0)
    changed = [value + 1] + ([value - 1] if value else [])
    return [f"{v:#x}{integer[2]}" if text[:2] in ("0x", "0X") else f"{v}{integer[2]}" for v in changed]


def name_changes(name: str, ids: list[str]) -> list[str]:
    """Return the stream id after this one, or the name of the opposite."""
    if name in ids:
        return [ids[(ids.index(name) + 1) % len(ids)]] if len(ids) > 1 else []
    if name in NAMES:
        return [NAMES[name]]
    parts = name.split("_")
    opposite = [NAMES.get(part, part) if part in ("min", "max", "smaller", "larger") else part for part in parts]
    return ["_".join(opposite)] if opposite != parts else []


def stream_ids() -> list[str]:
    """Return the names of the stream ids, in the order of the header that lists them."""
    header = (ROOT / "src/kernels/random/stream.h").read_text()
    return re.findall(r"^    ID\((STREAM_\w+), \w+\)", header, re.MULTILINE)


def array_sizes(tokens: list[Token]) -> set[int]:
    """Return the numbers of the tokens in the brackets of C declarations, such as ``uint8_t buffer[2 * N]``."""
    found: set[int] = set()
    for i in range(2, len(tokens)):
        before, name = tokens[i - 2], tokens[i - 1]
        declares = before.kind == "name" and before.text not in ("return", "else")
        declares |= i > 4 and tokens[i - 5].text in ("NAME", "PER_ISA") and before.text == ")"  # a generated type
        another = before.text == "," and i - 3 in found  # after an array in the same declaration
        if tokens[i].text == "[" and name.kind == "name" and (declares or another):
            end = next(j for j in range(i, len(tokens)) if tokens[j].text == "]")
            found.update(range(i, end + 1))
    return found


def kept_characters(text: str) -> set[int]:
    """Return the positions of characters that the rules above leave out."""
    draws_words = "stream_draw(" in text
    rules = (ALLOCATION, NULL_CHECK) if draws_words else (ALLOCATION, NULL_CHECK, PIECE_SIZE)
    spans = [match.span() for rule in rules for match in rule.finditer(text)]
    spans += [match.span(1) for rule in (PIECE_LOOP, VECTOR_LOOP) for match in rule.finditer(text)]
    spans += [match.span("sign") for rule in CLAMPS for match in rule.finditer(text)]
    return {position for start, end in spans for position in range(start, end)}


def changes(tokens: list[Token], text: str, ids: list[str], is_c: bool) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and replacement of all changes."""
    left_out, kept = array_sizes(tokens) if is_c else set(), kept_characters(text)
    left_out |= {i for i, token in enumerate(tokens) if token.start in kept}
    for i, token in enumerate(tokens):
        end, after = token.start + len(token.text), tokens[i + 1] if i + 1 < len(tokens) else token
        if i in left_out or text[token.start - 2 : token.start] == "::":  # a memory layout of Cython
            continue
        if token.kind == "number":
            yield from ((token.start, end, new) for new in number_changes(token.text))
        elif token.kind == "name":
            if token.text == "math" and text[token.start :].startswith("math.inf"):
                end += 4
                yield token.start, end, "(-math.inf)"
            elif after.text != "=" or is_c:  # not the name of an argument
                yield from ((token.start, end, new) for new in name_changes(token.text, ids))
        elif token.text in OPERATORS and text[token.start - 1].isspace() and text[end].isspace():
            yield token.start, end, OPERATORS[token.text]
            if token.text in ("<<", ">>") and after.kind != "number":
                yield token.start, end, f"{token.text} 1 {token.text}"


def mutants(file: str) -> list[Mutant]:
    """Return all mutants of a file, in the order of the text."""
    text = (ROOT / file).read_text()
    is_c = file.endswith((".c", ".h"))
    tokens = c_tokens(text) if is_c else python_tokens(text)
    ids = stream_ids()
    if file.endswith("stream.h"):
        ids = []  # the list itself
    elif file.endswith(".pyx"):
        ids = sorted({t.text for t in tokens if t.text.startswith("STREAM_")})
    elif not is_c:  # StreamId.WARNER is STREAM_WARNER
        ids = [name.removeprefix("STREAM_") for name in ids] if "StreamId." in text else []
    found, typed = [], set() if is_c else annotated_lines(text) if file.endswith(".py") else signature_lines(text)
    for start, end, new in changes(tokens, text, ids, is_c):
        first, last = text.rfind("\n", 0, start) + 1, text.find("\n", end)
        if HINTS.search(text[first:last]) or (text[start:end] == "|" and text.count("\n", 0, start) + 1 in typed):
            continue
        mutant = Mutant(
            file,
            text.count("\n", 0, start) + 1,
            start,
            end,
            text[start:end],
            new,
            (text[first:start] + new + text[end:last]).strip(),
        )
        if is_c or file.endswith(".pyx") or is_python(mutant.apply(text)):
            found.append(mutant)
    return found


def annotated_lines(text: str) -> set[int]:
    """Return the numbers of the lines with types, where "|" is no operator."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.arg | ast.AnnAssign) and node.annotation:
            found.add(node.annotation.lineno)
        elif isinstance(node, ast.FunctionDef) and node.returns:
            found.add(node.returns.lineno)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
            found.add(node.lineno)
    return found


def signature_lines(text: str) -> set[int]:
    """Return the numbers of the lines with signatures of Cython functions, where "|" is no operator."""
    found = set()
    for match in re.finditer(r"^ *def \w+\(.*?:$", text, re.DOTALL | re.MULTILINE):
        first = text.count("\n", 0, match.start()) + 1
        found.update(range(first, first + match[0].count("\n") + 1))
    return found


def is_python(text: str) -> bool:
    """Return whether the text can be parsed."""
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def files() -> list[str]:
    """Return the files that are mutated."""
    return sorted(str(path.relative_to(ROOT)) for pattern in PATTERNS for path in ROOT.glob(pattern))
