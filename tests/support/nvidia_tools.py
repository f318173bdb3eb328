"""NVIDIA's own compiler and assembler: second opinions, where they are installed."""

import shutil

import pytest

NVCC, PTXAS = shutil.which("nvcc"), shutil.which("ptxas")
needs_nvcc = pytest.mark.skipif(NVCC is None, reason="nvcc (the CUDA toolkit) is not installed")
needs_ptxas = pytest.mark.skipif(PTXAS is None, reason="ptxas is not installed: no second opinion on the PTX")


def skip_without_nvcc():
    """For tests and fixtures of which only some parameters mean nvcc."""
    if NVCC is None:
        pytest.skip("nvcc (the CUDA toolkit) is not installed")
