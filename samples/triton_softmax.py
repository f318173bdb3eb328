"""A Triton kernel, launched as ever, on numpy arrays: softmax of rows. Run it with `gpuprof collect samples/triton_softmax.py`."""

import numpy as np
import triton
import triton.language as tl

import gpuprof.interop.triton

gpuprof.interop.triton.enable()


@triton.jit
def softmax(out_ptr, x_ptr, n_columns, BLOCK: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    start = tl.program_id(0) * n_columns
    x = tl.load(x_ptr + start + columns, mask=columns < n_columns, other=-float("inf"))
    power = tl.exp(x - tl.max(x))
    tl.store(out_ptr + start + columns, power / tl.sum(power), mask=columns < n_columns)


def main(rows: int, columns: int) -> float:
    x = np.random.default_rng(0).standard_normal((rows, columns), dtype=np.float32)
    out = np.empty_like(x)
    softmax[(rows,)](out, x, columns, BLOCK=triton.next_power_of_2(columns))

    exact = np.exp(x.astype(np.float64))
    return abs(out - exact / exact.sum(axis=1, keepdims=True)).max()


if __name__ == "__main__":
    print(f"largest error {main(1000, 781):.0e}")
