"""The order of a region that keeps the fewest registers alive, and how many these are."""

from collections.abc import Callable
from heapq import heapify, heappop, heappush

from gpuprof.assemble.registers.allocate import RESERVED_WORDS, SCRATCH_WORDS
from gpuprof.assemble.registers.dependences import Dependences
from gpuprof.isa.opcodes import TABLE

SCRATCH = [SCRATCH_WORDS.get(row.number, 0) for row in TABLE]


def pressure(graph: Dependences, order: list[int]) -> list[int]:
    """Words that are live after each instruction of an order, with what it needs for itself while it runs."""
    words = graph.words_before
    left = [len(readers) for readers in graph.readers]
    live_words = []
    for index in order:
        for value in graph.reads[index]:
            left[value] -= 1
            if not left[value] and not graph.stays[value]:
                words -= graph.words[value]
        # A result that is never read still needs its place for a moment.
        passing = 0
        for value in graph.makes[index]:
            if left[value] or graph.stays[value]:
                words += graph.words[value]
            else:
                passing += graph.words[value]
        live_words.append(words + passing + SCRATCH[graph.region[index].op.number])
    return live_words


def lowest_order(graph: Dependences, free_registers: int) -> list[int]:
    """The order of least pressure that was found: the present one, or one from the end to the front in which each
    step takes what frees most. Of equals it takes the last in the text. Where that needs more than `free_registers`,
    two more are tried: of equals first what lets go of its operands soonest, and then the last in the text or what
    could be taken last, which goes down a tree branch by branch.
    """
    standing = list(range(len(graph.region)))
    lowest, words = _lower(graph, [standing, _from_the_end(graph, _all_alike, False)])
    if words <= free_registers - RESERVED_WORDS:
        return lowest
    distance = _instructions_to_makers(graph)
    return _lower(graph, [lowest, *(_from_the_end(graph, distance, latest) for latest in (False, True))])[0]


def _lower(graph: Dependences, orders: list[list[int]]) -> tuple[list[int], int]:
    """The order of less pressure, the earlier of equals, and the most words that are live along it."""
    most = [max(pressure(graph, order)) for order in orders]
    return orders[most.index(min(most))], min(most)


# How far an instruction is from letting go of its operands: by its index, a bit set of the placed instructions, and of
# each value whether it is live.
_Distance = Callable[[int, int, list[bool]], int]


def _all_alike(index: int, placed: int, alive: list[bool]) -> int:
    return 0


def _instructions_to_makers(graph: Dependences) -> _Distance:
    """The distance is the number of instructions that have to be placed before all operands that this one makes live
    are made. So of several sums that share operands, as those of a convolution do, all reach a shared operand before
    one continues.
    """
    behind = [0] * len(graph.region)  # bit sets: an instruction, and all that must come after it
    for index in range(len(behind) - 1, -1, -1):
        bits = 1 << index
        for successor, _ in graph.successors[index]:
            bits |= behind[successor]
        behind[index] = bits
    behind_maker = {value: behind[index] for index, made in enumerate(graph.makes) for value in made}

    def distance(index: int, placed: int, alive: list[bool]) -> int:
        to_come = [behind_maker[v] & ~placed for v in graph.reads[index] if v in behind_maker and not alive[v]]
        return max([bits.bit_count() for bits in to_come], default=0)

    return distance


def _from_the_end(graph: Dependences, distance: _Distance, latest_first: bool) -> list[int]:
    """`latest_first`: of equals, what could be taken last comes first."""
    n = len(graph.region)
    before: list[list[int]] = [[] for _ in range(n)]
    waiting = [0] * n
    for index, successors in enumerate(graph.successors):
        waiting[index] = len(successors)
        for successor, _ in successors:
            before[successor].append(index)
    alive = list(graph.stays)
    # Words that begin to live when this is put in front of what is placed, less those that end.
    change = [
        sum(graph.words[v] for v in graph.reads[i] if not alive[v]) - sum(graph.words[v] for v in graph.makes[i])
        for i in range(n)
    ]
    placed = 0
    order: list[int] = []

    def entry(index: int) -> tuple[int, int, int, int]:
        return change[index], distance(index, placed, alive), -len(order) if latest_first else 0, -index

    ready = [entry(i) for i in range(n) if not waiting[i]]
    heapify(ready)
    while ready:
        words, _, _, index = heappop(ready)
        index = -index
        if placed >> index & 1 or words != change[index]:
            continue  # it is there again with what it changes now
        placed |= 1 << index
        order.append(index)
        for value in graph.reads[index]:
            if not alive[value]:
                alive[value] = True
                for reader in graph.readers[value]:
                    change[reader] -= graph.words[value]
                    if not waiting[reader] and not placed >> reader & 1:
                        heappush(ready, entry(reader))
        for earlier in before[index]:
            waiting[earlier] -= 1
            if not waiting[earlier]:
                heappush(ready, entry(earlier))
    order.reverse()
    return order
