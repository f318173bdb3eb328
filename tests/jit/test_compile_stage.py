"""Functions that are being compiled are a stage."""

import pytest

from gpuprof.base.stages import open_stages
from gpuprof.jit import DISABLED, PLAIN
from gpuprof.jit.cached import cached_njit
from gpuprof.jit.internal import intrinsic

SEEN: list[list[str]] = []  # the stages that were open, at each look


def function_that_looks():
    """A function that looks at the stages while it is compiled."""

    @intrinsic
    def look(typing_context):
        from numba import types

        SEEN.append([each.what for each in open_stages()])
        return types.int64(), lambda context, builder, signature, args: context.get_constant(types.int64, 1)

    def looking():
        return look()

    return looking


@pytest.mark.skipif(DISABLED or PLAIN, reason="nothing of ours is compiled")
@pytest.mark.parametrize(
    ("module", "stages"),
    [
        ("gpuprof.emulate.core.warp", ["compiling the emulator"]),
        ("gpuprof.timing.engine", ["compiling the timing model"]),
        ("a_script", []),
    ],
)
def test_a_function_is_a_stage_until_it_is_compiled(tmp_path, monkeypatch, module, stages):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    looking = function_that_looks()
    looking.__module__ = module
    function = cached_njit(looking)
    SEEN.clear()
    assert function() == 1
    assert SEEN and all(each == stages for each in SEEN)
    assert open_stages() == ()
    SEEN.clear()
    assert function() == 1 and SEEN == []  # compiled already
