"""The order in which waiting lanes are to run, from the control-flow graph of a program's basic blocks.

Lanes of one warp that have diverged meet again when those that have advanced least run first. How far lanes have
advanced is their block's position in a weak topological order (Bourdoncle 1993): every forward edge leads to a higher
position, and the blocks of a loop are contiguous, so that all lanes leave a loop before any continues after it. The
code's own layout does not promise either.
"""

from gpuprof.isa.flow.graph import Graph


class OrderedGraph(Graph):
    """Blocks of a code array, with the order of those that a function can reach."""

    def is_in_loop(self, index: int) -> bool:
        """True when a block may run again after itself, within its function."""
        return any(index in _reachable(after, self.successors) for after in self.successors(index))

    def ranks(self, entry: int) -> dict[int, int]:
        """Position of each block reachable from `entry` in a weak topological order."""
        return {block: position for position, block in enumerate(_weak_topological_order(entry, self.successors))}


def _weak_topological_order(entry: int, successors) -> list[int]:
    """Strongly connected components in topological order; in each, the block entered first and then the rest, ordered
    alike.
    """
    order: list[int] = []
    pending = _tarjan([entry], _reachable(entry, successors), successors)[::-1]
    while pending:
        head, *rest = pending.pop()
        order.append(head)
        if rest:
            roots = [after for after in successors(head) if after in rest]
            pending.extend(_tarjan(roots, frozenset(rest), successors)[::-1])
    return order


def _reachable(entry: int, successors) -> frozenset[int]:
    seen, stack = {entry}, [entry]
    while stack:
        for after in successors(stack.pop()):
            if after not in seen:
                seen.add(after)
                stack.append(after)
    return frozenset(seen)


def _tarjan(roots: list[int], members: frozenset[int], successors) -> list[list[int]]:
    """Strongly connected components within `members`, topologically ordered, each with the block entered first in
    front.
    """
    number: dict[int, int] = {}
    low: dict[int, int] = {}
    on_stack: set[int] = set()
    stack: list[int] = []
    components: list[list[int]] = []
    for root in roots:
        if root in number:
            continue
        trail = [(root, iter(successors(root)))]
        number[root] = low[root] = len(number)
        stack.append(root)
        on_stack.add(root)
        while trail:
            node, after = trail[-1]
            for succ in after:
                if succ not in members:
                    continue
                if succ not in number:
                    number[succ] = low[succ] = len(number)
                    stack.append(succ)
                    on_stack.add(succ)
                    trail.append((succ, iter(successors(succ))))
                    break
                if succ in on_stack:
                    low[node] = min(low[node], number[succ])
            else:
                trail.pop()
                if trail:
                    low[trail[-1][0]] = min(low[trail[-1][0]], low[node])
                if low[node] == number[node]:
                    at = stack.index(node)
                    components.append(stack[at:])
                    on_stack.difference_update(stack[at:])
                    del stack[at:]
    return components[::-1]
