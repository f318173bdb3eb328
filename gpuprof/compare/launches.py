"""Pairs of launches of two profiles.

1. A launch with the one of the same kernel, shape and ordinal. A draw's shader has that of a draw of the same name, and
   its ordinal among these.
2. What is left over of a kernel and shape, draws whose names changed, in the order of both sides.
3. What is left over of a kernel, in its order, with what is left over of that kernel on the other side, in its order:
   its shape changed.

Equal shapes go first since they do equal work: a launch that was inserted, or one of several that changed, moves no
other one to a foreign partner. Kernels of one name in different modules are never partners with different shapes.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from gpuprof.compare.pairing import Pairing, paired


class Launched(NamedTuple):
    """A launch, as it is known again. `shape`: grid, block and dynamic shared memory, "<<<64, 256>>>"; `ordinal`: 1 for
    the first one of this kernel and shape; `shader`: stage and draw's name, where it is a draw's.
    """

    kernel: str
    shape: str
    ordinal: int
    module: str = ""
    shader: tuple[str, ...] = ()


def paired_launches(old: Sequence[Launched], new: Sequence[Launched], strict_shape: bool = False) -> Pairing:
    """With `strict_shape` a launch of another shape is another launch. The launches of a side are distinct."""
    name_old, name_new = _names(old), _names(new)
    groups = [
        (name_old.__getitem__, name_new.__getitem__),
        (lambda launch: launch[:2], lambda launch: launch[:2]),
        *(() if strict_shape else [(_kernel_of, _kernel_of)]),
    ]
    return paired(old, new, *groups)


def _names(launches: Sequence[Launched]) -> dict[Launched, tuple]:
    """Kernel, shape and shader of each launch, and the ordinal among those with the same ones."""
    seen = Counter()
    names: dict[Launched, tuple] = {}
    for launch in launches:
        name = (launch.kernel, launch.shape, *launch.shader)
        seen[name] += 1
        names[launch] = (*name, seen[name] if launch.shader else launch.ordinal)
    return names


def _kernel_of(launch: Launched) -> tuple[str, str]:
    return launch.module, launch.kernel
