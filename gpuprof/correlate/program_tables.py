"""Rows of the tables that describe code: modules, sources, functions, instructions, inline frames, live registers."""

import itertools
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from gpuprof.errors import FileFormatError
from gpuprof.isa.encoding import INSTRUCTION_NBYTES, decode
from gpuprof.isa.flow.graph import Graph
from gpuprof.isa.flow.liveness import Block, live_words
from gpuprof.isa.gpubin.reader import read_gpubin
from gpuprof.isa.kinds import KINDS
from gpuprof.isa.operations import operations_of
from gpuprof.isa.printing.text import disassemble
from gpuprof.isa.program import Location, Program
from gpuprof.isa.row import Opcode
from gpuprof.records.reader import Module, Recording

ADDRESS_END = 1 << 32


@dataclass(frozen=True)
class Code:
    """A module of the recording with its program, placed: instruction i is at load_base + 16 * i."""

    module: int
    name: str  # for messages
    fields: dict  # of its MODL chunk
    program: Program
    first_function: int  # number of its first function in the database

    @property
    def load_base(self) -> int:
        return self.fields["load_base"]

    @property
    def end(self) -> int:
        return self.load_base + INSTRUCTION_NBYTES * len(self.program.code)

    def pc(self, index: int) -> int:
        return self.load_base + INSTRUCTION_NBYTES * index


def read_codes(recording: Recording) -> list[Code]:
    """The modules by id. Raises FileFormatError for an image that cannot be read, or modules that overlap."""
    codes: list[Code] = []
    first_function = 0
    for number, module in sorted(recording.modules.items()):
        codes.append(_read_code(recording, number, module, first_function))
        first_function += len(codes[-1].program.functions)
    for code in codes:
        if code.end > ADDRESS_END:
            raise FileFormatError(
                f"{recording.path}: module {code.module} ends at address {code.end:#x}, but code addresses have 32 bits"
            )
    placed = sorted(codes, key=lambda code: code.load_base)
    for before, after in itertools.pairwise(placed):
        if after.load_base < before.end:
            raise FileFormatError(
                f"{recording.path}: modules {before.module} and {after.module} overlap at address {after.load_base:#x}"
            )
    return codes


def _read_code(recording: Recording, number: int, module: Module, first_function: int) -> Code:
    name = f"{recording.path}: module {number} ({module.fields['name']})"
    program = read_gpubin(module.image, name, remake="collect")
    nbytes = INSTRUCTION_NBYTES * len(program.code)
    if nbytes != module.fields["code_nbytes"]:
        raise FileFormatError(
            f"{name}: its image has {nbytes} bytes of code, where the recording says {module.fields['code_nbytes']}"
        )
    return Code(number, name, module.fields, program, first_function)


def module_row(code: Code) -> tuple:
    fields = code.fields
    return (
        code.module,
        fields["name"],
        fields["load_base"],
        fields["code_nbytes"],
        fields["compiler"],
        fields["arch"],
        code.program.ptx,
    )


def source_texts(recording: Recording, codes: list[Code]) -> dict[str, str | None]:
    """Path -> text of every file there is a text of or a position in, by path; None where the text was not to be
    had.
    """
    texts: dict[str, str | None] = {}
    for code in codes:
        for location in code.program.locations:
            for place in chain(location):
                texts.setdefault(place.file, None)
    for code in codes:
        texts |= code.program.sources
    texts |= recording.sources
    return dict(sorted(texts.items()))


def chain(location: Location | None) -> Iterator[Location]:
    """A position and the call sites it was inlined at, innermost first."""
    while location is not None:
        yield location
        location = location.inlined_at


def function_rows(code: Code) -> Iterator[tuple]:
    for number, f in enumerate(code.program.functions, code.first_function):
        sizes = f.registers, f.shared_nbytes, f.local_nbytes, f.spill_nbytes
        yield number, code.module, f.name, f.display, int(f.is_kernel), code.pc(f.first), f.count, *sizes


def instruction_rows(code: Code, source_numbers: dict[str, int]) -> Iterator[tuple]:
    labels = {code.pc(function.first): function.display for function in code.program.functions}
    for number, function in enumerate(code.program.functions, code.first_function):
        for index in range(function.first, function.first + function.count):
            yield _instruction_row(code, number, index, labels, source_numbers)


def _instruction_row(
    code: Code, number: int, index: int, labels: dict[int, str], source_numbers: dict[str, int]
) -> tuple:
    pc = code.pc(index)
    location = code.program.locations[index]
    place = (source_numbers[location.file], location.line, location.column) if location else (None, 0, 0)
    instruction = decode(code.program.code[index])
    text = disassemble(instruction, pc, labels)
    return (
        pc,
        code.module,
        number,
        text,
        instruction.op.name,
        *place,
        int(code.program.ptx_lines[index]),
        *access(instruction.op),
        *operations_of(instruction.op),
    )


def access(op: Opcode) -> tuple[str, str, int]:
    """Space, operation and bytes per lane of a memory instruction; ("", "", 0) for any other."""
    operation = KINDS[op.kind].operation
    return (op.space, operation, op.nbytes) if operation else ("", "", 0)


def frame_rows(code: Code, source_numbers: dict[str, int]) -> Iterator[tuple]:
    """Call sites of inlined code. Each names the function that is inlined there, which is the function of the position
    one step further in.
    """
    for index, location in enumerate(code.program.locations):
        places = list(chain(location))
        for depth, (inner, outer) in enumerate(itertools.pairwise(places), 1):
            yield code.pc(index), depth, inner.function, source_numbers[outer.file], outer.line


def live_rows(code: Code) -> Iterator[tuple[int, int]]:
    """Address and live registers of a thread. Uniform registers are a warp's; their numbers follow its threads' own."""
    graph = Graph(code.program.code)
    functions = sorted((f for f in code.program.functions if f.count), key=lambda f: f.first)
    firsts = [function.first for function in functions]
    blocks = [
        Block(graph.block(n).instructions, graph.successors(n), graph.callees(n), bisect_right(firsts, int(start)))
        for n, start in enumerate(graph.starts)
    ]
    # another tool's file may have a function that begins inside of a block
    live = live_words(blocks, [graph.block_at[first] for first in firsts if first in graph.block_at])
    for function in functions:
        own = (1 << function.first_uniform_word) - 1
        for index in range(function.first, function.first + function.count):
            yield code.pc(index), (live[index] & own).bit_count()
