"""A launch as a plain value: what its text says, before any kernel or chip has been looked at."""

import math
from dataclasses import dataclass, field
from typing import TypeAlias

from gpuprof.device.elements import ELEMENTS
from gpuprof.device.images import TextureOptions
from gpuprof.device.launching.config import LaunchConfig

STARTS = ("zeros", "ones", "arange", "random")


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
    """The null pointer."""

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


Argument: TypeAlias = Scalar | Raw | Null | ArraySpec | NamedArray | TextureSpec


@dataclass(frozen=True)
class LaunchRequest:
    """A launch, as asked in text; whether it fits its kernel and its chip is for `bind` to say."""

    text: str
    kernel: str  # as written, blanks normalised: "scan<256, float>"
    config: LaunchConfig
    arguments: tuple[Argument, ...] = ()
    place: str = field(default="", compare=False)  # where it was written: "saxpy.cu:3"
