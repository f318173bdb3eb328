"""How much memory a program may declare, and how many registers a thread may take without costing its SM a warp.

More memory is refused here, where the variable's line is known, and not when something fails to allocate.
"""

from gpuprof.assemble.ptx import ast
from gpuprof.errors import PtxError
from gpuprof.isa.gpubin.layout import MAX_ZERO_NBYTES

# All variables of a space together. Constant: CUDA C++ programming guide, technical specifications per compute
# capability (every one: 64 KiB).
# Global: what gpuprof holds; a gpubin stores no more zeros.
_MODULE_NBYTES = {"const": 65536, "global": MAX_ZERO_NBYTES}
# Local memory per thread, same table: 512 KiB. One function's own; what a chain of calls adds up to is the launch's to
# check.
_LOCAL_NBYTES = 512 * 1024


def check_variables(module: ast.Module) -> None:
    """Raises PtxError at the variable that makes a space's variables too large."""
    total = dict.fromkeys(_MODULE_NBYTES, 0)
    for variable in module.variables:
        if variable.space in total:
            total[variable.space] += variable.nbytes
            _check(
                module.name,
                variable,
                total[variable.space],
                _MODULE_NBYTES[variable.space],
                f"{variable.space} variables of the module",
            )


def check_local(module_name: str, variable: ast.Variable, frame_nbytes: int) -> None:
    """Raises PtxError when a function's local variables, this one the last, are too large."""
    _check(module_name, variable, frame_nbytes, _LOCAL_NBYTES, "local variables of a function")


def _check(module_name: str, variable: ast.Variable, nbytes: int, limit_nbytes: int, what: str) -> None:
    if nbytes > limit_nbytes:
        message = f"variable {variable.name}: the {what} take {nbytes} bytes; the limit is {limit_nbytes}"
        raise PtxError(message, module_name, variable.line, variable.column)


_REGISTERS_OF_LANE = 512  # of a partition: 65536 of an SM of four partitions of 32 lanes
_GRANULE = 8  # registers that a thread gets together
# Warps that a partition holds where it is not 16. From: CUDA C++ Programming Guide, technical specifications by compute
# capability (warps of an SM, a fourth each). ptxas 13.0 goes up to the number of registers that follows from them:
# tests/assemble/test_residency.py.
_WARPS_OF_PARTITION = {"75": 8, "86": 12, "87": 12, "89": 12, "120": 12, "121": 12}
_MOST_WARPS = 16


def free_registers(target: str) -> int:
    """The most registers with which a partition of `target`, such as "sm_86", holds all its warps."""
    warps = _WARPS_OF_PARTITION.get(target.removeprefix("sm_").rstrip("af"), _MOST_WARPS)
    return _REGISTERS_OF_LANE // warps // _GRANULE * _GRANULE
