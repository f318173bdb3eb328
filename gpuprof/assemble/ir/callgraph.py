"""Callees before callers, and which functions call themselves."""

from gpuprof.assemble.ir.body import Body


def bottom_up(bodies: dict[str, Body], taken: set[str]) -> tuple[list[str], set[str]]:
    """(order with callees first, names of functions on a cycle). `taken`: what an indirect call may reach."""
    edges = {name: sorted(body.callees | (taken if body.indirect_calls else set())) for name, body in bodies.items()}
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


def indirect_callees(bodies: dict[str, Body], addressed: set[str]) -> set[str]:
    """Functions whose address is taken, in code or (`addressed`) in a variable."""
    return {inst.symbol for body in bodies.values() for inst in body.instructions() if inst.symbol in bodies} | (
        addressed & bodies.keys()
    )


def _reachable(name: str, edges: dict[str, list[str]]) -> set[str]:
    seen: set[str] = set()
    todo = [name]
    while todo:
        for callee in edges[todo.pop()]:
            if callee not in seen:
                seen.add(callee)
                todo.append(callee)
    return seen
