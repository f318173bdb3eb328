"""Device memory that a program shares: where it lies, what fits, and that it goes."""

import mmap
import os
import subprocess
import sys

import numpy as np
import pytest

from gpuprof.device.memory import Allocation
from gpuprof.errors import DeviceMemoryError
from gpuprof.program.arena import Arena


def test_every_allocation_has_pages_of_its_own():
    with Arena(1 << 20) as arena:
        taken = [arena.memory.allocate(nbytes, "a") for nbytes in (1, 3840, 3841, 4096)]
        assert taken == [
            Allocation(0x7_0000_0000, 1, "a"),
            Allocation(0x7_0000_1000, 3840, "a"),  # with the gap of 256 bytes behind it, a page
            Allocation(0x7_0000_2000, 3841, "a"),
            Allocation(0x7_0000_4000, 4096, "a"),
        ]
        arena.memory.free(0x7_0000_2000)
        assert arena.memory.allocate(8192 - 256, "b").address == 0x7_0000_2000


def test_memory_is_that_of_the_file_that_the_program_maps():
    with Arena(1 << 20) as arena:
        address = arena.memory.allocate(8, "x").address
        told = arena.environment()
        assert told == {
            "GPUPROF_ARENA": str(arena.handle),
            "GPUPROF_STAGING": str(arena.staging_handle),
            "GPUPROF_ARENA_BASE": "0x700000000",
            "GPUPROF_ARENA_NBYTES": "2097152",  # as much again for addresses that are reserved
        }
        with mmap.mmap(int(told["GPUPROF_ARENA"]), 1 << 20) as theirs:
            arena.memory.write(address, b"12345678")
            assert theirs[:9] == b"12345678\0"
            theirs[0:2] = b"ab"
            assert arena.memory.read(address, 8) == b"ab345678"


def test_what_does_not_fit_is_refused():
    with Arena(8192) as arena:
        arena.memory.allocate(4000, "a")
        with pytest.raises(DeviceMemoryError) as refused:
            arena.memory.allocate(8000, "b")
        assert str(refused.value).startswith("out of device memory: 8000 bytes asked for b")
        arena.memory.limit_nbytes = None  # of the chip; the file's length remains
        with pytest.raises(DeviceMemoryError) as refused:
            arena.memory.allocate(8000, "b")
        assert str(refused.value) == "out of device memory: 8000 bytes asked for b; 16384 bytes are shared"
        assert arena.memory.used_nbytes == 4000


def test_used_again_it_is_zero():
    with Arena(1 << 20) as arena:
        address = arena.memory.allocate(5000, "a").address
        arena.memory.write(address, bytes([255]) * 5000)
        arena.memory.free(address)
        assert arena.memory.allocate(5000, "b").address == address
        assert not np.frombuffer(arena.memory.read(address, 5000), np.uint8).any()


def test_the_file_is_closed_with_it():
    with Arena(4096) as arena:
        os.fstat(arena.handle)
    with pytest.raises(OSError):
        os.fstat(arena.handle)


@pytest.mark.parametrize(
    ("limit_gib", "expected"),
    [(70, "64"), (40, "16"), (6, "2"), (3, "1")],
)
def test_a_limit_on_addresses_makes_the_arena_smaller(limit_gib, expected):
    script = (
        "import resource; from gpuprof.program.arena import Arena\n"
        f"resource.setrlimit(resource.RLIMIT_AS, ({limit_gib} << 30,) * 2)\n"
        "with Arena(64 << 30) as arena: print(arena.nbytes >> 30, arena.memory.limit_nbytes >> 30)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.stdout.split(), done.stderr) == ([expected, expected], "")
