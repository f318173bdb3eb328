"""The order of a region that keeps the fewest registers alive, and how many these are."""

from collections.abc import Callable
from heapq import heapify, heappop, heappush

from gpuprof.assemble.registers.allocate import RESERVED_WORDS
from gpuprof.assemble.registers.dependences import Dependences


def pressure(graph: Dependences, order: list[int]) -> list[int]:
    """Words that are live after each instruction of an order, with what it needs for itself while it runs."""
    reads, makes, widths, stays, scratch = graph.reads, graph.makes, graph.words, graph.stays, graph.scratch
    words = graph.words_before
    # A value that stays is read once more, after the region.
    left = [len(readers) + stay for readers, stay in zip(graph.readers, stays, strict=True)]
    live_words = []
    for index in order:
        for value in reads[index]:
            left[value] -= 1
            if not left[value]:
                words -= widths[value]
        # A result that is never read still needs its place for a moment.
        passing = scratch[index]
        for value in makes[index]:
            if left[value]:
                words += widths[value]
            else:
                passing += widths[value]
        live_words.append(words + passing)
    return live_words


def lowest_order(graph: Dependences, free_registers: int) -> tuple[list[int], list[int]]:
    """The order of least pressure that was found, and the pressure along it: the present one, or one from the end to
    the front in which each step takes what frees most. Of equals it takes the last in the text. Where that needs more
    than `free_registers`, two more are tried: of equals first what lets go of its operands soonest, and then the last
    in the text or what could be taken last, which goes down a tree branch by branch.
    """
    standing = list(range(len(graph.region)))
    lowest = _lower(graph, [standing, _last_in_text(graph)])
    if max(lowest[1]) <= free_registers - RESERVED_WORDS:
        return lowest
    distance = _instructions_to_makers(graph)
    return _lower(graph, [lowest[0], *(_from_the_end(graph, distance, latest) for latest in (False, True))])


def _lower(graph: Dependences, orders: list[list[int]]) -> tuple[list[int], list[int]]:
    """The order of less pressure, the earlier of equals, and the words that are live along it."""
    return min(((order, pressure(graph, order)) for order in orders), key=lambda each: max(each[1]))


# How far an instruction is from letting go of its operands: by its index, a bit set of the instructions that are not
# placed yet, and of each value whether it is live.
_Distance = Callable[[int, int, list[bool]], int]


def _instructions_to_makers(graph: Dependences) -> _Distance:
    """The distance is the number of instructions that have to be placed before all operands that this one makes live
    are made. So of several sums that share operands, as those of a convolution do, all reach a shared operand before
    one continues.
    """
    from_there = [0] * len(graph.region)  # bit sets: an instruction, and all that must come after it
    for index in range(len(from_there) - 1, -1, -1):
        bits = 1 << index
        for successor, _ in graph.successors[index]:
            bits |= from_there[successor]
        from_there[index] = bits
    after_maker = {value: from_there[index] for index, made in enumerate(graph.makes) for value in made}
    sources = [[(v, after_maker[v]) for v in reads if v in after_maker] for reads in graph.reads]

    def distance(index: int, left: int, alive: list[bool]) -> int:
        longest = 0
        for value, bits in sources[index]:
            if not alive[value]:
                n = (bits & left).bit_count()
                if n > longest:
                    longest = n
        return longest

    return distance


class _Backwards:
    """The start of an order from the end to the front."""

    def __init__(self, graph: Dependences):
        n = len(graph.region)
        self.before: list[list[int]] = [[] for _ in range(n)]
        self.waiting = [len(successors) for successors in graph.successors]
        for index, successors in enumerate(graph.successors):
            for successor, _ in successors:
                self.before[successor].append(index)
        self.alive = list(graph.stays)
        # Words that begin to live when this is put in front of what is placed, less those that end.
        words = graph.words
        absent = [0 if stays else width for width, stays in zip(words, graph.stays, strict=True)]
        self.change = [
            sum([absent[v] for v in reads]) - sum([words[v] for v in makes])
            for reads, makes in zip(graph.reads, graph.makes, strict=True)
        ]


def _last_in_text(graph: Dependences) -> list[int]:
    """Takes what frees most, and of equals the last in the text."""
    start = _Backwards(graph)
    before, waiting, alive, change = start.before, start.waiting, start.alive, start.change
    n = len(change)
    # An entry is one number: the words, and then what comes first of equals.
    entries = [n - index for index in range(n)]
    ready = [change[i] * (n + 1) + entries[i] for i in range(n) if not waiting[i]]
    heapify(ready)
    placed = [False] * n
    order: list[int] = []
    while ready:
        words, index = divmod(heappop(ready), n + 1)
        index = n - index
        if placed[index] or words != change[index]:
            continue  # it is there again with what it changes now
        placed[index] = True
        order.append(index)
        for value in graph.reads[index]:
            if not alive[value]:
                alive[value] = True
                width = graph.words[value]
                for reader in graph.readers[value]:
                    change[reader] -= width
                    if not waiting[reader] and not placed[reader]:
                        heappush(ready, change[reader] * (n + 1) + entries[reader])
        for earlier in before[index]:
            waiting[earlier] -= 1
            if not waiting[earlier]:
                heappush(ready, change[earlier] * (n + 1) + entries[earlier])
    order.reverse()
    return order


def _from_the_end(graph: Dependences, distance: _Distance, latest_first: bool) -> list[int]:
    """Takes what frees most, and of equals the nearest. `latest_first`: of equals, what could be taken last comes
    first; else the last in the text.
    """
    start = _Backwards(graph)
    before, waiting, alive, change = start.before, start.waiting, start.alive, start.change
    left = (1 << len(change)) - 1  # bit set: not placed yet
    order: list[int] = []

    def entry(index: int) -> tuple[int, int, int, int]:
        return change[index], distance(index, left, alive), -len(order) if latest_first else 0, -index

    ready = [entry(i) for i in range(len(change)) if not waiting[i]]
    heapify(ready)
    while ready:
        words, _, _, index = heappop(ready)
        index = -index
        if not left >> index & 1 or words != change[index]:
            continue  # it is there again with what it changes now
        left ^= 1 << index
        order.append(index)
        for value in graph.reads[index]:
            if not alive[value]:
                alive[value] = True
                for reader in graph.readers[value]:
                    change[reader] -= graph.words[value]
                    if not waiting[reader] and left >> reader & 1:
                        heappush(ready, entry(reader))
        for earlier in before[index]:
            waiting[earlier] -= 1
            if not waiting[earlier]:
                heappush(ready, entry(earlier))
    order.reverse()
    return order
