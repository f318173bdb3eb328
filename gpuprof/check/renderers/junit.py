"""Verdicts as JUnit's XML: a suite for each entry, a case for each launch, and one for each other problem's subject.

The elements and attributes are those of Jenkins' schema (xunit-plugin, junit-10.xsd). What fails is a failure, and what
could not be judged an error; the rest is output of its case.
"""

import re
from collections.abc import Iterable, Iterator
from xml.etree import ElementTree

from gpuprof.check.checkout import Checkout
from gpuprof.check.problem_lines import problem_lines
from gpuprof.check.renderers import XML_MARK
from gpuprof.check.verdict import CheckReport, EntryVerdict, Problem
from gpuprof.isa.printing.printable import printable

NOT_JUDGED = ("failed", "not comparable")
# XML 1.0, production 2: the characters that a document can have.
_NO_CHARACTER = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(report: CheckReport, checkout: Checkout) -> str:
    suites = ElementTree.Element("testsuites", name="gpuprof check")
    suites.extend(map(_suite, report.entries))
    for count in ("tests", "failures", "errors"):
        suites.set(count, str(sum(int(suite.get(count, "0")) for suite in suites)))
    ElementTree.indent(suites)
    return XML_MARK + ElementTree.tostring(suites, encoding="unicode") + "\n"


def _suite(entry: EntryVerdict) -> ElementTree.Element:
    suite = ElementTree.Element("testsuite", name=_text(entry.name))
    cases = [_case(entry, name, problems) for name, problems in _subjects(entry).items()]
    suite.set("tests", str(len(cases)))
    for count, tag in (("failures", "failure"), ("errors", "error")):
        suite.set(count, str(sum(case.find(tag) is not None for case in cases)))
    suite.set("skipped", "0")
    suite.set("file", _text(entry.file))
    properties = ElementTree.SubElement(suite, "properties")
    for name, value in _properties(entry):
        ElementTree.SubElement(properties, "property", name=name, value=_text(value))
    suite.extend(cases)
    return suite


def _properties(entry: EntryVerdict) -> Iterator[tuple[str, str]]:
    yield "verdict", entry.status
    if entry.is_cached:
        yield "inputs", "unchanged"
    if entry.cause:
        yield "cause", entry.cause


def _subjects(entry: EntryVerdict) -> dict[str, list[Problem]]:
    """The name of each case, and its problems: a launch, a kernel, or a kind of problem of the whole entry."""
    subjects: dict[str, list[Problem]] = {launch.title: [] for launch in entry.launches}
    for problem in entry.worst_first():
        subjects.setdefault(problem.title or problem.kind, []).append(problem)
    return subjects or {"check": []}


def _case(entry: EntryVerdict, name: str, problems: list[Problem]) -> ElementTree.Element:
    case = ElementTree.Element("testcase", classname=f"gpuprof.{_text(entry.name)}", name=_text(name))
    for problem in problems:
        if problem.of.fails:
            tag = "error" if problem.kind in NOT_JUDGED else "failure"
            element = ElementTree.SubElement(case, tag, type=problem.of.rule, message=_text(problem.message))
            element.text = _lines(problem_lines(problem))
    said = [line for problem in problems if not problem.of.fails for line in problem_lines(problem)]
    if said:
        ElementTree.SubElement(case, "system-out").text = _lines(said)
    return case


def _text(text: str) -> str:
    """The text of an attribute."""
    return _characters(printable(text))


def _lines(lines: Iterable[str]) -> str:
    """The text of an element."""
    return _characters("\n".join(map(printable, lines)))


def _characters(text: str) -> str:
    return _NO_CHARACTER.sub("\ufffd", text)
