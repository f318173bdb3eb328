"""`printf` is called by the lanes of a warp together, as nvcc has it.

Clang declares `vprintf` without the word for that, `convergent`. LLVM would then give a `printf` after `if (lane == 0)`
to each side of the branch, and lines would come in another order than the card's.
"""

import re

_DECLARED = re.compile(r"^(declare i32 @vprintf\(ptr, ptr\))$", re.MULTILINE)


def print_together(ir: str) -> str:
    """Clang's IR, not optimized yet, with `vprintf` as a convergent function."""
    return _DECLARED.sub(r"\1 convergent", ir)
