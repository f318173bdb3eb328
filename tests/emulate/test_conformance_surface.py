"""Every load, store and reduction of surfaces against numpy arrays, with coordinates inside and outside."""

import re

import numpy as np
import pytest

from gpuprof.device.images import split_shape
from gpuprof.device.memory import AddressSpace
from gpuprof.errors import KernelFault
from gpuprof.isa.encoding import make
from gpuprof.isa.families.texture import SURFACE_ACCESSES
from gpuprof.isa.handles import pack_handle
from gpuprof.isa.modifiers import pack
from gpuprof.isa.opcodes import BY_NAME, TABLE
from tests.support.matrices import long_from
from tests.support.texture_support import LANES, constant, lanes_run, make_image

LOADS = [row.name for row in TABLE if row.semantics == "surface_load"]
STORES = [row.name for row in TABLE if row.semantics == "surface_store"]
PUTS = [row.name for row in TABLE if row.semantics == "surface_put"]
REDUCTIONS = [row.name for row in TABLE if row.semantics.startswith("red_surface_")]
OPCODES = LOADS + STORES + PUTS + REDUCTIONS
PARTS = {
    access: (register[0], int(register[1:] or 1), nbytes) for access, register, nbytes in SURFACE_ACCESSES
}  # register file, count, bytes
SHAPES = {
    ("1", 0): ("1d", (24,)),
    ("2", 0): ("2d", (3, 24)),
    ("3", 0): ("3d", (2, 3, 24)),
    ("2", 1): ("a1d", (3, 24)),
    ("3", 1): ("a2d", (2, 3, 24)),
}
FORMS = [("1", 0), ("2", 0), ("3", 0), ("2", 1), ("3", 1)]


def dimensions(name: str) -> str:
    return re.search(r"\.(\d)D", name)[1]


def forms(name: str) -> list[tuple[str, int]]:
    return [form for form in FORMS if form[0] == dimensions(name)]


class Surface:
    """A surface of 4-byte texels and, for each lane, coordinates of accesses of `nbytes`; `outside`: some are not in
    it.
    """

    def __init__(self, rng, form: tuple[str, int], nbytes: int, outside: bool, dtype="uint32"):
        self.geometry, shape = SHAPES[form]
        self.memory, self.nbytes, self.layered = AddressSpace(), nbytes, form[1]
        self.data = rng.integers(0, 256, (*shape[:-1], shape[-1] * np.dtype(dtype).itemsize), np.uint8)
        self.number = make_image(self.memory, self.geometry, [self.data.view(dtype)], is_surface=True)
        self.handle = pack_handle(self.number)
        _, (_, *rest), _ = split_shape(self.geometry, shape)
        self.layers = shape[0] if form[1] else 1
        self.width = self.data.shape[-1]
        self.limits = [self.layers] * form[1] + [self.width] + rest[: int(form[0]) - 1 - form[1]]
        where = form[1]  # of x
        self.coordinates = np.stack(
            [rng.integers(-2 * outside, limit + 2 * outside, LANES) for limit in self.limits], axis=1
        )
        steps = self.width // nbytes
        self.coordinates[:, where] = nbytes * rng.integers(-2 * outside, steps + 2 * outside, LANES)

    def words(self, extra: np.ndarray | None = None) -> np.ndarray:
        words = self.coordinates.astype(np.int32).view(np.uint32)
        return words if extra is None else np.column_stack([words, extra])

    def place(self, lane: int, bounds: str) -> tuple[int, ...] | None:
        """Index into `data` where a lane's bytes start, None for nowhere."""
        values = [int(value) for value in self.coordinates[lane]]
        ends = list(self.limits)
        ends[self.layered] -= self.nbytes - 1
        if bounds == "zero" and not all(0 <= value < end for value, end in zip(values, ends, strict=True)):
            return None
        values = [min(max(value, 0), end - 1) for value, end in zip(values, ends, strict=True)]
        values[self.layered] -= values[self.layered] % self.nbytes
        layer, x, *rest = values if self.layered else (None, *values)
        return (*(() if layer is None else (layer,)), *reversed(rest), x)

    def bytes_at(self, lane: int, bounds: str) -> np.ndarray:
        at = self.place(lane, bounds)
        return np.zeros(self.nbytes, np.uint8) if at is None else self.data[at[:-1]][at[-1] : at[-1] + self.nbytes]

    def content(self) -> np.ndarray:
        level = self.memory.images.get(self.number).levels[0]
        return np.frombuffer(self.memory.read(level.address, self.data.nbytes), np.uint8).reshape(self.data.shape)

    def run(self, name: str, bounds: str, extra=None, doubles=None, results=(), mods: int = 0, **slots):
        fields = {"bounds": bounds} | ({"layered": self.layered} if "layered" in BY_NAME[name].fields else {})
        body = [constant(10, self.handle), make(name, a=10, b=20, mods=pack(**fields) | mods, **slots)]
        return lanes_run(self.memory, body, self.words(extra), list(results), doubles)[0]


@pytest.mark.parametrize("bounds", ["trap", "clamp", "zero"])
@pytest.mark.parametrize("name", LOADS)
def test_load(name, bounds):
    rng = np.random.default_rng(1)
    file, count, nbytes = PARTS[name.split(".", 2)[2]]
    for form in forms(name):
        surface = Surface(rng, form, nbytes, bounds != "trap")
        rows = surface.run(name, bounds, results=[(file, 60 + k) for k in range(count)], dst=60)
        wide = 8 if file == "D" else 4
        for lane in range(LANES):
            found = b"".join(int(row[lane]).to_bytes(wide, "little") for row in rows)
            assert found == surface.bytes_at(lane, bounds).tobytes().ljust(wide * count, b"\0"), (form, lane)


@pytest.mark.parametrize("bounds", ["trap", "clamp", "zero"])
@pytest.mark.parametrize("name", STORES)
def test_store(name, bounds):
    rng = np.random.default_rng(2)
    file, count, nbytes = PARTS[name.split(".", 2)[2]]
    for form in forms(name):
        surface = Surface(rng, form, nbytes, bounds != "trap")
        n = len(surface.limits)
        if file == "D":
            values = rng.integers(0, 1 << 62, (LANES, count), np.uint64)
            surface.run(name, bounds, doubles=values, c=20)
        else:
            values = rng.integers(0, 1 << 32, (LANES, count), np.uint64).astype(np.uint32)
            surface.run(name, bounds, values, c=20 + n)
        wanted = surface.data.copy()
        for lane in range(LANES):  # the highest lane wins
            at = surface.place(lane, bounds)
            if at is not None:
                wanted[at[:-1]][at[-1] : at[-1] + nbytes] = np.frombuffer(values[lane].tobytes()[:nbytes], np.uint8)
        np.testing.assert_array_equal(surface.content(), wanted)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "float16", "float32"])
@pytest.mark.parametrize("name", PUTS)
def test_formatted_store(name, dtype):
    """Floats are rounded, integers clamped; the first coordinate counts texels, of two channels here."""
    n = int(dimensions(name))
    geometry, shape = {1: ("1d", (32, 2)), 2: ("2d", (2, 16, 2)), 3: ("3d", (2, 2, 8, 2))}[n]
    memory = AddressSpace()
    number = make_image(memory, geometry, [np.zeros(shape, dtype)], is_surface=True)
    places = np.stack(np.unravel_index(np.arange(LANES), shape[:-1])[::-1], axis=1).astype(np.uint32)
    if dtype.startswith("float"):
        values = np.random.default_rng(3).normal(size=(LANES, 4)).astype(np.float32)
        wanted = values.astype(dtype)
    else:
        signed = dtype.startswith("int")
        values = np.random.default_rng(3).choice(
            [0, 1, 127, 128, 255, 256, 40000, 70000, *([-1, -129, -40000] if signed else [])], (LANES, 4)
        )
        wanted = np.clip(values, np.iinfo(dtype).min, np.iinfo(dtype).max).astype(dtype)
        values = values.astype(np.int32)
    body = [constant(10, pack_handle(number)), make(name, a=10, b=20, c=20 + n)]
    lanes_run(memory, body, np.column_stack([places, values.view(np.uint32)]), [])
    level = memory.images.get(number).levels[0]
    found = np.frombuffer(memory.read(level.address, wanted[:, :2].nbytes), dtype)
    np.testing.assert_array_equal(found.reshape(LANES, 2), wanted[:, :2])


REDUCE = {"ADD": lambda a, b: a + b, "MIN": min, "MAX": max, "AND": lambda a, b: a & b, "OR": lambda a, b: a | b}


@pytest.mark.parametrize("sample", long_from(1, [0, 1]))
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reduction(name, sample):
    """Lanes on one place add up; formatted ones take their sign from the surface and count elements."""
    rng = np.random.default_rng(4)
    _, operation, dims, kind = name.split(".")
    nbytes = int(kind[1:]) // 8
    if sample and nbytes == 8:
        return  # no surface has 64-bit elements
    dtype = {"u": "uint", "b": "uint", "s": "int"}[kind[0].lower()] + str(8 * nbytes)
    surface = Surface(rng, (dims[0], 0), nbytes, True, "uint32" if nbytes == 8 else dtype)
    values = rng.integers(0, 1 << 62, LANES, np.uint64) * np.uint64(3)
    wanted = surface.data.copy()
    limit = 1 << 8 * nbytes
    for lane in range(LANES):
        at = surface.place(lane, "zero")
        if at is not None:
            part = wanted[at[:-1]][at[-1] : at[-1] + nbytes]
            value = int(values.view(dtype)[lane * (8 // nbytes)])
            result = REDUCE[operation](int(part.copy().view(dtype)[0]), value) % limit
            part[:] = np.frombuffer(result.to_bytes(nbytes, "little"), np.uint8)
    if sample:
        surface.coordinates[:, 0] //= nbytes
    wide = nbytes == 8
    extra = None if wide else values.astype(np.uint32)[:, None]
    surface.run(
        name,
        "zero",
        extra,
        values[:, None] if wide else None,
        mods=pack(sample=sample),
        c=20 if wide else 20 + int(dims[0]),
    )
    np.testing.assert_array_equal(surface.content(), wanted)


def test_faults_name_thread_place_and_surface():
    rng = np.random.default_rng(5)
    surface = Surface(rng, ("2", 0), 4, False)
    surface.coordinates[7] = (96, 1)
    with pytest.raises(
        KernelFault,
        match=r"thread \(7, 0, 0\) of block \(0, 0, 0\): out of range access of 4 bytes at \(96, 1\) of test image",
    ):
        surface.run("SULD.2D.32", "trap", dst=60)
    surface.coordinates[7] = (4, 3)
    with pytest.raises(KernelFault, match=r"thread \(7, 0, 0\).*out of range access of 4 bytes at \(4, 3\)"):
        surface.run("SUST.2D.32", "trap", c=20)
    surface.coordinates[7] = (2, 1)
    with pytest.raises(KernelFault, match=r"misaligned access of 4 bytes at \(2, 1\)"):
        surface.run("SULD.2D.32", "trap", dst=60)
    with pytest.raises(KernelFault, match=r"is a 2d image, and the instruction needs a 1d one"):
        surface.run("SULD.1D.32", "trap", dst=60)
    texture = pack_handle(make_image(surface.memory, "2d", [np.zeros((2, 2), np.float32)]))
    with pytest.raises(KernelFault, match="and no surface"):
        lanes_run(
            surface.memory,
            [constant(10, texture), make("SULD.2D.32", dst=60, a=10, b=20)],
            np.zeros((LANES, 2), np.uint32),
            [],
        )


def test_stores_outside_are_not_in_the_trace():
    memory = AddressSpace()
    handle = pack_handle(make_image(memory, "1d", [np.zeros(16, np.float32)], is_surface=True))
    words = (4 * np.arange(LANES, dtype=np.uint32))[:, None]
    body = [constant(10, handle), make("SUST.1D.32", a=10, b=20, c=20, mods=pack(bounds="zero"))]
    _, done = lanes_run(memory, body, words, [])
    assert done.accesses(0)[-1] == (2, 1, 1, 1, 32, 0, 0)


def test_trace_of_a_reduction_has_the_lanes_that_compete():
    """Lanes 0 to 19 on one word, the others on one each: 13 words, in two sectors."""
    memory = AddressSpace()
    handle = pack_handle(make_image(memory, "1d", [np.zeros(16, np.uint32)], is_surface=True))
    words = (4 * np.maximum(np.arange(LANES) - 19, 0)).astype(np.uint32)[:, None]
    _, done = lanes_run(memory, [constant(10, handle), make("SURED.ADD.1D.U32", a=10, b=20, c=250)], words, [])
    assert done.accesses(0)[-1] == (2, 1, 1, 1, 32, 20, 0)
