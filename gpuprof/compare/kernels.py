"""Pairs of kernels of two profiles: by name and module, then by name, then by content, which is their instructions."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from gpuprof.compare.pairing import Pairing, alike, paired

NAME, CONTENT, REQUEST = "name", "content", "request"  # by what two kernels are a pair
LEAST_LIKENESS = 0.7  # ours, of instructions without their operands: a kernel that was renamed and edited
MOST_COMPARED = 64  # kernels of a side whose content is compared, those with the most cycles: 64 x 64 counts


class KernelName(NamedTuple):
    """A launched kernel, as it is known again. `number`: of the function in its profile."""

    number: int
    name: str  # as in the source
    symbol: str
    module: str


class KernelPair(NamedTuple):
    old: KernelName
    new: KernelName
    by: str  # NAME, CONTENT or REQUEST


def paired_kernels(
    old: Sequence[KernelName],
    new: Sequence[KernelName],
    words_of_old: Callable[[KernelName], Sequence[str]],
    words_of_new: Callable[[KernelName], Sequence[str]],
) -> tuple[list[KernelPair], list[KernelName], list[KernelName]]:
    """Pairs in the order of the new kernels, and the kernels of either side without a partner. `words_of_old`,
    `words_of_new`: the instructions of a kernel without their operands; requested only of those that no name pairs.
    """
    by_symbol, by_module, by_name = (
        (key, key)
        for key in (
            lambda kernel: (kernel.symbol, kernel.name, kernel.module),
            lambda kernel: (kernel.name, kernel.module),
            lambda kernel: kernel.name,
        )
    )
    pairing: Pairing = paired(old, new, by_symbol, by_module, by_name)
    more = alike(pairing.old[:MOST_COMPARED], pairing.new[:MOST_COMPARED], words_of_old, words_of_new, LEAST_LIKENESS)
    pairs = [KernelPair(*pair, NAME) for pair in pairing.pairs] + [KernelPair(*pair, CONTENT) for pair in more]
    order = {kernel: number for number, kernel in enumerate(new)}
    taken = {kernel for pair in more for kernel in pair}
    return (
        sorted(pairs, key=lambda pair: order[pair.new]),
        [kernel for kernel in pairing.old if kernel not in taken],
        [kernel for kernel in pairing.new if kernel not in taken],
    )
