"""Element types of arrays and scalars: one table for the launch grammar, the kernel's parameters and numpy."""

import math
import struct
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gpuprof.errors import UsageError


class Element(NamedTuple):
    """`dtype` is how numpy holds it; bf16, which numpy does not have, is held as its bits. `spelling` is C's name."""

    name: str
    dtype: np.dtype
    kind: str  # "float" or "int"
    spelling: str

    @property
    def nbytes(self) -> int:
        return self.dtype.itemsize


_ROWS = (
    ("f16", "<f2", "float", "half"),
    ("bf16", "<u2", "float", "__nv_bfloat16"),
    ("f32", "<f4", "float", "float"),
    ("f64", "<f8", "float", "double"),
    ("i8", "i1", "int", "signed char"),
    ("i16", "<i2", "int", "short"),
    ("i32", "<i4", "int", "int"),
    ("i64", "<i8", "int", "long long"),
    ("u8", "u1", "int", "unsigned char"),
    ("u16", "<u2", "int", "unsigned short"),
    ("u32", "<u4", "int", "unsigned"),
    ("u64", "<u8", "int", "unsigned long long"),
)
ELEMENTS = {name: Element(name, np.dtype(dtype), kind, spelling) for name, dtype, kind, spelling in _ROWS}


def element_of(dtype: np.dtype) -> Element | None:
    """The element type of a numpy dtype, None when a kernel has no such type (structures, strings)."""
    name = {"f": "f", "i": "i", "u": "u", "b": "u"}.get(dtype.kind, "?") + str(8 * dtype.itemsize)
    return ELEMENTS.get(name)


def pack_number(element: str, value: int | float | bool) -> bytes:
    """A number as an element's little-endian bytes. Raises UsageError when the type cannot hold it."""
    row = ELEMENTS[element]
    if row.kind == "float":
        return _float_bytes(row, float(value))
    if value != value or value in (math.inf, -math.inf) or int(value) != value:
        raise UsageError(f"expected an integer, got {value}")
    low, high = (
        (-(1 << 8 * row.nbytes - 1), (1 << 8 * row.nbytes - 1) - 1)
        if element[0] == "i"
        else (0, (1 << 8 * row.nbytes) - 1)
    )
    if not low <= value <= high:
        raise UsageError(f"{value} does not fit into {element} ({low} to {high})")
    return int(value).to_bytes(row.nbytes, "little", signed=low < 0)


def pack_numbers(element: str, values: Sequence[int | float | bool]) -> bytes:
    """Numbers one after another, as a vector type such as float4 has them."""
    return b"".join(pack_number(element, value) for value in values)


def bfloat16_bits(values: np.ndarray) -> np.ndarray:
    """float32 values rounded to the nearest bfloat16 (ties to even), as uint16 bits. A NaN stays a NaN."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    rounded = ((bits.astype(np.uint64) + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(values), np.uint16(0x7FC0), rounded)


def bfloat16_values(bits: np.ndarray) -> np.ndarray:
    """float32: the values of uint16 bits."""
    return (np.ascontiguousarray(bits, np.uint16).astype(np.uint32) << 16).view(np.float32).reshape(bits.shape)


def _float_bytes(row: Element, value: float) -> bytes:
    if row.name == "bf16":
        return bfloat16_bits(np.array([_fits(row, value, np.float32)], np.float32)).tobytes()
    return struct.pack({"f16": "<e", "f32": "<f", "f64": "<d"}[row.name], _fits(row, value, row.dtype))


def _fits(row: Element, value: float, dtype: np.dtype) -> float:
    """The value; raises UsageError when a finite one would turn into an infinity."""
    if math.isfinite(value):
        with np.errstate(over="ignore"):
            rounded = np.float64(value).astype(dtype)
        if not np.isfinite(rounded):
            raise UsageError(f"{value} does not fit into {row.name} (largest {np.finfo(dtype).max})")
    return value
