"""Pages in a real browser: Playwright from the package index, with the system's Chromium."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from gpuprof.correlate.database import reading
from gpuprof.report.html.page import html_of
from gpuprof.report.html.profile_block import Profile
from gpuprof.report.queries import read_report
from tests.support import tools

WHERE = ("chromium", "chromium-browser", "google-chrome")
PATIENCE_MS = 20_000  # of a page to open; machines that run tests can be slow


def pytest_collection_modifyitems(items: list) -> None:
    """A browser takes seconds."""
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.long)


@pytest.fixture(scope="session")
def browser() -> Iterator:
    playwright = tools.module("playwright.sync_api", "tools-python")
    path = tools.program(*WHERE, target="chromium")
    with playwright.sync_playwright() as control:
        opened = control.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield opened
        opened.close()


class Shown:
    """A page in the browser, and what went wrong in it. `requests`: everything that it asked for."""

    def __init__(self, page, path: Path):
        self.page, self.path, self.errors, self.requests = page, path, [], []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda message: message.type == "error" and self.errors.append(message.text))
        page.on("request", lambda request: self.requests.append(request.url))
        page.set_default_timeout(PATIENCE_MS)

    def at(self, hash_: str) -> "Shown":
        """Opens the page at a place, anew."""
        self.page.goto("about:blank")
        self.page.goto(f"{self.path.as_uri()}#{hash_}")
        self.page.wait_for_selector("html[data-ready]", state="attached")
        return self

    def texts(self, selector: str) -> list[str]:
        return [text.strip() for text in self.page.locator(selector).all_inner_texts()]


@pytest.fixture
def show(browser, tmp_path) -> Iterator[Callable]:
    """Shows a page, or that of a database (or of several), from a file, in a window of this size."""
    contexts = []

    def open_page(*databases: Path, page: str = "", hash_: str = "", width: int = 1280, height: int = 800, **options):
        path = tmp_path / f"page{len(contexts)}.html"
        path.write_text(page or page_of(*databases), encoding="utf-8")
        contexts.append(browser.new_context(viewport={"width": width, "height": height}, **options))
        return Shown(contexts[-1].new_page(), path).at(hash_)

    yield open_page
    for context in contexts:
        context.close()


def page_of(*databases: Path) -> str:
    with ExitStack() as opened:
        found = [opened.enter_context(reading(path)) for path in databases]
        return html_of([Profile(database, read_report(database)) for database in found])
