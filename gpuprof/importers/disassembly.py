"""Machine code as text, with its source lines, by NVIDIA's nvdisasm, if there is one on the path or in a wheel."""

import re
import shutil
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from gpuprof.base.scratch import temporary_folder
from gpuprof.compile.child import run_child
from gpuprof.errors import CompileError
from gpuprof.importers.imported_profile import Instruction, SourceLine

SECTION = re.compile(r"\s*\.section\s+\.text\.([^,]+),")
INSTRUCTION = re.compile(r"\s*/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;")
LINE = re.compile(r'\s*//## File "(.*?)", line (\d+)(?: inlined at "(.*?)", line (\d+))?')
MOST_LINES = 64  # of an instruction: code that names itself as its caller would never end


def find_nvdisasm() -> str | None:
    """The path of nvdisasm: on PATH, or in the wheels nvidia-cuda-nvdisasm and nvidia-cuda-nvcc of the same
    environment.
    """
    wheels = sorted(Path(sys.prefix).glob("lib/python*/site-packages/nvidia/*/bin/nvdisasm"))
    return shutil.which("nvdisasm") or next(map(str, wheels), None)


def disassembler() -> Callable[[bytes], dict[str, dict[int, Instruction]]] | None:
    """A function that disassembles a cubin; None where there is no nvdisasm."""
    nvdisasm = find_nvdisasm()
    return partial(disassemble, nvdisasm) if nvdisasm else None


def disassemble(nvdisasm: str, cubin: bytes) -> dict[str, dict[int, Instruction]]:
    """Symbol -> offset -> instruction. Empty if nvdisasm rejects the file, or exceeds a limit."""
    with temporary_folder() as folder:
        path = folder / "module.cubin"
        path.write_bytes(cubin)
        try:
            done = run_child([nvdisasm, "-c", "-gi", str(path)], "machine code")
        except CompileError:
            return {}
    return parse(done.out.decode("utf-8", "replace")) if done.code == 0 else {}


def parse(text: str) -> dict[str, dict[int, Instruction]]:
    """Parses the output of `nvdisasm -c -gi`, in which source lines precede their instructions, the innermost first."""
    by_symbol: dict[str, dict[int, Instruction]] = {}
    code: dict[int, Instruction] | None = None
    lines: tuple[SourceLine, ...] = ()
    is_complete = False  # the next note begins another instruction's lines
    for line in text.splitlines():
        if section := SECTION.match(line):
            code, lines = by_symbol.setdefault(section[1], {}), ()
        elif note := LINE.match(line):
            path, number, outer, outer_number = note.groups()
            lines = (*(() if is_complete else lines[:-1])[:MOST_LINES], SourceLine(path, int(number)))
            lines += (SourceLine(outer, int(outer_number)),) if outer else ()
            is_complete = False
        elif (instruction := INSTRUCTION.match(line)) and code is not None:
            code[int(instruction[1], 16)] = Instruction(instruction[2], lines)
            is_complete = True
    return by_symbol
