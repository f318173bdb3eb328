"""No opcode without a test: every row of the table is in one of the conformance tests, or in the list here, which is
run to see.
"""

import pytest

from gpuprof.isa.opcodes import TABLE
from tests.emulate import (
    test_conformance_control as control,
    test_conformance_convert as convert,
    test_conformance_float as floating,
    test_conformance_integer as integer,
    test_conformance_memory as memory,
    test_conformance_small_floats as small,
    test_conformance_surface as surface,
    test_conformance_tensor as tensor,
    test_conformance_texture as texture,
    test_conformance_video as video,
    test_conformance_warp as warp,
    test_conformance_wgmma as wgmma,
    test_conformance_wide as wide,
    test_control as flow,
    test_hopper as hopper,
    test_memory as services,
)
from tests.support import emulate_harness

AGAINST_REFERENCES = (
    integer.OPCODES, ["MOVI.64"], floating.ARITHMETIC, floating.COMPARES, floating.TESTED, floating.APPROXIMATE,
    floating.PACKED, floating.DIVISIONS,
    convert.PAIRS, convert.ROUNDINGS, convert.PACKS, [convert.TF32], memory.LOADS, memory.STORES, memory.ATOMICS,
    video.OPCODES, small.OPCODES,
    wide.ATOMICS, wide.COPIES,
    texture.OPCODES, surface.OPCODES,
    warp.SHUFFLES, warp.VOTES, warp.MATCHES, warp.REDUCTIONS, warp.FLOAT_REDUCTIONS, warp.OTHERS,
    tensor.OPCODES, tensor.MATRIX_OPCODES, wgmma.OPCODES,
)  # fmt: skip

# Opcodes whose effect is where control goes or what the surroundings are, and the test that looks at it.
BY_EFFECT = {
    "NOP": control.test_hints_change_nothing,
    **dict.fromkeys(("BSSY", "BSYNC", "YIELD"), control.test_hints_change_nothing),
    "LOAD.SP": control.test_hints_change_nothing,
    "LOAD.DESC": control.test_hints_change_nothing,
    "GRIDDEP.LAUNCH": control.test_hints_change_nothing,
    "GRIDDEP.WAIT": control.test_hints_change_nothing,
    "MEMBAR": control.test_hints_change_nothing,
    "NANOSLEEP": control.test_hints_change_nothing,
    "BRKPT": control.test_breakpoint,
    "CALL.IND": control.test_indirect_call_goes_where_each_lane_says,
    "BAR.ARRIVE": control.test_producer_arrives_and_consumer_waits,
    "BAR.RED.POPC": control.test_barrier_numbers_from_a_register,
    "S2R.64": control.test_wide_special_registers,
    "CVTA.CONST": control.test_constants_have_generic_addresses,
    "CVTA.TO.CONST": control.test_constants_have_generic_addresses,
    "EXIT": flow.test_early_exit_and_a_partial_warp,
    "BRA": flow.test_if_else_meets_again,
    "BRX": flow.test_indirect_branch_goes_where_each_lane_says,
    "FRAME": flow.test_calls_return_to_where_they_came_from,
    "FRAME.64": flow.test_recursion_with_frames_in_local_memory,
    "CALL": flow.test_calls_return_to_where_they_came_from,
    "RET": flow.test_calls_return_to_where_they_came_from,
    "TRAP": flow.test_trap_names_the_thread,
    "BAR.SYNC": flow.test_barrier_makes_shared_writes_visible_to_other_warps,
    "BAR.RED.AND": flow.test_barrier_reduction,
    "BAR.RED.OR": flow.test_barrier_reduction,
    "WARPSYNC": flow.test_warp_synchronisation_across_two_paths,
    "S2R": flow.test_three_dimensional_indices,
    "CP.ASYNC.COMMIT": lambda: wide.test_copy("CP.ASYNC.16"),
    "CP.ASYNC.WAIT": lambda: wide.test_copy("CP.ASYNC.16"),
    "ALLOCA": wide.test_stack_grows_and_is_set_back,
    "STACKSAVE": wide.test_stack_grows_and_is_set_back,
    "STACKRESTORE": wide.test_stack_grows_and_is_set_back,
    "SYSCALL": services.test_printf_and_assert,
    "SYSCALL.64": services.test_device_malloc_and_free,
    **hopper.BY_EFFECT,
}


def test_every_opcode_has_a_test():
    tested = {name for names in AGAINST_REFERENCES for name in names}
    assert [op.name for op in TABLE if op.name not in tested | set(BY_EFFECT)] == [], (
        "add a reference in tests/references/conformance_*.py, or a test to BY_EFFECT here"
    )
    assert tested & set(BY_EFFECT) == set()


@pytest.mark.parametrize("name", BY_EFFECT)
def test_the_test_runs_the_opcode(name):
    emulate_harness.EXECUTED.clear()
    BY_EFFECT[name]()
    assert name in emulate_harness.EXECUTED
