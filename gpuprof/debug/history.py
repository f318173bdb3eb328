"""Checkpoints: the memory that launches began with. Pages that did not change between two of them are kept once."""

from dataclasses import dataclass

import numpy as np

from gpuprof.device.memory import AddressSpace

PAGE_NBYTES = 1 << 16
MOST_NBYTES = 1 << 30  # of pages; the oldest checkpoints go first


@dataclass(eq=False)
class Checkpoint:
    """`pages`: bytes of global memory from its begin on; behind them it is zero."""

    bookkeeping: tuple
    pages: list[bytes]

    def restore(self, memory: AddressSpace) -> None:
        """Memory is as it was. What was allocated since is zero again."""
        end = memory.written_nbytes
        memory.restore(self.bookkeeping)
        at = 0
        for page in self.pages:
            memory.arena[at : at + len(page)] = np.frombuffer(page, np.uint8)
            at += len(page)
        memory.arena[at:end] = 0


def checkpoint(memory: AddressSpace, before: Checkpoint | None) -> Checkpoint:
    """Of memory as it is. `before`: the last one."""
    arena, nbytes, pages = memory.arena, memory.written_nbytes, []
    known = before.pages if before else []
    for number, start in enumerate(range(0, nbytes, PAGE_NBYTES)):
        content = arena[start : min(start + PAGE_NBYTES, nbytes)]
        same = number < len(known) and np.array_equal(content, np.frombuffer(known[number], np.uint8))
        pages.append(known[number] if same else content.tobytes())
    return Checkpoint(memory.bookkeeping(), pages)


def kept_nbytes(checkpoints: list[Checkpoint]) -> int:
    """Bytes that checkpoints take: a page that several have counts once."""
    pages = {id(page): len(page) for each in checkpoints for page in each.pages}
    return sum(pages.values())
