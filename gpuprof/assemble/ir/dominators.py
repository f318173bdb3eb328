"""The blocks that every way to a block, or from it, goes through."""

from collections.abc import Sequence

from gpuprof.isa.flow.dominators import dominators


def nearest(before: Sequence[Sequence[int]], roots: Sequence[int]) -> list[int | None]:
    """The nearest block that every way from a root to a block goes through, by `before`: of predecessors, those are
    dominators; of successors, with the exits as roots, the blocks that follow on every way. None where there is none.
    """
    # One more node leads to all roots: what no block dominates, it does.
    top = len(before)
    following: list[list[int]] = [[] for _ in before]
    for block, others in enumerate(before):
        for other in others:
            following[other].append(block)
    above = dominators([*following, roots], top)
    return [None if (found := above.get(block, top)) == top else found for block in range(top)]


def common(one: int, other: int, found: Sequence[int | None]) -> int | None:
    """The first block that two chains have in common, each from a block to its nearest; None where there is none."""
    seen = set()
    walk: int | None = one
    while walk is not None:
        seen.add(walk)
        walk = found[walk]
    walk = other
    while walk is not None and walk not in seen:
        walk = found[walk]
    return walk
