"""Configuration of the documentation site: ``make docs`` builds it into build/docs, without a network."""

import sys
from importlib.resources import files
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

from other_projects import ALIASES
from other_projects import intersphinx_mapping as mapping_of_other_projects
from public_names import RESULTS, public_names
from source_links import REPOSITORY, linkcode_resolve  # noqa: F401 (read by Sphinx)

import ldpfast

project = "ldpfast"
author = copyright = "The ldpfast developers"
version = release = ldpfast.__version__

extensions = [
    "client_page",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx.ext.linkcode",
    "sphinx.ext.mathjax",
    "numpydoc",
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "breakable_names",
    "docstrings",
    "llms_txt",
    "name_links",
    "repository_links",
    "search_words",
    "source_links",
]
exclude_patterns = ["_extensions", "_static", "_templates", "figures", "examples", "gallery/*.ipynb"]
templates_path = ["_templates"]
toc_object_entries_show_parents = "hide"
add_module_names = False
default_role = "py:obj"
smartquotes = False

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
suppress_warnings = ["myst.header"]  # a section of an included page may start at level 2

autosummary_context = {"public": public_names(), "results": RESULTS}
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_attributes_as_param_list = True
numpydoc_xref_param_type = True
numpydoc_xref_aliases = ALIASES
numpydoc_xref_ignore = "all"  # but the aliases
intersphinx_mapping = mapping_of_other_projects()

# Code, and not what it prints; a line of an example in a docstring without its prompt, and without what it prints.
copybutton_selector = "div[class*=highlight-]:not(.highlight-text):not(.highlight-none) > div.highlight > pre"
copybutton_prompt_text = r">>> |\.\.\. "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "filename_pattern": "/plot_",
    "image_scrapers": ("matplotlib", "figures"),
    "subsection_order": [f"examples/{subject}" for subject in ("surveys", "estimates", "mechanisms", "planning")],
    "within_subsection_order": "FileNameSortKey",
    "nested_sections": False,
    "thumbnail_size": (600, 400),
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_signature": False,
    "capture_repr": (),
    "show_memory": False,
    "min_reported_time": 1e9,
    "abort_on_example_error": True,
    "reset_modules": ("matplotlib",),
    "write_computation_times": False,
}

html_context = {
    "edit_page_url_template": f"{REPOSITORY}/edit/main/{{{{ edit_path }}}}{{# file_name #}}",
    "edit_page_provider_name": "GitHub",
}
html_theme = "pydata_sphinx_theme"
html_title = "ldpfast"
mathjax_path = "tex-svg.js"
html_favicon = "_static/logo.svg"
html_static_path = [
    "_static",
    str(files("mathjax") / "static/mathjax/es5" / mathjax_path),
]  # no content delivery network
html_sidebars = {page: [] for page in ("index", "ten_minutes", "choosing", "search")}
html_css_files = ["site.css"]
html_search_scorer = str(Path(__file__).parent / "_extensions/search_order.js")
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {
        "text": "ldpfast",
        "image_light": "_static/logo.svg",
        "image_dark": "_static/logo-dark.svg",
        "alt_text": "",
    },
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "navbar_end": ["version-switcher", "theme-switcher"],
    "switcher": {"json_url": "_static/versions.json", "version_match": version},
    "secondary_sidebar_items": {"**": ["page-toc", "edit-this-page"], "index": []},
    "use_edit_page_button": True,
    "footer_start": ["copyright"],
    "footer_end": ["version-switcher"],
    "show_prev_next": False,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
