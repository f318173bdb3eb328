"""The locations of variables of optimized code before each line of the PTX, from the facts that `compile.variables` has
recorded: the last assignment that holds on every path to the line.
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
_NEXT = -2  # the next reported position

Part = tuple[int, int] | None  # first bit and number of bits of a piece of a variable; None for all of it
Key = tuple[int, Part]


class Spot(NamedTuple):
    """`register`: of the PTX, without %; "" for a number, which is `bits`. `sums`: operations on its value: add,
    subtract or multiply by a number.
    """

    register: str
    bits: int
    sums: tuple[tuple[str, int], ...]


class Assignment(NamedTuple):
    """From `line` on, the variable is in `spot`; None for nowhere. `segment`: the label above, as the number of its
    line, or 0. `more`: additional positions that the code may have reached, for variables that report positions; their
    spot does not change.
    """

    line: int
    segment: int
    number: int
    part: Part
    spot: Spot | None
    more: frozenset[int] = frozenset()


Scopes = tuple[tuple[int, int], ...]  # scope and inlined call of each function around a line, the innermost first


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
    spot_text = location[: part.start()] if part else location
    value, _, sums = spot_text.strip().partition(" ")
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
    """The known variables before each line that has an instruction. `constant`: registers whose value is known even
    before they are set; `first`: the known variables at the function's begin; `left_out`: variables that do not belong
    to the program.
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
    shape: Shape,
    variables: FunctionVariables,
    reported_by: Mapping[int, int],
    is_set: Callable[[int, frozenset[int], int], bool],
) -> dict[int, Reached]:
    """The state before each line that has an instruction. `reported_by`: the variable that reports the position of each
    variable. An assignment to a variable belongs to the next reported position; `is_set` decides if it may, given the
    previously reported positions. If not, others have been lost, or LLVM repeats an earlier record.
    """
    items, reporters = _items(shape, variables), {*reported_by.values()}

    # The state has three kinds of keys: -1 - reporter is for additional positions that may have been reached.
    def step(item: Line | Assignment, state: dict[int, frozenset[int]]) -> None:
        if not isinstance(item, Assignment):
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


def _items(shape: Shape, variables: FunctionVariables) -> list[list[Line | Assignment]]:
    """The instructions and assignments of each block, in the order of the text. A variable with an assignment outside
    of all blocks has no location at all.
    """
    block_of: dict[int, int] = {}
    for number, block in enumerate(shape.blocks):
        for inst in block:
            block_of.setdefault(inst.line, number)
    lines = sorted(block_of)
    before: dict[int, list[Assignment]] = {}  # by the line of the instruction that follows
    at_end: dict[int, list[Assignment]] = {}  # by block
    lost = set()
    for each in variables.assignments:
        at = bisect_left(lines, each.line)
        if at < len(lines) and variables.segments.get(lines[at]) == each.segment:
            before.setdefault(lines[at], []).append(each)
        elif at and variables.segments.get(lines[at - 1]) == each.segment:
            number = block_of[lines[at - 1]]
            # An assignment that holds on one of several paths is known on none.
            falls_through = shape.successors[number] == [number + 1]
            at_end.setdefault(number, []).append(each if falls_through else each._replace(spot=None))
        else:
            lost.add(each.number)
    items: list[list[Line | Assignment]] = []
    for number, block in enumerate(shape.blocks):
        items.append([])
        for inst in block:
            items[-1] += [*before.pop(inst.line, ()), inst]
        items[-1] += at_end.get(number, ())
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
