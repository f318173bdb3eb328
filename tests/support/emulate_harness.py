"""Runs hand-made programs on the emulator: the tests' way to see one instruction, or a handful, do their work."""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np

from gpuprof.device.commands import Launch
from gpuprof.device.memory import AddressSpace
from gpuprof.device.module import load
from gpuprof.emulate.run import emulate
from gpuprof.emulate.trace_log.launch_counters import LaunchCounters
from gpuprof.emulate.trace_log.trace import REST, Order, TracePiece
from gpuprof.isa.encoding import Instruction, encode, make, reads, writes
from gpuprof.isa.modifiers import pack
from gpuprof.isa.opcodes import BY_NAME
from gpuprof.isa.program import PROGRAM_COUNTER_WORDS, Function, Location, Program
from gpuprof.isa.special import SPECIAL_INDEX

ADDR64 = pack(addr64=1)
EXECUTED: set[str] = set()  # names of all opcodes that `run` has seen executed
CHIP = SimpleNamespace(name="test", sms=4, warp_slots=64)  # all that the emulator may ask a chip for, and its name


def special(name: str, dst: int) -> Instruction:
    return make("S2R", dst=dst, imm=SPECIAL_INDEX[name])


def jump(at: int, to: int, **slots) -> Instruction:
    """A branch from instruction `at` to instruction `to`."""
    return make("BRA", imm=16 * (to - at - 1), **slots)


def program_of(instructions: list[Instruction], shared_nbytes=0, local_nbytes=0, functions=(), variables=()) -> Program:
    """A module with one kernel `k`; instruction i has the source position k.cu:i+1. `functions`: (name, first
    instruction).
    """
    counts = {"R": 0, "D": 0, "P": 0}
    for inst in instructions:
        for operand in (*reads(inst), *writes(inst)):
            counts[operand.file] = max(counts[operand.file], operand.index + operand.count)
    n = len(instructions)
    kernel = Function(
        "k",
        "k",
        0,
        n,
        True,
        registers=max(counts["R"], 2 * counts["D"]) + PROGRAM_COUNTER_WORDS,
        r_count=counts["R"],
        d_count=counts["D"],
        p_count=counts["P"],
        shared_nbytes=shared_nbytes,
        local_nbytes=local_nbytes,
    )
    others = tuple(Function(name, name, first, n - first, False) for name, first in functions)
    locations = tuple(Location("k.cu", i + 1) for i in range(n))
    return Program(
        "k.cu", encode(instructions), (kernel, *others), tuple(variables), (), "", np.zeros(n, np.uint32), locations
    )


@dataclass
class Result:
    pieces: list[TracePiece]
    counters: LaunchCounters
    memory: AddressSpace

    def steps(self, warp: int) -> list[tuple[int, int]]:
        """(block, mask) runs of a warp of the first piece."""
        piece = self.pieces[0]
        return [(int(b), int(m)) for b, m in piece.steps[piece.step_start[warp] : piece.step_start[warp + 1]]]

    def accesses(self, warp: int) -> list[tuple[int, ...]]:
        """(sectors, lines, wavefronts, ideal wavefronts, lanes, conflicts, uniform) of a warp of the first piece."""
        piece = self.pieces[0]
        return [
            tuple(int(v) for v in row)[:7]
            for row in piece.accesses[piece.access_start[warp] : piece.access_start[warp + 1]]
        ]

    def sectors(self, warp: int) -> list[int]:
        piece = self.pieces[0]
        return piece.sectors[piece.sector_start[warp] : piece.sector_start[warp + 1]].tolist()


def run(
    instructions,
    params=b"",
    *,
    grid=(1, 1, 1),
    block=(32, 1, 1),
    memory=None,
    dynamic_shared_nbytes=0,
    max_warp_instructions=100_000,
    footprint=None,
    listener=None,
    is_watched=True,
    **program,
) -> Result:
    """`is_watched`: with a trace and counts."""
    memory = memory or AddressSpace()
    module = load(program_of(instructions, **program), memory)
    launch = Launch(0, module, module.program.functions[0], grid, block, dynamic_shared_nbytes, params, 0, "k")
    counters = LaunchCounters.zeros(len(module.code))
    try:
        made = emulate(
            launch,
            memory,
            chip=CHIP,
            max_warp_instructions=max_warp_instructions,
            counters=counters,
            orders=None if is_watched else (Order(REST, traced=False),),
            footprint=footprint,
            listener=listener,
            is_counted=is_watched,
        )
        pieces = list(made)
    finally:
        EXECUTED.update(inst.op.name for inst, count in zip(instructions, counters.inst_executed, strict=True) if count)
    return Result(pieces, counters, memory)


def global_index(index: int = 250, scratch: int = 251) -> list[Instruction]:
    """R[index] = blockIdx.x * blockDim.x + threadIdx.x."""
    return [
        special("ctaid.x", index),
        special("ntid.x", scratch),
        make("IMUL", dst=index, a=index, b=scratch),
        special("tid.x", scratch),
        make("IADD", dst=index, a=index, b=scratch),
    ]


def evaluate(instruction: Instruction, inputs: dict[str, np.ndarray], outputs: dict[str, np.dtype]) -> list[np.ndarray]:
    """Runs one instruction in as many threads as the inputs have elements.

    inputs: slot -> array of 4-byte (R), 8-byte (D) or bool (P) elements, for the slots that are registers.
    outputs: slot -> dtype. The instruction's register numbers are set here: slot s uses register 10 + position of s.
    """
    memory = AddressSpace()
    n = len(next(iter(inputs.values())))
    body = global_index()
    slots = {}
    for number, (slot, values) in enumerate(inputs.items()):
        address = memory.allocate(max(values.nbytes, n * 4), slot).address
        wide = values.dtype.itemsize == 8
        memory.write(address, values.astype(np.uint32) if values.dtype == np.bool_ else values)
        register = 10 + number
        body += load_or_store("LDG", address, register, wide, number)
        if values.dtype == np.bool_:
            body.append(make("ISETP.U32", dst=register, a=register, imm=0, slot="b", mods=pack(cmp="ne")))
        slots[slot] = register
    results = []
    for number, (slot, dtype) in enumerate(outputs.items()):
        slots[slot] = 40 + number
        dtype = np.dtype(dtype)
        stored = np.dtype(np.uint32) if dtype == np.bool_ else dtype
        results.append((slot, dtype, memory.allocate(n * stored.itemsize, slot).address))
    body.append(instruction._replace(**slots))
    for slot, dtype, address in results:
        register = slots[slot]
        if dtype == np.bool_:
            body.append(make("SEL", dst=60, a=60, b=255, e=register, imm=1, slot="a"))
            body += load_or_store("STG", address, 60, False, 99)
        else:
            body += load_or_store("STG", address, register, dtype.itemsize == 8, 99)
    body.append(make("EXIT"))
    block = min(n, 128)
    padded = -(-n // block)
    assert n % block == 0
    run(body, grid=(padded, 1, 1), block=(block, 1, 1), memory=memory)
    found = []
    for _, dtype, address in results:
        stored = np.dtype(np.uint32) if dtype == np.bool_ else dtype
        raw = np.frombuffer(memory.read(address, n * stored.itemsize), stored)
        found.append(raw.astype(np.bool_) if dtype == np.bool_ else raw)
    return found


def load_or_store(family: str, base: int, register: int, wide: bool, number: int) -> list[Instruction]:
    """Element R250 of the array at `base`, to or from a register."""
    name = f"{family}.{'64' if wide else '32'}"
    address = [
        make("MOVI.64", dst=200, imm=base & 0xFFFFFFFF, mods=base >> 32),
        make("IMAD.WIDE.U32", dst=201, a=250, imm=8 if wide else 4, slot="b", c=200),
    ]
    data = {"dst": register} if family == "LDG" else {"b": register}
    return [*address, make(name, a=201, mods=ADDR64, **data)]


def op(name: str, **slots) -> Instruction:
    """An instruction whose register slots are yet to be set."""
    given = {
        slot: 1
        for slot in ("dst", "a", "b", "c", "e")
        if getattr(BY_NAME[name], slot) and slot not in slots and slot != slots.get("slot")
    }
    return make(name, **(given | slots))
