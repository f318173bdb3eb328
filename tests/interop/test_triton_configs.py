"""Configs that a run asks for, and Triton kernels that get them. Without Triton these skip."""

import importlib

import numpy as np
import pytest

import gpuprof.interop.triton as gpu_triton
from gpuprof.errors import UsageError
from gpuprof.run.compile_file import BuildOptions
from gpuprof.run.run_settings import Settings
from gpuprof.run.script import collecting, device_of_script
from tests.support.running import Results
from tests.support.tools import module

triton = module("triton", "interop")
kernels = importlib.import_module("tests.support.triton_kernels")

pytestmark = pytest.mark.filterwarnings("ignore:TRITON_DEFAULT_FP_FUSION")


class Seen(Results):
    def __init__(self):
        super().__init__()
        self.configs = []

    def tuned(self, configs):
        self.configs += configs


def launches(config, script):
    """(grid, block) of each launch of a script's that is recorded with a Config, and the Configs that it would tune."""
    seen = Seen()
    settings = Settings(observer=seen, options=BuildOptions(triton_config=config))
    with collecting(settings), gpu_triton.enabled(device_of_script("a100")):
        script()
    return [(each.launch.grid[0], each.launch.block[0]) for each in seen.launches], seen.configs


def grid(meta):
    return (triton.cdiv(1000, meta["BLOCK"]),)


def scale_by_name():
    kernels.scale[grid](np.ones(1000, np.float32), 2.0, 1000, BLOCK=256)


def scale_by_position():
    kernels.scale[(4,)](np.ones(1000, np.float32), 2.0, 1000, 256)


@pytest.mark.parametrize(
    "config, script, found",
    [
        ("", scale_by_name, (4, 128)),
        ("BLOCK=128", scale_by_name, (8, 128)),
        ("num_warps=2", scale_by_name, (4, 64)),
        ("BLOCK=512,num_warps=1", scale_by_name, (2, 32)),
        # A grid of numbers stays.
        ("BLOCK=512,num_warps=1", scale_by_position, (4, 32)),
    ],
)
def test_a_kernel_with_another_config(config, script, found):
    assert launches(config, script) == ([found], [])


@pytest.fixture
def tuned():
    configs = kernels.tuned_add.configs
    kernels.tuned_add.cache.clear()

    def script():
        x, y, out = (np.full(1000, number, np.float32) for number in (1, 2, 5))
        kernels.tuned_add[grid](x, y, out, 1000)
        # The tuner sets `out` to zero before each launch; a launch that is not tuned adds to what is there.
        assert set(out) == {8.0 if len(kernels.tuned_add.configs) == 1 else 3.0}

    yield script
    kernels.tuned_add.configs = configs


OWN = ["BLOCK=32,num_warps=1,num_stages=3", "BLOCK=512,num_warps=4,num_stages=3"]


def test_the_configs_of_a_kernel_that_is_tuned(tuned):
    found, configs = launches("", tuned)
    assert configs == OWN
    assert found[:4] == [(32, 32), (32, 32), (2, 128), (2, 128)] and found[4] in found[:4] and len(found) == 5


@pytest.mark.parametrize(
    "config, found", [(OWN[0], (32, 32)), ("BLOCK=512", (2, 128)), ("BLOCK=64,num_warps=2", (16, 64))]
)
def test_a_config_that_is_asked_for_is_not_tuned(tuned, config, found):
    assert launches(config, tuned) == ([found], [])


@pytest.mark.parametrize("config", ["WIDTH=64", "BLOCK=64,WIDTH=1"])
def test_a_config_that_no_kernel_takes(tuned, config):
    for script in (scale_by_name, tuned):
        with pytest.raises(UsageError) as raised:
            launches(config, script)
        assert str(raised.value) == f"--config {config}: no kernel that Triton launched has these meta-parameters"
