"""Figures of results, which are not those of pyplot, in the gallery: those that a block of an example assigns to `figure`."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst


def scraper(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Save the figure of a block; return its text for the page."""
    found = block_vars["example_globals"].pop("figure", None)
    if not isinstance(found, Figure):
        return ""
    path = next(block_vars["image_path_iterator"])
    found.savefig(path, dpi=150)
    return str(figure_rst([path], gallery_conf["src_dir"]))


def _get_sg_image_scraper() -> Any:
    """Return the scraper to sphinx-gallery, which knows this module by its name."""
    return scraper
