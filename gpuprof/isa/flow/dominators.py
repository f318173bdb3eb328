"""The nodes of a graph that every way to a node goes through."""

from collections.abc import Mapping, Sequence

Following = Sequence[Sequence[int]] | Mapping[int, Sequence[int]]  # the nodes that may come next, by node


def dominators(following: Following, first: int = 0) -> dict[int, int]:
    """The nearest block that every way from the first to a block goes through, by block; the first has itself. What
    cannot be reached has none. Cooper, Harvey and Kennedy's iteration.
    """
    order = postorder(following, first)
    rank = {block: index for index, block in enumerate(order)}
    before: list[list[int]] = [[] for _ in order]  # by rank, like the rest
    for block in order:
        for successor in following[block]:
            before[rank[successor]].append(rank[block])
    top = len(order) - 1
    above = [-1] * top + [top]
    changed = True
    while changed:
        changed = False
        for place in range(top - 1, -1, -1):
            nearest = -1
            for other in before[place]:
                if above[other] >= 0:
                    nearest = other if nearest < 0 else _common(nearest, other, above)
            changed |= above[place] != nearest
            above[place] = nearest
    return {order[place]: order[above[place]] for place in range(top, -1, -1)}


def _common(one: int, other: int, above: list[int]) -> int:
    while one != other:
        if one < other:
            one = above[one]
        else:
            other = above[other]
    return one


def postorder(following: Following, first: int = 0) -> list[int]:
    """Blocks that the first leads to, each after all that follow it, except for the heads of loops."""
    order, seen, todo = [], {first}, [(first, iter(following[first]))]
    while todo:
        block, rest = todo[-1]
        for successor in rest:
            if successor not in seen:
                seen.add(successor)
                todo.append((successor, iter(following[successor])))
                break
        else:
            order.append(block)
            todo.pop()
    return order
