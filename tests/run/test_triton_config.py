"""Configs of Triton's as text. Triton is not needed."""

import pytest

from gpuprof.errors import UsageError
from gpuprof.run.triton_config import COMPILER_SETTINGS, AskedConfig, config_text, parse_config


def test_values():
    text = "BLOCK=128, EVEN=True,FACTOR=0.5,PRECISION=tf32,num_warps=4,maxnreg=None"
    asked = AskedConfig(text)
    assert asked.meta == {"BLOCK": 128, "EVEN": True, "FACTOR": 0.5, "PRECISION": "tf32"}
    assert asked.compiler_settings == {"num_warps": 4, "maxnreg": None}


@pytest.mark.parametrize("text", ["", "BLOCK", "BLOCK=", "=1", "BLOCK=1,", "BLOCK=1 num_warps", "1=1"])
def test_what_is_no_config(text):
    with pytest.raises(UsageError, match=r"expected NAME=VALUE,\.\.\. as in BLOCK=128,num_warps=4"):
        parse_config(text)


def test_a_value_that_is_given_twice():
    with pytest.raises(UsageError, match=r"^--config A=1,A=2: A is given twice$"):
        parse_config("A=1,A=2")


@pytest.mark.parametrize(
    "settings, text",
    [
        ({}, "BLOCK=64,num_warps=4,num_stages=3"),
        ({"num_stages": 1, "num_ctas": 2, "maxnreg": 64}, "BLOCK=64,num_warps=4,num_stages=1,num_ctas=2,maxnreg=64"),
    ],
)
def test_a_text_is_read_as_it_was_written(settings, text):
    assert config_text({"BLOCK": 64}, COMPILER_SETTINGS | settings) == text
    assert parse_config(text) == {"BLOCK": 64, "num_warps": 4, "num_stages": 3, **settings}
