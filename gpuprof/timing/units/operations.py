"""Copies, fills and functions of the host in a batch: each engine carries out one at a time, in the order in which they
are ready. They take no part in what grids do, and no memory traffic of theirs is modelled.
"""

from gpuprof.jit.internal import call_njit
from gpuprof.timing.state.table_rows import edge_at, engine_at, grid_at, operation_at
from gpuprof.timing.units.transfer import other_way, transfer_end


@call_njit
def start_operations(machine, present):
    """Carries out what is ready by cycle `present`: the ends are then known, though they are still to come."""
    for k in range(machine.n_operations):
        operation = operation_at(machine, k)
        if operation.has_ended or operation.waits:
            continue
        if operation.ready > present:
            machine.next_ready = min(machine.next_ready, operation.ready)
            continue
        carry_out(machine, k)


@call_njit
def carry_out(machine, number):
    operation = operation_at(machine, number)
    engine = engine_at(machine, operation.engine)
    operation.start_cycle = max(operation.ready, engine.value)
    moving = operation.start_cycle + operation.latency_cycles
    other = other_way(operation.engine)
    busy_until = engine_at(machine, other).value if other >= 0 else 0
    end = transfer_end(moving, operation.transfer_cycles, busy_until, machine.second_way_permille)
    operation.end_cycle = engine.value = end
    operation.has_ended = 1
    machine.n_operated += 1
    for k in range(operation.first_edge, operation.last_edge):
        comes_closer(machine, edge_at(machine, k).target, end)


@call_njit
def comes_closer(machine, target, t):
    """Grid or operation `target` has waited for an end, which is at cycle `t`."""
    if target < machine.n_grids:
        grid = grid_at(machine, target)
        grid.waits -= 1
        grid.ready = max(grid.ready, t + grid.launch_cycles)
    else:
        operation = operation_at(machine, target - machine.n_grids)
        operation.waits -= 1
        operation.ready = max(operation.ready, t)
