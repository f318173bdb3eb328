"""The nodes of a graph that every way to a node goes through."""

from collections.abc import Mapping, Sequence
from functools import reduce

Following = Sequence[Sequence[int]] | Mapping[int, Sequence[int]]  # the nodes that may come next, by node


def dominators(following: Following, first: int = 0) -> dict[int, int]:
    """The nearest block that every way from the first to a block goes through, by block; the first has itself. What
    cannot be reached has none. Cooper, Harvey and Kennedy's iteration.
    """
    order = postorder(following, first)
    rank = {block: index for index, block in enumerate(order)}
    before: dict[int, list[int]] = {block: [] for block in order}
    for block in order:
        for successor in following[block]:
            before[successor].append(block)
    above = {first: first}
    changed = True
    while changed:
        changed = False
        for block in reversed(order[:-1]):
            known = [other for other in before[block] if other in above]
            nearest = reduce(lambda one, other: _common(one, other, above, rank), known)
            changed |= above.get(block) != nearest
            above[block] = nearest
    return above


def _common(one: int, other: int, above: dict[int, int], rank: dict[int, int]) -> int:
    while one != other:
        if rank[one] < rank[other]:
            one = above[one]
        else:
            other = above[other]
    return one


def postorder(following: Following, first: int = 0) -> list[int]:
    """Blocks that the first leads to, each after all that follow it, except for the heads of loops."""
    order, seen, todo = [], {first}, [(first, iter(following[first]))]
    while todo:
        rest = todo[-1][1]
        successor = next((each for each in rest if each not in seen), None)
        if successor is None:
            order.append(todo.pop()[0])
        else:
            seen.add(successor)
            todo.append((successor, iter(following[successor])))
    return order
