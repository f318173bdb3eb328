"""The blocks that every way to a block, or from it, goes through."""

_MOST_ROUNDS = 50


def nearest(before: list[list[int]], roots: list[int], reverse: bool) -> list[int | None]:
    """The nearest block that every way from a root to a block goes through, by `before`: of dominators, or in `reverse`
    of those that follow.

    None where there is none. Cooper, Harvey and Kennedy's iteration, over the order of the blocks.
    """
    n = len(before)
    order = range(n - 1, -1, -1) if reverse else range(n)
    found: list[int | None] = [None] * n
    known = [False] * n
    for root in roots:
        known[root] = True
    for _ in range(_MOST_ROUNDS):
        changed = False
        for index in order:
            if index in roots:
                continue
            chosen, none = None, False
            for other in before[index]:
                if known[other] and not none:
                    chosen = other if chosen is None else common(chosen, other, found)
                    none = chosen is None
            if any(known[other] for other in before[index]) and (not known[index] or found[index] != chosen):
                found[index], known[index], changed = chosen, True, True
        if not changed:
            return found
    # It has not settled: no marks are better than wrong ones.
    return [None] * n


def common(one: int, other: int, found: list[int | None]) -> int | None:
    """The first block that two chains have in common, each from a block to its nearest; None where there is none."""
    seen = set()
    walk: int | None = one
    while walk is not None and walk not in seen:
        seen.add(walk)
        walk = found[walk]
    back = set()
    walk = other
    while walk is not None and walk not in seen and walk not in back:
        back.add(walk)
        walk = found[walk]
    return walk if walk in seen else None
