"""PTX to a program: the order of the stages, and the linking of functions into one code array."""

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from gpuprof.assemble.abi.calling_convention import align_up
from gpuprof.assemble.abi.device_runtime import with_device_runtime, with_workspace
from gpuprof.assemble.abi.layout import Layout
from gpuprof.assemble.abi.limits import check_variables
from gpuprof.assemble.abi.params import kernel_params
from gpuprof.assemble.debug_registers import DebugRegisters
from gpuprof.assemble.ir import cfg
from gpuprof.assemble.ir.body import Body, Clobbers
from gpuprof.assemble.ir.callgraph import bottom_up, indirect_callees
from gpuprof.assemble.lower.lowering import lower_functions
from gpuprof.assemble.object.encode import drop_branches_to_next, drop_identity_moves, encode_body
from gpuprof.assemble.optimize.pipeline import optimize
from gpuprof.assemble.ptx import ast
from gpuprof.assemble.ptx.parse import parse
from gpuprof.assemble.registers.allocate import LIMITS, RESERVED_WORDS, Allocation
from gpuprof.assemble.registers.fit import MOST_REGISTERS, fit
from gpuprof.assemble.registers.spill import DoesNotFit
from gpuprof.assemble.warpgroups import hazards_of
from gpuprof.base.stages import counted, stage
from gpuprof.errors import PtxError
from gpuprof.isa.encoding import INSTRUCTION_NBYTES, Instruction, encode
from gpuprof.isa.facts import RegisterHazard
from gpuprof.isa.kinds import CALLS, kinds_of
from gpuprof.isa.program import Function, Location, Program, Relocation

_FEWEST_REGISTERS = 16
_FEWEST_WITH_CALLS = 24  # ptxas 13.0, sm_75 and later: its lower bound for a kernel that calls
_LEAVING = CALLS | kinds_of("syscall")
_REGISTER_FILE = 65536  # 32-bit registers of an SM, every chip since Kepler
_MOST_THREADS = (1 << 63) - 1  # of a block: what a gpubin can hold; .maxntid may say more


def assemble_program(
    module, *, max_registers: int | None = None, debug_registers: DebugRegisters | None = None
) -> Program:
    """A `compile.PtxModule` as a program. `max_registers` limits the 32-bit registers of each kernel; what does not fit
    is spilled. `debug_registers`: gets the places of the PTX's registers.

    Raises PtxError (place in the text) and UnsupportedInstruction (all such instructions, before anything runs).
    """
    tree = with_device_runtime(with_workspace(parse(module.ptx, module.name), module.ptx))
    check_variables(tree)
    layout = Layout(tree)
    with stage("lowering"):
        bodies = {body.name: body for body in lower_functions(tree, layout)}
    if debug_registers is not None:
        debug_registers.shared = layout.shared_offsets
    literals: dict[int, int] = {}
    hazards: list[RegisterHazard] = []
    for body in counted(list(bodies.values()), "optimizing", "functions"):
        body.literals, body.constants_nbytes = literals, layout.constants_nbytes
        cfg.build(body)
        hazards += hazards_of(body)
        if debug_registers is not None:
            debug_registers.lowered(body)
        optimize(body, tree.is_debug)
    program = _Linker(module, tree, layout, bodies, literals, max_registers, debug_registers).program()
    return replace(program, facts=replace(module.facts, register_hazards=tuple(hazards)))


def _most_threads(function: ast.Function) -> int:
    """Threads of a block, as .maxntid or else .reqntid bounds them; 0 when neither is given."""
    extents = function.directives.get("maxntid") or function.directives.get("reqntid") or ()
    return min(math.prod(extents), _MOST_THREADS) if extents else 0


class _Used(NamedTuple):
    """Registers of each file, and the 32-bit words they take together, callees included."""

    r: int
    d: int
    p: int
    words: int


class _Linker:
    """Allocates functions bottom-up, then lays them out in the order of the PTX text."""

    def __init__(
        self,
        module,
        tree: ast.Module,
        layout: Layout,
        bodies: dict[str, Body],
        literals: dict[int, int],
        max_registers: int | None,
        debug_registers: DebugRegisters | None,
    ):
        self.module, self.tree, self.layout, self.bodies, self.literals = module, tree, layout, bodies, literals
        self.max_registers, self.debug_registers = max_registers, debug_registers
        self.indirect = indirect_callees(bodies, layout.addressed)
        self.order, self.recursive = bottom_up(bodies, self.indirect)
        self.code: dict[str, list[Instruction]] = {}
        self.counts: dict[str, Clobbers] = {}
        self.local_nbytes: dict[str, int] = {}
        self.barriers: dict[str, int] = {}
        self.readable: dict[Location, Location] = {}

    def program(self) -> Program:
        for name in counted(self.order, "allocating registers", "functions"):
            self._function(name)
        firsts, first = {}, 0
        for name in self.bodies:
            firsts[name] = first
            first += len(self.code[name])
        instructions: list[Instruction] = []
        functions, relocations, lines, locations = [], [], [], []
        for name, body in self.bodies.items():
            functions.append(self._function_record(name, firsts[name]))
            for index, (inst, encoded) in enumerate(
                zip(body.instructions(), self.code[name], strict=True), firsts[name]
            ):
                if inst.op.kind == "call":
                    encoded = encoded._replace(imm=(firsts[inst.target] - index - 1) * INSTRUCTION_NBYTES & 0xFFFFFFFF)
                if inst.symbol:
                    relocations.append(Relocation(index, inst.symbol, "abs64", inst.imm))
                instructions.append(encoded)
                lines.append(inst.line)
                locations.append(self._readable(inst.location))
        return Program(
            name=self.module.name,
            code=encode(instructions),
            functions=tuple(functions),
            variables=self.layout.segment_variables(),
            relocations=tuple(relocations),
            ptx=self.module.ptx,
            ptx_lines=np.array(lines, np.uint32),
            locations=tuple(locations),
            sources=dict(self.module.sources),
            arch=self.tree.target or self.module.arch,
            compiler=self.module.compiler,
            literals=b"".join(value.to_bytes(8, "little") for value in self.literals),
        )

    def _readable(self, location: Location | None) -> Location | None:
        """The position, with functions named as in the source where the compiler gives the names; instructions share
        equal positions.
        """
        if location is None:
            return None
        if location not in self.readable:
            function = self.module.display.get(location.function, location.function)
            self.readable[location] = replace(
                location, function=function, inlined_at=self._readable(location.inlined_at)
            )
        return self.readable[location]

    def _function(self, name: str):
        body = self.bodies[name]
        callees = self._callees(body)
        for inst in body.instructions():
            if inst.op.kind in CALLS:
                targets = [inst.target] if inst.target else sorted(self.indirect)
                inst.clobbers = self._clobbers(targets)
        allocation = self._allocate(body)
        if self.debug_registers is not None:
            self.debug_registers.allocated(body, allocation)
        drop_identity_moves(body, allocation)
        drop_branches_to_next(body)
        if self.debug_registers is not None:
            self.debug_registers.laid_out(body)
        body.frame_nbytes = align_up(body.frame_nbytes, 16)
        self.code[name] = encode_body(body, allocation)
        own = _Used(allocation.used["R"], allocation.used["D"], allocation.used["P"], allocation.words)
        self.counts[name] = _Used(
            *(max(column) for column in zip(own, *(self.counts[c] for c in callees if c in self.counts), strict=True))
        )
        deepest = max((self.local_nbytes.get(c, 0) for c in callees), default=0)
        self.local_nbytes[name] = body.frame_nbytes + deepest
        self.barriers[name] = max([body.barriers, *(self.barriers.get(c, 0) for c in callees)])

    def _callees(self, body: Body) -> list[str]:
        return sorted(body.callees | (self.indirect if body.indirect_calls else set()))

    def _clobbers(self, targets: list[str]) -> Clobbers:
        """Registers a call may overwrite; all of them while a recursive function's own count is not known."""
        if any(target in self.recursive for target in targets):
            return Clobbers(LIMITS["R"], LIMITS["P"])
        return Clobbers(
            *(max((getattr(self.counts[t], count) for t in targets), default=0) for count in ("words", "p"))
        )

    def _allocate(self, body: Body) -> Allocation:
        function = self.layout.functions[body.name]
        limit = self._register_limit(function)
        given = function.directives
        is_wanted = bool(self.max_registers or given.get("maxnreg")) or (given.get("minnctapersm") or (1,))[0] > 1
        try:
            return fit(body, limit, is_wanted)
        except DoesNotFit:
            message = f"function {body.name} does not fit into {limit} registers; raise --max-registers"
            raise PtxError(message, self.module.name, function.line, 1) from None

    def _register_limit(self, function: ast.Function) -> int:
        """The tightest of the caller's limit, .maxnreg, and what .maxntid blocks of .minnctapersm leave of the register
        file.
        """
        limits = [MOST_REGISTERS, *(function.directives.get("maxnreg") or ())]
        if self.max_registers:
            limits.append(self.max_registers)
        if threads := _most_threads(function):
            blocks = (function.directives.get("minnctapersm") or (1,))[0]
            warps = -(-threads // 32) * max(blocks, 1)
            limits.append(max(_REGISTER_FILE // (max(warps, 1) * 32) // 8 * 8, _FEWEST_REGISTERS))
        return min(limits)

    def _function_record(self, name: str, first: int) -> Function:
        tree = self.layout.functions[name]
        counts = self.counts[name]
        offsets = self.layout.param_offsets.get(name, {})
        cpp_types = tuple(getattr(self.module, "param_types", {}).get(name, ()))
        required = tree.directives.get("reqntid")
        cluster = tree.directives.get("reqnctapercluster")
        return Function(
            name=name,
            display=self.module.display.get(name, name),
            first=first,
            count=len(self.code[name]),
            is_kernel=tree.is_kernel,
            params=kernel_params(tree, offsets, cpp_types) if tree.is_kernel else (),
            registers=self._registers(name),
            r_count=counts.r,
            d_count=counts.d,
            p_count=counts.p,
            shared_nbytes=self.layout.shared_nbytes[name],
            local_nbytes=0 if self._recurses(name) else self.local_nbytes[name],
            spill_nbytes=self.bodies[name].spill_nbytes,
            barriers=self.barriers[name],
            max_threads=_most_threads(tree),
            required_threads=(*required, 1, 1, 1)[:3] if required else None,
            min_blocks=(tree.directives.get("minnctapersm") or (0,))[0],
            required_cluster=(*cluster, 1, 1, 1)[:3] if cluster else None,
            max_cluster=(tree.directives.get("maxclusterrank") or (0,))[0],
            explicit_cluster="explicitcluster" in tree.directives,
        )

    def _registers(self, name: str) -> int:
        """32-bit registers of a thread. The convention for calls takes a fixed part of the file, so that its least is
        more.
        """
        used = self.counts[name].words + RESERVED_WORDS
        calls = any(inst.op.kind in _LEAVING for inst in self.bodies[name].instructions())
        limit = self._register_limit(self.layout.functions[name])
        return max(used, min(_FEWEST_WITH_CALLS, limit)) if calls else used

    def _recurses(self, name: str) -> bool:
        """True if it, or anything it calls, calls itself or takes local memory while it runs."""
        seen, todo = {name}, [name]
        while todo:
            for callee in self._callees(self.bodies[todo.pop()]):
                if callee not in seen:
                    seen.add(callee)
                    todo.append(callee)
        return bool(seen & self.recursive) or any(self.bodies[each].grows_stack for each in seen if each in self.bodies)
