"""Machine code as text, with its lines, by NVIDIA's nvdisasm: where there is one, on the path or in a wheel."""

import re
import shutil
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from gpuprof.base.scratch import temporary_folder
from gpuprof.compile.child import run_child
from gpuprof.errors import CompileError
from gpuprof.importers.imported_profile import Instruction, Place

SECTION = re.compile(r"\s*\.section\s+\.text\.([^,]+),")
INSTRUCTION = re.compile(r"\s*/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;")
LINE = re.compile(r'\s*//## File "(.*?)", line (\d+)(?: inlined at "(.*?)", line (\d+))?')
MOST_PLACES = 64  # of an instruction: one that names itself as its caller would have no end


def find_nvdisasm() -> str | None:
    """On the path, or in the wheels nvidia-cuda-nvdisasm and nvidia-cuda-nvcc beside gpuprof."""
    wheels = sorted(Path(sys.prefix).glob("lib/python*/site-packages/nvidia/*/bin/nvdisasm"))
    return shutil.which("nvdisasm") or next(map(str, wheels), None)


def disassembler() -> Callable[[bytes], dict[str, dict[int, Instruction]]] | None:
    """None where there is no nvdisasm."""
    nvdisasm = find_nvdisasm()
    return partial(disassemble, nvdisasm) if nvdisasm else None


def disassemble(nvdisasm: str, cubin: bytes) -> dict[str, dict[int, Instruction]]:
    """Symbol -> offset -> instruction. Empty where nvdisasm takes the file for none of its own, or meets a limit."""
    with temporary_folder() as folder:
        path = folder / "module.cubin"
        path.write_bytes(cubin)
        try:
            done = run_child([nvdisasm, "-c", "-gi", str(path)], "machine code")
        except CompileError:
            return {}
    return parse(done.out.decode("utf-8", "replace")) if done.code == 0 else {}


def parse(text: str) -> dict[str, dict[int, Instruction]]:
    """What `nvdisasm -c -gi` prints: lines stand before the instructions that they are of, the innermost first."""
    found: dict[str, dict[int, Instruction]] = {}
    code: dict[int, Instruction] | None = None
    places: tuple[Place, ...] = ()
    fresh = False  # whether the next note begins another instruction's
    for line in text.splitlines():
        if section := SECTION.match(line):
            code, places = found.setdefault(section[1], {}), ()
        elif note := LINE.match(line):
            path, number, outer, outer_number = note.groups()
            places = (*(() if fresh else places[:-1])[:MOST_PLACES], Place(path, int(number)))
            places += (Place(outer, int(outer_number)),) if outer else ()
            fresh = False
        elif (instruction := INSTRUCTION.match(line)) and code is not None:
            code[int(instruction[1], 16)] = Instruction(instruction[2], places)
            fresh = True
    return found
