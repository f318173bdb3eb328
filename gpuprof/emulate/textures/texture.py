"""Texture fetches, gathers and queries."""

import numpy as np

from gpuprof.device.images import CHANNEL_ORDERS, FACES, IMAGE_ELEMENTS, Image
from gpuprof.emulate.core.lanes import WARP, Lanes
from gpuprof.emulate.core.operands import PRED, U32, U64, Ref, destination, source
from gpuprof.emulate.core.operation import Env, Op, full_row, guard_reader
from gpuprof.emulate.textures.image_access import (
    active_elements,
    clear,
    find_images,
    handle_word,
    refuse_image,
    sampler_word,
    trace,
)
from gpuprof.emulate.textures.texels import Fetch, cube_coordinates, cube_derivative, gather, gradient_level, sample
from gpuprof.isa.encoding import RZ, Instruction
from gpuprof.isa.families.texture import TEXTURE_GEOMETRIES, fetch_form
from gpuprof.isa.handles import ADDRESS_MODES, FILTERS, IMAGE_MASK, VALID, Sampler, sampler_of
from gpuprof.isa.modifiers import unpack, unpack_name

# Texels a multiprocessor's texture units filter in a cycle: four units, a footprint of 2 x 2 each (Volta and later,
# vendor whitepapers).
QUADS_PER_CYCLE = 4
TEXELS_PER_QUAD = 4


class Site:
    """The operands of a fetch."""

    def __init__(self, inst: Instruction, env: Env, n_words: int):
        self.at = env.at
        self.guard = guard_reader(inst, env)
        self.handle = source(inst, "a", U64, env.pool)
        self.sampler = source(inst, "c", U64, env.pool) if inst.c != RZ else None
        if inst.b == RZ:
            self.words = [source(inst, "b", U32, env.pool)] * n_words
        else:
            self.words = [Ref(U32, inst.b + k) for k in range(n_words)]
        self.results = [
            Ref(U32, inst.dst + k if inst.dst != RZ else RZ) for k in range(unpack(inst.mods, "channels") or 4)
        ]

    def take(self, lanes: Lanes, ref: Ref, elements: np.ndarray) -> np.ndarray:
        return full_row(lanes, lanes.v[ref.kind][ref.index])[elements]


def floats(words: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(words).view(np.float32).astype(np.float64)


def combined(word: int, sampler: int | None) -> Sampler:
    """The texture's own sampler, or the one named; whether coordinates are normalized is said by both (PTX ISA,
    "Texture unified and independent modes")."""
    own = sampler_of(word)
    if sampler is None:
        return own
    given = sampler_of(sampler)
    return given._replace(normalized=own.normalized and given.normalized)


def prepare(image: Image, sampler: Sampler, geometry: str, words: np.ndarray, is_integer: bool, form: str) -> Fetch:
    """Coordinates out of a fetch's words, uint32 (words, n)."""
    n_coordinates, n_dimensions = TEXTURE_GEOMETRIES[geometry]
    layered = geometry[0] == "a"
    layer = np.zeros(words.shape[1], np.int64)
    n_layers = image.layers // FACES if geometry == "acube" else image.layers
    if layered:
        layer = np.minimum(words[0].astype(np.int64), n_layers - 1)
    spatial = words[int(layered) : n_coordinates]
    spatial = spatial.view(np.int32).astype(np.int64) if is_integer else floats(spatial)
    rest = floats(words[n_coordinates:])
    derivatives = (rest[:n_dimensions], rest[n_dimensions:])
    if "cube" in geometry:
        if form == "grad":
            derivatives = tuple(cube_derivative(spatial, d) for d in derivatives)
        face, spatial = cube_coordinates(spatial)
        layer = layer * FACES + face
    normalized = sampler.normalized or "cube" in geometry
    lod = {"level": lambda: rest[0], "grad": lambda: gradient_level(image, *derivatives, normalized)}.get(
        form, lambda: None
    )()
    return Fetch(spatial, layer, lod)


IS_GATHER = {"texture": False, "gather": True}


def build_fetch(inst: Instruction, env: Env) -> Op:
    geometry, form = inst.op.types[0], fetch_form(inst.op)
    n_coordinates, n_dimensions = TEXTURE_GEOMETRIES[geometry]
    site = Site(inst, env, n_coordinates + {"level": 1, "grad": 2 * n_dimensions}.get(form, 0))
    is_gather = IS_GATHER[inst.op.semantics]
    is_integer = not is_gather and unpack_name(inst.mods, "ctype") == "s32"
    component = unpack(inst.mods, "component") if is_gather else 0

    def fetch_from(views, image: Image, sampler: Sampler, words: np.ndarray):
        fetch = prepare(image, sampler, geometry, words, is_integer, form)
        return gather(views, image, sampler, fetch, component) if is_gather else sample(views, image, sampler, fetch)

    def op(lanes: Lanes) -> None:
        elements, named = active_elements(lanes, site.guard), None
        if site.sampler and len(elements):
            named = sampler_word(lanes, site.at, elements, site.take(lanes, site.sampler, elements))
            if not named:
                clear(lanes, site.results, elements)
                elements = elements[:0]
        addresses, sizes = np.full((len(elements), 1), -1, np.int64), np.zeros(len(elements), np.int64)
        if len(elements):
            words = np.stack([site.take(lanes, ref, elements) for ref in site.words])
            handles = site.take(lanes, site.handle, elements)
            parts = []
            for image, word, at in find_images(lanes, site.at, elements, handles, False, site.results):
                if not has_geometry(lanes, site.at, elements[at], image, geometry):
                    clear(lanes, site.results, elements[at])
                    continue
                texels = fetch_from(
                    lanes.chunk.spaces["global"].views, image, combined(word, named), np.ascontiguousarray(words[:, at])
                )
                value = (
                    texels.value.astype(np.float32).view(np.uint32)
                    if image.is_float
                    else texels.value.astype(np.uint32)
                )
                for k, ref in enumerate(site.results):
                    lanes.v[ref.kind][ref.index][elements[at]] = value[k]
                parts.append((at, texels.address))
                sizes[at] = image.texel_nbytes
            addresses = gathered(parts, len(elements))
        trace(lanes, site.at, elements, addresses, 0, wavefronts(lanes, elements, addresses.shape[1]), sizes)

    return op


def gathered(parts: list[tuple[np.ndarray, np.ndarray]], count: int) -> np.ndarray:
    """The addresses of all lanes in one table, as wide as the widest."""
    table = np.full((count, max((address.shape[1] for _, address in parts), default=1)), -1, np.int64)
    for at, address in parts:
        table[at[:, None], np.arange(address.shape[1])] = address
    return table


def wavefronts(lanes: Lanes, elements: np.ndarray, n_texels: int) -> np.ndarray:
    """Cycles the texture units need for each warp of `lanes`, int64."""
    quads = np.bincount(elements // WARP, minlength=len(lanes.masks)) * -(-n_texels // TEXELS_PER_QUAD)
    return -(-quads // QUADS_PER_CYCLE)


def has_geometry(lanes: Lanes, at: int, elements: np.ndarray, image: Image, geometry: str) -> bool:
    """Raises KernelFault, or says that an image has another one: see `refuse_image`."""
    if image.geometry != geometry:
        text = f"{image.name} is a {image.geometry} image, and the instruction reads a {geometry} one"
        refuse_image(lanes, at, elements, text)
    return image.geometry == geometry


# -- queries ---------------------------------------------------------------------------------------


def extent(number: int):
    return lambda image, sampler, level: level[1 + number]


def data_type(image: Image, sampler: Sampler, level) -> int:
    element = IMAGE_ELEMENTS[image.element]
    return element.normalized_type if image.read == "normalized" else element.data_type


def array_size(image: Image, sampler: Sampler, level) -> int:
    return 0 if image.geometry in ("1d", "2d", "3d") else image.layers


def address_mode(number: int):
    return lambda image, sampler, level: ADDRESS_MODES.index(sampler.address[number])


SAMPLER_QUERIES = {
    "force_unnormalized_coords": lambda image, sampler, level: not sampler.normalized,
    "filter_mode": lambda image, sampler, level: FILTERS.index(sampler.filter),
    "addr_mode_0": address_mode(0), "addr_mode_1": address_mode(1), "addr_mode_2": address_mode(2),
}  # fmt: skip
IMAGE_QUERIES = {
    "width": extent(0), "height": extent(1), "depth": extent(2), "channel_data_type": data_type,
    "channel_order": lambda image, sampler, level: CHANNEL_ORDERS[image.channels],
    "normalized_coords": lambda image, sampler, level: sampler.normalized,
    "array_size": array_size, "num_mipmap_levels": lambda image, sampler, level: len(image.levels),
    "num_samples": lambda image, sampler, level: 1,
}  # fmt: skip


IS_SURFACE = {"texture_query": False, "surface_query": True}


def build_query(inst: Instruction, env: Env) -> Op:
    query = unpack_name(inst.mods, "query")
    ka, a = source(inst, "a", U64, env.pool)
    level = source(inst, "b", U32, env.pool) if inst.op.b else None
    kd, d = destination(inst, U32)
    at, is_surface = env.at, IS_SURFACE[inst.op.semantics]

    def op(lanes: Lanes) -> None:
        elements = active_elements(lanes, None)
        handles = full_row(lanes, lanes.v[ka][a])[elements]
        if query in SAMPLER_QUERIES:
            for handle in np.unique(handles):
                where = elements[handles == handle]
                word = handle_word(lanes, at, int(where[0]), int(handle))
                if not word & VALID:
                    refuse_image(lanes, at, where, f"no sampler at handle 0x{int(handle):x}")
                lanes.v[kd][d][where] = SAMPLER_QUERIES[query](None, sampler_of(word), None) if word & VALID else 0
            return
        for image, word, where in find_images(lanes, at, elements, handles, is_surface, [Ref(kd, d)]):
            numbers = np.zeros(len(where), np.int64)
            if level is not None:
                numbers = np.minimum(
                    full_row(lanes, lanes.v[level.kind][level.index])[elements[where]], len(image.levels) - 1
                ).astype(np.int64)
            answers = np.array(
                [IMAGE_QUERIES[query](image, sampler_of(word), image_level) for image_level in image.levels], np.uint32
            )
            lanes.v[kd][d][elements[where]] = answers[numbers]

    return op


def build_is_type(inst: Instruction, env: Env) -> Op:
    kind = unpack_name(inst.mods, "opaque")
    ka, a = source(inst, "a", U64, env.pool)
    kd, d = destination(inst, PRED)
    at = env.at

    def op(lanes: Lanes) -> None:
        elements = active_elements(lanes, None)
        handles = full_row(lanes, lanes.v[ka][a])[elements]
        for handle in np.unique(handles):
            where = elements[handles == handle]
            word = handle_word(lanes, at, int(where[0]), int(handle))
            image = lanes.chunk.spaces["global"].memory.images.get(word & IMAGE_MASK)
            if kind == "samplerref":
                lanes.v[kd][d][where] = bool(word & VALID) and image is None
            else:
                lanes.v[kd][d][where] = image is not None and image.is_surface == (kind == "surfref")

    return op


SEMANTICS = {
    **dict.fromkeys(IS_GATHER, build_fetch),
    **dict.fromkeys(IS_SURFACE, build_query),
    "is_type": build_is_type,
}
