""".npy files: the header must describe the file byte for byte before memory for its array is allocated.

 0            6        8            10 or 12
+------------+--------+------------+----------------------------+------------------+
| \\x93NUMPY  | 1.0    | header_nbytes (u16; u32 from 2.0 on)    | header (a dict) | data
+------------+--------+------------+----------------------------+------------------+
"""

import math
import os
import struct
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from tokenize import TokenError
from typing import BinaryIO, NamedTuple

import numpy as np

from gpuprof.base.inputs import ARRAY, open_input
from gpuprof.errors import UsageError

ARCHIVE = b"PK\x03\x04"
LENGTHS = {(1, 0): struct.Struct("<H"), (2, 0): struct.Struct("<I"), (3, 0): struct.Struct("<I")}
MOST_HEADER_NBYTES = 10_000  # numpy's own limit; it parses the header as Python

# what numpy's parser of headers, which is Python's own, lets through
PARSER_RAISES = (
    ValueError, SyntaxError, TypeError, OverflowError, RecursionError, MemoryError, TokenError, struct.error
)  # fmt: skip
MOST_WHY = 100  # characters: some messages quote the header


class Header(NamedTuple):
    shape: tuple[int, ...]
    is_fortran: bool
    dtype: np.dtype


def read_npy(path: Path, shape: tuple[int, ...], check_type: Callable[[np.dtype], None]) -> np.ndarray:
    """The array of a file, C order, in its own byte order. Never unpickles: a pickle can run any code. `check_type`
    raises UsageError for elements of a type that the caller cannot take.

    Raises UsageError for a file that is not there, that holds an array of another shape, or whose length is not that of
    its array.
    """
    with open_input(path, ARRAY) as file:
        try:
            header = read_header(file)
        except PARSER_RAISES as error:
            why = str(error).splitlines()[0][:MOST_WHY] if str(error) else "its header is cut off"
            raise UsageError(f"{path}: is not a .npy file of plain numbers: {why}") from None
        if header is None:
            raise UsageError(f"{path}: is an archive of arrays; save one array with numpy.save")
        check_type(header.dtype.newbyteorder("="))
        if header.shape != shape:
            raise UsageError(f"{path}: has the shape {brief(header.shape)}, not {list(shape)}")
        nbytes, rest_nbytes = math.prod(shape) * header.dtype.itemsize, os.fstat(file.fileno()).st_size - file.tell()
        if rest_nbytes != nbytes:
            raise UsageError(f"{path}: has {rest_nbytes:,} bytes of numbers, where its header says {nbytes:,}")
        values = np.frombuffer(file.read(nbytes), header.dtype)
    return values.reshape(shape, order="F" if header.is_fortran else "C")


def read_header(file: BinaryIO) -> Header | None:
    """The header, read up to the data; None for an archive. Raises ValueError and what numpy's parser does."""
    start = file.read(8)
    if start.startswith(ARCHIVE):
        return None
    if start[:6] != b"\x93NUMPY" or len(start) < 8:
        raise ValueError("it does not begin as one does")
    length = LENGTHS.get((start[6], start[7]))
    if length is None:
        raise ValueError(f"its version is {start[6]}.{start[7]}")
    prefix = file.read(length.size)
    (nbytes,) = length.unpack(prefix)
    if nbytes > MOST_HEADER_NBYTES:
        raise ValueError(f"its header has {nbytes:,} bytes; the limit is {MOST_HEADER_NBYTES:,}")
    text = BytesIO(prefix + file.read(nbytes))
    read = np.lib.format.read_array_header_1_0 if length.size == 2 else np.lib.format.read_array_header_2_0
    header = Header(*read(text, MOST_HEADER_NBYTES))
    if header.dtype.kind not in "biufc":
        raise ValueError(f"it holds {str(header.dtype)[:40]}")
    return header


def brief(shape: tuple[int, ...]) -> str:
    text = str([number if abs(number) < 1 << 64 else "..." for number in shape])
    return text if len(text) <= 80 else f"{text[:80]}..."
