"""wmma: fragments whose layout PTX leaves open. Here they are those of mma, so that a multiplication is one or two of
its rows, and loads and stores are plain ones at addresses that each lane works out.

A fragment of shape m16n16k16 is two of m16n8k16 in B and C; of m32n8k16, two in A and C. m8n32k16 is multiplied as its
transpose: B is what mma calls A, and so on. Where PTX has more registers than elements, the elements are repeated in
the further ones; what a program does to all elements alike keeps them equal.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

from gpuprof.assemble.ir.values import Imm, NoVariant, pick
from gpuprof.assemble.lower.data.address import memory_operand, space_of
from gpuprof.assemble.lower.data.move import join
from gpuprof.assemble.lower.engines.tensor import (
    UNIT_OF_TYPE,
    arithmetic_mods,
    check_mods,
    element_mods,
    emit_multiply,
    form_of,
    fresh,
    gather,
    members,
    take_layouts,
    take_shape,
)
from gpuprof.assemble.ptx import ast
from gpuprof.isa.families.memory import LETTER_OF_SPACE
from gpuprof.isa.families.tensor import NBITS, Form
from gpuprof.isa.modifiers import FIELDS, pack

SHAPES_OF_TYPE = {
    **dict.fromkeys(("f16", "bf16", "s8", "u8"), ((16, 16, 16), (8, 32, 16), (32, 8, 16))),
    "tf32": ((16, 16, 8),), "f64": ((8, 8, 4),), **dict.fromkeys(("s4", "u4"), ((8, 8, 32),)), "b1": ((8, 8, 128),),
}  # fmt: skip
REGISTERS_OF_F16 = 8  # of A and of B in every shape
ACCUMULATOR_NBITS = {"f16": 16, "f32": 32, "s32": 32, "f64": 64}


class Coordinate(NamedTuple):
    """constant + group * lane / 4 + place * lane % 4."""

    constant: int
    group: int
    place: int


class Element(NamedTuple):
    row: Coordinate
    column: Coordinate

    def swapped(self) -> "Element":
        return Element(self.column, self.row)


class Tiles(NamedTuple):
    """How a wmma shape is put together from mma's: `form`'s m, n and k; `across` of its A fragments and `along` of its
    B fragments.
    """

    m: int
    k: int
    across: int
    along: int
    transposed: bool


def tiles_of(shape: tuple[int, int, int]) -> Tiles:
    m, n, k = shape
    if (m, n) == (8, 8):
        return Tiles(8, k, 1, 1, False)
    transposed = m == 8
    rows, columns = (n, m) if transposed else (m, n)
    return Tiles(16, k, rows // 16, columns // 8, transposed)


def fragment_elements(role: str, shape: tuple[int, int, int], nbits: int) -> list[list[Element]]:
    """The elements of each register, in memory's rows and columns. role: "a", "b" or "c"."""
    tiles = tiles_of(shape)
    per_register = max(1, 32 // nbits)
    if role == "c":
        registers = [
            registers_of_c(across, along, tiles.m, per_register)
            for across in range(tiles.across)
            for along in range(tiles.along)
        ]
    elif (role == "a") != tiles.transposed:
        registers = [registers_of_a(tile, tiles, per_register) for tile in range(tiles.across)]
    else:
        registers = [registers_of_b(tile, tiles, per_register) for tile in range(tiles.along)]
    flat = [register for tile in registers for register in tile]
    return [[element.swapped() for element in register] for register in flat] if tiles.transposed else flat


def registers_of_a(tile: int, tiles: Tiles, per: int) -> list[list[Element]]:
    """Rows are mma's m, columns its k. See isa.families.tensor."""
    high = tiles.m // 8
    count = high * tiles.k // (4 * per)
    return [
        [
            Element(Coordinate(16 * tile + 8 * (r % high), 1, 0), Coordinate(i + 4 * per * (r // high), 0, per))
            for i in range(per)
        ]
        for r in range(count)
    ]


def registers_of_b(tile: int, tiles: Tiles, per: int) -> list[list[Element]]:
    """Rows are mma's k, columns its n."""
    count = tiles.k // (4 * per)
    return [
        [Element(Coordinate(i + 4 * per * r, 0, per), Coordinate(8 * tile, 1, 0)) for i in range(per)]
        for r in range(count)
    ]


def registers_of_c(across: int, along: int, match: int, per: int) -> list[list[Element]]:
    elements = [
        Element(Coordinate(16 * across + 8 * (i // 2), 1, 0), Coordinate(8 * along + i % 2, 0, 2))
        for i in range(match // 4)
    ]
    return [elements[first : first + per] for first in range(0, len(elements), per)]


# -- loads and stores ------------------------------------------------------------------------------


class Access(NamedTuple):
    """The addresses of a fragment's elements: `address` is that of the matrix. `pointers` gives a register for each
    constant part of the strided coordinate, the first with what a lane adds.
    """

    space: str
    nbits: int
    by_column: bool
    address: dict
    stride: object
    pointers: dict

    @property
    def is_wide(self) -> bool:
        return bool(FIELDS["addr64"].get(self.address.get("mods", 0)))


def coordinates(element: Element, by_column: bool) -> tuple[Coordinate, Coordinate]:
    """(the one that the stride multiplies, the contiguous one)."""
    return (element.column, element.row) if by_column else (element.row, element.column)


class Lanes(NamedTuple):
    """The part of both coordinates that differs by lane: its name, and what computes each from the lane's number."""

    name: tuple
    strided: Callable
    contiguous: Callable


def lanes_of(element: Element, by_column: bool) -> Lanes:
    strided, contiguous = coordinates(element, by_column)
    return Lanes(
        (strided.group, strided.place, contiguous.group, contiguous.place),
        lambda lowering: lane_part(lowering, strided),
        lambda lowering: lane_part(lowering, contiguous),
    )


def lane_number(lowering) -> int:
    return lowering.once(("laneid",), lambda lowering: lowering.special("laneid", "R"))


def lane_part(lowering, coordinate: Coordinate) -> int:
    """group * lane / 4 + place * lane % 4; one of the two factors is 0."""
    lane = lane_number(lowering)
    if coordinate.group:
        return lowering.op("SHR.U32", a=lane, b=Imm(2))
    low = lowering.op("AND", a=lane, b=Imm(3))
    return lowering.op("IMUL", a=low, b=Imm(coordinate.place)) if coordinate.place > 1 else low


# A lane gives ldmatrix a line of a matrix of 8 x 8: lines 0 to 7 of the first, then of the second and so on. The second
# lies below the first along the stride, or next to it.
def _eight(lowering, bit: int) -> int:
    """8 where this bit of the lane's number is set."""
    lane = lane_number(lowering)
    return lowering.op("AND", a=lane if bit == 3 else lowering.op("SHR.U32", a=lane, b=Imm(bit - 3)), b=Imm(8))


def _line(lowering, bit: int) -> int:
    low = lowering.op("AND", a=lane_number(lowering), b=Imm(7))
    return lowering.op("IADD", a=low, b=_eight(lowering, bit))


BELOW = Lanes(("below",), lambda lowering: _line(lowering, 3), lambda lowering: _eight(lowering, 4))
BESIDE = Lanes(("beside",), lambda lowering: _line(lowering, 4), lambda lowering: _eight(lowering, 3))


def open_access(
    lowering, operand, stride_operand, leading: int, lanes: Lanes, nbits: int, layout: str, space: str
) -> Access:
    address = memory_operand(lowering, operand, space)
    stride = lowering.src(stride_operand, "u32") if stride_operand is not None else Imm(leading)
    access = Access(space, nbits, layout == "col", address, stride, {})
    offset = lane_offset(lowering, lanes, stride, nbits)
    scaled = "IMAD.WIDE.U32" if access.is_wide else "IMAD"
    access.pointers[0] = lowering.op(scaled, a=offset, b=Imm(max(nbits // 8, 1)), c=address["a"])
    return access


def lane_offset(lowering, lanes: Lanes, stride, nbits: int) -> int:
    """The part of the address that differs by lane: elements, or bytes where they are narrower. If no operand changes
    it, it is computed once in the function, as ptxas has it.
    """

    def offset() -> int:
        strided = lowering.once(("strided", *lanes.name), lanes.strided)
        contiguous = lowering.once(("contiguous", *lanes.name), lanes.contiguous)
        total = lowering.op("IMAD", a=strided, b=lowering.reg(stride, "R"), c=contiguous)
        return lowering.op("SHR.U32", a=total, b=Imm({4: 1, 1: 3}[nbits])) if nbits < 8 else total

    if isinstance(stride, Imm):
        return lowering.once(("offset", *lanes.name, stride.bits, nbits), lambda _: offset())
    return offset()


def slots_of(lowering, access: Access, element: Element) -> dict:
    """Address slots of one element."""
    strided, contiguous = coordinates(element, access.by_column)
    nbytes = max(access.nbits // 8, 1)
    offset = access.address.get("imm", 0) + contiguous.constant * access.nbits // 8
    pointer = access.pointers.get(strided.constant)
    if isinstance(access.stride, Imm):
        pointer = access.pointers[0]
        offset += strided.constant * access.stride.bits * access.nbits // 8
    elif pointer is None:
        pointer = access.pointers[strided.constant] = lowering.op(
            "IMAD.WIDE.U32" if access.is_wide else "IMAD",
            a=access.stride,
            b=Imm(strided.constant * nbytes),
            c=access.pointers[0],
        )
    return {"a": pointer, "imm": offset & 0xFFFFFFFF, "mods": access.address.get("mods", 0)}


def is_one_word(by_column: bool, register: list[Element]) -> bool:
    """True if the register's elements follow each other in memory."""
    places = [coordinates(element, by_column) for element in register]
    return all(one[0] == other[0] and one[1].constant + 1 == other[1].constant for one, other in pairwise(places))


class Words(NamedTuple):
    """The registers of a fragment as they are in memory. `are_transposed`: each is a word of the transpose of its 8 x 8
    elements, which MOVM makes of it.
    """

    registers: list[list[Element]]
    are_transposed: bool


def words_of(by_column: bool, registers: list[list[Element]], nbits: int) -> Words:
    if nbits != 16 or is_one_word(by_column, registers[0]):
        return Words(registers, False)
    return Words([transposed(register) for register in registers], True)


def transposed(register: list[Element]) -> list[Element]:
    """The register of the same lane in the transpose: rows and columns exchange what differs by lane and element."""
    row, column = register[0]

    def exchanged(of: Coordinate, by: Coordinate, index: int) -> Coordinate:
        return Coordinate(of.constant + (index if by.place else 0), by.group, by.place)

    return [Element(exchanged(row, column, index), exchanged(column, row, index)) for index in range(len(register))]


def load_register(lowering, access: Access, register: list[Element]) -> int:
    letter = LETTER_OF_SPACE[access.space]
    if is_one_word(access.by_column, register):
        return lowering.op(f"LD{letter}.{max(32, access.nbits)}", **slots_of(lowering, access, register[0]))
    parts = [lowering.op(f"LD{letter}.U8", **slots_of(lowering, access, element)) for element in register]
    return lowering.reg(join(lowering, parts, access.nbits), "R")


def load_matrices(lowering, access: Access, registers: list[list[Element]]) -> tuple[int, ...]:
    """Two or four registers of a fragment in shared memory, by one ldmatrix."""
    mods = pack(trans=int(not is_one_word(access.by_column, registers[0])))
    group = fresh(lowering, f"R{len(registers)}")
    slots = slots_of(lowering, access, registers[0][0])
    lowering.emit(f"LDSM.{len(registers)}", dst=group, **{**slots, "mods": slots["mods"] | mods})
    return members(group)


def lanes_of_matrices(by_column: bool, registers: list[list[Element]]) -> Lanes:
    first, second = (coordinates(register[0], by_column) for register in registers[:2])
    return BESIDE if first[0].constant == second[0].constant else BELOW


def store_register(lowering, access: Access, register: list[Element], value) -> None:
    letter = LETTER_OF_SPACE[access.space]
    file = "D" if access.nbits == 64 else "R"
    slots = slots_of(lowering, access, register[0])
    lowering.emit(f"ST{letter}.{max(32, access.nbits)}", b=lowering.reg(value, file), **slots)


def store_pairs(lowering, access: Access, pairs: list[tuple[list[Element], list[Element]]], values: list) -> None:
    """Two words that follow each other go in one store, as with ptxas: PTX has the rows of a tile aligned."""
    for (low, _), words in zip(pairs, zip(values[::2], values[1::2], strict=True), strict=True):
        value = lowering.reg(join(lowering, list(words), 32), "D")
        lowering.emit(f"ST{LETTER_OF_SPACE[access.space]}.64", b=value, **slots_of(lowering, access, low[0]))


def registers_in_ptx(role: str, type_name: str, natural: int) -> int:
    return REGISTERS_OF_F16 if type_name == "f16" and role != "c" else natural


def fragment_of(lowering, role: str, shape: tuple[int, int, int], type_name: str) -> list[list[Element]]:
    if role == "c":
        known = {"f16": "f16", "f32": ("f16", "bf16", "tf32"), "s32": ("s8", "s4", "b1"), "f64": "f64"}
        types = pick(known, type_name)
        if not any(shape in SHAPES_OF_TYPE[each] for each in ((types,) if isinstance(types, str) else types)):
            raise NoVariant(f"shape .m{shape[0]}n{shape[1]}k{shape[2]} with type .{type_name} of")
        return fragment_elements("c", shape, ACCUMULATOR_NBITS[type_name])
    if shape not in pick(SHAPES_OF_TYPE, type_name):
        raise NoVariant(f"shape .m{shape[0]}n{shape[1]}k{shape[2]} with type .{type_name} of")
    return fragment_elements(role, shape, NBITS[UNIT_OF_TYPE[type_name]])


def leading_dimension(role: str, shape: tuple[int, int, int], layout: str) -> int:
    m, n, k = shape
    rows, columns = {"a": (m, k), "b": (k, n), "c": (m, n)}[role]
    return rows if layout == "col" else columns


def _common(lowering) -> tuple[str, tuple[int, int, int], str, str]:
    """(layout, shape, space, type) of a load or store."""
    m = lowering.modifiers
    if not (m.flag("sync") and m.flag("aligned")):
        raise NoVariant("form without .sync.aligned of")
    shape = take_shape(lowering)
    layout = m.one_of(("row", "col"))
    space = space_of(lowering)
    if not layout or space not in ("global", "shared", "generic"):
        raise NoVariant("form of")
    return layout, shape, space, m.type()


def _load(lowering, role: str):
    layout, shape, space, t = _common(lowering)
    registers = fragment_of(lowering, role, shape, t)
    if UNIT_OF_TYPE.get(t) in ("s4", "b1") and layout != {"a": "row", "b": "col"}.get(role):
        raise NoVariant(f"layout .{layout} with type .{t} of")
    n = lowering.count(2, 3)
    targets = ast.elements_of(lowering.operand(0))
    if len(targets) != registers_in_ptx(role, t, len(registers)):
        raise lowering.error(f"{len(targets)} registers for a fragment of {registers_in_ptx(role, t, len(registers))}")
    nbits = ACCUMULATOR_NBITS[t] if role == "c" else NBITS[UNIT_OF_TYPE[t]]
    by_column, stride, leading = (
        layout == "col",
        lowering.operand(2) if n == 3 else None,
        leading_dimension(role, shape, layout),
    )
    if space == "shared" and role != "c" and nbits == 16:
        lanes = lanes_of_matrices(by_column, registers)
        access = open_access(lowering, lowering.operand(1), stride, leading, lanes, nbits, layout, space)
        parts = [registers[at : at + 4] for at in range(0, len(registers), 4)]
        values = [value for part in parts for value in load_matrices(lowering, access, part)]
    else:
        words = words_of(by_column, registers, nbits)
        lanes = lanes_of(words.registers[0][0], by_column)
        access = open_access(lowering, lowering.operand(1), stride, leading, lanes, nbits, layout, space)
        values = [load_register(lowering, access, register) for register in words.registers]
        if words.are_transposed:
            values = [lowering.op("MOVM", a=value) for value in values]
    for index, target in enumerate(targets):
        lowering.copy(lowering.dst(target, "b64" if nbits == 64 else "b32"), values[index % len(values)])


def _store(lowering):
    layout, shape, space, t = _common(lowering)
    registers = fragment_of(lowering, "c", shape, t)
    n = lowering.count(2, 3)
    sources = ast.elements_of(lowering.operand(1))
    if len(sources) != len(registers):
        raise lowering.error(f"{len(sources)} registers for a fragment of {len(registers)}")
    nbits = ACCUMULATOR_NBITS[t]
    by_column, stride = layout == "col", lowering.operand(2) if n == 3 else None
    words = words_of(by_column, registers, nbits)
    registers = words.registers
    access = open_access(
        lowering,
        lowering.operand(0),
        stride,
        leading_dimension("c", shape, layout),
        lanes_of(registers[0][0], by_column),
        nbits,
        layout,
        space,
    )
    values = [lowering.src(source, "b64" if nbits == 64 else "b32") for source in sources]
    if words.are_transposed:
        values = [lowering.op("MOVM", a=lowering.reg(value, "R")) for value in values]
    pairs = list(zip(registers[::2], registers[1::2], strict=True))
    if nbits == 32 and all(is_one_word(by_column, [*low, *high]) for low, high in pairs):
        store_pairs(lowering, access, pairs, values)
        return
    for value, register in zip(values, registers, strict=True):
        store_register(lowering, access, register, value)


# -- mma -------------------------------------------------------------------------------------------


def _multiply(lowering):
    m = lowering.modifiers
    if not (m.flag("sync") and m.flag("aligned")):
        raise NoVariant("form without .sync.aligned of")
    mods = arithmetic_mods(lowering)
    take_layouts(lowering)  # the fragments do not depend on them
    shape = take_shape(lowering)
    if len(m.rest) == 2:  # f16 goes without saying
        m.rest[1:1] = ["f16", "f16"]
    if len(m.rest) != 4:
        raise NoVariant(f"variant .{'.'.join(m.rest)} of")
    d, ta, tb, c = m.rest
    m.rest.clear()
    if ta != tb or shape not in pick(SHAPES_OF_TYPE, ta) or (ta == "bf16" and d != "f32"):
        raise NoVariant(f"shape .m{shape[0]}n{shape[1]}k{shape[2]} with types .{ta} and .{tb} of")
    tiles = tiles_of(shape)
    form = form_of(UNIT_OF_TYPE[ta], (tiles.m, 8, tiles.k), d, c)
    mods |= element_mods(form.unit, ta, tb)
    check_mods(form, mods)
    lowering.count(4)
    emit_tiles(lowering, form, tiles, ta, pack(**mods))


def emit_tiles(lowering, form: Form, tiles: Tiles, type_name: str, mods: int):
    """d = a * b + c, tile by tile. Repeated registers of A and B are not looked at."""
    file = form.registers()[0][0]
    n_d, n_a, n_b, n_c = (int(spec[1:] or 1) for spec in form.registers())
    left, right, sums = (take_values(lowering, index, file) for index in (1, 2, 3))
    if tiles.transposed:
        left, right = right, left
    full = {True: REGISTERS_OF_F16}.get(type_name == "f16")
    for values, count in ((left, tiles.across * n_a), (right, tiles.along * n_b)):
        if len(values) != (full or count):
            raise lowering.error(f"{len(values)} registers for a fragment of {full or count}")
    n_tiles = tiles.across * tiles.along
    targets = ast.elements_of(lowering.operand(0))
    if len(sums) != n_tiles * n_c or len(targets) != n_tiles * n_d:
        raise lowering.error(
            f"{len(targets)} and {len(sums)} registers for accumulators of {n_tiles * n_d} and {n_tiles * n_c}"
        )
    results = []
    for tile in range(n_tiles):
        across, along = divmod(tile, tiles.along)
        a = gather(lowering, left[across * n_a : (across + 1) * n_a], file)
        b = gather(lowering, right[along * n_b : (along + 1) * n_b], file)
        results += members(
            emit_multiply(lowering, form, a, b, gather(lowering, sums[tile * n_c : (tile + 1) * n_c], file), mods=mods)
        )
    for target, value in zip(targets, results, strict=True):
        lowering.copy(lowering.dst(target, "b64" if file == "D" else "b32"), value)


def take_values(lowering, index: int, file: str) -> list:
    return [
        lowering.src(element, "b64" if file == "D" else "b32") for element in ast.elements_of(lowering.operand(index))
    ]


def _wmma(lowering):
    m = lowering.modifiers
    verb = m.one_of(("load", "store", "mma"))
    if verb == "load":
        role = m.one_of(("a", "b", "c"))
        if not role:
            raise NoVariant("form without a matrix of")
        return _load(lowering, role)
    if verb == "store":
        m.flag("d")
        return _store(lowering)
    if verb != "mma":
        raise NoVariant("form of")
    return _multiply(lowering)


TABLE = {"wmma": _wmma}
