"""Which registers of a thread hold a value that is still read, before each instruction.

The usual backward analysis over the whole module: a call leads to the function, its return to what follows each call of
it. An indirect call may lead to any function.
"""

from collections.abc import Iterator

from gpuprof.isa.encoding import PT, reads, writes
from gpuprof.trace.kernel import Code, Instruction

WORDS = {"R": 1, "D": 2}  # 32-bit words; predicates are no words of the register file


def words_of(operands) -> set[int]:
    """Words of the register file; Dn is in words 2n and 2n + 1."""
    found = set()
    for operand in operands:
        size = WORDS.get(operand.file, 0)
        found.update(range(size * operand.index, size * (operand.index + operand.count)))
    return found


def before(instruction: Instruction, after: frozenset[int]) -> frozenset[int]:
    """The words that are live before an instruction, from those after it."""
    encoded = instruction.encoded
    killed = words_of(writes(encoded)) if encoded.guard == PT else set()
    return (after - killed) | words_of(reads(encoded))


def live_words(code: Code) -> list[frozenset[int]]:
    """Of each instruction, by number: the words that are live before it."""
    following = _following(code)
    live: list[frozenset[int]] = [frozenset()] * len(code.instructions)
    waiting = list(range(len(code.basic_blocks)))
    preceding: dict[int, list[int]] = {}
    for block, places in following.items():
        for place in places:
            preceding.setdefault(place, []).append(block)
    while waiting:
        block = code.basic_blocks[waiting.pop()]
        first = block.instructions[0].number
        after = frozenset().union(*(live[_first(code, place)] for place in following[block.index]))
        old = live[first]
        for instruction in reversed(block.instructions):
            after = live[instruction.number] = before(instruction, after)
        if after != old:
            waiting += preceding.get(block.index, ())
    return live


def _first(code: Code, block: int) -> int:
    return code.basic_blocks[block].instructions[0].number


def _following(code: Code) -> dict[int, set[int]]:
    """Blocks that may run after each, through calls and returns."""
    entries = {code.instructions[function.first].basic_block for function in code.functions if function.count}
    found = {block.index: set(block.successors) for block in code.basic_blocks}
    leaving: dict[int, list[int]] = {}
    for block in code.basic_blocks:
        callees = set(block.callees)
        if block.instructions[-1].kind == "call_indirect":
            callees |= entries
        if callees:
            found[block.index] = callees
            for callee in callees:
                if callee not in leaving:
                    leaving[callee] = list(_leaving(code, callee))
                for left in leaving[callee]:
                    found[left] |= set(block.successors)
    return found


def _leaving(code: Code, entry: int) -> Iterator[int]:
    """The blocks that return from the function whose first block is `entry`."""
    waiting, seen = [entry], {entry}
    while waiting:
        block = code.basic_blocks[waiting.pop()]
        if block.instructions[-1].kind == "return":
            yield block.index
        new = set(block.successors) - seen
        seen |= new
        waiting += new
