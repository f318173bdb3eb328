"""Random kernels by the emulator and one thread after the other. GPUPROF_FUZZ=1 (`make fuzz`) tries many more."""

import os

import numpy as np
import pytest

from gpuprof.isa.encoding import make
from gpuprof.isa.opcodes import TABLE
from gpuprof.isa.program import Program
from tests.fuzz.ptx_threads import THREADS, ThreadMix
from tests.one_thread import accesses, values
from tests.one_thread.beside import differences, emulated, prepared
from tests.one_thread.events import Access
from tests.support.emulate_harness import program_of
from tests.support.matrices import long_from
from tests.support.ptx_support import assemble_text

HUNDREDS = range(1, 51 if os.environ.get("GPUPROF_FUZZ") else 3)
LENGTHS = (10, 20, 40)  # statements of a kernel
REGISTERS = (255, 64)  # so that some spill


def unordered(program: Program) -> list[int]:
    """Instructions of atomics that several threads do on one cell, and of what takes their results."""
    lines = ["atom." in line and "%sink" in line for line in program.ptx.split("\n")]
    return [row for row, line in enumerate(program.ptx_lines.tolist()) if lines[line - 1]]


def prepared_mix(seed: int):
    mix = ThreadMix(seed, LENGTHS[seed % len(LENGTHS)])
    program = assemble_text(mix.text(), max_registers=REGISTERS[seed % len(REGISTERS)])
    return prepared(program, mix.arrays(), grid=(mix.n_blocks, 1, 1), block=(THREADS, 1, 1))


def check(seed: int) -> None:
    launch, memory = prepared_mix(seed)
    parts = seed if seed % 2 else None
    assert differences(launch, memory, unordered(launch.module.program), parts) == [], f"seed {seed}"


@pytest.mark.parametrize("seed", long_from(3, range(8)))
def test_a_random_kernel(seed):
    check(seed)


@pytest.mark.long
@pytest.mark.parametrize("hundred", HUNDREDS)
def test_fuzz_a_hundred_random_kernels(hundred):
    for seed in range(100 * hundred, 100 * hundred + 100):
        check(seed)


@pytest.mark.long
def test_the_kernels_have_what_they_are_for():
    """All kinds of going, meeting and remembering stand in a few of them."""
    wanted = """
        atomic barrier barrier_arrive barrier_vote branch call call_indirect copy exit load match reduction return
        shuffle stack_change stack_save store vote warp_reduction warp_sync
    """
    executed = set()
    for seed in range(16):
        launch, memory = prepared_mix(seed)
        counts = emulated(launch, memory).counters.inst_executed
        executed |= {TABLE[number].kind for number in launch.module.code["opcode"][counts > 0].tolist()}
    assert [kind for kind in wanted.split() if kind not in executed] == []


def test_a_difference_is_seen(monkeypatch):
    """An addition that is wrong for one operand changes memory; a comparison, the way of threads."""
    launch, memory = prepared_mix(1)
    monkeypatch.setitem(values.FUNCTIONS, "add", lambda types, mods, a, b: a | b)
    (said, *_) = differences(launch, memory)
    assert "bytes of memory differ" in said
    monkeypatch.undo()
    launch, memory = prepared_mix(1)
    monkeypatch.setitem(values.FUNCTIONS, "setp", lambda types, mods, a, b, third: (0, 1))
    said = differences(launch, memory)
    assert any("threads come by" in line for line in said)
    assert any("runs blocks" in line for line in said)


def test_a_difference_of_values_is_seen(monkeypatch):
    """Nothing is stored: generators alone are told of the sum, and of the address of the load."""
    code = [make("IADD", dst=1, a=255, imm=5, slot="b"), make("LDP.32", dst=2, a=255, imm=4), make("EXIT")]
    launch, memory = prepared(program_of(code), [np.arange(2)], block=(1, 1, 1))
    assert differences(launch, memory) == []
    monkeypatch.setitem(values.FUNCTIONS, "add", lambda types, mods, a, b: a - b & 0xFFFFFFFF)
    assert differences(launch, memory) == [
        "thread 0 of block 0: Told(row=0, held=True, depth=0, operands=(0, 5), results=(5,), accesses=()), "
        "not Told(row=0, held=True, depth=0, operands=(0, 5), results=(4294967291,), accesses=())"
    ]
    assert differences(launch, memory, [0]) == ["row 0, IADD: values {((0, 5), (5,)): 1, ((0, 5), (4294967291,)): -1}"]
    monkeypatch.undo()
    monkeypatch.setitem(accesses.EFFECTS, "load", lambda *given: ((7,), (Access("param", "load", 8, 4),)))
    assert differences(launch, memory) == [
        "thread 0 of block 0: Told(row=1, held=True, depth=0, operands=(0,), results=(7,), accesses=(Access("
        "space='param', operation='load', address=4, nbytes=4),)), not Told(row=1, held=True, depth=0, operands=(0,), "
        "results=(7,), accesses=(Access(space='param', operation='load', address=8, nbytes=4),))"
    ]
