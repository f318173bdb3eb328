"""The locations of variables of optimized code before each line of the PTX, from the comments of `compile.variables`:
the last one that holds on every path to the line.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from gpuprof.assemble.debug_registers import Line, Shape, starts
from gpuprof.compile.variables import AT, SET

_HEAD = re.compile(r"\.(?:entry|func)\b.*?([\w$]+)\($")
_LABEL = re.compile(r"^(\$[\w$]+):")
_SUM = re.compile(r"([-+*]) (-?\d+)")
_PART = re.compile(r"@(\d+):(\d+)$")

UNKNOWN = -1  # as a position
_NEXT = -2  # the position that the next comment gives

Part = tuple[int, int] | None  # first bit and number of bits of a piece of a variable; None for all of it
Key = tuple[int, Part]


class Spot(NamedTuple):
    """`register`: of the PTX, without %; "" for a number, which is `bits`. `sums`: operations on its value: add,
    subtract or multiply by a number.
    """

    register: str
    bits: int
    sums: tuple[tuple[str, int], ...]


class Setting(NamedTuple):
    """A comment: from `line` on, the variable is in `spot`; None for nowhere. `more`: additional positions that the
    code may have reached, for variables that report positions; their spot does not change.
    """

    line: int
    number: int
    part: Part
    spot: Spot | None
    more: frozenset[int] = frozenset()


Scopes = tuple[tuple[int, int], ...]  # scope and inlined call of each function around a line, the innermost first


@dataclass
class Comments:
    """The comments of one function. `segments`: by line, the label above it, as the number of its line. `scopes`: by
    line.
    """

    settings: list[Setting] = field(default_factory=list)
    segments: dict[int, int] = field(default_factory=dict)
    labels: dict[str, int] = field(default_factory=dict)
    scopes: dict[int, Scopes] = field(default_factory=dict)

    @property
    def registers(self) -> set[str]:
        return {each.spot.register for each in self.settings if each.spot} - {""}


def read_comments(lines: Sequence[str]) -> dict[str, Comments]:
    """The comments of each function that has some, by its symbol. `lines`: the PTX."""
    by_symbol: dict[str, Comments] = {}
    here, name, segment, scopes = Comments(), "", 0, ()
    for number, line in enumerate(lines, 1):
        if head := _HEAD.search(line):
            name, here, segment, scopes = head[1], Comments(), 0, ()
        elif line == "}":
            if name and here.settings:
                by_symbol[name] = here
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
    return by_symbol


def _setting(line: int, text: str) -> Setting:
    number, _, rest = text.partition(" ")
    if rest.startswith("| "):
        return Setting(line, int(number), None, None, frozenset(map(int, rest[2:].split())))
    part = _PART.search(rest)
    location = rest[: part.start()] if part else rest
    value, _, sums = location.strip().partition(" ")
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
    shape: Shape, comments: Comments, constant: Collection[str], first: Mapping[Key, Spot], left_out: Collection[int]
) -> dict[int, Mapping[Key, Spot]]:
    """The known variables before each line that has an instruction. `constant`: registers whose value is known even
    before they are set; `first`: the known variables at the function's begin; `left_out`: variables that do not belong
    to the program.
    """
    items = [[item for item in block if isinstance(item, Line) or item.number not in left_out]
             for block in _items(shape, comments)]  # fmt: skip
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
    by_line: dict[int, Mapping[Key, Spot]] = {}
    for number, block in enumerate(items):
        state = dict(start[number] or {})
        for item in block:
            if isinstance(item, Line):
                by_line.setdefault(item.line, dict(state))
            _step(item, state, names)
    return by_line


class Reached(NamedTuple):
    """The state before a line: `positions`: for variables that report positions of the source, those that the code may
    have reached; `set_at`: for other variables, the positions at which they may have been set, with UNKNOWN if a path
    lacks this information.
    """

    positions: Mapping[int, frozenset[int]]
    set_at: Mapping[int, frozenset[int]]


def reached(
    shape: Shape, comments: Comments, reported_by: Mapping[int, int], is_set: Callable[[int, frozenset[int], int], bool]
) -> dict[int, Reached]:
    """The state before each line that has an instruction. `reported_by`: the variable that reports the position of each
    variable. A comment on a variable belongs to the next reported position; `is_set` decides if it may, given the
    previously reported positions. If not, others have been lost, or LLVM repeats an earlier comment.
    """
    items, reporters = _items(shape, comments), {*reported_by.values()}

    # The state has three kinds of keys: -1 - reporter is for additional positions that may have been reached.
    def step(item: Line | Setting, state: dict[int, frozenset[int]]) -> None:
        if not isinstance(item, Setting):
            return
        if item.number not in reporters:
            state[item.number] = frozenset({_NEXT})
        elif item.more:
            state[-1 - item.number] = state.get(-1 - item.number, frozenset()) | item.more
        else:
            before = state.get(item.number, frozenset())
            now = item.spot.bits if item.spot is not None else UNKNOWN
            state[item.number] = frozenset({now})
            state.pop(-1 - item.number, None)
            for number, known in state.items():
                if _NEXT in known and reported_by.get(number) == item.number:
                    state[number] = known - {_NEXT} | {now if is_set(number, before, now) else UNKNOWN}

    by_line: dict[int, Reached] = {}
    for block, start in zip(items, starts(items, shape.successors, {}, step), strict=True):
        state = dict(start)
        for item in block:
            if isinstance(item, Line) and item.line not in by_line:
                by_line[item.line] = Reached(
                    {each: state[each] | state.get(-1 - each, frozenset()) for each in reporters if each in state},
                    {each: known for each, known in state.items() if each in reported_by},
                )
            step(item, state)
    return by_line


def _items(shape: Shape, comments: Comments) -> list[list[Line | Setting]]:
    """The instructions and comments of each block, in the order of the text. A variable with a comment outside of all
    blocks has no location at all.
    """
    block_of: dict[int, int] = {}
    for number, block in enumerate(shape.blocks):
        for inst in block:
            block_of.setdefault(inst.line, number)
    lines = sorted(block_of)
    before: dict[int, list[Setting]] = {}  # by the line of the instruction that follows
    at_end: dict[int, list[Setting]] = {}  # by block
    lost = set()
    for each in comments.settings:
        at, segment = bisect_right(lines, each.line), comments.segments[each.line]
        if at < len(lines) and comments.segments.get(lines[at]) == segment:
            before.setdefault(lines[at], []).append(each)
        elif at and comments.segments.get(lines[at - 1]) == segment:
            number = block_of[lines[at - 1]]
            # A comment that holds on one of several paths is known on none.
            falls_through = shape.successors[number] == [number + 1]
            at_end.setdefault(number, []).append(each if falls_through else each._replace(spot=None))
        else:
            lost.add(each.number)
    items: list[list[Line | Setting]] = []
    for number, block in enumerate(shape.blocks):
        items.append([])
        for inst in block:
            items[-1] += [*before.pop(inst.line, ()), inst]
        items[-1] += at_end.get(number, ())
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
