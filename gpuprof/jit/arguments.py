"""Kinds of arguments of compiled functions, as text.

    i8 u4 f8 b1           a number, as numpy's type codes: Python's int, float and bool are i8, f8 and b1
    u4[2C] i8[1A]         an array of two dimensions, C: its layout (C, F, else A)
    (i8,u4[1C])           a tuple
    package.module:Pool(u4[1C],i8[1C])    a named tuple

A function is compiled once for each text. Narrow integers count as i8. Whether an array may be written to is no part of
its kind, and nothing checks it: where Python passes arrays that may not, compiled code does not write.
"""

import importlib
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

_TOKEN = re.compile(r"([a-z]\d)\[(\d+)([CFA])\]|([a-z]\d)(?=[,)]|$)|([\w.]+:\w+)?(\()|([,)])")


class Number(NamedTuple):
    code: str

    def __str__(self):
        return self.code


class Array(NamedTuple):
    code: str
    n_dimensions: int
    layout: str

    def __str__(self):
        return f"{self.code}[{self.n_dimensions}{self.layout}]"


class Tuple(NamedTuple):
    """`of`: "module:Class" of a named tuple, else ""."""

    of: str
    items: "tuple[Kind, ...]"

    def __str__(self):
        return f"{self.of}({text_of(self.items)})"

    def python_class(self) -> type:
        if not self.of:
            return tuple
        module, _, name = self.of.partition(":")
        return getattr(importlib.import_module(module), name)


Kind = Number | Array | Tuple


def text_of(kinds: Sequence[Kind]) -> str:
    return ",".join(map(str, kinds))


def kinds_from(text: str) -> tuple[Kind, ...]:
    """The kinds that `text_of` wrote down."""
    return _items(_TOKEN.finditer(text))


def _items(tokens: Iterator[re.Match]) -> tuple[Kind, ...]:
    items: list[Kind] = []
    for token in tokens:
        element, n_dimensions, layout, code, of, opens, other = token.groups()
        if element:
            items.append(Array(element, int(n_dimensions), layout))
        elif code:
            items.append(Number(code))
        elif opens:
            items.append(Tuple(of or "", _items(tokens)))
        elif other == ")":
            break
    return tuple(items)


def kinds_of(values: Sequence) -> tuple[Kind, ...]:
    """The kinds of values that `plain` gave. Raises TypeError for what no compiled function takes."""
    return tuple(map(_kind_of, values))


def _kind_of(value) -> Kind:
    if isinstance(value, np.ndarray):
        flags = value.flags
        layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
        return Array(_code(value.dtype), value.ndim, layout)
    if isinstance(value, tuple):
        kind = type(value)
        return Tuple("" if kind is tuple else f"{kind.__module__}:{kind.__qualname__}", kinds_of(value))
    return Number(_code(np.dtype(type(value)) if not isinstance(value, np.generic) else value.dtype))


def _code(dtype: np.dtype) -> str:
    if dtype.kind not in "iufb" or not dtype.isnative:
        raise TypeError(f"no compiled function takes {dtype}")
    return f"{dtype.kind}{dtype.itemsize}"


def plain(value):
    """The value as compiled functions take it: numbers as numpy's int64, uint64, float32 or Python's own, arrays
    aligned and of numpy's first type of a size. Copies no array.
    """
    if isinstance(value, np.ndarray):
        own = np.dtype(_code(value.dtype))
        if not value.flags.aligned:
            raise TypeError("no compiled function takes an array that is not aligned")
        return np.asarray(value) if value.dtype is own else np.asarray(value).view(own)
    if isinstance(value, tuple):
        items = map(plain, value)
        return tuple(items) if type(value) is tuple else type(value)(*items)
    if isinstance(value, np.bool):
        return bool(value)
    if isinstance(value, np.uint64 | np.float32):
        return value
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, np.floating):
        return float(value)
    return np.uint64(value) if type(value) is int and value >= 1 << 63 else value
