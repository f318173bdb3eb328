"""How many registers of a thread are live before each instruction: rows of the table of that name."""

from collections.abc import Iterator

from gpuprof.correlate.program_tables import Code
from gpuprof.isa.flow import Graph
from gpuprof.isa.liveness import Block, live_words


def live_rows(code: Code) -> Iterator[tuple[int, int]]:
    """Address and registers. Uniform registers are a warp's, and are numbered behind its threads' own."""
    graph = Graph(code.program.code)
    numbers = range(len(graph.starts))
    blocks = [Block(graph.block(n).instructions, graph.successors(n), graph.callees(n)) for n in numbers]
    functions = [function for function in code.program.functions if function.count]
    live = live_words(blocks, [graph.block_at[function.first] for function in functions])
    for function in functions:
        end = function.first_uniform_word
        for index in range(function.first, function.first + function.count):
            yield code.pc(index), sum(word < end for word in live[index])
