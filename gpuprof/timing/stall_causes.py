"""The table of causes (see `cause_ledger`) from outside: its size, and its rows of a launch at the end."""

import numpy as np

from gpuprof.isa.causes import CONFLICT, OTHER_LAUNCH, OTHER_WARP
from gpuprof.isa.encoding import INSTRUCTION_NBYTES
from gpuprof.isa.stalls import N_REASONS
from gpuprof.tables.launch import CAUSES
from gpuprof.timing.state import layout
from gpuprof.timing.state.machine import Machine, State, most_causes
from gpuprof.timing.state.machine_tables import Blame
from gpuprof.timing.state.static_program import StaticProgram

ROOM = 1 << 14  # rows in addition to those that a quantum may add
MOST_HASHES = 1 << 18
HASHES_OF_INSTRUCTION = 16


def new_blame(machine: Machine, program: StaticProgram) -> Blame:
    n = len(program.inst)
    assert n <= layout.CAUSE_PC_MASK, f"{n} instructions in a batch: causes have room for {layout.CAUSE_PC_MASK}"
    return Blame(
        blame=machine.tables.scratch("blame", (ROOM + most_causes(machine.chip),), layout.BLAME),
        blame_latest=machine.tables.filled("blame_latest", (n, N_REASONS), np.int32),
        blame_bucket=machine.tables.filled(
            "blame_bucket", (min(MOST_HASHES, 1 << (HASHES_OF_INSTRUCTION * n).bit_length()),), np.int32
        ),
    )


def forget(state: State) -> None:
    """The rows that were taken, of causes and of stalls, are zero again, as a batch finds them."""
    state.causes.blame[: int(state.machine[0]["n_blame"])] = 0
    state.core.stalls[: int(state.machine[0]["n_stall_rows"]) + 1] = 0


def grow(machine: Machine, state: State) -> None:
    """Makes room for twice as many causes."""
    rows = len(state.causes.blame)
    state.causes.blame.resize(2 * rows, refcheck=False)  # there is no other reference
    state.machine[0]["blame_room"] += rows
    machine.tables.moved("blame")
    state.link(machine.tables)


def causes_of_grids(state: State, more: list[np.ndarray]) -> list[np.ndarray]:
    """The causes of stalls, an array a grid: tables.launch.CAUSES, ascending by (pc, reason, cause_pc, kind,
    flags). `more`: layout.BLAME, the rows of other views of the machine.
    """
    rows = state.causes.blame[1 : int(state.machine[0]["n_blame"])]
    rows = np.concatenate([rows, *more]) if more else rows
    # so a grid's follow each other: the instruction that stalled is above all else
    rows = rows[np.argsort(rows["key"])]
    begins = np.searchsorted(rows["key"] >> layout.STALLED_SHIFT, state.core.grid["first_inst"])
    return [_causes(state, number, some) for number, some in enumerate(np.split(rows, begins[1:]))]


def _causes(state: State, number: int, rows: np.ndarray) -> np.ndarray:
    """The causes of the stalls of grid `number`, from its `rows` of the table."""
    first_inst, pc_base = (state.core.grid[name] for name in ("first_inst", "pc_base"))
    stalled, cause = rows["key"] >> layout.STALLED_SHIFT, rows["key"] & layout.CAUSE_PC_MASK
    grid_of_cause = np.searchsorted(first_inst, cause, side="right") - 1
    flags = (
        OTHER_WARP * (rows["key"] & layout.OTHER != 0)
        + OTHER_LAUNCH * (grid_of_cause != number)
        + CONFLICT * (rows["key"] & layout.CONFLICT != 0)
    )
    reason = rows["key"] >> layout.REASON_SHIFT & (1 << layout.STALLED_SHIFT - layout.REASON_SHIFT) - 1
    kind = (rows["key"] & layout.CAUSE_KIND_MASK) >> layout.CAUSE_KIND_SHIFT
    cause_pc = pc_base[grid_of_cause] + INSTRUCTION_NBYTES * cause
    keys = (pc_base[number] + INSTRUCTION_NBYTES * stalled, reason, cause_pc, kind, flags)
    order = np.lexsort(keys[::-1])
    columns = [key[order] for key in keys]
    # Rows that say the same, of a cause in several other launches of one module, or in several views, are one.
    differs = np.ones(len(rows), np.bool_)
    if len(rows):
        differs[1:] = np.logical_or.reduce([column[1:] != column[:-1] for column in columns])
    first = differs.nonzero()[0]
    causes = np.zeros(len(first), CAUSES.dtype)
    for name, column in zip(("pc", "reason", "cause_pc", "kind", "flags"), columns, strict=True):
        causes[name] = column[first]
    for name in ("cycles", "stalls"):
        causes[name] = np.add.reduceat(rows[name][order], first) if len(rows) else 0
    return causes


def scaled_causes(causes: np.ndarray, ledger: np.ndarray, load_base: int, factor: float) -> np.ndarray:
    """`causes` grown as the ledger (instructions, reasons), of a program at `load_base`, has been: rows of a (pc,
    reason) sum to its cycles again.
    Their stalls grow by `factor`."""
    scaled = causes.copy()
    entry = (causes["pc"].astype(np.int64) - load_base) // INSTRUCTION_NBYTES * ledger.shape[1] + causes["reason"]
    first = np.flatnonzero(np.diff(entry, prepend=-1))
    ends = np.append(first[1:], len(causes))
    for begin, end in zip(first.tolist(), ends.tolist(), strict=True):
        total = int(ledger.flat[entry[begin]])
        so_far = np.cumsum(causes["cycles"][begin:end].astype(np.float64))
        marks = np.rint(so_far * (total / so_far[-1])).astype(np.uint64)
        scaled["cycles"][begin:end] = np.diff(marks, prepend=np.uint64(0))
    scaled["stalls"] = np.rint(causes["stalls"] * factor).astype(np.uint64)
    return scaled
