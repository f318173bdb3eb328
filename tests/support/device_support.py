"""An executor for tests of the device: keeps the commands, carries out those on memory, and runs every kernel as `y +=
a * x`.
"""

import struct

import numpy as np

from gpuprof.device import commands as cmd
from gpuprof.device.load_map import LoadMap
from gpuprof.device.memory import AddressSpace
from gpuprof.device.module import load
from gpuprof.isa.encoding import encode, make
from gpuprof.isa.program import Function, Param, Program, Variable

POINTER = {"type": "u64", "nbytes": 8, "align": 8, "is_pointer": True, "element": "f32"}
AXPY = (
    Param("n", "u32", 0, 4, 4),
    Param("a", "f32", 4, 4, 4),
    Param("x", offset=8, is_written=False, **POINTER),
    Param("y", offset=16, **POINTER),
)


def run_axpy(memory: AddressSpace, params: bytes) -> None:
    n, a, x, y = struct.unpack("<ifQQ", params)
    result = a * np.frombuffer(memory.read(x, 4 * n), np.float32) + np.frombuffer(memory.read(y, 4 * n), np.float32)
    memory.write(y, result)


class FakeExecutor:
    def __init__(self, kernels: tuple[str, ...] = ("saxpy", "ns::other")):
        self.generators = []
        self.memory = AddressSpace()
        self.kernels = kernels
        self.commands: list[cmd.Command] = []
        self.compiled: list[tuple[str, tuple[str, ...]]] = []
        self.loaded, self.load_map = [], LoadMap()
        self.n_launches = self.host_ns = 0
        self.place_of_call = str
        self.events: dict[int, int] = {}
        self.names_of_instances: dict[str, str] = {}  # as asked -> as the compiler names it

    def compile(self, path, names=(), compiler=None):
        self.compiled.append((str(path), tuple(names)))
        displays = (*self.kernels, *(self.names_of_instances.get(name, name) for name in names))
        functions = tuple(
            Function(f"_Z_{display}", display, index, 1, True, AXPY) for index, display in enumerate(displays)
        )
        variables = (Variable("counter", "global", 0, 4, 4, bytes(4)), Variable("weights", "const", 0, 8, 4, bytes(8)))
        code = encode([make("EXIT")] * len(functions))
        return Program(
            str(path), code, functions, variables, (), "", np.zeros(len(code), np.uint32), (None,) * len(code)
        )

    def finish_emulation(self):
        pass

    def adopt(self, program, image):
        self.compiled.append((program.name, ()))

    def add_trace_generator(self, generator, where=""):
        self.generators.append(generator)

    def remove_trace_generator(self, generator):
        self.generators.remove(generator)

    def submit(self, command):
        self.commands.append(command)
        memory = self.memory
        match command:
            case cmd.Allocate(nbytes, name):
                return memory.allocate(nbytes, name)
            case cmd.Free(address):
                return memory.free(address)
            case cmd.CopyIn(address, data):
                return memory.write(address, data)
            case cmd.CopyOut(address, nbytes):
                return memory.read(address, nbytes)
            case cmd.CopyWithin(destination, source, nbytes):
                return memory.write(destination, memory.read(source, nbytes))
            case cmd.Fill(address, nbytes, pattern):
                return memory.write(address, pattern * (nbytes // len(pattern)))
            case cmd.Load(program):
                self.loaded.append(load(program, memory, self.load_map.place(program.code.nbytes)))
                return self.loaded[-1]
            case cmd.Launch(params=params):
                self.n_launches += 1
                return run_axpy(memory, params)
            case cmd.Event(event):
                self.events[event] = 1000 * len(self.commands)
            case cmd.EventTime(event):
                return self.events[event]

    def assemble(self, module):
        raise AssertionError("no test gives it PTX")

    def finish(self):
        pass

    def drop(self):
        pass

    def launches(self) -> list[cmd.Launch]:
        return [command for command in self.commands if isinstance(command, cmd.Launch)]
