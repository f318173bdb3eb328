"""The address space: what the host sees of allocations, against a plain dictionary as the model."""

import resource
import sys

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from gpuprof.device.memory import (
    GLOBAL_BASE,
    GUARD_NBYTES,
    LOCAL_WINDOW,
    MOST_RESTING_NBYTES,
    SHARED_WINDOW,
    AddressSpace,
    Allocation,
)
from gpuprof.errors import DeviceMemoryError


def test_first_fit_and_guard():
    memory = AddressSpace()
    x = memory.allocate(100, "x")
    y = memory.allocate(256, "y")
    z = memory.allocate(1, "z")
    assert (x, y, z) == (
        Allocation(0x7_0000_0000, 100, "x"),
        Allocation(0x7_0000_0200, 256, "y"),
        Allocation(0x7_0000_0400, 1, "z"),
    )
    assert memory.starts.tolist() == [0x7_0000_0000, 0x7_0000_0200, 0x7_0000_0400]
    assert memory.ends.tolist() == [0x7_0000_0064, 0x7_0000_0300, 0x7_0000_0401]
    memory.write(y.address, b"\xff" * 256)
    memory.free(y.address)
    assert memory.allocate(200, "w") == Allocation(0x7_0000_0200, 200, "w")
    assert memory.read(0x7_0000_0200, 200) == bytes(200), "memory used again is zero again"


def test_arena_grows_and_keeps_its_content():
    memory = AddressSpace()
    x = memory.allocate(4, "x")
    memory.write(x.address, b"abcd")
    big = memory.allocate(3 << 20, "big")
    assert memory.read(x.address, 4) == b"abcd"
    memory.write(big.end - 4, np.array([7], np.int32))
    assert memory.arena[big.end - 4 - GLOBAL_BASE] == 7


def test_memory_is_provided_only_when_written():
    """A large array that nothing writes costs no host memory: pages are mapped, not touched."""
    memory = AddressSpace()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    memory.allocate(1 << 30, "large")
    grown_nbytes = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * (
        1 if sys.platform == "darwin" else 1024
    )
    assert grown_nbytes < 1 << 26


def message(call, *args) -> str:
    with pytest.raises(DeviceMemoryError) as caught:
        call(*args)
    return str(caught.value)


def test_errors_say_what_and_where():
    memory = AddressSpace(limit_nbytes=1000)
    x = memory.allocate(100, "x")
    y = memory.allocate(300, "y")
    assert (
        message(memory.allocate, 601, "z")
        == "out of device memory: 601 bytes asked for z, 400 of 1000 bytes are in use"
    )
    assert message(memory.allocate, -1) == "cannot allocate -1 bytes: the size is negative"
    assert (
        message(memory.read, x.address + 98, 4)
        == "cannot read 4 bytes at 0x700000062: 0x700000062 is byte 98 of x (100 bytes at 0x700000000)"
    )
    assert message(memory.write, 0, b"1") == "cannot write 1 bytes at 0x0: 0x0 is the null address"
    assert message(memory.free, x.address + 8) == (
        "cannot free 0x700000008: no allocation starts there; 0x700000008 is byte 8 of x (100 bytes at 0x700000000)"
    )
    memory.free(y.address)
    assert message(memory.free, y.address) == "cannot free 0x700000200: y (300 bytes at 0x700000200) was freed before"
    assert message(AddressSpace().allocate, 1 << 47, "huge") == (
        "out of device memory: 140737488355328 bytes asked for huge do not fit into the address space"
    )


def test_describe():
    memory = AddressSpace()
    assert memory.describe(0x12340) == "0x12340 is in no allocation; there is none"
    assert memory.describe(0x1234) == "0x1234 is 4660 bytes past the null address"
    x, y = memory.allocate(100, "x"), memory.allocate(16, "y")
    assert memory.describe(x.end) == "0x700000064 is just past the end of x (100 bytes at 0x700000000)"
    assert memory.describe(x.end + 8) == "0x70000006c is 8 bytes past the end of x (100 bytes at 0x700000000)"
    assert memory.describe(y.address - 4) == "0x7000001fc is 4 bytes before y (16 bytes at 0x700000200)"
    assert memory.describe(SHARED_WINDOW + 12) == "0x7e000000000c is byte 12 of the shared memory window"
    assert memory.describe(LOCAL_WINDOW) == "0x7f0000000000 is byte 0 of the local memory window"
    memory.free(x.address)
    assert memory.describe(x.address + 4) == (
        "0x700000004 is 508 bytes before y (16 bytes at 0x700000200); x (100 bytes at 0x700000000) was there and has "
        "been freed"
    )


class Model(RuleBasedStateMachine):
    """Any sequence of requests: allocations keep their content and their distance."""

    live = Bundle("live")

    def __init__(self):
        super().__init__()
        self.memory = AddressSpace()
        self.content: dict[int, bytes] = {}

    @rule(target=live, nbytes=st.integers(0, 5000), byte=st.integers(0, 255))
    def allocate(self, nbytes, byte):
        allocation = self.memory.allocate(nbytes)
        assert allocation.address % 256 == 0
        assert self.memory.read(allocation.address, nbytes) == bytes(nbytes)
        self.memory.write(allocation.address, bytes([byte]) * nbytes)
        self.content[allocation.address] = bytes([byte]) * nbytes
        return allocation

    @rule(allocation=consumes(live))
    def free(self, allocation):
        self.memory.free(allocation.address)
        del self.content[allocation.address]

    @invariant()
    def content_is_kept(self):
        for address, data in self.content.items():
            assert self.memory.read(address, len(data)) == data

    @invariant()
    def allocations_are_apart(self):
        starts, ends = self.memory.starts, self.memory.ends
        assert sorted(self.content) == starts.tolist()
        assert (starts[1:] - ends[:-1] >= GUARD_NBYTES).all()
        assert self.memory.used_nbytes == sum(map(len, self.content.values()))


TestModel = Model.TestCase
TestModel.settings = settings(max_examples=30, stateful_step_count=30)


@given(st.lists(st.integers(0, 100_000), max_size=20))
@settings(max_examples=30)
def test_freeing_everything_starts_over(sizes):
    memory = AddressSpace()
    first = [memory.allocate(nbytes).address for nbytes in sizes]
    for address in reversed(first[::2] + first[1::2]):
        memory.free(address)
    assert memory.used_nbytes == 0
    assert [memory.allocate(nbytes).address for nbytes in sizes] == first


def test_freed_memory_rests_until_there_is_no_other_room():
    """Where somebody looks for uses of freed memory. Of a shared arena of 64 KiB, and of what is never full."""
    memory = AddressSpace(arena=np.zeros(1 << 16, np.uint8))
    memory.separate_allocations([4096])
    first = memory.allocate(1000)
    memory.free(first.address)
    second = memory.allocate(1000)
    assert second.address == first.address + 5120  # 1000 + 4096, rounded up to 256
    memory.free(second.address)
    assert memory.allocate(60000).address == first.address
    plain = AddressSpace()
    plain.separate_allocations([0])
    plain.free(plain.allocate(1000).address)
    assert plain.allocate(1000).address == first.address


def test_not_all_freed_memory_rests():
    memory = AddressSpace(arena=np.zeros(MOST_RESTING_NBYTES + (1 << 20), np.uint8))
    memory.separate_allocations([4096])
    old, large = memory.allocate(1000), memory.allocate(MOST_RESTING_NBYTES - 8192)
    memory.free(old.address)
    memory.free(large.address)
    assert memory.allocate(1000).address == old.address


def reserving() -> tuple[AddressSpace, int]:
    """An arena of 4 KiB for 2 KiB of memory, and 1 KiB of reserved addresses at its end."""
    memory = AddressSpace(2048, np.zeros(4096, np.uint8))
    return memory, memory.reserve(1024, 512)


def test_what_is_mapped_side_by_side_is_one_allocation():
    memory, start = reserving()
    assert start == GLOBAL_BASE + 2560, "with a gap after it"
    memory.map(start + 256, 256)
    memory.map(start + 512, 256)
    memory.map(start, 256)
    assert memory.allocations == (Allocation(start, 768, "cuMemMap", is_mapped=True),)
    memory.write(start + 200, b"\x05" * 112)
    memory.unmap(start + 256, 256)
    assert memory.allocations == (
        Allocation(start, 256, "cuMemMap", is_mapped=True),
        Allocation(start + 512, 256, "cuMemMap", is_mapped=True),
    )
    assert memory.used_nbytes == 512
    memory.map(start + 256, 256)
    assert memory.read(start + 200, 112) == b"\x05" * 56 + bytes(56), "what is mapped again is zero again"


def test_reserved_addresses_are_not_allocated_and_used_again():
    memory, start = reserving()
    memory.limit_nbytes = None
    memory.allocate(2000, "a")
    with pytest.raises(DeviceMemoryError, match="800 bytes asked for b; the addresses after them"):
        memory.allocate(800, "b")
    with pytest.raises(DeviceMemoryError, match="600 bytes of addresses that follow each other are not there"):
        memory.reserve(600, 256)
    memory.unreserve(start)
    assert memory.reserve(600, 256) == GLOBAL_BASE + 3072


def test_mapping_has_the_limit_of_memory_and_no_other_ends_it():
    memory, start = reserving()
    memory.map(start, 512)
    with pytest.raises(DeviceMemoryError, match=r"cannot map 512 bytes at 0x700000b00: cuMemMap \(512 bytes"):
        memory.map(start + 256, 512)
    with pytest.raises(DeviceMemoryError, match="it is mapped, for cuMemUnmap"):
        memory.free(start)
    with pytest.raises(DeviceMemoryError, match="cannot unmap 600 bytes"):
        memory.unmap(start, 600)
    memory.allocate(1500, "a")
    with pytest.raises(DeviceMemoryError, match="out of device memory: 512 bytes asked for cuMemMap"):
        memory.map(start + 512, 512)


def test_a_mapping_far_away_costs_only_what_is_touched():
    """As where a saved stream is replayed."""
    memory = AddressSpace()
    memory.write(memory.allocate(4, "a").address, b"abcd")
    far = GLOBAL_BASE + (1 << 40)
    memory.map(far, 4096)
    memory.write(far, b"efgh")
    assert memory.read(GLOBAL_BASE, 4) + memory.read(far, 4) == b"abcdefgh"
