"""The bit fields of an instruction's `mods` word, declared once.

     31                                    7    6      5..3      2     1..0
    +--------------------------------------+--------+---------+-------+----------+
    | fields of the opcode's own family    | addr64 | neg c,b,a | const | imm_slot |
    +--------------------------------------+--------+---------+-------+----------+

The upper fields of different families overlap: an opcode's row names the fields it has.
"""

from typing import NamedTuple

import numpy as np


class Field(NamedTuple):
    """One field of `mods`: `shift` and `width` in bits; `names` gives the text of each value, or () for a plain
    number.
    """

    shift: int
    width: int
    names: tuple[str, ...] = ()

    def get(self, mods: int) -> int:
        return (mods >> self.shift) & ((1 << self.width) - 1)

    def put(self, value: int) -> int:
        """The value moved to its place; raises ValueError when it does not fit."""
        if not 0 <= value < 1 << self.width:
            raise ValueError(f"{value} does not fit into {self.width} bits")
        return value << self.shift

    def value(self, name: str) -> int:
        """The number of a named value; raises ValueError for a name the field does not have."""
        return self.names.index(name)


def flag(shift: int, name: str) -> Field:
    return Field(shift, 1, ("", name))


# Comparisons of ordered numbers.
COMPARE = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
ORDERED = tuple(COMPARE)
OF_FLOATS = ("equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan")  # these know of NaN
COMPARISONS = ORDERED + OF_FLOATS

QUERIES = (
    "width", "height", "depth", "channel_data_type", "channel_order", "normalized_coords", "array_size",
    "num_mipmap_levels", "num_samples",
    "force_unnormalized_coords", "filter_mode", "addr_mode_0", "addr_mode_1", "addr_mode_2",
)  # fmt: skip
# prmt: selectors by mode and the lowest two bits of c (PTX ISA, prmt).
PRMT_SELECTORS = {
    "f4e": (0x3210, 0x4321, 0x5432, 0x6543),
    "b4e": (0x5670, 0x6701, 0x7012, 0x0123),
    "rc8": (0x0000, 0x1111, 0x2222, 0x3333),
    "ecl": (0x3210, 0x3211, 0x3222, 0x3333),
    "ecr": (0x0000, 0x1110, 0x2210, 0x3210),
    "rc16": (0x1010, 0x3232, 0x1010, 0x3232),
}
# The elements of a matrix.
ELEMENT_TYPES = ("f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "u8", "s4", "u4", "b1")
LAYOUTS = ("row", "col")

FIELDS: dict[str, Field] = {
    # Which source the 32-bit `imm` word replaces, and whether it is then a byte offset into the launch's constant bank.
    "imm_slot": Field(0, 2),  # 0 none, 1 a, 2 b, 3 c
    "const": Field(2, 1),
    "neg_a": Field(3, 1),
    "neg_b": Field(4, 1),
    "neg_c": Field(5, 1),
    # The address in source a is a D register (64 bits); otherwise an R register.
    "addr64": Field(6, 1),
    # Floating point.
    "rnd": Field(7, 3, ("rn", "rz", "rm", "rp", "rna")),
    "ftz": flag(10, "ftz"),
    "sat": flag(11, "sat"),
    "nan": flag(12, "nan"),
    "xorsign": flag(13, "xorsign"),  # the sign of the result is the exclusive or of the sources' signs; with abs
    "relu": flag(14, "relu"),  # a negative result becomes zero
    "satfinite": flag(15, "satfinite"),  # what is too large becomes the largest finite number
    "abs": flag(16, "abs"),  # the magnitudes of the sources
    # Comparisons.
    "cmp": Field(13, 4, COMPARISONS),
    "bool": Field(17, 2, ("", "and", "or", "xor")),
    # Memory.
    "cache": Field(7, 3, ("", "ca", "cg", "cs", "lu", "cv", "wt", "nc")),
    "sem": Field(10, 3, ("", "volatile", "relaxed", "acquire", "release", "acq_rel", "sc", "mmio")),
    "scope": Field(13, 3, ("", "cta", "gpu", "sys", "cluster")),
    # Bit manipulation.
    "lut": Field(7, 8),
    "by": Field(7, 5),
    "wrap": Field(7, 1, ("clamp", "wrap")),
    "prmt": Field(7, 3, ("", *PRMT_SELECTORS)),
    # Video instructions. signs: of the result, of a and of b. dsel: the part of c that the result replaces; mask: the
    # elements that it does.
    "signs": Field(7, 3, ("", "uus", "usu", "uss", "suu", "sus", "ssu", "sss")),
    "asel": Field(12, 3, ("", "ab0", "ab1", "ab2", "ab3", "ah0", "ah1")),
    "bsel": Field(15, 3, ("", "bb0", "bb1", "bb2", "bb3", "bh0", "bh1")),
    "dsel": Field(18, 3, ("", "db0", "db1", "db2", "db3", "dh0", "dh1")),
    "op2": Field(21, 2, ("", "add", "min", "max")),
    "vwrap": Field(23, 1, ("clamp", "wrap")),
    "vcmp": Field(23, 3, ("eq", "ne", "lt", "le", "gt", "ge")),
    "scale": Field(18, 2, ("", "shr7", "shr15")),
    "po": flag(20, "po"),  # plus one
    "negab": flag(21, "negab"),
    "negc": flag(22, "negc"),
    "mask": Field(12, 4),
    # Bulk copies: the reduction, its type, the tensor's dimensions.
    "redop": Field(7, 3, ("add", "min", "max", "inc", "dec", "and", "or", "xor")),
    "redtype": Field(10, 4, ("u32", "s32", "u64", "s64", "f16", "bf16", "f32", "f64", "b32", "b64")),
    "dim": Field(14, 3, ("", "1d", "2d", "3d", "4d", "5d")),
    "im2col": flag(17, "im2col"),
    # Warp shuffles: lane and clamp as immediates, so that the usual ones need no register.
    "shfl": Field(7, 2, ("up", "down", "bfly", "idx")),
    "has_lane": Field(9, 1),
    "lane": Field(10, 5),
    "has_clamp": Field(15, 1),
    "clamp": Field(16, 13),
    # Textures and surfaces. Address and value types; what a query asks; a surface's rule for coordinates outside of it.
    "ctype": Field(7, 1, ("f32", "s32")),
    "component": Field(7, 2, ("r", "g", "b", "a")),
    "channels": Field(9, 2, ("", "x", "xy", "xyz")),  # of four that are written; "" all
    "query": Field(7, 4, QUERIES),
    "opaque": Field(7, 2, ("texref", "samplerref", "surfref")),
    "bounds": Field(7, 2, ("trap", "clamp", "zero")),
    "layered": flag(9, "layered"),
    "sample": flag(9, "sample"),  # the first coordinate counts elements, not bytes
    # Matrices: element types of A and B; how HMMA.884 has them; for warp groups, whether they are transposed and
    # negated.
    "ta": Field(7, 4, ELEMENT_TYPES),
    "tb": Field(11, 4, ELEMENT_TYPES),
    "logic": Field(16, 1, ("xor", "and")),
    "layout_a": Field(17, 1, LAYOUTS),
    "layout_b": Field(18, 1, LAYOUTS),
    "trans_a": flag(19, "transa"),
    "trans_b": flag(20, "transb"),
    "minus_a": flag(21, "minusa"),
    "minus_b": flag(22, "minusb"),
    "trans": flag(7, "trans"),
}

IMM_SLOT_OF = {"a": 1, "b": 2, "c": 3}


def pack(**values: int | str) -> int:
    """The `mods` word with the named fields set; a str value is looked up in the field's names."""
    word = 0
    for name, value in values.items():
        field = FIELDS[name]
        word |= field.put(field.value(value) if isinstance(value, str) else int(value))
    return word


def unpack(mods: int, name: str) -> int:
    return FIELDS[name].get(mods)


def unpack_name(mods: int, name: str) -> str:
    """The text of a named field's value; raises ValueError for a value without a meaning."""
    names = FIELDS[name].names
    value = FIELDS[name].get(mods)
    if value >= len(names):
        raise ValueError(f"field {name} holds {value}, which has no meaning")
    return names[value]
