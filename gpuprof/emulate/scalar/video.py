"""Video instructions, from the pseudocode of the PTX manual. Elements are int64 rows, wide enough for every
intermediate result but vmad's.
"""

import numpy as np

from gpuprof.emulate.core.operation import Env, Op, elementwise
from gpuprof.isa.encoding import Instruction
from gpuprof.isa.modifiers import COMPARE, unpack, unpack_name

WORD = np.int64(0xFFFFFFFF)


def average(a, b):
    total = a + b
    return total + (total >= 0) >> np.int64(1)


SECOND = {"add": np.add, "min": np.minimum, "max": np.maximum}


def element(row, position: int, nbits: int, signed: bool):
    """Bits of uint32 rows, from `position` on, as int64 numbers."""
    value = row.astype(np.int64) >> np.int64(position) & np.int64((1 << nbits) - 1)
    sign = np.int64(1 << nbits - 1)
    return (value ^ sign) - sign if signed else value


def place_of(selector: str) -> tuple[int, int]:
    """Position and width in bits of a selector such as "ab2" or "dh1"; a whole word for ""."""
    if not selector:
        return 0, 32
    nbits = {"b": 8, "h": 16}[selector[1]]
    return nbits * int(selector[2]), nbits


def clamp(value, nbits: int, signed: bool):
    low, high = (-(1 << nbits - 1), (1 << nbits - 1) - 1) if signed else (0, (1 << nbits) - 1)
    return np.clip(value, low, high)


def signs_of(mods: int) -> tuple[bool, bool, bool]:
    """Returns (result, a, b): True for those that are signed."""
    d, a, b = unpack_name(mods, "signs") or "uuu"
    return d == "s", a == "s", b == "s"


def shifted(mode: str, left: bool):
    def compute(a, b):
        count = b & np.int64(31) if mode == "wrap" else np.minimum(b, np.int64(32))
        if not left:
            return a >> count
        # 65 bits at most; what does not fit into int64 keeps its sign, its size beyond any limit, and its 32 zero bits
        too_wide = (count == 32) & (np.abs(a) >= 1 << 30)
        return np.where(too_wide, np.sign(a) << np.int64(62), np.where(too_wide, 0, a) << count)

    return compute


def compared(mode: str):
    compare = COMPARE[mode]
    return lambda a, b: compare(a, b).astype(np.int64)


# mods -> the operation on int64 numbers
OPERATION = {
    "vadd": lambda mods: np.add,
    "vsub": lambda mods: np.subtract,
    "vabsdiff": lambda mods: lambda a, b: np.abs(a - b),
    "vmin": lambda mods: np.minimum,
    "vmax": lambda mods: np.maximum,
    "vavrg": lambda mods: average,
    "vshl": lambda mods: shifted(unpack_name(mods, "vwrap"), True),
    "vshr": lambda mods: shifted(unpack_name(mods, "vwrap"), False),
    "vset": lambda mods: compared(unpack_name(mods, "vcmp")),
}
SIDE_BY_SIDE = {
    f"{name}_lanes": OPERATION[name] for name in ("vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax", "vset")
}


def build_scalar(inst: Instruction, env: Env) -> Op:
    """Builds a scalar video instruction: one operation; then a second one with c, or the result inserted into c."""
    d_signed, *signed = signs_of(inst.mods)
    operation = OPERATION[inst.op.semantics](inst.mods)
    selections = [place_of(unpack_name(inst.mods, slot)) for slot in ("asel", "bsel")]
    position, nbits = place_of(unpack_name(inst.mods, "dsel"))
    sat, second = unpack(inst.mods, "sat"), unpack_name(inst.mods, "op2")

    def compute(a, b, c):
        value = operation(
            *[element(row, *selection, sign) for row, selection, sign in zip((a, b), selections, signed, strict=True)]
        )
        if sat:
            value = clamp(value, nbits, d_signed)
        if second:  # on 32-bit numbers of the result's type, as the assembler's sequences do it
            value = SECOND[second](element(value, 0, 32, d_signed), element(c, 0, 32, d_signed))
        elif nbits < 32:
            field = np.int64((1 << nbits) - 1 << position)
            value = value << np.int64(position) & field | c.astype(np.int64) & ~field
        return (value & WORD).astype(np.uint32)

    return elementwise(compute)(inst, env)


def build_mad(inst: Instruction, env: Env) -> Op:
    """vmad: up to 128 bits in the manual, so each lane is computed in Python integers."""
    _, *signed = signs_of(inst.mods)
    selections = [place_of(unpack_name(inst.mods, slot)) for slot in ("asel", "bsel")]
    po, negate_product, negate_c = (unpack(inst.mods, name) for name in ("po", "negab", "negc"))
    signed_result = any(signed) or negate_product or negate_c
    shift = {"": 0, "shr7": 7, "shr15": 15}[unpack_name(inst.mods, "scale")]
    sat = unpack(inst.mods, "sat")

    def compute(a, b, c):
        first, second = (
            element(row, *selection, sign) for row, selection, sign in zip((a, b), selections, signed, strict=True)
        )
        product = first.astype(object) * second.astype(object)
        addend = element(c ^ np.uint32(0xFFFFFFFF if negate_c else 0), 0, 32, bool(signed_result)).astype(object)
        total = (-product if negate_product else product) + addend + (1 if po or negate_c else 0)
        total = total >> shift
        if sat:
            total = clamp(total, 32, bool(signed_result))
        return np.asarray(total & 0xFFFFFFFF, dtype=object).astype(np.uint32)

    return elementwise(compute)(inst, env)


def build_lanes(inst: Instruction, env: Env) -> Op:
    """Two or four operations side by side; then the sum with c of what the mask takes, or c where the mask does not
    take.
    """
    count = int(inst.op.types[1])
    nbits = 32 // count
    d_signed, a_signed, b_signed = signs_of(inst.mods)
    operation = SIDE_BY_SIDE[inst.op.semantics](inst.mods)
    mask, sat, accumulate = unpack(inst.mods, "mask"), unpack(inst.mods, "sat"), unpack_name(inst.mods, "op2") == "add"

    def compute(a, b, c):
        total = c.astype(np.int64)
        for lane in range(count):
            if not mask >> lane & 1:
                continue
            value = operation(element(a, lane * nbits, nbits, a_signed), element(b, lane * nbits, nbits, b_signed))
            value = clamp(value, nbits, d_signed) if sat else value
            if accumulate:
                total = total + value
            else:
                field = np.int64((1 << nbits) - 1 << lane * nbits)
                total = total & ~field | value << np.int64(lane * nbits) & field
        return (total & WORD).astype(np.uint32)

    return elementwise(compute)(inst, env)


SCALAR = ("vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vset")
SEMANTICS = {
    **dict.fromkeys(SCALAR, build_scalar),
    "vmad": build_mad,
    **dict.fromkeys(SIDE_BY_SIDE, build_lanes),
}
