"""Random kernels under memcheck, whose arrays end too early, beside one thread after the other that loads 0 and drops
what it stores there: the same accesses are told, by instruction, and the same bytes are left. GPUPROF_FUZZ=1 (`make
fuzz`) tries many more.
"""

import os
import random
from collections import Counter
from dataclasses import replace

import pytest

from gpuprof.device.memory import AddressSpace
from gpuprof.errors import PtxError
from gpuprof.isa.encoding import INSTRUCTION_NBYTES
from gpuprof.trace.checkers.memcheck import Memcheck
from tests.one_thread import accesses, launch as one_thread
from tests.one_thread.beside import emulated
from tests.one_thread.events import Access
from tests.one_thread.launch import run_launch
from tests.one_thread.memory import Memory
from tests.one_thread.test_random import prepared_mix

HUNDREDS, N_KERNELS = (range(1, 31), 100) if os.environ.get("GPUPROF_FUZZ") else (range(1, 2), 8)


class Refusing(Memory):
    """What may not be accessed reads as zeros, and what is written there is lost."""

    def bytes_at(self, own, access) -> memoryview:
        return super().bytes_at(own, access) if may(self, own, access) else memoryview(bytearray(access.nbytes))


def may(memory: Memory, own: dict[str, bytearray], access: Access) -> bool:
    try:
        Memory.bytes_at(memory, own, access)
    except IndexError:
        return False
    return True


def refusing_copy(inst, operands, memory, own):
    """A copy that may not read does not write."""
    taken = min(operands[2], inst.op.nbytes) if inst.op.c else inst.op.nbytes
    source = accesses.effective(inst, operands[0], taken, "load")
    if taken and not may(memory, own, source):
        return (), (source,)
    return accesses.copy(inst, operands, memory, own)


@pytest.fixture
def refusing(monkeypatch):
    monkeypatch.setattr(one_thread, "Memory", Refusing)
    monkeypatch.setitem(accesses.EFFECTS, "copy", refusing_copy)


def check(seed: int) -> int:
    """How many accesses go wrong; 0 of the few kernels that do not fit into the registers that they get."""
    try:
        launch, memory = prepared_mix(seed)
    except PtxError as error:
        assert "does not fit" in str(error)
        return 0
    shorten(memory, random.Random(seed))
    alone = run_launch(launch, memory)
    expected, bounds = Counter(), Memory(launch, memory)
    for event in (event for block in alone.events for thread in block for event in thread):
        expected[event.row] += any(each.space == "global" and not may(bounds, {}, each) for each in event.accesses)
    memcheck = Memcheck()
    arena = emulated(launch, memory, memcheck).arena
    told = {
        ("out_of_bounds", launch.module.load_base + INSTRUCTION_NBYTES * row): n for row, n in expected.items() if n
    }
    assert {(kind, pc): n for (kind, pc, _), n in memcheck.counts.items()} == told, f"seed {seed}"
    assert arena == alone.arena, f"seed {seed}"
    return sum(told.values())


def shorten(memory: AddressSpace, rng: random.Random) -> None:
    """Arrays end anywhere; what is behind them stays where it is."""
    live, *rest = memory.bookkeeping()
    memory.restore((
        [each if rng.random() < 0.4 else replace(each, nbytes=rng.randrange(each.nbytes)) for each in live], *rest
    ))  # fmt: skip


def test_a_random_kernel(refusing):
    assert check(3) > 100


@pytest.mark.long
@pytest.mark.parametrize("hundred", HUNDREDS)
def test_fuzz_random_kernels(refusing, hundred):
    assert sum(check(seed) for seed in range(100 * hundred, 100 * hundred + N_KERNELS)) > 100
