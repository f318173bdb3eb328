"""A check that the memory named by a draw is allocated, before the draw takes memory for itself: that might lie where
freed memory was.
"""

from collections.abc import Iterator

import numpy as np

from gpuprof.device import commands as cmd
from gpuprof.device.graphics_state.draw_state import DEPTH_NBYTES, FORMATS, STENCIL_NBYTES
from gpuprof.device.memory import AddressSpace
from gpuprof.errors import DeviceMemoryError
from gpuprof.isa.handles import HANDLE_NBYTES, IMAGE_MASK, VALID


def check_reached(draw: cmd.Draw, memory: AddressSpace) -> None:
    """Raises DeviceMemoryError that names the draw and what is not in memory."""
    for what, address, nbytes in _reached(draw, memory):
        try:
            memory.check(address, nbytes, "draw with")
        except DeviceMemoryError as error:
            raise DeviceMemoryError(f"{draw.name or 'a draw'}: the {what} is not in memory: {error}") from None


def _reached(draw: cmd.Draw, memory: AddressSpace) -> Iterator[tuple[str, int, int]]:
    """(what, address, bytes). A vertex has at least one byte; only its shader determines how many."""
    buffers, targets = draw.buffers, draw.targets
    n_samples = targets.width * targets.height * targets.samples
    if buffers.n_indices:
        yield "vertex buffer", buffers.vertices, buffers.n_vertices
    if buffers.indices:
        yield "index buffer", buffers.indices, buffers.n_indices * buffers.index_nbytes
    for number, (address, format) in enumerate(zip(targets.colors, targets.formats, strict=True)):
        yield f"color target {number}", address, n_samples * FORMATS[format]
    if targets.depth:
        yield "depth target", targets.depth, n_samples * DEPTH_NBYTES
    if targets.stencil:
        yield "stencil target", targets.stencil, n_samples * STENCIL_NBYTES
    for shader in draw.shaders:
        yield from _textures(shader, memory)


def _textures(shader: cmd.Shader, memory: AddressSpace) -> Iterator[tuple[str, int, int]]:
    """Levels of the textures whose handles are among a shader's parameters."""
    n_words = len(shader.params) // HANDLE_NBYTES
    words = np.frombuffer(shader.params, np.uint64, n_words).tolist()
    for image in [memory.images.get(word & IMAGE_MASK) for word in words if word & VALID]:
        if image:
            for number, level in enumerate(image.levels):
                yield image.name, level.address, image.level_nbytes(number)
