"""Pages of the built documentation site: what they link to, and what they load; and a browser that looks at them."""

from __future__ import annotations

import posixpath
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote


@dataclass
class Page(HTMLParser):
    """Anchors, links, loaded files and text of an HTML page."""

    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)
    images: list[dict[str, str | None]] = field(default_factory=list)
    titles: int = 0
    classes: set[str] = field(default_factory=set)
    texts_of_links: list[tuple[str, str]] = field(default_factory=list)
    sections: dict[str, str] = field(
        default_factory=dict
    )  # text by anchor, with the sections inside; "" is the whole page

    def __post_init__(self) -> None:
        super().__init__()
        self._open_sections: list[list[str]] = [[""]]
        self._link: str | None = None

    def handle_data(self, data: str) -> None:
        for anchor in (anchor for anchors in self._open_sections for anchor in anchors):
            self.sections[anchor] = self.sections.get(anchor, "") + data
        if self._link is not None:
            self.texts_of_links[-1] = (self._link, self.texts_of_links[-1][1] + data)

    def handle_endtag(self, tag: str) -> None:
        if tag == "section":
            self._open_sections.pop()
        if tag == "a":
            self._link = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.anchors |= {value for name in ("id", "name") if (value := values.get(name))}
        self.classes |= set((values.get("class") or "").split())
        self.titles += tag == "h1"
        if tag == "section":
            self._open_sections.append([])
        if tag in ("section", "span") and values.get("id") and len(self._open_sections) > 1:
            self._open_sections[-1].append(str(values["id"]))
        if tag == "a" and values.get("href"):
            self._link = str(values["href"])
            self.links.append(self._link)
            self.texts_of_links.append((self._link, ""))
        if tag == "link" and values.get("rel") != "search" and values.get("href"):
            self.loaded.append(str(values["href"]))
        if tag in ("script", "img", "iframe", "source", "video", "embed") and values.get("src"):
            self.loaded.append(str(values["src"]))
        if tag == "img":
            self.images.append(values)


def resolve(page: str, link: str) -> tuple[str, str]:
    """Return the path and the anchor of a relative link."""
    target, _, anchor = link.partition("#")
    target = unquote(target.partition("?")[0])
    path = posixpath.normpath(posixpath.join(posixpath.dirname(page), target)) if target else page
    return path, unquote(anchor)


def read_pages(site: Path) -> dict[str, Page]:
    """Return all pages of a site by their path, without files of the theme."""
    pages = {}
    for path in sorted(set(site.rglob("*.html")) - set(site.glob("_static/**/*.html"))):
        page = pages[path.relative_to(site).as_posix()] = Page()
        page.feed(path.read_text())
    return pages


class QuietHandler(SimpleHTTPRequestHandler):
    """A handler that answers `extra`, a page of the tests, besides the files of the site."""

    extra = b""

    def do_GET(self) -> None:
        if self.path.split("?")[0] != "/extra-page-of-the-tests":
            return super().do_GET()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(self.extra)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@contextmanager
def serve(site: Path, extra: str = "") -> Iterator[str]:
    """Serve a site on this machine; yield its address."""
    handler = type("Handler", (QuietHandler,), {"extra": extra.encode()})
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(site)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def rendered(browser: str, address: str, folder: Path, milliseconds: int = 10_000) -> str:
    """Return the document that a browser makes of a page after some virtual time."""
    command = [
        browser,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-background-networking",
        f"--user-data-dir={folder}",
        f"--virtual-time-budget={milliseconds}",
        "--dump-dom",
        address,
    ]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout
