"""Checkers find nothing in the samples."""

import pytest

from gpuprof.device.launching.launch_requests import command_line_requests, comment_requests
from gpuprof.device.launching.launch_text import kernel_names
from gpuprof.device.requests import run_requests
from gpuprof.run.observers.tracing import Attached
from gpuprof.run.run_settings import Settings
from gpuprof.run.session import open_device
from gpuprof.trace.find import CHECKERS, find
from tests.paths import ROOT

SAMPLES = sorted((ROOT / "samples").glob("*.cu"))
# Smaller ones where those of the file would take long.
LAUNCHES = {
    "matmul.cu": (
        "naive<<<(2, 2), (16, 16)>>>(a: f32[32,32]=random, b: f32[32,32]=random, c: f32[32,32], 32)",
        "tiled<<<(2, 2), (16, 16)>>>(a, b, c, 32)",
        "blocked<<<(1, 1), (16, 8)>>>(a, b, c, 32)",
    )
}


@pytest.mark.long
@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_samples_are_clean(path):
    requests = command_line_requests(LAUNCHES.get(path.name, ())) or comment_requests(path)
    settings = Settings(is_timed=False, traces=tuple(Attached(find(name)()) for name in CHECKERS))
    device = open_device(settings)
    module = device.load(path, instantiate=kernel_names(requests))
    run_requests(device, module, requests, seed=0, folder=path.parent)
    assert len(settings.traces[0].generator.results) == len(requests)
    assert list(settings.findings.summary()) == ["no errors"]
