"""A difference as text: the sentence first, then the lines, the numbers and the code that changed."""

from collections.abc import Callable, Iterator, Sequence

from rich.style import Style
from rich.text import Text

from gpuprof.base.wording import plural
from gpuprof.compare.alignment import ABSENT
from gpuprof.compare.changes import Change
from gpuprof.compare.difference import FindingSide, KernelDifference, LaunchSide
from gpuprof.isa.printing.printable import printable
from gpuprof.report.differences.numbers import NumberChange, changed_numbers
from gpuprof.report.differences.read_sides import Compared, Head
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
    reason_words,
    summary,
    text_of,
)
from gpuprof.report.number_text import grouped
from gpuprof.report.terminal.columns import Column, table
from gpuprof.report.terminal.styles import BOLD, DIM, HOT, WARM, Look, fitted, flow

MOST_KERNELS = 10  # with their lines
MOST_NAMES = 30  # of other kernels
MOST_ROWS = 12  # lines of a kernel
MOST_CODE_ROWS = 40
CONTEXT = 2  # instructions around those that changed
MOST_LAUNCHES = 5  # of one side
FASTER = "#5faf5f"
REST = "a wider terminal, --width {width} or --format json"


def lines(compared: Compared, look: Look, all_code: bool = False) -> Iterator[Text]:
    """`all_code`: every instruction, rather than those around a change."""
    difference = compared.difference
    look = look if look.width is None else look._replace(plain=False)  # a line that is broken is no comment
    yield from _head("before", compared.old, look)
    yield from _head("after", compared.new, look)
    for words in cautions(compared):
        yield from flow(Text().append("caution ", WARM), [Text(words, WARM)], look)
    is_one = len(difference.kernels) == 1 and not (difference.gone or difference.new)
    if not (is_one and difference.is_changed):
        yield from _sentence(summary(difference), look)
    for word, some in (("gone", difference.gone), ("new", difference.new)):
        yield from _launches(word, some, look)
    changed = [kernel for kernel in difference.kernels if kernel.is_changed]
    for kernel in changed[:MOST_KERNELS]:
        yield from _kernel(kernel, difference.unit, look, all_code)
    yield from _others(changed[MOST_KERNELS:], difference.unit, look)
    same = [printable(kernel.name) for kernel in difference.kernels if not kernel.is_changed]
    if same and difference.is_changed:
        yield Text()
        more = [f"and {len(same) - MOST_NAMES:,} more"] if len(same) > MOST_NAMES else []
        yield from flow(Text().append("the same ", DIM), [*same[:MOST_NAMES], *more], look)


def _others(kernels: Sequence[KernelDifference], unit: str, look: Look) -> Iterator[Text]:
    """Kernels with smaller changes: a sentence each."""
    if kernels:
        yield Text()
    for kernel in kernels[:MOST_NAMES]:
        yield from flow(Text(), [f"{printable(kernel.name)}: {headline(kernel, unit)}"], look)
    if more := len(kernels) - min(len(kernels), MOST_NAMES):
        yield from flow(Text(), [f"and {plural(more, 'more kernel', 'more kernels')}; --kernel chooses some"], look)


def _head(word: str, head: Head, look: Look) -> Iterator[Text]:
    made_by = head.origin
    model = [] if head.is_card else [f"gpuprof {made_by['gpuprof']}", f"model {made_by['model']}"]
    facts = [*model, f"chip {made_by['chip']}"]
    yield from flow(Text().append(f"{word:<8}", DIM), [Text(printable(head.name), BOLD), *facts], look)


def _sentence(words: str, look: Look) -> Iterator[Text]:
    yield Text()
    yield from flow(Text(), [Text(words, BOLD)], look)


def _launches(word: str, launches: Sequence[LaunchSide], look: Look) -> Iterator[Text]:
    for launch in launches[:MOST_LAUNCHES]:
        facts = [printable(launch.text), f"{grouped(launch.cycles)} cycles"]
        yield from flow(Text().append(f"{word:<8}", DIM), [", ".join(facts)], look)
    if rest := launches[MOST_LAUNCHES:]:
        cycles = sum(launch.cycles for launch in rest)
        words = f"{plural(len(rest), 'more launch', 'more launches')}, {grouped(cycles)} cycles"
        yield from flow(Text().append(f"{word:<8}", DIM), [words], look)


def _kernel(kernel: KernelDifference, unit: str, look: Look, all_code: bool) -> Iterator[Text]:
    yield from _sentence(f"{printable(kernel.name)}: {headline(kernel, unit)}", look)
    for note in kernel_notes(kernel):
        yield from flow(Text().append("note     ", DIM), [printable(note)], look)
    yield from _lines(kernel, unit, look)
    yield from _numbers(changed_numbers(kernel), look)
    for word, findings in (("gone", kernel.went), ("new", kernel.came)):
        for finding in findings:
            yield from flow(Text().append(f"{word:<8} ", DIM), [Text(_finding(finding))], look)
    if words := code_words(kernel):
        yield from flow(Text().append("code     ", DIM), [words], look)
        yield from _code(kernel, look, all_code)


def _signed(delta: int | float, text: str = "") -> Text:
    return Text(text or f"{delta:+,}", HOT if delta > 0 else FASTER if delta < 0 else "")


def _lines(kernel: KernelDifference, unit: str, look: Look) -> Iterator[Text]:
    rows = groups_of(kernel)
    shown = rows[:MOST_ROWS]
    if not shown:
        return

    def number(value: int | None) -> Text:
        return Text("-" if value is None else grouped(value))

    def of(text: Callable[[Group], str], style: Style | str = "") -> Callable[[Change[Group, int]], Text]:
        return lambda change: Text(text(change.name), style)

    columns = [
        Column(unit, lambda change: _signed(change.delta), gap=0),
        Column("before", lambda change: number(change.old), 4),
        Column("after", lambda change: number(change.new), 3),
        Column("line", of(lambda group: place_of(kernel, group.line)), left=True),
        Column("", of(lambda group: note_of(kernel, group.line), DIM), 1, left=True, name="what became of it"),
        Column("why", of(lambda group: look.vocabulary.short(group.reason)), left=True),
        Column("ended by", of(ending_words), 5, left=True),
        Column("source", of(lambda group: text_of(kernel, group.line), DIM), 2, left=True),
    ]
    yield from table(columns, shown, look, rest=REST)
    rest = rows[MOST_ROWS:]
    together = (
        [f"and {plural(len(rest), 'smaller change', 'smaller changes')}, together {_total(rest):+,}"] if rest else []
    )
    cost = kernel.cost
    whole = f"all: {grouped(cost.old or 0)} -> {grouped(cost.new or 0)}, {cost.delta:+,} {unit}"
    for words in (*together, whole):
        yield from flow(Text(), [words], look)
    yield from flow(Text().append("reasons  ", DIM), reason_words(kernel), look)


def _total(rows: Sequence[Change]) -> int:
    return sum(change.delta for change in rows)


def _numbers(numbers: Sequence[NumberChange], look: Look) -> Iterator[Text]:
    if not numbers:
        return
    columns = [
        Column("number", lambda each: Text(each.name), left=True, gap=0),
        Column("before", lambda each: Text(each.old)),
        Column("after", lambda each: Text(each.new)),
        Column("change", lambda each: _signed(0, each.change)),
        Column("unit", lambda each: Text(each.unit, DIM), 1, left=True),
    ]
    yield from table(columns, numbers, look, rest=REST)


def _finding(finding: FindingSide) -> str:
    return printable(": ".join(filter(None, (finding.severity, finding.text))))


def _code(kernel: KernelDifference, look: Look, all_code: bool) -> Iterator[Text]:
    marks = [_mark(kernel, *pair) for pair in kernel.instructions]
    near = [
        at
        for at in range(len(marks))
        if all_code or any(mark != "=" for mark in marks[max(at - CONTEXT, 0) : at + CONTEXT + 1])
    ]
    shown = near if all_code else near[:MOST_CODE_ROWS]
    half = max((look.width - 24) // 2, 8) if look.width else None

    def text(side: int) -> Callable[[int], Text]:
        code = (kernel.old_code, kernel.new_code)[side]

        def cell(at: int) -> Text:
            place = kernel.instructions[at][side]
            found = Text(printable(code[place].text) if place != ABSENT else "")
            return fitted(found, half, look) if half else found

        return cell

    def cost(side: int) -> Callable[[int], Text]:
        code = (kernel.old_code, kernel.new_code)[side]
        return lambda at: Text(
            grouped(code[kernel.instructions[at][side]].cost) if kernel.instructions[at][side] != ABSENT else "", DIM
        )

    columns = [
        Column("", lambda at: Text(marks[at]), gap=0, left=True),
        Column("before", cost(0), gap=1),
        Column("", text(0), left=True),
        Column("after", cost(1)),
        Column("", text(1), left=True),
    ]
    yield from table(columns, shown, look, rest=REST)
    if hidden := len(near) - len(shown):
        yield from flow(Text(), [f"and {plural(hidden, 'more row', 'more rows')}; --isa shows every instruction"], look)


def _mark(kernel: KernelDifference, old: int, new: int) -> str:
    if new == ABSENT:
        return "-"
    if old == ABSENT:
        return "+"
    return "=" if kernel.old_code[old].text == kernel.new_code[new].text else "~"
