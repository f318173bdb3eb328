"""Matrix instructions that follow each other, done together (`matrices.plan`), against the manual's tables one by one;
rows of tensor tiles against their elements; passes through the banks counted one by one.
"""

from types import SimpleNamespace

import numpy as np
import pytest

from gpuprof.emulate.bulk.tensormap import TensorMap, rows, tile
from gpuprof.emulate.core.spaces import NO_RANGES
from gpuprof.emulate.matrices.matrix import multiply, scratch_of
from gpuprof.emulate.matrices.plan import MULTIPLY, TAKE_A, TAKE_B, Factor, Product, make_plan
from gpuprof.emulate.trace_log.coalesce import inspect
from gpuprof.emulate.trace_log.trace_entries import ACCESS_DTYPE
from gpuprof.isa.families.tensor import FORMS
from gpuprof.isa.modifiers import ELEMENT_TYPES
from tests.references import tensor as reference

RNG = np.random.default_rng(36)
WARPS = 6
FULL = 0xFFFFFFFF


def product(name: str, type_name: str, a: int, b: int, c: int, d: int) -> Product:
    """D = A B + C in registers from these on."""
    form = FORMS[name]
    counts = [int(spec[1:] or 1) for spec in form.registers()]
    number = ELEMENT_TYPES.index(type_name)
    return Product(form, Factor(number, a, counts[1]), Factor(number, b, counts[2]), c, counts[3], d, counts[0])


def patterns(type_name: str, shape: tuple[int, ...]) -> np.ndarray:
    """Words of random elements of a similar size."""
    if type_name == "f32":
        return RNG.standard_normal(shape).astype(np.float32).view(np.uint32)
    if type_name == "f16":
        return RNG.standard_normal((*shape, 2)).astype(np.float16).view(np.uint32)[..., 0]
    return RNG.integers(0, 1 << 32, shape, np.uint32)


def carried_out(products: list[Product], file: np.ndarray, masks: np.ndarray, held: np.ndarray) -> np.ndarray:
    """The registers afterwards: uint32 (registers, 32 * warps)."""
    plan, home = make_plan(products), file.copy()
    addresses = np.zeros(272, np.int64)
    addresses[: len(home)] = home.ctypes.data + home.strides[0] * np.arange(len(home))
    none = np.zeros(len(masks), np.int64)
    keeps = np.zeros((0, len(masks)), np.uint32)
    assert multiply(
        plan.steps, plan.segments, scratch_of(plan), addresses, masks, held, keeps, none[:0], none, none, 0
    )  # fmt: skip
    return home


def one_by_one(products: list[tuple[Product, str, str]], file: np.ndarray, masks: np.ndarray, held) -> np.ndarray:
    """The same by `references.tensor`, with the types of the elements and of C and D."""
    home = file.copy()
    for each, type_name, sum_type in products:
        form = SimpleNamespace(
            shape=(each.form.m, each.form.n, each.form.k), a=type_name, b=type_name, c=sum_type, d=sum_type,
            sparse=False, operation="", satfinite=False, selector=0,
        )  # fmt: skip
        for warp, mask in enumerate(masks.tolist()):
            lanes = np.arange(32 * warp, 32 * warp + 32)
            is_there = mask >> np.arange(32) & 1 == 1
            a, b, c = (
                np.where(is_there, home[first : first + count, lanes], 0).astype(np.uint32)
                for first, count in ((each.a.register, each.a.count), (each.b.register, each.b.count),
                                     (each.c, each.c_count))
            )  # fmt: skip
            found = reference.mma(form, a, b, c)
            is_held = held[warp] >> np.arange(32) & 1 == 1
            if mask:
                home[each.d : each.d + each.d_count, lanes[is_held]] = found[:, is_held]
    return home


@pytest.mark.parametrize("partly", [False, True])
@pytest.mark.parametrize(
    "name, type_name, sum_type",
    [
        ("HMMA.16816.F32", "f16", "f32"),
        ("HMMA.16816.F32", "bf16", "f32"),
        ("HMMA.TF32.1688.F32", "tf32", "f32"),
        ("HMMA.16816.F16", "f16", "f16"),
        ("IMMA.16832", "s8", "s32"),
    ],
)
def test_a_run_shares_what_it_takes(name, type_name, sum_type, partly):
    """Four products of one A and two Bs, two of them on the same sums; one that writes an A, which is read again; and
    one whose D begins in the midst of its C.
    """
    chain = [
        product(name, type_name, 0, 4, 16, 16),
        product(name, type_name, 0, 8, 20, 20),
        product(name, type_name, 0, 4, 16, 16),
        product(name, type_name, 0, 8, 24, 12),
        product(name, type_name, 4, 8, 16, 0),
        product(name, type_name, 0, 4, 28, 30),
    ]
    file = patterns(type_name, (40, 32 * WARPS))
    file[12:] = patterns(sum_type, (28, 32 * WARPS))
    masks, held = np.full(WARPS, FULL, np.uint32), np.full(WARPS, FULL, np.uint32)
    if partly:
        masks[:3], held[1:4] = (0x0000FFFF, 0, 0xFFFF0F0F), (0x1234, FULL, 0)
        held &= masks
    found = carried_out(chain, file, masks, held)
    wanted = one_by_one([(each, type_name, sum_type) for each in chain], file, masks, held)
    np.testing.assert_array_equal(found, wanted)


def test_a_factor_is_taken_once_until_it_is_written():
    of = lambda a, b, d: product("HMMA.16816.F32", "f16", a, b, d, d)  # noqa: E731
    kinds = make_plan([of(0, 4, 16), of(0, 8, 20), of(0, 4, 4), of(0, 4, 24)]).steps[:, 0].tolist()
    assert kinds == [TAKE_A, TAKE_B, MULTIPLY, TAKE_B, MULTIPLY, MULTIPLY, TAKE_B, MULTIPLY]


def test_what_is_taken_fits_the_cache():
    """A of 16 x 16 is 2 KB, B 1 KB: 13 pairs, of 39 KB, in 40."""
    chain = [product("HMMA.16816.F32", "f16", 4 * i, 80 + 2 * i, 200, 200) for i in range(20)]
    plan = make_plan(chain)
    assert plan.segments.tolist() == [0, 39, 60]
    assert plan.n_taken == 13 * 24 * 16


@pytest.mark.parametrize("coordinates", [(0, 0, 0), (3, 2, 1), (-2, -1, 0), (90, 18, 3), (96, 0, 0), (5, 0, -7)])
def test_rows_of_a_tile_are_its_elements(coordinates):
    tensor = TensorMap(
        4096, 3, "f16", 2, (96, 20, 4), (2, 256, 8192), (16, 6, 4), (1, 2, 1), 0, 0, False, False, (), (), 0, 0
    )
    wanted, found = tile(tensor, coordinates), rows(tensor, coordinates)
    inside = wanted.inside.reshape(-1, 16)
    columns = (np.arange(16) >= found.before) & (np.arange(16) < found.before + found.count)
    np.testing.assert_array_equal(inside, found.inside[:, None] & columns)
    address = found.address[:, None] + 2 * (np.arange(16) - found.before)
    np.testing.assert_array_equal(wanted.address.reshape(-1, 16)[inside], address[inside])


def passes_counted(addresses: list[int], nbytes: int) -> int:
    """A pass takes one word of each of 32 banks; lanes go in groups that one pass could serve."""
    group, total = max(1, min(32, 128 // nbytes)), 0
    for first in range(0, 32, group):
        words = {at // 4 + k for at in addresses[first : first + group] for k in range(max(1, nbytes // 4))}
        total += max(sum(word % 32 == bank for word in words) for bank in range(32))
    return total


@pytest.mark.parametrize("nbytes", [2, 4, 8, 16])
@pytest.mark.parametrize("reach", [8, 40, 4096])
def test_passes_of_a_store(nbytes, reach):
    address = RNG.integers(0, reach, (50, 32)) * nbytes
    full, records = np.full(50, FULL, np.uint32), np.zeros(50, np.uint64)
    inspect(
        address.reshape(-1), full, full, nbytes, 1, 0, False, False, True, NO_RANGES, records, np.zeros(1600, np.int64)
    )
    wanted = [passes_counted(row, nbytes) for row in address.tolist()]
    assert records.view(ACCESS_DTYPE)["wavefronts"].tolist() == wanted
