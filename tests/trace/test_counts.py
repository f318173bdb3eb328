"""Generators that count, on programs whose every run is worked out by hand."""

import numpy as np
import pytest

from gpuprof.device.memory import AddressSpace
from gpuprof.isa.encoding import make
from gpuprof.run.run_settings import Settings
from gpuprof.run.session import open_device
from gpuprof.trace.generators.bounds.arithmetic_intensity import Intensity
from gpuprof.trace.generators.bounds.flow_graph import Graph
from gpuprof.trace.generators.counts.balance import Balance, BytesBalance
from gpuprof.trace.generators.counts.block_counts import BlockCounts
from gpuprof.trace.generators.counts.branch_divergence import Branches
from gpuprof.trace.generators.counts.dimensions import Dimensions
from gpuprof.trace.generators.counts.lane_activity import Activity
from gpuprof.trace.generators.counts.lane_convergence import Convergence
from gpuprof.trace.generators.counts.machine_counts import Machine
from gpuprof.trace.generators.counts.parallelism import Parallelism
from gpuprof.trace.generators.counts.register_liveness import LiveRegisters
from gpuprof.trace.generators.counts.widths import Widths
from gpuprof.trace.generators.mix import InstructionMix
from tests.support.emulate_harness import ADDR64, jump, special
from tests.support.watching import watch
from tests.trace.test_events import below, wide

# Of a block of 40 threads, the first warp has 32 lanes and the second 8. Lanes 0 to 7 of each take the branch.
#
#     block  instructions  first warp  second warp
#     A      0 to 2        32 lanes    8 lanes
#     B      3 to 4        24          does not run it
#     C      5             8           8
#     D      6             32          8
FORKED = [
    special("laneid", 0),
    below(0, 0, 8),
    jump(2, 5, guard=0),
    make("MOV", dst=1, imm=100, slot="a"),
    jump(4, 6),
    make("MOV", dst=1, imm=200, slot="a"),
    make("EXIT"),
]
A, B, C, D = 0, 3, 5, 6


def rows(generator, table: str, code=FORKED, **launch) -> list[tuple]:
    """The rows of a launch of two blocks of 40 threads; a code address is the instruction's number."""
    watch(code, generator, **{"grid": (2, 1, 1), "block": (40, 1, 1)} | launch)
    [results] = generator.results
    [columns] = [each.columns for each in generator.tables if each.name == table]
    addresses = [column.name.endswith("pc") for column in columns]
    return [tuple(map(numbered, row, addresses)) for row in results.tables[table]]


def numbered(value, is_address: bool):
    return (value - BASE) // 16 if is_address and value >= 0 else value


BASE = 0x10_0000  # where a program's code is loaded


def test_activity():
    assert rows(Activity(), "blocks") == [
        (-1, 24, 448, 448 / (32 * 24)),
        (A, 12, 240, 240 / (32 * 12)),
        (B, 4, 96, 96 / (32 * 4)),
        (C, 4, 32, 32 / (32 * 4)),
        (D, 4, 80, 80 / (32 * 4)),
    ]


def test_block_counts():
    counts = BlockCounts(threads=True)
    assert rows(counts, "blocks") == [
        (A, 3, 4, 80, 80, 1, 1),
        (B, 2, 2, 48, 48, 0, 1),
        (C, 1, 4, 32, 32, 0, 1),
        (D, 1, 4, 80, 80, 1, 1),
    ]
    of_c = [row for row in counts.results[0].tables["threads"] if numbered(row[0], True) == C]
    assert [row[1:] for row in of_c] == [
        (block, thread, 1) for block in (0, 1) for thread in (*range(8), *range(32, 40))
    ]


def test_branches():
    assert rows(Branches(), "branches") == [
        (2, 0, "branch", 4, 80, 32, 2),
        (4, 0, "branch", 2, 48, 48, 0),
        (6, 0, "exit", 4, 80, 80, 0),
    ]


def test_branches_know_the_depth_of_calls():
    code = [make("CALL", imm=16, mods=0), make("EXIT"), make("RET")]
    assert rows(Branches(), "branches", code, grid=(1, 1, 1), block=(32, 1, 1)) == [
        (0, 0, "call", 1, 32, 32, 0),
        (1, 0, "exit", 1, 32, 32, 0),
        (2, 1, "return", 1, 32, 32, 0),
    ]


def test_convergence():
    convergence = Convergence()
    assert rows(convergence, "lanes") == [
        (A, 8, 2),
        (A, 32, 2),
        (B, 24, 2),
        (C, 8, 4),
        (D, 8, 2),
        (D, 32, 2),
    ]
    assert convergence.results[0].tables["thread_blocks"] == [(0, 12, 224, 4), (1, 12, 224, 4)]


def test_dimensions():
    [found] = rows(Dimensions(), "launches")
    row = dict(zip([column.name for column in Dimensions.tables[0].columns], found, strict=True))
    assert {name: row[name] for name in ("grid_x", "block_x", "cluster_x", "blocks", "warps", "threads")} == {
        "grid_x": 2, "block_x": 40, "cluster_x": 1, "blocks": 2, "warps": 4, "threads": 80,
    }  # fmt: skip
    assert (row["instructions"], row["basic_blocks"], row["shared_nbytes"], row["parameter_nbytes"]) == (7, 4, 0, 0)


def test_machine():
    attributes = dict(rows(Machine(), "attributes"))
    assert attributes["sms"] == "108" and attributes["arch"] == "sm_80"
    assert not any("{" in value for value in attributes.values())


def test_balance():
    balance = Balance()
    # Threads of lanes 0 to 7 execute A, C and D, the others A, B and D.
    assert rows(balance, "balance") == [
        ("blocks", 448, 224, 224.0, 224, 1.0),
        ("threads", 448, 5, 5.6, 6, pytest.approx(5.6 / 6)),
    ]
    assert balance.results[0].tables["blocks"] == [(0, 224, 5, 6), (1, 224, 5, 6)]


def test_parallelism():
    # Warps execute 7 and 5 instructions.
    [row] = rows(Parallelism(), "launch")
    assert row == (24, 12, 7, 2.0, 24 / 7, 448 / 24)


def test_mix():
    assert rows(InstructionMix(), "opcodes") == [
        ("BRA", "cbu", 2, 6, 128),
        ("EXIT", "cbu", 1, 4, 80),
        ("ISETP.U32", "alu", 1, 4, 80),
        ("MOV", "alu", 2, 6, 80),
        ("S2R", "xu", 1, 4, 80),
    ]


def test_widths():
    # Groups of the masks 0xffffffff and 0xff (A, D), 0xffffff00 (B), 0xff and 0xff (C), of each block. Two warps of a
    # block that run a basic block together are one of 64 lanes.
    expected = []
    for lanes, of_32, of_24, of_8 in (
        (1, 32, 24, 8), (2, 16, 12, 4), (4, 8, 6, 2), (8, 4, 3, 1), (16, 2, 2, 1), (32, 1, 1, 1),
    ):  # fmt: skip
        issues = 2 * (4 * (of_32 + of_8) + 2 * of_24 + 2 * of_8)
        expected.append((lanes, issues, 448, 448 / (lanes * issues), 24 * 32 // lanes))
    together = 2 * (3 + 2 + 1 + 1)
    assert rows(Widths(), "widths") == [*expected, (64, together, 448, 448 / (64 * together), together)]


def test_graph():
    graph = Graph()
    assert rows(graph, "nodes") == [(A, 3, 4, 80), (B, 2, 2, 48), (C, 1, 4, 32), (D, 1, 4, 80)]
    assert [tuple(numbered(pc, True) for pc in row[:2]) + row[2:] for row in graph.results[0].tables["edges"]] == [
        (A, B, 48),
        (A, C, 32),
        (B, D, 48),
        (C, D, 32),
    ]


def test_a_graph_of_lanes_that_go_round_a_loop_as_often_as_their_number():
    code = [
        special("laneid", 0),
        make("IADD", dst=0, a=0, imm=-1 & 0xFFFFFFFF, slot="b"),
        below(0, 0, 32),  # false once it has passed zero
        jump(3, 1, guard=0),
        make("EXIT"),
    ]
    graph = Graph()
    rows(graph, "nodes", code, grid=(1, 1, 1), block=(64, 1, 1))
    edges = [tuple(numbered(pc, True) for pc in row[:2]) + row[2:] for row in graph.results[0].tables["edges"]]
    assert edges == [(0, 1, 64), (1, 1, 2 * sum(range(32))), (1, 4, 64)]


def test_live_registers():
    # r0 is live from its reading of the lane on to the compare; r1 is written and never read.
    assert rows(LiveRegisters(), "live") == [(0, 6, 20), (1, 1, 4)]


def test_registers_that_are_live_over_a_call_and_at_a_barrier():
    code = [
        special("laneid", 0),
        wide(2, 4096),  # words 4 and 5
        make("CALL", imm=48, mods=0),
        make("BAR.SYNC"),
        make("IMAD.WIDE.U32", dst=3, a=0, imm=4, slot="b", c=2),
        make("EXIT"),
        make("MOV", dst=9, imm=5, slot="a"),
        make("RET"),
    ]
    live = LiveRegisters()
    # Before: 0 nothing; 1 r0; 2, 3, 4, 6 and 7 r0 and the two words; 5 nothing.
    assert rows(live, "live", code, grid=(1, 1, 1), block=(32, 1, 1)) == [(0, 2, 2), (1, 1, 1), (3, 5, 5)]
    [point] = live.results[0].tables["sync_points"]
    assert (numbered(point[0], True), *point[1:]) == (3, "barrier", 3, 1)


# Each thread loads 4 bytes, adds a float, and the first 8 lanes store 4 bytes.
STREAM = [
    special("laneid", 0),
    below(0, 0, 8),
    wide(2, 0),
    make("IMAD.WIDE.U32", dst=3, a=0, imm=4, slot="b", c=2),
    make("LDG.32", dst=9, a=3, mods=ADDR64),
    make("FADD", dst=9, a=9, b=9),
    make("STG.32", a=3, b=9, mods=ADDR64, guard=0),
    make("EXIT"),
]


def stream():
    """The program's memory, and its code with the address of an array in it."""
    memory = AddressSpace()
    address = memory.allocate(128, "x").address
    return memory, [*STREAM[:2], wide(2, address), *STREAM[3:]]


def test_bytes_balance():
    memory, code = stream()
    balance = BytesBalance()
    assert rows(balance, "balance", code, memory=memory, block=(32, 1, 1)) == [
        ("blocks", 320, 160, 160.0, 160, 1.0),
        ("threads", 320, 4, 5.0, 8, 0.625),
    ]


def test_intensity():
    memory, code = stream()
    intensity = Intensity()
    # 64 additions of floats; the wide multiply-add is two operations on integers.
    of_kernel = (448 + 16, 64, 128, 320, 0, 0, 0, 0, 80, 64 / 320)
    assert rows(intensity, "blocks", code, memory=memory, block=(32, 1, 1)) == [(-1, *of_kernel), (0, *of_kernel)]
    assert [row[1:] for row in intensity.results[0].tables["operations"]] == 2 * [("f32", 64), ("int", 128)]


SUMS = """
__global__ void k(float *out, const float *in, size_t pitch, size_t rows, size_t columns, size_t depth)
{
    size_t i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (size_t r = 0; r < rows; ++r)
        for (size_t c = 0; c < columns; ++c)
            for (size_t d = 0; d < depth; ++d)
                sum += in[i + r * pitch + c * rows * pitch + d * columns * rows];
    out[i] = sum;
}
"""


def test_uniform_registers_are_not_live_in_threads(tmp_path):
    """Here some are used (the listing says how many), and no more registers are live than a thread has."""
    path = tmp_path / "k.cu"
    path.write_text(SUMS)
    gpu = open_device(Settings())
    module, live, seen = gpu.load(path), LiveRegisters(), Dimensions()
    arrays = [gpu.to_device(np.zeros(256, np.float32)) for _ in range(2)]
    with gpu.trace(live), gpu.trace(seen):
        module.k[1, 32](*arrays, 1, 2, 3, 4)
    kernel = seen.kernel.function
    assert kernel.uniform_words > 0
    assert max(row[0] for row in live.results[0].tables["live"]) <= kernel.thread_words
