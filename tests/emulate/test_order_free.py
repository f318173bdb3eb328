"""Kernels whose traces are the same in every order of emulation: which they are, and that they are."""

import pytest

from gpuprof.device.memory import AddressSpace
from gpuprof.device.module import load
from gpuprof.emulate.order_free import is_order_free
from gpuprof.isa.encoding import make
from gpuprof.isa.modifiers import pack
from tests.support.emulate_harness import ADDR64, jump, program_of, special

LOADED = make("LDG.32", dst=4, a=0, mods=ADDR64)
SHARED = make("LDS.32", dst=4, a=9)
PREDICATE = make("ISETP.U32", dst=0, a=4, b=2, mods=pack(cmp="ne"))
EXIT = make("EXIT")
STORE = make("STG.32", a=0, b=4, mods=ADDR64)
OTHER = make("MOV", dst=4, a=3)


@pytest.mark.parametrize(
    "code, is_free",
    [
        ([LOADED, make("FADD", dst=5, a=4, b=4), STORE, EXIT], True),  # it is only a value
        ([LOADED, PREDICATE, jump(2, 0, guard=0), EXIT], False),  # it decides a branch
        ([LOADED, OTHER, PREDICATE, jump(3, 0, guard=0), EXIT], True),  # the register has another value then
        ([LOADED, make("MOV", dst=4, a=3, guard=1), PREDICATE, jump(3, 0, guard=0), EXIT], False),  # perhaps not
        ([PREDICATE, jump(1, 0, guard=0), LOADED, EXIT], True),
        ([PREDICATE, LOADED, jump(2, 0, guard=0), EXIT], False),  # in the second turn of the loop
        ([SHARED, make("LDS.32", dst=5, a=4), EXIT], False),  # it is an address
        ([make("LDC.32", dst=4, a=9), make("LDS.32", dst=5, a=4), EXIT], True),  # of memory that does not change
        ([special("clock", 4), PREDICATE, jump(2, 0, guard=0), EXIT], True),  # it counts the warp's own instructions
        ([LOADED, make("FDIV", dst=5, a=4, b=4, mods=pack(rnd="rn")), EXIT], False),  # a slow path
        ([LOADED, make("FDIV", dst=5, a=6, b=6, mods=pack(rnd="rn")), EXIT], True),
        ([make("ATOMG.ADD.U32", dst=4, a=0, b=7, mods=ADDR64), PREDICATE, jump(2, 0, guard=0), EXIT], False),
        ([make("REDG.ADD.U32", a=0, b=7, mods=ADDR64), PREDICATE, jump(2, 0, guard=0), EXIT], True),
        ([LOADED, make("SHFL", dst=5, a=4, b=6, c=7, e=8), EXIT], True),
        ([LOADED, make("SHFL", dst=5, a=6, b=6, c=7, e=4), EXIT], False),  # a member mask
        ([LOADED, make("BAR.SYNC", a=4, b=8), EXIT], False),
        ([make("MEMBAR"), EXIT], True),
        ([make("CALL", imm=0), EXIT], False),
    ],
)
def test_what_decides(code, is_free):
    module = load(program_of(code), AddressSpace())
    assert is_order_free(module, module.program.functions[0]) == is_free
