"""An address that several guarded blocks of LLVM's PTX compute is computed once, in front of the guards, as by nvcc:

    @%p1 bra $L__BB0_2;                      add.s64 %rd5, %rd1, %rd7;
    add.s64 %rd5, %rd1, %rd7;                @%p1 bra $L__BB0_2;
    st.global.b32 [%rd5], %r2;        ->     st.global.b32 [%rd5], %r2;
$L__BB0_2:                               $L__BB0_2:
    @%p2 bra $L__BB0_4;                      @%p2 bra $L__BB0_4;
    add.s64 %rd6, %rd1, %rd7;                st.global.b32 [%rd5+12], %r3;
    st.global.b32 [%rd6+12], %r3;        $L__BB0_4:
$L__BB0_4:

nvcc 13.0 leaves an address that only one block needs after its guard. ptxas 13.0 does not share them.
"""

import re
from collections import Counter
from typing import NamedTuple

from gpuprof.compile.llvm.lineinfo import AT
from gpuprof.isa.flow.dominators import dominators

_FUNCTION = re.compile(r"(?<=^\{\n).*?(?=^\}\n)", re.MULTILINE | re.DOTALL)
_SUM = re.compile(r"\t((?:add\.s64|shl\.b64|mul\.wide\.[su]32) )\t(%rd\d+), (.*);")
_LABEL = re.compile(r"(\$L__BB\w+):.*")
_BRANCH = re.compile(r"\t(@\S+ )?bra(?:\.uni)? \t(\$\w+);.*")
_LEAVES = re.compile(r"\t(?:ret|exit|trap);.*")
_WRITTEN = re.compile(r"\t[^\t@]+\t(%\w+), ")
_REGISTER = re.compile(r"%\w+")
_ASM = re.compile(r"// begin inline asm\n.*?// end inline asm", re.DOTALL)
_OTHER_WAYS = re.compile(r"\bbrx\.|^\s*(?!\$L__BB)[\w$]+:", re.MULTILINE)  # jumps by table, labels in inline assembly


class _Block(NamedTuple):
    first: int  # its lines
    end: int
    successors: list[int]


class _Place(NamedTuple):
    block: int
    line: int
    register: str


def share_addresses(ptx: str) -> str:
    return _FUNCTION.sub(lambda function: _shared(function[0]), ptx)


def _shared(function: str) -> str:
    """One function's text, round by round: sums of shared sums are equal then."""
    if _OTHER_WAYS.search(function):
        return function
    while (changed := _shared_once(function)) is not None:
        function = changed
    return function


def _shared_once(function: str) -> str | None:
    lines = function.splitlines()
    several = _written_again(function)
    equal: dict[tuple[str, str], list[int]] = {}
    for number, line in enumerate(lines):
        match = _SUM.fullmatch(line)
        if match and several.isdisjoint(_REGISTER.findall(line)):
            equal.setdefault((match[1], match[3]), []).append(number)
    groups = [numbers for numbers in equal.values() if len(numbers) > 1]
    if not groups:
        return None
    blocks = _blocks(lines)
    above = dominators([block.successors for block in blocks])
    block_of = {number: index for index, block in enumerate(blocks) for number in range(block.first, block.end)}
    moves = []
    for numbers in groups:
        places = [_Place(block_of[number], number, _SUM.fullmatch(lines[number])[2]) for number in numbers]
        home = _home(blocks, places, above)
        if home is not None:
            moves.append((blocks[home], places))
    return _moved(lines, moves) if moves else None


def _written_again(function: str) -> set[str]:
    """Registers that may be written more than once: LLVM writes the others before all their readers."""
    count = Counter(match[1] for line in function.splitlines() if (match := _WRITTEN.match(line)))
    return {register for register, n in count.items() if n > 1} | {
        register for asm in _ASM.findall(function) for register in _REGISTER.findall(asm)
    }


def _blocks(lines: list[str]) -> list[_Block]:
    starts = [0]
    for number, line in enumerate(lines):
        if _LABEL.fullmatch(line):
            starts.append(number)
        elif _BRANCH.fullmatch(line) or _LEAVES.fullmatch(line):
            starts.append(number + 1)
    starts = sorted(set(starts) - {len(lines)})
    ends = [*starts[1:], len(lines)]
    at = {label[1]: index for index, start in enumerate(starts) if (label := _LABEL.fullmatch(lines[start]))}
    blocks = []
    for index, (start, end) in enumerate(zip(starts, ends, strict=True)):
        branch = _BRANCH.fullmatch(lines[end - 1])
        successors = [at[branch[2]]] if branch else []
        falls = not (_LEAVES.fullmatch(lines[end - 1]) or (branch and not branch[1]))
        blocks.append(_Block(start, end, successors + [index + 1] * (falls and end < len(lines))))
    return blocks


def _home(blocks: list[_Block], places: list[_Place], above: dict[int, int]) -> int | None:
    """The nearest block that leads to all places; None where it is one of them, or in a loop that one is not in."""
    if any(place.block not in above for place in places):
        return None
    chains = [_chain(place.block, above) for place in places]
    home = next(block for block in chains[0] if all(block in chain for chain in chains))
    if any(place.block == home for place in places):
        return None
    back = _leading_to(home, blocks)
    turns = any(successor in back for successor in blocks[home].successors)
    return None if turns and any(place.block not in back for place in places) else home


def _chain(block: int, above: dict[int, int]) -> list[int]:
    chain = [block]
    while above[chain[-1]] != chain[-1]:
        chain.append(above[chain[-1]])
    return chain


def _leading_to(target: int, blocks: list[_Block]) -> set[int]:
    """Blocks from which some path leads to the target; the target itself is one if a path leads out of it and back."""
    before: dict[int, list[int]] = {}
    for index, block in enumerate(blocks):
        for successor in block.successors:
            before.setdefault(successor, []).append(index)
    leading, todo = {target}, [target]
    while todo:
        for index in before.get(todo.pop(), ()):
            if index not in leading:
                leading.add(index)
                todo.append(index)
    return leading


def _moved(lines: list[str], moves: list[tuple[_Block, list[_Place]]]) -> str:
    """The text with the first of equal sums at the end of its new block, with its `.loc`, and without the others."""
    moved: dict[int, list[str]] = {}  # by the line before which they are put
    renamed: dict[str, str] = {}
    gone: set[int] = set()
    for home, (first, *others) in moves:
        end = home.end - bool(_BRANCH.fullmatch(lines[home.end - 1]))
        moved.setdefault(end, []).extend([*_location(lines, first.line), lines[first.line]])
        renamed |= {place.register: first.register for place in others}
        gone |= {place.line for place in (first, *others)}
    result = []
    for number, line in enumerate([*lines, ""]):
        if number in moved:
            result += [*moved[number], *_location(lines, number)]
        if number not in gone:
            result.append(line)
    return _REGISTER.sub(lambda found: renamed.get(found[0], found[0]), "\n".join(result))


def _location(lines: list[str], number: int) -> list[str]:
    """The `.loc` that holds at a line, if any, with its scopes."""
    line = next((at for at in range(number - 1, -1, -1) if lines[at].startswith("\t.loc")), None)
    return [] if line is None else lines[line : line + 1 + lines[line + 1].startswith(AT)]
