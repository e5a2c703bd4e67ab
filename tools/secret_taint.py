"""Check with memcheck that no branch and no address depends on a record or a privacy coin, where this is claimed.

Compiles tests/native/secret_taint.c and the kernels with the flags of the library, which gives the same machine code. The
program marks records and random words as undefined and calls each kernel under Valgrind, in plain C and with AVX2. Memcheck
follows the marks through registers and memory. It reports each conditional jump and each address that depends on a mark.
Conditional moves and masks are allowed, and so are the jumps by which exact integers are rejected, in the cases named below:
they do not depend on the integer that is drawn. The check fails

- if there is a report in a kernel with the claim, or if the marks do not reach the bytes of its output;
- if a kernel of src/kernels/privatize has no case;
- if memcheck reports nothing in a kernel without the claim;
- if one of the planted faults, those below and those of the cards of the mechanisms, is not found. Each changes a copy of
  one kernel.

It does not see code that no case reaches, AVX-512, which Valgrind does not know, and instructions whose own time depends on
the operands. Needs the package, a compiler, and Valgrind with its header files, for example the Debian package valgrind.

    python tools/secret_taint.py                # all cases
    python tools/secret_taint.py 'l2 ball'      # the cases with this text in their names, and their faults
"""

import ast
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from xml.etree import ElementTree

from mechanism_cards import CARDS, INSTRUCTION_SETS, Fault

ROOT = Path(__file__).resolve().parents[1]
KERNELS = ROOT / "src" / "kernels"
PROGRAM = ROOT / "tests" / "native" / "secret_taint.c"
COMPILER = os.environ.get("CC", sysconfig.get_config_var("CC")).split()
VALGRIND = ["valgrind", "-q", "--vgdb=no", "--error-limit=no", "--expensive-definedness-checks=yes", "--xml=yes"]
UNSUPPORTED = 2  # exit status of the program
NO_CLAIM = "not claimed: "  # start of the names of cases
# Kernels with exact integers, and the jumps by which words and whole draws are rejected.
REJECTING = ("subset selection", "rank codebook", "set selection", "view response")
REJECTION = tuple(
    f"UninitCondition: {place}:"
    for place in ("word_below (uniform.h", "draw_digits (digits.h", "counted (set_selection.c")
)

# Faults of what several mechanisms share, of problems and of protocols.
SHARED_FAULTS = (
    Fault(
        "a comparison that stops at the first different byte",
        "unary encoding, one row, u64",
        "random/coins_direct.c",
        "random/coins_direct.c",
        "less |= (uint64_t)(word[i] < heads) << i;",
        "for (int b = 56; b >= 0; b -= 8) if ((word[i] ^ heads) >> b) { less |= (uint64_t)(word[i] < heads) << i; break; }",
    ),
    Fault(
        "a population count by a table",
        "l-infinity ball, f64",
        "privatize/linf_ball.c",
        "simd/branchless.h",
        "count_ones(uint64_t v)\n{\n",
        "count_ones(uint64_t v)\n{\n"
        "static const uint8_t table[16] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4}; size_t ones = 0; "
        "for (int i = 0; i < 64; i += 4) ones += table[v >> i & 15]; if (ones < 65) return ones;",
        ("plain C",),
    ),
    Fault(
        "a branch on the private coin, in one of many lanes",
        "series, f32",
        "privatize/series.c",
        "privatize/series_body.h",
        "flip[l] = -(uint32_t)(2 * agreed[l] < p->terms) ^ -(uint32_t)(person.coin[l] >= p->heads);",
        "{ flip[l] = -(uint32_t)(2 * agreed[l] < p->terms); "
        'if (person.coin[l] >= p->heads) { __asm__ volatile(""); flip[l] = ~flip[l]; } }',
    ),
    Fault(
        "a branch on the answer",
        "quantile steps, f64",
        "sgd/quantile.c",
        "sgd/quantile_body.h",
        "at = choose_i64(minus, below, above);",
        'at = above; if (minus < 0) { __asm__ volatile(""); at = below; }',
    ),
    Fault(
        "a branch on a number that is clipped",
        "clipped rows, f64",
        "privatize/clip.c",
        "privatize/clip_body.h",
        "out[j] = OF_REAL(limit)(x[j], far);",
        'out[j] = x[j]; if (x[j] > far) { __asm__ volatile(""); out[j] = far; }',
    ),
    Fault(
        "a branch on the state of the cipher",
        "AES-256, portable",
        "random/aes_portable.c",
        "random/aes_portable.c",
        "q[i] ^= both[7];",
        'for (int l = 0; l < LANES; l++) if (both[7][l]) { __asm__ volatile(""); q[i][l] ^= both[7][l]; }',
    ),
    Fault(
        "a branch on a bit of a derived secret",
        "derived key, portable",
        "random/cmac.c",
        "random/cmac.c",
        "const uint8_t carry = (uint8_t)-(x[0] >> 7);",
        'uint8_t carry = 0; if (x[0] >> 7) { __asm__ volatile(""); carry = 255; }',
    ),
)
FAULTS = (*(fault for card in CARDS.values() for fault in card.faults), *SHARED_FAULTS)


def flags() -> list[str]:
    """Return the flags with which the library is compiled, and debug information, which does not change the code."""
    assigned = {
        target.id: node.value
        for node in ast.parse((ROOT / "setup.py").read_text()).body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    python = [flag for name in ("CFLAGS", "CCSHARED") for flag in sysconfig.get_config_var(name).split()]
    return [*python, *ast.literal_eval(assigned["FLAGS"])["release"], *ast.literal_eval(assigned["ALWAYS"]), "-g"]


def compile_object(source: Path, kernels: Path, to: Path) -> Path:
    """Compile a file that includes the headers of the folder `kernels`."""
    done = subprocess.run(
        [*COMPILER, *flags(), f"-I{kernels}", "-c", str(source), "-o", str(to)], capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(f"secret taint: {source.name} cannot be compiled:\n{done.stderr}")
    return to


def link(objects: list[Path], program: Path) -> Path:
    """Link a program in which the words of all streams pass through the function that marks them."""
    subprocess.run([*COMPILER, "-Wl,--wrap=stream_draw", *map(str, objects), "-lm", "-o", str(program)], check=True)
    return program


def cases(program: Path) -> dict[str, list[str]]:
    """Return the cases of each instruction set that processor and Valgrind support."""
    found = {}
    for name, number in INSTRUCTION_SETS.items():
        done = subprocess.run(["valgrind", "-q", str(program), number], capture_output=True, text=True)
        if done.returncode not in (0, UNSUPPORTED):
            sys.exit(f"secret taint: the list of cases failed with status {done.returncode}: {done.stderr}")
        if done.returncode == 0:
            found[name] = list(dict.fromkeys(done.stdout.splitlines()))
    return found


def reports(program: Path, instruction_set: str, case: str) -> list[str]:
    """Return what memcheck reports in a case: the kind, and the functions of the library from the innermost on."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "reports.xml"
        command = [*VALGRIND, f"--xml-file={path}", str(program), INSTRUCTION_SETS[instruction_set], case]
        done = subprocess.run(command, capture_output=True, text=True)
        if not path.exists():
            sys.exit(f"secret taint: {case}: Valgrind failed with status {done.returncode}: {done.stderr}")
        errors = ElementTree.parse(path).getroot().findall("error")
    found = [f"status {done.returncode}: {done.stdout}".strip()] if done.returncode else []
    for error in errors:
        frames = [{part.tag: part.text for part in frame} for frame in error.findall("stack[1]/frame")]
        inner = [f"{f.get('fn')} ({f.get('file')}:{f.get('line')})" for f in frames if f.get("file") != PROGRAM.name]
        found.append(f"{error.findtext('kind')}: {' in '.join(inner[:3])}")
    if case.startswith(REJECTING):
        found = [line for line in found if not line.startswith(REJECTION)]
    return list(dict.fromkeys(found))


def plant(fault: Fault, number: int, folder: Path, objects: dict[str, Path]) -> Path:
    """Return the program with a fault."""
    tree = folder / f"fault-{number}"
    shutil.copytree(KERNELS, tree)
    text = (tree / fault.path).read_text()
    if text.count(fault.old) != 1:
        sys.exit(f"secret taint: the place of a planted fault is not once in {fault.path}: {fault.old}")
    (tree / fault.path).write_text(text.replace(fault.old, fault.new))
    changed = compile_object(tree / fault.source, tree, folder / f"fault-{number}.o")
    others = [path for name, path in objects.items() if name != fault.source]
    return link([*others, changed], folder / f"with-fault-{number}")


def without_case() -> list[str]:
    """Return the kernels of mechanisms that the program does not call."""
    headers = "".join(path.read_text() for path in sorted(KERNELS.glob("privatize/*.h")))
    called = re.findall(r"\bprivatize_\w+\b", PROGRAM.read_text())
    return sorted(set(re.findall(r"\bprivatize_\w+_[uf]\d+\b", headers)) - set(called))


def main() -> int:
    text = "".join(sys.argv[1:2])
    missing = [tool for tool in (COMPILER[0], "valgrind") if shutil.which(tool) is None]
    if missing:
        print(f"secret taint: not found: {', '.join(missing)}. On Debian both are in the packages gcc and valgrind.")
        return 1
    bad = [f"{name} has no case" for name in without_case()]
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(os.cpu_count()) as pool:
        folder = Path(name)
        sources = {str(path.relative_to(KERNELS)): path for path in sorted(KERNELS.glob("**/*.c"))} | {"": PROGRAM}
        targets = [folder / f"{number}.o" for number in range(len(sources))]
        compiled = pool.map(lambda source, to: compile_object(source, KERNELS, to), sources.values(), targets)
        objects = dict(zip(sources, compiled, strict=True))
        program = link(list(objects.values()), folder / "program")

        known = cases(program)
        pairs = [(isa, case) for isa, names in known.items() for case in names if text in case]
        without_fault = dict(zip(pairs, pool.map(lambda pair: reports(program, *pair), pairs), strict=True))
        for (isa, case), found in without_fault.items():
            if case.startswith(NO_CLAIM) and not any(line.startswith("Uninit") for line in found):
                bad.append(f"{isa}: {case}: memcheck reports nothing")
            elif not case.startswith(NO_CLAIM):
                bad += [f"{isa}: {case}: {line}" for line in found]

        faults = [fault for fault in FAULTS if text in fault.case]
        programs = pool.map(lambda pair: plant(pair[1], pair[0], folder, objects), enumerate(faults))
        planted = [
            (fault, path, isa)
            for fault, path in zip(faults, programs, strict=True)
            for isa in fault.instruction_sets
            if isa in known
        ]
        results = pool.map(lambda item: reports(item[1], item[2], item[0].case), planted)
        for (fault, _, isa), found in zip(planted, results, strict=True):
            new = [line for line in found if line not in without_fault[isa, fault.case]]
            if not any(line.startswith("Uninit") and Path(fault.path).name in line for line in new):
                bad.append(f"{isa}: {fault.case}: not found: {fault.what}")
    for name in INSTRUCTION_SETS.keys() - known.keys():
        print(f"secret taint: {name}: not checked, because the processor or Valgrind does not support it")
    claimed = sum(not case.startswith(NO_CLAIM) for _, case in pairs)
    print("\n".join([*bad, f"secret taint: {claimed} cases, {len(planted)} planted faults, {len(bad)} problems"]))
    return 1 if bad or not pairs or (not text and not (claimed and planted)) else 0


if __name__ == "__main__":
    sys.exit(main())
