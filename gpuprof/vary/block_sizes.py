"""A launch with another block, and a launch as text."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from gpuprof.device.launching.argument_values import (
    Argument,
    ArraySpec,
    LaunchRequest,
    TensorMapSpec,
    TextureSpec,
)


def with_block(request: LaunchRequest, block: tuple[int, int, int]) -> LaunchRequest:
    """The launch with blocks of `block` threads, and a grid that has at least as many threads along each axis."""
    config = request.config
    if block == config.block:
        return request
    threads = [blocks * length for blocks, length in zip(config.grid, config.block, strict=True)]
    x, y, z = (-(-count // length) for count, length in zip(threads, block, strict=True))
    changed = replace(request, config=config._replace(grid=(x, y, z), block=block))
    return replace(changed, text=as_text(changed, Path()))


def as_text(request: LaunchRequest, folder: Path) -> str:
    """The launch as --launch takes it, without comparisons. `folder`: of the files that its arguments name."""
    return f"{request.kernel}{request.config}({', '.join(_texts(request.arguments, folder))})"


def _texts(arguments: Sequence[Argument], folder: Path) -> list[str]:
    return [_text(argument, folder) for argument in arguments]


def _text(argument: Argument, folder: Path) -> str:
    spec = argument.array if isinstance(argument, TextureSpec | TensorMapSpec) else argument
    if not isinstance(spec, ArraySpec) or not spec.start.endswith(".npy") or folder == Path():
        return argument.text
    written = f'"{spec.start}"' if argument.text.endswith('"') else spec.start
    return f'{argument.text.removesuffix(written)}"{folder / spec.start}"'
