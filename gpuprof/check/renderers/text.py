"""Verdicts for people: of one profile its launches, of a project a table, then what is wrong, then one sentence."""

from collections.abc import Iterator

from rich.text import Text

from gpuprof.check.checkout import Checkout
from gpuprof.check.problem_lines import problem_lines
from gpuprof.check.verdict import ERROR, KINDS, NOTICE, WARNING, CheckReport, EntryVerdict
from gpuprof.isa.printing.printable import printable
from gpuprof.report.terminal.columns import Column, table
from gpuprof.report.terminal.styles import Look

PLAIN = Look(width=None, colours="", blocks=False, plain=True)
# A profile's requirements have lines of their own; findings are what `report` shows.
NOT_OF_A_FILE = ("requirement", "finding")
COLOURS = {ERROR: "red", WARNING: "yellow", NOTICE: "green"}
OF_CHECKS = "a wider terminal or --format json"  # where all columns are to be had


def render(report: CheckReport, checkout: Checkout) -> str:
    return "".join(f"{line.plain}\n" for line in text_lines(report, PLAIN))


def text_lines(report: CheckReport, look: Look) -> Iterator[Text]:
    if report.of_file:
        for entry in report.entries:
            yield from map(_line, file_lines(entry))
        return
    yield from table(COLUMNS, report.entries, look, rest=OF_CHECKS)
    for entry in report.entries:
        if entry.problems:
            yield Text()
            yield from entry_lines(entry)
    yield Text()
    yield _line(report.closing)


def file_lines(entry: EntryVerdict) -> Iterator[str]:
    """The verdict on one profile."""
    yield from entry.details
    for problem in entry.problems:
        if problem.kind not in NOT_OF_A_FILE:
            yield from problem_lines(problem)
    if entry.closing:
        yield entry.closing
    yield from entry.requirements


def entry_lines(entry: EntryVerdict) -> Iterator[Text]:
    """The problems of an entry, the worst first, and the command that writes its baseline again."""
    yield Text.assemble((printable(entry.name), "bold"), ": ", _status(entry))
    yield from (_line(f"  {line}") for line in entry.details)
    for problem in entry.worst_first():
        yield from (_line(f"  {line}") for line in problem_lines(problem))
    kinds = {problem.kind for problem in entry.problems}
    if entry.update and kinds & {*BETTER, *WORSE}:
        yield _line(f"  {'if this is intended' if kinds & {*WORSE} else 'to book it'}: {entry.update}")


# A new baseline ends these.
BETTER = ("improved", "ratchet", "new")
WORSE = ("regressed", "missing", "reshaped")


def _line(text: str) -> Text:
    return Text(printable(text))


def _status(entry: EntryVerdict) -> Text:
    worst = entry.worst_first()
    return Text(entry.status, COLOURS[worst[0].of.severity if worst else NOTICE])


def _what(entry: EntryVerdict) -> Text:
    """The worst problem in words."""
    if not entry.problems:
        return Text()
    worst = entry.worst_first()[0]
    return _line(f"{worst.title}: {worst.message}" if worst.title else worst.message)


COLUMNS = (
    Column("entry", lambda entry: _line(entry.name), left=True),
    Column("status", _status, left=True),
    Column("launches", lambda entry: Text(f"{entry.n_launches:,}" if entry.n_launches else ""), drop=1),
    Column("inputs", lambda entry: Text("unchanged" if entry.is_cached else ""), drop=2, left=True),
    Column("worst problem", _what, drop=3, left=True),
)
assert {*BETTER, *WORSE} <= set(KINDS)
