"""Which registers of a thread hold a value that is still read, before each instruction.

The usual backward analysis over a whole module: a call leads to the function, its return to what follows each call of
it. An indirect call may lead to any function.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from gpuprof.isa.encoding import PT, Instruction, Operand, reads, writes

WORDS = {"R": 1, "D": 2}  # 32-bit words; predicates are no words of the register file


class Block(NamedTuple):
    """A basic block. `successors` and `callees` are numbers of blocks: of the same function, and where others begin."""

    instructions: Sequence[Instruction]
    successors: Collection[int]
    callees: Collection[int]


def words_of(operands: Iterator[Operand]) -> set[int]:
    """Words of the register file; Dn is in words 2n and 2n + 1."""
    found = set()
    for operand in operands:
        size = WORDS.get(operand.file, 0)
        found.update(range(size * operand.index, size * (operand.index + operand.count)))
    return found


def before(instruction: Instruction, after: frozenset[int]) -> frozenset[int]:
    """The words that are live before an instruction, from those after it."""
    killed = words_of(writes(instruction)) if instruction.guard == PT else set()
    return (after - killed) | words_of(reads(instruction))


def live_words(blocks: Sequence[Block], entries: Collection[int]) -> list[frozenset[int]]:
    """Of each instruction of the blocks, in their order: the words that are live before it. `entries`: the blocks that
    functions begin with.
    """
    live = [[frozenset()] * len(block.instructions) for block in blocks]
    following = _following(blocks, entries)
    preceding: dict[int, list[int]] = {}
    for number, places in enumerate(following):
        for place in places:
            preceding.setdefault(place, []).append(number)
    waiting = list(range(len(blocks)))
    while waiting:
        number = waiting.pop()
        after = frozenset().union(*(live[place][0] for place in following[number]))
        old = live[number][0]
        for place in reversed(range(len(blocks[number].instructions))):
            after = live[number][place] = before(blocks[number].instructions[place], after)
        if after != old:
            waiting += preceding.get(number, ())
    return [words for of_block in live for words in of_block]


def _following(blocks: Sequence[Block], entries: Collection[int]) -> list[set[int]]:
    """Blocks that may run after each, through calls and returns."""
    found = [set(block.successors) for block in blocks]
    leaving: dict[int, list[int]] = {}
    for number, block in enumerate(blocks):
        callees = set(block.callees)
        if block.instructions[-1].op.kind == "call_indirect":
            callees |= set(entries)
        if callees:
            found[number] = callees
            for callee in callees:
                if callee not in leaving:
                    leaving[callee] = list(_leaving(blocks, callee))
                for left in leaving[callee]:
                    found[left] |= set(block.successors)
    return found


def _leaving(blocks: Sequence[Block], entry: int) -> Iterator[int]:
    """The blocks that return from the function whose first block is `entry`."""
    waiting, seen = [entry], {entry}
    while waiting:
        number = waiting.pop()
        if blocks[number].instructions[-1].op.kind == "return":
            yield number
        new = set(blocks[number].successors) - seen
        seen |= new
        waiting += new
