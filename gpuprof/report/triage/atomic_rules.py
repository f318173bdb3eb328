"""Triage of atomics: those on one address are work of one slice of the L2, one after the other."""

from collections.abc import Iterator

from gpuprof.base.wording import base_name, percent0
from gpuprof.chips.model import LINE_NBYTES
from gpuprof.report.model import Instruction, Kernel
from gpuprof.report.triage.findings import Case, Finding
from gpuprof.report.triage.reason_advice import counts_in_memory, full_of_atomics

LEAST_SHARE = 0.10  # of the slice's time, for a line that is named


def atomics_of_a_slice(case: Case) -> Iterator[Finding]:
    """A finding where a slice of the L2 is busy with atomics for most of the time; it names the hottest line."""
    use = full_of_atomics(case)
    if use is None:
        return
    place = _most(case.kernel)
    path, line = (place.positions[-1].path, place.positions[-1].line) if place and place.positions else ("", 0)
    at = f", most of them at {base_name(path)}:{line}" if line else ""
    hottest = _hottest(case.kernel, use.work)
    text = (
        f"One slice of the L2 works on atomics in {percent0(use.share)} of the cycles{at}{hottest}. "
        "Atomics on neighbouring addresses go through one slice, one after the other: combine them in the warp or in "
        "shared memory first, or spread them over more addresses."
    )
    yield Finding("atomics_of_a_slice", text, path, line, "long_scoreboard", use.share)


def _most(kernel: Kernel) -> Instruction | None:
    """The atomic instruction that most threads execute."""
    atomics = [instruction for instruction in kernel.instructions if counts_in_memory(instruction)]
    return max(atomics, key=lambda each: (each.cost.counters.thread_inst_executed, -each.pc), default=None)


def _hottest(kernel: Kernel, cycles: float) -> str:
    if not kernel.atomic_lines or kernel.atomic_lines[0].cycles < LEAST_SHARE * cycles:
        return ""
    hottest = kernel.atomic_lines[0]
    return f"; the {LINE_NBYTES} bytes from {hottest.address:#x} take {percent0(hottest.cycles / cycles)} of that"
