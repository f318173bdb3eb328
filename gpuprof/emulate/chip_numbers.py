"""The numbers of a chip on which a trace depends: all that the emulator asks a chip for.

Everything else about a chip is time, and what happens never depends on when. So a trace that was made for one chip is,
to the last byte, that of every chip with the same of these numbers. What kernels launch is checked against the whole
chip: their traces are not taken for other chips at all.
"""

from collections.abc import Iterable

from gpuprof.device.module import LoadedModule
from gpuprof.emulate.blocks import compiled
from gpuprof.isa.program import Function

# By what a module does.
OF_SHARED_WORK = {
    "sms": "blocks that wait for each other, or share work out among themselves, run together as far as they fit",
    "warp_slots": "of an SM: the same",
}
OF_SM_REGISTERS = {"sms": "%nsmid is their number, and %smid deals blocks out to them"}
SM_REGISTERS = ("smid", "nsmid")
NAMES = tuple(OF_SHARED_WORK | OF_SM_REGISTERS)


def chip_numbers(module: LoadedModule, kernels: Iterable[Function]) -> frozenset[str]:
    """The numbers, by their names in NAMES, that may show in traces of these kernels of a module."""
    known = compiled(module)
    for kernel in kernels:
        known.prepare(kernel.first, module.program.functions)
    found = set[str]()
    if known.takes_turns:
        found.update(OF_SHARED_WORK)
    if not known.special_registers.isdisjoint(SM_REGISTERS):
        found.update(OF_SM_REGISTERS)
    return frozenset(found)
