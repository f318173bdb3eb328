"""Causal attention of GPT-2's size by Triton on an RTX 5090, under Nsight Compute: cold caches at the base clock."""

from tests.silicon.case import Case, once
from tests.silicon.triton_ptx import ATTENTION

CASES = (Case("flash-5090-triton-fa-gpt2", "attention", "rtx5090", ATTENTION.file, once(ATTENTION.launch())),)
