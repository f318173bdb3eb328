"""Every load, store and atomic of every state space, against plain Python bytes and numbers: what a lane reads, what
memory holds afterwards.
"""

import zlib

import numpy as np
import pytest

from gpuprof.device.memory import LOCAL_WINDOW, SHARED_WINDOW, AddressSpace
from gpuprof.isa.encoding import make
from gpuprof.isa.opcodes import BY_NAME, TABLE
from gpuprof.isa.program import Variable
from tests.references.atomic import apply, float_add
from tests.references.conformance import FLOATS, INTEGERS_32, INTEGERS_64
from tests.references.conformance_floats import ANY_NAN, FORMATS, encode, flush
from tests.references.conformance_integers import MASK32, signed
from tests.support.emulate_harness import ADDR64, Result, run, special

THREADS = 64
SLOT = 32  # bytes of each thread
WORDS = SLOT // 4
RNG = np.random.default_rng(3)


def constant(dst: int, value: int):
    return make("MOVI.64", dst=dst, imm=value & MASK32, mods=value >> 32)


def own_address(base: int, dst: int, scale: int = SLOT) -> list:
    """D[dst] = base + tid * scale; clobbers D199."""
    return [constant(199, base), make("IMAD.WIDE.U32", dst=dst, a=250, imm=scale, slot="b", c=199)]


def word_copies(load: str, store: str, source: dict, target: dict) -> list:
    """Copies a slot word by word through R90; source and target are the slots a and mods of the two instructions."""
    code = []
    for k in range(WORDS):
        code += [make(load, dst=90, imm=4 * k, **source), make(store, b=90, imm=4 * k, **target)]
    return code


class Place:
    """Where a thread's slot lies in a space: the code that puts its address into register 10 (D for 64-bit ones), and
    `mods`.
    """

    def __init__(self, space: str, memory: AddressSpace):
        self.space, self.memory = space, memory
        self.data = RNG.integers(0, 256, (THREADS, SLOT), np.uint8)
        self.data[:, 0] |= np.where(np.arange(THREADS) % 2, np.uint8(0x80), np.uint8(0))  # signs of all widths
        self.input = memory.allocate(self.data.nbytes, "input").address
        memory.write(self.input, self.data)
        self.mods = ADDR64 if space in ("global", "generic") else 0

    def address(self) -> list:
        if self.space == "global":
            return own_address(self.input, 10)
        if self.space == "local":
            return [make("MOV", dst=10, imm=0, slot="a")]
        if self.space != "generic":
            return [make("SHL", dst=10, a=250, imm=5, slot="b")]
        code = []  # a third of the threads each: global, shared, local
        for number, start in enumerate((self.input, SHARED_WINDOW)):
            code += own_address(start, 11 + number)
        code += [constant(13, LOCAL_WINDOW), make("IREM.U32", dst=91, a=250, imm=3, slot="b")]
        for number in (1, 2):
            code += [
                make("ISETP.U32", dst=3, a=91, imm=number, slot="b"),
                make("MOV.64", dst=11, a=11 + number, guard=3),
            ]
        return [*code, make("MOV.64", dst=10, a=11)]

    def fill(self) -> list:
        """Copies the input to where it is not yet."""
        source = {"a": 198, "mods": ADDR64}
        code = own_address(self.input, 198)
        if self.space in ("shared", "local"):
            code += word_copies("LDG.32", f"ST{self.space[0].upper()}.32", source, {"a": 10})
        if self.space == "generic":
            code += [make("SHL", dst=92, a=250, imm=5, slot="b")]
            code += word_copies("LDG.32", "STS.32", source, {"a": 92}) + word_copies(
                "LDG.32", "STL.32", source, {"a": 255}
            )
        return code

    def run(self, code: list) -> Result:
        image = self.data.tobytes()
        variables = [Variable("table", "const", 0, len(image), 16, image)] if self.space == "const" else []
        return run(
            [special("tid.x", 250), *self.address(), *self.fill(), *code, make("EXIT")],
            image if self.space == "param" else b"",
            memory=self.memory,
            block=(THREADS, 1, 1),
            dynamic_shared_nbytes=THREADS * SLOT,
            local_nbytes=SLOT,
            variables=variables,
        )


ELEMENTS = {
    "U8": (1, 1),
    "S8": (1, 1),
    "U16": (1, 2),
    "S16": (1, 2),
    "32": (1, 4),
    "64": (1, 8),
    "V2.32": (2, 4),
    "V4.32": (4, 4),
    "V2.64": (2, 8),
    "V8.32": (8, 4),
    "V4.64": (4, 8),
}
LOADS = [op.name for op in TABLE if op.semantics == "load"]
STORES = [op.name for op in TABLE if op.semantics == "store"]


@pytest.mark.parametrize("name", LOADS)
def test_load(name):
    """From every offset into the slot that is aligned: the bytes there, little-endian, extended by zeros or the sign to
    the register.
    """
    op = BY_NAME[name]
    access = name.split(".", 1)[1]
    count, nbytes = ELEMENTS[access]
    memory = AddressSpace()
    place = Place(op.space, memory)
    width = 8 if nbytes == 8 else 4
    offsets = range(0, SLOT, count * nbytes)
    out = memory.allocate(THREADS * SLOT * len(offsets) * 8, "out").address
    stride = width * count * len(offsets)
    code = own_address(out, 197, stride)
    for number, offset in enumerate(offsets):
        code.append(make(name, dst=20, a=10, imm=offset, mods=place.mods))
        at = number * count * width
        code += [
            make(f"STG.{'64' if width == 8 else '32'}", a=197, b=20 + k, imm=at + k * width, mods=ADDR64)
            for k in range(count)
        ]
    place.run(code)
    found = np.frombuffer(memory.read(out, THREADS * stride), f"u{width}").reshape(THREADS, -1).tolist()
    for thread, row in enumerate(found):
        values = [
            int.from_bytes(place.data[thread, at : at + nbytes].tobytes(), "little") for at in range(0, SLOT, nbytes)
        ]
        if access[0] == "S":
            values = [signed(value, 8 * nbytes) & MASK32 for value in values]
        assert row == values, f"{name}, thread {thread}"


@pytest.mark.parametrize("name", STORES)
def test_store(name):
    """At every aligned offset in turn, even threads only: the low bytes of the register go there, and no other byte
    changes.
    """
    op = BY_NAME[name]
    count, nbytes = ELEMENTS[name.split(".", 1)[1]]
    memory = AddressSpace()
    place = Place(op.space, memory)
    values = RNG.integers(0, 256, (THREADS, 8 * count), np.uint8)
    given, out = memory.allocate(values.nbytes, "values").address, memory.allocate(THREADS * SLOT, "out").address
    memory.write(given, values)
    width = 8 if nbytes == 8 else 4
    code = own_address(given, 196, 8 * count)
    code += [
        make(f"LDG.{'64' if width == 8 else '32'}", dst=20 + k, a=196, imm=8 * k, mods=ADDR64) for k in range(count)
    ]
    code += [make("AND", dst=91, a=250, imm=1, slot="b"), make("ISETP.U32", dst=4, a=91, imm=0, slot="b")]
    offsets = list(range(0, SLOT, count * nbytes))[::2]
    code += [make(name, a=10, b=20, imm=offset, mods=place.mods, guard=4) for offset in offsets]
    letter = {"global": "G", "shared": "S", "local": "L", "generic": ""}[op.space]
    code += own_address(out, 197) + word_copies(
        f"LD{letter}.32", "STG.32", {"a": 10, "mods": place.mods}, {"a": 197, "mods": ADDR64}
    )
    place.run(code)
    found = np.frombuffer(memory.read(out, THREADS * SLOT), np.uint8).reshape(THREADS, SLOT)
    for thread in range(THREADS):
        wanted = bytearray(place.data[thread].tobytes())
        for offset in offsets if thread % 2 == 0 else ():
            for k in range(count):
                wanted[offset + k * nbytes : offset + (k + 1) * nbytes] = values[
                    thread, 8 * k : 8 * k + nbytes
                ].tobytes()
        assert found[thread].tobytes() == bytes(wanted), f"{name}, thread {thread}"


# Atomics

CELLS = 5
ATOMICS = [op.name for op in TABLE if op.semantics.startswith(("atom_", "red_")) and op.a == "A" and not op.b[1:]]


def atomic_values(t: str, count: int, rng) -> list[int]:
    scalar = t.removesuffix("x2")
    if scalar in FLOATS:
        pool = [value | sign for value in FLOATS[scalar] for sign in (0, FORMATS[scalar].sign)]
        pool += [encode_small(k, scalar) for k in range(1, 9)]
    else:
        bits = int(t[1:])
        pool = [value & (1 << bits) - 1 for value in (INTEGERS_64 if bits == 64 else INTEGERS_32)]
    values = [int(v) for v in rng.choice(np.array(pool, np.uint64), count)]
    return [v | w << 16 for v, w in zip(values, values[::-1], strict=True)] if t.endswith("x2") else values


def encode_small(k: int, t: str) -> int:
    from fractions import Fraction

    from tests.references.conformance_floats import Number

    return encode(Number(False, Fraction(k, 4)), t)


@pytest.mark.parametrize("name", ATOMICS)
@pytest.mark.parametrize("round_number", range(2))
def test_atomic(name, round_number):
    """64 threads on five cells: lanes take their turns in ascending order, each sees what the one before it left."""
    op = BY_NAME[name]
    t, operation_name = op.types[0], op.semantics.split("_")[1]
    wide = t.endswith("64")
    nbytes, register_nbytes = op.nbytes, 8 if wide else 4
    rng = np.random.default_rng([zlib.crc32(name.encode()), round_number])
    memory = AddressSpace()
    spaces = ("global", "shared") if op.space == "generic" else (op.space,)
    space = spaces[round_number % len(spaces)]
    dtype = np.dtype(f"u{register_nbytes}")
    initial = atomic_values(t, CELLS, rng)
    given, other = atomic_values(t, THREADS, rng), atomic_values(t, THREADS, rng)
    cells = [int(c) for c in rng.integers(0, CELLS, THREADS)]
    if operation_name == "cas":  # half of them match what was there at first
        given = [initial[c] if k % 2 else v for k, (c, v) in enumerate(zip(cells, given, strict=True))]
    base = memory.allocate(CELLS * nbytes, "cells").address
    memory.write(base, np.array(initial, f"u{nbytes}"))
    arrays = {}
    for key, values in (
        ("given", given),
        ("other", other),
        ("cell", [c * nbytes for c in cells]),
        ("out", [0] * THREADS),
    ):
        kind = np.dtype(np.uint32) if key == "cell" else dtype
        arrays[key] = memory.allocate(THREADS * kind.itemsize, key).address
        memory.write(arrays[key], np.array(values, kind))
    suffix = "64" if wide else "32"
    code = [special("tid.x", 250)]
    for register, key in ((20, "given"), (21, "other")):
        code += [
            *own_address(arrays[key], 198, register_nbytes),
            make(f"LDG.{suffix}", dst=register, a=198, mods=ADDR64),
        ]
    code += [*own_address(arrays["cell"], 198, 4), make("LDG.32", dst=30, a=198, mods=ADDR64)]
    piece = "U16" if nbytes == 2 else suffix
    if space == "shared":  # one thread copies the cells to shared memory, and back at the end
        code += [make("ISETP.U32", dst=1, a=250, imm=0, slot="b"), constant(190, base)]
        for k in range(CELLS):
            code += [
                make(f"LDG.{piece}", dst=60, a=190, imm=k * nbytes, mods=ADDR64),
                make(f"STS.{piece}", a=255, b=60, imm=k * nbytes, guard=1),
            ]
        code.append(make("BAR.SYNC"))
    start = {"global": base, "shared": SHARED_WINDOW if op.space == "generic" else 0}[space]
    code += [constant(191, start), make("IMAD.WIDE.U32", dst=192, a=30, imm=1, slot="b", c=191)]
    if op.space == "shared":
        code.append(make("LO.64", dst=92, a=192))
    slots = {"a": 92 if op.space == "shared" else 192, "b": 20, "mods": 0 if op.space == "shared" else ADDR64}
    if op.c:
        slots["c"] = 21
    if op.dst:
        slots["dst"] = 40
    code.append(make(name, **slots))
    if op.dst:
        code += [*own_address(arrays["out"], 198, register_nbytes), make(f"STG.{suffix}", a=198, b=40, mods=ADDR64)]
    if space == "shared":
        code.append(make("BAR.SYNC"))
        for k in range(CELLS):
            code += [
                make(f"LDS.{piece}", dst=60, a=255, imm=k * nbytes),
                make(f"STG.{piece}", a=190, b=60, imm=k * nbytes, mods=ADDR64),
            ]
    run([*code, make("EXIT")], memory=memory, block=(THREADS, 1, 1), dynamic_shared_nbytes=64)

    state, olds = list(initial), []
    for cell, value, second in zip(cells, given, other, strict=True):
        olds.append(state[cell])
        state[cell] = apply(operation_name, t, space == "global", state[cell], value, second)
        if state[cell] is ANY_NAN:
            state[cell] = 0x7FF8 << 48
    if t == "f64":
        state, olds = ([nan_class(v) for v in values] for values in (state, olds))
    found = np.frombuffer(memory.read(base, CELLS * nbytes), f"u{nbytes}").tolist()
    assert ([nan_class(v) for v in found] if t == "f64" else found) == state
    if op.dst:
        returned = np.frombuffer(memory.read(arrays["out"], THREADS * register_nbytes), dtype).tolist()
        assert ([nan_class(v) for v in returned] if t == "f64" else returned) == olds


def nan_class(bits: int):
    return ANY_NAN if bits & ((1 << 63) - 1) > 0x7FF0 << 48 else bits


def test_atomics_reach_subnormals():
    """The table of special values has them: global f32 sums flush, shared ones do not."""
    assert float_add("f32", True)(1, 1) == 0
    assert float_add("f32", False)(1, 1) == 2
    assert flush(0x80000001, "f32") == 0x80000000
