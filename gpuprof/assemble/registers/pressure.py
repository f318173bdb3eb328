"""The order of a region that keeps the fewest registers alive, and how many these are."""

from heapq import heapify, heappop, heappush

from gpuprof.assemble.registers.dependences import Dependences
from gpuprof.assemble.registers.scratch import SCRATCH_WORDS
from gpuprof.isa.opcodes import TABLE

SCRATCH = [SCRATCH_WORDS.get(row.number, 0) for row in TABLE]


def pressure(graph: Dependences, order: list[int]) -> list[int]:
    """Words that are live after each instruction of an order, with what it needs for itself while it runs."""
    words = graph.words_before
    left = [len(readers) for readers in graph.readers]
    found = []
    for index in order:
        for value in graph.reads[index]:
            left[value] -= 1
            if not left[value] and not graph.stays[value]:
                words -= graph.words[value]
        # A result that nobody reads still needs its place for a moment.
        passing = 0
        for value in graph.makes[index]:
            if left[value] or graph.stays[value]:
                words += graph.words[value]
            else:
                passing += graph.words[value]
        found.append(words + passing + SCRATCH[graph.region[index].op.number])
    return found


def lowest_order(graph: Dependences) -> list[int]:
    """The order of least pressure that was found: the one that stands, or one from the end to the front in which each
    step takes what frees most.
    """
    standing = list(range(len(graph.region)))
    found = _from_the_end(graph)
    return min(standing, found, key=lambda order: max(pressure(graph, order)))


def _from_the_end(graph: Dependences) -> list[int]:
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
    placed = [False] * n
    ready = [(change[i], -i) for i in range(n) if not waiting[i]]
    heapify(ready)
    order: list[int] = []
    while ready:
        words, index = heappop(ready)
        index = -index
        if placed[index] or words != change[index]:
            continue  # it stands there again with what it changes now
        placed[index] = True
        order.append(index)
        for value in graph.reads[index]:
            if not alive[value]:
                alive[value] = True
                for reader in graph.readers[value]:
                    change[reader] -= graph.words[value]
                    if not waiting[reader] and not placed[reader]:
                        heappush(ready, (change[reader], -reader))
        for earlier in before[index]:
            waiting[earlier] -= 1
            if not waiting[earlier]:
                heappush(ready, (change[earlier], -earlier))
    order.reverse()
    return order
