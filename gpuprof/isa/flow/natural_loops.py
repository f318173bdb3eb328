"""The loops of a function: Aho, Sethi and Ullman's natural loops, of its graph of basic blocks."""

from typing import NamedTuple

from gpuprof.isa.flow.dominators import dominators
from gpuprof.isa.flow.graph import Graph


class NaturalLoop(NamedTuple):
    """header: the block that every way into the loop goes through. blocks: of the loop, inner loops' and the header
    among them.
    """

    header: int
    blocks: frozenset[int]


def natural_loops(graph: Graph, entry: int) -> list[NaturalLoop]:
    """The loops of the function that block `entry` begins, by their headers. Edges back to one header make one loop. An
    edge back to a block that can be gone around makes none.
    """
    following = _following(graph, entry)
    above = dominators(following, entry)
    preceding: dict[int, list[int]] = {block: [] for block in following}
    latches: dict[int, list[int]] = {}
    for block, successors in following.items():
        for successor in successors:
            preceding[successor].append(block)
            if _dominates(successor, block, above):
                latches.setdefault(successor, []).append(block)
    return [NaturalLoop(header, _blocks(header, latches[header], preceding)) for header in sorted(latches)]


def _following(graph: Graph, entry: int) -> dict[int, list[int]]:
    """The successors of each block that can be reached."""
    found: dict[int, list[int]] = {}
    todo = [entry]
    while todo:
        block = todo.pop()
        if block not in found:
            found[block] = graph.successors(block)
            todo += found[block]
    return found


def _dominates(one: int, other: int, above: dict[int, int]) -> bool:
    """True if every way to the other block goes through the one."""
    while other != one and above[other] != other:
        other = above[other]
    return other == one


def _blocks(header: int, latches: list[int], preceding: dict[int, list[int]]) -> frozenset[int]:
    """The header, and all from which the loop's edges back are reached without it."""
    found, todo = {header}, list(latches)
    while todo:
        block = todo.pop()
        if block not in found:
            found.add(block)
            todo += preceding[block]
    return frozenset(found)
