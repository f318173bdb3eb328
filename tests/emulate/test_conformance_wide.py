"""Atomics of several words, the copies of cp.async, and the stack of local memory: against plain Python numbers and
bytes.
"""

import zlib

import numpy as np
import pytest

from gpuprof.device.memory import SHARED_WINDOW, AddressSpace
from gpuprof.errors import KernelFault
from gpuprof.isa.encoding import make
from gpuprof.isa.modifiers import pack
from gpuprof.isa.opcodes import BY_NAME, TABLE
from tests.emulate.test_conformance_memory import THREADS, atomic_values, own_address
from tests.references.atomic import apply
from tests.references.conformance_integers import MASK32
from tests.support.emulate_harness import ADDR64, run, special

CELLS = 5
ATOMICS = [op.name for op in TABLE if op.semantics.startswith(("atom_", "red_")) and op.a == "A" and op.b[1:]]
COPIES = [op.name for op in TABLE if op.semantics == "copy_async"]


def step(operation: str, t: str, is_global: bool, old: tuple, value: tuple, other: tuple) -> tuple:
    """What one lane leaves in a cell, given as words: each element by itself, 128 bits as one number."""
    if t != "b128":
        return tuple(apply(operation, t, is_global, o, v, 0) for o, v in zip(old, value, strict=True))
    return value if operation == "exch" else other if old == value else old


@pytest.mark.parametrize("name", ATOMICS)
def test_atomic(name):
    """64 threads on five cells in ascending order, all lanes of a third of the threads guarded off."""
    op = BY_NAME[name]
    t, operation = op.types[0], op.semantics.split("_")[1]
    count, file = int(op.b[1:]), op.b[0]
    width = 8 if file == "D" else 4
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    kind = "b64" if t == "b128" else t

    def cells_of(n: int) -> list[tuple]:
        columns = [atomic_values(kind, n, rng) for _ in range(count)]
        return list(zip(*columns, strict=True))

    initial, given, other = cells_of(CELLS), cells_of(THREADS), cells_of(THREADS)
    cells = [int(c) for c in rng.integers(0, CELLS, THREADS)]
    if operation == "cas":
        given = [initial[c] if k % 2 else v for k, (c, v) in enumerate(zip(cells, given, strict=True))]
        given[7] = (initial[cells[7]][0], initial[cells[7]][1] ^ 1)  # half of it is not enough
    memory = AddressSpace()
    arrays = {}
    for key, rows in (("cells", initial), ("given", given), ("other", other), ("out", [(7,) * count] * THREADS)):
        data = np.array(rows, f"u{width}")
        arrays[key] = memory.allocate(data.nbytes, key).address
        memory.write(arrays[key], data)
    arrays["at"] = memory.allocate(4 * THREADS, "at").address
    memory.write(arrays["at"], np.array([c * op.nbytes for c in cells], np.uint32))
    group = {(4, 2): "V2.32", (4, 4): "V4.32", (8, 2): "V2.64"}[width, count]
    one = "64" if width == 8 else "32"
    code = [special("tid.x", 250), *own_address(arrays["at"], 198, 4), make("LDG.32", dst=30, a=198, mods=ADDR64)]
    for register, key in ((20, "given"), (24, "other")):
        code += [*own_address(arrays[key], 198, op.nbytes), make(f"LDG.{group}", dst=register, a=198, mods=ADDR64)]
    copies = [make(f"LDG.{one}", dst=60, a=190, imm=k * width, mods=ADDR64) for k in range(CELLS * count)]
    in_shared = op.space == "shared" or (op.space == "generic" and zlib.crc32(name.encode()) % 2)
    code += [
        make("MOVI.64", dst=190, imm=arrays["cells"] & MASK32, mods=arrays["cells"] >> 32),
        make("ISETP.U32", dst=1, a=250, imm=0, slot="b"),
    ]
    if in_shared:
        for k, load in enumerate(copies):
            code += [load, make(f"STS.{one}", a=255, b=60, imm=k * width, guard=1)]
        code.append(make("BAR.SYNC"))
    base = (SHARED_WINDOW if op.space == "generic" else 0) if in_shared else arrays["cells"]
    code += [
        make("MOVI.64", dst=191, imm=base & MASK32, mods=base >> 32), make("IMAD.WIDE.U32", dst=192, a=30, imm=1,
            slot="b", c=191),
        make("LO.64", dst=92, a=192), make("IREM.U32", dst=93, a=250, imm=3, slot="b"),
        make("ISETP.U32", dst=2, a=93, imm=0, slot="b", mods=pack(cmp="ne")),
    ]  # fmt: skip
    code += [
        make("MOVI.64" if file == "D" else "MOV", dst=40 + k, imm=7, slot="" if file == "D" else "a")
        for k in range(count)
    ]
    slots = {
        "a": 92 if op.space == "shared" else 192,
        "b": 20,
        "mods": 0 if op.space == "shared" else ADDR64,
        "guard": 2,
    }
    slots |= ({"c": 24} if op.c else {}) | ({"dst": 40} if op.dst else {})
    code.append(make(name, **slots))
    if op.dst:
        code += [*own_address(arrays["out"], 198, op.nbytes), make(f"STG.{group}", a=198, b=40, mods=ADDR64)]
    if in_shared:
        code.append(make("BAR.SYNC"))
        for k in range(CELLS * count):
            code += [
                make(f"LDS.{one}", dst=60, a=255, imm=k * width),
                make(f"STG.{one}", a=190, b=60, imm=k * width, mods=ADDR64),
            ]
    run([*code, make("EXIT")], memory=memory, block=(THREADS, 1, 1), dynamic_shared_nbytes=CELLS * op.nbytes)

    state, olds = list(initial), []
    for thread, (cell, value, second) in enumerate(zip(cells, given, other, strict=True)):
        olds.append(state[cell] if thread % 3 else (7,) * count)
        if thread % 3:
            state[cell] = step(operation, t, not in_shared, state[cell], value, second)
    found = np.frombuffer(memory.read(arrays["cells"], CELLS * op.nbytes), f"u{width}").reshape(CELLS, count)
    assert [tuple(row) for row in found.tolist()] == state
    if op.dst:
        returned = np.frombuffer(memory.read(arrays["out"], THREADS * op.nbytes), f"u{width}").reshape(THREADS, count)
        assert [tuple(row) for row in returned.tolist()] == olds


# cp.async


def copy_code(name: str, source: int, sizes: int, out: int, waits: bool = True) -> list:
    """Thread t copies its bytes from `source` to shared memory at 16 t, which was filled with 0xAA; then writes them to
    `out`.
    """
    op = BY_NAME[name]
    code = [
        special("tid.x", 250),
        make("SHL", dst=10, a=250, imm=4, slot="b"),
        make("MOV", dst=11, imm=0xAAAAAAAA, slot="a"),
    ]
    code += [make("STS.32", a=10, b=11, imm=4 * k) for k in range(4)]
    code += [
        *own_address(sizes, 197, 4),
        make("LDG.32", dst=12, a=197, mods=ADDR64),
        *own_address(source, 196, op.nbytes),
    ]
    code += [
        make("AND", dst=13, a=250, imm=7, slot="b"),
        make("ISETP.U32", dst=1, a=13, imm=5, slot="b", mods=pack(cmp="ne")),
    ]
    code.append(make(name, a=196, b=10, mods=ADDR64, guard=1, **({"c": 12} if op.c else {})))
    code += [make("CP.ASYNC.COMMIT"), make("CP.ASYNC.WAIT", imm=0)] if waits else []
    code += own_address(out, 198, 16)
    for k in range(4):
        code += [make("LDS.32", dst=14, a=10, imm=4 * k), make("STG.32", a=198, b=14, imm=4 * k, mods=ADDR64)]
    return [*code, make("EXIT")]


@pytest.mark.parametrize("name", COPIES)
def test_copy(name):
    """Every eighth thread is guarded off; with .Z, threads take 0 to 20 bytes (20 is all of it) and zeros follow."""
    op = BY_NAME[name]
    rng = np.random.default_rng(5)
    memory = AddressSpace()
    data = rng.integers(1, 256, (THREADS, op.nbytes), np.uint8)
    sizes = np.arange(THREADS, dtype=np.uint32) % 21
    # The last thread's bytes end with the allocation: what it does not take is not there.
    last = int(min(sizes[-1], op.nbytes)) if op.c else op.nbytes
    source = memory.allocate(data.nbytes - op.nbytes + last, "source").address
    memory.write(source, data.reshape(-1)[: data.nbytes - op.nbytes + last])
    counts, out = memory.allocate(sizes.nbytes, "sizes").address, memory.allocate(16 * THREADS, "out").address
    memory.write(counts, sizes)
    result = run(
        copy_code(name, source, counts, out), memory=memory, block=(THREADS, 1, 1), dynamic_shared_nbytes=16 * THREADS
    )
    found = np.frombuffer(memory.read(out, 16 * THREADS), np.uint8).reshape(THREADS, 16)
    for thread in range(THREADS):
        wanted = np.full(16, 0xAA, np.uint8)
        if thread % 8 != 5:
            taken = min(int(sizes[thread]), op.nbytes) if op.c else op.nbytes
            wanted[: op.nbytes] = 0
            wanted[:taken] = data[thread, :taken]
        assert found[thread].tolist() == wanted.tolist(), thread
    lanes = [row[4] for row in result.accesses(0)][5]  # after four stores and a load of the sizes
    assert lanes == sum(1 for t in range(32) if t % 8 != 5 and (sizes[t] or not op.c))


def test_copies_stay_inside():
    """What is read and what is written is checked, each in its own space."""
    memory = AddressSpace()
    source, out = memory.allocate(16 * 40, "source").address, memory.allocate(16 * THREADS, "out").address
    with pytest.raises(KernelFault, match=r"out of bounds read of 16 bytes in global memory"):
        run(
            copy_code("CP.ASYNC.16", source, out, out),
            memory=memory,
            block=(THREADS, 1, 1),
            dynamic_shared_nbytes=16 * THREADS,
        )
    sizes = memory.allocate(4 * THREADS, "sizes").address
    memory.write(sizes, np.full(THREADS, 3, np.uint32))
    with pytest.raises(KernelFault, match=r"out of bounds read of 3 bytes in global memory"):
        run(
            copy_code("CP.ASYNC.16.Z", source, sizes, out),
            memory=memory,
            block=(THREADS, 1, 1),
            dynamic_shared_nbytes=16 * THREADS,
        )
    code = [make("MOVI.64", dst=1, imm=source & MASK32, mods=source >> 32), make("MOV", dst=2, imm=8, slot="a")]
    with pytest.raises(KernelFault, match=r"out of bounds write of 16 bytes in shared memory at 0x10"):
        run(
            [*code, make("IADD", dst=2, a=2, b=2), make("CP.ASYNC.16", a=1, b=2, mods=ADDR64), make("EXIT")],
            memory=memory,
            dynamic_shared_nbytes=16,
        )
    with pytest.raises(KernelFault, match=r"misaligned write of 16 bytes in shared memory at 0x8"):
        run([*code, make("CP.ASYNC.16", a=1, b=2, mods=ADDR64), make("EXIT")], memory=memory, dynamic_shared_nbytes=64)


# The stack


def test_stack_grows_and_is_set_back():
    """Each lane takes 8 * tid bytes, saves, takes 5 more at an alignment of 64, and sets back; odd lanes are guarded
    off at the second.
    """
    memory = AddressSpace()
    out = memory.allocate(5 * 8 * 32, "out").address
    frame = 48
    code = [
        special("tid.x", 250), make("IMUL.WIDE.U32", dst=0, a=250, imm=8, slot="b"),
        make("ALLOCA", dst=1, a=0, imm=8, mods=frame),
        make("STACKSAVE", dst=2, mods=frame), make("AND", dst=1, a=250, imm=1, slot="b"),
        make("ISETP.U32", dst=0, a=1, imm=0, slot="b"),
        make("MOVI.64", dst=3, imm=5), make("MOVI.64", dst=4, imm=9), make("ALLOCA", dst=4, a=3, imm=64, mods=frame,
            guard=0),
        make("STACKSAVE", dst=5, mods=frame), make("STACKRESTORE", a=2, mods=frame),
        make("STACKSAVE", dst=6, mods=frame),
        *own_address(out, 198, 40),
        *(make("STG.64", a=198, b=register, imm=8 * k, mods=ADDR64) for k, register in enumerate((1, 2, 4, 5, 6))),
        make("EXIT"),
    ]  # fmt: skip
    run(code, memory=memory)
    found = np.frombuffer(memory.read(out, 5 * 8 * 32), np.uint64).reshape(32, 5).tolist()
    for lane in range(32):
        top = frame + (8 * lane + 15) // 16 * 16
        aligned = (top + 63) // 64 * 64
        second = [aligned, aligned + 16] if lane % 2 == 0 else [9, top]
        assert found[lane] == [frame, top, *second, top], lane


def test_a_stack_that_is_too_large():
    code = [make("MOVI.64", dst=0, imm=300_000), make("ALLOCA", dst=1, a=0, imm=8), make("EXIT")]
    with pytest.raises(KernelFault, match=r"alloca of 300000 bytes; the thread has 262144 bytes of local memory"):
        run(code)
