"""The C functions of compiled kernels, as the Cython files name them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from .internals.kernels import Kernel

ROOT = Path(__file__).parents[2]
KERNELS = ROOT / "src" / "kernels"
CLASSES = {  # text by name of the class, up to the next class or function of the module
    match[1]: match[0]
    for path in sorted(ROOT.glob("src/ldpfast/_core/*.pyx"))
    for match in re.finditer(r"^cdef class (\w+).*\n(?:(?: .*)?\n)*", path.read_text(), re.MULTILINE)
}
HEADERS = {  # stem of the header by function
    function: str(path.relative_to(KERNELS).with_suffix(""))
    for folder in ("privatize", "strings")
    for path in sorted((KERNELS / folder).glob("*.h"))
    for function in re.findall(r"\bprivatize_(?:fn|\w+_(?:[uf]\d+|response))\b", path.read_text())
    if function != "privatize_fn"
}


def functions_of(kernel: Kernel) -> set[str]:
    """Return the names of the C functions that a kernel may call for its records."""
    found: set[str] = set()
    for of_class in type(kernel).__mro__:
        found |= HEADERS.keys() & set(re.findall(r"\bprivatize_\w+", CLASSES.get(of_class.__name__, "")))
    return found


def kernels_of(card: Any) -> list[Kernel]:
    """Return the compiled kernels of the examples of a card, one of each class."""
    if card.kernel is None:
        return []
    kernels = [example.mechanism._recipe.kernel for example in card.examples]
    return list({type(kernel): kernel for kernel in kernels}.values())


def functions_of_card(card: Any) -> set[str]:
    """Return the names of the C functions of the kernels of a mechanism."""
    return {function for kernel in kernels_of(card) for function in functions_of(kernel)}


def stems_of_card(card: Any) -> list[str]:
    """Return the files of the kernels of a mechanism, relative to src/kernels and without suffix."""
    return sorted({HEADERS[function] for function in functions_of_card(card)})
