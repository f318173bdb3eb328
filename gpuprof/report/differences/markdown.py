"""A difference as Markdown, for a comment on a change: the sentence and a table of kernels, then each kernel's lines,
numbers and instructions, folded.
"""

from collections.abc import Iterator
from html import escape

from gpuprof.compare.alignment import ABSENT
from gpuprof.compare.changes import Change
from gpuprof.compare.difference import Difference, KernelDifference, LaunchSide
from gpuprof.isa.printing.markdown import escaped, row
from gpuprof.isa.printing.printable import printable
from gpuprof.isa.stalls import NAMES
from gpuprof.report.differences.numbers import changed_numbers
from gpuprof.report.differences.read_sides import Compared
from gpuprof.report.differences.words import (
    Group,
    cautions,
    code_words,
    ending_words,
    groups_of,
    headline,
    kernel_notes,
    note_of,
    place_of,
    summary,
    text_of,
)
from gpuprof.report.number_text import grouped

MOST_ROWS = 20  # lines of a kernel
MOST_CODE_ROWS = 100  # a comment on GitHub has at most 65,536 characters
MOST_KERNELS = 20


def lines(compared: Compared) -> Iterator[str]:
    difference = compared.difference
    yield f"**{escaped(summary(difference))}**"
    yield ""
    for word, head in (("before", compared.old), ("after", compared.new)):
        made_by = head.origin
        model = "" if head.is_card else f"gpuprof {made_by['gpuprof']}, model {made_by['model']}, "
        yield f"* {word}: {escaped(f'{head.name}, {model}chip ')}{escaped(made_by['chip'])}"
    yield from (f"* caution: {escaped(words)}" for words in cautions(compared))
    changed = [kernel for kernel in difference.kernels if kernel.is_changed]
    if changed or difference.gone or difference.new:
        yield from ("", *_kernels(difference))
    for kernel in changed[:MOST_KERNELS]:
        yield from _kernel(kernel, difference.unit)
    if len(changed) > MOST_KERNELS:
        yield from ("", f"The lines of {len(changed) - MOST_KERNELS} more kernels are left out.")


def _kernels(difference: Difference) -> Iterator[str]:
    yield from (row("kernel", "cycles before", "after", "change", "most of it"), "|---|--:|--:|--:|---|")
    for kernel in difference.kernels:
        change = kernel.cycles
        words = headline(kernel, difference.unit).partition(": ")[2]
        yield row(escaped(kernel.name), *_numbers(change), _percent(change), escaped(words))
    for words, launches in (("gone", difference.gone), ("new", difference.new)):
        yield from (_lonely(words, launch) for launch in launches[:MOST_ROWS])


def _lonely(words: str, launch: LaunchSide) -> str:
    cells = (grouped(launch.cycles), "-") if words == "gone" else ("-", grouped(launch.cycles))
    return row(escaped(launch.text), *cells, words, "")


def _kernel(kernel: KernelDifference, unit: str) -> Iterator[str]:
    yield from ("", "<details>", f"<summary>{escape(printable(f'{kernel.name}: {headline(kernel, unit)}'))}</summary>")
    yield from (f"\n{escaped(note)}" for note in kernel_notes(kernel))
    if groups := groups_of(kernel):
        yield from (
            "",
            row(unit, "before", "after", "line", "why", "ended by", "source"),
            "|--:|--:|--:|---|---|---|---|",
        )
        yield from (_line(kernel, group) for group in groups[:MOST_ROWS])
        rest = groups[MOST_ROWS:]
        if rest:
            yield row(f"{sum(change.delta for change in rest):+,}", "", "", f"{len(rest)} smaller changes", "", "", "")
        yield row(f"**{kernel.cost.delta:+,}**", *_numbers(kernel.cost), "all", "", "", "")
    if numbers := changed_numbers(kernel):
        yield from ("", row("number", "before", "after", "change", "unit"), "|---|--:|--:|--:|---|")
        yield from (row(escaped(each.name), *each[1:]) for each in numbers)
    for word, findings in (("gone", kernel.went), ("new", kernel.came)):
        yield from (f"\n{word}: {escaped(f'{finding.severity}: {finding.text}')}" for finding in findings)
    if words := code_words(kernel):
        yield from ("", f"Code: {words}.", "", "```diff", *_code(kernel), "```")
    yield from ("", "</details>")


def _line(kernel: KernelDifference, change: Change[Group, int]) -> str:
    group = change.name
    note = note_of(kernel, group.line)
    place = place_of(kernel, group.line) + (f" ({note})" if note else "")
    cells = (place, NAMES[group.reason], ending_words(group), text_of(kernel, group.line))
    return row(f"{change.delta:+,}", *_numbers(change), *map(escaped, cells))


def _numbers(change: Change) -> tuple[str, str]:
    old, new = ("-" if value is None else grouped(value) for value in (change.old, change.new))
    return old, new


def _percent(change: Change) -> str:
    return f"{change.delta:+,}" if change.percent is None else f"{change.percent:+,.1f} %"


def _code(kernel: KernelDifference) -> Iterator[str]:
    """A unified diff: an instruction with other operands is taken out and put in."""
    shown = 0
    for old, new in kernel.instructions:
        was = "" if old == ABSENT else _instruction(kernel.old_code[old].text, kernel.old_code[old].cost)
        now = "" if new == ABSENT else _instruction(kernel.new_code[new].text, kernel.new_code[new].cost)
        if was and now and kernel.old_code[old].text == kernel.new_code[new].text:
            continue
        if shown == MOST_CODE_ROWS:
            yield "# more rows are left out"
            return
        yield from (f"{sign}{text}" for sign, text in (("-", was), ("+", now)) if text)
        shown += 1


def _instruction(text: str, cost: int) -> str:
    return f"{cost:>12,}  {printable(text)}".replace("```", "'''")
