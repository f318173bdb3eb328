"""Device memory that a program's process shares: one mapping of a file without a name, at its device address there."""

import mmap
import os
import resource

import numpy as np

from gpuprof.device.memory import GLOBAL_BASE, AddressSpace
from gpuprof.errors import UsageError
from gpuprof.program.calls import STAGING_NBYTES

PAGE_NBYTES = 4096  # of the host: each allocation has pages of its own, since these are opened and closed one by one
LEAST_NBYTES = 1 << 30  # a limit on addresses (`ulimit -v`) makes the arena smaller, down to here


class Arena:
    """`memory` is the address space that lies in it, `staging` memory that long copies go through. A context manager:
    the files go with it.
    """

    def __init__(self, limit_nbytes: int):
        """`limit_nbytes`: of the chip's memory. These are addresses; the host provides what is touched. As many again
        are for reservations (cuMemAddressReserve), where the host has them.
        """
        self.handle = os.memfd_create("gpuprof")
        try:
            mapped = _twice(self.handle, limit_nbytes) or _mapped(self.handle, limit_nbytes)
        except OSError as error:
            os.close(self.handle)
            raise UsageError(
                f"{LEAST_NBYTES >> 30} GiB of addresses for device memory cannot be had: {error.strerror}; "
                "raise `ulimit -v`"
            ) from None
        self.addresses_nbytes = len(mapped)
        self.nbytes = min(limit_nbytes, self.addresses_nbytes)
        self.staging_handle = os.memfd_create("gpuprof copies")
        os.ftruncate(self.staging_handle, STAGING_NBYTES)
        self.staging = memoryview(mmap.mmap(self.staging_handle, STAGING_NBYTES))
        self.memory = AddressSpace(self.nbytes, np.frombuffer(mapped, np.uint8), PAGE_NBYTES, arena_file=self.handle)

    def __enter__(self) -> "Arena":
        return self

    def __exit__(self, *exception: object) -> None:
        os.close(self.handle)  # the mappings end with the last arrays on them
        os.close(self.staging_handle)

    def environment(self) -> dict[str, str]:
        """The variables by which the program's library finds it."""
        return {
            "GPUPROF_ARENA": str(self.handle),
            "GPUPROF_STAGING": str(self.staging_handle),
            "GPUPROF_ARENA_BASE": hex(GLOBAL_BASE),
            "GPUPROF_ARENA_NBYTES": str(self.addresses_nbytes),
        }


def _twice(handle: int, nbytes: int) -> mmap.mmap | None:
    """`handle`'s file with room for as many reserved addresses; None where these have a limit."""
    if resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY:
        return None
    try:
        os.ftruncate(handle, 2 * nbytes)
        return mmap.mmap(handle, 2 * nbytes)
    except OSError:
        return None


def _mapped(handle: int, nbytes: int) -> mmap.mmap:
    """`handle`'s file with `nbytes` or, where the host has not as many addresses, at most half of those it has: gpuprof
    itself needs the others. OSError: not even LEAST_NBYTES.
    """
    os.ftruncate(handle, nbytes)
    try:
        return mmap.mmap(handle, nbytes)
    except OSError:
        if nbytes < 2 * LEAST_NBYTES:
            raise
    while nbytes > 2 * LEAST_NBYTES:
        nbytes //= 2
        try:
            mmap.mmap(handle, nbytes).close()
            break
        except OSError:
            continue
    os.ftruncate(handle, nbytes // 2)
    return mmap.mmap(handle, nbytes // 2)
