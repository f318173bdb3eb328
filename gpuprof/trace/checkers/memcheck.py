"""Invalid accesses to memory."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from gpuprof.trace.checkers.checker import Checker, GridThread, Instance, first_of
from gpuprof.trace.event import WARP, Access, TraceEvent
from gpuprof.trace.generator import Option
from gpuprof.trace.kernel import ADDRESSED, MBARRIERS, RANGED, Allocation, Kernel, Variable

VERBS = {"load": "reads", "store": "writes", "atomic": "changes", "reduction": "changes"}
# Field of TraceEvent.wrong -> kind of a finding.
KINDS = {
    "misaligned": "misaligned",
    "outside": "out_of_bounds",
    "null": "null_pointer",
    "freed": "use_after_free",
    "read_only": "constant_write",
}
# Additionally, the kinds that only `refused` has.
KINDS_REFUSED = KINDS | {kind: kind for kind in ("invalid_image", "invalid_tensor_map", "double_free", "invalid_free")}


class Memcheck(Checker):
    """Finds accesses out of bounds, misaligned, of freed memory and of null pointers, and writes to constants.

    An invalid access of a lane loads 0, or its store is dropped, and the kernel continues. For bulk copies, tiles and
    matrices this holds for the bytes that are outside.
    """

    name = "memcheck"
    kinds = (*ADDRESSED, *MBARRIERS, *RANGED)
    refuses = True
    checks_host = True
    padding = Option(4096, "bytes between allocations at least, so that an overrun does not hit a neighbour")
    leaks = Option(False, "find allocations that exist at the end")

    @property
    def guard_nbytes(self) -> int:
        return self.padding

    @property
    def finds_leaks(self) -> bool:
        return self.leaks

    def initialize(self, kernel: Kernel) -> None:
        super().initialize(kernel)
        self._of_line: dict[tuple[str, int], int] = {}  # kind, line of PTX -> code address of the first one
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
        allocation = self.kernel.allocation_at(address) if access.space == "global" else None
        self.note(kind, Instance(text, who, _finding_address(address), _name(allocation)), count, event.pc)

    def refused(self, event: TraceEvent, wrong: Any) -> None:
        kind, count = KINDS_REFUSED[wrong.kind], len(wrong.lanes)
        # One line may become several instructions that read the same memory: a wgmma has one for every 8 columns.
        pc = self._of_line.setdefault((kind, event.instruction.ptx_line or -event.pc), event.pc)
        if not self.is_new(kind, pc):
            self.more(kind, count, pc)
            return
        row = int(wrong.warps[0])
        who = GridThread(int(event.block[row]), WARP * int(event.warp[row]) + int(wrong.lanes[0]))
        allocation = self.kernel.allocation_at(wrong.address) if wrong.space == "global" else None
        text = f"{self.thread_text(who)}: {wrong.text}"
        self.note(kind, Instance(text, who, _finding_address(wrong.address), _name(allocation)), count, pc)

    def _why(self, event: TraceEvent, access: Access, kind: str, address: int) -> str:
        if kind == "misaligned":
            return f", which is not a multiple of {access.nbytes}"
        if kind == "constant_write":
            return ", which is constant"
        if any(each.holds(address) for each in self.kernel.freed):
            return ", which cudaFreeAsync frees before this launch"
        return f"; {event.describe(access.space, address)}"


def _on(ranges: Iterable[Variable | Allocation], access: Access) -> np.ndarray:
    """bool (n, 32): lanes that would touch one of these ranges."""
    inside = np.zeros(access.addresses.shape, np.bool_)
    for each in ranges:
        inside |= (access.addresses < each.address + each.nbytes) & (access.addresses + access.nbytes > each.address)
    return inside & access.active


MASK = (1 << 64) - 1


def _name(allocation: Allocation | None) -> str:
    return allocation.name if allocation else ""


def _finding_address(address: int) -> int:
    """An address as the field of a finding: -1 if it does not fit 63 bits."""
    return address if address <= MASK >> 1 else -1
