"""Configs of Triton kernels as variants. Without Triton those that launch some skip."""

import pytest

from tests.support.command import gpuprof, write_files
from tests.support.tools import module
from tests.vary.test_vary import collected, varied

SCRIPT = """\
import numpy as np
import triton
import triton.language as tl

import gpuprof.interop.triton

gpuprof.interop.triton.enable()


DECORATOR
@triton.jit
def scale(out_ptr, x_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, 2 * tl.load(x_ptr + at, mask=at < n), mask=at < n)


x = np.arange(5000, dtype=np.float32)
out = np.zeros_like(x)
scale[GRID](out, x, 5000KEYWORD)
"""
TUNER = "@triton.autotune([triton.Config({'BLOCK': 128}, 1), triton.Config({'BLOCK': 1024}, 4, 2)], key=['n'])"
FOLLOWS = "lambda meta: (triton.cdiv(5000, meta['BLOCK']),)"


def script(decorator="", grid="(20,)", keyword=", BLOCK=256"):
    return SCRIPT.replace("DECORATOR", decorator).replace("GRID", grid).replace("KEYWORD", keyword)


def rows(found):
    return [(each["values"].get("config"), each["results"], each["text"]) for each in found["variants"]]


def launched(found):
    return [[(launch["grid"], launch["block"]) for launch in each["launches"]] for each in found["variants"]]


@pytest.mark.long
def test_the_list_of_the_kernel_itself(tmp_path):
    """Launches that tune count nothing: the original is as fast as the Config that Triton chooses."""
    module("triton", "interop")
    write_files(tmp_path, {"s.py": script(TUNER, FOLLOWS, "")})
    found = varied(tmp_path, "s.py", "--vary", "config=autotune")
    one, two = "BLOCK=128,num_warps=1,num_stages=3", "BLOCK=1024,num_warps=4,num_stages=2"
    assert found["parameters"] == [{"name": "config", "values": [one, two]}]
    assert rows(found) == [(None, "same", ""), (one, "same", ""), (two, "same", "")]
    original, *others = launched(found)
    assert others == [[("40,1,1", "32,1,1")], [("5,1,1", "128,1,1")]] and original in others
    cycles = [each["cycles"] for each in found["variants"]]
    assert cycles[0] == min(cycles[1:])
    command = found["variants"][2]["command"]
    assert command == f"gpuprof collect s.py --cache cold --config {two}"
    assert collected(tmp_path, command, "s.gprec") == cycles[2]


@pytest.mark.long
def test_configs_of_the_command_line(tmp_path):
    """The grid is of numbers: half the elements are left where a program has half of them."""
    module("triton", "interop")
    write_files(tmp_path, {"s.py": script()})
    given = ("num_warps=1", "BLOCK=128", "BLOCK=512,num_warps=8", "WIDTH=3")
    found = varied(tmp_path, "s.py", *(word for text in given for word in ("--config", text)))
    assert rows(found) == [
        (None, "same", ""),
        ("num_warps=1", "same", ""),
        ("BLOCK=128", "differs", "copies to the host"),
        ("BLOCK=512,num_warps=8", "same", ""),
        ("WIDTH=3", "failed", "--config WIDTH=3: no kernel that Triton launched has these meta-parameters"),
    ]
    blocks = [[block for _, block in launches] for launches in launched(found)]
    assert blocks == [["128,1,1"], ["32,1,1"], ["128,1,1"], ["256,1,1"], []]


def test_a_script_that_tunes_nothing(tmp_path):
    module("triton", "interop")
    write_files(tmp_path, {"s.py": script()})
    code, out, error = gpuprof(tmp_path, "vary", "s.py", "--vary", "config=autotune")
    assert (code, out) == (2, "")
    assert "--vary config=autotune: s.py launches no kernel with @triton.autotune; give Configs by --config" in error


@pytest.mark.parametrize(
    "file, words, message",
    [
        ("k.cu", ("--config", "A=1"), "--vary config: k.cu is no script, and only scripts launch Triton's kernels"),
        ("k.py", ("--config", "A"), "--config A: expected NAME=VALUE,... as in BLOCK=128,num_warps=4"),
        ("k.py", ("--config", "A=1", "--config", "A=1"), "--config A=1: is given twice"),
        ("k.py", ("--vary", "config=1"), "--vary config=1: '1' is no value; expected autotune; others by --config"),
        ("k.py", ("--vary", "config=autotune", "--config", "A=1"), "--vary config: is given twice"),
    ],
)
def test_refused(tmp_path, file, words, message):
    write_files(tmp_path, {file: ""})
    code, out, error = gpuprof(tmp_path, "vary", file, *words)
    assert (code, out) == (2, "") and message in error
