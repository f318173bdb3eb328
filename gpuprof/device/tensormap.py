"""Tensor maps, what cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col make: how a copy of a tile finds its elements.

    map = gpuprof.TensorMap(device_array, box=(64, 32), swizzle=128)
    kernel[grid, block](map, ...)             # a `const __grid_constant__ CUtensorMap` parameter, or any of 128 bytes

Extents, boxes and strides are in the array's own order, outermost first; a kernel's coordinates are innermost first, as
CUDA's.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpuprof.errors import UsageError
from gpuprof.isa.tensormap import ELEMENT_NUMBERS, ELEMENT_TYPES, LAYOUT, MAGIC, SWIZZLES

MOST_DIMENSIONS = 5
MOST_BOX = 256  # cuTensorMapEncodeTiled: extents of a box are 1 to 256, element strides 1 to 8
MOST_STEP = 8
_NAMES = {
    "i1": "u8",
    "u1": "u8",
    "i2": "u16",
    "u2": "u16",
    "u4": "u32",
    "i4": "s32",
    "u8": "u64",
    "i8": "s64",
    "f2": "f16",
    "f4": "f32",
    "f8": "f64",
}


@dataclass(frozen=True)
class Im2col:
    """The box of pixels of im2col mode: its corners along W, H, D (innermost first), channels a pixel, pixels a
    column.
    """

    lower: tuple[int, ...]
    upper: tuple[int, ...]
    channels: int
    pixels: int


@dataclass(frozen=True)
class TensorMap:
    """A tensor in device memory and the box that one copy moves. Raises UsageError for a map that the hardware would
    refuse.

    `array`: anything with `address`, `shape` and `dtype`, such as a DeviceArray; `shape`, `strides` (bytes) and
    `element` ("f16", "bf16", "tf32",
    ...: ELEMENT_NUMBERS) replace the array's own; `steps` take every how many-th element; `swizzle` is 0, 32, 64 or 128
    bytes;
    `fill_nan`: NaN instead of zeros where a box reaches out of the tensor; `im2col` instead of `box`.
    """

    array: Any
    box: tuple[int, ...] | Sequence[int] = ()
    strides: tuple[int, ...] | Sequence[int] | None = None
    swizzle: int = 0
    fill_nan: bool = False
    element: str = ""
    shape: tuple[int, ...] | Sequence[int] | None = None
    steps: tuple[int, ...] | Sequence[int] | None = None
    im2col: Im2col | None = None

    def __post_init__(self) -> None:
        self.encode()

    def __str__(self) -> str:
        """The map as a launch's text shows it."""
        extents, box = ("x".join(map(str, lengths)) for lengths in (self.shape or self.array.shape, self.box))
        return f"tensor map of {self._element()}[{extents}], box {box or 'im2col'}"

    def encode(self) -> bytes:
        """The 128 bytes that a kernel is given: see `isa.tensormap`."""
        element = self._element()
        nbytes = ELEMENT_TYPES[ELEMENT_NUMBERS[element]][1]
        extents = tuple(int(extent) for extent in (self.shape or self.array.shape))[::-1]
        rank = len(extents)
        _check(1 <= rank <= MOST_DIMENSIONS, f"a tensor map has 1 to {MOST_DIMENSIONS} dimensions, not {rank}")
        strides = self._strides(extents, nbytes)
        box = tuple(int(extent) for extent in self.box)[::-1]
        steps = tuple(int(step) for step in (self.steps or (1,) * rank))[::-1]
        address = int(self.array.address)
        _check(address % 16 == 0, f"the tensor's address 0x{address:x} is not a multiple of 16")
        _check(all(1 <= extent <= 1 << 32 for extent in extents), f"extents are 1 to 2**32, not {extents[::-1]}")
        _check(
            all(0 <= s < 1 << 40 and s % 16 == 0 for s in strides),
            f"strides are multiples of 16 bytes below 2**40, not {strides[::-1]}",
        )
        _check(
            len(steps) == rank and all(1 <= step <= MOST_STEP for step in steps),
            f"element strides are {rank} numbers from 1 to {MOST_STEP}",
        )
        _check(self.swizzle in SWIZZLES.values(), f"swizzle is 0, 32, 64 or 128, not {self.swizzle}")
        if self.im2col is None:
            _check(len(box) == rank, f"a box of {len(box)} dimensions for a tensor of {rank}")
            _check(
                all(1 <= extent <= MOST_BOX for extent in box), f"a box's extents are 1 to {MOST_BOX}, not {box[::-1]}"
            )
        row_nbytes = (box[0] if self.im2col is None else self.im2col.channels) * nbytes
        _check(row_nbytes % 16 == 0, f"a row of the box has {row_nbytes} bytes, which is not a multiple of 16")
        _check(
            not self.swizzle or row_nbytes <= self.swizzle,
            f"a row of the box has {row_nbytes} bytes; swizzle {self.swizzle} allows at most that",
        )
        return LAYOUT.pack(
            address, *_padded(strides, 4), *(extent & 0xFFFFFFFF for extent in _padded(extents, 5)), rank - 1,
            *_padded(box, 5, 1),
            *_padded(steps, 5, 1), ELEMENT_NUMBERS[element], 0, {nbytes: n for n,
                nbytes in SWIZZLES.items()}[self.swizzle],
            int(self.fill_nan), 0, int(self.im2col is not None), *self._pixels(rank), MAGIC,
        )  # fmt: skip

    def _element(self) -> str:
        name = self.element or _NAMES.get(np.dtype(self.array.dtype).str[1:], "")
        _check(
            name in ELEMENT_NUMBERS,
            f"unknown element type {name or self.array.dtype}; known: {' '.join(ELEMENT_NUMBERS)}",
        )
        return name

    def _strides(self, extents: tuple[int, ...], nbytes: int) -> tuple[int, ...]:
        """Bytes from one element to the next along dimensions 1 and up, innermost first."""
        if self.strides is None:
            return tuple(int(np.prod(extents[:k], dtype=np.int64)) * nbytes for k in range(1, len(extents)))
        given = tuple(int(stride) for stride in self.strides)
        _check(
            len(given) == len(extents) and given[-1] == nbytes,
            f"strides are {len(extents)} numbers of bytes, the last one {nbytes}",
        )
        return given[-2::-1] if len(given) > 1 else ()

    def _pixels(self, rank: int) -> tuple[int, ...]:
        if self.im2col is None:
            return (0,) * 8
        given = self.im2col
        _check(
            rank >= 3 and len(given.lower) == len(given.upper) == rank - 2,
            f"im2col of {rank} dimensions takes {rank - 2} corner coordinates",
        )
        _check(
            1 <= given.channels <= 256 and 1 <= given.pixels <= 1024,
            "im2col: 1 to 256 channels a pixel, 1 to 1024 pixels a column",
        )
        return (*_padded(given.lower, 3), *_padded(given.upper, 3), given.channels, given.pixels)


def _check(holds: bool, text: str) -> None:
    if not holds:
        raise UsageError(f"tensor map: {text}")


def _padded(values: Sequence[int], count: int, value: int = 0) -> tuple[int, ...]:
    return (*values, *(value,) * (count - len(values)))
