"""Texture fetches and gathers of every geometry, filter and address mode against exact fractions
(`texture_reference`).
"""

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from gpuprof.device.images import CHANNEL_ORDERS
from gpuprof.device.memory import AddressSpace
from gpuprof.errors import KernelFault
from gpuprof.isa.encoding import make
from gpuprof.isa.families.texture import GATHER_GEOMETRIES, TEXTURE_GEOMETRIES
from gpuprof.isa.handles import ADDRESS_MODES, FILTERS, Sampler, pack_handle
from gpuprof.isa.modifiers import QUERIES, pack
from tests.references import texture as reference
from tests.support.matrices import long_but_every
from tests.support.texture_support import LANES, canonical, constant, fetch_lanes, lanes_run, make_image, shape_of

FETCHES = [f"TEX.{geometry}{form}".upper() for geometry in TEXTURE_GEOMETRIES for form in ("", ".LEVEL", ".GRAD")]
GATHERS = [f"TLD4.{geometry}".upper() for geometry in GATHER_GEOMETRIES]
OTHERS = ["TXQ", "SUQ", "ISTYPEP"]
OPCODES = FETCHES + GATHERS + OTHERS

SAMPLERS = [
    Sampler((mode,) * 3, filter, normalized) for mode in ADDRESS_MODES for filter in FILTERS for normalized in (False,
        True)
]  # fmt: skip
SPECIAL = [
    0.0,
    -0.0,
    0.5,
    1.0,
    -1.0,
    -0.5,
    1e-40,
    -1e-40,
    0.99999994,
    1.0000001,
    3e38,
    -3e38,
    1e9,
    math.inf,
    -math.inf,
    math.nan,
]


def texels(rng, geometry: str, extents, channels: int) -> np.ndarray:
    """Floats of few bits, so that weighted sums are exact."""
    return (rng.integers(-256, 256, shape_of(geometry, extents, channels)) / 16).astype(np.float32)


def coordinates(rng, geometry: str, normalized: bool) -> np.ndarray:
    """uint32 (32, k): layers, then floats in and around the texture, special values among them."""
    n, _ = TEXTURE_GEOMETRIES[geometry]
    values = (
        rng.uniform(-1.5, 2.5, (LANES, n))
        if normalized
        else rng.integers(-24, 90, (LANES, n)) / 8 + rng.uniform(-0.1, 0.1, (LANES, n))
    )
    values = np.where(rng.random((LANES, n)) < 0.25, rng.choice(SPECIAL, (LANES, n)), values)
    if "cube" in geometry:
        values = rng.choice([-2.0, -1.0, -0.75, 0.25, 0.5, 1.0, 1.5], (LANES, n))
    words = values.astype(np.float32).view(np.uint32)
    if geometry[0] == "a":
        words[:, 0] = rng.choice([0, 1, 2, 3, 0xFFFFFFFF], LANES)
    return words


def lane_coordinates(geometry: str, words: np.ndarray) -> tuple[int, list[float]]:
    """(layer, coordinates in space) of one lane; faces of cube maps are layers."""
    layered = geometry[0] == "a"
    n, _ = TEXTURE_GEOMETRIES[geometry]
    layer = int(words[0]) if layered else 0
    spatial = [float(value) for value in words[int(layered) : n].view(np.float32)]
    if "cube" in geometry:
        face, *spatial = reference.face_of(*spatial)
        layer = 6 * min(layer, 2 if layered else 0) + face
    return layer, spatial


def sampler_of(geometry: str, sampler: Sampler) -> tuple[tuple[str, ...], bool]:
    return (("clamp_to_edge",) * 2, True) if "cube" in geometry else (sampler.address, sampler.normalized)


def as_float32(values) -> np.ndarray:
    return np.array([float(value) for value in values], np.float32)


def check_fetch(geometry: str, pyramid, words, sampler: Sampler, name: str, lods=None) -> None:
    found = fetch_lanes(name, geometry, pyramid, words, sampler).view(np.float32)
    modes, normalized = sampler_of(geometry, sampler)
    levels = [canonical(geometry, each) for each in pyramid]
    for lane in range(LANES):
        layer, spatial = lane_coordinates(geometry, words[lane])
        lod = 0.0 if lods is None else float(lods[lane])
        wanted = reference.fetch(
            levels, layer, spatial, modes, normalized, sampler.filter == "linear", lod, sampler.mip_filter
        )
        np.testing.assert_array_equal(found[:, lane], as_float32(wanted), f"lane {lane}: {layer} {spatial} {lod}")


@pytest.mark.parametrize(
    "sampler",
    long_but_every(3, SAMPLERS),
    ids=lambda s: f"{s.address[0]}-{s.filter}-{'normalized' if s.normalized else 'texels'}",
)
@pytest.mark.parametrize("geometry", TEXTURE_GEOMETRIES)
def test_fetch(geometry, sampler):
    rng = np.random.default_rng(5)
    for extents, channels in (((5, 3, 4), 1), ((1, 1, 1), 2), ((8, 7, 2), 4)):
        pyramid = [texels(rng, geometry, extents, channels)]
        check_fetch(
            geometry, pyramid, coordinates(rng, geometry, sampler.normalized), sampler, f"TEX.{geometry}".upper()
        )


@settings(max_examples=60)
@given(st.lists(st.floats(width=32), min_size=LANES, max_size=LANES), st.integers(1, 9), st.sampled_from(SAMPLERS))
def test_any_coordinate(us, width, sampler):
    pyramid = [texels(np.random.default_rng(width), "1d", (width, 1, 1), 1)]
    check_fetch("1d", pyramid, np.array(us, np.float32).view(np.uint32)[:, None], sampler, "TEX.1D")


def pyramid_of(rng, geometry: str, channels: int = 1) -> list[np.ndarray]:
    return [
        texels(rng, geometry, tuple(max(extent >> level, 1) for extent in (8, 4, 4)), channels) for level in range(4)
    ]


@pytest.mark.parametrize("mip", FILTERS)
@pytest.mark.parametrize("geometry", TEXTURE_GEOMETRIES)
def test_level(geometry, mip):
    rng = np.random.default_rng(6)
    lods = rng.choice([0.0, 0.25, 0.5, 0.499, 1.0, 1.7, 2.5, 3.0, 9.0, -1.0, math.nan, math.inf], LANES).astype(
        np.float32
    )
    words = np.column_stack([coordinates(rng, geometry, True), lods.view(np.uint32)])
    sampler = Sampler(("wrap",) * 3, "linear", True, mip)
    check_fetch(geometry, pyramid_of(rng, geometry), words, sampler, f"TEX.{geometry}.LEVEL".upper(), lods)


@pytest.mark.parametrize("geometry", TEXTURE_GEOMETRIES)
def test_grad(geometry):
    """Derivatives whose longer one is a power of two texels give a whole level; the shorter one does not matter."""
    rng = np.random.default_rng(7)
    _, dimensions = TEXTURE_GEOMETRIES[geometry]
    place = coordinates(rng, geometry, True)
    levels = rng.integers(0, 4, LANES)
    longer, shorter = np.zeros((LANES, dimensions), np.float32), np.zeros((LANES, dimensions), np.float32)
    if "cube" in geometry:  # along the face's s axis: a step of 2 / 8 at distance 1 of the face is one of 8 texels
        place[:, -3:] = np.array([0.25, 0.5, 1.0], np.float32).view(np.uint32)
        longer[:, 0] = 2.0**levels * 2 / 8
    else:
        longer[:, 0] = 2.0**levels / 8
    shorter[:, -1] = longer.max(axis=1) / 4
    pair = [longer, shorter] if geometry in ("1d", "2d", "cube") else [shorter, longer]
    words = np.column_stack([place, *[each.view(np.uint32) for each in pair]])
    sampler = Sampler(("mirror",) * 3, "linear", True, "nearest")
    check_fetch(geometry, pyramid_of(rng, geometry), words, sampler, f"TEX.{geometry}.GRAD".upper(), levels)


@pytest.mark.parametrize("component", range(4))
@pytest.mark.parametrize("geometry", GATHER_GEOMETRIES)
def test_gather(geometry, component):
    rng = np.random.default_rng(8)
    array = texels(rng, geometry, (5, 3, 1), 4)
    for mode in ("wrap", "clamp_to_border", "clamp_to_edge"):
        sampler = Sampler((mode,) * 3, "nearest", True)
        words = coordinates(rng, geometry, True)
        found = fetch_lanes(
            f"TLD4.{geometry}".upper(), geometry, [array], words, sampler, pack(component=component)
        ).view(np.float32)
        modes, normalized = sampler_of(geometry, sampler)
        level = canonical(geometry, array)
        for lane in range(LANES):
            layer, spatial = lane_coordinates(geometry, words[lane])
            wanted = reference.gather(level, min(layer, len(level) - 1), spatial, modes, normalized, component)
            np.testing.assert_array_equal(found[:, lane], as_float32(wanted))


INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32"]


@pytest.mark.parametrize("dtype", [*INTEGERS, "float16", "float32"])
def test_element_types_at_integer_coordinates(dtype):
    """The words a fetch gives are the elements, sign-extended, and the bits of f32 for floats."""
    rng = np.random.default_rng(9)
    array = rng.integers(0, 256, (4, 6, 2 * np.dtype(dtype).itemsize), np.uint8).view(dtype)
    if dtype.startswith("float"):
        array = rng.normal(size=(4, 6, 2)).astype(dtype)
    x, y = rng.integers(0, 6, LANES), rng.integers(0, 4, LANES)
    words = np.column_stack([x, y]).astype(np.uint32)
    found = fetch_lanes("TEX.2D", "2d", [array], words, Sampler(("clamp_to_edge",) * 3), pack(ctype="s32"))
    wide = (
        array[y, x].astype(np.float32).view(np.uint32)
        if dtype.startswith("float")
        else array[y, x].astype(np.int64).astype(np.uint32)
    )
    np.testing.assert_array_equal(found[:2].T, wide)
    one = np.float32(1).view(np.uint32) if dtype.startswith("float") else 1
    assert set(found[2]) == {0} and set(found[3]) == {one}


def test_integer_coordinates_outside():
    """Linear memory gives zero, arrays clamp or have a border."""
    array = np.arange(1, 6, dtype=np.float32)
    xs = np.arange(-8, 24).astype(np.int32)
    found = fetch_lanes("TEX.1D", "1d", [array], xs.view(np.uint32)[:, None], Sampler(), pack(ctype="s32")).view(
        np.float32
    )
    np.testing.assert_array_equal(found[0], [array[x] if 0 <= x < 5 else 0 for x in xs])
    words = np.column_stack([xs, np.zeros(LANES, np.int32)]).view(np.uint32)
    for mode, outside in (("clamp_to_edge", None), ("clamp_to_border", 0)):
        found = fetch_lanes("TEX.2D", "2d", [array[None]], words, Sampler((mode,) * 3), pack(ctype="s32")).view(
            np.float32
        )
        wanted = [array[x] if 0 <= x < 5 else array[min(max(x, 0), 4)] if outside is None else 0 for x in xs]
        np.testing.assert_array_equal(found[0], wanted)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16"])
def test_normalized_reading(dtype):
    limits = np.iinfo(dtype)
    array = np.linspace(limits.min, limits.max, LANES).astype(dtype)
    words = (np.arange(LANES) + np.float32(0.5)).astype(np.float32).view(np.uint32)[:, None]
    found = fetch_lanes(
        "TEX.1D", "1d", [array], words, Sampler(("clamp_to_edge",) * 3, normalized=False), read="normalized"
    )
    wanted = np.maximum(array.astype(np.float64) / limits.max, -1).astype(np.float32)
    np.testing.assert_array_equal(found[0].view(np.float32), wanted)


def test_srgb():
    """Bytes to linear light; alpha stays. Values: IEC 61966-2-1's own example points."""
    array = np.array([[0, 10, 11, 255], [188, 128, 64, 128]], np.uint8)
    words = np.tile(np.array([0.5, 1.5], np.float32).view(np.uint32), LANES // 2)[:, None]
    sampler = Sampler(("clamp_to_edge",) * 3, normalized=False)
    found = fetch_lanes("TEX.1D", "1d", [array], words, sampler, read="normalized", srgb=True).view(np.float32)
    np.testing.assert_allclose(found[:, 0], [0, 0.003035, 0.003347, 1], rtol=1e-3, atol=1e-6)
    np.testing.assert_allclose(found[:, 1], [0.502886, 0.215861, 0.051269, 128 / 255], rtol=1e-4)


def test_infinite_texels_without_weight_do_not_count():
    array = np.array([np.inf, 1, 2, np.nan], np.float32)
    words = np.full((LANES, 1), np.float32(1.5).view(np.uint32))
    found = fetch_lanes("TEX.1D", "1d", [array], words, Sampler(("clamp_to_edge",) * 3, "linear", False)).view(
        np.float32
    )
    assert set(found[0]) == {1.0}


# -- queries ---------------------------------------------------------------------------------------


def queried(memory: AddressSpace, name: str, handle: int, query: str, level: int = 0) -> int:
    body = [
        constant(10, handle),
        make(name, dst=60, a=10, mods=pack(query=query), **({"b": 20} if name == "TXQ" else {})),
    ]
    (row,), _ = lanes_run(memory, body, np.full((LANES, 1), level, np.uint32), [("R", 60)])
    assert len(set(row)) == 1
    return int(row[0])


def test_texture_queries():
    memory = AddressSpace()
    pyramid = [np.zeros((3, 8 >> k, 16 >> k, 2), np.uint8) for k in range(3)]
    sampler = Sampler(("mirror", "clamp_to_border", "wrap"), "linear", False)
    handle = pack_handle(make_image(memory, "a2d", pyramid, read="normalized"), sampler)
    wanted = {
        "width": 16, "height": 8, "depth": 1, "channel_data_type": 0x10D2, "channel_order": CHANNEL_ORDERS[2],
        "normalized_coords": 0,
        "array_size": 3, "num_mipmap_levels": 3, "num_samples": 1, "force_unnormalized_coords": 1, "filter_mode": 1,
        "addr_mode_0": 1,
        "addr_mode_1": 4, "addr_mode_2": 0,
    }  # fmt: skip
    assert set(wanted) == set(QUERIES)
    assert {query: queried(memory, "TXQ", handle, query) for query in QUERIES} == wanted
    assert [queried(memory, "TXQ", handle, query, 2) for query in ("width", "height", "depth")] == [4, 2, 1]


def test_surface_queries_and_types():
    memory = AddressSpace()
    surface = pack_handle(make_image(memory, "3d", [np.zeros((2, 3, 4), np.int32)], is_surface=True))
    texture = pack_handle(make_image(memory, "1d", [np.zeros(4, np.float32)]))
    asked = {
        query: queried(memory, "SUQ", surface, query)
        for query in ("width", "height", "depth", "channel_data_type", "channel_order")
    }
    assert asked == {"width": 4, "height": 3, "depth": 2, "channel_data_type": 0x10D9, "channel_order": 0x10B0}
    for handle, kind in ((surface, "surfref"), (texture, "texref"), (pack_handle(0), "samplerref"), (0, "")):
        for opaque in ("texref", "samplerref", "surfref"):
            body = [
                constant(10, handle),
                make("ISTYPEP", dst=3, a=10, mods=pack(opaque=opaque)),
                make("SEL", dst=60, a=60, b=255, e=3, imm=1, slot="a"),
            ]
            (row,), _ = lanes_run(memory, body, np.zeros((LANES, 1), np.uint32), [("R", 60)])
            assert set(row) == {int(kind == opaque)}


# -- handles, faults, traces
# -------------------------------------------------------------------------------------------------


def fetch_2d(memory: AddressSpace, handles: np.ndarray, words: np.ndarray, **slots):
    body = [make("TEX.2D", dst=60, a=20, b=20, **slots)]
    return lanes_run(memory, body, words, [("R", 60)], handles[:, None].astype(np.uint64))


def test_each_lane_may_have_its_own_texture():
    memory = AddressSpace()
    handles = [pack_handle(make_image(memory, "2d", [np.full((2, 2), value, np.float32)])) for value in (1.0, 2.0)]
    (row,), _ = fetch_2d(
        memory, np.array([handles[lane % 2] for lane in range(LANES)], np.uint64), np.zeros((LANES, 2), np.uint32)
    )
    np.testing.assert_array_equal(row.view(np.float32), np.tile([1.0, 2.0], LANES // 2))


@pytest.mark.parametrize(
    "handle, text",
    [
        (7, "no texture at handle 0x7"),
        (pack_handle(9), "unbound texture at handle"),
        (pack_handle(0), "unbound texture at handle"),
    ],
)
def test_bad_handles(handle, text):
    memory = AddressSpace()
    good = pack_handle(make_image(memory, "2d", [np.zeros((2, 2), np.float32)]))
    handles = np.full(LANES, good, np.uint64)
    handles[5] = handle
    with pytest.raises(KernelFault, match=rf"k\.cu:\d+, thread \(5, 0, 0\) of block \(0, 0, 0\): {text}"):
        fetch_2d(memory, handles, np.zeros((LANES, 2), np.uint32))


def test_lanes_without_a_guard_are_not_looked_at():
    memory = AddressSpace()
    good = pack_handle(make_image(memory, "2d", [np.ones((2, 2), np.float32)]))
    handles = np.where(np.arange(LANES) % 2, 7, good).astype(np.uint64)
    odd = [
        make("AND", dst=70, a=250, imm=1, slot="b"),
        make("ISETP.U32", dst=3, a=70, imm=0, slot="b", mods=pack(cmp="eq")),
    ]
    body = [
        *odd,
        make("TEX.2D", dst=60, a=20, b=20, guard=3),
        make("TXQ", dst=64, a=20, guard=3, mods=pack(query="width")),
    ]
    (row, width), _ = lanes_run(memory, body, np.zeros((LANES, 2), np.uint32), [("R", 60), ("R", 64)], handles[:, None])
    np.testing.assert_array_equal(row.view(np.float32), np.tile([1.0, 0.0], LANES // 2))
    np.testing.assert_array_equal(width, np.tile([2, 0], LANES // 2))


def test_geometry_and_kind_have_to_fit():
    memory = AddressSpace()
    for fields, geometry, shape, text in (
        ({}, "3d", (2, 2, 2), "is a 3d image"),
        ({"is_surface": True}, "2d", (2, 2), "and no texture"),
    ):
        handle = pack_handle(make_image(memory, geometry, [np.zeros(shape, np.float32)], **fields))
        with pytest.raises(KernelFault, match=text):
            fetch_2d(memory, np.full(LANES, handle, np.uint64), np.zeros((LANES, 2), np.uint32))


def test_freed_memory():
    memory = AddressSpace()
    number = make_image(memory, "2d", [np.zeros((64, 64), np.float32)])
    memory.free(memory.images.get(number).levels[0].address)
    with pytest.raises(KernelFault, match=r"the memory of test image .* is gone"):
        fetch_2d(memory, np.full(LANES, pack_handle(number), np.uint64), np.zeros((LANES, 2), np.uint32))


def test_independent_sampler():
    """The sampler named goes before the texture's own; it may lie in memory, as a `.samplerref` does."""
    memory = AddressSpace()
    handle = pack_handle(make_image(memory, "1d", [np.array([1, 3], np.float32)]), Sampler(normalized=False))
    word = pack_handle(0, Sampler(("clamp_to_edge",) * 3, "linear", False))
    place = memory.allocate(8, "sampler").address
    memory.write(place, np.array([word], np.uint64))
    for sampler in (word, place):
        body = [constant(10, handle), constant(11, sampler), make("TEX.1D", dst=60, a=10, b=20, c=11)]
        (row,), _ = lanes_run(memory, body, np.full((LANES, 1), np.float32(1.0).view(np.uint32)), [("R", 60)])
        assert set(row.view(np.float32)) == {2.0}
    with pytest.raises(KernelFault, match="no sampler at handle 0x1"):
        lanes_run(
            memory,
            [constant(10, handle), constant(11, 1), make("TEX.1D", dst=60, a=10, b=20, c=11)],
            np.zeros((LANES, 1), np.uint32),
            [],
        )


def test_trace_of_a_fetch():
    """32 lanes along a row of 64 floats, and the row above with the next column when filtering. 32 lanes take the
    texture units 8 cycles.
    """
    for filter, sectors, lines, wavefronts in (("nearest", 4, 1, 8), ("linear", 10, 4, 8)):
        memory = AddressSpace()
        handle = pack_handle(
            make_image(memory, "2d", [np.zeros((4, 64), np.float32)]), Sampler(("clamp_to_edge",) * 3, filter, False)
        )
        words = np.column_stack([np.arange(LANES) + 1.0, np.ones(LANES)]).astype(np.float32).view(np.uint32)
        if filter == "nearest":
            words = np.column_stack([np.arange(LANES) + 0.5, np.ones(LANES)]).astype(np.float32).view(np.uint32)
        _, done = lanes_run(memory, [constant(10, handle), make("TEX.2D", dst=60, a=10, b=20)], words, [])
        assert done.accesses(0)[-1] == (sectors, lines, wavefronts, 1, 32, 0, 0)  # a line in each tag bank
