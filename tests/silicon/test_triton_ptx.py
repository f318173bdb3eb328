"""The stored PTX of kernels/rows.py is Triton's, and computes what numpy computes."""

import re

import ml_dtypes
import numpy as np
import pytest

from tests.silicon.run import KERNELS
from tests.silicon.triton_ptx import ATTENTION, FILES, ROWS
from tests.support.compiled_again import compiled_again
from tests.support.running import run_file

CHIPS = {80: "a100", 86: "rtx3090", 90: "h100"}
EPSILON = 1e-6


def rms(x: np.ndarray) -> np.ndarray:
    return x / np.sqrt((x * x).mean(1, keepdims=True) + EPSILON)


def layer_norm(x: np.ndarray) -> np.ndarray:
    return (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + EPSILON) + 1


def softmax(x: np.ndarray) -> np.ndarray:
    power = np.exp(x - x.max(1, keepdims=True))
    return power / power.sum(1, keepdims=True)


def swiglu(x: np.ndarray) -> np.ndarray:
    gate, through = np.split(x, 2, axis=1)
    return gate / (1 + np.exp(-gate)) * through


WEIGHTS_OF_ONE = {
    "layer_norm": layer_norm,
    "layer_norm_of_any": layer_norm,
    "rms_norm": rms,
    "softmax": softmax,
    "relu_squared": lambda x: np.maximum(x, 0) ** 2,
    "swiglu": swiglu,
}


@pytest.mark.parametrize("name", ROWS)
def test_it_computes_what_numpy_computes(name, tmp_path):
    """Two rows, weights and biases of 1."""
    rows = ROWS[name]
    dtype = {"f32": np.dtype(np.float32), "bf16": np.dtype(ml_dtypes.bfloat16)}[rows.element]
    x = np.random.default_rng(1).standard_normal((2, rows.pitch), dtype=np.float32).astype(dtype)
    np.save(tmp_path / "x.npy", x.view(np.uint16) if dtype.itemsize == 2 else x)
    matrix = rf"{rows.element}\[2,{rows.n}\], {rows.n}, {rows.element}\[2,{rows.pitch}\]=ones"
    kind = "u16" if dtype.itemsize == 2 else "f32"
    given = f"y: {kind}[2,{rows.n}], {rows.n}, {kind}[2,{rows.pitch}]={tmp_path}/x.npy"
    launch, found = re.subn(matrix, given, rows.launch(2))
    assert found == 1
    arrays, _ = run_file(KERNELS / name, launch, chip_name=CHIPS[rows.arch])
    y = arrays["y"].copy_to_host().view(dtype).astype(np.float64).reshape(2, rows.n)
    expected = WEIGHTS_OF_ONE[rows.kernel](x.astype(np.float64))
    # bfloat16 has 8 bits; what is rounded to it before the last product, 7
    np.testing.assert_allclose(y, expected, rtol=1e-5 if rows.element == "f32" else 2**-7, atol=1e-6)


def test_attention_is_attention():
    arrays, _ = run_file(KERNELS / ATTENTION.file, ATTENTION.launch(), chip_name="rtx5090")
    q, k, v, out = (arrays[name].copy_to_host().astype(np.float64) for name in ("q", "k", "v", "out"))
    seen = np.tri(ATTENTION.length, dtype=bool)
    score = np.where(seen, q @ k.transpose(0, 2, 1) / np.sqrt(ATTENTION.width), -np.inf)
    power = np.exp(score - score.max(-1, keepdims=True))
    np.testing.assert_allclose(out, power @ v / power.sum(-1, keepdims=True), atol=2**-10)


@pytest.mark.parametrize("name", ["softmax_1024_bf16_sm86.ptx", "attention_12_128_64_sm120.ptx"])
def test_it_is_what_triton_makes(name):
    again = compiled_again("tests.silicon.triton_ptx", name)
    assert again == (KERNELS / name).read_text(), "compile them anew: python -m tests.silicon.triton_ptx"


def test_the_folder_has_no_other_files():
    assert {path.name for path in KERNELS.glob("*.ptx")} == set(FILES)
