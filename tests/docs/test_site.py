"""The built site: links, anchors, what pages load, public names, and the gallery."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

import ldpfast
from ldpfast import central

from ..support.public import MODULES, RESULTS, names_with_results
from ..support.site import resolve

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
NAMES = [(module, name) for module in MODULES for name in names_with_results(module)]


def is_external(link: str) -> bool:
    return bool(re.match(r"[a-z]+:|//", link))


def test_links_have_targets(site, pages):
    """Every relative link is to a file of the site, and its anchor is in that file."""
    broken = []
    for name, page in pages.items():
        for link in page.links:
            if is_external(link) or link == "#":
                continue
            path, anchor = resolve(name, link)
            if not (site / path).exists() or (anchor and path in pages and anchor not in pages[path].anchors):
                broken.append(f"{name}: {link}")
    assert broken == []


def test_pages_load_only_files_of_the_site(site, pages):
    """Scripts, styles, fonts and images are local, so the site works without a network."""
    for name, page in pages.items():
        for link in page.loaded:
            if link.startswith("data:"):
                continue
            assert not is_external(link), f"{name} loads {link}"
            assert (site / resolve(name, link)[0]).exists(), f"{name} loads {link}"
    for path in site.rglob("*.css"):
        for link in re.findall(r"url\(\s*['\"]?([^'\")]+)", path.read_text()):
            assert link.startswith(("data:", "#")) or not is_external(link), f"{path.name} loads {link}"


def test_pages_with_formulas_load_mathjax(pages):
    with_formulas = [name for name, page in pages.items() if "math" in page.classes]
    assert "ten_minutes.html" in with_formulas
    for name in with_formulas:
        assert any("tex-svg.js" in link for link in pages[name].loaded), name


def test_pages_have_one_title_and_images_have_a_description(pages):
    for name, page in pages.items():
        if name not in ("genindex.html", "py-modindex.html", "search.html"):
            assert page.titles == 1, name
        for (
            image
        ) in page.images:  # thumbnails and the logo have an empty description, because their title is beside them
            beside = name == "gallery/index.html" or "logo__image" in str(image.get("class"))
            assert image.get("alt") or beside, f"{name}: {image.get('src')}"


@pytest.mark.parametrize("module, name", NAMES)
def test_every_public_name_has_a_page(pages, module, name):
    """The page is that of the name, or of the same object in another module."""
    value = getattr(module, name)
    same = {f"{other.__name__}.{name}" for other in MODULES if getattr(other, name, None) is value}
    documented = {name for path, page in pages.items() if path.startswith("reference/") for name in page.anchors}
    assert same & documented


def test_classes_of_results_are_on_the_page_of_what_returns_them(site, pages):
    """With their attributes and methods, and without parameters of a constructor."""
    for name, results in RESULTS.items():
        path = f"reference/generated/{name}.html"
        assert set(results) <= set(pages[path].anchors), path
        for result in results:
            assert f"reference/generated/{result}.html" not in pages
    page = "reference/generated/ldpfast.estimation.RangeQueries.html"
    assert "ldpfast.estimation.RangeEstimate.quantile" in pages[page].anchors
    text = re.sub("<[^>]+>", "", (site / page).read_text())
    assert re.search(r"class RangeQueries\(\s*k", text)
    assert re.search(r"class RangeEstimate\s*[^(\s]", text)


def test_the_section_privacy_is_on_the_pages_of_mechanisms(site):
    for name in ("LinfBall", "Warner", "SubsetSelection"):
        text = (site / f"reference/generated/ldpfast.mechanisms.{name}.html").read_text().replace("<wbr>", "")
        assert '<p class="rubric">Privacy</p>' in text
        assert "epsilon_realized" in text.partition('<p class="rubric">Privacy</p>')[2][:600]


def test_provisional_names_are_marked(site):
    """All names of the central model, the contractions and the conversions, and no others."""
    mark = "<strong>Provisional:</strong> the name and the parameters can change in a minor release"
    pages = {
        path.stem.removeprefix("ldpfast.")
        for path in (site / "reference/generated").glob("*.html")
        if mark in path.read_text()
    }
    assert pages >= {f"central.{name}" for name in central.__all__}
    assert pages >= {"bounds.methods.kl_contraction", "privacy.convert"}
    rest = {name for name in pages if not name.startswith("central.")}
    named = "".join((ROOT / f"docs/{page}.md").read_text() for page in ("bounds", "privacy"))
    assert all(f"`{name.rpartition('.')[2]}`" in named for name in rest)
    table = (site / "reference/generated/ldpfast.privacy.html").read_text()
    assert "Provisional:" not in table  # the first sentence of a name says what it is
    assert rest.isdisjoint({"privacy.compose", "bounds.methods.le_cam", "privacy.disclosure_risk"})


def test_thumbnails_of_the_gallery_are_pictures(site, pages):
    thumbnails = sorted((site / "_images").glob("sphx_glr_plot_*_thumb.png"))
    subjects = re.findall("<h2>([^<]*)<", (site / "gallery/index.html").read_text())
    assert subjects[:2] == ["Surveys", "Estimates"]
    assert len(thumbnails) >= 8
    assert min(path.stat().st_size for path in thumbnails) > 3000
    shown = [Path(str(image["src"])).name for image in pages["gallery/index.html"].images]
    assert [path.name for path in thumbnails] == sorted(name for name in shown if name.startswith("sphx_glr_"))


def test_code_has_buttons_that_copy_it_and_what_it_prints_has_none(site):
    """The selector of the script finds the blocks of code of a page."""
    script = (site / "_static/copybutton.js").read_text()
    assert "div[class*=highlight-]:not(.highlight-text):not(.highlight-none) > div.highlight > pre" in script
    text = (site / "how_it_works.html").read_text()
    assert "_static/copybutton.js" in text
    assert '<div class="highlight-python notranslate"><div class="highlight"><pre>' in text
    assert '<div class="highlight-text notranslate"><div class="highlight"><pre>' in text


def test_pages_link_to_their_source(site, pages):
    """A page that the build makes has no such link, and each link is to a file of the repository."""
    edit = "https://github.com/ldpfast/ldpfast/edit/main/"
    sources = {
        name: [link.removeprefix(edit) for link in page.links if link.startswith(edit)] for name, page in pages.items()
    }
    assert sources["survey.html"] == ["docs/survey.md"]
    assert sources["changelog.html"] == ["CHANGELOG.md"]
    assert sources["gallery/surveys/plot_panel.html"] == ["docs/examples/surveys/plot_panel.py"]
    assert {name for name in pages if name.startswith("reference/generated/") and sources[name]} == set()
    paths = {path for paths in sources.values() for path in paths}
    assert len(paths) > 100
    assert [path for path in paths if not (ROOT / path).is_file()] == []


def test_public_names_link_to_their_lines(pages):
    """The lines at the address define the name."""
    start = f"https://github.com/ldpfast/ldpfast/blob/v{ldpfast.__version__}/"
    for module, name in (("mechanisms", "LinfBall"), ("privacy", "compose"), ("survey", "Survey"), ("central", "mean")):
        links = pages[f"reference/generated/ldpfast.{module}.{name}.html"].links
        path, _, lines = next(link for link in links if link.startswith(start)).removeprefix(start).partition("#L")
        first, last = (int(number) for number in lines.split("-L"))
        source = (ROOT / path).read_text().splitlines()[first - 1 : last]
        assert any(re.match(rf"(class|def) {name}\b", line) for line in source)


def test_types_of_parameters_link_to_numpy_and_pandas(pages):
    """From a list of names that is a part of the repository, since the site is built without a network."""
    links = [link.partition("#")[0] for page in pages.values() for link in page.links]
    assert links.count("https://numpy.org/doc/stable/glossary.html") > 500
    assert links.count("https://numpy.org/doc/stable/reference/random/generator.html") > 100
    assert "https://pandas.pydata.org/docs/reference/api/pandas.DataFrame.html" in links
    assert any(link.startswith("https://docs.scipy.org/doc/scipy/reference/") for link in links)


def test_the_list_of_versions_has_this_one(site):
    """The button for versions reads it from the site itself. The newest version is the first one, and is marked."""
    versions = json.loads((site / "_static/versions.json").read_text())
    assert versions[0]["version"] == ldpfast.__version__
    assert [entry["version"] for entry in versions if entry.get("preferred")] == [ldpfast.__version__]
    assert {entry["url"] for entry in versions} <= {
        "https://ldpfast.github.io/",
        *(f"https://ldpfast.github.io/{entry['version']}/" for entry in versions),
    }
    assert "theme_switcher_json_url = '_static/versions.json'" in (site / "survey.html").read_text()


def test_llms_txt_lists_the_pages(site, pages):
    """In the form of llmstxt.org: a title, a quotation, and sections with links that have targets."""
    text = (site / "llms.txt").read_text()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert text.startswith(f"# ldpfast\n\n> {project['description']}\n\n")
    listed = re.findall(r"^- \[[^\]]+\]\(([^)]+)\)(?:: \S.*)?$", text, re.MULTILINE)
    assert len(listed) == len(set(listed)) == sum(line.startswith("- ") for line in text.splitlines())
    assert [path for path in listed if not (site / path).is_file()] == []
    guides = {f"docs/{path.relative_to(DOCS)}" for path in DOCS.glob("*.md") if path.stem != "index"}
    assert {f"docs/{Path(path).stem}.md" for path in listed if "/" not in path} == guides
    assert (site / "survey.md").read_text() == (DOCS / "survey.md").read_text()


def test_the_front_page_has_a_picture_of_accuracy_and_one_of_speed(pages):
    pictures = [Path(str(image["src"])).name for image in pages["index.html"].images]
    assert {"accuracy.png", "benchmarks.png"} <= set(pictures)
    front = pages["index.html"].sections[""]
    assert front.index("Who it is for") < front.index("Teams that collect telemetry") < front.index("Installation")
