"""mov: registers, constants, addresses, and packing of vectors."""

from gpuprof.assemble.ir.values import Imm, NoVariant, type_nbits
from gpuprof.assemble.ptx import ast

_TYPES = frozenset(
    [
        "pred",
        "b16",
        "u16",
        "s16",
        "f16",
        "bf16",
        "b32",
        "u32",
        "s32",
        "f32",
        "f16x2",
        "bf16x2",
        "b64",
        "u64",
        "s64",
        "f64",
    ]
)


def _mov(lowering):
    kind = lowering.modifiers.type()
    elements = {"v2": 2, "v4": 4}.get(lowering.modifiers.one_of(("v2", "v4")))
    if elements:
        return _mov_vector(lowering, elements, kind)
    if kind == "b128":
        return _mov_elements(lowering, lowering.operand(0), lowering.operand(1), 2, "b64")
    if kind not in _TYPES:
        raise NoVariant(f"type .{kind} of")
    lowering.count(2)
    target, source = lowering.operand(0), lowering.operand(1)
    if isinstance(target, ast.Vector):
        return unpack(
            lowering,
            target.elements,
            kind,
            lowering.reg(lowering.src(source, kind), "D" if type_nbits(kind) == 64 else "R"),
        )
    dst = lowering.dst(target, kind)
    if isinstance(source, ast.Vector):
        return lowering.copy(dst, pack_vector(lowering, source.elements, kind))
    return lowering.copy(dst, lowering.src(source, kind))


_VECTOR_SPECIALS = frozenset(["%tid", "%ntid", "%ctaid", "%nctaid"])


def _mov_vector(lowering, count: int, kind: str):
    """Element by element; a special register such as %tid has three, and a fourth that is zero."""
    if kind not in _TYPES:
        raise NoVariant(f"type .{kind} of")
    target, source = lowering.operand(0), lowering.operand(1)
    if isinstance(source, ast.Name) and source.text in _VECTOR_SPECIALS:
        source = ast.Vector((*(ast.Name(f"{source.text}.{axis}") for axis in "xyz"), ast.Number(0))[:count])
    _mov_elements(lowering, target, source, count, kind)


def _mov_elements(lowering, target, source, count: int, kind: str):
    """Both sides are vectors; so is a 128-bit register, of its two halves."""
    lowering.count(2)
    if not all(isinstance(side, ast.Vector) and len(side.elements) == count for side in (target, source)):
        raise lowering.error(f"both sides have {count} parts")
    wide = type_nbits(kind) == 64
    # The two sides may share registers.
    values = [lowering.op("MOV.64" if wide else "MOV", a=lowering.src(element, kind)) for element in source.elements]
    for element, value in zip(target.elements, values, strict=True):
        lowering.copy(lowering.dst(element, kind), value)


def _element_nbits(lowering, elements: tuple, nbits: int) -> int:
    if len(elements) < 2 or nbits % len(elements) or nbits // len(elements) not in (8, 16, 32):
        raise lowering.error(f"{len(elements)} elements do not make {nbits} bits")
    return nbits // len(elements)


def unpack(lowering, elements: tuple, kind: str, value: int | None):
    """Registers of a vector from the bits of one value, lowest first."""
    width = _element_nbits(lowering, elements, type_nbits(kind))
    fields = split(lowering, value, type_nbits(kind), width, [ast.is_sink(e) for e in elements])
    for element, field in zip(elements, fields, strict=True):
        if field is not None or not ast.is_sink(element):
            lowering.copy(lowering.dst(element, f"b{width}"), field)


def split(lowering, value: int | None, nbits: int, width: int, skip: list[bool]) -> list[int | None]:
    """Fields of `width` bits of a value, each in an R register, zero-extended; None where skipped."""
    words = [value] if nbits < 64 else [None, None]
    if nbits == 64:
        used = [not all(skip[i * 32 // width : (i + 1) * 32 // width]) for i in (0, 1)]
        words = [
            lowering.op(name, a=value) if use else None for name, use in zip(("LO.64", "HI.64"), used, strict=True)
        ]
    if width == 32:
        return words
    per_word = min(nbits, 32) // width
    fields = []
    for index, skipped in enumerate(skip):
        word, position = words[index // per_word], index % per_word * width
        fields.append(None if skipped else _field(lowering, word, position, width, min(nbits, 32)))
    return fields


def _field(lowering, word: int | None, position: int, width: int, word_nbits: int) -> int:
    if position:
        word = lowering.op("SHR.U32", a=word, b=Imm(position))
    if position + width == word_nbits:
        return word
    return lowering.op("AND", a=word, b=Imm((1 << width) - 1))


def pack_vector(lowering, elements: tuple, kind: str) -> int | Imm | None:
    nbits = type_nbits(kind)
    width = _element_nbits(lowering, elements, nbits)
    return join(lowering, [lowering.src(e, f"b{width}") for e in elements], width)


def join(lowering, values: list, width: int) -> int | Imm | None:
    """One value from fields of `width` bits, lowest first. The result is D for 64 bits, else R."""
    if all(isinstance(v, Imm) for v in values):
        mask = (1 << width) - 1
        return Imm(sum((v.bits & mask) << width * i for i, v in enumerate(values)))
    if width == 8:
        if len(values) == 2:
            return lowering.op("PRMT", a=lowering.reg(values[0], "R"), b=lowering.reg(values[1], "R"), c=Imm(0x7740))
        return join(lowering, [join(lowering, values[i : i + 2], 8) for i in range(0, len(values), 2)], 16)
    if width == 16:
        words = [
            lowering.op("PRMT", a=lowering.reg(x, "R"), b=lowering.reg(y, "R"), c=Imm(0x5410))
            for x, y in zip(values[::2], values[1::2], strict=True)
        ]
        return words[0] if len(words) == 1 else join(lowering, words, 32)
    return lowering.op("PACK.64", a=lowering.reg(values[0], "R"), b=lowering.reg(values[1], "R"))


TABLE = {"mov": _mov}
