"""How many warp instructions the emulator runs in a second, trace included. Not a test: `make bench` calls
emulate_rate.
"""

import time

import numpy as np

from gpuprof.device.memory import AddressSpace
from gpuprof.emulate.watch.footprint import Footprint
from gpuprof.isa.encoding import make
from gpuprof.isa.modifiers import pack
from tests.support.emulate_harness import ADDR64, global_index, jump, run, special

ROUNDS = 200
BLOCKS, THREADS = 128, 256


def converged() -> tuple[list, AddressSpace]:
    """A loop of integer and fused float arithmetic, all lanes together."""
    start = [make("MOV", dst=register, imm=0, slot="a") for register in range(8)]
    body = [
        make("FFMA", dst=1, a=1, b=2, c=3),
        make("FADD", dst=2, a=2, b=3),
        make("IMAD", dst=4, a=4, b=5, c=6),
        make("XOR", dst=5, a=5, b=4),
        make("FMUL", dst=3, a=3, b=1),
        make("IADD", dst=6, a=6, b=5),
        make("SHL", dst=7, a=6, imm=3, slot="b"),
        make("IADD", dst=0, a=0, imm=1, slot="b"),
        make("ISETP.U32", dst=0, a=0, imm=ROUNDS, slot="b", mods=pack(cmp="lt")),
    ]
    return [*start, *body, jump(len(start) + len(body), len(start), guard=0), make("EXIT")], AddressSpace()


def memory_bound() -> tuple[list, AddressSpace]:
    """Coalesced loads and stores with a little arithmetic between."""
    memory = AddressSpace()
    base = memory.allocate(4 * BLOCKS * THREADS, "data").address
    start = [
        *global_index(),
        make("MOVI.64", dst=0, imm=base & 0xFFFFFFFF, mods=base >> 32),
        make("IMAD.WIDE.U32", dst=1, a=250, imm=4, slot="b", c=0),
    ]
    body = [
        make("LDG.32", dst=1, a=1, mods=ADDR64),
        make("IADD", dst=1, a=1, imm=1, slot="b"),
        make("STG.32", a=1, b=1, mods=ADDR64),
        make("IADD", dst=0, a=0, imm=1, slot="b"),
        make("ISETP.U32", dst=0, a=0, imm=ROUNDS, slot="b", mods=pack(cmp="lt")),
    ]
    return [*start, *body, jump(len(start) + len(body), len(start), guard=0), make("EXIT")], memory


def gather() -> tuple[list, AddressSpace]:
    """Loads from pseudo-random places."""
    code, memory = memory_bound()
    base = memory.starts[0]
    hop = [
        make("IMAD", dst=250, a=250, imm=1664525, slot="b", c=250),
        make("AND", dst=8, a=250, imm=BLOCKS * THREADS - 1, slot="b"),
        make("MOVI.64", dst=0, imm=int(base) & 0xFFFFFFFF, mods=int(base) >> 32),
        make("IMAD.WIDE.U32", dst=1, a=8, imm=4, slot="b", c=0),
        make("LDG.32", dst=1, a=1, mods=ADDR64),
        make("IADD", dst=0, a=0, imm=1, slot="b"),
        make("ISETP.U32", dst=0, a=0, imm=ROUNDS, slot="b", mods=pack(cmp="lt")),
    ]
    start = code[:7]
    return [*start, *hop, jump(len(start) + len(hop), len(start), guard=0), make("EXIT")], memory


def divergent() -> tuple[list, AddressSpace]:
    """In each round of a loop the lanes of every warp take one of two ways, by a bit that changes."""
    code = [
        special("tid.x", 1),
        make("SHR.U32", dst=2, a=1, b=0),  # 1: loop
        make("AND", dst=2, a=2, imm=1, slot="b"),
        make("ISETP.U32", dst=1, a=2, imm=0, slot="b", mods=pack(cmp="eq")),
        jump(4, 8, guard=1),
        make("IMAD", dst=3, a=3, b=1, c=2),
        make("XOR", dst=3, a=3, b=1),
        jump(7, 9),
        make("IADD", dst=3, a=3, b=1),
        make("IADD", dst=0, a=0, imm=1, slot="b"),  # 9: both
        make("AND", dst=4, a=0, imm=3, slot="b"),
        make("ISETP.U32", dst=0, a=0, imm=ROUNDS, slot="b", mods=pack(cmp="lt")),
        jump(12, 1, guard=0),
        make("EXIT"),
    ]
    return code, AddressSpace()


def shuffle() -> tuple[list, AddressSpace]:
    """A warp reduction by shuffles, again and again: five shuffles and five additions a round."""
    body = []
    for distance in (16, 8, 4, 2, 1):
        lanes = pack(shfl="bfly", has_lane=1, lane=distance, has_clamp=1, clamp=31)
        body += [make("SHFL", dst=2, a=1, imm=0xFFFFFFFF, mods=lanes), make("FADD", dst=1, a=1, b=2)]
    body += [
        make("IADD", dst=0, a=0, imm=1, slot="b"),
        make("ISETP.U32", dst=0, a=0, imm=ROUNDS, slot="b", mods=pack(cmp="lt")),
    ]
    return [special("laneid", 1), *body, jump(len(body) + 1, 1, guard=0), make("EXIT")], AddressSpace()


def atomics(bins: int, space: str) -> tuple[list, AddressSpace]:
    """A histogram: each lane adds one to a pseudo-random bin, in a loop."""
    memory = AddressSpace()
    base = memory.allocate(4 * bins, "bins").address
    start = [*global_index(), make("MOVI.64", dst=0, imm=base & 0xFFFFFFFF, mods=base >> 32)]
    red = {
        "global": [
            make("IMAD.WIDE.U32", dst=1, a=8, imm=4, slot="b", c=0),
            make("REDG.ADD.U32", a=1, b=9, mods=ADDR64),
        ],
        "shared": [make("SHL", dst=10, a=8, imm=2, slot="b"), make("REDS.ADD.U32", a=10, b=9)],
    }[space]
    body = [
        make("IMAD", dst=250, a=250, imm=1664525, slot="b", c=250),
        make("SHR.U32", dst=8, a=250, imm=16, slot="b"),
        make("AND", dst=8, a=8, imm=bins - 1, slot="b"),
        *red,
        make("IADD", dst=0, a=0, imm=1, slot="b"),
        make("ISETP.U32", dst=0, a=0, imm=ROUNDS, slot="b", mods=pack(cmp="lt")),
    ]
    start.append(make("MOV", dst=9, imm=1, slot="a"))
    return [*start, *body, jump(len(start) + len(body), len(start), guard=0), make("EXIT")], memory


def tensor() -> tuple[list, AddressSpace]:
    """A loop of m16n8k16 multiplications of f16 with f32 accumulators, and the two loads of fragments that go with
    eight of them.
    """
    start = [special("laneid", 40), make("SHL", dst=40, a=40, imm=4, slot="b")]
    body = [
        make("LDSM.4", dst=0, a=40),
        make("LDSM.4", dst=4, a=40, mods=pack(trans=1)),
        *(make("HMMA.16816.F32", dst=8 + 4 * i, a=0, b=4 + 2 * (i % 2), c=8 + 4 * i) for i in range(4)),
        *(make("HMMA.16816.F32", dst=24 + 4 * i, a=0, b=4 + 2 * (i % 2), c=24 + 4 * i) for i in range(4)),
        make("IADD", dst=41, a=41, imm=1, slot="b"),
        make("ISETP.U32", dst=0, a=41, imm=ROUNDS // 4, slot="b", mods=pack(cmp="lt")),
    ]
    return [*start, *body, jump(len(start) + len(body), len(start), guard=0), make("EXIT")], AddressSpace()


KINDS = {
    "converged": converged,
    "memory": memory_bound,
    "gather": gather,
    "divergent": divergent,
    "shuffle": shuffle,
    "atomic": lambda: atomics(4096, "global"),
    "atomic.shared": lambda: atomics(256, "shared"),
    "tensor": tensor,
}


def emulate_rate(kind: str, footprint: Footprint | None = None) -> float:
    """Warp instructions per second of one of KINDS, on one core, with the trace made; the best of three runs.
    `footprint`: notes the bytes read and written.
    """
    best = 0.0
    for _ in range(4):  # the first compiles or loads the kernels
        code, memory = KINDS[kind]()
        start = time.perf_counter()
        result = run(
            code,
            memory=memory,
            grid=(BLOCKS, 1, 1),
            block=(THREADS, 1, 1),
            shared_nbytes=1024,
            max_warp_instructions=10_000_000,
            footprint=footprint,
        )
        best = max(best, float(np.sum(result.counters.inst_executed)) / (time.perf_counter() - start))
    return best


if __name__ == "__main__":
    for name in KINDS:
        plain, noted = emulate_rate(name), emulate_rate(name, Footprint())
        print(f"{name:14s} {plain / 1e6:8.1f} M warp instructions/s, {noted / 1e6:8.1f} with a footprint")
