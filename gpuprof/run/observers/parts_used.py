"""The parts of the chip that a launch used and that are coarse, or held against no card."""

from weakref import WeakKeyDictionary

import numpy as np

from gpuprof.chips.fidelity.missing import SEPARATOR, Ran, Spent, is_used_by, used
from gpuprof.device.module import LoadedModule
from gpuprof.isa.encoding import INSTRUCTION_NBYTES
from gpuprof.isa.modifiers import unpack_name
from gpuprof.isa.opcodes import TABLE
from gpuprof.run.observers.observer import LaunchResult

_using: WeakKeyDictionary[LoadedModule, dict[int, Spent]] = WeakKeyDictionary()


def not_held(result: LaunchResult) -> str:
    """Their names, as a recording has them; "" where none matters."""
    module, timing = result.launch.module, result.timing
    if module not in _using:
        _using[module] = _using_some(module)
    if not _using[module]:  # as most do not
        return ""
    cycles = warp_cycles(timing.ledger, timing.causes, module.load_base)
    spent = tuple(one._replace(warp_cycles=int(cycles[at])) for at, one in _using[module].items() if cycles[at])
    return SEPARATOR.join(used(Ran(spent, timing.resident_warp_cycles)))


def _using_some(module: LoadedModule) -> dict[int, Spent]:
    """The instructions that use some of the parts, by number."""
    code, found = module.program.code, {}
    for at, (number, mods) in enumerate(zip(code["opcode"].tolist(), code["mods"].tolist(), strict=True)):
        op = TABLE[number]
        spent = Spent(op, unpack_name(mods, "scope") if "scope" in op.fields else "", 0)
        if is_used_by(spent):
            found[at] = spent
    return found


def warp_cycles(ledger: np.ndarray, causes: np.ndarray, load_base: int) -> np.ndarray:
    """By instruction: of warps that waited to issue it, or that waited elsewhere until it let them continue."""
    cycles = ledger.sum(axis=1)
    others = causes[causes["pc"] != causes["cause_pc"]]
    at = (others["cause_pc"].astype(np.int64) - load_base) // INSTRUCTION_NBYTES
    inside = (at >= 0) & (at < len(cycles))  # a cause may be in another module
    np.add.at(cycles, at[inside], others["cycles"][inside])
    return cycles
