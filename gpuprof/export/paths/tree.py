"""A tree of frames: costs by the names on call paths, each node with those below it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from gpuprof.isa.printing.printable import printable


@dataclass
class Node:
    """`own`: the cost that no node below it has; `total`: with theirs."""

    name: str
    own: int = 0
    total: int = 0
    children: dict[str, "Node"] = field(default_factory=dict)

    def sorted(self) -> list["Node"]:
        """The nodes below it, by name."""
        return [self.children[name] for name in sorted(self.children)]


def tree_of(stacks: Mapping[tuple[str, ...], int], root: str) -> Node:
    """The tree of costs by stack, outermost frame first."""
    whole = Node(root)
    for stack, cost in stacks.items():
        node = whole
        node.total += cost
        for name in map(printable, stack):
            node = node.children.setdefault(name, Node(name))
            node.total += cost
        node.own += cost
    return whole
