"""Where the variables of optimized code are before each line of the PTX, by the facts that `compile.variables` has
recorded: the last setting on every path to the line.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from gpuprof.assemble.debug_registers import Line, Shape, starts
from gpuprof.isa.facts import Setting, VariableFacts

_HEAD = re.compile(r"\.(?:entry|func)\b.*?([\w$]+)\($")
_LABEL = re.compile(r"^(\$[\w$]+):")
_SUM = re.compile(r"([-+*]) (-?\d+)")
_PART = re.compile(r"@(\d+):(\d+)$")

UNKNOWN = -1  # as a position
_NEXT = -2  # the position that is told next

Part = tuple[int, int] | None  # first bit and number of bits of a piece of a variable; None for all of it
Key = tuple[int, Part]


class Spot(NamedTuple):
    """`register`: of the PTX, without %; "" for a number, which is `bits`. `sums`: what is added, subtracted or
    multiplied then.
    """

    register: str
    bits: int
    sums: tuple[tuple[str, int], ...]


class Assignment(NamedTuple):
    """From `line` on, a variable is in `spot`; None for nowhere. `segment`: the label above, as the number of its line,
    or 0. `more`: other positions that the code may have reached, for a variable that gives the position, which is then
    where it was.
    """

    line: int
    segment: int
    number: int
    part: Part
    spot: Spot | None
    more: frozenset[int] = frozenset()


Scopes = tuple[tuple[int, int], ...]  # scope and inlined call of each function around a place, the innermost first


@dataclass
class FunctionVariables:
    """The variables of one function. `segments`: by line, the label above it, as the number of its line. `scopes`: by
    line.
    """

    assignments: list[Assignment] = field(default_factory=list)
    segments: dict[int, int] = field(default_factory=dict)
    labels: dict[str, int] = field(default_factory=dict)
    scopes: dict[int, Scopes] = field(default_factory=dict)

    @property
    def registers(self) -> set[str]:
        return {each.spot.register for each in self.assignments if each.spot} - {""}


def by_function(lines: Sequence[str], facts: VariableFacts) -> dict[str, FunctionVariables]:
    """The functions that have some, by their symbols. `lines`: the PTX."""
    settings: dict[int, list[Setting]] = {}
    for setting in facts.settings:
        settings.setdefault(setting.line, []).append(setting)
    changes = {change.line: change.around for change in facts.scopes}
    functions: dict[str, FunctionVariables] = {}
    here, name, segment, scopes = FunctionVariables(), "", 0, ()
    for number, line in enumerate(lines, 1):
        here.assignments += [_assignment(setting, segment) for setting in settings.get(number, ())]
        scopes = changes.get(number, scopes)
        if head := _HEAD.search(line):
            name, here, segment, scopes = head[1], FunctionVariables(), 0, ()
        elif line == "}":
            if name and here.assignments:
                functions[name] = here
            name = ""
        elif line.startswith("\t.loc\t"):
            scopes = ()
        elif label := _LABEL.match(line):
            segment = here.labels[label[1]] = number
        here.segments[number], here.scopes[number] = segment, scopes
    return functions


def _assignment(setting: Setting, segment: int) -> Assignment:
    line, variable, location = setting
    if location.startswith("| "):
        return Assignment(line, segment, variable, None, None, frozenset(map(int, location[2:].split())))
    part = _PART.search(location)
    place = location[: part.start()] if part else location
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
    return Assignment(line, segment, variable, (int(part[1]), int(part[2])) if part else None, spot)


def assigned(
    shape: Shape,
    variables: FunctionVariables,
    constant: Collection[str],
    first: Mapping[Key, Spot],
    left_out: Collection[int],
) -> dict[int, Mapping[Key, Spot]]:
    """What is known in front of each line that has an instruction. `constant`: registers whose value is known also
    where nobody has set them yet; `first`: what is known where the function begins; `left_out`: variables that are
    none of the program's.
    """
    items = [[item for item in block if isinstance(item, Line) or item.number not in left_out]
             for block in _items(shape, variables)]  # fmt: skip
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


class Reached(NamedTuple):
    """In front of a line: of variables that tell positions of the source, those that the code may have come to; of
    others, those at which they may have been set: UNKNOWN is among them where nobody says.
    """

    positions: Mapping[int, frozenset[int]]
    set_at: Mapping[int, frozenset[int]]


def reached(
    shape: Shape,
    variables: FunctionVariables,
    told_by: Mapping[int, int],
    is_set: Callable[[int, frozenset[int], int], bool],
) -> dict[int, Reached]:
    """By line that has an instruction. `told_by`: of variables, which one tells their position. What is said of a
    variable belongs to the position that is told next; `is_set` says whether it may, from some that were told before.
    If not so, others have been lost, or LLVM says again what was so once.
    """
    items, tellers = _items(shape, variables), {*told_by.values()}

    # The state has three kinds of keys: -1 - teller for what it may have come to, too.
    def step(item: Line | Assignment, state: dict[int, frozenset[int]]) -> None:
        if not isinstance(item, Assignment):
            return
        if item.number not in tellers:
            state[item.number] = frozenset({_NEXT})
        elif item.more:
            state[-1 - item.number] = state.get(-1 - item.number, frozenset()) | item.more
        else:
            before = state.get(item.number, frozenset())
            now = item.spot.bits if item.spot is not None else UNKNOWN
            state[item.number] = frozenset({now})
            state.pop(-1 - item.number, None)
            for number, known in state.items():
                if _NEXT in known and told_by.get(number) == item.number:
                    state[number] = known - {_NEXT} | {now if is_set(number, before, now) else UNKNOWN}

    found: dict[int, Reached] = {}
    for block, start in zip(items, starts(items, shape.successors, {}, step), strict=True):
        state = dict(start)
        for item in block:
            if isinstance(item, Line) and item.line not in found:
                found[item.line] = Reached(
                    {each: state[each] | state.get(-1 - each, frozenset()) for each in tellers if each in state},
                    {each: known for each, known in state.items() if each in told_by},
                )
            step(item, state)
    return found


def _items(shape: Shape, variables: FunctionVariables) -> list[list[Line | Assignment]]:
    """For each block its instructions and assignments, in the order of the text. A variable with an assignment outside
    all blocks is nowhere.
    """
    block_of: dict[int, int] = {}
    for number, block in enumerate(shape.blocks):
        for inst in block:
            block_of.setdefault(inst.line, number)
    lines = sorted(block_of)
    before: dict[int, list[Assignment]] = {}  # by the line of the instruction that follows
    behind: dict[int, list[Assignment]] = {}  # by block
    lost = set()
    for each in variables.assignments:
        at = bisect_left(lines, each.line)
        if at < len(lines) and variables.segments.get(lines[at]) == each.segment:
            before.setdefault(lines[at], []).append(each)
        elif at and variables.segments.get(lines[at - 1]) == each.segment:
            number = block_of[lines[at - 1]]
            # What holds on one of several ways is known on none.
            goes_on = shape.successors[number] == [number + 1]
            behind.setdefault(number, []).append(each if goes_on else each._replace(spot=None))
        else:
            lost.add(each.number)
    items: list[list[Line | Assignment]] = []
    for number, block in enumerate(shape.blocks):
        items.append([])
        for inst in block:
            items[-1] += [*before.pop(inst.line, ()), inst]
        items[-1] += behind.get(number, ())
    return [
        [item._replace(spot=None) if isinstance(item, Assignment) and item.number in lost else item for item in block]
        for block in items
    ]


def _step(item: Line | Assignment, state: dict[Key, Spot], names: Mapping[int, str]) -> None:
    if isinstance(item, Line):
        written = {names.get(register) for register in item.writes}
        gone = [key for key, spot in state.items() if spot.register in written]
    else:
        gone = [key for key in state if key[0] == item.number and _overlap(key[1], item.part)]
    for key in gone:
        del state[key]
    if isinstance(item, Assignment) and item.spot is not None:
        state[item.number, item.part] = item.spot


def _overlap(one: Part, other: Part) -> bool:
    return one is None or other is None or (one[0] < sum(other) and other[0] < sum(one))
