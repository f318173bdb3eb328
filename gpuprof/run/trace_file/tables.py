"""Checks of the tables of a GPU that come from a file: what is a line's number there, or a place in another table."""

import numpy as np

from gpuprof.timing.state.layout import ALL_SECTORS
from gpuprof.timing.state.machine import Machine

MOST_LINE = 1 << 41  # 128 bytes each, of addresses of 48 bits
COPY_SHIFT = 4  # an entry of l2_copy is (line + 1) * 16 + sectors


def fault_of_tables(machine: Machine) -> str:
    """Says what is wrong; "" where nothing is."""
    for name, values, most in _limits(machine):
        if ((values < 0) | (values > most)).any():
            return f"the table {name} has what is out of range"
    return ""


def _limits(machine: Machine) -> list[tuple[str, np.ndarray, int | np.ndarray]]:
    queue, most_word = machine.write_queue, np.iinfo(np.int64).max
    return [
        ("l2_tag", machine.l2_tag, MOST_LINE),
        ("l2_copy", machine.l2_copy, MOST_LINE << COPY_SHIFT),
        ("l2_line", machine.l2_line["valid"], ALL_SECTORS),
        ("l2_line", machine.l2_line["dirty"], ALL_SECTORS),
        ("slice_join", machine.slice_join["line"], MOST_LINE),
        ("slice_join", machine.slice_join["sectors"], ALL_SECTORS),
        ("slice_joins", machine.slice_joins, most_word),
        ("write_queue", queue["queued"], most_word),
        ("write_queue", queue["written"], queue["queued"]),
        ("write_queue", queue["sectors"], most_word),
        ("l2_ticket", machine.l2_ticket, int(queue["queued"].max())),
        ("tlb_hint", machine.tlb_hint, max(0, machine.chip.tlb_entries - 1)),
    ]
