"""Callees before callers, and which functions call themselves."""

from gpuprof.assemble.ir import Body


def bottom_up(bodies: dict[str, Body]) -> tuple[list[str], set[str]]:
    """(order with callees first, names of functions on a cycle). An indirect call may reach every function whose address is taken."""
    taken = sorted({inst.symbol for body in bodies.values() for inst in body.instructions() if inst.symbol in bodies})
    edges = {name: sorted(body.callees | set(taken if body.indirect_calls else ())) for name, body in bodies.items()}
    order: list[str] = []
    done: set[str] = set()
    for root in bodies:
        stack = [(root, iter(edges[root]))]
        if root in done:
            continue
        done.add(root)
        while stack:
            name, callees = stack[-1]
            callee = next(callees, None)
            if callee is None:
                order.append(name)
                stack.pop()
            elif callee not in done:
                done.add(callee)
                stack.append((callee, iter(edges[callee])))
    recursive = {name for name in bodies if name in _reachable(name, edges)}
    return order, recursive


def indirect_callees(bodies: dict[str, Body]) -> set[str]:
    return {inst.symbol for body in bodies.values() for inst in body.instructions() if inst.symbol in bodies}


def _reachable(name: str, edges: dict[str, list[str]]) -> set[str]:
    seen: set[str] = set()
    todo = [name]
    while todo:
        for callee in edges[todo.pop()]:
            if callee not in seen:
                seen.add(callee)
                todo.append(callee)
    return seen
