"""Verdicts as Markdown, for a job's summary or a comment on a pull request: a table, then each entry's problems and
blamed lines, folded.
"""

import html
import re
from collections import Counter
from collections.abc import Iterable

from gpuprof.check.checkout import Checkout
from gpuprof.check.renderers import MARKDOWN_MARK
from gpuprof.check.renderers.text import entry_lines
from gpuprof.check.verdict import CheckReport, EntryVerdict
from gpuprof.isa.printing.printable import printable

# GitHub: "Workflow commands", adding a job summary: 1 MiB for a step. actions/runner, FileCommandManager.cs:
# AttachmentSizeLimit, with which a larger file is dropped as a whole.
MOST_NBYTES = 1 << 20
HEADING = "| entry | status | launches | worst problem |\n|---|---|---:|---|\n"
_MARKS = re.compile(r"[&<>|*_`~\[\]\\$]")


def render(report: CheckReport, checkout: Checkout) -> str:
    return summary(report, MOST_NBYTES)


def summary(report: CheckReport, most_nbytes: int) -> str:
    """At most so many bytes of UTF-8; "" where not even the closing sentence has room. Blamed lines are left out before
    rows of the table.
    """
    head = f"{MARKDOWN_MARK}\n### gpuprof check: {escaped(report.verdict)}\n\n"
    closing = f"\n{escaped(report.closing)}\n"
    room = (
        most_nbytes - _nbytes(head + HEADING + closing) - _nbytes(_left_out(len(report.entries), len(report.entries)))
    )
    if room < 0:
        return ""
    rows, room = _fitting(map(_row, report.entries), room)
    folded = [block for block in map(_folded, report.entries) if block]
    blocks, room = _fitting(folded, room)
    note = _left_out(len(report.entries) - len(rows), len(folded) - len(blocks))
    return "".join([head, HEADING, *rows, *blocks, note, closing])


def escaped(text: str) -> str:
    """Text that Markdown shows as it is."""
    return _MARKS.sub(lambda match: f"&#{ord(match[0])};", printable(text))


def code(text: str) -> str:
    """A name, in which GitHub looks for no one to notify, and for no link."""
    return f"<code>{escaped(text)}</code>"


def _row(entry: EntryVerdict) -> str:
    status = f"**{entry.status}**" if entry.exit_code else entry.status
    status += ", inputs unchanged" if entry.is_cached else ""
    what = ""
    if entry.problems:
        worst = entry.worst_first()[0]
        what = f"{code(worst.title)}: {code(worst.message)}" if worst.title else code(worst.message)
    return f"| {code(entry.name)} | {status} | {entry.n_launches or ''} | {what} |\n"


def _folded(entry: EntryVerdict) -> str:
    """The problems of an entry as the terminal has them; a blank line within <pre> ends nothing."""
    if not entry.problems:
        return ""
    lines = "\n".join(html.escape(line.plain, quote=False) for line in entry_lines(entry))
    return (
        f"\n<details><summary>{code(entry.name)}: {_counts(entry)}</summary>\n\n<pre>\n{lines}\n</pre>\n\n</details>\n"
    )


def _counts(entry: EntryVerdict) -> str:
    """ "2 regressed, 1 improved"."""
    counts = Counter(problem.kind for problem in entry.worst_first())
    return ", ".join(f"{count:,} {kind}" for kind, count in counts.items())


def _fitting(blocks: Iterable[str], room: int) -> tuple[list[str], int]:
    """The first blocks that have room, and the room that is left."""
    taken: list[str] = []
    for block in blocks:
        room -= _nbytes(block)
        if room < 0:
            return taken, 0
        taken.append(block)
    return taken, room


def _left_out(n_rows: int, n_blocks: int) -> str:
    words = [f"{n_rows:,} rows"] * bool(n_rows) + [f"the lines of {n_blocks:,} entries"] * bool(n_blocks)
    return f"\nLeft out, since a summary has at most 1 MiB: {' and '.join(words)}.\n" if words else ""


def _nbytes(text: str) -> int:
    return len(text.encode())
