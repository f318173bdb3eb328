"""What predictions say of a chip without the timing model, against what the timing model says."""

from types import SimpleNamespace

import numpy as np
import pytest

from gpuprof.chips import list_chips, load_chip
from gpuprof.errors import UsageError
from gpuprof.isa.encoding import decode, encode, make
from gpuprof.isa.opcodes import TABLE
from gpuprof.isa.program import Function
from gpuprof.predict.chip_numbers import numbers_of
from gpuprof.predict.opcode_facts import PIPES, facts_of
from gpuprof.predict.units.resident_blocks import residency
from gpuprof.timing.state.expansion import on_chip
from gpuprof.timing.state.layout import PORTS, TICKS
from gpuprof.timing.state.occupancy import occupancy
from gpuprof.timing.state.static_program import static_program

CHIPS = [load_chip(name) for name in list_chips()]


@pytest.mark.parametrize("threads", [1, 32, 96, 256, 1000, 1024])
@pytest.mark.parametrize("registers", [0, 16, 33, 72, 168, 255])
@pytest.mark.parametrize("shared_nbytes", [0, 4096, 49152, 120000])
def test_blocks_of_an_sm_are_those_of_the_occupancy_rules(threads, registers, shared_nbytes):
    function = Function("k", "k", 0, 1, True, registers=registers, shared_nbytes=shared_nbytes)
    expected = []
    for chip in CHIPS:
        try:
            expected.append(occupancy(chip, function, threads).blocks_per_sm)
        except UsageError:
            expected.append(0)
    numbers = numbers_of(CHIPS)
    counters = SimpleNamespace(threads=threads, registers=registers, shared_nbytes=shared_nbytes, blocks=100)
    work = SimpleNamespace(
        counters=counters,
        chips=numbers,
        block_warps=np.ceil(threads / numbers["warp_lanes"]),
    )
    found = residency(work)
    assert found.blocks_per_sm.tolist() == expected
    there = found.blocks_per_sm * numbers["sms"]
    np.testing.assert_array_equal(found.waves * np.maximum(there, 1) + found.left, 100)


def plain_rows():
    """Rows that one instruction without modifiers shows as they are."""
    return [op for op in TABLE if op.kind == "compute" and op.slots]


def test_pipes_and_latencies_are_those_of_the_timing_model():
    rows = plain_rows()
    facts = facts_of(rows, numbers_of(CHIPS))
    for place, chip in enumerate(CHIPS):
        code = encode([make(op.name) for op in rows])
        inst = static_program(code, (), chip).inst
        for number, op in enumerate(rows):
            expected = on_chip(decode(code[number]), chip).op
            assert facts.latency[number, place] == inst["latency"][number], (op.name, chip.name)
            port = PORTS[inst["port"][number]]
            if port in PIPES and expected.pipe in PIPES:
                on_pipe = -(-facts.slots[number, place] // inst["slot_interval"][number])
                # A unit that the partitions share has the time of all of them: each has its part of it here.
                shares = chip.partitions if port == "fp64" and chip.lanes["fp64"] < 1 else 1
                ticks = inst["port_ticks"][number] * on_pipe * shares
                assert facts.busy[port][number, place] == pytest.approx(ticks / TICKS, rel=0.01), (op.name, chip.name)
