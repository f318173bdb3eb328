"""Launches, code and commands in the form that trace generators see (`trace.kernel`)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from gpuprof.device import commands as cmd
from gpuprof.device.memory import AddressSpace
from gpuprof.device.module import LoadedModule
from gpuprof.emulate.blocks import compiled
from gpuprof.isa.encoding import INSTRUCTION_NBYTES
from gpuprof.isa.program import Param
from gpuprof.trace.kernel import Allocation, BasicBlock, Code, Instruction, Kernel, Parameter, Variable


class Beginning(Sequence):
    """The first `length` elements of a list that only grows: as it is now, without a copy."""

    def __init__(self, elements: list[str], length: int):
        self._elements, self._length = elements, length

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index):
        if isinstance(index, slice):
            return [self._elements[k] for k in range(*index.indices(self._length))]
        if not -self._length <= index < self._length:
            raise IndexError(index)
        return self._elements[index if index >= 0 else self._length + index]


def kernel_of(
    launch: cmd.Launch, task: str, memory: AddressSpace, commands: list[str], chip_numbers: Mapping[str, Any]
) -> Kernel:
    """A launch, as trace generators see it. `commands` so far, as texts: the list may grow later."""
    module, function = launch.module, launch.function
    kernel = Kernel(
        launch.index,
        function.display,
        function.name,
        launch.name,
        task,
        launch.stream,
        launch.grid,
        launch.block,
        launch.cluster,
        launch.shared_nbytes,
        function,
        code_of(module),
        (),
        tuple(
            Variable(variable.name, variable.space, module.global_symbols[variable.name], variable.nbytes)
            for variable in module.program.variables
        ),
        tuple(Allocation(there.address, there.nbytes, there.name) for there in memory.allocations),
        Beginning(commands, len(commands)),
        chip_numbers,
    )
    return replace(kernel, parameters=tuple(_argument(launch, kernel, param) for param in function.params))


def _argument(launch: cmd.Launch, kernel: Kernel, param: Param) -> Parameter:
    value = launch.params[param.offset : param.offset + param.nbytes]
    number: int | float | None = None
    if param.type in ("f32", "f64"):
        number = float(np.frombuffer(value, f"<f{param.nbytes}")[0])
    elif param.type != "b8" and param.nbytes <= 8:
        number = int.from_bytes(value, "little", signed=param.type.startswith("s"))
    allocation = kernel.allocation_at(number) if isinstance(number, int) and param.nbytes == 8 else None
    return Parameter(param.name, param.type, value, number, allocation.name if allocation else "")


_codes: WeakKeyDictionary = WeakKeyDictionary()


def code_of(module: LoadedModule) -> Code:
    """The code of a loaded module, as generators see it; made once."""
    if module not in _codes:
        _codes[module] = _code(module)
    return _codes[module]


def _code(module: LoadedModule) -> Code:
    program, graph = module.program, compiled(module).graph
    owner = {at: function.display for function in program.functions
             for at in range(function.first, function.first + function.count)}  # fmt: skip
    blocks = []
    for index in range(len(graph.starts)):
        plain = graph.block(index)
        instructions = tuple(
            Instruction(
                at,
                module.load_base + INSTRUCTION_NBYTES * at,
                encoded,
                owner.get(at, ""),
                index,
                int(program.ptx_lines[at]),
                program.locations[at],
            )
            for at, encoded in enumerate(plain.instructions, plain.first)
        )
        blocks.append(BasicBlock(index, instructions, tuple(graph.successors(index)), tuple(graph.callees(index))))
    return Code(
        program.name,
        module.load_base,
        program.ptx,
        MappingProxyType(dict(program.sources)),
        program.functions,
        tuple(instruction for block in blocks for instruction in block.instructions),
        tuple(blocks),
        program.facts,
    )


def text_of(command: cmd.Command) -> str:
    """A command as a line: its name and its plain numbers and names."""
    fields = []
    for name, value in vars(command).items():
        if isinstance(value, bytes):
            fields.append(f"{name}={len(value)} bytes")
        elif isinstance(value, int | str | tuple):
            fields.append(f"{name}={value}")
    return f"{type(command).__name__}({', '.join(fields)})"
