"""Memory that host and device both touch (managed, page-locked): the host's writes there are reported.

The host writes to the arena itself, without a call. A command stream that is saved has to have these bytes, so what
differs from what commands have left there is written again, onto itself, before the next command that may read it.
"""

import numpy as np

from gpuprof.device import commands as cmd
from gpuprof.device.api import Device
from gpuprof.device.memory import GLOBAL_BASE
from gpuprof.program.arena import PAGE_NBYTES, Arena


class OpenMemory:
    def __init__(self, device: Device, arena: Arena):
        self._device, self._memory = device, arena.memory
        self._known: dict[int, np.ndarray] = {}  # address -> its bytes at the last report

    def add(self, address: int, nbytes: int) -> None:
        """An allocation, all zero."""
        self._known[address] = np.zeros(nbytes, np.uint8)

    def remove(self, address: int) -> None:
        self._known.pop(address, None)

    def report(self) -> None:
        """Submits the pages that changed since the last time, by the host or by a launch."""
        if self._known:
            self._device.executor.finish_emulation()
        for address, known in self._known.items():
            start = address - GLOBAL_BASE
            now = self._memory.arena[start : start + len(known)]
            for first, end in changed_pages(known, now):
                for part in self._memory.parts(address + first, address + end):
                    content = now[part.address - address : part.end - address].tobytes()
                    self._device.submit(cmd.HostWrite(part.address, content))
                known[first:end] = now[first:end]


def changed_pages(known: np.ndarray, now: np.ndarray) -> list[tuple[int, int]]:
    """Ranges of bytes, whole pages but the last, that hold what differs; neighbours are joined."""
    different = np.flatnonzero(known != now)
    if not len(different):
        return []
    pages = np.unique(different // PAGE_NBYTES)
    cuts = np.flatnonzero(np.diff(pages) > 1) + 1
    return [
        (int(run[0]) * PAGE_NBYTES, min((int(run[-1]) + 1) * PAGE_NBYTES, len(known))) for run in np.split(pages, cuts)
    ]
