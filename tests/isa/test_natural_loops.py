"""Natural loops of hand-made code, of which each row is an instruction."""

import pytest

from gpuprof.isa.encoding import INSTRUCTION_NBYTES, encode, make
from gpuprof.isa.flow.graph import Graph
from gpuprof.isa.flow.natural_loops import natural_loops

WORK, EXIT = make("IADD", dst=0, a=0, b=1), make("EXIT")


def code_of(rows):
    """ "work", "exit", "jump N" to instruction N, and "if N", which may go there."""
    made = []
    for index, row in enumerate(rows):
        word, _, target = row.partition(" ")
        distance = INSTRUCTION_NBYTES * (int(target or 0) - index - 1) & 0xFFFFFFFF
        made.append({
            "work": WORK,
            "exit": EXIT,
            "jump": make("BRA", imm=distance),
            "if": make("BRA", guard=0, imm=distance),
        }[word])  # fmt: skip
    return encode(made)


def loops_of(*rows):
    """{the instruction that a loop begins with: its instructions}."""
    graph = Graph(code_of(rows))
    return {
        int(graph.starts[loop.header]): sorted(
            index for block in loop.blocks for index in range(graph.starts[block], graph.ends[block])
        )
        for loop in natural_loops(graph, 0)
    }


@pytest.mark.parametrize(
    "rows, loops",
    [
        (("work", "if 3", "work", "exit"), {}),
        (("if 0", "exit"), {0: [0]}),
        (("work", "work", "if 1", "exit"), {1: [1, 2]}),
        # Two nested loops: 1 to 5, and 2 to 3 in it.
        (("work", "work", "work", "if 2", "work", "if 1", "exit"), {1: [1, 2, 3, 4, 5], 2: [2, 3]}),
        # Two loops, one after the other.
        (("work", "if 1", "work", "if 2", "exit"), {1: [1], 2: [2, 3]}),
        # A way out in the middle, and a way back early: one loop, whose exit belongs to nothing.
        (("work", "work", "if 1", "if 6", "work", "jump 1", "exit"), {1: [1, 2, 3, 4, 5]}),
        # The code of a loop in two places: instruction 3 is not of it.
        (("work", "jump 4", "work", "exit", "work", "if 7", "jump 3", "jump 4"), {4: [4, 5, 7]}),
        # A jump into the middle of 2 to 4: there are ways to 2 without 3, and to 3 without 2.
        (("if 3", "work", "work", "work", "if 2", "exit"), {}),
        # The same, with a loop around it.
        (("work", "if 4", "work", "work", "work", "if 3", "if 1", "exit"), {1: [1, 2, 3, 4, 5, 6]}),
        # What cannot be reached makes none.
        (("exit", "work", "if 1", "exit"), {}),
    ],
)
def test_loops(rows, loops):
    assert loops_of(*rows) == loops
