"""Accesses to memory that a program must not make."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from gpuprof.trace.checkers.checker import Checker, Instance, Who, first_of
from gpuprof.trace.event import WARP, Access, TraceEvent
from gpuprof.trace.generator import Option
from gpuprof.trace.kernel import ADDRESSED, MBARRIERS, RANGED, Allocation, Kernel, Variable

VERBS = {"load": "reads", "store": "writes", "atomic": "changes", "reduction": "changes"}
# Kind of a finding, by what TraceEvent.wrong tells apart.
KINDS = {
    "misaligned": "misaligned",
    "outside": "out_of_bounds",
    "null": "null_pointer",
    "freed": "use_after_free",
    "read_only": "constant_write",
}
# And of what `refused` gets besides.
KINDS_REFUSED = KINDS | {kind: kind for kind in ("invalid_image", "invalid_tensor_map", "double_free", "invalid_free")}


class Memcheck(Checker):
    """Finds accesses out of bounds, misaligned, of freed memory and of null pointers, and writes to constants.

    A lane that may not do its access loads 0, or its store is dropped, and the kernel goes on. Of bulk copies, tiles
    and matrices these are the bytes that are outside.
    """

    name = "memcheck"
    kinds = (*ADDRESSED, *MBARRIERS, *RANGED)
    refuses = True
    checks_host = True
    padding = Option(4096, "bytes between allocations at least, so that a neighbour is not hit by mistake")
    leaks = Option(False, "find what is still allocated at the end")

    @property
    def guard_nbytes(self) -> int:
        return self.padding

    @property
    def finds_leaks(self) -> bool:
        return self.leaks

    def initialize(self, kernel: Kernel) -> None:
        super().initialize(kernel)
        self._of_line: dict[tuple[str, int], int] = {}  # kind, line of PTX -> code address of what `refused` told first
        self.constants = [variable for variable in kernel.variables if variable.space == "const"]

    def event(self, event: TraceEvent) -> None:
        for access in event.accesses:
            wrong = event.wrong(access)
            if wrong is not None:
                for what, kind in KINDS.items():
                    self._note(event, access, kind, getattr(wrong, what))
            if self.kernel.freed and access.space == "global":
                self._note(event, access, "use_after_free", _on(self.kernel.freed, access))
            if self.constants and access.space == "global" and access.operation != "load":
                self._note(event, access, "constant_write", _on(self.constants, access))

    def _note(self, event: TraceEvent, access: Access, kind: str, lanes: np.ndarray) -> None:
        if not lanes.any():
            return
        event.refuse(lanes)
        count = int(np.count_nonzero(lanes))
        if not self.is_new(kind, event.pc):
            self.more(kind, count, event.pc)
            return
        row, lane, who = first_of(event, lanes)
        address = int(access.addresses[row, lane]) & MASK
        nbytes = access.nbytes if access.sizes is None else int(access.sizes[row, lane])
        text = (
            f"{self.thread_text(who)} {VERBS[access.operation]} {nbytes} bytes of {access.space} memory at "
            f"{address:#x}{self._why(event, access, kind, address)}"
        )
        found = self.kernel.allocation_at(address) if access.space == "global" else None
        self.note(kind, Instance(text, who, _kept(address), found.name if found else ""), count, event.pc)

    def refused(self, event: TraceEvent, wrong: Any) -> None:
        kind, count = KINDS_REFUSED[wrong.kind], len(wrong.lanes)
        # One line may become several instructions that read the same: of wgmma one for every 8 columns.
        pc = self._of_line.setdefault((kind, event.instruction.ptx_line or -event.pc), event.pc)
        if not self.is_new(kind, pc):
            self.more(kind, count, pc)
            return
        row = int(wrong.warps[0])
        who = Who(int(event.block[row]), WARP * int(event.warp[row]) + int(wrong.lanes[0]))
        found = self.kernel.allocation_at(wrong.address) if wrong.space == "global" else None
        text = f"{self.thread_text(who)}: {wrong.text}"
        self.note(kind, Instance(text, who, _kept(wrong.address), found.name if found else ""), count, pc)

    def _why(self, event: TraceEvent, access: Access, kind: str, address: int) -> str:
        if kind == "misaligned":
            return f", which is no multiple of {access.nbytes}"
        if kind == "constant_write":
            return ", which is constant"
        if any(each.holds(address) for each in self.kernel.freed):
            return ", which cudaFreeAsync frees before this launch"
        return f"; {event.describe(access.space, address)}"


def _on(ranges: Iterable[Variable | Allocation], access: Access) -> np.ndarray:
    """bool (n, 32): lanes that would touch one of these."""
    inside = np.zeros(access.addresses.shape, np.bool_)
    for each in ranges:
        inside |= (access.addresses < each.address + each.nbytes) & (access.addresses + access.nbytes > each.address)
    return inside & access.active


MASK = (1 << 64) - 1


def _kept(address: int) -> int:
    """An address as a finding has it: -1 for one that no integer of 63 bits holds."""
    return address if address <= MASK >> 1 else -1
