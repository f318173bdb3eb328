"""The registers of a thread that hold a value that is still read, before each instruction.

The usual backward analysis over a whole module: a call leads to the function, its return to what follows each call of
it. An indirect call may lead to any function. Time is linear in the code, but for values that live through many loops.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from gpuprof.isa.encoding import PT, Instruction, Operand, reads, writes

WORDS = {"R": 1, "D": 2}  # 32-bit words; predicates are no words of the register file


class Block(NamedTuple):
    """A basic block. `successors` and `callees` are numbers of blocks: of the same function, and where others begin.
    `function`: its number; blocks that belong to none may share one.
    """

    instructions: Sequence[Instruction]
    successors: Collection[int]
    callees: Collection[int]
    function: int


class Step(NamedTuple):
    """The effect of a block, or of a join of paths, on the words that are live after it: bit n is word n."""

    read: int  # before they are written
    written: int


JOINS = Step(0, 0)


def words_of(operands: Iterable[Operand]) -> int:
    """Words of the register file as bits; Dn is in words 2n and 2n + 1."""
    words = 0
    for operand in operands:
        size = WORDS.get(operand.file, 0)
        words |= ((1 << size * operand.count) - 1) << size * operand.index
    return words


def step_of(instruction: Instruction) -> Step:
    return Step(words_of(reads(instruction)), words_of(writes(instruction)) if instruction.guard == PT else 0)


def before(step: Step, after: int) -> int:
    """The words that are live before a step, from those after it."""
    return after & ~step.written | step.read


def live_words(blocks: Sequence[Block], entries: Collection[int]) -> list[int]:
    """The words that are live before each instruction of the blocks, in their order, as bits. `entries`: the
    blocks that functions begin with.
    """
    steps = [[step_of(instruction) for instruction in block.instructions] for block in blocks]
    following = _following(blocks, entries)
    live = _live_before([_joined(some) for some in steps] + [JOINS] * (len(following) - len(blocks)), following)
    found: list[int] = []
    for of_block, places in zip(steps, following, strict=False):
        after, words = _union(live, places), []
        for step in reversed(of_block):
            after = before(step, after)
            words.append(after)
        found += reversed(words)
    return found


def _joined(steps: Sequence[Step]) -> Step:
    read = written = 0
    for step in reversed(steps):
        read, written = before(step, read), written | step.written
    return Step(read, written)


def _union(live: Sequence[int], places: Iterable[int]) -> int:
    words = 0
    for location in places:
        words |= live[location]
    return words


def _live_before(steps: Sequence[Step], following: Sequence[Collection[int]]) -> list[int]:
    preceding: list[list[int]] = [[] for _ in steps]
    for number, places in enumerate(following):
        for location in places:
            preceding[location].append(number)
    live = [0] * len(steps)
    waiting = list(range(len(steps)))
    while waiting:
        number = waiting.pop()
        words = before(steps[number], _union(live, following[number]))
        if words != live[number]:
            live[number] = words
            waiting += preceding[number]
    return live


def _following(blocks: Sequence[Block], entries: Collection[int]) -> list[set[int]]:
    """The blocks that may run after each block, through calls and returns. After the blocks follow joins of paths:
    where each function may return to, any function, and where any may return to.
    """
    following = [set(block.successors) for block in blocks]
    returned_to = {function: len(blocks) + n for n, function in enumerate(dict.fromkeys(b.function for b in blocks))}
    anywhere = len(blocks) + len(returned_to)
    after_any = anywhere + 1
    following += [{after_any} for _ in returned_to] + [set(entries), set()]
    for number, block in enumerate(blocks):
        kind = block.instructions[-1].op.kind
        if kind == "call_indirect":
            following[number] = {anywhere}
            following[after_any] |= set(block.successors)
        elif block.callees:
            following[number] = set(block.callees)
            for callee in block.callees:
                following[returned_to[blocks[callee].function]] |= set(block.successors)
        elif kind == "return":
            following[number] = {*block.successors, returned_to[block.function]}
    return following
