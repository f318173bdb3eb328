"""A launch, one thread after the other: what memory holds then, and what each thread did.

The program comes decoded from its 16-byte instructions; what an instruction does comes from the PTX ISA manual, by way
of the references of the conformance tests. Nothing comes from `gpuprof.emulate`.
"""

from itertools import product
from typing import NamedTuple

from gpuprof.device.commands import Launch
from gpuprof.device.memory import AddressSpace
from tests.one_thread.block import WARP, run_block
from tests.one_thread.decoded import decoded
from tests.one_thread.events import Event
from tests.one_thread.memory import Memory, constant_bank
from tests.one_thread.thread import Thread
from tests.references.conformance_integers import MASK32


class Done(NamedTuple):
    """`arena`: all of global memory. `events[block][thread]`: what that thread did, blocks and threads by their linear
    index.
    """

    arena: bytes
    events: list[list[list[Event]]]


class Launched:
    """What all threads of a launch share."""

    def __init__(self, launch: Launch, memory: AddressSpace):
        self.launch = launch
        self.memory = Memory(launch, memory)
        self.code = decoded(launch.module.code, constant_bank(launch))
        self.first = launch.function.first

    def row_at(self, address: int) -> int:
        return (address - self.launch.module.load_base) // 16


def run_launch(launch: Launch, memory: AddressSpace) -> Done:
    """Runs the blocks in their order. `memory` stays as it was.

    Raises KeyError for what the interpreter does not know: an instruction, or a register that depends on time or place.
    """
    launched = Launched(launch, memory)
    events = []
    for z, y, x in product(*map(range, reversed(launch.grid))):
        threads = block_of(launched, (x, y, z))
        run_block(threads)
        events.append([thread.events for thread in threads])
    return Done(bytes(launched.memory.spaces["global"]), events)


def block_of(launched: Launched, index: tuple[int, int, int]) -> list[Thread]:
    launch = launched.launch
    shared = bytearray(launch.shared_nbytes)
    threads = []
    for number, (z, y, x) in enumerate(product(*map(range, reversed(launch.block)))):
        special = special_registers(launch, index, (x, y, z), number)
        threads.append(Thread(launched, shared, special, number % WARP))
    return threads


def special_registers(launch: Launch, block: tuple, thread: tuple, number: int) -> dict[str, int]:
    """Those that say where a thread is in the launch (PTX ISA 10)."""
    lane = number % WARP
    bit = 1 << lane
    found = {
        f"{name}.{axis}": values[k]
        for name, values in (("tid", thread), ("ntid", launch.block), ("ctaid", block), ("nctaid", launch.grid))
        for k, axis in enumerate("xyz")
    }
    masks = {"eq": bit, "lt": bit - 1, "le": 2 * bit - 1, "gt": MASK32 & -2 * bit, "ge": MASK32 & -bit}
    found |= {"laneid": lane, "dynamic_smem_size": launch.dynamic_shared_nbytes}
    return found | {f"lanemask_{name}": mask for name, mask in masks.items()}
