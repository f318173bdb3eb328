"""Memory as bytes: what all threads of a launch share, what a block does, what a thread has for itself."""

import struct

from gpuprof.device.commands import Launch
from gpuprof.device.memory import GLOBAL_BASE, LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, WINDOW_NBYTES, AddressSpace
from gpuprof.isa.special import CONSTANTS_AT, LAUNCH_WORDS_AT, LITERALS_AT
from tests.one_thread.events import Access

WINDOWS = {"shared": SHARED_WINDOW, "local": LOCAL_WINDOW, "param": PARAM_WINDOW}
READ_ONLY = ("const", "param")
LOCAL_NBYTES = 1 << 16  # of a thread: more than any frames of the tests


class Memory:
    """Bytes by state space. `spaces` holds those that all threads see; threads add their own (`of_thread`)."""

    def __init__(self, launch: Launch, memory: AddressSpace):
        self.spaces = {
            "global": bytearray(memory.arena.tobytes()),
            "const": bytearray(launch.module.const_segment),
            "param": bytearray(launch.params),
        }
        self.allocations = [(each.address, each.end) for each in memory.allocations]

    def bytes_at(self, own: dict[str, bytearray], access: Access) -> memoryview:
        """The bytes of an access, to read or to write. Raises IndexError outside of what there is, or misaligned."""
        space, _, address, nbytes = access
        if address % min(nbytes, 16):
            raise IndexError(f"misaligned: {access}")
        place = own.get(space)
        if place is None:
            place = self.spaces[space]
        if space == "global":
            if not any(start <= address and address + nbytes <= end for start, end in self.allocations):
                raise IndexError(f"outside of all allocations: {access}")
            address -= GLOBAL_BASE
        if not 0 <= address <= len(place) - nbytes:
            raise IndexError(f"outside: {access}")
        return memoryview(place)[address : address + nbytes]


def placed(space: str, operation: str, address: int, nbytes: int) -> Access:
    """An access whose generic address is one of the space that the address lies in."""
    if space == "generic":
        for name, base in WINDOWS.items():
            if base <= address < base + WINDOW_NBYTES:
                return Access(name, operation, address - base, nbytes)
        space = "global"
    return Access(space, operation, address, nbytes)


def constant_bank(launch: Launch) -> bytes:
    """What constant operands read: isa/special.py says where each part begins."""
    parts = {
        0: launch.params,
        LAUNCH_WORDS_AT: struct.pack("<6I", *launch.block, *launch.grid),
        LITERALS_AT: launch.module.program.literals,
        CONSTANTS_AT: launch.module.const_segment,
    }
    bank = bytearray(CONSTANTS_AT + len(launch.module.const_segment))
    for start, data in parts.items():
        bank[start : start + len(data)] = data
    return bytes(bank)
