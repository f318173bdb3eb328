"""The views of the machine that threads have which run SMs: a copy of its record each, and accounts of their own.

Accounts are what every SM adds to. They are merged when the launch ends. The first view is the machine itself, and a
batch begins with no other; more come once it shows that it is long (timing.crew).

    State ─ new_view ─> View ─ engine ─> merge ─> the State's own tables
"""

from typing import NamedTuple

import numpy as np

from gpuprof.timing.state.cached_tables import address_of
from gpuprof.timing.state.machine import Rooms, State
from gpuprof.timing.state.stall_tables import add_stalls

# Where a view's rows begin in each list of a quantum.
FIRST = {"requests": "first_request", "loads": "first_load", "blocked": "first_blocked", "effects": "first_effect"}
CAUSES = 1 << 18  # rows with which a view still takes part in a quantum: programs have some thousands
assert tuple(FIRST) == Rooms._fields


class Accounts(NamedTuple):
    """The tables that a view has of its own, named as in State."""

    ledger: np.ndarray
    activity: np.ndarray
    stall_row: np.ndarray
    stalls: np.ndarray
    blame: np.ndarray
    blame_latest: np.ndarray
    blame_bucket: np.ndarray
    record: np.ndarray
    counted: np.ndarray
    leaves: np.ndarray


class View(NamedTuple):
    """`record`: a row of State.machine."""

    record: np.void
    own: Accounts


def new_view(state: State, number: int, rooms: Rooms, n_causes: int, n_samples: int) -> View:
    """View `number` of the machine, 1 or more. A quantum adds `n_causes` rows of causes and `n_samples` records at
    most.
    """
    core, causes, cell = state.core, state.causes, state.cell

    def alike(table: np.ndarray) -> np.ndarray:
        return np.zeros(table.shape, table.dtype)  # and not zeros_like, which touches all of it

    accounts = Accounts(
        ledger=alike(core.ledger),
        activity=alike(core.activity),
        stall_row=alike(core.stall_row),
        stalls=alike(core.stalls),
        blame=np.zeros(CAUSES + n_causes, causes.blame.dtype),
        blame_latest=alike(causes.blame_latest),
        blame_bucket=alike(causes.blame_bucket),
        record=np.zeros(n_samples, cell.record.dtype),
        counted=np.zeros(min(n_samples, len(cell.counted)), cell.counted.dtype),
        leaves=np.zeros(n_samples, cell.leaves.dtype),
    )
    state.machine[number] = state.machine[0]
    record = state.machine[number]
    for name, rows in rooms._asdict().items():
        record[FIRST[name]] = number * rows
    record["n_samples"] = record["n_counted"] = record["n_stall_rows"] = record["hungry"] = 0
    record["n_blame"], record["blame_room"] = 1, CAUSES
    for name, table in accounts._asdict().items():
        record[f"{name}_table"] = address_of(name, table)
    return View(record, accounts)


def merge(state: State, view: View) -> None:
    """Adds a view's accounts to the State's own, but for causes (`timing.stall_causes`)."""
    core, own, record = state.core, view.own, state.machine[0]
    core.ledger[...] += own.ledger
    core.activity.view(np.int64)[...] += own.activity.view(np.int64)
    record["n_stall_rows"] = add_stalls(
        core.stall_row, core.stalls, int(record["n_stall_rows"]), own.stall_row, own.stalls
    )


def causes_of(view: View) -> np.ndarray:
    """The rows of causes that a view has taken."""
    return view.own.blame[1 : int(view.record["n_blame"])]
