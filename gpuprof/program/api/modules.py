"""Modules, and the kernels and variables in them."""

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from gpuprof.compile.module import PtxModule
from gpuprof.compile.ptxfile import linked_ptx, module_of_ptx, ptx_text
from gpuprof.device import commands as cmd
from gpuprof.device.api import Device
from gpuprof.device.module import LoadedModule, Placed
from gpuprof.errors import UsageError
from gpuprof.isa.program import Function, Program
from gpuprof.program import errors
from gpuprof.program.build import Executable, module_number
from gpuprof.program.errors import Failed
from gpuprof.program.fatbin import container

USUAL_SHARED_NBYTES = 48 << 10  # a block's, unless cudaFuncSetAttribute allows more (CUDA C++ Programming Guide)
PARAM = struct.Struct("<II")


class Known(NamedTuple):
    module: LoadedModule
    function: Function


class Modules:
    def __init__(self, device: Device, executable: Executable, code: Sequence[Program]):
        """`code`: of each of the executable's modules; one where they are linked."""
        self.device, self.executable, self._code = device, executable, code
        self._loaded: list[LoadedModule] = []
        self._functions: list[Known] = []
        self._n_images = 0
        self._numbers: dict[int, int] = {}  # the index in `code` -> that in `_loaded`
        self._placed: list[Placed] = []  # of the module that is loaded next

    def place(self, symbol: bytes, address: int):
        self._placed.append(Placed(symbol.decode("utf-8", "replace"), address))
        return (), b""

    def module_image(self, text: bytes):
        """PTX that the program brings itself."""
        name = f"PTX {self._n_images + 1} of the program"
        self._loaded.append(self.device.load_ptx(module_of_ptx(text.decode("utf-8", "replace"), name, Path(), ())))
        self._n_images += 1
        return (len(self._loaded) - 1,), b""

    def check_image(self, text: bytes):
        """PTX that will be linked: what it has from others is not looked for yet."""
        ptx = ptx_text(text)
        if ".extern" not in ptx:
            self.device.executor.assemble(module_of_ptx(ptx, "PTX that is linked", Path(), ()))
        return (), b""

    def link_images(self, texts: bytes):
        linked = linked_ptx([ptx_text(text) for text in texts.split(b"\0") if text])
        self.device.executor.assemble(module_of_ptx(linked, "PTX that is linked", Path(), ()))
        return (), linked.encode()

    def module(self, key: bytes):
        if key.startswith(container.MAGIC):
            return (self._load(self.device.executor.assemble(self._module_of_fatbin(key))),), b""
        number = module_number(key, len(self.executable.modules))
        index = 0 if self.executable.links_device else number
        if index not in self._numbers:
            self._numbers[index] = self._load(self._code[index])
        return (self._numbers[index],), b""

    def _load(self, program: Program) -> int:
        """The number of the module in which the program is now in memory."""
        placed, self._placed = tuple(self._placed), []
        self._loaded.append(self.device.submit(cmd.Load(program, placed=placed)))
        return len(self._loaded) - 1

    def _module_of_fatbin(self, data: bytes) -> PtxModule:
        arch = int("".join(filter(str.isdigit, self.device.chip.arch)))
        path = next(iter(self.executable.modules), self.executable.path)
        try:
            ptx = container.ptx_of(data, arch)
        except UsageError as error:
            raise Failed(errors.NO_KERNEL_IMAGE, str(error)) from None
        return module_of_ptx(ptx, str(path), path.parent, ())

    def function(self, symbol: bytes, module: int):
        name = symbol.decode("utf-8", "replace")
        loaded = self._module_of(module)
        function = next((each for each in loaded.program.functions if each.is_kernel and each.name == name), None)
        if function is None:
            raise Failed(errors.INVALID_DEVICE_FUNCTION, f"{loaded.program.name} has no kernel {name}")
        self._functions.append(Known(loaded, function))
        chip = self.device.chip
        most = min(function.max_threads or chip.max_threads_per_block, chip.max_threads_per_block)
        words = (
            len(self._functions) - 1, len(function.params), most, function.registers, function.shared_nbytes,
            function.local_nbytes, len(loaded.const_segment), USUAL_SHARED_NBYTES - function.shared_nbytes,
            int("".join(filter(str.isdigit, chip.arch))),
        )  # fmt: skip
        return words, b"".join(PARAM.pack(param.offset, param.nbytes) for param in function.params)

    def kernels(self, payload: bytes, module: int):
        names = [each.name for each in self._module_of(module).program.functions if each.is_kernel]
        return (len(names),), b"".join(name.encode() + b"\0" for name in names)

    def variable(self, symbol: bytes, module: int):
        name = symbol.decode("utf-8", "replace")
        loaded = self._module_of(module)
        variable = next((each for each in loaded.program.variables if each.name == name), None)
        if variable is None:
            raise Failed(errors.INVALID_SYMBOL, f"{loaded.program.name} has no variable {name}")
        return (loaded.global_symbols[name], variable.nbytes), b""

    def _module_of(self, number: int) -> LoadedModule:
        if number >= len(self._loaded):
            raise Failed(errors.INVALID_RESOURCE_HANDLE, f"there is no module {number}")
        return self._loaded[number]

    def known(self, number: int) -> Known:
        if number >= len(self._functions):
            raise Failed(errors.INVALID_RESOURCE_HANDLE, f"there is no kernel {number}")
        return self._functions[number]
