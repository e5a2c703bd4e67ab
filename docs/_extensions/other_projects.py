"""Links to the documentation of NumPy, SciPy and pandas, from lists of the names that are used here.

`sphinx.ext.intersphinx` reads an inventory of all names of a project from the project's site. This site is built without a
network, so the inventories are made from the list below, which has only the names that occur in docstrings and pages.
"""

from __future__ import annotations

import zlib
from pathlib import Path

from numpydoc.xref import DEFAULT_LINKS

NUMPY_RANDOM = "reference/random/bit_generators/generated/"
# Address of the site, and for each name the kind of object and the folder of its page.
PROJECTS: dict[str, tuple[str, dict[str, tuple[str, str]]]] = {
    "numpy": (
        "https://numpy.org/doc/stable/",
        {
            "numpy.ndarray": ("class", "reference/generated/"),
            "numpy.dtype": ("class", "reference/generated/"),
            "numpy.exp": ("data", "reference/generated/"),
            "numpy.load": ("function", "reference/generated/"),
            "numpy.mean": ("function", "reference/generated/"),
            "numpy.median": ("function", "reference/generated/"),
            "numpy.random.Generator": ("class", "reference/random/generator.html"),
            "numpy.random.BitGenerator": ("class", NUMPY_RANDOM),
            "numpy.random.SeedSequence": ("class", NUMPY_RANDOM),
        },
    ),
    "scipy": (
        "https://docs.scipy.org/doc/scipy/",
        {
            "scipy.special.ndtri": ("data", "reference/generated/"),
        },
    ),
    "pandas": (
        "https://pandas.pydata.org/docs/",
        {
            "pandas.DataFrame": ("class", "reference/api/"),
            "pandas.Series": ("class", "reference/api/"),
            "pandas.read_csv": ("function", "reference/api/"),
        },
    ),
}
# Words in the types of parameters, as links. All other words that numpydoc knows, such as "int", stay words.
ALIASES = {
    **{word: word for word in DEFAULT_LINKS},
    "array_like": ":term:`array_like <numpy:array_like>`",
    "ndarray": ":class:`ndarray <numpy.ndarray>`",
    "Generator": ":class:`Generator <numpy.random.Generator>`",
    "BitGenerator": ":class:`BitGenerator <numpy.random.BitGenerator>`",
    "SeedSequence": ":class:`SeedSequence <numpy.random.SeedSequence>`",
    "numpy.random.Generator": ":class:`numpy.random.Generator`",
    "pandas.DataFrame": ":class:`pandas.DataFrame`",
    "pandas.Series": ":class:`pandas.Series`",
}
NAMES = frozenset(name for _, names in PROJECTS.values() for name in names)


def inventory(project: str) -> bytes:
    """Return the inventory of a project in the format of Sphinx: four lines, and compressed lines of names."""
    lines = ["array_like std:term -1 glossary.html#term-$ -\n"] if project == "numpy" else []
    for name, (kind, place) in PROJECTS[project][1].items():
        page = place if place.endswith(".html") else f"{place}{name}.html"
        lines.append(f"{name} py:{kind} 1 {page}#$ -\n")
    head = [
        "# Sphinx inventory version 2",
        f"# Project: {project}",
        "# Version: ",
        "# The rest is compressed using zlib.",
    ]
    return "".join(f"{line}\n" for line in head).encode() + zlib.compress("".join(lines).encode())


def intersphinx_mapping() -> dict[str, tuple[str, str]]:
    """Write the inventories into a folder of the build; return the mapping for the configuration."""
    folder = Path(__file__).resolve().parents[2] / "build" / "inventories"
    folder.mkdir(parents=True, exist_ok=True)
    mapping = {}
    for project, (address, _) in PROJECTS.items():
        path = folder / f"{project}.inv"
        path.write_bytes(inventory(project))
        mapping[project] = (address, str(path))
    return mapping
