"""A launch as a plain value: the content of its text, before any kernel or chip is known."""

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from gpuprof.device.elements import ELEMENTS
from gpuprof.device.images import TextureOptions
from gpuprof.device.launching.config import LaunchConfig

PLAIN_STARTS = ("zeros", "ones", "arange")
STARTS = (*PLAIN_STARTS, "random")


@dataclass(frozen=True)
class Scalar:
    """A number or a truth value; `text` is how it was written."""

    text: str
    value: int | float | bool


@dataclass(frozen=True)
class Raw:
    """The bytes of a structure or a vector, given as `hex:0000803f` or `f32(1.0, 2.0)`."""

    text: str
    data: bytes


@dataclass(frozen=True)
class Null:
    """The null pointer as an argument."""

    text: str = "null"


@dataclass(frozen=True)
class HandleValue:
    """The handle of a texture or a surface."""

    text: str
    handle: int


@dataclass(frozen=True)
class ArraySpec:
    """A new array. `name` is "" when later launches cannot refer to it; `start` is one of STARTS or the path of a .npy
    file.
    """

    text: str
    name: str
    element: str
    shape: tuple[int, ...]
    start: str = "zeros"

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.size * ELEMENTS[self.element].nbytes


@dataclass(frozen=True)
class NamedArray:
    """An array that an earlier launch (or an earlier argument) made."""

    text: str
    name: str


@dataclass(frozen=True)
class TextureSpec:
    """A texture or a surface over an array."""

    text: str
    array: ArraySpec | NamedArray
    options: TextureOptions
    is_surface: bool = False


@dataclass(frozen=True)
class TensorMapSpec:
    """A tensor map over an array: `device.tensormap.TensorMap` has what the options mean. `element` is "" for the
    array's own, `steps` is empty for 1 along every dimension.
    """

    text: str
    array: ArraySpec | NamedArray
    box: tuple[int, ...]
    swizzle: int = 0
    element: str = ""
    steps: tuple[int, ...] = ()
    fill_nan: bool = False


Argument: TypeAlias = Scalar | Raw | Null | ArraySpec | NamedArray | TextureSpec | TensorMapSpec


def array_of(argument: Argument) -> ArraySpec | NamedArray | None:
    """The array that an argument is, or that it is a view of."""
    array = argument.array if isinstance(argument, TextureSpec | TensorMapSpec) else argument
    return array if isinstance(array, ArraySpec | NamedArray) else None


@dataclass(frozen=True)
class ArrayName:
    """An array of the launches. `text` is how it was written: "y", "saxpy.y", "saxpy#2.y"."""

    text: str
    name: str  # of an array, or of a kernel's parameter
    kernel: str = ""  # one of its launches has the array; "" where any may have it
    ordinal: int | None = None  # the array as the kernel's launch of this number, from 1, leaves it


@dataclass(frozen=True)
class Expected:
    """An array and the values that it must have. `reference`: one of PLAIN_STARTS, the path of a .npy file, or a number
    for all elements. `text` is how it was written, without folders. Tolerances are None where the user gives none.
    """

    array: ArrayName
    reference: str | int | float
    text: str
    rtol: float | None = None
    atol: float | None = None
    place: str = field(default="", compare=False)  # where it was written: "--expect", "saxpy.cu:3"


@dataclass(frozen=True)
class Saved:
    """An array and the .npy file that gets its values."""

    array: ArrayName
    path: Path


@dataclass(frozen=True)
class RequestedResults:
    """The comparisons and files that the command line requests of the launches' results. `folder`: of relative paths of
    references. Tolerances hold for all comparisons that have none of their own.
    """

    expected: tuple[Expected, ...] = ()
    saved: tuple[Saved, ...] = ()
    rtol: float | None = None
    atol: float | None = None
    folder: Path = Path()


NOTHING_REQUESTED = RequestedResults()


@dataclass(frozen=True)
class LaunchRequest:
    """A launch, as asked in text; whether it fits its kernel and its chip is for `bind` to say."""

    text: str
    kernel: str  # as written, blanks normalised: "scan<256, float>"
    config: LaunchConfig
    arguments: tuple[Argument, ...] = ()
    expected: tuple[Expected, ...] = ()  # right after the launch
    place: str = field(default="", compare=False)  # where it was written: "saxpy.cu:3"
