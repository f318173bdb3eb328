"""Why programs cannot be built on this machine, "" where they can."""

from gpuprof.compile.host import host_toolchain
from gpuprof.errors import CompileError


def _why_not() -> str:
    try:
        host_toolchain()
    except CompileError as error:
        return str(error)
    return ""


WHY_NOT = _why_not()
