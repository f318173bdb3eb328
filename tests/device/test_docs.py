"""docs/python-api.md: its Python runs. docs/launches.md: its launches parse, its error is the one shown."""

import re

import numpy as np
import pytest

import gpuprof
from gpuprof.chips import load_chip
from gpuprof.device.api import Device
from gpuprof.device.elements import ELEMENTS
from gpuprof.device.launching.launch_requests import comment_requests
from gpuprof.device.launching.launch_text import parse_launch
from gpuprof.errors import UsageError
from gpuprof.timing.sampling.filter import KEYS
from tests.paths import DOCS
from tests.support.device_support import FakeExecutor

PYTHON = (DOCS / "python-api.md").read_text(encoding="utf-8")
LAUNCHES = (DOCS / "launches.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", PYTHON, re.DOTALL)
PLAIN_BLOCKS = [text for language, text in re.findall(r"```(\w*)\n(.*?)```", LAUNCHES, re.DOTALL) if not language]


def test_the_python(monkeypatch):
    monkeypatch.setattr(gpuprof, "Device", lambda name: Device(FakeExecutor(), load_chip(name)), raising=False)
    names: dict = {}
    for language, text in BLOCKS:
        if language == "python":
            exec(text, names)
    np.testing.assert_array_equal(names["result"], 2 * np.linspace(0, 1, 1000, dtype=np.float32))


def test_the_python_about_textures():
    """Blocks marked `py` run on an emulated GPU: the fake one has no images."""
    (text,) = [text for language, text in BLOCKS if language == "py" and "gpu.texture" in text]
    names = {"gpu": gpuprof.Device(), "np": np}
    exec(text, names)
    np.testing.assert_array_equal(names["canvas"].array.copy_to_host(), np.zeros((64, 64), np.float32))


def test_the_python_about_the_sampler(monkeypatch):
    monkeypatch.chdir(DOCS.parent)
    (text,) = [text for language, text in BLOCKS if language == "py" and "gpu.sampler" in text]
    gpu = gpuprof.Device()
    exec(text, {"gpu": gpu, "np": np})
    assert (gpu.sampler.period_cycles, gpu.sampler.registers["filter"]) == (512, "off")
    keys = re.findall(r"`([a-z-]+)`", "".join(re.findall(r"^\| (`[^|]*) \|", PYTHON, re.MULTILINE)))
    assert set(KEYS) <= set(keys)


def test_the_launches(tmp_path):
    found = []
    for block in PLAIN_BLOCKS:
        (tmp_path / "k.cu").write_text(block)
        found += comment_requests(tmp_path / "k.cu")
    compared = [[each.reference for each in request.expected] for request in found]
    assert [request.kernel for request in found] == ["saxpy"] * 4
    assert compared == [[], [], ["once.npy"], ["twice.npy"]]


def test_the_error():
    (message,) = [block for block in PLAIN_BLOCKS if "expected" in block]
    place, launch = message.partition(": ")[0], message.splitlines()[1].strip()
    with pytest.raises(UsageError) as caught:
        parse_launch(launch, place)
    assert str(caught.value) == message.rstrip("\n")


def test_the_element_types():
    assert f"`{' '.join(ELEMENTS)}`" in LAUNCHES
