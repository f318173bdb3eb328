"""The eight bytes behind a barrier of the whole grid: every launch has them, as cooperative launches have on a GPU.

A driver hands them out and puts their address into %envreg1 (upper half) and %envreg2; here they are a variable of the
module whose PTX reads those. Layout after cooperative_groups/details/driver_abi.h: the size, and the word that blocks
count in.
"""

from gpuprof.assemble.ptx import ast
from gpuprof.isa.special import GRID_WORKSPACE

NBYTES = 8


def with_workspace(tree: ast.Module, ptx: str) -> ast.Module:
    """The module with the variable, when its text asks for it."""
    if "%envreg1" in ptx and "%envreg2" in ptx:
        tree.variables.append(
            ast.Variable(GRID_WORKSPACE, "global", "b32", NBYTES, NBYTES, 0, True, [ast.Number(NBYTES)])
        )
    return tree
