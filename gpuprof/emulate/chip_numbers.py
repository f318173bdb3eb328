"""The numbers of a chip on which a trace depends: all that the emulator asks a chip for.

Everything else about a chip is time, and what happens never depends on when. So a trace that was made for one chip is,
to the last byte, that of every chip with the same of these numbers. What kernels launch is checked against the whole
chip: their traces are not taken for other chips at all.
"""

from collections.abc import Iterable

from gpuprof.device.module import LoadedModule
from gpuprof.emulate.blocks import compiled
from gpuprof.isa.program import Function

# Of a module whose blocks wait for each other, or share work out among themselves: how many run together, and in which
# order, follows estimated times (`core.pacing`).
EVERY = "every number"
OF_SM_REGISTERS = "sms"  # %nsmid is their number, and %smid deals blocks out to them
SM_REGISTERS = ("smid", "nsmid")


def chip_numbers(module: LoadedModule, kernels: Iterable[Function]) -> frozenset[str]:
    """The numbers, by name, that may show in traces of these kernels of a module; EVERY for all of them."""
    known = compiled(module)
    for kernel in kernels:
        known.prepare(kernel.first, module.program.functions)
    found = set[str]()
    if known.takes_turns:
        found.add(EVERY)
    if not known.special_registers.isdisjoint(SM_REGISTERS):
        found.add(OF_SM_REGISTERS)
    return frozenset(found)
