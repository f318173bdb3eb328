"""The measured kernels that a report's kernel is like, and how far the model is off for these."""

from collections.abc import Iterator

from gpuprof.chips.fidelity import published_kernels as measured
from gpuprof.chips.fidelity.likeness import Use, kind, not_measured, totals
from gpuprof.chips.fidelity.sentence import NO_FIGURES, like
from gpuprof.isa.opcodes import BY_NAME
from gpuprof.report.model import Kernel

NOT_TIMED = "{} not timed"


def words_on_kernels_like(meta: dict[str, str], kernels: tuple[Kernel, ...]) -> str:
    """On kernels like the one with the most cycles, and what of it no measured kernel has; parts are joined by "; ".
    Nothing of another version of the model, or of a chip of which nothing is published.
    """
    known = meta["model_version"] == measured.model_version() and NO_FIGURES not in meta.get("fidelity", NO_FIGURES)
    if not known or not kernels:
        return ""
    kernel = max(kernels, key=lambda candidate: candidate.cycles)
    uses = tuple(uses_of(kernel))
    alike = like(kind(totals(uses, dram_nbytes(kernel))), meta["chip"])
    missing = [NOT_TIMED.format(part) for part in not_measured(uses)]
    return "; ".join([alike, *missing] if alike else missing)


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
