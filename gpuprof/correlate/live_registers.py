"""How many registers of a thread are live before each instruction: rows of the table of that name."""

from bisect import bisect_right
from collections.abc import Iterator

from gpuprof.correlate.program_tables import Code
from gpuprof.isa.flow import Graph
from gpuprof.isa.liveness import Block, live_words


def live_rows(code: Code) -> Iterator[tuple[int, int]]:
    """Address and registers. Uniform registers are a warp's, and are numbered behind its threads' own."""
    graph = Graph(code.program.code)
    functions = sorted((f for f in code.program.functions if f.count), key=lambda f: f.first)
    firsts = [function.first for function in functions]
    blocks = [
        Block(graph.block(n).instructions, graph.successors(n), graph.callees(n), bisect_right(firsts, int(start)))
        for n, start in enumerate(graph.starts)
    ]
    # a file of others may have a function that begins inside of a block
    live = live_words(blocks, [graph.block_at[first] for first in firsts if first in graph.block_at])
    for function in functions:
        own = (1 << function.first_uniform_word) - 1
        for index in range(function.first, function.first + function.count):
            yield code.pc(index), (live[index] & own).bit_count()
