"""Matrix instructions on all warps of a set at once, and those that follow each other together: operands out of the
rows, the arithmetic of `matrix`, results into the rows.

A warp's lanes come together for them (see `rendezvous`), so a whole warp is always there but for lanes that have
exited, whose registers read as zeros: PTX leaves that case undefined.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby

import numpy as np

from gpuprof.emulate.core.lanes import Lanes, pack_masks
from gpuprof.emulate.core.operands import F64, U32, U64
from gpuprof.emulate.core.operation import Env, Op, full_row, guard_reader, read_predicate
from gpuprof.emulate.core.rounding import rounded
from gpuprof.emulate.matrices.descriptor import Operand, read_fragment
from gpuprof.emulate.matrices.plan import DENSE, NONE, Factor, Plan, Product, make_plan, register
from gpuprof.emulate.matrices.volta import multiply_quads
from gpuprof.isa.encoding import PT, RZ, Instruction
from gpuprof.isa.families.tensor import NBITS, TYPES_OF_UNIT, Form, form_of
from gpuprof.isa.modifiers import ELEMENT_TYPES, unpack, unpack_name

SIGN = {"f16": 0x80008000, "tf32": 0x80000000, "f8": 0x80808080}  # of all elements of a register
N_REGISTERS = 256
GIVEN = {"a": N_REGISTERS, "b": N_REGISTERS + 8}  # rows of words that are in no register
N_ROWS = N_REGISTERS + 16
KINDS = ("matrix", "matrix_async")


def group_reader(inst: Instruction, slot: str, kind: int = U32) -> Callable[[Lanes], np.ndarray]:
    """lanes -> the slot's registers as one array (registers, n); RZ reads as zeros."""
    spec = getattr(inst.op, slot)
    count, first = int(spec[1:] or 1), getattr(inst, slot)
    dtype = {U32: np.uint32, F64: np.float64}[kind]
    if first == RZ:
        return lambda lanes: np.zeros((count, lanes.n), dtype)
    return lambda lanes: lanes.of_active(np.stack([lanes.v[kind][first + i] for i in range(count)]))


def group_writer(inst: Instruction, env: Env, kind: int = U32) -> Callable[[Lanes, np.ndarray], None]:
    """Puts an array (registers, n) into dst's registers, on the lanes for which the guard holds."""
    count, first = int(inst.op.dst[1:] or 1), inst.dst
    guard = guard_reader(inst, env)

    def write(lanes: Lanes, values: np.ndarray) -> None:
        held = True if guard is None else guard(lanes)
        for i in range(count if first != RZ else 0):
            np.copyto(lanes.v[kind][first + i], values[i], where=held)

    return write


def element_types(inst: Instruction, form: Form) -> tuple[int, int]:
    """Numbers of ELEMENT_TYPES for A and B."""
    if "ta" in inst.op.fields:
        return unpack(inst.mods, "ta"), unpack(inst.mods, "tb")
    t = TYPES_OF_UNIT[form.unit][0]
    return (ELEMENT_TYPES.index(t),) * 2 if t in ELEMENT_TYPES else (-1, -1)


def product_of(inst: Instruction) -> Product | None:
    """None for what `plan` does not do: quads, bits and double precision."""
    form = form_of(inst.op)
    if form.is_volta or form.unit in ("b1", "f64"):
        return None
    factors = {}
    for slot, type_name in zip("ab", element_types(inst, form), strict=True):
        sign = SIGN[form.unit] if form.wgmma and form.unit in SIGN and unpack(inst.mods, f"minus_{slot}") else 0
        file, count = getattr(inst.op, slot)[0], int(getattr(inst.op, slot)[1:] or 1)
        where = register(getattr(inst, slot))
        factors[slot] = Factor(type_name, where, count, sign=sign)
        if form.wgmma and file == "D":
            factors[slot] = Factor(
                type_name, where, 4 if slot == "a" else 2, True, sign, NBITS[form.unit],
                bool(unpack(inst.mods, f"trans_{slot}")), 8 * inst.imm if slot == "b" else 0,
            )  # fmt: skip
    return Product(
        form, factors["a"], factors["b"],
        register(inst.c), int(inst.op.c[1:] or 1), register(inst.dst), int(inst.op.dst[1:] or 1),
        predicate=inst.e if form.wgmma and inst.e != PT else NONE,
        clamp="satfinite" in inst.op.fields and bool(unpack(inst.mods, "satfinite")),
        metadata=register(inst.e) if form.sparse else DENSE,
        selector=inst.imm if form.sparse else 0,
    )  # fmt: skip


def addresses_of(lanes: Lanes, registers: np.ndarray, given: dict[str, np.ndarray]) -> np.ndarray:
    """int64 (N_ROWS,): where the rows of these registers are, and those of words that are given."""
    rows = np.zeros(N_ROWS, np.int64)
    if lanes.direct:
        home = lanes.chunk.file.rows[0]
        rows[registers] = home.ctypes.data + home.strides[0] * registers
    else:
        known = lanes.v[U32]
        for index in registers.tolist():
            rows[index] = known[index].ctypes.data
    for slot, words in given.items():
        rows[GIVEN[slot] : GIVEN[slot] + len(words)] = words.ctypes.data + words.strides[0] * np.arange(len(words))
    return rows


class Runner:
    """Carries out products that follow each other; made when they first run."""

    def __init__(self, products: list[Product], env: Env):
        from gpuprof.emulate.matrices.matrix import multiply, scratch_of

        self._multiply, self._scratch_of = multiply, scratch_of
        self.plan: Plan = make_plan(products)
        self._predicates = [read_predicate(number, env) for number in self.plan.predicates]

    def run(self, lanes: Lanes, held: np.ndarray | None = None, given: dict[str, np.ndarray] = {}) -> bool:  # noqa: B006  # is not changed
        """held: bool (n,), the lanes whose results are written. `given`: words (registers, n) of A or B. Returns False,
        and does nothing, when a descriptor may lead out of shared memory."""
        plan, space = self.plan, lanes.chunk.spaces["shared"]
        keeps = np.zeros((len(self._predicates), len(lanes.warps)), np.uint32)
        for row, read in zip(keeps, self._predicates, strict=True):
            row[:] = pack_masks(np.ascontiguousarray(full_row(lanes, read(lanes))))
        masks = np.ascontiguousarray(lanes.masks)
        everyone = np.full(len(masks), 0xFFFFFFFF, np.uint32)
        warps = lanes.warps.astype(np.int64)
        return self._multiply(
            plan.steps,
            plan.segments,
            self._scratch_of(plan),
            addresses_of(lanes, plan.registers, given),
            masks,
            everyone if held is None else pack_masks(np.ascontiguousarray(held)),
            keeps,
            np.array([row.ctypes.data for row in self._descriptors(lanes)], np.int64),
            space.views[1].ctypes.data + warps // space.warps_per_block * space.stride,
            warps % space.warps_per_block,
            space.nbytes,
        )

    def _descriptors(self, lanes: Lanes) -> list[np.ndarray]:
        return [
            np.zeros(lanes.n, np.uint64) if index == NONE else lanes.v[U64][index] for index in self.plan.descriptors
        ]


def build_multiply(inst: Instruction, env: Env) -> Op:
    """mma: dst = a * b + c. mma_sparse: e has the metadata. A warp group's is 8 columns of its multiplication, with
    (e ? c : 0); b is always a descriptor there, a is one in SS rows.
    """
    form = form_of(inst.op)
    if form.unit == "f64":
        return build_doubles(inst, env)
    product, guard = product_of(inst), guard_reader(inst, env)
    if product is None:
        return build_separate(inst, env)
    fragments = {
        slot: descriptor_reader(inst, slot, Operand(slot == "a", form.k, f.nbits, f.trans, f.first), env.at)
        for slot, f in (("a", product.a), ("b", product.b))
        if f.is_described
    }
    made: list[Runner] = []

    def op(lanes: Lanes) -> None:
        held = None if guard is None else guard(lanes)
        if not made:
            made.append(Runner([product], env))
        if (fragments and lanes.chunk.is_watched) or not made[0].run(lanes, held):
            if len(made) == 1:
                made.append(Runner([with_words(product)], env))
            given = {slot: np.ascontiguousarray(read(lanes)) for slot, read in fragments.items()}
            made[1].run(lanes, held, given)

    return op


def with_words(product: Product) -> Product:
    """The product with the words of its described factors given."""

    def of(factor: Factor, slot: str) -> Factor:
        return factor._replace(is_described=False, register=GIVEN[slot]) if factor.is_described else factor

    return product._replace(a=of(product.a, "a"), b=of(product.b, "b"))


def fused(instructions: Iterable[Instruction], ops: Iterable[Op], env: Env) -> tuple[Op, ...]:
    """The ops of a block, with those of multiplications that follow each other made one."""
    return tuple(_fused(instructions, ops, env))


def _fused(instructions: Iterable[Instruction], ops: Iterable[Op], env: Env) -> Iterator[Op]:
    def product(pair: tuple[Instruction, Op]) -> Product | None:
        inst, _ = pair
        return product_of(inst) if inst.op.kind in KINDS and inst.guard == PT else None

    for together, pairs in groupby(zip(instructions, ops, strict=False), lambda pair: product(pair) is not None):
        each = list(pairs)
        if together and len(each) > 1:
            yield build_together([product(pair) for pair in each], [op for _, op in each], env)
        else:
            yield from (op for _, op in each)


def build_together(products: list[Product], ops: list[Op], env: Env) -> Op:
    made: list[Runner] = []

    def run(lanes: Lanes) -> None:
        if not made:
            made.append(Runner(products, env))
        if not made[0].run(lanes):
            for op in ops:
                op(lanes)

    return run


def build_separate(inst: Instruction, env: Env) -> Op:
    """Builds products of quads and of bits."""
    form = form_of(inst.op)
    a, c = (group_reader(inst, slot) if getattr(inst.op, slot)[0] == "R" else None for slot in "ac")
    nbits = NBITS[form.unit]
    if a is None:
        a = descriptor_reader(inst, "a", Operand(True, form.k, nbits, False), env.at)
    if form.wgmma:
        b = descriptor_reader(inst, "b", Operand(False, form.k, nbits, False, 8 * inst.imm), env.at)
        accumulates = read_predicate(inst.e, env)
    else:
        b, accumulates = group_reader(inst, "b"), None
    run, write = quads_of(inst, form) if form.is_volta else bits_of(inst), group_writer(inst, env)

    def op(lanes: Lanes) -> None:
        sums = c(lanes)
        if accumulates is not None:
            sums *= accumulates(lanes)
        write(lanes, run(a(lanes), b(lanes), sums))

    return op


def quads_of(inst: Instruction, form: Form) -> Callable[..., np.ndarray]:
    layouts = unpack_name(inst.mods, "layout_a"), unpack_name(inst.mods, "layout_b")
    return lambda a, b, c: multiply_quads(a, b, c, layouts, (form.c, form.d))


def bits_of(inst: Instruction) -> Callable[..., np.ndarray]:
    from gpuprof.emulate.matrices.matrix import multiply_bits

    conjunction = unpack_name(inst.mods, "logic") == "and"

    def run(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        d = np.empty((int(inst.op.dst[1:] or 1), a.shape[1]), a.dtype)
        multiply_bits(a, b, c, d, conjunction)
        return d

    return run


def build_doubles(inst: Instruction, env: Env) -> Op:
    from gpuprof.emulate.matrices.matrix import multiply_doubles

    a, b, c = (group_reader(inst, slot, F64) for slot in "abc")
    n_d = int(inst.op.dst[1:])
    run = rounded(unpack_name(inst.mods, "rnd"), multiply_doubles)
    write = group_writer(inst, env, F64)

    def op(lanes: Lanes) -> None:
        d = np.empty((n_d, lanes.n))
        run(a(lanes), b(lanes), c(lanes), d)
        write(lanes, d)

    return op


def descriptor_reader(inst: Instruction, slot: str, operand: Operand, at: int) -> Callable[[Lanes], np.ndarray]:
    """lanes -> the fragment (registers, n) of the matrix in shared memory that the slot's descriptors describe."""
    index = getattr(inst, slot)

    def read(lanes: Lanes) -> np.ndarray:
        return read_fragment(lanes, np.zeros(lanes.n, np.uint64) if index == RZ else lanes.v[U64][index], operand, at)

    return read


SEMANTICS = {"mma": build_multiply, "mma_sparse": build_multiply, "mma_group": build_multiply}
