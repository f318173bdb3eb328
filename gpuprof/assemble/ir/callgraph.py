"""Callees before callers, and which functions call themselves."""

from collections.abc import Collection, Mapping
from typing import Protocol


class Calling(Protocol):
    """A function as a body, or as what has become of it."""

    callees: Collection[str]
    indirect_calls: bool


def bottom_up(bodies: Mapping[str, Calling], taken: set[str]) -> tuple[list[str], set[str]]:
    """(order with callees first, names of functions on a cycle). `taken`: what an indirect call may reach."""
    edges = {name: sorted({*body.callees} | (taken if body.indirect_calls else set())) for name, body in bodies.items()}
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


def _reachable(name: str, edges: dict[str, list[str]]) -> set[str]:
    seen: set[str] = set()
    todo = [name]
    while todo:
        for callee in edges[todo.pop()]:
            if callee not in seen:
                seen.add(callee)
                todo.append(callee)
    return seen
