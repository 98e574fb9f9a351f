# SPDX-License-Identifier: Apache-2.0
"""The site is built without a warning; links lead somewhere, pages need no network and fit a phone.

Screenshots are kept in build/site_shots/.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from test.core.browser import Page, chromium
from test.documented import ROOT
from test.missing import skip_or_fail

SHOTS = ROOT / "build" / "site_shots"
PAGES = {
    "start": "index.html",
    "tutorial": "tutorials/virtual_servo.html",
    "bench": "how-to/bench.html",
    "card": "reference/servos/xl330.html",
    "node": "reference/nodes/dynamixel.html",
    "api": "reference/api/servo.html",
    "explorer": "explanation/explorer.html",
}
OF_THE_THEME = ("genindex.html", "search.html", "py-modindex.html")

pytestmark = pytest.mark.long


class Links(HTMLParser):
    """What a page points to, loads, and can be pointed at."""

    def __init__(self) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attributes}
        if "id" in given:
            self.anchors.add(given["id"])
        if tag == "a" and "href" in given:
            self.targets.append(given["href"])
        elif tag in ("img", "script", "source") and "src" in given:
            self.loaded.append(given["src"])
        elif tag == "link" and given.get("rel") in ("stylesheet", "icon", "shortcut icon"):
            self.loaded.append(given["href"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `make docs` does it."""
    if any(
        find_spec(name) is None
        for name in ("sphinx", "furo", "myst_parser", "sphinx_design", "sphinx_copybutton")
    ):
        skip_or_fail("no Sphinx to build the site with; make docs installs it")
    directory = tmp_path_factory.mktemp("site")
    sources, read, built = (str(directory / name) for name in ("sources", "doctrees", "site"))
    for words in (
        ["site_pages", sources],
        ["sphinx", "-W", "--keep-going", "--quiet", "-b", "html", "-d", read, sources, built],
    ):
        done = subprocess.run(
            [sys.executable, "-m", *words],
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "tools"), str(ROOT)])},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    return directory / "site"


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Links]:
    found = {}
    for file in site.rglob("*.html"):
        found[file] = Links()
        found[file].feed(file.read_text(encoding="utf-8"))
    return found


def test_every_link_leads_to_a_page_and_a_place_in_it(site: Path, pages: dict[Path, Links]) -> None:
    broken = []
    for file, links in pages.items():
        for target in links.targets:
            address = urlsplit(target)
            if address.scheme or target in ("#", ""):
                continue
            aim = (file.parent / unquote(address.path)).resolve() if address.path else file
            fragment = unquote(address.fragment)
            if not aim.is_file():
                broken.append(f"{file.relative_to(site)}: {target}")
            elif fragment and aim in pages and fragment not in pages[aim].anchors:
                servo = aim.name == "explorer.html"  # there a fragment names a servo
                if not servo:
                    broken.append(f"{file.relative_to(site)}: {target}")
    assert not broken


def test_nothing_is_loaded_from_a_network(site: Path, pages: dict[Path, Links]) -> None:
    for file, links in pages.items():
        for source in links.loaded:
            address = urlsplit(source)
            if address.scheme == "data":
                continue  # it is in the page itself
            assert not address.scheme, (file, source)
            assert not address.netloc, (file, source)
            assert (file.parent / unquote(address.path)).is_file(), (file, source)


def test_every_page_can_be_reached_from_the_start(site: Path, pages: dict[Path, Links]) -> None:
    reached, todo = set(), [site / "index.html"]
    while todo:
        file = todo.pop()
        if file in reached or file not in pages:
            continue
        reached.add(file)
        paths = (urlsplit(target).path for target in pages[file].targets)
        todo += [(file.parent / unquote(path)).resolve() for path in paths if path]
    left = {str(file.relative_to(site)) for file in set(pages) - reached}
    assert left <= set(OF_THE_THEME)


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with chromium(tmp_path_factory.mktemp("chromium")) as page:
        yield page


@pytest.mark.parametrize("phone", [False, True], ids=["desktop", "phone"])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_its_window_and_asks_for_nothing(site: Path, tab: Page, name: str, phone: bool) -> None:
    tab.complaints.clear()
    tab.requests.clear()
    tab.look(*((375, 812) if phone else (1280, 900)), dark=False, phone=phone)
    tab.open(site / PAGES[name])
    width, inner = tab.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
    tab.screenshot(SHOTS / f"{name}_{'phone' if phone else 'desktop'}.png")
    assert width <= inner
    assert tab.complaints == []
    assert all(each.startswith(("file:", "data:")) for each in tab.requests)
