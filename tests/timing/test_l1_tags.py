"""The L1's tag stage beside published measurements: tag wavefronts of a warp's load at every stride, averaged as they
were measured.

Source: gpu-benches, gpu-strides/a100.txt and h200.txt: the greater of l1tex__t_output_wavefronts and
l1tex__data_pipe_lsu_wavefronts for each load of a loop of eight, at elements 0, 4, ... 28 from the lane's own, by warps
0 and 1 of 64 lanes. One row for each width and chip, from stride 0 on.
"""

import numpy as np
import pytest

from gpuprof.chips import load_chip
from gpuprof.emulate.core.spaces import NO_RANGES
from gpuprof.emulate.trace_log.coalesce import inspect
from gpuprof.emulate.trace_log.trace_entries import ACCESS_DTYPE

MEASURED = {
    ("a100", 4): (
        1.00, 1.00, 2.00, 1.62, 4.00, 2.19, 2.36, 2.67, 8.0, 3.03, 3.31, 3.64, 4.00, 4.01, 4.00, 4.44, 16.0, 5.1, 5.1,
        5.6, 5.3, 6.0, 6.1, 6.2,
        8.0, 7.0, 7.1, 7.3, 7.3, 8.0, 8.0, 8.5, 32.0, 8.8, 8.9, 9.0, 8.9, 9.2, 9.4, 9.4, 9.8, 9.3, 9.3, 9.0, 9.3, 9.8,
        9.9, 10.1, 16.0, 10.2,
        10.2, 9.5, 10.2, 11.1, 10.5, 10.5, 9.6, 9.2, 9.5, 9.5, 10.0, 9.8, 9.2, 8.8, 32.0,
    ),
    ("a100", 8): (
        2.00, 2.00, 4.00, 2.42, 8.0, 3.33, 4.00, 4.04, 16.0, 5.1, 5.4, 6.1, 8.0, 7.1, 7.6, 8.0, 32.0, 8.9, 9.2, 9.4,
        9.8, 9.3, 9.3, 10.0, 16.0,
        10.2, 10.2, 10.5, 9.5, 9.4, 10.0, 9.2, 32.0, 9.0, 10.3, 9.6, 9.6, 9.7, 10.6, 11.9, 16.0, 10.5, 10.2, 9.7, 10.2,
        11.6, 12.1, 11.7, 32.0,
        11.6, 11.2, 9.8, 10.7, 12.8, 11.6, 11.5, 16.0, 9.6, 9.7, 9.8, 10.9, 10.6, 9.3, 9.1, 32.0,
    ),
    ("h200", 4): (1.00, 1.00, 2.00, 1.62, 4.00, 2.00, 2.31, 2.41, 8.0, 3.00, 3.16, 3.41, 4.00, 4.09, 4.25, 4.59),
    ("h200", 8): (2.00, 2.00, 4.00, 2.31, 8.0, 3.16, 4.00, 4.31, 16.0, 5.2, 5.5, 6.0, 8.0, 7.0, 7.0, 8.0),
}  # fmt: skip
# The same files' blocks, which had no part in finding the rule: cycles of a load by warps of 1024 threads in rows of 1,
# 2, ... 64, each row 4098 elements on. These are whole cycles, of the banks or the tags.
BLOCKS = {
    ("a100", 4): (9.2, 5.1, 3.13, 4.00, 2.00, 1.02, 1.02),
    ("a100", 8): (9.3, 5.4, 4.00, 4.00, 2.01, 2.01, 2.00),
    ("h200", 4): (9.3, 4.82, 3.00, 4.01, 2.01, 1.02, 1.02),
    ("h200", 8): (9.0, 5.3, 4.01, 4.01, 2.01, 2.01, 2.01),
}


def load_cycles(chip, addresses, nbytes) -> float:
    """Cycles of the load/store unit for one load that hits, as timing.units.lsu takes them from the access record."""
    records, mask = np.zeros(1, np.uint64), np.full(1, 0xFFFFFFFF, np.uint32)
    inspect(
        addresses.astype(np.int64),
        mask,
        mask,
        nbytes,
        1,
        0,
        True,
        False,
        False,
        NO_RANGES,
        records,
        np.zeros(32, np.int64),
    )
    record = records.view(ACCESS_DTYPE)[0]
    return max(
        int(record["wavefronts"]),
        chip.tag_pass_cycles * int(record["tag_passes"]),
        chip.tag_lookup_cycles * int(record["n_lookups"]),
    )


def stride_cycles(chip, stride: int, nbytes: int) -> float:
    lanes = np.arange(32)
    places = [at + stride * (32 * warp + lanes) for warp in (0, 1) for at in range(0, 32, 4)]
    return float(np.mean([load_cycles(chip, nbytes * place, nbytes) for place in places]))


def block_cycles(chip, width: int, nbytes: int) -> float:
    threads = np.arange(1024).reshape(32, 32)
    places = threads % width % 64 + (threads // width % 32 + 1) * 4098
    return float(
        np.mean([load_cycles(chip, nbytes * (place + at), nbytes) for place in places for at in range(0, 32, 4)])
    )


@pytest.mark.parametrize("name, nbytes", BLOCKS)
def test_blocks_are_within_ten_percent(name, nbytes):
    chip = load_chip(name)
    found = np.array([block_cycles(chip, 1 << k, nbytes) for k in range(7)])
    assert found == pytest.approx(np.array(BLOCKS[name, nbytes]), rel=0.10)


@pytest.mark.parametrize("name, nbytes", MEASURED)
def test_every_stride_is_within_ten_percent(name, nbytes):
    chip = load_chip(name)
    found = np.array([stride_cycles(chip, stride, nbytes) for stride in range(len(MEASURED[name, nbytes]))])
    difference = np.abs(found / np.array(MEASURED[name, nbytes]) - 1)
    assert difference.max() < 0.10, f"stride {difference.argmax()}: {found[difference.argmax()]}"
    assert difference.mean() < 0.03
