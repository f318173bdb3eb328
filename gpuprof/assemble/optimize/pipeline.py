"""The passes between lowering and allocation, in order. Each takes a body and changes it."""

from gpuprof.assemble.abi.calling_convention import begin_kernel
from gpuprof.assemble.ir.body import Body
from gpuprof.assemble.ir.defs import narrow_fetches, remove_dead
from gpuprof.assemble.optimize.combine import combine
from gpuprof.assemble.optimize.conditions import join_conditions
from gpuprof.assemble.optimize.convergence import add_meetings
from gpuprof.assemble.optimize.conversions import share_conversions
from gpuprof.assemble.optimize.fold import (
    fold_float_negations,
    fold_literals,
    fold_offsets,
    fold_parameters,
    propagate_copies,
    propagate_negations,
    simplify,
)
from gpuprof.assemble.optimize.fuse import contract_products, fuse_multiply_add, join_halves, widen_shifts
from gpuprof.assemble.optimize.groups import share_groups
from gpuprof.assemble.optimize.known_predicates import fold_known_predicates
from gpuprof.assemble.optimize.literals import (
    read_constants_from_bank,
    read_literals_from_bank,
    share_constants,
    turn_branches,
)
from gpuprof.assemble.optimize.loops import turn_exits
from gpuprof.assemble.optimize.predicate import convert_branches, guard_exits
from gpuprof.assemble.optimize.remat import free_wide_multiplies, sink_constants
from gpuprof.assemble.optimize.sink import sink_moves
from gpuprof.assemble.optimize.unroll import unroll_loops
from gpuprof.assemble.optimize.vectorize import join_shared_loads
from gpuprof.assemble.optimize.whole import unroll_whole

_SIMPLIFY = (propagate_copies, fold_literals, simplify)

# The first passes run twice: what is simplified may be a copy or a constant that other instructions can take.
PASSES = (
    turn_exits,
    *_SIMPLIFY, *_SIMPLIFY, fold_known_predicates, propagate_copies, propagate_negations, fold_float_negations,
    share_conversions, remove_dead, unroll_whole, widen_shifts, remove_dead, join_halves, fuse_multiply_add,
    remove_dead, combine, remove_dead, free_wide_multiplies,
    read_constants_from_bank, fold_parameters, fold_offsets, *_SIMPLIFY,
    remove_dead, guard_exits, join_conditions, convert_branches, unroll_loops, read_constants_from_bank,
    fold_parameters, sink_moves, sink_constants, join_shared_loads,
    share_groups, remove_dead,
    turn_branches, read_literals_from_bank, remove_dead, share_constants, narrow_fetches,
)  # fmt: skip

# These only change what instructions read, and what they compute from it: what is known of definitions still holds.
_KEEPS_DEFINITIONS = frozenset([
    *_SIMPLIFY, propagate_negations, fold_float_negations, share_conversions, widen_shifts, read_constants_from_bank,
    fold_parameters, fold_offsets, share_groups, read_literals_from_bank,
])  # fmt: skip


def optimize(body: Body, is_debug: bool) -> None:
    """`is_debug`: the target says `debug`, so that everything stays and is rounded as in the PTX, like ptxas."""
    if not is_debug:
        # First, while products and sums are as in the PTX: it decides how results are rounded, so no other pass may.
        contract_products(body)
        body.found = {}
        for change in PASSES:
            change(body)
            if change not in _KEEPS_DEFINITIONS:
                body.found.clear()
        body.found = None
    # Last, on the final control flow: these instructions take issue slots and compute nothing.
    begin_kernel(body)
    add_meetings(body)
