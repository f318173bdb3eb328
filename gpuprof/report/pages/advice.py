"""Findings as numbered sentences."""

from collections.abc import Iterator

from rich.cells import cell_len
from rich.text import Text

from gpuprof.report.terminal.styles import DIM, Look, clipped, shown
from gpuprof.report.triage.findings import Finding


def finding_lines(number: int, finding: Finding, look: Look) -> Iterator[Text]:
    next_step = f" (gpuprof explain {finding.explain})" if finding.explain else ""
    text = shown(finding.text) + next_step
    if look.width is None:
        yield Text(f"# {number}. {text}")
        return
    first, rest = ("# " if look.plain else "  ") + f"{number}. ", ("# " if look.plain else "  ") + "   "
    for index, part in enumerate(wrapped(text, max(look.width - cell_len(first), 10))):
        yield clipped(Text().append(first if index == 0 else rest, DIM).append(part), look)


def wrapped(text: str, cells: int) -> list[str]:
    """Words in lines of at most `cells` cells; a longer word has a line of its own."""
    lines = [""]
    for word in text.split():
        candidate = f"{lines[-1]} {word}".strip()
        if lines[-1] and cell_len(candidate) > cells:
            lines.append(word)
        else:
            lines[-1] = candidate
    return lines
