"""Calls of what the runtime does itself: printf, malloc, assertions, launches."""

from typing import NamedTuple

from gpuprof.assemble.abi.calling_convention import Place
from gpuprof.assemble.ir.values import type_nbits
from gpuprof.assemble.lower.data.access import store
from gpuprof.assemble.lower.data.address import local_address
from gpuprof.assemble.lower.flow.control import branch_past
from gpuprof.assemble.ptx import ast
from gpuprof.isa.special import LAUNCH_SERVICE


class Service(NamedTuple):
    """A call of the runtime by a function's name; the types of its arguments and its result ("" for none)."""

    number: int
    arguments: tuple[str, ...]
    result: str


_LAUNCH = Service(LAUNCH_SERVICE, ("b64", "b64"), "b32")
SERVICES = {
    "vprintf": Service(1, ("b64", "b64"), "b32"),
    "malloc": Service(2, ("b64",), "b64"),
    "free": Service(3, ("b64",), ""),
    "__assertfail": Service(4, ("b64", "b64", "b32", "b64", "b64"), ""),
    "gpuprof_parameter_buffer": Service(5, ("b64",), "b64"),
    "cudaLaunchDeviceV2": _LAUNCH,
    "__cudaCDP2LaunchDeviceV2": _LAUNCH,
    "gpuprof_new_stream": Service(7, (), "b64"),
    "gpuprof_parameter_room": Service(8, ("b64",), "b64"),
    "gpuprof_describe_launch": Service(9, ("b64", "b64"), "b32"),
}
_ASSERT_OFFSETS = (0, 8, 16, 24, 32)  # of its arguments in the block it gets: natural alignment, in order
_ASSERT_NBYTES = 40


def check_service(lowering, name: str, params: list[list[Place]], returns: list[list[Place]]):
    """Raises PtxError when a module declares a function of the runtime with other parameters than it has."""
    service = SERVICES[name]
    taken, given = ([type_nbits(group[0].type) for group in groups] for groups in (params, returns))
    if taken != [type_nbits(kind) for kind in service.arguments] or given not in ([], [_nbits(service.result)]):
        types = ", ".join(f".{kind}" for kind in service.arguments)
        raise lowering.error(f"{name} is declared with other parameters than it has: ({types})")


def _nbits(kind: str) -> int:
    return type_nbits(kind) if kind else 0


def emit_service(lowering, name: str, values: list, target: int | None):
    """The call, of values in registers or constants."""
    service = SERVICES[name]
    values = [
        lowering.reg(value, "D" if type_nbits(kind) == 64 else "R")
        for value, kind in zip(values, service.arguments, strict=True)
    ]
    if name == "__assertfail":
        values = [_assert_block(lowering, values)]
    slots = dict(zip("ab", values, strict=False))
    skip = branch_past(lowering) if service.number == LAUNCH_SERVICE else ""  # what runs launches something
    row = "SYSCALL.64" if service.result == "b64" else "SYSCALL"
    lowering.emit(row, imm=service.number, dst=target, **slots)
    if skip:
        lowering.start_block(skip)


def _assert_block(lowering, values: list[int]) -> int:
    """Stores the arguments in local memory; their generic address is what the service gets."""
    block = ast.Variable("#assert", "local", "b8", _ASSERT_NBYTES, 8, lowering.inst.line, is_array=True)
    if block.name not in lowering.frame.offsets:
        lowering.frame.add(block)
    start = lowering.frame.offsets[block.name]
    base = None if lowering.body.is_kernel else local_address(lowering, 0, "R")
    kinds = SERVICES["__assertfail"].arguments
    for offset, kind, value in zip(_ASSERT_OFFSETS, kinds, values, strict=True):
        store(lowering, "local", [value], kind, {"a": base, "imm": start + offset})
    return lowering.op("CVTA.LOCAL", a=lowering.reg(local_address(lowering, start, "D"), "D"))
