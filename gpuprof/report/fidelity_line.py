"""How far the numbers of a report can be trusted: the measured kernels that its kernel is like, and what its launches
used that is coarse or was held against no card.
"""

from collections.abc import Collection, Iterable, Iterator

from gpuprof.chips.fidelity import published_kernels as measured
from gpuprof.chips.fidelity.likeness import Use, kind, totals
from gpuprof.chips.fidelity.missing import LEAST_SHARE, SEPARATOR, caution, used_by_calls
from gpuprof.chips.fidelity.sentence import NO_FIGURES, like
from gpuprof.isa.opcodes import BY_NAME
from gpuprof.report.model import Kernel, Launch


def words_on_kernels_like(meta: dict[str, str], kernels: tuple[Kernel, ...]) -> str:
    """On kernels like the one with the most cycles. Nothing of another version of the model, or of a chip of which
    nothing is published.
    """
    known = meta["model_version"] == measured.model_version() and NO_FIGURES not in meta.get("fidelity", NO_FIGURES)
    if not known or not kernels:
        return ""
    kernel = max(kernels, key=lambda candidate: candidate.cycles)
    return like(kind(totals(uses_of(kernel), dram_nbytes(kernel))), meta["chip"])


def words_of_caution(launches: Iterable[Launch], calls: Collection[str]) -> tuple[str, ...]:
    """On what these launches noted, where it matters for all of them together, and on calls of the program's host."""
    cycles: dict[str, int] = {}
    whole = 0
    for launch in launches:
        whole += launch.cycles
        for name in filter(None, str(launch.metrics.get("not_held", "")).split(SEPARATOR)):
            cycles[name] = cycles.get(name, 0) + launch.cycles
    names = [name for name, some in cycles.items() if some >= LEAST_SHARE * whole]
    return caution([*names, *used_by_calls(calls)])


def uses_of(kernel: Kernel) -> Iterator[Use]:
    for instruction in kernel.instructions:
        if instruction.opcode in BY_NAME:
            counters = instruction.cost.counters
            yield Use(
                BY_NAME[instruction.opcode],
                counters.inst_executed,
                counters.l2_sectors_global,
                counters.l2_sectors_global_ideal,
                counters.l1_wavefronts_shared,
                counters.l1_wavefronts_shared_ideal,
            )


def dram_nbytes(kernel: Kernel) -> int:
    names = ("dram_read_nbytes", "dram_write_nbytes")
    return sum(int(launch.metrics.get(name, 0)) for launch in kernel.launches for name in names)
