"""The nearest block that every way goes through, against what is left of a graph without that block."""

import random

import pytest

from gpuprof.assemble.ir.dominators import common, nearest


def reached(before, roots, without=None):
    """Blocks to which a way leads from a root, none of it through `without`."""
    todo, found = [root for root in roots if root != without], set()
    while todo:
        block = todo.pop()
        if block not in found:
            found.add(block)
            todo += [after for after, others in enumerate(before) if block in others and after != without]
    return found


def chain(block, before, roots):
    """The blocks, other than itself, without which nothing leads to a block; the nearest has all others in its own."""
    return {each for each in range(len(before)) if each != block and block not in reached(before, roots, each)}


@pytest.mark.parametrize("seed", range(60))
def test_random_graphs(seed):
    """Some have several roots, loops, blocks that nothing leads to, and loops with two entries."""
    generator = random.Random(seed)
    n = generator.randint(1, 12)
    before = [[other for other in range(n) if generator.random() < 2 / n] for _ in range(n)]
    roots = sorted(generator.sample(range(n), generator.randint(1, min(n, 3))))
    live = reached(before, roots)
    wanted = []
    for block in range(n):
        above = chain(block, before, roots) if block in live else set()
        wanted.append(max(above, key=lambda each: len(chain(each, before, roots)), default=None))
    assert nearest(before, roots) == wanted


def test_a_branch_and_a_loop():
    """0 -> 1 or 2 -> 3 -> 3 or 4: the ways meet at 3; to 4 all go through 3."""
    assert nearest([[], [0], [0], [1, 2, 3], [3]], [0]) == [None, 0, 0, 0, 3]
    assert nearest([[1, 2], [3], [3], [3, 4], []], [4]) == [3, 3, 3, 4, None]


def test_what_two_chains_have_in_common():
    above = [None, 0, 0, 1, 1, None]
    assert [common(*pair, above) for pair in ((3, 4), (3, 2), (3, 1), (4, 5))] == [1, 0, 1, None]
