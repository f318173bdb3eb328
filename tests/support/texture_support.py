"""Runs one texture or surface instruction in 32 lanes on hand-made images."""

import numpy as np

from gpuprof.device.images import GEOMETRIES, Image, Level, split_shape
from gpuprof.device.memory import AddressSpace
from gpuprof.isa.encoding import RZ, Instruction, make
from gpuprof.isa.handles import Sampler, pack_handle
from gpuprof.isa.opcodes import BY_NAME
from tests.support.emulate_harness import ADDR64, run, special

LANES = 32
NAMES = {
    "float32": "f32",
    "float16": "f16",
    "int8": "i8",
    "uint8": "u8",
    "int16": "i16",
    "uint16": "u16",
    "int32": "i32",
    "uint32": "u32",
}


def constant(dst: int, value: int) -> Instruction:
    return make("MOVI.64", dst=dst, imm=value & 0xFFFFFFFF, mods=value >> 32)


def make_image(memory: AddressSpace, geometry: str, pyramid: list[np.ndarray], **fields) -> int:
    """The number of an image over copies of arrays, mipmap levels."""
    levels = []
    for array in pyramid:
        layers, extents, channels = split_shape(geometry, array.shape)
        address = memory.allocate(array.nbytes, "texels").address
        memory.write(address, array)
        levels.append(Level(address, *extents))
    return memory.images.add(
        Image("test image", geometry, NAMES[str(array.dtype)], channels, tuple(levels), layers, **fields)
    )


def canonical(geometry: str, array: np.ndarray) -> np.ndarray:
    """The array as (layers, depth, height, width, channels), for the reference."""
    layers, (width, height, depth), channels = split_shape(geometry, array.shape)
    return array.reshape(layers, depth, height, width, channels)


def lanes_run(
    memory: AddressSpace,
    body,
    words: np.ndarray,
    results: list[tuple[str, int]],
    doubles: np.ndarray | None = None,
    **options,
):
    """Runs `body` with R20, R21, ... holding words[:, 0], ... (uint32 (32, k)) and D20, ... doubles[:, 0], ...; gives
    the registers named in `results`, each as an array of 32, and the harness's Result."""
    code = [special("tid.x", 250)]

    def place(base: int, stride: int) -> list[Instruction]:
        return [constant(200, base), make("IMAD.WIDE.U32", dst=201, a=250, imm=stride, slot="b", c=200)]

    for inputs, load, nbytes in ((words, "LDG.32", 4), (doubles, "LDG.64", 8)):
        if inputs is not None:
            base = memory.allocate(inputs.nbytes, "inputs").address
            memory.write(base, np.ascontiguousarray(inputs))
            code += place(base, nbytes * inputs.shape[1])
            code += [make(load, dst=20 + k, a=201, imm=nbytes * k, mods=ADDR64) for k in range(inputs.shape[1])]
    code += body
    out = memory.allocate(8 * LANES * max(len(results), 1), "results").address
    for number, (file, index) in enumerate(results):
        code += place(out + 8 * LANES * number, 8)
        code.append(make("STG.64" if file == "D" else "STG.32", b=index, a=201, mods=ADDR64))
    done = run([*code, make("EXIT")], memory=memory, **options)
    rows = (
        np.frombuffer(memory.read(out, 8 * LANES * len(results)), np.uint64).reshape(len(results), LANES)
        if results
        else []
    )
    return [row if file == "D" else row.astype(np.uint32) for row, (file, _) in zip(rows, results, strict=True)], done


def fetch_lanes(
    name: str, geometry: str, pyramid: list[np.ndarray], words: np.ndarray, sampler: Sampler, mods: int = 0, **fields
) -> np.ndarray:
    """uint32 (4, 32): what TEX or TLD4 gives for coordinates uint32 (32, k)."""
    memory = AddressSpace()
    handle = pack_handle(make_image(memory, geometry, pyramid, **fields), sampler)
    count = int(BY_NAME[name].b[1:] or 1)
    assert words.shape == (LANES, count)
    body = [constant(10, handle), make(name, dst=60, a=10, b=20, c=RZ, mods=mods)]
    rows, _ = lanes_run(memory, body, words, [("R", 60 + k) for k in range(4)])
    return np.stack(rows)


def shape_of(geometry: str, extents: tuple[int, int, int], channels: int, layers: int = 3) -> tuple[int, ...]:
    """Shape of an array of a geometry: extents are width, height, depth."""
    width, height, depth = extents
    shape = {"1d": (width,), "2d": (height, width), "3d": (depth, height, width), "a1d": (layers, width),
        "a2d": (layers, height, width),
             "cube": (6, width, width), "acube": (layers, 6, width, width)}[geometry]  # fmt: skip
    assert len(shape) == GEOMETRIES[geometry]
    return (*shape, channels) if channels > 1 else shape
