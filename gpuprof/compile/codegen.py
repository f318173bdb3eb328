"""LLVM IR to PTX, as a program of its own: `python -m gpuprof.compile.codegen ARCH < IR > JSON`.

LLVM aborts the whole process on what it cannot select, so this runs as a child (see `cuda`). Clang's IR comes in on stdin,
with its device code not optimized; out goes a JSON object: ptx, files (of the `.file` table), display, param_types.
"""

import json
import re
import sys

import llvmlite.binding as llvm

from gpuprof.compile import lineinfo, naming
from gpuprof.compile.metadata import Metadata

TRIPLE = "nvptx64-nvidia-cuda"

# The PTX ISA version: the first with everything the headers use (`_` operands, bf16 arithmetic), which ptxas 12 accepts.
PTX_FEATURE = "+ptx80"

# 32-bit addresses in shared, local and constant memory, as the hardware has them. Clang is told the same.
SHORT_POINTERS = "--nvptx-short-ptr"

_VARIABLE_RECORD = re.compile(r"^\s+#dbg_\w+\(.*\n", re.MULTILINE)
_KERNEL = re.compile(r'^define [^@]*\bptx_kernel\b[^@]*@("?)([^"(]+)\1\(', re.MULTILINE)


def optimize(ir: str, target) -> str:
    module = llvm.parse_assembly(ir)
    builder = llvm.create_pass_builder(target, llvm.create_pipeline_tuning_options(speed_level=3))
    builder.getModulePassManager().run(module, builder)
    return str(module)


def generate(ir: str, arch: str) -> dict:
    """Clang's IR to the object described above."""
    llvm.set_option("gpuprof", SHORT_POINTERS)
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple(TRIPLE).create_target_machine(cpu=arch, features=PTX_FEATURE, opt=3)
    metadata = Metadata(ir)
    # Variables' locations are not shown to anyone, and full DWARF would keep `.loc` from carrying inlined calls.
    lines_only = _VARIABLE_RECORD.sub("", ir).replace("emissionKind: FullDebug", "emissionKind: DebugDirectivesOnly")
    optimized = optimize(lines_only, target)
    labelled, chains = lineinfo.encode(optimized)
    ptx, files = lineinfo.decode(target.emit_assembly(llvm.parse_assembly(labelled)), chains)
    return {
        "ptx": ptx,
        "files": files,
        "display": naming.display_names(metadata),
        "param_types": naming.parameter_types(metadata, [name for _, name in _KERNEL.findall(ir)]),
    }


def main():
    json.dump(generate(sys.stdin.read(), sys.argv[1]), sys.stdout)


if __name__ == "__main__":
    main()
