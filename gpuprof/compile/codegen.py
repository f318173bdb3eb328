"""LLVM IR to PTX, as a program of its own: `python -m gpuprof.compile.codegen ARCH LEVEL [debug] [fast] < IR > JSON`.

LLVM aborts the whole process on what it cannot select, so this runs as a child (see `cuda`). Clang's IR comes in on
stdin, not optimized; of several files, which are linked, with a zero between them. Out go two lines of JSON: the source
line that each location label stands for ("a.cu:7"; see `lineinfo`), by which the parent reads LLVM's last words if it
needs them, and then an object: ptx, files (of the `.file` table), display, instances (their symbols), param_types,
facts (`isa.facts.Facts` as JSON).
"""

import json
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace

import llvmlite.binding as llvm

from gpuprof.compile.layouts.member_stores import member_stores_of
from gpuprof.compile.layouts.padded_copies import padded_copies_of
from gpuprof.compile.layouts.structures import layouts_of
from gpuprof.compile.llvm import lineinfo, naming
from gpuprof.compile.llvm.lineinfo import Chain
from gpuprof.compile.llvm.metadata import Metadata
from gpuprof.compile.passes.addresses import share_addresses
from gpuprof.compile.passes.branches import turn_branches
from gpuprof.compile.passes.byval import copy_in_callee
from gpuprof.compile.passes.contraction import keep_shared_products
from gpuprof.compile.passes.divisions import hide_divisions, show_divisions
from gpuprof.compile.passes.float_conversions import convert_by_instructions, saturate_as_hardware
from gpuprof.compile.passes.flushing import flush_in_intrinsics
from gpuprof.compile.passes.local_arrays import unroll_over_local_arrays
from gpuprof.compile.passes.local_fills import fill_widely
from gpuprof.compile.passes.module_data import add_cluster_dims, drop_host_tables, take_cluster_dims
from gpuprof.compile.passes.register_ranges import hide_ranges, show_registers
from gpuprof.compile.passes.run_time_steps import count_as_nvcc
from gpuprof.compile.passes.scopes import mark, name_scopes, show
from gpuprof.compile.passes.struct_copies import align_copies, without_types
from gpuprof.compile.passes.together import print_together
from gpuprof.compile.passes.unroll_once import unroll_once
from gpuprof.compile.passes.whole_pairs import return_words
from gpuprof.compile.passes.wide_conversions import lower_wide_conversions
from gpuprof.compile.variables import locations
from gpuprof.compile.variables.numbering import number_variables, without_variables
from gpuprof.compile.variables.positions import Positions, mark_positions
from gpuprof.isa.facts import Facts
from gpuprof.isa.gpubin.layout import to_plain

TRIPLE = "nvptx64-nvidia-cuda"

# The PTX ISA version: the first with everything the headers use (`_` operands, bf16 arithmetic), which ptxas 12
# accepts.
PTX_FEATURE = "+ptx80"
# Architectures that are younger than that version, with the first one that has them (PTX ISA, release notes).
PTX_FEATURE_OF = {"sm_100": "+ptx86", "sm_103": "+ptx88", "sm_120": "+ptx87", "sm_121": "+ptx88"}

# 32-bit addresses in shared, local and constant memory, as the hardware has them. Clang has the same option.
SHORT_POINTERS = "--nvptx-short-ptr"

# Where nvcc 13.0 unrolls, found with loops of 2 to 200 multiplications: a loop of a known number of turns up to 200
# instructions without the counter's own, one of an unknown number by 4 at most. (By more, nvcc unrolls short loops of
# thousands of turns; LLVM has no such bound for known numbers only.) Instructions that unrolling makes constants are
# counted as such for up to 500 turns. nvcc works out the number of turns of `for (i = begin; i < end; i += step)`, with
# a maximum, sums and a division of 32 or 64 bits; LLVM does where it takes no more than this budget.
UNROLLING = (
    "--unroll-partial-threshold=202",
    "--unroll-max-count=4",
    "--unroll-max-iteration-count-to-analyze=500",
    "--scev-cheap-expansion-budget=60",
)
# nvcc 13.0 makes one branch of `a && b` where b takes up to four instructions before its comparison.
CONDITIONS = ("--bonus-inst-threshold=4",)

# nvcc 13.0 moves an instruction into the one branch that needs its result before it unrolls loops, and not again after
# that: the sums of an unrolled loop stay in front of the guards of their stores, where they share what they load. So
# LLVM does it in passes of their own (`sink`), and no more once these options are set. Nothing would undo then what it
# does in front of a branch so that no lane waits; nvcc does nothing there, not even an address sum.
NO_SINKING = ("--instcombine-code-sinking=false", "--disable-machine-sink", "--spec-exec-max-speculation-cost=0")

_DEVICE_FUNCTION = re.compile(
    r"^define (?:(?:weak_odr|weak|linkonce_odr|linkonce|internal|dso_local|hidden|protected) "
    r")*((?!available_externally)(?!.*\bptx_kernel\b).*)$",
    re.MULTILINE,
)

# A line that `cuda` adds after the source: which symbol an instance that the user named has.
_INSTANCE = re.compile(r"^@gpuprof_instance_(\d+) = .*? ptr @\"?([\w.$]+)\"?,.*\n", re.MULTILINE)

# A copy of 16-byte-aligned bytes: "call void @llvm.memcpy...(ptr align 16 %to, ptr align 16 %from, i64 32, i1 false),
# !dbg !7".
_COPY = re.compile(
    r"^  (?:tail )?call void @llvm\.memcpy\S*\((ptr(?: addrspace\(\d\))?) [^%@,]*align (?:16|32|64|128) "
    r"[^%@,]*([%@][\w.$]+), "
    r"(ptr(?: addrspace\(\d\))?) [^%@,]*align (?:16|32|64|128) [^%@,]*([%@][\w.$]+), i64 (16|32|48|64), i1 "
    r"false\)(.*)$",
    re.MULTILINE,
)

_KERNEL = re.compile(r'^define [^@]*\bptx_kernel\b[^@]*@("?)([^"(]+)\1\(', re.MULTILINE)


def internalize(ir: str) -> str:
    """Device functions become private, as in a whole program: once inlined everywhere they are gone, and only kernels
    stay.
    """

    def replace(match: re.Match) -> str:
        return "define internal " + match[1].replace(" comdat", "")

    return _DEVICE_FUNCTION.sub(replace, ir)


def link(irs: list[str]) -> str:
    """One module of several. Raises RuntimeError, in LLVM's words, for what two of them define."""
    if len(irs) == 1:
        return irs[0]
    module = llvm.parse_assembly(irs[0])
    for ir in irs[1:]:
        module.link_in(llvm.parse_assembly(ir))
    return str(module)


def sink(ir: str, target) -> str:
    """Moves instructions into the one branch that needs their result; LLVM does not from here on.

    Before that, conditions of `a || b` become one branch, which instructions between them would keep apart.
    """
    module = llvm.parse_assembly(ir)
    passes = llvm.create_new_module_pass_manager()
    passes.add_sroa_pass()
    passes.add_simplify_cfg_pass()
    passes.add_instruction_combine_pass()
    passes.add_sinking_pass()
    passes.run(module, llvm.create_pass_builder(target, llvm.create_pipeline_tuning_options()))
    for option in NO_SINKING:
        llvm.set_option("gpuprof", option)
    return str(module)


def optimize(ir: str, target, level: int) -> str:
    module = llvm.parse_assembly(sink(ir, target) if level else ir)
    builder = llvm.create_pass_builder(target, llvm.create_pipeline_tuning_options(speed_level=level))
    if level == 0:  # LLVM's own pipeline of level 0 unrolls and promotes all the same: only what must be inlined is
        passes = llvm.create_new_module_pass_manager()
        passes.add_always_inliner_pass()
    else:
        passes = builder.getModulePassManager()
    passes.run(module, builder)
    return convert_by_instructions(str(module))


def widen_copies(ir: str) -> str:
    """Copies of aligned 16-byte pieces (`out[i] = in[i]` for float4) as vector loads and stores, which LLVM would split
    in halves.
    """

    def replace(match: re.Match) -> str:
        to_type, to, from_type, source, nbytes, tail = match.groups()
        debug = re.search(r", !dbg !\d+", tail)
        debug = debug[0] if debug else ""
        name = f"%gpuprof.copy.{match.start()}"
        lines = []
        offsets = range(0, int(nbytes), 16)
        for offset in offsets:
            lines.append(f"  {name}.from.{offset} = getelementptr i8, {from_type} {source}, i64 {offset}{debug}")
            lines.append(f"  {name}.value.{offset} = load <4 x i32>, {from_type} {name}.from.{offset}, align 16{debug}")
        for offset in offsets:
            lines.append(f"  {name}.to.{offset} = getelementptr i8, {to_type} {to}, i64 {offset}{debug}")
            lines.append(f"  store <4 x i32> {name}.value.{offset}, {to_type} {name}.to.{offset}, align 16{debug}")
        return "\n".join(lines)

    return _COPY.sub(replace, ir)


# Division and square root of floats as --use_fast_math has them: approximate.
FAST_MATH = ("--nvptx-prec-divf32=0", "--nvptx-prec-sqrtf32=0")


def _set_options(options: Iterable[str]) -> None:
    for option in options:
        llvm.set_option("gpuprof", option)


def generate(
    ir: str,
    arch: str,
    level: int,
    announce: Callable[[list[Chain]], None],
    for_debugger: bool = False,
    fast_math: bool = False,
) -> dict:
    """Clang's IR to the object described above; `level` is 0 to 3, as in -O3. `announce` gets the locations before
    anything can go wrong with them. `for_debugger`: the PTX says where variables are.
    """
    _set_options((SHORT_POINTERS, *UNROLLING, *CONDITIONS, *(FAST_MATH if fast_math else ())))
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple(TRIPLE).create_target_machine(
        cpu=arch, features=PTX_FEATURE_OF.get(arch, PTX_FEATURE), opt=level
    )
    ir = flush_in_intrinsics(ir) if fast_math else ir
    metadata = Metadata(ir)
    instances = {int(index): symbol for index, symbol in _INSTANCE.findall(ir)}
    ir = print_together(lower_wide_conversions(saturate_as_hardware(_INSTANCE.sub("", ir))))
    ir, cluster_dims = take_cluster_dims(drop_host_tables(ir, metadata))
    layout_of = layouts_of(ir, metadata, target.target_data, llvm.parse_assembly)
    facts = Facts(tuple(padded_copies_of(ir, metadata, layout_of)), tuple(member_stores_of(ir, metadata, layout_of)))
    ir = without_types(align_copies(ir, metadata))
    is_plain, numbered = for_debugger and level == 0, None
    if is_plain:
        arranged = _arranged_for_debugger(internalize(ir), target, arch)
    elif for_debugger:
        arranged, positions = _arranged(internalize(ir), target, arch, level, mark_positions)
        numbered = number_variables(arranged, positions)
        arranged = numbered.ir
    else:
        arranged, _ = _arranged(without_variables(internalize(ir)), target, arch, level, lambda ir: (ir, []))
    labelled, chains = lineinfo.encode(arranged, has_scopes=numbered is not None)
    announce(chains)
    if numbered:
        _set_options(locations.WHERE_SET)
    ptx, files = lineinfo.decode(show(target.emit_assembly(llvm.parse_assembly(mark(labelled)))), chains, is_plain)
    if numbered:
        verbose, listing = locations.verbose_output(target, lambda: llvm.parse_assembly(mark(labelled)), _set_options)
        ptx = locations.with_places(ptx, show(verbose), listing, numbered)
    ptx = show_registers(add_cluster_dims(ptx, cluster_dims), ir)
    ptx = ptx if is_plain else share_addresses(turn_branches(ptx))
    if numbered:
        ptx, known = locations.without_comments(ptx, numbered.table)
        facts = replace(facts, variables=known)
    return {
        "ptx": ptx,
        "files": files,
        "display": naming.display_names(metadata),
        "instances": [instances[index] for index in sorted(instances)],
        "param_types": naming.parameter_types(metadata, [name for _, name in _KERNEL.findall(ir)]),
        "facts": to_plain(facts),
    }


def _arranged(
    ir: str, target, arch: str, level: int, mark: Callable[[str], tuple[str, list[Positions]]]
) -> tuple[str, list[Positions]]:
    """The optimized IR. `mark`: the last change in front of LLVM's passes, with what it has to say."""
    # Full DWARF would keep `.loc` from carrying inlined calls.
    lines_only = ir.replace("emissionKind: FullDebug", "emissionKind: DebugDirectivesOnly")
    like_nvcc = return_words(count_as_nvcc(unroll_over_local_arrays(name_scopes(lines_only))))
    prepared = hide_ranges(hide_divisions(copy_in_callee(like_nvcc), arch), arch)
    prepared, positions = mark(prepared)
    optimized = unroll_once(show_divisions(optimize(prepared, target, level)))
    return keep_shared_products(fill_widely(widen_copies(optimized))), positions


def _arranged_for_debugger(ir: str, target, arch: str) -> str:
    """The IR with each statement unchanged, and each variable in memory."""
    prepared = hide_divisions(copy_in_callee(name_scopes(ir), for_debugger=True), arch)
    prepared = show_divisions(optimize(prepared, target, 0))
    return lineinfo.without_inlined_variables(prepared)


def main():
    def announce(chains: list[Chain]):
        print(json.dumps([lineinfo.blamed(chain) for chain in chains]), flush=True)

    irs = sys.stdin.read().split("\0")
    modes = sys.argv[3:]
    print(json.dumps(generate(link(irs), sys.argv[1], int(sys.argv[2]), announce, "debug" in modes, "fast" in modes)))


if __name__ == "__main__":
    main()
