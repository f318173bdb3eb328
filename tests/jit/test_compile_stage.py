"""Functions that are being compiled are a stage."""

import numba
import pytest

from gpuprof.base.stages import open_stages
from gpuprof.jit.compile_stage import show_compiling

SEEN: list[list[str]] = []  # the stages that were open, at each look


def function_of(module: str, inner: str):
    """A function of `module` that calls one of module `inner`, which Numba compiles inside it: it looks meanwhile."""

    def look() -> int:
        raise NotImplementedError

    @numba.extending.overload(look)
    def while_compiling():
        SEEN.append([each.what for each in open_stages()])
        return lambda: 1

    def called():
        return look()

    called.__module__ = inner
    called = numba.njit(called)

    def calling():
        return called()

    calling.__module__ = module
    return numba.njit(calling)


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled without Numba's compiler")
@pytest.mark.parametrize(
    ("module", "inner", "stages"),
    [
        ("gpuprof.emulate.core.warp", "gpuprof.emulate.memory.access", ["compiling the emulator"]),
        ("gpuprof.timing.engine", "gpuprof.timing.units.l1", ["compiling the timing model"]),
        ("a_script", "gpuprof.timing.units.l1", []),
    ],
)
def test_the_outermost_function_is_a_stage_until_it_is_compiled(module, inner, stages):
    show_compiling()
    show_compiling()
    function = function_of(module, inner)
    SEEN.clear()
    assert function() == 1
    assert SEEN and all(each == stages for each in SEEN)
    assert open_stages() == ()
    SEEN.clear()
    assert function() == 1 and SEEN == []  # compiled already
