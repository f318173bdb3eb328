"""Loads, stores and reductions of surfaces. The first coordinate counts bytes; formatted forms count elements."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gpuprof.chips.model import LINE_NBYTES
from gpuprof.device.images import IMAGE_ELEMENTS, Image
from gpuprof.device.memory import GLOBAL_BASE
from gpuprof.emulate.core.lanes import WARP, Lanes
from gpuprof.emulate.core.late_accesses import WrongRange, refuse
from gpuprof.emulate.core.operands import KIND_OF_TYPE, U32, U64, Ref, source
from gpuprof.emulate.core.operation import Env, Op, full_row, guard_reader
from gpuprof.emulate.memory.load_store import ELEMENTS
from gpuprof.emulate.textures.image_access import active_elements, find_images, refuse_image, trace
from gpuprof.isa.encoding import RZ, Instruction
from gpuprof.isa.kinds import KINDS
from gpuprof.isa.modifiers import unpack, unpack_name

GEOMETRIES = {(1, 0): ("1d",), (2, 0): ("2d",), (3, 0): ("3d",), (2, 1): ("a1d",), (3, 1): ("a2d", "cube", "acube")}


class Site:
    """The operands of a surface instruction, and how it treats coordinates outside."""

    def __init__(self, inst: Instruction, env: Env):
        self.at = env.at
        self.nbytes = inst.op.nbytes
        self.operation = KINDS[inst.op.kind].operation
        self.n = int(inst.op.b[1:] or 1)
        self.layered = unpack(inst.mods, "layered") if "layered" in inst.op.fields else 0
        self.bounds = unpack_name(inst.mods, "bounds")
        self.guard = guard_reader(inst, env)
        self.handle = source(inst, "a", U64, env.pool)
        if inst.b == RZ:
            self.coordinates = [source(inst, "b", U32, env.pool)] * self.n
        else:
            self.coordinates = [Ref(U32, inst.b + k) for k in range(self.n)]

    def row(self, lanes: Lanes, ref: Ref, elements: np.ndarray) -> np.ndarray:
        return full_row(lanes, lanes.v[ref.kind][ref.index])[elements]


def addresses(
    lanes: Lanes, site: Site, image: Image, elements: np.ndarray, coordinates: np.ndarray, nbytes: int, scale: int
) -> np.ndarray:
    """int64 (n,): where each lane's access is, -1 for one that is outside and to be left out, or wrong. Raises
    KernelFault for a wrong one.
    """
    if image.geometry not in GEOMETRIES[site.n, site.layered]:
        geometry = GEOMETRIES[site.n, site.layered][0]
        text = f"{image.name} is a {image.geometry} image, and the instruction needs a {geometry} one"
        refuse_image(lanes, site.at, elements, text)
        return np.full(len(elements), -1, np.int64)
    level = image.levels[0]
    layer, *rest = coordinates if site.layered else (np.zeros(len(elements), np.int64), *coordinates)
    position = [rest[0] * scale, *rest[1:], layer]
    limits = [
        level.width * image.texel_nbytes - nbytes,
        *[extent - 1 for extent in level[2 : 1 + len(rest)]],
        image.layers - 1,
    ]
    outside = np.zeros(len(elements), np.bool_)
    for value, limit in zip(position, limits, strict=True):
        outside |= (value < 0) | (value > limit)
    wrong = Wrong(lanes, site, image, elements, coordinates)
    if site.bounds == "trap":
        wrong.refuse(outside, "outside", f"out of range access of {nbytes} bytes")
    position = [np.clip(value, 0, max(limit, 0)) for value, limit in zip(position, limits, strict=True)]
    misaligned = position[0] % nbytes != 0
    if site.bounds == "clamp":  # the nearest place an element of this size can have
        position[0], misaligned = (
            np.where(outside, position[0] - position[0] % nbytes, position[0]),
            misaligned & ~outside,
        )
    misaligned &= ~outside
    wrong.refuse(misaligned, "misaligned", f"misaligned access of {nbytes} bytes")
    row = position[-1]
    for axis in (2, 1):
        row = row * level[1 + axis] + (position[axis] if axis < len(rest) else 0)
    flat = level.address + row * image.row_nbytes(0) + position[0]
    if limits[0] < 0 and site.bounds != "trap":
        wrong.refuse(np.ones_like(outside), "outside", f"access of {nbytes} bytes to a row of fewer")
        return np.full(len(elements), -1, np.int64)
    left_out = misaligned | outside if site.bounds != "clamp" else misaligned
    return np.where(left_out, -1, flat)


class Wrong(NamedTuple):
    """An access of lanes, `elements` int64 (n,), to an image at `coordinates` (dimensions, n)."""

    lanes: Lanes
    site: Site
    image: Image
    elements: np.ndarray
    coordinates: np.ndarray

    def refuse(self, where: np.ndarray, kind: str, what: str) -> None:
        """Refuses the access of the lanes `where`, bool (n,), if there are any. Raises KernelFault when no listener
        refuses it.
        """
        chosen = np.flatnonzero(where)
        if len(chosen):
            coordinate_text = ", ".join(str(int(value[chosen[0]])) for value in self.coordinates)
            text = f"{what} at ({coordinate_text}) of {self.image.name}"
            refuse(self.lanes, self.site.at, WrongRange(kind, "surface", self.elements[chosen], -1, text))


def each_image(group: Lanes, site: Site, nbytes_of, scale_of, results: Sequence[Ref] = ()):
    """(image, elements, addresses) for the lanes of each surface; then the whole instruction is in the trace. What is
    loaded from a surface that is gone, into `results`, is 0 where that is refused.
    """
    elements = active_elements(group, site.guard)
    table = np.full((len(elements), 1), -1, np.int64)
    nbytes, sizes = site.nbytes, np.zeros(len(elements), np.int64)
    if len(elements):
        coordinates = np.stack(
            [site.row(group, ref, elements).view(np.int32).astype(np.int64) for ref in site.coordinates]
        )
        for image, _, at in find_images(
            group, site.at, elements, site.row(group, site.handle, elements), True, results
        ):
            nbytes = nbytes_of(image)
            address = addresses(group, site, image, elements[at], coordinates[:, at], nbytes, scale_of(image))
            table[at, 0], sizes[at] = address, nbytes
            yield image, elements[at], address
    lanes = np.bincount(elements // WARP, minlength=len(group.masks))
    trace(group, site.at, elements, table, nbytes, -(-lanes * nbytes // LINE_NBYTES), sizes, site.operation)


def registers(inst: Instruction, slot: str, count: int, kind: int, env: Env) -> list[Ref]:
    index = getattr(inst, slot)
    if index == RZ:
        return [source(inst, slot, kind, env.pool)] * count if slot != "dst" else [Ref(kind, RZ)] * count
    return [Ref(kind, index + k) for k in range(count)]


def build_load(inst: Instruction, env: Env) -> Op:
    site, element = Site(inst, env), ELEMENTS[inst.op.types[0]]
    results = registers(inst, "dst", element.count, element.kind, env)

    def op(lanes: Lanes) -> None:
        view = lanes.chunk.spaces["global"].views[element.nbytes]
        for _, elements, address in each_image(lanes, site, lambda image: site.nbytes, lambda image: 1, results):
            index = np.maximum(address - GLOBAL_BASE, 0) // element.nbytes
            for k, ref in enumerate(results):
                lanes.v[ref.kind][ref.index][elements] = np.where(address < 0, 0, view[index + k])

    return op


def build_store(inst: Instruction, env: Env) -> Op:
    site, element = Site(inst, env), ELEMENTS[inst.op.types[0]]
    values = registers(inst, "c", element.count, element.kind, env)

    def op(lanes: Lanes) -> None:
        view = lanes.chunk.spaces["global"].views[element.nbytes]
        for _, elements, address in each_image(lanes, site, lambda image: site.nbytes, lambda image: 1):
            is_inside = address >= 0
            index = (address[is_inside] - GLOBAL_BASE) // element.nbytes
            for k, ref in enumerate(values):
                view[index + k] = site.row(lanes, ref, elements)[is_inside]

    return op


def to_element(bits: np.ndarray, image: Image) -> np.ndarray:
    """32-bit values as the surface's elements: floats rounded, integers clamped to what fits."""
    dtype = IMAGE_ELEMENTS[image.element].dtype
    if dtype.kind == "f":
        return bits.view(np.float32).astype(dtype)
    limits = np.iinfo(dtype)
    return np.clip(bits.view(np.int32 if dtype.kind == "i" else np.uint32), limits.min, limits.max).astype(dtype)


def build_put(inst: Instruction, env: Env) -> Op:
    site = Site(inst, env)
    values = registers(inst, "c", 4, U32, env)

    def op(lanes: Lanes) -> None:
        views = lanes.chunk.spaces["global"].views
        for image, elements, address in each_image(
            lanes, site, lambda image: image.texel_nbytes, lambda image: image.texel_nbytes
        ):
            dtype = IMAGE_ELEMENTS[image.element].dtype
            is_inside = address >= 0
            index = (address[is_inside] - GLOBAL_BASE) // dtype.itemsize
            for k, ref in enumerate(values[: image.channels]):
                bits = np.ascontiguousarray(site.row(lanes, ref, elements)[is_inside])
                views[dtype.itemsize].view(dtype)[index + k] = to_element(bits, image)

    return op


OPERATION = {f"red_surface_{operation}": operation for operation in ("add", "min", "max", "and", "or")}


def build_reduction(inst: Instruction, env: Env) -> Op:
    site = Site(inst, env)
    operation, t = OPERATION[inst.op.semantics], inst.op.types[0]
    is_sample = unpack(inst.mods, "sample")
    kind = KIND_OF_TYPE[t]
    value = source(inst, "c", kind, env.pool)

    def op(lanes: Lanes) -> None:
        from gpuprof.emulate.memory import sequential

        view = lanes.chunk.spaces["global"].views[site.nbytes]
        for image, elements, address in each_image(
            lanes, site, lambda image: site.nbytes, lambda image: image.texel_nbytes if is_sample else 1
        ):
            dtype = (
                np.dtype(("i" if image.element[0] == "i" else "u") + str(site.nbytes))
                if is_sample
                else np.dtype(_DTYPES[t])
            )
            is_inside = address >= 0
            values = np.ascontiguousarray(site.row(lanes, value, elements)[is_inside]).view(dtype)
            index = (address[is_inside] - GLOBAL_BASE) // site.nbytes
            if len(index):
                sequential.integers(
                    sequential.CODES[operation], view.view(dtype), index, values, values, np.empty_like(values)
                )

    return op


_DTYPES = {"u32": "u4", "s32": "i4", "b32": "u4", "u64": "u8", "s64": "i8"}

SEMANTICS = {
    "surface_load": build_load, "surface_store": build_store, "surface_put": build_put,
    **dict.fromkeys(OPERATION, build_reduction),
}  # fmt: skip
