"""Norms, softmax and activations by Triton, as Liger's benchmarks launch them: a program a row.

Before each launch the benchmark (`triton.testing.do_bench`) clears the L2 with stores, and the launch follows at once:
a fill of twice the L2 is in front. A part of the chip has its share of the rows.
"""

from tests.silicon.case import Case, Run
from tests.silicon.triton_ptx import FILL_BLOCK, ROWS

EMPTY_US = 3.2  # an empty kernel by two events, as by nvbench's on an RTX 3080
L2_NBYTES = {"a100-80": 41943040, "h100": 52428800, "rtx3090": 6291456}


def liger(id: str, card: str, file: str, rows: int, parts: int) -> Case:
    filled = 2 * L2_NBYTES[card] // parts // (4 * FILL_BLOCK)
    launches = (
        f"fill<<<{filled}, 128>>>(filled: i32[{filled * FILL_BLOCK}], null, null)",
        ROWS[file].launch(rows // parts),
    )
    return Case(f"liger-{id}", "norms", card, file, (Run(launches),), parts, empty_us=EMPTY_US)


CASES = (
    liger("a100-80-layer_norm-1024-f32", "a100-80", "layer_norm_1024_f32_sm80.ptx", 4096, 4),
    liger("a100-80-layer_norm-4096-f32", "a100-80", "layer_norm_4096_f32_sm80.ptx", 4096, 4),
    liger("a100-80-layer_norm-16384-f32", "a100-80", "layer_norm_16384_f32_sm80.ptx", 4096, 4),
    liger("a100-80-rms_norm-4096-bf16", "a100-80", "rms_norm_4096_bf16_sm80.ptx", 2048, 4),
    liger("a100-80-rms_norm-16384-bf16", "a100-80", "rms_norm_16384_bf16_sm80.ptx", 2048, 4),
    liger("3090-softmax-1024-f32", "rtx3090", "softmax_1024_f32_sm86.ptx", 2048, 2),
    liger("3090-softmax-4096-f32", "rtx3090", "softmax_4096_f32_sm86.ptx", 2048, 2),
    liger("3090-softmax-1024-bf16", "rtx3090", "softmax_1024_bf16_sm86.ptx", 2048, 2),
    liger("3090-softmax-4096-bf16", "rtx3090", "softmax_4096_bf16_sm86.ptx", 2048, 2),
    liger("h100-layer_norm-1024-f32", "h100", "layer_norm_of_any_1024_f32_sm90.ptx", 4096, 4),
    liger("h100-layer_norm-4096-f32", "h100", "layer_norm_of_any_4096_f32_sm90.ptx", 4096, 4),
    liger("h100-layer_norm-16384-f32", "h100", "layer_norm_of_any_16384_f32_sm90.ptx", 4096, 4),
    liger("h100-relu_squared-1024-bf16", "h100", "relu_squared_1024_bf16_sm90.ptx", 4096, 4),
    liger("h100-relu_squared-4096-bf16", "h100", "relu_squared_4096_bf16_sm90.ptx", 4096, 4),
    liger("h100-relu_squared-16384-bf16", "h100", "relu_squared_16384_bf16_sm90.ptx", 4096, 4),
    liger("h100-megatron_rms_norm-4096-bf16", "h100", "rms_norm_4096_bf16_sm90.ptx", 4096, 4),
    liger("h100-megatron_rms_norm-16384-bf16", "h100", "rms_norm_16384_bf16_sm90.ptx", 4096, 4),
    liger("h100-megatron_swiglu-1024-bf16", "h100", "swiglu_1024_bf16_sm90.ptx", 8192, 4),
    liger("h100-megatron_swiglu-4096-bf16", "h100", "swiglu_4096_bf16_sm90.ptx", 8192, 4),
    liger("h100-megatron_swiglu-16384-bf16", "h100", "swiglu_16384_bf16_sm90.ptx", 8192, 4),
)
