"""What the README shows is what the commands print."""

import re

import pytest

from tests.house import readme
from tests.paths import ROOT
from tests.support.tools import lacking


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """What step `number` of a page prints. Those before it run first, if they have not: another process may have been
    given their tests.
    """
    outputs, folders = {}, {}

    def folder_of(page):
        """One for all pages with the samples; a page on a project has its own."""
        name = page.stem if page.name in readme.OF_PROJECT else "readme"
        if name not in folders:
            folders[name] = tmp_path_factory.mktemp(name)
            readme.prepare(folders[name], page)
            # the first run on a machine says that it compiles the model
            if name == "readme":
                readme.run("gpuprof collect samples/saxpy.cu -o warm.gprec", folders[name])
        return folders[name]

    def print_step(page, number):
        for place, step in enumerate(readme.steps_on(page)[: number + 1]):
            if (page, place) not in outputs and not readme.missing(step.command):
                outputs[page, place] = readme.run(step.command, folder_of(page))
        return outputs[page, number]

    return print_step


STEPS = [
    pytest.param(page, number, step, id=step.command[:60], marks=() if page == readme.README else pytest.mark.long)
    for page in readme.PAGES
    for number, step in enumerate(readme.steps_on(page))
]


@pytest.mark.parametrize("page, number, step", STEPS)
def test_command(page, number, step, printed):
    if package := readme.missing(step.command):
        lacking(package, "interop")
    output = printed(page, number)
    assert readme.matches(step.output, output), f"write the README anew: python -m tests.house.readme\n{output}"


def test_matching():
    assert readme.matches("a\n...\nb\n", "a\nx\ny\nb\n")
    assert readme.matches("a\n...\n", "a\n")
    assert not readme.matches("a\n...\nb\n", "a\nx\n")
    assert not readme.matches("a.\n", "ab\n")


def test_it_is_a_front_door():
    assert len(readme.README.read_text().splitlines()) <= 150


DOCUMENTS = [readme.README, *sorted(readme.DOCS.rglob("*.md"))]
CODE = re.compile(r"```.*?```|`[^`\n]*`|^    .*?$", re.DOTALL | re.MULTILINE)


def anchors(page):
    """The headings of a page, as links to them are written."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", DOCUMENTS, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)", CODE.sub("", page.read_text())):
        other = page.parent / target if target else page
        assert other.exists(), target
        assert not anchor or anchor in anchors(other), f"{target}#{anchor}"


def test_anchors(tmp_path):
    (tmp_path / "a.md").write_text("# One, two\n```\n# no heading\n```\n## `lsu.py` and 3-way\n")
    assert anchors(tmp_path / "a.md") == {"one-two", "lsupy-and-3-way"}


def too_long(text):
    """Lines of prose over 100 columns; tables, code and comments may be as wide as they are."""
    prose = re.sub(r"```.*?```|<!--.*?-->", "", text, flags=re.DOTALL)
    return [line for line in prose.splitlines() if len(line) > 100 and not line.startswith(("|", "    "))]


@pytest.mark.parametrize("page", [*DOCUMENTS, ROOT / "CHANGELOG.md"], ids=lambda page: page.name)
def test_prose_is_wrapped(page):
    assert too_long(page.read_text()) == []


def test_what_is_too_long():
    wide = "x " * 60
    assert too_long(f"{wide}\n| {wide} |\n```\n{wide}\n```\nshort\n    {wide}\n") == [wide]
