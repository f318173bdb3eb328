"""Scalar types: their width and register file."""

INTEGER_TYPES = ("s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64")
FLOAT_TYPES = ("f16", "bf16", "f32", "f64")


def type_nbits(type_name: str) -> int:
    """Bits of a scalar type name: type_nbits("u16") == 16."""
    return int(type_name.lstrip("bfsu"))


def type_file(type_name: str) -> str:
    """The register file that holds a value of a scalar type."""
    return "P" if type_name == "pred" else "D" if type_nbits(type_name) == 64 else "R"
