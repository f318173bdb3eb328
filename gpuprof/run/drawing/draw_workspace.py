"""Device memory for the stages of a draw, as arrays."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from gpuprof.device import commands as cmd
from gpuprof.device.memory import GLOBAL_BASE, AddressSpace
from gpuprof.graphics.sizes import BLOCK

RunShader = Callable[[cmd.Shader, bytes, int], None]  # the shader, its parameter block, lanes


def whole_blocks(lanes: int) -> int:
    return -(-lanes // BLOCK) * BLOCK


class Workspace:
    """Device memory that a draw takes for itself, and gives back. GPUs have it on the chip."""

    def __init__(self, memory: AddressSpace):
        self._memory = memory
        self._taken: list[int] = []

    def take(self, what: str, nbytes: int) -> int:
        """The address of so many bytes of zeros."""
        address = self._memory.allocate(nbytes, what, is_on_chip=True).address
        self._taken.append(address)
        return address

    def array(self, address: int, shape: tuple[int, ...], dtype: type) -> np.ndarray:
        """Device memory as an array. It is good until more is taken. Raises DeviceMemoryError for memory that is not
        there.
        """
        nbytes = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
        self._memory.check(address, nbytes, "draw with")
        at = address - GLOBAL_BASE
        return self._memory.arena[at : at + nbytes].view(dtype).reshape(shape)

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Memory that is taken inside is given back at the end."""
        before = len(self._taken)
        try:
            yield
        finally:
            while len(self._taken) > before:
                self._memory.free(self._taken.pop())
