"""Contents of new arrays: zeros, ones, 0 1 2 ..., random numbers, or a .npy file; and the references of comparisons.

Random numbers come from a counter: element i of an array is splitmix64 of (the array's seed, i). They are the same on
every machine, with every numpy, and the first n elements do not depend on how many there are.

    floats     uniform in [0, 1), multiples of 2^-p with p the bits of the type's significand, so never rounded
    integers   uniform in 0..255 (i8: 0..127)
"""

import hashlib
import math
from pathlib import Path

import numpy as np

from gpuprof.device.elements import ELEMENTS, Element, bfloat16_bits, bfloat16_values, pack_number
from gpuprof.device.npy import read_npy
from gpuprof.errors import DeviceMemoryError, UsageError

SIGNIFICAND_BITS = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}
CHUNK = 1 << 14  # elements made at a time: they stay in the host's cache
# splitmix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014
GAMMA = 0x9E3779B97F4A7C15


def make_array(element: str, shape: tuple[int, ...], start: str, seed: int, folder: Path = Path()) -> np.ndarray:
    """An array of `shape`, C order, dtype ELEMENTS[element].dtype. `start` is a word or a .npy file, relative to
    `folder`.

    Raises UsageError for a file that is not there or holds something else, and for values that the type cannot hold.
    """
    row = ELEMENTS[element]
    try:
        if start.endswith(".npy"):
            return _from_file(folder / start, row, shape)
        return _MAKERS[start](row, math.prod(shape), seed).reshape(shape)
    except (MemoryError, ValueError, OverflowError) as error:  # numpy: shapes beyond memory, or beyond its index type
        raise DeviceMemoryError(f"no room on the host for {element}[{','.join(map(str, shape))}]: {error}") from None


def reference_array(
    element: str, shape: tuple[int, ...], reference: str | int | float, folder: Path = Path()
) -> np.ndarray:
    """The reference for an array of `shape`: integers of the array's own type for integers, floats of any width for
    floats. `reference` is "zeros", "ones", "arange", a number, or a .npy file, relative to `folder`.

    Raises UsageError for a file that is not there or cannot be compared with the array.
    """
    if isinstance(reference, str) and reference.endswith(".npy"):
        return _comparable(folder / reference, element, shape)
    if isinstance(reference, str):
        return numbers(element, make_array(element, shape, reference, 0))
    one = np.frombuffer(pack_number(element, reference), ELEMENTS[element].dtype)
    return np.broadcast_to(numbers(element, one)[0], shape)


def numbers(element: str, values: np.ndarray) -> np.ndarray:
    """The values of an array's elements: those of bf16, which are held as their bits, as float32."""
    return bfloat16_values(values) if element == "bf16" else values


def _comparable(path: Path, element: str, shape: tuple[int, ...]) -> np.ndarray:
    row = ELEMENTS[element]

    def check_type(dtype: np.dtype) -> None:
        if dtype.kind not in "biuf" or dtype.itemsize > 8:
            raise UsageError(f"{path}: holds {dtype}, which cannot be compared with {element}")

    array = read_npy(path, shape, check_type)
    if element == "bf16" and array.dtype.newbyteorder("=") == np.uint16:
        return bfloat16_values(array)
    if row.kind == "float":
        return array
    if array.dtype.kind == "f":
        raise UsageError(f"{path}: holds {array.dtype}, and {element} are integers; save it as integers")
    limits = np.iinfo(row.dtype)
    for value in (int(array.min()), int(array.max())) if array.size else ():
        if not limits.min <= value <= limits.max:
            raise UsageError(f"{path}: holds {value}, which no {element} can be")
    return array.astype(row.dtype)


def array_seed(seed: int, key: str) -> int:
    """The seed of one array: `key` is its name, or its place among the arguments, so that data does not move when
    others change.
    """
    return int.from_bytes(hashlib.blake2b(f"{seed}:{key}".encode(), digest_size=8).digest(), "little")


def splitmix64(seed: int, count: int, first: int = 0) -> np.ndarray:
    """uint64 (n,): outputs first, first + 1, ... of splitmix64 from `seed`."""
    z = np.arange(first + 1, first + 1 + count, dtype=np.uint64)
    z *= np.uint64(GAMMA)
    z += np.uint64(seed)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        z ^= z >> np.uint64(shift)
        z *= np.uint64(factor)
    z ^= z >> np.uint64(31)
    return z


def _zeros(row: Element, count: int, seed: int) -> np.ndarray:
    return np.zeros(count, row.dtype)


def _ones(row: Element, count: int, seed: int) -> np.ndarray:
    return _as_element(row, np.ones(count, np.float32))


def _arange(row: Element, count: int, seed: int) -> np.ndarray:
    largest = (
        np.finfo(np.float16).max if row.name == "f16" else math.inf if row.kind == "float" else np.iinfo(row.dtype).max
    )
    if count - 1 > largest:
        raise UsageError(f"arange of {count} elements does not fit into {row.name}, whose largest value is {largest:g}")
    return _as_element(row, np.arange(count, dtype=np.float64 if row.kind == "float" else row.dtype))


def _random(row: Element, count: int, seed: int) -> np.ndarray:
    values = np.empty(count, row.dtype)
    for first in range(0, count, CHUNK):
        chunk = values[first : first + CHUNK]
        chunk[:] = _random_chunk(row, splitmix64(seed, len(chunk), first))
    return values


def _random_chunk(row: Element, bits: np.ndarray) -> np.ndarray:
    if row.kind == "int":
        return bits >> np.uint64(57 if row.name == "i8" else 56)
    significand = SIGNIFICAND_BITS[row.name]
    return _as_element(row, (bits >> np.uint64(64 - significand)).astype(np.float64) * 2.0**-significand)


def _as_element(row: Element, values: np.ndarray) -> np.ndarray:
    if row.name == "bf16":
        return bfloat16_bits(values.astype(np.float32))
    return values.astype(row.dtype)


_MAKERS = {"zeros": _zeros, "ones": _ones, "arange": _arange, "random": _random}


def _from_file(path: Path, row: Element, shape: tuple[int, ...]) -> np.ndarray:
    own_type = np.dtype(row.dtype).newbyteorder("=")

    def check_type(dtype: np.dtype) -> None:
        if dtype != own_type:
            raise UsageError(f"{path}: holds {dtype}, not {own_type} as {row.name} asks")

    return np.ascontiguousarray(read_npy(path, shape, check_type), row.dtype)
