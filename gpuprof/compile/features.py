"""What only one architecture has (wgmma: `sm_90a`; setmaxnreg: that and `sm_100a`). A chip that gpuprof emulates has
it, so sources are compiled for it.
"""

# chip's architecture -> nvcc's name for it with all its features; the macro that sources ask for them with (CUDA C++
# programming guide, 5.1.2)
_ALL_OF = {"sm_90": ("sm_90a", "__CUDA_ARCH_FEAT_SM90_ALL"), "sm_100": ("sm_100a", "__CUDA_ARCH_FEAT_SM100_ALL")}


def nvcc_arch(arch: str) -> str:
    return _ALL_OF.get(arch, (arch, ""))[0]


def feature_macros(arch: str) -> list[str]:
    return [_ALL_OF[arch][1]] if arch in _ALL_OF else []
