"""Check with memcheck that no branch and no address depends on a record or a privacy coin, where this is claimed.

Compiles tests/native/secret_taint.c and the kernels with the flags of the library, which gives the same machine code. The
program marks records and random words as undefined and calls each kernel under Valgrind, in plain C and with AVX2. Memcheck
follows the marks through registers and memory. It reports each conditional jump and each address that depends on a mark.
Conditional moves and masks are allowed, and so is the jump by which `word_below` rejects a word, in the cases named below: its
probability is below 2^-48, and it does not depend on the integer that is drawn. The check fails

- if there is a report in a kernel with the claim, or if the marks do not reach the bytes of its output;
- if a kernel of src/kernels/privatize has no case;
- if memcheck reports nothing in a kernel without the claim;
- if one of the planted faults below is not found. Each changes a copy of one kernel.

It does not see code that no case reaches, AVX-512, which Valgrind does not know, and instructions whose own time depends on
the operands. Needs a compiler and Valgrind with its header files, for example the Debian package valgrind.
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
from typing import NamedTuple
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[1]
KERNELS = ROOT / "src" / "kernels"
PROGRAM = ROOT / "tests" / "native" / "secret_taint.c"
COMPILER = os.environ.get("CC", sysconfig.get_config_var("CC")).split()
VALGRIND = ["valgrind", "-q", "--vgdb=no", "--error-limit=no", "--expensive-definedness-checks=yes", "--xml=yes"]
INSTRUCTION_SETS = {"plain C": "0", "AVX2": "1"}
UNSUPPORTED = 2  # exit status of the program
NO_CLAIM = "not claimed: "  # start of the names of cases
REJECTING, REJECTION = ("subset selection", "rank codebook"), "UninitCondition: word_below (uniform.h:"


class Fault(NamedTuple):
    """A change of one place of a kernel that makes its time depend on a secret. It keeps the numbers of the lines."""

    what: str
    case: str  # that must find it
    source: str  # the file that is compiled
    path: str  # the file that is changed
    old: str
    new: str
    instruction_sets: tuple[str, ...] = tuple(INSTRUCTION_SETS)


# The empty instructions keep the compiler from replacing a branch by masks.
FAULTS = (
    Fault(
        "a branch on the private coin",
        "randomized response, 32 bits",
        "privatize/randomized_response.c",
        "privatize/randomized_response_body.h",
        "out[i] = (uint8_t)((truth & ~replaced) | (other[i] & replaced));",
        'out[i] = truth; if (replaced) { __asm__ volatile(""); out[i] = (uint8_t)other[i]; }',
    ),
    Fault(
        "a branch on the private coin, in integers",
        "randomized response, u16",
        "privatize/randomized_response.c",
        "privatize/randomized_response.c",
        "const uint64_t replaced = -(uint64_t)(u >= p->direct);",
        'uint64_t replaced = 0; if (u >= p->direct) { __asm__ volatile(""); replaced = ~replaced; }',
    ),
    Fault(
        "a table at an index that depends on the record",
        "residue, f64",
        "privatize/residue.c",
        "privatize/residue_body.h",
        "symbol[i] = (uint8_t)found[i];",
        "{ static const uint8_t table[256] = {0, 1, 2, 3, 4}; symbol[i] = table[found[i] & 255]; }",
    ),
    Fault(
        "a branch on a comparison of the record with a cut",
        "bins, f32",
        "privatize/bins.c",
        "privatize/bins_body.h",
        "symbol[i] = (uint8_t)(symbol[i] + ((double)value[i] >= cut));",
        'if ((double)value[i] >= cut) { __asm__ volatile(""); symbol[i]++; }',
    ),
    Fault(
        "a branch on the report",
        "sign bit, 64 bits, f64",
        "privatize/sign_bit.c",
        "privatize/sign_bit_body.h",
        "out[i] = word[i] < low + NAME(scaled)(span, bits_f64(1 + u) - bits_f64(1));",
        "out[i] = 0; if (word[i] < low + NAME(scaled)(span, bits_f64(1 + u) - bits_f64(1))) "
        '{ __asm__ volatile(""); out[i] = 1; }',
    ),
    Fault(
        "a loop over the ones of the reports",
        "sign bit, 32 bits, f32",
        "privatize/sign_bit.c",
        "privatize/sign_bit_body.h",
        "PER_ISA(store_bits)(out + i, bits);",
        "memset(out + i, 0, 64); for (; bits; bits &= bits - 1) out[i + (size_t)__builtin_ctzll(bits)] = 1;",
    ),
    Fault(
        "a branch on the place of the person's own bit",
        "unary encoding, one row, u32",
        "privatize/unary_encoding.c",
        "privatize/unary_row.h",
        "const uint64_t own = bit & -(uint64_t)(first / 64 + w == at);",
        'uint64_t own = 0; if (first / 64 + w == at) { __asm__ volatile(""); own = bit; }',
    ),
    Fault(
        "a table at an index that is the record",
        "unary encoding, one row, u8",
        "privatize/unary_encoding.c",
        "privatize/unary_row.h",
        "const uint64_t bit = (uint64_t)1 << truth % 64, at",
        "static const uint64_t table[64] = {1, 2, 4, 8}; const uint64_t bit = table[truth % 64], at",
    ),
    Fault(
        "a branch on the parity of the code and the record",
        "Hadamard response, u16 u16",
        "privatize/hadamard_response.c",
        "privatize/hadamard_response_body.h",
        "return code ^ (row & -row & -((parity ^ tails) & 1));",
        'if ((parity ^ tails) & 1) { __asm__ volatile(""); code ^= row & -row; } return code;',
    ),
    Fault(
        "a member that is looked for only if it is removed",
        "subset selection, u8",
        "privatize/subset_selection.c",
        "privatize/subset_selection_body.h",
        "bits &= ~(PER_ISA(deposit)((uint64_t)1 << (rank & 63), bits) & here & own);",
        'if (own) { __asm__ volatile(""); bits &= ~(PER_ISA(deposit)((uint64_t)1 << (rank & 63), bits) & here); }',
    ),
    Fault(
        "a branch on whether a word holds the record",
        "subset selection, u16",
        "privatize/subset_selection.c",
        "privatize/subset_selection_body.h",
        "const uint64_t low = earlier | (in_word & (at - 1)), moved = bits << 1 | carry;",
        "uint64_t low = earlier | (in_word & (at - 1)); const uint64_t moved = bits << 1 | carry; "
        'if (before / 64 == truth / 64) { __asm__ volatile(""); low = at - 1; }',
    ),
    Fault(
        "a comparison that stops at the first different byte",
        "unary encoding, one row, u64",
        "random/coins_direct.c",
        "random/coins_direct.c",
        "less |= (uint64_t)(word[i] < heads) << i;",
        "for (int b = 56; b >= 0; b -= 8) if ((word[i] ^ heads) >> b) { less |= (uint64_t)(word[i] < heads) << i; break; }",
    ),
    Fault(
        "a row that is changed only if it is flipped",
        "l-infinity ball, f32",
        "privatize/linf_ball.c",
        "privatize/linf_ball.c",
        "flip_bits(row, p->dim, -(uint64_t)(2 * agree < p->dim) ^ -(uint64_t)(coin >= p->heads));",
        "if ((2 * agree < p->dim) != (coin >= p->heads)) flip_bits(row, p->dim, ~(uint64_t)0);",
    ),
    Fault(
        "a population count by a table",
        "l-infinity ball, f64",
        "privatize/linf_ball.c",
        "simd/isa_plain.h",
        "ones_plain(uint64_t v)\n{\n",
        "ones_plain(uint64_t v)\n{\n"
        "static const uint8_t table[16] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4}; size_t ones = 0; "
        "for (int i = 0; i < 64; i += 4) ones += table[v >> i & 15]; if (ones < 65) return ones;",
        ("plain C",),
    ),
    Fault(
        "a branch on the side of the half-space, in floating point",
        "l2 ball, f32",
        "privatize/l2_ball.c",
        "privatize/l2_ball.c",
        "const uint64_t minus =\n        (uint64_t)(sum[1] < 0)",
        'uint64_t side = 0; if (sum[1] < 0) { __asm__ volatile(""); side = 1; }\nconst uint64_t minus = side',
    ),
    Fault(
        "a branch on a record that is NaN",
        "l2 ball, f64",
        "privatize/l2_ball.c",
        "privatize/l2_ball.c",
        "const double norm = clamp_unit(__builtin_sqrt(sum[2]), 0);",
        'double norm = clamp_unit(__builtin_sqrt(sum[2]), 0); if (sum[2] != sum[2]) { __asm__ volatile(""); norm = 0; }',
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
        "clipped numbers, f64",
        "privatize/clip.c",
        "privatize/clip_body.h",
        "const REAL v = x[i] > lower ? x[i] : lower;",
        'REAL v = x[i]; if (!(v > lower)) { __asm__ volatile(""); v = lower; }',
    ),
    Fault(
        "a branch on the private coin of a set",
        "subset selection, u8",
        "privatize/subset_selection.c",
        "privatize/subset_selection_body.h",
        "const uint64_t report = (bits & low) | (moved & ~low & ~(at & in_word)) | (at & in_word & own);",
        "uint64_t report = (bits & low) | (moved & ~low & ~(at & in_word)); "
        'if (own) { __asm__ volatile(""); report |= at & in_word; }',
    ),
    Fault(
        "a bit at an address that depends on the record",
        "subset selection, u16",
        "privatize/subset_selection.c",
        "privatize/subset_selection_body.h",
        "most = record > most ? record : most;",
        "{ static volatile uint8_t seen[1 << 16]; seen[truth] = 1; } most = record > most ? record : most;",
    ),
    Fault(
        "a branch on the window of the number",
        "window with a bit, f32",
        "privatize/window.c",
        "privatize/window_body.h",
        "memcpy(out + i, &code, sizeof code);",
        "for (size_t l = 0; l < LANES; l++) "
        '{ out[i + l] = 0; if (code[l] < p->first_bit) { __asm__ volatile(""); out[i + l] = code[l]; } }',
    ),
    Fault(
        "a branch on the rank of a candidate",
        "rank codebook, f64",
        "privatize/rank_codebook.c",
        "privatize/rank_codebook.c",
        "chosen |= c & -(counts & (uint64_t)(count == r));",
        'if (counts & (uint64_t)(count == r)) { __asm__ volatile(""); chosen |= c; }',
    ),
    Fault(
        "a branch on the rank of a product",
        "ranked signs, f64",
        "privatize/ranked_signs.c",
        "privatize/ranked_signs_body.h",
        "word |= pattern[i] & -(uint64_t)(rank[j] / 64 == i);",
        'if (rank[j] / 64 == i) { __asm__ volatile(""); word |= pattern[i]; }',
    ),
    Fault(
        "an address that depends on the pattern",
        "ranked signs, f32",
        "privatize/ranked_signs.c",
        "privatize/ranked_signs_body.h",
        "const uint32_t member = reader_word(coins) <= own;",
        "const uint32_t member = reader_word(coins) <= limit[left];",
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
    return sorted(
        set(re.findall(r"\bprivatize_\w+_[uf]\d+\b", headers))
        - set(re.findall(r"\bprivatize_\w+\b", PROGRAM.read_text()))
        - {"privatize_laplace_f32"}  # no claim
    )


def main() -> int:
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
        pairs = [(isa, case) for isa, names in known.items() for case in names]
        without_fault = dict(zip(pairs, pool.map(lambda pair: reports(program, *pair), pairs), strict=True))
        for (isa, case), found in without_fault.items():
            if case.startswith(NO_CLAIM) and not any(line.startswith("Uninit") for line in found):
                bad.append(f"{isa}: {case}: memcheck reports nothing")
            elif not case.startswith(NO_CLAIM):
                bad += [f"{isa}: {case}: {line}" for line in found]

        programs = pool.map(lambda pair: plant(pair[1], pair[0], folder, objects), enumerate(FAULTS))
        planted = [
            (fault, path, isa)
            for fault, path in zip(FAULTS, programs, strict=True)
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
    return 1 if bad or not claimed or not planted else 0


if __name__ == "__main__":
    sys.exit(main())
