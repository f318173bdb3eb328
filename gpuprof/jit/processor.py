"""The processor that machine code is made for. It is one of few, so that code which is shipped fits: the newest level
of the architecture that this machine has every instruction of. Numbers are the same on all: LLVM contracts and reorders
no float arithmetic on its own.

NUMBA_CPU_NAME and NUMBA_CPU_FEATURES name another processor, as they do for Numba; nothing is shipped for that.
"""

import functools
import os
import platform
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import llvmlite.binding as llvm

V3 = ("avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe")  # what x86-64-v3 adds (x86-64 psABI, table 3.1)
# By architecture: names of LLVM's, the best one first, and the features that a machine needs.
LEVELS: dict[str, dict[str, tuple[str, ...]]] = {"x86_64": {"x86-64-v3": V3, "x86-64": ()}}
ANY: dict[str, tuple[str, ...]] = {"generic": ()}


def levels() -> dict[str, tuple[str, ...]]:
    """The processors of this architecture that code is shipped for."""
    return LEVELS.get(platform.machine().replace("AMD64", "x86_64"), ANY)


@functools.cache
def processor() -> str:
    """The processor to compile for: a name of LLVM's; after "+", features that the user set."""
    name, features = os.environ.get("NUMBA_CPU_NAME"), os.environ.get("NUMBA_CPU_FEATURES")
    if name or features:
        return f"{name or llvm.get_host_cpu_name()}+{features}" if features else name
    has = llvm.get_host_cpu_features()
    return next(level for level, needs in levels().items() if all(has.get(need) for need in needs))


_targets: list[Sequence[str]] = []  # processors that code is being compiled for


@contextmanager
def compiling_for(names: Sequence[str]) -> Iterator[None]:
    """Code that is written meanwhile is for these processors."""
    _targets.append(names)
    try:
        yield
    finally:
        _targets.pop()


def has_feature(feature: str) -> bool:
    """True when every processor that code is being compiled for has a feature of LLVM's ("f16c")."""
    names = _targets[-1] if _targets else [llvm.get_host_cpu_name()]
    return all(_has(name, feature) for name in names)


def _has(name: str, feature: str) -> bool:
    cpu, _, features = name.partition("+")
    if cpu == llvm.get_host_cpu_name() and not features:
        return bool(llvm.get_host_cpu_features().get(feature))
    return feature in levels().get(cpu, ()) or feature in features.replace("+", "").split(",")


def target_machine(name: str) -> llvm.TargetMachine:
    """LLVM's settings for code that runs in the process that loads it (as Numba has them)."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    cpu, _, features = name.partition("+")
    return llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(
        cpu=cpu,
        features=features,
        opt=3,
        reloc="static" if platform.machine() in ("x86_64", "AMD64") else "default",
        codemodel="jitdefault",
        jit=True,
    )
