"""Verdicts as annotations of GitHub: workflow commands, which a step prints and the runner reads.

What a command may hold is in actions/runner: `ActionCommand.cs` has the escapes, `ExecutionContext.cs` the most of a
kind for a step (_maxCountPerIssueType) and the longest message (_maxIssueMessageLength). More are dropped there without
a word, so they are counted here.
"""

import re
from collections import Counter
from collections.abc import Iterator

from gpuprof.base.wording import plural
from gpuprof.check.checkout import Checkout
from gpuprof.check.problem_lines import blamed_lines
from gpuprof.check.verdict import SEVERITIES, CheckReport, EntryVerdict, Problem
from gpuprof.isa.printing.printable import printable

MOST_OF_A_SEVERITY = 10
MOST_CHARACTERS = 4096
# `%` first, since the others bring it along.
DATA_ESCAPES = (("%", "%25"), ("\r", "%0D"), ("\n", "%0A"))
_BEGINS = re.compile(r"^(\s*):(?=:)")
PROPERTY_ESCAPES = (*DATA_ESCAPES, (":", "%3A"), (",", "%2C"))


def render(report: CheckReport, checkout: Checkout) -> str:
    return "".join(f"{line}\n" for line in annotations(report, checkout))


def annotations(report: CheckReport, checkout: Checkout) -> Iterator[str]:
    """The commands, the worst first, then a line on those that a step cannot have."""
    left_out: Counter[str] = Counter()
    for severity in SEVERITIES:
        of_severity = [
            (entry, problem)
            for entry in report.entries
            for problem in entry.problems
            if problem.of.severity == severity
        ]
        left_out[severity] = max(0, len(of_severity) - MOST_OF_A_SEVERITY)
        for entry, problem in of_severity[:MOST_OF_A_SEVERITY]:
            yield command(severity, entry, problem, checkout)
    more = [plural(count, severity, f"{severity}s") for severity, count in left_out.items() if count]
    if more:
        yield f"not annotated: {', '.join(more)} more; GitHub takes {MOST_OF_A_SEVERITY} of each kind from a step"


def command(severity: str, entry: EntryVerdict, problem: Problem, checkout: Checkout) -> str:
    place = checkout.place(problem.places)
    properties = {
        **({"file": place.path, "line": str(place.line)} if place else {}),
        "title": printable(f"{entry.name}: {problem.heading}"),
    }
    words = ",".join(f"{name}={escaped(value, PROPERTY_ESCAPES)}" for name, value in properties.items())
    return f"::{severity} {words}::{escaped(_message(problem), DATA_ESCAPES)}"


def _message(problem: Problem) -> str:
    """The problem and its blamed lines, as many as have room."""
    text = printable(problem.message)[:MOST_CHARACTERS]
    for line in map(printable, blamed_lines(problem)):
        if len(text) + 1 + len(line) > MOST_CHARACTERS:
            break
        text += f"\n{line}"
    return text


def without_commands(line: str) -> str:
    """A line in which the runner finds no command, whatever a source says: it looks for `::` where the line begins
    (`TryParseV2`), and for `##[` anywhere (`TryParse`).
    """
    return _BEGINS.sub(r"\1: ", line).replace("##[", "## [")


def escaped(text: str, escapes: tuple[tuple[str, str], ...]) -> str:
    for token, replacement in escapes:
        text = text.replace(token, replacement)
    return text
