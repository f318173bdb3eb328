"""The records of variables that name a register that no longer has their value.

Passes after the IR give values that overlap nowhere the same register, and records are no uses: a record may name the
register of a value after its last use, where another value has it. So a register that is written at several places
has a value where a record says so in the very block of the IR that makes the value, and from there on, on every way,
up to the next write.

    min.s32  %r5, %r3, %r4;       %v, reported here: in %r5
    rem.s32  %r5, %r5, %r7;
    //@set 3 ?                    a record of %v, which is reported to be in %r5
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from gpuprof.compile.variables.records import LOST, Record, Report

_WRITTEN = re.compile(r"\t(?:@\S+ )?[\w.:]+ *\t(\{[^}]*\}|%\w+(?:\|%\w+)?)")
_WRITES_NONE = re.compile(r"\t(?:@\S+ )?(?:st|red|bra|brx|ret|exit|trap|bar|membar|fence|prefetch)\b")
_LABEL = re.compile(r"(\$\w+):")
_LEADS = re.compile(r"\$\w+")
_JUMPS = re.compile(r"\t(@\S+ )?(bra|brx|ret|exit|trap)\b")

Items = Sequence[str | Report]
Held = frozenset[tuple[str, str]]  # pairs of a register and a value of the IR


def written(line: str) -> list[str]:
    """Registers that a line of PTX may change, with their %."""
    if _WRITES_NONE.match(line):
        return []
    match = _WRITTEN.match(line)
    return re.findall(r"%\w+", match[1] if match else line.partition("//")[0])


def without_overwritten(blocks: Sequence[Items], records: Sequence[Record]) -> list[list[str | Report]]:
    """Blocks of a function's code, with nowhere for the place of what may have been overwritten."""
    count = Counter(
        register for block in blocks for item in block if isinstance(item, str) for register in written(item)
    )
    several = {register for register, n in count.items() if n > 1}
    # A value of ways that meet may have one write, where it is undefined at first.
    several |= {_register(item) for block in blocks for item in block
                if isinstance(item, Report) and records[item.record].most_writes == 0}  # fmt: skip
    labels = _labels(blocks)
    following = [[each for each in _following(block, number, labels) if each < len(blocks)]
                 for number, block in enumerate(blocks)]  # fmt: skip
    start: list[Held | None] = [frozenset()] + [None] * (len(blocks) - 1)
    todo = [0]
    while todo:
        number = todo.pop()
        *_, held = [start[number], *(held for _, held in _walked(blocks[number], start[number], records))]
        for successor in following[number]:
            known = start[successor]
            met = held if known is None else known & held
            if met != known:
                start[successor] = met
                todo.append(successor)
    return [
        [_checked(item, held, records, several) for item, held in _walked(block, known or frozenset(), records)]
        for block, known in zip(blocks, start, strict=True)
    ]


def _walked(block: Items, held: Held, records: Sequence[Record]) -> Iterator[tuple[str | Report, Held]]:
    """Each item with the values that registers hold after it."""
    n_writes: Counter[str] = Counter()
    for item in block:
        if isinstance(item, Report):
            record, register = records[item.record], _register(item)
            if register and record.most_writes is not None and n_writes[register] <= record.most_writes:
                held |= {(register, record.value)}
        elif changed := written(item):
            n_writes.update(changed)
            held = frozenset(each for each in held if each[0] not in changed)
        yield item, held


def _checked(item: str | Report, held: Held, records: Sequence[Record], several: set[str]) -> str | Report:
    if isinstance(item, str) or not (register := _register(item)) or register not in several:
        return item
    return item if (register, records[item.record].value) in held else item._replace(place=LOST)


def _register(item: Report) -> str:
    """The register of a place, with its %; "" for a number and where there is none."""
    location = item.place.split()[0]
    return "" if location.startswith(("=", LOST)) else f"%{location}"


def _labels(blocks: Sequence[Items]) -> dict[str, int]:
    return {match[1]: number for number, block in enumerate(blocks) for item in block
            if isinstance(item, str) and (match := _LABEL.match(item))}  # fmt: skip


def _following(block: Items, number: int, labels: dict[str, int]) -> list[int]:
    """Blocks that may be next: of a branch through a table all that have labels."""
    jump = next((match for item in block if isinstance(item, str) and (match := _JUMPS.match(item))), None)
    if jump is None:
        return [number + 1]
    if jump[2] == "brx":
        return [*labels.values()]
    targets = [labels[each] for each in _LEADS.findall(jump.string) if each in labels]
    return [*targets, number + 1] if jump[1] else targets
