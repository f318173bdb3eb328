"""A page: its rendering in each format."""

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import NamedTuple

from rich.text import Text

from gpuprof.report.model import Kernel, Report
from gpuprof.report.pages import PAGES
from gpuprof.report.terminal.styles import Look


class Request(NamedTuple):
    """The options of a page. `lines`: the first and the last source line; `isa`: instructions under every line."""

    page: str  # a key of PAGES, or "" for the default
    lines: tuple[int, int] | None = None
    isa: bool = False
    task: str | None = None  # the name of a task or a buffer, or "#" and a task's number
    sort: str | None = None  # of the page of draws: a key of its ORDERS


def nothing(report: Report, request: Request) -> dict:
    return {}


class Page(NamedTuple):
    text: Callable[[Report, Look, Request], Iterator[Text]]  # the lines below the header
    rows: Callable[[Report, Request], Iterator[Sequence[object]]]  # of the CSV, with its headings
    objects: Callable[[Kernel, Report, Request], dict]  # what a kernel's JSON object has only on this page
    document: Callable[[Report, Request], dict] = nothing  # ... and the document's entries next to the kernels


def load(name: str) -> Page:
    """The page of this name, a key of PAGES."""
    return import_module(f"{__package__}.{PAGES[name].file}").PAGE
