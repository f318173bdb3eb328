"""Where the variables of optimized code are in front of each line of the PTX, by the comments that
`compile.variables` has written: the last that was said on every way that leads there.
"""

import re
from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from gpuprof.assemble.kept import Line, Shape
from gpuprof.compile.variables import AT, SET

_HEAD = re.compile(r"\.(?:entry|func)\b.*?([\w$]+)\($")
_LABEL = re.compile(r"^(\$[\w$]+):")
_SUM = re.compile(r"([-+*]) (-?\d+)")
_PART = re.compile(r"@(\d+):(\d+)$")

Part = tuple[int, int] | None  # first bit and number of bits of a piece of a variable; None for all of it
Key = tuple[int, Part]


class Spot(NamedTuple):
    """`register`: of the PTX, without %; "" for a number, which is `bits`. `sums`: what is added, subtracted or
    multiplied then.
    """

    register: str
    bits: int
    sums: tuple[tuple[str, int], ...]


class Setting(NamedTuple):
    """A comment: from `line` on, a variable is there; None for nowhere."""

    line: int
    number: int
    part: Part
    spot: Spot | None


Scopes = tuple[tuple[int, int], ...]  # scope and inlined call of each function around a place, the innermost first


@dataclass
class Comments:
    """Of one function. `segments`: by line, the label above it, as the number of its line. `scopes`: by line."""

    settings: list[Setting] = field(default_factory=list)
    segments: dict[int, int] = field(default_factory=dict)
    labels: dict[str, int] = field(default_factory=dict)
    scopes: dict[int, Scopes] = field(default_factory=dict)

    @property
    def registers(self) -> set[str]:
        return {each.spot.register for each in self.settings if each.spot} - {""}


def read_comments(lines: Sequence[str]) -> dict[str, Comments]:
    """Of each function that has some, by its symbol. `lines`: the PTX."""
    found: dict[str, Comments] = {}
    here, name, segment, scopes = Comments(), "", 0, ()
    for number, line in enumerate(lines, 1):
        if head := _HEAD.search(line):
            name, here, segment, scopes = head[1], Comments(), 0, ()
        elif line == "}":
            if name and here.settings:
                found[name] = here
            name = ""
        elif line.startswith("\t.loc\t"):
            scopes = ()
        elif line.startswith(AT):
            pairs = (word.split(":") for word in line[len(AT) :].split())
            scopes = tuple((int(scope), int(call)) for scope, call in pairs)
        elif line.startswith(SET):
            here.settings.append(_setting(number, line[len(SET) :]))
        elif label := _LABEL.match(line):
            segment = here.labels[label[1]] = number
        here.segments[number], here.scopes[number] = segment, scopes
    return found


def _setting(line: int, text: str) -> Setting:
    number, _, rest = text.partition(" ")
    part = _PART.search(rest)
    place = rest[: part.start()] if part else rest
    value, _, sums = place.strip().partition(" ")
    if value == "?":
        spot = None
    else:
        is_number = value.startswith("=")
        spot = Spot(
            "" if is_number else value,
            int(value[1:]) if is_number else 0,
            tuple((sign, int(each)) for sign, each in _SUM.findall(sums)),
        )
    return Setting(line, int(number), (int(part[1]), int(part[2])) if part else None, spot)


def assigned(
    shape: Shape, comments: Comments, constant: Collection[str], first: Mapping[Key, Spot]
) -> dict[int, Mapping[Key, Spot]]:
    """What is known in front of each line that has an instruction. `constant`: registers whose value is known also
    where nobody has set them yet; `first`: what is known where the function begins.
    """
    items = _items(shape, comments)
    names = {register: name for name, register in shape.names.items() if name not in constant}
    start: list[dict[Key, Spot] | None] = [dict(first)] + [None] * (len(items) - 1)
    todo = [0]
    while todo:
        number = todo.pop()
        state = dict(start[number])
        for item in items[number]:
            _step(item, state, names)
        for successor in shape.successors[number]:
            known = start[successor]
            met = state if known is None else {key: spot for key, spot in known.items() if state.get(key) == spot}
            if met != known:
                start[successor] = dict(met)
                todo.append(successor)
    found: dict[int, Mapping[Key, Spot]] = {}
    for number, block in enumerate(items):
        state = dict(start[number] or {})
        for item in block:
            if isinstance(item, Line):
                found.setdefault(item.line, dict(state))
            _step(item, state, names)
    return found


def _items(shape: Shape, comments: Comments) -> list[list[Line | Setting]]:
    """Of each block its instructions and comments, as they stand in the text. A variable with a comment that stands
    nowhere is nowhere.
    """
    block_of: dict[int, int] = {}
    for number, block in enumerate(shape.blocks):
        for inst in block:
            block_of.setdefault(inst.line, number)
    lines = sorted(block_of)
    before: dict[int, list[Setting]] = {}  # by the line of the instruction that follows
    behind: dict[int, list[Setting]] = {}  # by block
    lost = set()
    for each in comments.settings:
        at, segment = bisect_right(lines, each.line), comments.segments[each.line]
        if at < len(lines) and comments.segments.get(lines[at]) == segment:
            before.setdefault(lines[at], []).append(each)
        elif at and comments.segments.get(lines[at - 1]) == segment:
            number = block_of[lines[at - 1]]
            # What holds on one of several ways is known on none.
            goes_on = shape.successors[number] == [number + 1]
            behind.setdefault(number, []).append(each if goes_on else each._replace(spot=None))
        else:
            lost.add(each.number)
    items: list[list[Line | Setting]] = []
    for number, block in enumerate(shape.blocks):
        items.append([])
        for inst in block:
            items[-1] += [*before.pop(inst.line, ()), inst]
        items[-1] += behind.get(number, ())
    return [
        [item._replace(spot=None) if isinstance(item, Setting) and item.number in lost else item for item in block]
        for block in items
    ]


def _step(item: Line | Setting, state: dict[Key, Spot], names: Mapping[int, str]) -> None:
    if isinstance(item, Line):
        written = {names.get(register) for register in item.writes}
        gone = [key for key, spot in state.items() if spot.register in written]
    else:
        gone = [key for key in state if key[0] == item.number and _overlap(key[1], item.part)]
    for key in gone:
        del state[key]
    if isinstance(item, Setting) and item.spot is not None:
        state[item.number, item.part] = item.spot


def _overlap(one: Part, other: Part) -> bool:
    return one is None or other is None or (one[0] < sum(other) and other[0] < sum(one))
